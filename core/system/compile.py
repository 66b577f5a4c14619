"""Compilation of the lab's hot functions: plain Python, compiled by Numba on first use.

Numba keeps compiled code on disk, but does not notice when a function *called* by the cached one
was edited in another file: the old code would go on answering. So every kernel is cached in a
folder named by a hash of all that can change the machine code: the kernel sources, the versions of
numba and llvmlite, the processor, and the choice of code path. Editing any kernel file moves the
cache, so a stale kernel cannot be loaded.

The folder is ``$OTHELLO_LAB_CACHE`` or ``othello-strategy-lab`` in the user's cache folder. Where
that cannot be written, it is a folder of the user in the system's temporary one, with a copy of
what there is; where that cannot be written either, each process compiles anew, in memory.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import platform
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba.core import caching, sigutils
from numba.core.ccallback import CFunc
from numba.core.runtime import rtsys

from othello_lab.core.system.user_cache import user_cache

Announce = Callable[[str], None]
"""Receives one human-readable line, e.g. ``print``."""

# The types of what kernels work on, for readers and callers: Numba finds them out by itself.
Mask = np.uint64
"""A set of squares, a bit a square."""
Square = np.uint64
"""A square, 0 (a1) to 63 (h8)."""
Int = np.int64
"""Any other whole number: a value, a depth, a count."""
Index = int | np.int64
"""A number that may come from a loop over a range."""
Address = np.intp
"""Where an array of int64 starts in memory: passed on faster than the array itself."""
Array = np.ndarray
"""An array, or a pointer to its first element."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

KERNELS = "OTHELLO_LAB_KERNELS"
"""The variable by which a closed process is told of the lab's compiled kernels."""
_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("core", "agents", "training/kernels")
"""Where kernels live, and every constant they take in."""


def portable_requested() -> bool:
    """Return True if ``OTHELLO_LAB_PORTABLE`` asks for the plain kernels instead of the vector
    ones."""
    return os.environ.get("OTHELLO_LAB_PORTABLE", "0") not in ("", "0")


@lru_cache(maxsize=1)
def processor() -> tuple[str, frozenset[str]]:
    """LLVM's name of this processor and the set of its features, e.g. ``{"avx2", "bmi2"}``."""
    features = binding.get_host_cpu_features()
    return binding.get_host_cpu_name(), frozenset(name for name, on in features.items() if on)


def is_ours(function: Callable[..., Any]) -> bool:
    """Return True if machine code of ``function`` may be kept: only if the cache folder's name
    depends on its source, so not for a user's own function, because it may call others of theirs.
    """
    return _is_in_packages(function.__code__.co_filename)


@cache
def _is_in_packages(file: str) -> bool:
    path = Path(file).resolve()
    return any(path.is_relative_to(_ROOT / package) for package in _PACKAGES)


@lru_cache(maxsize=1)
def cache_folder() -> Path:
    """Return the folder with the machine code of this combination of sources, compiler and
    processor: in the user's cache or, if that cannot be written, in the temporary folder."""
    wanted = user_cache() / "kernels" / _code_version()
    of_lab = Path(os.environ.get(KERNELS, ""))
    if of_lab.name == wanted.name:
        return of_lab  # in a closed process, which can only read it
    if _is_writable(wanted):
        return wanted
    instead = _own_temporary_folder()
    if instead is None:
        return wanted
    instead = instead / "kernels" / wanted.name
    if not instead.exists():
        with suppress(OSError, shutil.Error):
            shutil.copytree(wanted, instead)
            for folder in (instead, *(path for path in instead.rglob("*") if path.is_dir())):
                folder.chmod(0o700)  # the copy has the modes of what cannot be written
    return instead if _is_writable(instead) else wanted


@lru_cache(maxsize=1)
def _keeps_code() -> bool:
    """Return True if machine code can be kept for later processes."""
    return KERNELS in os.environ or _is_writable(cache_folder())


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _own_temporary_folder() -> Path | None:
    """Return a temporary folder that only this user can write; None if there is none."""
    try:
        folder = Path(tempfile.gettempdir()) / f"othello-strategy-lab-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return folder if is_own and not status.st_mode & 0o022 else None


