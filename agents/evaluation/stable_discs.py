"""Stable discs: what can never be taken away."""

from __future__ import annotations

import numpy as np

from agents.evaluation.base import Evaluation
from core.bitboard import bits, popcount
from core.compile import Array, Mask
from core.position import Position
from core.stability import edge_table, stable_discs


class StableDiscs(Evaluation):
    """Stable discs of the mover minus those of the opponent, by a sound lower bound.

    What counts as stable, and why it is, says :mod:`core.stability`. Range -64 to 64, in discs.
    Antisymmetric, unchanged under the board's symmetries.
    """

    sides = frozenset({8})

    def make_parameters(self) -> np.ndarray:
        return edge_table()

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        own = popcount(stable_discs(mover, opponent, parameters))
        return np.int32(own - popcount(stable_discs(opponent, mover, parameters)))

    def plain(self, position: Position) -> int:
        own = len(plain_stable_discs(position.mover, position.opponent))
        return own - len(plain_stable_discs(position.opponent, position.mover))


_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (-1, 1))
_EDGES = (
    [(x, 0) for x in range(8)],
    [(x, 7) for x in range(8)],
    [(0, y) for y in range(8)],
    [(7, y) for y in range(8)],
)


def plain_stable_discs(own: int, other: int) -> set[int]:
    """The squares of :func:`core.stability.stable_discs`, in plain Python."""

    def square(x: int, y: int) -> int:
        return 8 * y + x

    table = edge_table()
    stable = set()
    for edge in _EDGES:
        mine = sum(1 << i for i, at in enumerate(edge) if own >> square(*at) & 1)
        theirs = sum(1 << i for i, at in enumerate(edge) if other >> square(*at) & 1)
        kept = int(table[256 + table[mine] + 2 * table[theirs]])
        stable |= {square(*edge[i]) for i in bits(kept)}

    def on_board(x: int, y: int) -> bool:
        return 0 <= x < 8 and 0 <= y < 8

    def full(x: int, y: int, dx: int, dy: int) -> bool:
        line = [(x + k * dx, y + k * dy) for k in range(-7, 8)]
        return all((own | other) >> square(*at) & 1 for at in line if on_board(*at))

    def safe(x: int, y: int, dx: int, dy: int) -> bool:
        sides = ((x + dx, y + dy), (x - dx, y - dy))
        return any(on_board(*at) and square(*at) in stable for at in sides) or full(x, y, dx, dy)

    inside = [s for s in bits(own) if 0 < s % 8 < 7 and 0 < s // 8 < 7]
    while True:
        found = {
            s
            for s in inside
            if s not in stable and all(safe(s % 8, s // 8, *step) for step in _DIRECTIONS)
        }
        if not found:
            return stable
        stable |= found
