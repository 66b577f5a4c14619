"""Memory of a process and all below it.

A process that was forked shares its parent's memory until one of them changes it, so sizes cannot
be added up. The first process is measured by what it has more than at the beginning; those below it
by their proportional share. Files in memory (memfd, /dev/shm) count if a process holds them open.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator

from othello_lab.core.system.processes import descendants

_IN_MEMORY = ("/memfd:", "/dev/shm/")
_BLOCK = 512  # bytes; what st_blocks counts
_KIB = re.compile(rb"^(RssAnon|RssShmem|Pss_Anon|Pss_Shmem):\s+(\d+) kB", re.MULTILINE)


class MemoryMeter:
    """A meter of a process and all below it, from its beginning on (Linux; 0 elsewhere)."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._anonymous, self._shared = _resident(process)
        share = _proportional(process)[0]
        self._sharers = self._anonymous / share if share else 1.0  # processes with the same memory
        self._image = _image(process)

    def used(self) -> int:
        """Return the bytes that all of them use now, beyond the first size of the process."""
        below = descendants([self._process])
        anonymous, shared = _resident(self._process)
        used = max(0, anonymous - self._anonymous)
        shared = max(0, shared - self._shared)
        forks = {process for process in below if _image(process) == self._image}
        inherited = round(self._anonymous / (self._sharers + len(forks)))  # a fork's share of it
        for process in below:
            own, others = _proportional(process)
            used += max(0, own - inherited) if process in forks else own
            shared += others
        return used + max(shared, _files_in_memory([self._process, *below]))


def _resident(process: int) -> tuple[int, int]:
    """Return the bytes of a process's own memory, and of memory that it shares on purpose."""
    return _sizes(f"/proc/{process}/status", b"RssAnon", b"RssShmem")


def _proportional(process: int) -> tuple[int, int]:
    """Return the same, each page divided by the number of processes that have it."""
    return _sizes(f"/proc/{process}/smaps_rollup", b"Pss_Anon", b"Pss_Shmem")


def _sizes(path: str, first: bytes, second: bytes) -> tuple[int, int]:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        found = {name: int(kib) << 10 for name, kib in _KIB.findall(file.read())}
        return found.get(first, 0), found.get(second, 0)
    return 0, 0


def _image(process: int) -> bytes:
    """Return where the arguments of a process stand in memory: the same in all its forks, another
    place, by chance, in a program that was started anew."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{process}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[45]
    return b""


def _files_in_memory(processes: Iterable[int]) -> int:
    """Return the bytes of files in memory that these processes hold open, each file once."""
    sizes: dict[tuple[int, int], int] = {}
    for process in processes:
        for path in _open_files(process):
            with contextlib.suppress(OSError):
                if os.readlink(path).startswith(_IN_MEMORY):
                    about = os.stat(path)
                    sizes[about.st_dev, about.st_ino] = about.st_blocks * _BLOCK
    return sum(sizes.values())


def _open_files(process: int) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{process}/fd"):
            yield entry.path
