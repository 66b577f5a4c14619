"""Use of the processor and of memory by a process and those below it."""

from __future__ import annotations

import contextlib
import os
import re
import time

from othello_lab.core.system.processes import LINUX, family, stat, threads

_TICK = 10**9 // os.sysconf("SC_CLK_TCK")  # nanoseconds; what /proc/PID/stat counts in
_ENOUGH = 1 << 16  # bytes; these files are short
_KIB = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s+(\d+) kB", re.MULTILINE)


class ResourceMeter:
    """A meter of a process and those below it, from the last :meth:`start` on (Linux; all 0
    elsewhere).

    stopped: True if the process was seen stopped. The system tells its parent only when the last of
    its threads is, and this may have to wait for a processor.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self.stopped = False
        self._virtual = _stolen() > 0  # elsewhere nothing ever is
        self._first_memory, self._image = _memory(process), _image(process)
        self.start()

    def start(self) -> None:
        """Begin anew."""
        self._threads: dict[tuple[int, str], tuple[int, int]] = {}  # time on and for a processor
        self._first_stolen = _stolen() if self._virtual else 0
        self._first_cpu = self.cpu = 0
        self.look()
        self._first_cpu, self.cpu = self.cpu, 0
        self._first_threads = self._threads.copy()

    def look(self) -> None:
        """Update the counts. cpu: nanoseconds of processor time of all of them together; of a
        process that begins and ends between two looks that counts for which its parent waited."""
        if not LINUX:
            return
        used = 0
        for process in family(self._process):
            state, reaped = _state(process)
            used += cpu_time(process) + reaped
            if process == self._process:
                self.stopped = state in (b"T", b"t")
            for thread in threads(process):
                with contextlib.suppress(OSError, IndexError):
                    self._threads[process, thread] = _scheduled(f"{thread}/schedstat")
        self.cpu = max(self.cpu, used - self._first_cpu)

    @property
    def ready(self) -> int:
        """Nanoseconds that the answering threads stood ready but were not run. Of each process that
        is the thread with the most processor time, and a process asks one other at most."""
        busiest: dict[int, tuple[int, int]] = {}
        for name, (run, waited) in self._threads.items():
            first = self._first_threads.get(name, (0, 0))
            share = run - first[0], waited - first[1]
            busiest[name[0]] = max(share, busiest.get(name[0], (0, 0)))
        _, of_process = busiest.pop(self._process, (0, 0))
        return of_process + max((waited for _, waited in busiest.values()), default=0)

    @property
    def stolen(self) -> int:
        """Return the nanoseconds during which a virtual machine's processors were not run; at most
        this time was taken from the process."""
        stolen = _stolen() - self._first_stolen if self._virtual else 0
        return stolen + _TICK if stolen else 0

    def memory(self) -> int:
        """Return the bytes of memory that they use beyond the first size of the process, page
        tables and memory that is shared on purpose included."""
        used = 0
        for process in family(self._process):
            # A fork has its parent's memory, another program none of it.
            inherited = self._first_memory if _image(process) == self._image else 0
            used += max(0, _memory(process) - inherited)
        return used


def _memory(process: int) -> int:
    with contextlib.suppress(OSError):
        return sum(map(int, _KIB.findall(_read(f"/proc/{process}/status")))) << 10
    return 0


def _image(process: int) -> bytes:
    """Return where a process's arguments stand in memory: the same in all its forks alone."""
    with contextlib.suppress(OSError, IndexError):
        return stat(process)[45]
    return b""


def cpu_time(process: int) -> int:
    """Nanoseconds that a process has had the processor (Linux; 0 elsewhere)."""
    if LINUX:
        with contextlib.suppress(OSError):
            return time.clock_gettime_ns((~process << 3) | 2)  # CPUCLOCK_SCHED of that process
    return 0


def own_ready() -> int:
    """Nanoseconds that this thread has stood ready but was not run (Linux; 0 elsewhere)."""
    with contextlib.suppress(OSError, IndexError):
        return _scheduled("/proc/thread-self/schedstat")[1]
    return 0


def _stolen() -> int:
    """Nanoseconds that other machines had this one's processors, if it is a virtual one."""
    with contextlib.suppress(OSError, IndexError):
        return int(_read("/proc/stat", 256).split()[8]) * _TICK
    return 0


def _scheduled(path: str) -> tuple[int, int]:
    """Nanoseconds that a thread has had a processor, and has waited for one."""
    run, waited, *_ = _read(path).split()
    return int(run), int(waited)


def _state(process: int) -> tuple[bytes, int]:
    """Return a process's state, and nanoseconds of processor time of its children that ended."""
    with contextlib.suppress(OSError, IndexError):
        fields = stat(process)
        return fields[0], (int(fields[13]) + int(fields[14])) * _TICK
    return b"", 0


def _read(path: str, most: int = _ENOUGH) -> bytes:
    """Return the content of a file of the system, without a slower Python file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)
