"""Limits of a search: nodes, seconds a move, or its share of a game's clock."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from othello_lab.agents.agent import Limits
from othello_lab.agents.search.context import COUNTERS, LIMIT, NO_LIMIT

MARGIN = 0.003
"""Seconds kept back from every time limit, for the way from the stop to the answer."""
SHORTEST = 0.0005
"""Seconds a search gets in any case."""
FAST_MOVES = 5
"""How many of its last moves a player expects to make at no cost worth counting."""


def allotment(limits: Limits, empties: int, free: int = FAST_MOVES) -> float | None:
    """Return the seconds for the next move with this many empty squares, or None without a time
    limit.

    Of ``seconds`` for each move it is all. Of a game's ``clock`` it is an equal share for each of
    the player's own moves to come (half the empty squares); the last five of them, or ``free``
    many, are taken to cost nothing, and a share is never more than a third. A margin is taken off:
    3 ms, of short times a tenth.
    """
    if limits.seconds is not None:
        seconds = limits.seconds
    elif limits.clock is not None:
        own_moves = math.ceil(empties / 2)
        seconds = limits.clock / max(3, own_moves - free)
    else:
        return None
    return max(SHORTEST, seconds - min(MARGIN, seconds / 10))


@contextmanager
def limited(context: np.ndarray, nodes: int | None, seconds: float | None) -> Iterator[None]:
    """Set the counters to 0, and let the search on this context stop after a number of nodes, or of
    seconds from now, the earlier of the two."""
    context[:COUNTERS] = 0
    context[LIMIT] = NO_LIMIT if nodes is None else nodes
    if seconds is None:
        yield
        return

    try:
        timer = _idle.pop()
    except IndexError:
        timer = Timer()
    timer.begin(context, seconds)
    try:
        yield
    finally:
        timer.cancel()
        _idle.append(timer)


class Timer:
    """A thread that stops one search after another. It stays, as on a busy machine a new one may
    wait long until it begins; and how long a thread has waited is known only while it lives."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._context: np.ndarray | None = None
        self._until = 0.0
        threading.Thread(target=self._run, name="timer", daemon=True).start()

    def begin(self, context: np.ndarray, seconds: float) -> None:
        """Stop the search on this context after this many seconds."""
        with self._changed:
            self._context, self._until = context, time.monotonic() + seconds
            self._changed.notify()

    def cancel(self) -> None:
        """The search is over."""
        with self._changed:
            self._context = None

    def _run(self) -> None:
        with self._changed:
            while True:
                if self._context is None:
                    self._changed.wait()
                elif (left := self._until - time.monotonic()) > 0:
                    self._changed.wait(left)
                else:
                    self._context[LIMIT] = 0
                    self._context = None


_idle: list[Timer] = []  # which no search uses now
os.register_at_fork(after_in_child=_idle.clear)  # a forked process has none of the threads
