"""The clocks of the system, read inside of compiled code."""

from __future__ import annotations

import time

import numpy as np
from numba import types

from othello_lab.core.system.compile import Address, Int, kernel
from othello_lab.core.vector import load

WALL_CLOCK = time.CLOCK_MONOTONIC
"""The clock that always goes on."""
PROCESSOR_CLOCK = time.CLOCK_THREAD_CPUTIME_ID
"""The clock that goes on while the thread that reads it has a processor."""

_read = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))


@kernel
def clock_nanoseconds(clock: Int, words: Address) -> Int:
    """Return the time of a clock of the system in nanoseconds, as ``time.clock_gettime_ns`` does.

    words: two words of memory that are overwritten.
    """
    _read(np.int32(clock), words)
    return load(words, 0) * np.int64(10**9) + load(words, 1)
