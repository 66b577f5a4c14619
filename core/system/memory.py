"""Memory of this machine: all of it, what is free, and memory in large pages."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import resource
from pathlib import Path

import numpy as np

_MEGABYTE = 1 << 20
_LARGE_PAGE = 2 * _MEGABYTE
_BOUNDS = ("memory.max", "memory/memory.limit_in_bytes")
"""Files of a container's bound below ``/sys/fs/cgroup``, of both versions of control groups."""
_USES = ("memory.current", "memory/memory.usage_in_bytes")
"""Files of what a container uses, in the same order."""


def memory_of_machine(groups: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the memory that processes here may use, in MB: of the machine, or of the container
    if that may use less; None if the system does not tell."""
    known = []
    with contextlib.suppress(AttributeError, ValueError, OSError):
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in _BOUNDS:
        with contextlib.suppress(ValueError, OSError):  # "max": no bound
            known.append(int((groups / name).read_text(encoding="ascii")))
    return min(known) // _MEGABYTE if known else None


def free_memory(
    groups: Path = Path("/sys/fs/cgroup"), system: Path = Path("/proc/meminfo")
) -> int | None:
    """Return the memory that this process can still take, in MB: of the machine, of the container
    or of its own bound (``ulimit -v``), the least of them; None if the system does not tell. Cached
    files count as free in the machine, and as used in a container."""
    known = []
    with contextlib.suppress(OSError):
        if free := re.search(r"MemAvailable:\s*(\d+) kB", system.read_text(encoding="ascii")):
            known.append(int(free[1]) << 10)
    for bound_file, use_file in zip(_BOUNDS, _USES, strict=True):
        with contextlib.suppress(ValueError, OSError):  # "max": no bound
            most, used = (
                int((groups / name).read_text("ascii")) for name in (bound_file, use_file)
            )
            known.append(max(0, most - used))
    bound, _ = resource.getrlimit(resource.RLIMIT_AS)
    if bound != resource.RLIM_INFINITY:
        with contextlib.suppress(OSError):
            pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
            known.append(max(0, bound - pages * resource.getpagesize()))
    return min(known) // _MEGABYTE if known else None


def in_large_pages(numbers: np.ndarray) -> np.ndarray:
    """Return a large array's copy in large pages of memory, if the system has them; the array
    itself if it is smaller than a page. The processor knows the places of few pages: of a table
    that is read here and there, most lie in others, unless pages are large."""
    if numbers.nbytes < _LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return numbers
    pages = -(-numbers.nbytes // _LARGE_PAGE) + 1  # one to begin at the begin of a page
    memory = mmap.mmap(-1, pages * _LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    address = np.frombuffer(memory, dtype=np.uint8).ctypes.data
    copy = np.frombuffer(memory, numbers.dtype, numbers.size, -address % _LARGE_PAGE)
    copy[:] = numbers.ravel()
    return copy.reshape(numbers.shape)
