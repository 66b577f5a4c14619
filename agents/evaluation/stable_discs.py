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

    as_features = (Feature("stable_discs", 64, place=10),)

    sides = frozenset({8})

    def make_parameters(self) -> np.ndarray:
        return edge_table()

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        own, other = stable_discs_of_both(mover, opponent, parameters)
        return np.int32(popcount(own) - popcount(other))

    def plain(self, position: Position) -> int:
        own = len(plain_stable_discs(position.mover, position.opponent))
        return own - len(plain_stable_discs(position.opponent, position.mover))


_EDGES = (range(8), range(56, 64), range(0, 64, 8), range(7, 64, 8))


def plain_stable_discs(own: int, other: int) -> set[int]:
    """Return the squares of :func:`core.stability.stable_discs`, in plain Python."""
    table = edge_table()
    stable = set()
    for edge in _EDGES:
        mine = sum(1 << i for i, square in enumerate(edge) if own >> square & 1)
        theirs = sum(1 << i for i, square in enumerate(edge) if other >> square & 1)
        kept = int(table[256 + table[mine] + 2 * table[theirs]])
        stable |= {edge[i] for i in bits(kept)}

    def safe(square: int, line: int) -> bool:
        beside = {square + step for step in (-STEPS[line], STEPS[line])}
        rays = UPWARD[square][line] | DOWNWARD[square][line]
        return bool(beside & stable) or not rays & ~(own | other)

    inside = {s for s in bits(own) if 0 < s % 8 < 7 and 0 < s // 8 < 7}
    while True:
        found = {s for s in inside - stable if all(safe(s, line) for line in range(4))}
        if not found:
            return stable
        stable |= found
