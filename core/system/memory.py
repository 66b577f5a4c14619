"""Memory of this machine: all of it, what is free, and memory in large pages."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import resource
from pathlib import Path

import numpy as np

from othello_lab.core.system.control_groups import GROUPS, numbers, own_groups

_MEGABYTE = 1 << 20
_LARGE_PAGE = 2 * _MEGABYTE
_FILES = {"memory.max": "memory.current", "memory.limit_in_bytes": "memory.usage_in_bytes"}
"""Files of a group's bound and use, in both versions of control groups."""


def memory_of_machine(groups: Path = GROUPS) -> int | None:
    """Return the memory that processes here may use, in MB: of the machine, or of the container
    if that may use less; None if the system does not tell."""
    known = []
    with contextlib.suppress(AttributeError, ValueError, OSError):
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for folder in own_groups("memory", groups):
        for bound in _FILES:
            known += numbers(folder, bound) or []
    return min(known) // _MEGABYTE if known else None


def free_memory(groups: Path = GROUPS, system: Path = Path("/proc/meminfo")) -> int | None:
    """Return the memory that this process can still take, in MB: of the machine, of the container
    or of its own bound (``ulimit -v``), the least of them; None if the system does not tell. Cached
    files count as free in the machine, and as used in a container."""
    known = []
    with contextlib.suppress(OSError):
        if free := re.search(r"MemAvailable:\s*(\d+) kB", system.read_text(encoding="ascii")):
            known.append(int(free[1]) << 10)
    for folder in own_groups("memory", groups):
        for files in _FILES.items():
            if values := numbers(folder, *files):
                known.append(max(0, values[0] - values[1]))
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
