"""Limits of a search: nodes, seconds a move, or its share of a game's clock."""

from __future__ import annotations

import math
import time

import numpy as np

from othello_lab.agents.agent import Limits
from othello_lab.agents.search.context import COUNTERS, set_limits
from othello_lab.core.clock import PROCESSOR_CLOCK, WALL_CLOCK

MARGIN = 0.003
"""Seconds kept back from every time limit, for the way from the stop to the answer."""
SHORTEST = 0.0005
"""Seconds a search gets in any case."""
FAST_MOVES = 5
"""How many of its last moves a player expects to make at no cost worth counting."""


def allotment(
    limits: Limits, empties: int, free: int = FAST_MOVES, shares: float = 1.0
) -> float | None:
    """Return the seconds for the next move with this many empty squares, or None without a time
    limit.

    Of a time for each move it is all. Of a game's ``clock`` it is an equal share for each of
    the player's own moves to come (half the empty squares); the last five of them, or ``free``
    many, are taken to cost nothing. The move may have so many ``shares``, but never more than a
    third of the clock. A margin is taken off: 3 ms, of short times a tenth.
    """
    if limits.per_move is not None:
        seconds = limits.per_move
    elif limits.clock is not None:
        own_moves = math.ceil(empties / 2)
        seconds = limits.clock / max(3.0, (own_moves - free) / shares)
    else:
        return None
    return max(SHORTEST, seconds - min(MARGIN, seconds / 10))


def limit(
    context: np.ndarray, nodes: int | None, seconds: float | None, clock: int = WALL_CLOCK
) -> None:
    """Set the counters to 0, and let the search of this thread on this context stop after a number
    of nodes, or of seconds from now by a clock of the system, the earlier of the two."""
    context[:COUNTERS] = 0
    set_limits(context, nodes, None if seconds is None else deadline(seconds, clock), clock)


def deadline(seconds: float, clock: int = WALL_CLOCK) -> int:
    """Return a clock's time after some seconds, in nanoseconds."""
    return time.clock_gettime_ns(clock) + round(seconds * 1e9)


def clock_of(limits: Limits) -> int:
    """Return the clock for a search with these limits."""
    return WALL_CLOCK if limits.cpu_seconds is None else PROCESSOR_CLOCK
