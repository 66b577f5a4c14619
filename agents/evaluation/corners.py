"""Corners, and the squares next to corners."""

from __future__ import annotations

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation, Feature
from othello_lab.core.bitboard import CORNERS, ZERO, around, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask

_CORNER_MASK = np.uint64(sum(1 << corner for corner in CORNERS))
_NEIGHBOURS = np.array([sum(1 << s for s in around(corner)) for corner in CORNERS], dtype=np.uint64)
_CORNER = np.array([1 << corner for corner in CORNERS], dtype=np.uint64)


class Corners(Evaluation):
    """Corners held by the mover minus those held by the opponent.

    Range -4 to 4, in corners. Antisymmetric, unchanged under the board's symmetries.
    Source: common knowledge of the game; a corner can never be flipped.

    Why: a corner stays, and from it whole edges become stable. It is the shortest good rule of the
    game. But until the first corner is in reach all moves look alike.
    """

    as_features = (Feature("corners", 4, order=8),)

    sides = frozenset({8})

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        return np.int32(popcount(mover & _CORNER_MASK) - popcount(opponent & _CORNER_MASK))

    def plain(self, position: Position) -> int:
        mine = sum(position.mover >> corner & 1 for corner in CORNERS)
        return mine - sum(position.opponent >> corner & 1 for corner in CORNERS)


class CornerCloseness(Evaluation):
    """The opponent's discs on X- and C-squares beside an empty corner, minus the mover's.

    Such discs offer the corner. Range -12 to 12, in discs. Antisymmetric, unchanged under the
    board's symmetries.
    Source: common knowledge of the game; the names are Othello's own.

    Why: most corners are won because the other side had to play next to one. It reacts earlier than
    the corners themselves, and no longer once they are taken.
    """

    as_features = (Feature("corner_closeness", 12, order=9),)

    sides = frozenset({8})

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        near = ZERO
        for i in range(4):
            if (mover | opponent) & _CORNER[i] == ZERO:
                near |= _NEIGHBOURS[i]
        return np.int32(popcount(opponent & near) - popcount(mover & near))

    def plain(self, position: Position) -> int:
        occupied = position.mover | position.opponent
        near = [s for corner in CORNERS if not occupied >> corner & 1 for s in around(corner)]
        mine = sum(position.mover >> square & 1 for square in near)
        return sum(position.opponent >> square & 1 for square in near) - mine
