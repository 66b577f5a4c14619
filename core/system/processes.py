"""Processes of the system: common ends, parents and children."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable, Iterator

from othello_lab.core.system.control_groups import processor_quota

LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


def has_proc() -> bool:
    """Return True if the system lists its processes in ``/proc``."""
    return LINUX and os.path.exists("/proc/self/stat")


_SHORTAGES = (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE)


def is_shortage(error: BaseException) -> bool:
    """Return True for an exception of a system that has no memory, process, thread or open file
    left to give."""
    if isinstance(error, OSError):
        return error.errno in _SHORTAGES
    no_thread = isinstance(error, RuntimeError) and "can't start new thread" in str(error)
    return no_thread or isinstance(error, MemoryError)


def available_cores() -> int:
    """Cores this process may use: as many as a quota, such as a container's, allows."""
    cores = _all_cores()
    return max(1, min(cores, int(processor_quota() or cores)))


def _all_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def quota_note() -> str:
    """Return a few words on a quota that allows less than all processors; "" for none."""
    quota, cores = processor_quota(), _all_cores()
    small = quota is not None and quota < cores
    return f"a quota allows {quota:g} of the {cores} processors" if small else ""


def signal_at_parents_end(number: int) -> None:
    """Ask the system to send this process a signal when its parent ends, however that happens
    (Linux)."""
    _ask(_PR_SET_PDEATHSIG, number)


def die_with_parent(parent: int, how: int = signal.SIGKILL) -> None:
    """As :func:`signal_at_parents_end`, of a parent with this number: if that has ended already,
    this process does."""
    signal_at_parents_end(how)
    if os.getppid() != parent:
        os._exit(1)  # it ended before that was asked


def end_with_parent(parent: int) -> None:
    """As :func:`die_with_parent`, for the main thread of a process that has others below it: these
    are ended first."""

    def end(*_: object) -> None:
        end_descendants([os.getpid()])
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    die_with_parent(parent, signal.SIGTERM)


def adopt_orphans() -> None:
    """From now on become the parent of every process below this one that loses its own (Linux)."""
    _ask(_PR_SET_CHILD_SUBREAPER, 1)


def _ask(option: int, value: int) -> None:
    if LINUX:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _processes() -> Iterator[tuple[int, bytes, int]]:
    """All processes of the system: number, state, parent (Linux; none elsewhere)."""
    for name in os.listdir("/proc") if has_proc() else ():
        if name.isdigit():
            with contextlib.suppress(OSError):
                state, parent, *_ = stat(int(name))
                yield int(name), state, int(parent)


def reap(spared: Collection[int]) -> None:
    """Let ended children of this process go, except some: the system keeps a child until its parent
    waits for it."""
    for number, state, parent in _processes():
        if state == b"Z" and parent == os.getpid() and number not in spared:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(number, os.WNOHANG)


def descendants(roots: Iterable[int]) -> list[int]:
    """The processes below these, by number (Linux; none elsewhere), parents first."""
    children: dict[int, list[int]] = {}
    for number, state, parent in _processes():
        if state != b"Z":
            children.setdefault(parent, []).append(number)
    above = list(roots)
    family = list(above)
    for number in family:
        family += children.get(number, [])
    return family[len(above) :]


def family(process: int) -> list[int]:
    """Return a process and those below it, parents first (Linux; elsewhere the process alone): much
    faster than :func:`descendants`, and certain only while they stand still or fork nothing."""
    if not os.path.exists("/proc/thread-self/children"):  # not all kernels have them
        return [process, *descendants([process])]
    members = [process]
    for number in members:
        for thread in threads(number):
            with contextlib.suppress(OSError), open(f"{thread}/children", "rb") as file:
                members += map(int, file.read().split())
    return members


def threads(process: int) -> list[str]:
    """Return the folders of a process's threads in ``/proc`` (Linux; none elsewhere)."""
    with contextlib.suppress(OSError):
        return [entry.path for entry in os.scandir(f"/proc/{process}/task")]
    return []


def is_stopped(process: int) -> bool:
    """Return True if a process was stopped, as by Ctrl-Z (Linux; False elsewhere)."""
    with contextlib.suppress(OSError):
        return stat(process)[0] in (b"T", b"t")
    return False


def stat(process: int) -> list[bytes]:
    """Return the fields of a process's state after its name; raises OSError."""
    with open(f"/proc/{process}/stat", "rb", buffering=0) as file:
        # The name in brackets may itself hold brackets and blanks.
        return file.read().rpartition(b")")[2].split()


def end_descendants(roots: Iterable[int], spared: Iterable[int] = ()) -> None:
    """Kill all processes below these, but for some and those below them.

    All are stopped before any is killed, until none is new: so none can leave an heir.
    """
    roots, spared_roots = list(roots), set(spared)
    stopped: set[int] = set()
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        new = set(descendants(roots)) - spared_roots - set(descendants(spared_roots)) - stopped
        if not new:
            break
        for number in new:
            send_signal(number, signal.SIGSTOP)
        stopped |= new
    for number in stopped:
        send_signal(number, signal.SIGKILL)


def send_signal(number: int, which: int) -> None:
    """Send a signal to a process of this number, if it is there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(number, which)
