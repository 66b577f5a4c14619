"""Confinement of an agent's process, apart from the rest of the lab.

An *open* agent has the user's rights, and a session, an output and clocks of its own. A *closed*
one is a single process in a box (:class:`Box`): the lab's own server, which is its process, or a
program that this server starts. ``docs/security.md`` says what that promises, and on which systems.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, Literal, TextIO

from othello_lab.core.system import call_filter, landlock
from othello_lab.core.system.compile import KERNELS, cache_folder
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import (
    LINUX,
    adopt_orphans,
    die_with_parent,
    end_descendants,
    family,
    is_shortage,
    send_signal,
)
from othello_lab.core.system.scratch import ScratchFolder

_PR_CAPBSET_DROP = 24  # linux/prctl.h
_CAPABILITIES = range(64)
_NO_CAPABILITIES = struct.pack("Ii", 0x20080522, 0), bytes(24)  # linux/capability.h, version 3
_MOST_FILES, _LARGEST_FILE, _MOST_LOCKED = 256, 64 << 20, 1 << 16

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/proc"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
    *("/etc/timezone", "/etc/alternatives", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"),
    *("/etc/ssl/openssl.cnf", "/etc/fonts", "/dev/urandom", "/dev/random"),
    *("/dev/zero", "/sys/devices/system/cpu", *glob.glob("/etc/java*")),
)
"""Files that any program needs."""
_OWN_FOLDERS = ("core", "agents", "experiments", "play", "training", "othello_lab", "conf")
_ROOT = Path(__file__).resolve().parents[2]
_ENVIRONMENT = ("PATH", "LANG", "LC_", "TZ", "OTHELLO_LAB_", "NUMBA_", "OPENBLAS_", "OMP_")
"""Beginnings of variables that a closed process keeps."""


@dataclass(frozen=True)
class Box:
    """The files and rights of a closed process.

    reads: files and folders that it may read, and run, beside those of the system and of Python.
    writes: those that it may change, beside its scratch folder. private: files and folders that
    stay closed, even inside of others. children: True if it may start processes: their time and
    memory are watched, not bounded. network: True if it may use the network.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    children: bool = False
    network: bool = False


@dataclass(frozen=True)
class Confinement:
    """The bounds of an agent's process. memory_mb: MiB of memory that it may take beyond its first
    size; None: no bound. box: of a closed process; None: files and the network stay open."""

    memory_mb: int | None = None
    box: Box | None = None

    @property
    def allows_children(self) -> bool:
        """True if the process may start others."""
        return self.box is None or self.box.children

    def opening(self, files: tuple[Sequence[str], Sequence[str]]) -> Confinement:
        """Return the same, with further files to read and to write."""
        if self.box is None:
            return self
        reads, writes = (*self.box.reads, *files[0]), (*self.box.writes, *files[1])
        return replace(self, box=replace(self.box, reads=reads, writes=writes))


class ConfinedProcess(ForkedProcess):
    """Runs ``main(link, *arguments)`` in a confined child process; see :class:`ForkedProcess`.

    What it has started is stopped, continued and ended with it: a closed process has at most one
    program below it, which can start nothing; of an open one as far as it is found.
    """

    def __init__(
        self,
        main: Callable[..., None],
        *arguments: Any,
        confinement: Confinement,
        output: int,
        most: int | None = None,
    ) -> None:
        """output: a descriptor for the process's own output."""
        self.scratch, variables = None, {}
        if confinement.box is not None:
            self.scratch = ScratchFolder()
            folder = str(self.scratch.path)
            path = _path_without_shims(os.environ.get("PATH", os.defpath))
            variables = {"HOME": folder, "TMPDIR": folder, "PATH": path}
        try:
            settings = os.getpid(), output, confinement, variables
            super().__init__(_run_confined, main, settings, arguments, most=most)
        except BaseException:
            self._remove_scratch()
            raise

    def signal_all(self, number: int) -> None:
        """Send a signal to it and what it has started."""
        for process in family(self.number):
            send_signal(process, number)

    def kill(self) -> None:
        """End it and what it has started."""
        if not self.has_ended():
            send_signal(self.number, signal.SIGSTOP)  # or it would start more
            end_descendants([self.number])
        super().kill()

    def close(self) -> None:
        """End it and what it has started, close the line, and remove its scratch folder."""
        super().close()
        self._remove_scratch()

    def _remove_scratch(self) -> None:
        if self.scratch is not None:
            self.scratch.remove()
            self.scratch = None


def _run_confined(
    link: Channel, main: Callable[..., None], settings: tuple[Any, ...], arguments: tuple[Any, ...]
) -> None:
    parent, output, confinement, variables = settings
    try:
        confine(parent, link.fileno(), output, confinement, variables)
    except OSError as error:
        if not is_shortage(error):
            raise
        os._exit(1)  # without a traceback: who has started this process knows what to do
    main(link, *arguments)


