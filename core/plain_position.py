"""A position that knows the rules from :mod:`core.plain_rules`, without any kernel."""

from __future__ import annotations

from typing import Self

from othello_lab.core import plain_rules
from othello_lab.core.position import Position


class PlainPosition(Position):
    """A position by the plain rules, and so is every position made from it.

    The reading twins of searches and evaluations that are given one run no kernel of the lab.
    """

    __slots__ = ()

    @classmethod
    def of(cls, position: Position) -> Self:
        """Return the same position by the plain rules."""
        return cls(position.mover, position.opponent, position.to_move, position.ruleset)

    def _moves_of(self, mover: int, opponent: int) -> int:
        return plain_rules.legal_moves(mover, opponent, self.ruleset.side)

    def _flips(self, square: int) -> int:
        return plain_rules.flips(self.mover, self.opponent, square, self.ruleset.side)