def _code_version() -> str:
    """Return a hash of all that can change the machine code."""
    digest = hashlib.sha256()
    for part in (
        platform.python_version(),
        numba.__version__,
        llvmlite.__version__,
        processor()[0],
        *sorted(processor()[1]),
        str(portable_requested()),
    ):
        digest.update(part.encode() + b"\0")
    # All sources: choosing only those that hold kernels would miss the constants they import.
    for package in _PACKAGES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class _Locator(caching.UserProvidedCacheLocator):
    """The place of a kernel's machine code, the same for all copies of the same sources."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = str(cache_folder() / Path(file).resolve().relative_to(_ROOT).parent)

    def get_source_stamp(self) -> int:
        return 0  # the folder's name is a hash of the sources

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _Files(caching.FunctionCache):
    _impl_class = _Implementation


class _KernelCache:
    """Numba's cache, with three differences. Code that cannot be kept is used all the same: the
    disk may be full, or the process closed to all files but its own. Kept code is loaded with
    Numba's runtime alone: the tables that a compilation needs take a third of a second. And its
    files are looked for at the first call, as most kernels are called by others alone."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _files(self) -> _Files:
        return _Files(self._function)

    def load_overload(self, signature: Any, target: Any) -> Any:
        rtsys.initialize(target)
        return self._files._load_overload(signature, target)

    def save_overload(self, *arguments: Any) -> None:
        with suppress(OSError):
            self._files.save_overload(*arguments)


def kernel(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile ``function`` with Numba when it is first called, and cache the machine code.

    Kernels release the GIL, so that several threads can search at once, and use C division.
    """
    compiled: Any = numba.njit(function, nogil=True, error_model="numpy")
    if is_ours(function) and _keeps_code():
        compiled._cache = _KernelCache(function)  # as cache=True does with Numba's own
    return compiled


def callback(function: Callable[..., Any], signature: Any) -> Any:
    """Compile ``function`` at once into a C function; its ``address`` can be handed to a kernel."""
    options = {"nopython": True, "error_model": "numpy"}
    # As numba.cfunc does it, with Numba's own cache.
    compiled: Any = CFunc(function, sigutils.normalize_signature(signature), {}, options)
    if is_ours(function) and _keeps_code():
        compiled._cache = _KernelCache(function)
    compiled.compile()
    return compiled


class ScalarKernel:
    """A kernel of masks as ordinary Python calls it with its own whole numbers, in half the time
    that Numba takes to look at the arguments of each call."""

    def __init__(self, function: Callable[..., Mask], masks: int) -> None:
        """function: takes a fixed number of masks and returns one; compiled at its first call."""
        self._function, self._masks = function, masks

    @cached_property
    def open(self) -> Callable[..., int]:
        """Return the compiled function, for calls that are often repeated."""
        compiled = callback(self._function, f"uint64({', '.join(['uint64'] * self._masks)})")
        # One that holds the GIL: giving it back takes longer than a kernel of some nanoseconds.
        kind = ctypes.PYFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * self._masks)
        opened: Any = kind(compiled.address)
        opened.compiled = compiled  # lives as long as this
        return opened


def _where_code_goes() -> str:
    """Return a sentence for a user whose cache cannot be written, else an empty text."""
    wanted, folder = user_cache(), cache_folder()
    if _keeps_code() and folder.is_relative_to(wanted):
        return ""
    if _keeps_code():
        return f"{wanted} cannot be written: compiled code is kept in {folder.parents[1]}"
    return (
        f"{wanted} cannot be written: every start compiles again; "
        "OTHELLO_LAB_CACHE=FOLDER names another folder"
    )


_announced: list[str] = []  # about the cache, once in a process
_prepared: set[str] = set()  # what this process has loaded; says nothing about any agent


@contextmanager
def _alone(done: Path) -> Iterator[None]:
    """Let only one of several processes compile; if files cannot be locked, each one does."""
    with ExitStack() as stack:
        with suppress(OSError):
            done.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(done.with_name(f"{done.name}.lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def prepare(
    name: str, load: Callable[[], Any], announce: Announce | None = None, key: str = ""
) -> None:
    """Load the kernels called ``name`` by running ``load`` once in this process.

    ``announce`` is called only when they have to be compiled, that is on the first use on this
    machine (or after a change of the sources), and always where machine code cannot be kept: once
    before and once after, with the seconds.
    ``key`` distinguishes kernels of the same name; by default it is the name.
    """
    key = key or name
    if key in _prepared:
        return
    done = cache_folder() / "ready" / key
    first_use = not done.exists() or not _keeps_code()
    if first_use and announce:
        if not _announced and (problem := _where_code_goes()):
            _announced.append(problem)
            announce(problem)
        announce(f"compiling {name} for this machine (first use only) ...")
    started = time.perf_counter()
    with _alone(done) if first_use else nullcontext():
        load()
    _prepared.add(key)
    if first_use:
        with suppress(OSError):  # a read-only cache costs time at the next start, nothing else
            done.parent.mkdir(parents=True, exist_ok=True)
            done.touch()
        if announce:
            announce(f"compiled {name} in {time.perf_counter() - started:.1f} s")
