"""Stable discs: discs that can never be flipped."""

from __future__ import annotations

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation, Feature
from othello_lab.core.bitboard import bits, popcount
from othello_lab.core.position import Position
from othello_lab.core.stability import edge_table, stable_discs_of_both
from othello_lab.core.system.compile import Array, Mask
from othello_lab.core.vector import DOWNWARD, STEPS, UPWARD


class StableDiscs(Evaluation):
    """Stable discs of the mover minus stable discs of the opponent, by a sound lower bound.

    :mod:`core.stability` defines and explains the bound. Range -64 to 64, in discs. Antisymmetric,
    unchanged under the board's symmetries.

    Why: stable discs already count for the end. There are none before the first corner, so alone
    it plays the opening without a plan.
    """

    as_features = (Feature("stable_discs", 64, order=10),)

    sides = frozenset({8})

    def make_parameters(self) -> np.ndarray:
        return edge_table()

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        mine, theirs = stable_discs_of_both(mover, opponent, parameters)
        return np.int32(popcount(mine) - popcount(theirs))

    def plain(self, position: Position) -> int:
        mine = len(plain_stable_discs(position.mover, position.opponent))
        return mine - len(plain_stable_discs(position.opponent, position.mover))


_EDGES = (range(8), range(56, 64), range(0, 64, 8), range(7, 64, 8))


def plain_stable_discs(mover: int, opponent: int) -> set[int]:
    """Return the squares of :func:`core.stability.stable_discs`, in plain Python."""
    table = edge_table()
    stable = set()
    for edge in _EDGES:
        mine = sum(1 << i for i, square in enumerate(edge) if mover >> square & 1)
        theirs = sum(1 << i for i, square in enumerate(edge) if opponent >> square & 1)
        stable_part = int(table[256 + table[mine] + 2 * table[theirs]])
        stable |= {edge[i] for i in bits(stable_part)}

    def safe(square: int, line: int) -> bool:
        beside = {square + step for step in (-STEPS[line], STEPS[line])}
        rays = UPWARD[square][line] | DOWNWARD[square][line]
        return bool(beside & stable) or not rays & ~(mover | opponent)

    inside = {s for s in bits(mover) if 0 < s % 8 < 7 and 0 < s // 8 < 7}
    while True:
        more = {s for s in inside - stable if all(safe(s, line) for line in range(4))}
        if not more:
            return stable
        stable |= more
