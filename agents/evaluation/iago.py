"""Iago: edges, current and potential mobility, with weights by the number of the move."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from othello_lab.agents.evaluation.arithmetic import rounded
from othello_lab.agents.evaluation.edge_stability import EdgeStability, edge_sum, plain_edge_sum
from othello_lab.agents.evaluation.evaluation import Feature
from othello_lab.agents.evaluation.mobility import Mobility, PotentialMobility
from othello_lab.core.bitboard import legal_moves, neighbours, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask

POTENTIAL = 20_000
EDGE_DIVISOR = 32_000


class Iago(EdgeStability):
    """c_edge x edge stability / 32000 + c_now x mobility ratio + c_potential x potential ratio.

    m = discs on the board - 3 is the number of the next move (PAIP takes the root's). c_edge =
    312000 + 6240 m; c_now = 50000 + 2000 m before move 25, 75000 + 1000 m from then on;
    c_potential = 20000. A ratio is (mine - theirs) / (mine + theirs + 2); each of the three terms
    is rounded, half to even. Range about -900000 to 900000, in points of Iago's. Not antisymmetric
    (the edges are not); unchanged under the board's symmetries.
    Source: Norvig, *Paradigms of AI Programming* (1992), 18.12, after Rosenbloom's Iago (1982).

    Why: it combines edges, present moves and future moves, with weights that follow the game. The
    other heuristics know only one of these. Of the heuristics made by hand it is the strongest
    here; each call has to read the whole board.
    """

    as_features = (Feature("iago", 950_000, antisymmetric=False, order=12),)

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        number = popcount(mover | opponent) - np.int64(3)
        edges = rounded(
            (np.int64(312_000) + np.int64(6_240) * number) * edge_sum(mover, opponent, parameters),
            np.int64(EDGE_DIVISOR),
        )
        mine = popcount(legal_moves(mover, opponent))
        theirs = popcount(legal_moves(opponent, mover))
        weight = np.int64(50_000) + np.int64(2_000) * number
        if number >= 25:
            weight = np.int64(75_000) + np.int64(1_000) * number
        now = rounded(weight * (mine - theirs), mine + theirs + np.int64(2))
        empty = ~(mover | opponent)
        mine, theirs = popcount(neighbours(opponent) & empty), popcount(neighbours(mover) & empty)
        soon = rounded(np.int64(POTENTIAL) * (mine - theirs), mine + theirs + np.int64(2))
        return np.int32(edges + now + soon)

    def plain(self, position: Position) -> int:
        return sum(int(term) for term in self.parts(position).values())

    def parts(self, position: Position) -> dict[str, int | float]:
        other = position.other_side()
        number = position.discs - 3
        edges, c_edge = plain_edge_sum(position), 312_000 + 6_240 * number
        c_now = 50_000 + 2_000 * number if number < 25 else 75_000 + 1_000 * number
        # Fractions are exact, and round() is half to even.
        parts: dict[str, int | float] = {}
        formula = f"edges {edges} x {c_edge} / {EDGE_DIVISOR}"
        parts[formula] = round(Fraction(c_edge * edges, EDGE_DIVISOR))
        for name, kind, weight in (
            ("current", Mobility(), c_now),
            ("potential", PotentialMobility(), POTENTIAL),
        ):
            mine, theirs = kind.count(position), kind.count(other)
            formula = f"{name} mobility ({mine} - {theirs}) / {mine + theirs + 2} x {weight}"
            parts[formula] = round(weight * Fraction(mine - theirs, mine + theirs + 2))
        return parts
