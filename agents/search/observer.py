"""Watching a reading twin at work: who wants to see its tree is told of every step.

The compiled searches have none of this; they count the same, and tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Sequence


class SearchObserver:
    """Is told of all that a search does, in the order in which it does it. This one looks away.

    Each node but the root begins with :meth:`enter` and ends with :meth:`leave`; what comes between
    is below it. All values are those to the side that makes the move.
    """

    def glance(self, move: int, value: int, counted: bool) -> None:
        """To order the moves, the position after one of them was looked at. counted: whether that
        took an evaluation; the result of a finished game takes none."""

    def enter(self, move: int, alpha: int, beta: int) -> None:
        """A move is searched in this window."""

    def leaf(self, value: int, over: bool) -> None:
        """The position just entered is not looked beyond: it was evaluated, or the game is over.
        value: to the side to move there."""

    def leave(self, value: int) -> None:
        """The move entered last, and not left yet, is worth this."""

    def cut(self, value: int, beta: int, unsearched: Sequence[int]) -> None:
        """The move just left is worth ``value``, which is ``beta`` or more; these moves beside it
        are not looked at."""


UNWATCHED = SearchObserver()
