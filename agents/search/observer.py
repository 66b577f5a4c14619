"""Observation of a reading twin at work: an observer gets every step of its tree.

The compiled searches have none of this; they count the same, and tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Sequence


class SearchObserver:
    """Receives all steps of a search, in their order. This one ignores them.

    Each node but the root begins with :meth:`enter` and ends with :meth:`leave`; all steps in
    between are below it. All values are those to the side that makes the move.
    """

    def glance(self, move: int, value: int, counted: bool) -> None:
        """Notice a look at the position after a move, made to order the moves. counted: True if
        that took an evaluation; the result of a finished game takes none."""

    def enter(self, move: int, alpha: int, beta: int) -> None:
        """A move is searched in this window."""

    def leaf(self, value: int, over: bool) -> None:
        """The position just entered is not looked beyond: it was evaluated, or the game is over.
        value: to the side to move there."""

    def leave(self, value: int) -> None:
        """The move entered last, and not left yet, is worth this."""

    def cut(self, value: int, beta: int, unsearched: Sequence[int]) -> None:
        """Notice a cutoff: the move just left is worth ``value``, that is ``beta`` or more; these
        other moves are not looked at."""


UNWATCHED = SearchObserver()
