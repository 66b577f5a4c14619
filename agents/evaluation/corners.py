"""Corners, and the squares that give them away."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.evaluation.base import Evaluation
from agents.evaluation.mobility import around
from core.bitboard import popcount
from core.position import Position

CORNERS = (0, 7, 56, 63)
"""a1, h1, a8, h8."""

_CORNER_MASK = np.uint64(sum(1 << corner for corner in CORNERS))
_BESIDE = np.array([sum(1 << s for s in around(corner)) for corner in CORNERS], dtype=np.uint64)
_CORNER = np.array([1 << corner for corner in CORNERS], dtype=np.uint64)
_NONE = np.uint64(0)


class Corners(Evaluation):
    """Corners held by the mover minus those held by the opponent.

    Range -4 to 4, in corners. Antisymmetric, unchanged under the board's symmetries.
    Source: common knowledge of the game; a corner can never be flipped.
    """

    sides = frozenset({8})

    @staticmethod
    def kernel(mover: Any, opponent: Any, parameters: Any) -> Any:
        return np.int32(popcount(mover & _CORNER_MASK) - popcount(opponent & _CORNER_MASK))

    def plain(self, position: Position) -> int:
        own = sum(position.mover >> corner & 1 for corner in CORNERS)
        return own - sum(position.opponent >> corner & 1 for corner in CORNERS)


class CornerCloseness(Evaluation):
    """Discs on X- and C-squares beside an empty corner: the opponent's minus the mover's, since
    they offer the corner.

    Range -12 to 12, in discs. Antisymmetric, unchanged under the board's symmetries.
    Source: common knowledge of the game; the names are Othello's own.
    """

    sides = frozenset({8})

    @staticmethod
    def kernel(mover: Any, opponent: Any, parameters: Any) -> Any:
        near = _NONE
        for i in range(4):
            if (mover | opponent) & _CORNER[i] == _NONE:
                near |= _BESIDE[i]
        return np.int32(popcount(opponent & near) - popcount(mover & near))

    def plain(self, position: Position) -> int:
        occupied = position.mover | position.opponent
        near = [s for corner in CORNERS if not occupied >> corner & 1 for s in around(corner)]
        own = sum(position.mover >> square & 1 for square in near)
        return sum(position.opponent >> square & 1 for square in near) - own
