"""Matches of two agents that end when their results decide which is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from othello_lab.core.system.settings import Number, checked
from othello_lab.experiments.pairing.schedule import Names, Pairing, PairOutcomes, Schedule
from othello_lab.experiments.statistics.pairs import SHARES
from othello_lab.experiments.statistics.sequential import IntArray, Sprt, looks, side_at_look
from othello_lab.experiments.statistics.stopped_match import StoppedEstimate, stopped_estimate

FIRST, SECOND = 0, 1  # places in the line-up


class MatchOfTwo(Schedule):
    """A match between the two agents of the line-up, FIRST and SECOND, that its result may end."""

    def check(self, names: Names) -> None:
        if len(names) != 2:
            raise ValueError(f"it decides between two agents; this line-up has {len(names)}")

    def pairings(self, number: int, names: Names, results: PairOutcomes) -> Sequence[Pairing]:
        return [(FIRST, SECOND)]


class SequentialMatch(MatchOfTwo):
    """A match that ends when :class:`~experiments.statistics.sequential.Sprt` decides that the
    first agent is stronger by ``elo0`` or by ``elo1``. Pairs enter the test in the order of the
    schedule."""

    @checked
    def __init__(
        self,
        elo0: float = 0,
        elo1: float = 30,
        sprt_alpha: Annotated[float, Number(above=0, below=0.5)] = 0.05,
        sprt_beta: Annotated[float, Number(above=0, below=0.5)] = 0.05,
        model: str = "logistic",
    ) -> None:
        """
        elo0: H0: Elo of the first agent against the second. elo1: H1: the same. sprt_alpha: share
        of tests in which H1 may be accepted although H0 holds. sprt_beta: the reverse. model: the
        unit of elo0 and elo1: logistic (the usual Elo) or normalized (by the spread of the pairs).
        """
        self.test = Sprt(elo0, elo1, sprt_alpha, sprt_beta, model)

    def verdict(self, results: PairOutcomes) -> str:
        return self.test.decide(results.counts(FIRST, SECOND))

    def note(self, names: Names, results: PairOutcomes) -> str:
        llr = self.test.llr(results.counts(FIRST, SECOND))
        bounds = f"{self.test.lower:.2f}, {self.test.upper:.2f}"
        return f"LLR {llr:+.2f} ({bounds}) {self.verdict(results)}"

    def stopped(self, counts: IntArray) -> StoppedEstimate | None:
        pairs = counts[FIRST, SECOND]
        return stopped_estimate(self.test, pairs) if pairs.any() else None

    def outcome(self, names: Names, counts: IntArray, rated: IntArray) -> str:
        first, second = names
        end = f"{first} against {second}: {self.test.outcome(counts[FIRST, SECOND])}"
        if (stopped := self.stopped(rated)) is None:
            return end
        return (
            f"{end} Elo of {first} above {second}, with the stopping taken into account: "
            f"{stopped.text} (median-unbiased, 95 % interval)."
        )


_LOOKS = looks(most=3200, first=50)
"""Numbers of pairs after which the results are tested: 50, 100, 200, ..., 3,200."""


class UntilDecided(MatchOfTwo):
    """A match that ends when the results show which agent is better.

    After 50, 100, 200, ... pairs the mean of their points is tested against an equal share, see
    :mod:`experiments.statistics.sequential`.
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

    def note(self, names: Names, results: PairOutcomes) -> str:
        counts = results.counts(FIRST, SECOND)
        if not counts.any():
            return ""
        share = float(counts @ SHARES / counts.sum())
        leads = f"{names[FIRST if share >= 0.5 else SECOND]} {100 * max(share, 1 - share):.1f} %"
        return leads + ", decided" * bool(self.verdict(results))
