"""A run's numbers beside published ones of the same experiment.

An original is one outcome of chance, mostly a small one. So it gets no interval of its own, but the
probability of such an outcome if everything there was as it is here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from othello_lab.core.notation import square_name
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.config import PublishedConfig, PublishedGame
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.searches import compare_searches, game_costs
from othello_lab.experiments.report.standings import pairs_by_opening
from othello_lab.experiments.statistics.intervals import share_interval
from othello_lab.experiments.statistics.pairs import FloatArray, IntArray, pentanomial
from othello_lab.experiments.statistics.prediction import joint_p, predicted, tail, total

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {"nodes": "nodes", "made": "boards made", "evaluations": "evaluations"}
"""What an original may have counted of searches, in words."""


@dataclass(frozen=True)
class PublishedComparison:
    """The comparison with an original in a report.

    tables: of points, then of costs of searches. joint: a sentence of all points together. plies:
    for each measure the costs of searches at each ply of the original's one game. equal: a sentence
    about these.
    """

    published: PublishedConfig
    tables: list[PublishedTable]
    joint: str = ""
    plies: Sequence[PublishedTable] = ()
    equal: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """A table, with the text over it."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]]


def beside_original(facts: RunFacts) -> PublishedComparison | None:
    """Return published numbers beside the run's; None if none were published."""
    published = facts.plan.settings.published
    if published is None:
        return None
    scores = _PublishedScores(published, facts)
    columns = ["", "this run", "original", "an original with this run's rates shows"]
    points = PublishedTable(
        "Points, in brackets 95 % intervals of this run.", columns, list(scores.rows)
    )
    tables = [each for each in (points, _costs(published, facts)) if each.rows]
    if published.game is None:
        return PublishedComparison(published, tables, scores.joint)
    return PublishedComparison(published, tables, scores.joint, *_replayed(published.game, facts))


# ---------------------------------------------------------------------- points


@dataclass(frozen=True)
class _PublishedScores:
    """The points of an original's pairings."""

    published: PublishedConfig
    facts: RunFacts

    @cached_property
    def _counts(self) -> tuple[IntArray, IntArray]:
        tables, times = pairs_by_opening(self.facts.record)
        return pentanomial(tables), times

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.facts.record.agents()["name"])}

    @cached_property
    def _predicted(self) -> dict[tuple[str, str], FloatArray]:
        """Distributions of half points of the first against the second in originals, by pairing;
        pairings that this run has no pair of are missing."""
        counts, times = self._counts
        found: dict[tuple[str, str], FloatArray] = {}
        for name, points in self.published.points.items():
            for other in points:
                own = counts[:, self._number[name], self._number[other]]
                if (other, name) in found:
                    found[name, other] = found[other, name][::-1]
                elif own.any():
                    found[name, other] = predicted(own, self.published.games, times)
        return found

    @property
    def rows(self) -> Iterator[list[str]]:
        shown: set[frozenset[str]] = set()
        for name, points in self.published.points.items():
            if len(points) > 1:
                yield self._row(f"{name}, score in all", name, list(points))
            for other in points:
                if {name, other} not in shown:  # the other's row has the same again
                    shown.add(frozenset((name, other)))
                    yield self._row(f"{name} against {other}", name, [other])

    def _row(self, title: str, name: str, others: Sequence[str]) -> list[str]:
        counts, times = self._counts
        own = counts[:, self._number[name], [self._number[other] for other in others]].sum(1)
        games = self.published.games * len(others)
        scored = sum(self.published.points[name][other] for other in others)
        original = f"{scored:g} of {games}"
        share, low, high, pairs = share_interval(own, times)
        if not all((name, other) in self._predicted for other in others):
            return [title, "-", original, "-"]
        ours = f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {2 * pairs:,} games"
        in_all = total(self._predicted[name, other] for other in others)
        side, often = tail(in_all, round(2 * scored))
        return [title, ours, original, f"{scored:g} or {side} in {_percent(often)} of cases"]

    @property
    def joint(self) -> str:
        """Return the probability of the original's points, all pairings together."""
        pairings = {frozenset(pairing): pairing for pairing in self._predicted}.values()
        if not pairings:
            return ""
        seen = [round(2 * self.published.points[one][two]) for one, two in pairings]
        p = joint_p([self._predicted[pairing] for pairing in pairings], seen)
        return (
            f"{counted(len(pairings), 'pairing').capitalize()} together: of originals of "
            f"{self.published.games} games each, with this run's rates, {_percent(p)} have points "
            f"as improbable as the published ones (p = {p:.3g})."
        )


