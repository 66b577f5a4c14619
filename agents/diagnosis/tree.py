"""A game tree that grows as it is looked at, shared by all searches of one position."""

from __future__ import annotations

from functools import cached_property

from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position


class ReferenceNode:
    """A position, with its data for searches, each found once.

    evaluation: the heuristic at the leaves.
    """

    def __init__(self, position: Position, evaluation: Evaluation) -> None:
        self.position = position
        self._evaluation = evaluation

    @cached_property
    def moves(self) -> tuple[int, ...]:
        """The legal moves from a1 to h8, empty where there is none."""
        return self.position.moves

    @cached_property
    def over(self) -> bool:
        """True if neither side can move."""
        return self.position.is_over

    @cached_property
    def children(self) -> tuple[ReferenceNode, ...]:
        """The positions after each of the moves, or after a pass."""
        moves = self.moves or (PASS,)
        return tuple(ReferenceNode(self.position.play(move), self._evaluation) for move in moves)

    @cached_property
    def looks(self) -> int:
        """The heuristic's value of it, from the mover's view."""
        return self._evaluation(self.position)

    @cached_property
    def discs(self) -> int:
        """The mover's disc difference, the empty squares going to the winner."""
        return self.position.disc_difference

    def within(self, plies: int) -> tuple[bool, bool]:
        """Return True if a side must pass, and if the game ends, in the next plies: at a node above
        the horizon of a search of ``plies``, and at one that it enters."""
        if self.over:
            return False, True
        if plies == 0:
            return False, False
        below = [child.within(plies - 1) for child in self.children]
        passes = not self.moves or any(passed for passed, _ in below)
        return passes, any(ended for _, ended in below)
