"""How long a search may think: nodes, seconds a move, or its share of a game's clock."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from agents.base import Limits
from agents.search.context import COUNTERS, LIMIT, NO_LIMIT

MARGIN = 0.003
"""Seconds kept back from every time limit, for the way from the stop to the answer."""
SHORTEST = 0.0005
"""Seconds a search gets in any case."""
FAST_MOVES = 5
"""How many of its last moves a player expects to make at no cost worth counting."""


def allotment(limits: Limits, empties: int) -> float | None:
    """Seconds for the move to be made with so many empty squares, or None without a time limit.

    With ``seconds`` that time. With ``clock`` an equal share of it for each of the player's own
    moves to come (half the empty squares); the last five of them are taken to cost nothing, and a
    share is never more than a third. A margin is taken off: 3 ms, of short times a tenth.
    """
    if limits.seconds is not None:
        seconds = limits.seconds
    elif limits.clock is not None:
        own_moves = math.ceil(empties / 2)
        seconds = limits.clock / max(3, own_moves - FAST_MOVES)
    else:
        return None
    return max(SHORTEST, seconds - min(MARGIN, seconds / 10))


@contextmanager
def limited(context: np.ndarray, nodes: int | None, seconds: float | None) -> Iterator[None]:
    """Set the counters to 0, and let the search on this context stop after so many nodes, or so
    many seconds from now, whichever comes first."""
    context[:COUNTERS] = 0
    context[LIMIT] = NO_LIMIT if nodes is None else nodes
    if seconds is None:
        yield
        return

    over = False
    lock = threading.Lock()

    def stop() -> None:
        with lock:
            if not over:
                context[LIMIT] = 0

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        # Its thread is not waited for: on a busy machine it may take long to get a processor.
        with lock:
            over = True