def _percent(share: float) -> str:
    """Return a share in words."""
    if share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


# ---------------------------------------------------------------------- costs


def _costs(published: PublishedConfig, facts: RunFacts) -> PublishedTable:
    """Return the costs of searches in this run and in the original; with single games if the
    original is one."""
    baseline = facts.plan.settings.searches.baseline
    costs, columns = facts.costs, ["", "this run", "original"]
    single = None
    if published.game is not None and baseline is not None:
        plies = len(published.game.plies())
        single = game_costs(facts.record, facts.searchers, plies)
        costs = compare_searches(single, baseline, facts.plan.settings.seed)
        columns += ["single games: median", "95 % of them", "as far out as the original"]
    title = f"What searches cost, {baseline} = 1, in brackets 95 % intervals of this run."
    table = PublishedTable(title, columns, [])
    for measure, word in MEASURES.items():
        for name, ratio in getattr(published, measure).items():
            row = [f"{name}, {word}", _ratio(costs, name, measure, baseline), f"{ratio:.2f}"]
            if single is not None:
                row += _spread(single, name, baseline, measure, ratio)
            table.rows.append(row)
    return table


def _ratio(costs: pd.DataFrame | None, name: str, measure: str, baseline: str | None) -> str:
    """Return the cost of a search relative to the baseline, at the greatest depth, with its
    interval."""
    if costs is None or f"{measure}_ratio" not in costs or name not in set(costs["agent"]):
        return "-"
    row = costs[costs["agent"] == name].iloc[-1]
    ratio, low, high = (row[f"{measure}_{end}"] for end in ("ratio", "low", "high"))
    known = name != baseline and not math.isnan(low)
    return f"{ratio:.2f} [{low:.2f}, {high:.2f}]" if known else f"{ratio:.2f}"


def _spread(
    costs: pd.DataFrame, name: str, baseline: str | None, measure: str, original: float
) -> list[str]:
    """Return the spread of single games around the average, and the place of the original's one."""
    if name == baseline or costs.empty:
        return ["-", "-", "-"]
    games = costs.pivot_table(index="opening", columns="agent", values=measure)
    ratios = (games[name] / games[baseline]).to_numpy()
    low, middle, high = np.quantile(ratios, (0.025, 0.5, 0.975))
    above = bool(original >= middle)
    beyond = int((ratios >= original).sum() if above else (ratios <= original).sum())
    side = "more" if above else "less"
    reached = f"{original:.2f} or {side} in {beyond} of {len(ratios)}"
    return [f"{middle:.2f}", f"{low:.2f} to {high:.2f}", reached]


# ---------------------------------------------------------------------- one game, ply by ply


def _replayed(game: PublishedGame, facts: RunFacts) -> tuple[list[PublishedTable], str]:
    """The tables of the original's game with our counts beside, and how many are equal."""
    plies = game.plies()
    searched: dict[str, list[Any]] = {}
    for name in {**game.made, **game.evaluations}:
        agent = facts.searchers[name]
        searched[name] = [agent.search(position) for position, _ in plies]
    tables, equal, every = [], 0, 0
    for measure in ("made", "evaluations"):
        theirs: dict[str, list[int]] = getattr(game, measure)
        ours = {n: [getattr(each.stats, measure) for each in searched[n]] for n in theirs}
        rows = [
            [f"{number}", square_name(move)]
            + [f"{counts[name][number - 1]:,}" for name in theirs for counts in (ours, theirs)]
            for number, (_, move) in enumerate(plies, start=1)
        ]
        means = [sum(counts[n]) / len(plies) for n in theirs for counts in (ours, theirs)]
        rows.append(["mean", "", *(f"{mean:,.0f}" for mean in means)])
        heads = [head for name in theirs for head in (f"{name}, here", "original")]
        tables.append(PublishedTable(MEASURES[measure], ["ply", "move", *heads], rows))
        pairs = [pair for name in theirs for pair in zip(ours[name], theirs[name], strict=True)]
        equal += sum(own == other for own, other in pairs)
        every += len(pairs)
    agreed = sum(
        all(found[number].move == move for found in searched.values())
        for number, (_, move) in enumerate(plies)
    )
    note = (
        f"{'All' if equal == every else f'{equal} of'} {every} counts are equal to the original's, "
        f"and {'at every ply' if agreed == len(plies) else f'at {agreed} of {len(plies)} plies'} "
        "all these searches choose the move that was played."
    )
    return tables, note
