"""Clocks for tests, so that a busy machine changes nothing."""

from __future__ import annotations


class Clock:
    """A clock that only moves when it is told to.

    seconds: the time now. tick: seconds that pass whenever somebody looks.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.tick = 0.0

    def look(self) -> float:
        self.seconds += self.tick
        return self.seconds
