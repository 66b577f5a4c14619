"""Use of the processor by a process and those below it: time on it, and time waiting for it."""

from __future__ import annotations

import contextlib
import os
import time

from othello_lab.core.system.processes import LINUX

_TICK = 10**9 // os.sysconf("SC_CLK_TCK")  # nanoseconds; what /proc/PID/stat counts in
_ENOUGH = 1 << 16  # bytes; these files are short


class ResourceMeter:
    """A meter of a process and all below it, from the last :meth:`start` on (Linux; all 0
    elsewhere).

    stopped: True if the process was seen stopped. The system tells its parent only when the last of
    its threads is, and this may have to wait for a processor. forked: True if the last look found a
    process below it that the look before did not.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self.stopped = self.forked = False
        self._living: list[int] = []
        self._virtual = _stolen() > 0  # elsewhere nothing ever is
        self.start()

    def start(self) -> None:
        """Begin anew."""
        self._cpu: dict[int, int] = {}  # of each process
        self._ready: dict[str, int] = {}  # of each thread
        self._reaped = 0
        self._first_stolen = _stolen() if self._virtual else 0
        self.look()
        self.forked = False  # since now
        self._first_cpu, self._first_ready = self._cpu.copy(), self._ready.copy()
        self._first_reaped = self._reaped

    def look(self) -> None:
        """Update the counts. Of a process that begins and ends between two looks only the time that
        its parent waited for is known."""
        if not LINUX:
            return
        found, self._reaped = [self._process], 0
        for process in found:
            self._cpu[process] = max(cpu_time(process), self._cpu.get(process, 0))
            state, reaped = _state(process)
            self._reaped += reaped
            if process == self._process:
                self.stopped = state in (b"T", b"t")
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{process}/task"):
                    found += self._look_at(f"/proc/{process}/task/{thread}", thread)
        self.forked = not set(found) <= set(self._living)
        self._living = found

    def _look_at(self, folder: str, thread: str) -> list[int]:
        """Note how long a thread has waited; its children."""
        with contextlib.suppress(OSError, IndexError):
            self._ready[thread] = _ready(f"{folder}/schedstat")
            return [int(number) for number in _read(f"{folder}/children").split()]
        return []

    @property
    def cpu(self) -> int:
        """Nanoseconds of processor time of all of them together."""
        seen = sum(now - self._first_cpu.get(name, 0) for name, now in self._cpu.items())
        before = sum(cpu for name, cpu in self._first_cpu.items() if name not in self._living)
        own = self._cpu.get(self._process, 0) - self._first_cpu.get(self._process, 0)
        return max(seen, own + self._reaped - self._first_reaped - before)

    @property
    def ready(self) -> int:
        """Nanoseconds that its threads stood ready but were not run. Of all together, as one may
        wait for another that waits for a processor."""
        return sum(now - self._first_ready.get(name, 0) for name, now in self._ready.items())

    @property
    def stolen(self) -> int:
        """Return the nanoseconds during which a virtual machine's processors were not run; at most
        this time was taken from the process."""
        stolen = _stolen() - self._first_stolen if self._virtual else 0
        return stolen + _TICK if stolen else 0


def cpu_time(process: int) -> int:
    """Nanoseconds that a process has had the processor (Linux; 0 elsewhere)."""
    if LINUX:
        with contextlib.suppress(OSError):
            return time.clock_gettime_ns((~process << 3) | 2)  # CPUCLOCK_SCHED of that process
    return 0


def own_ready() -> int:
    """Nanoseconds that this thread has stood ready but was not run (Linux; 0 elsewhere)."""
    with contextlib.suppress(OSError, IndexError):
        return _ready("/proc/thread-self/schedstat")
    return 0


def _stolen() -> int:
    """Nanoseconds that other machines had this one's processors, if it is a virtual one."""
    with contextlib.suppress(OSError, IndexError):
        return int(_read("/proc/stat", 256).split()[8]) * _TICK
    return 0


def _ready(path: str) -> int:
    return int(_read(path).split()[1])


def _state(process: int) -> tuple[bytes, int]:
    """The letter of a process's state, and nanoseconds of processor time of its children that ended
    and were waited for."""
    with contextlib.suppress(OSError, IndexError):
        fields = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
        return fields[0], (int(fields[13]) + int(fields[14])) * _TICK
    return b"", 0


def _read(path: str, most: int = _ENOUGH) -> bytes:
    """Return the content of a file of the system; without a Python file, because that takes
    longer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)
