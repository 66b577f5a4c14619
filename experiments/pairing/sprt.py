"""A match of two agents until a sequential probability ratio test accepts a hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from othello_lab.core.system.settings import Number, checked
from othello_lab.experiments.pairing.schedule import FIRST, SECOND, MatchOfTwo, PairOutcomes
from othello_lab.experiments.statistics.sequential import IntArray, Sprt
from othello_lab.experiments.statistics.stopped_match import StoppedEstimate, stopped_estimate


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

    def note(self, names: Sequence[str], results: PairOutcomes) -> str:
        llr = self.test.llr(results.counts(FIRST, SECOND))
        bounds = f"{self.test.lower:.2f}, {self.test.upper:.2f}"
        return f"LLR {llr:+.2f} ({bounds}) {self.verdict(results)}"

    def stopped(self, counts: IntArray) -> StoppedEstimate | None:
        pairs = counts[FIRST, SECOND]
        return stopped_estimate(self.test, pairs) if pairs.any() else None

    def outcome(self, names: Sequence[str], counts: IntArray, rated: IntArray) -> str:
        first, second = names
        end = f"{first} against {second}: {self.test.outcome(counts[FIRST, SECOND])}"
        if (stopped := self.stopped(rated)) is None:
            return end
        return (
            f"{end} Elo of {first} above {second}, with the stopping taken into account: "
            f"{stopped.text} (median-unbiased, 95 % interval)."
        )
