"""What the lab asks of the operating system."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import sys
from typing import Any


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def shared(kind: Any) -> Any:
    """An object of a ctypes type, all 0, that this process shares with those it forks. No file is
    behind it, so a full disk is no matter."""
    return kind.from_buffer(mmap.mmap(-1, ctypes.sizeof(kind)))


def die_with_parent(parent: int) -> None:
    """Ask the system to end this process when its parent, of this number, ends, however that
    happens (Linux)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)  # it ended before that was asked
