"""A match of two agents until it is decided which of them is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from othello_lab.core.system.settings import Number, checked
from othello_lab.experiments.pairing.schedule import FIRST, SECOND, MatchOfTwo, PairOutcomes
from othello_lab.experiments.statistics.pairs import SHARES
from othello_lab.experiments.statistics.sequential_mean import looks, side_at_look

_LOOKS = looks(most=3200, first=50)
"""Numbers of pairs after which the results are tested: 50, 100, 200, ..., 3,200."""


class UntilDecided(MatchOfTwo):
    """A match that ends when the results show which agent is better.

    After 50, 100, 200, ... pairs the mean of their points is tested against an equal share, see
    :mod:`experiments.statistics.sequential_mean`.
    """

    looks = len(_LOOKS)

    @checked
    def __init__(self, error_rate: Annotated[float, Number(above=0, below=0.5)] = 0.05) -> None:
        """
        error_rate: share of matches of equal agents in which one of them may be called better.
        """
        self.error_rate = error_rate

    def verdict(self, results: PairOutcomes) -> str:
        pairs = results.counts(FIRST, SECOND)
        if int(pairs.sum()) not in _LOOKS:
            return ""
        side = side_at_look(np.repeat(2 * SHARES - 1, pairs), len(_LOOKS), self.error_rate)
        return {-1: "the second agent is better", 0: "", 1: "the first agent is better"}[side]

    def note(self, names: Sequence[str], results: PairOutcomes) -> str:
        counts = results.counts(FIRST, SECOND)
        if not counts.any():
            return ""
        share = float(counts @ SHARES / counts.sum())
        leads = f"{names[FIRST if share >= 0.5 else SECOND]} {100 * max(share, 1 - share):.1f} %"
        return leads + ", decided" * bool(self.verdict(results))
