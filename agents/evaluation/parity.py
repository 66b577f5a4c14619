"""Parity: the last move in each empty region of the board."""

from __future__ import annotations

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation, Feature
from othello_lab.core.bitboard import ZERO, around, bits, neighbours, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask


class Parity(Evaluation):
    """Regions with an odd number of empty squares minus regions with an even number.

    A region is a largest set of empty squares connected to each other, also diagonally. If each
    side always answers in the region of the last move, the mover gets the last move of every odd
    region, and the opponent the last move of every even one. Range -16 to 16, in regions. Not
    antisymmetric, since the colours do not matter; unchanged under the board's symmetries.
    Source: Rosenbloom, *A World-Championship-Level Othello Program* (1982), on parity; by regions
    as Othello players count it.

    Why: nobody flips back the discs of the last move in a region. That counts when few squares are
    left. Earlier it means little, so it is most useful as a part of other heuristics.
    """

    as_features = (Feature("parity", 16, antisymmetric=False, order=7),)

    sides = frozenset({8})

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        empty = ~(mover | opponent)
        value = np.int32(0)
        while empty != ZERO:
            region = empty & (ZERO - empty)
            while True:
                grown = neighbours(region) & empty
                if grown == region:
                    break
                region = grown
            empty ^= region
            value += np.int32(2) * np.int32(popcount(region) & 1) - np.int32(1)
        return value

    def plain(self, position: Position) -> int:
        empty = set(range(64)) - set(bits(position.mover | position.opponent))
        value = 0
        while empty:
            region, waiting = set(), [empty.pop()]
            while waiting:
                square = waiting.pop()
                region.add(square)
                near = around(square) & empty
                empty -= near
                waiting += near
            value += 1 if len(region) % 2 else -1
        return value
