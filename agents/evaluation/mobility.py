"""Mobility: the number of moves now, and of possible moves soon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from othello_lab.agents.evaluation.arithmetic import FORMS, compared, plain_compared
from othello_lab.agents.evaluation.evaluation import Evaluation, Feature
from othello_lab.core.bitboard import around, bits, legal_moves, neighbours, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask
from othello_lab.core.system.settings import Choice, check_settings, explained


@dataclass(eq=False, repr=False)
class _Mobility(Evaluation):
    sides = frozenset({8})

    form: Annotated[str, Choice(*FORMS)] = "difference"
    """``difference``; ``ratio``, in thousandths; or ``own``, minus the count of the opponent, the
    side that has just moved, so that a maximizer makes its own count large."""

    def __post_init__(self) -> None:
        check_settings(self)

    def make_parameters(self) -> np.ndarray:
        return np.array([FORMS.index(self.form)], dtype=np.int32)

    def count(self, position: Position) -> int:
        """Return the count of the side to move, in plain Python."""
        raise NotImplementedError

    def plain(self, position: Position) -> int:
        other = position.other_side()
        return plain_compared(self.count(position), self.count(other), self.form)


@explained
class Mobility(_Mobility):
    """Current mobility: the mover's legal moves against those the opponent would have.

    Difference: -33 to 33 or so, in moves; ratio: -1000 to 1000, in thousandths of
    (mine - theirs) / (mine + theirs + 2); own: -33 to 0 or so, in moves. Antisymmetric except
    ``own``, unchanged under the board's symmetries.
    Source: Norvig, *Paradigms of AI Programming* (1992), 18.12; ``own`` is ``mobility`` of 18.8.

    Why: a side with few moves soon has to make a bad one and give a corner away. The number of
    moves shows that long before the discs do.
    """

    as_features = (
        Feature("mobility", 40, order=4),
        Feature("mobility_ratio", 1000, settings={"form": "ratio"}, order=0),
    )

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        mine = popcount(legal_moves(mover, opponent))
        theirs = popcount(legal_moves(opponent, mover))
        return np.int32(compared(mine, theirs, parameters[0]))

    def count(self, position: Position) -> int:
        return len(position.moves)


@explained
class PotentialMobility(_Mobility):
    """Potential mobility: empty squares next to an opponent disc against those next to an own one.

    Every legal move is on a square next to an opponent disc. Difference: -60 to 60, in squares;
    ratio and own: as in :class:`Mobility`. Antisymmetric except ``own``, unchanged under the
    board's symmetries.
    Source: Norvig, *Paradigms of AI Programming* (1992), 18.12, after Rosenbloom's Iago (1982).

    Why: it sees future moves, and changes less from ply to ply than the present moves. It follows
    no lines of discs, so it is cheap.
    """

    as_features = (
        Feature("potential_mobility", 60, order=5),
        Feature("potential_mobility_ratio", 1000, settings={"form": "ratio"}, order=0),
    )

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        empty = ~(mover | opponent)
        mine = popcount(neighbours(opponent) & empty)
        theirs = popcount(neighbours(mover) & empty)
        return np.int32(compared(mine, theirs, parameters[0]))

    def count(self, position: Position) -> int:
        near_opponent = {near for square in bits(position.opponent) for near in around(square)}
        return len(near_opponent - set(bits(position.mover | position.opponent)))


class FrontierDiscs(Evaluation):
    """The opponent's frontier discs (discs next to an empty square) minus the mover's.

    The other side can flip such discs. Range -62 to 62, in discs. Antisymmetric, unchanged under
    the board's symmetries.
    Source: Rosenbloom, *A World-Championship-Level Othello Program* (1982).

    Why: discs without an empty neighbour give the opponent no moves. A side with a short
    frontier has a choice of moves and leaves the other side few.
    """

    as_features = (Feature("frontier_discs", 62, order=6),)

    sides = frozenset({8})

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        near_empty = neighbours(~(mover | opponent))
        return np.int32(popcount(opponent & near_empty) - popcount(mover & near_empty))

    def plain(self, position: Position) -> int:
        occupied = set(bits(position.mover | position.opponent))

        def frontier(mask: int) -> int:
            return sum(not around(square) <= occupied for square in bits(mask))

        return frontier(position.opponent) - frontier(position.mover)
