"""Order or cycles among agents: alpha-rank beside Elo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import Number, Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.tables import elo_text
from othello_lab.experiments.statistics.alpha_rank import POPULATION, alpha_rank
from othello_lab.experiments.statistics.cycles import ERROR_RATE, beaten, cycles
from othello_lab.experiments.statistics.pairs import SHARES, BoolArray, FloatArray
from othello_lab.experiments.statistics.pool import score_matrix
from othello_lab.experiments.studies.pools import PairPool, strengths
from othello_lab.experiments.studies.study import Conclusion, MatchStudy, PlayedRun, RunRequest

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure

REPLICATES = 1000
"""Of the bootstrap over openings, for alpha-rank's intervals."""

_TOLD = 10  # cycles that are told one by one
_DRAWN = 24  # agents whose arrows can be told apart
_WORDS = 7  # keeps the bootstrap's random numbers apart


@dataclass(frozen=True, kw_only=True)
class Intransitivity(MatchStudy):
    """One run in which all meet: the pairs with a proven better agent, cycles among them, and the
    survivors by alpha-rank.

    Elo gives each agent one number and cannot show a cycle. All pairings are judged together: with
    a probability of 95 % no answer is wrong, so a cycle among the answers is real.

    See :func:`experiments.statistics.alpha_rank.alpha_rank`.

    alpha: alpha-rank's strength of selection; if it is large, only the winner of a match counts,
    not its margin. population: members of alpha-rank's population.
    """

    alpha: Annotated[float, Number(above=0)] = 10
    population: Annotated[int, Whole(2)] = POPULATION

    def check(self, plan: Plan) -> None:
        if len(plan.agents) < 3:
            raise ValueError("a circle takes three agents; this line-up has two")

    def runs(self, plan: Plan, played: Sequence[PlayedRun]) -> Sequence[RunRequest]:
        return [RunRequest(plan.settings, counted(len(plan.agents), "agent"))]

    def conclude(self, plan: Plan, played: Sequence[PlayedRun]) -> Conclusion:
        with played[0].record() as record:
            pool, table = PairPool.of(record), strengths(record, plan.settings.seed)
        score = score_matrix(pool.counts)
        better = beaten(pool.pairs, pool.times)
        circles = cycles(better)
        mass, low, high = self._masses(pool, plan.settings.seed)
        ranks = table.loc[pool.names, ["agent", "elo", "low", "high", "bound", "split"]].assign(
            alpha_rank=mass, alpha_low=low, alpha_high=high, beats=better.sum(axis=1),
            in_cycles=[any(number in circle for circle in circles) for number in range(len(mass))],
        )  # fmt: skip
        ranks = ranks.loc[table.index]  # best first by Elo
        answers = _answers(pool, score, better)
        return Conclusion(
            list(_findings(pool.names, score, better, circles, ranks)),
            [_ranks_table(ranks), *_circles_tables(pool.names, score, circles)],
            {"ranks": ranks, "pairings": answers},
            lambda: _figures(pool, score, better, circles, ranks),
            [self._note()],
        )

    def _masses(self, pool: PairPool, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Each agent's mass by alpha-rank, and the ends of its 95 % interval: quantiles of a
        Bayesian bootstrap over openings. nan ends where there is one opening."""
        points, pairs = pool.pairs @ SHARES, pool.pairs.sum(axis=3).astype(float)
        mass = alpha_rank(score_matrix(pool.counts), self.alpha, self.population)
        if pool.openings < 2:
            unknown = np.full(len(mass), np.nan)
            return mass, unknown, unknown
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_WORDS,)))
        weight = rng.standard_gamma(pool.times.astype(float), (REPLICATES, len(pool.times)))
        with np.errstate(invalid="ignore"):  # of two that did not meet
            share = np.tensordot(weight, points, axes=1) / np.tensordot(weight, pairs, axes=1)
        low, high = np.quantile(
            alpha_rank(share, self.alpha, self.population), (0.025, 0.975), axis=0
        )
        return mass, np.minimum(low, mass), np.maximum(high, mass)

    def _note(self) -> str:
        return (
            "Each pairing is a test for more than half of the points. Holm's procedure decides "
            f"them together: with {100 * (1 - ERROR_RATE):g} % probability no answer is wrong, and "
            "every reported cycle is real. Alpha-rank (Omidshafiei "
            f"et al. 2019; strength of selection alpha = {self.alpha:g}, population "
            f"{self.population}) is the share of time that a population spends with each agent "
            "if winners replace the agents they beat. It takes scores as they are; its interval "
            "shows the effect of chance."
        )


def _answers(pool: PairPool, score: FloatArray, better: BoolArray) -> pd.DataFrame:
    """One row a pairing: first, second, pairs, score of the first, better (a name, or nothing)."""
    import pandas as pd

    met = pool.counts.sum(axis=2)
    rows = []
    for i, j in zip(*np.triu_indices(len(pool.names), 1), strict=True):
        if met[i, j]:
            first, second = pool.names[i], pool.names[j]
            winner = first if better[i, j] else second if better[j, i] else ""
            rows.append((first, second, met[i, j], score[i, j], winner))
    return pd.DataFrame(rows, columns=["first", "second", "pairs", "score", "better"])


def _told(names: Sequence[str], score: FloatArray, circle: Sequence[int]) -> str:
    """``a beats b (58 %), b beats c (61 %), c beats a (55 %)``."""
    return ", ".join(
        f"{names[one]} beats {names[other]} ({100 * score[one, other]:.0f} %)"
        for one, other in zip(circle, [*circle[1:], circle[0]], strict=True)
    )


def _findings(
    names: Sequence[str],
    score: FloatArray,
    better: BoolArray,
    circles: Sequence[tuple[int, ...]],
    ranks: pd.DataFrame,
) -> Iterator[str]:
    pairings = int((~np.isnan(score)).sum()) // 2
    decided = f"{better.sum()} of {counted(pairings, 'pairing')} are decided"
    if circles:
        yield f"Who beats whom is no order: {counted(len(circles), 'cycle')}; {decided}."
        for circle in circles[:_TOLD]:
            yield f"{_told(names, score, circle)}."
    elif not better.any():
        yield f"None of {counted(pairings, 'pairing')} is decided: more games are needed."
    else:
        rate = f"{decided} at an error rate of {100 * ERROR_RATE:g} % for all together"
        yield (
            f"Who beats whom is an order, without cycles: {rate}."
            if better.sum() == pairings
            else f"No cycle is shown: {rate}, and these answers go in no circle. More games may "
            "decide the others."
        )
    most = ranks.loc[ranks["alpha_rank"].idxmax()]
    leader = ranks.iloc[0]["agent"]
    elo_too = "the leader by Elo too" if most["agent"] == leader else f"by Elo {leader} leads"
    yield (
        f"Alpha-rank gives most to {most['agent']}, {_share(most['alpha_rank'])} "
        f"[{_share(most['alpha_low'])}, {_share(most['alpha_high'])}]; {elo_too}."
    )


def _share(value: float) -> str:
    return "?" if np.isnan(value) else f"{100 * value:.0f} %"


def _ranks_table(ranks: pd.DataFrame) -> ResultTable:
    rows = [
        [
            row.agent,
            elo_text(row),
            f"{100 * row.alpha_rank:.1f} [{_percent(row.alpha_low)}, {_percent(row.alpha_high)}]",
            f"{row.beats:,}",
            "yes" if row.in_cycles else "",
        ]
        for row in ranks.itertuples()
    ]
    columns = ["agent", "Elo [95 %]", "alpha-rank % [95 %]", "beats, shown", "in a cycle"]
    return ResultTable("Ranks", columns, rows)


def _percent(value: float) -> str:
    return "?" if np.isnan(value) else f"{100 * value:.1f}"


def _circles_tables(
    names: Sequence[str], score: FloatArray, circles: Sequence[tuple[int, ...]]
) -> list[ResultTable]:
    rows = [[str(n), _told(names, score, circle)] for n, circle in enumerate(circles, start=1)]
    return [ResultTable("Cycles", ["number", "who beats whom"], rows, (1,))] if rows else []


def _figures(
    pool: PairPool,
    score: FloatArray,
    better: BoolArray,
    circles: Sequence[tuple[int, ...]],
    ranks: pd.DataFrame,
) -> Iterator[ReportFigure]:
    from othello_lab.experiments.report.figures.drawing import ReportFigure
    from othello_lab.experiments.studies.figures.cycles import graph_chart, ranks_chart

    context = f"{len(pool.names)} agents, {counted(pool.openings, 'opening')}"
    yield ReportFigure(
        name="ranks",
        title="Elo and alpha-rank",
        caption="Left the rating of each agent, right its share of the population's time by "
        "alpha-rank; bars are 95 % intervals, triangles bounds. Where who beats whom is an order, "
        "the best has all of it.",
        chart=ranks_chart(ranks, context),
        data=ranks,
    )
    if len(pool.names) <= _DRAWN and better.any():
        order = [pool.names.index(name) for name in ranks["agent"]]
        place = {agent: number for number, agent in enumerate(order)}
        yield ReportFigure(
            name="graph",
            title="Who is shown to be better than whom",
            caption="An arrow leads from the better agent to the one it beats, if that is shown; "
            "agents stand clockwise from the highest Elo. Arrows of a cycle are red and thick, "
            "and those of an agent against one with a higher Elo are dashed.",
            chart=graph_chart(
                [pool.names[agent] for agent in order],
                better[np.ix_(order, order)],
                [tuple(place[agent] for agent in circle) for circle in circles],
                context,
            ),
        )
