"""Disc count: the simplest heuristic, and a poor one until the end is near."""

from __future__ import annotations

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation, Feature
from othello_lab.core.bitboard import popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask


class DiscCount(Evaluation):
    """Mover's discs minus opponent's.

    Range -64 to 64, in discs. Antisymmetric, unchanged under the board's symmetries.
    Source: Norvig, *Paradigms of AI Programming* (1992), 18.3, ``count-difference``.

    Why: discs decide the game, and nothing is quicker to count. But most of them change sides until
    the end, and many discs early give the opponent many moves. Other heuristics have to beat it.
    """

    as_features = (Feature("disc_count", 64, order=1),)
    per_disc = 1

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        return np.int32(popcount(mover) - popcount(opponent))

    def plain(self, position: Position) -> int:
        return position.mover.bit_count() - position.opponent.bit_count()
