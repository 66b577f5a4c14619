"""What the lab asks of the operating system."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def die_with_parent(parent: int) -> None:
    """Ask the system to end this process when its parent, of this number, ends, however that
    happens (Linux)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)  # it ended before that was asked
