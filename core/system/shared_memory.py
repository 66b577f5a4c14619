"""Memory that processes share."""

from __future__ import annotations

import ctypes
import mmap
import multiprocessing
from typing import Any

from othello_lab.core.system.processes import LINUX

_MADV_DONTFORK = 10

GO_ON, FINISH_PAIRS, STOP_AT_ONCE = range(3)
"""What workers are told: play on, end after the pair under way, drop everything."""
STOPPING = "stopping after the pairs under way"
"""What a user is told then."""


def shared(kind: Any) -> Any:
    """An object of a ctypes type, all 0, that this process shares with those it forks. No file is
    behind it, so a full disk is no matter."""
    return kind.from_buffer(mmap.mmap(-1, ctypes.sizeof(kind)))


def stop_signal() -> Any:
    """A number that all forked processes see; ``value`` is GO_ON, FINISH_PAIRS or STOP_AT_ONCE."""
    return shared(ctypes.c_int64)  # which is 0, GO_ON


def why_no_locks() -> str:
    """Return the reason why processes here cannot share locks, with the cure; "" if they can. The
    system keeps locks of several processes as files in ``/dev/shm``."""
    try:
        multiprocessing.get_context("fork").Lock()
    except (OSError, ImportError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return (
            f"processes here cannot share locks ({reason}); /dev/shm has to be there and writable: "
            "mount -t tmpfs tmpfs /dev/shm, or a container without --read-only and --ipc=none"
        )
    return ""


def keep_from_children(thing: Any) -> None:
    """Take memory of :func:`shared` away from the processes that this one forks (Linux)."""
    if LINUX:
        # It begins a page of its own, as every mapping does.
        where = ctypes.c_void_p(ctypes.addressof(thing))
        ctypes.CDLL(None).madvise(where, ctypes.c_size_t(mmap.PAGESIZE), _MADV_DONTFORK)