def confine(
    parent: int, link: int, output: int, confinement: Confinement, variables: Mapping[str, str]
) -> None:
    """Keep this process, just forked, apart from its parents and siblings.

    It gets a session of its own, no input, ``output`` for its own output, and no other open file
    but ``link``; it ends with its parent, and becomes the parent of the orphans below it.
    variables: of the environment of a closed process; TMPDIR is the folder that it may write.
    """
    with contextlib.suppress(PermissionError):  # inside of another closed process
        os.setsid()
    die_with_parent(parent)
    adopt_orphans()
    _die_first()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, number)
    # Whatever stood in their place may depend on what is closed now, or hold what others print.
    sys.stdin, sys.stdout, sys.stderr = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
    os.closerange(3, link)
    os.closerange(link + 1, os.sysconf("SC_OPEN_MAX"))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    java = ["-XX:-UsePerfData"]  # which would lock a file
    if confinement.memory_mb is not None:
        # Not the address space: programs in Java, say, reserve far more than they use.
        most = _data_size() + (confinement.memory_mb << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        java.append(f"-Xmx{confinement.memory_mb // 2}m")
    if confinement.memory_mb is not None or confinement.box is not None:
        os.environ["JDK_JAVA_OPTIONS"] = " ".join(java)
    if confinement.box is not None:
        _close(confinement.box, variables)


def _close(box: Box, variables: Mapping[str, str]) -> None:
    """Close this process: no file but those of the box, nor more rights than any user has."""
    for which, most in (
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_MEMLOCK, _MOST_LOCKED),
    ):
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))
    for name in list(os.environ):
        if not name.startswith(_ENVIRONMENT) and name != "JDK_JAVA_OPTIONS":
            del os.environ[name]
    os.environ.update(variables, PYTHONDONTWRITEBYTECODE="1")
    os.environ[KERNELS] = str(cache_folder())
    tempfile.tempdir = None  # it is found anew
    sys.dont_write_bytecode = True
    reads: list[str] = []
    lists = [str(_ROOT)]
    for part in (*_SYSTEM, *_of_python(), str(cache_folder()), *box.reads):
        for path, is_whole in _without(Path(part), box.private):
            (reads if is_whole else lists).append(str(path))
    _give_up_capabilities()
    reads.append(variables["TMPDIR"])  # programs copied or compiled there are run
    landlock.open_only(reads, lists, [variables["TMPDIR"], "/dev/null", *box.writes], box.network)
    call_filter.refuse_reach(box.network)


@cache
def _path_without_shims(path: str) -> str:
    """Return a PATH without folders of shims, scripts that start the program as another process."""
    places = []
    for folder in path.split(":"):
        folders = [folder]
        if os.path.basename(folder) == "shims":
            manager = os.path.basename(os.path.dirname(folder)).lstrip(".")
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                said = subprocess.check_output([manager, "prefix"], text=True, stderr=DEVNULL)
                folders = [f"{prefix}/bin" for prefix in said.strip().split(":")]
        places += folders
    return ":".join(places)


def _of_python() -> Iterator[str]:
    """Yield the folders of this Python, its packages and the lab."""
    yield from {sys.prefix, sys.base_prefix, sys.exec_prefix}
    yield from (str(_ROOT / name) for name in _OWN_FOLDERS)
    here = os.getcwd()
    yield from (path for path in sys.path if path and path not in (here, str(_ROOT)))


def _without(path: Path, private: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    """Yield this path and True. If something private is inside, yield the largest parts without it
    instead, and each folder with parts left out, and False: its names are no secret, since imports
    in Python read them, and no rule can tell them from those of the folders in it.

    A path inside of something private was named on purpose, and is opened. Of a private folder
    itself only the files are.
    """
    with contextlib.suppress(OSError, RuntimeError):
        path = path.resolve()
    apart = [Path(item) for item in private]
    if not any(item.is_relative_to(path) for item in apart):
        yield path, True
        return
    yield path, False
    with contextlib.suppress(OSError):
        for part in path.iterdir():
            if part in apart or part.is_symlink():
                continue
            if part.is_file():
                yield part, True
            elif path not in apart:
                yield from _without(part, private)


def _give_up_capabilities() -> None:
    """Give up what the superuser may do beyond other users, here and in all programs started."""
    if LINUX:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in _CAPABILITIES:
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        libc.capset(*_NO_CAPABILITIES)


def _stream(number: int, mode: Literal["r", "w"]) -> TextIO:
    return open(number, mode, 1, "utf-8", "backslashreplace", closefd=False)


def _die_first() -> None:
    """Let the system end this process first when memory runs out (Linux)."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")


def _data_size() -> int:
    """Bytes of private memory that this process has (Linux; 0 elsewhere)."""
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * resource.getpagesize()
    return 0
