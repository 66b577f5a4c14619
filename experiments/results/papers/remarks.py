"""Strengths and weaknesses of a player, in sentences computed from its tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.tables import time_text
from othello_lab.experiments.results.papers.evidence import (
    ErrorsEvidence,
    Evidence,
    RunEvidence,
    TableEvidence,
)
from othello_lab.experiments.statistics.intervals import interval_text
from othello_lab.experiments.statistics.means import Mean
from othello_lab.experiments.studies.efficiency import ALL, is_reference

CLEAR = 1.25
"""So many times the median of its line-up makes a cost or a loss worth telling."""


@dataclass(frozen=True)
class Remark:
    """A sentence. good: True for a strength, False for a weakness, None for neither."""

    text: str
    good: bool | None


def said_of(name: str, evidence: Evidence) -> list[Remark]:
    """Yield remarks on the agent of this name in a test."""
    if isinstance(evidence, RunEvidence):
        return [*_matches(name, evidence), *_costs(name, evidence)]
    if isinstance(evidence, ErrorsEvidence):
        return list(_errors(name, evidence))
    assert isinstance(evidence, TableEvidence)
    return list({"pruning": _pruning, "scaling": _scaling}[evidence.kind](name, evidence))


def _third(place: int, others: int) -> bool | None:
    """Return True if a place is in the best third, False if in the worst, else None."""
    if others < 3 or not place:
        return None
    return True if 3 * place <= others else False if 3 * (place - 1) >= 2 * others else None


def _who(names: Sequence[str], others: Sequence[str]) -> str:
    """Return some opponents in the shortest way; others: all that are not among them."""
    if len(names) > 2 and not others:
        return f"all {len(names)} others"
    if len(names) > 5 and len(others) <= 2:
        return f"all others but {', '.join(others)}"
    return ", ".join(names)


# ---------------------------------------------------------------------- games


def _matches(name: str, run: RunEvidence) -> Iterator[Remark]:
    met = run.against(name)
    beaten = [match["opponent"] for match in met if match["low"] > 0]
    lost = [match["opponent"] for match in met if match["high"] < 0]
    for names, word in ((beaten, "better"), (lost, "worse")):
        if names:
            others = [match["opponent"] for match in met if match["opponent"] not in names]
            who = _who(names, others)
            yield Remark(f"Surely {word} than {who} in {run.name}.", word == "better")
    if met and not beaten and not lost:
        yield Remark(f"No match in {run.name} shows that it is better or worse than another.", None)
    yield from _surprises(name, run, met)


def _surprises(name: str, run: RunEvidence, met: Sequence[dict[str, Any]]) -> Iterator[Remark]:
    """Yield matches with results that the ratings, based on many more games, would not predict."""
    rated = run.standings[run.standings["agent"].isin(run.comparable)]
    rating = rated[(rated["bound"] == "") & ~rated["split"]].set_index("agent")["elo"]
    for match in met:
        if not {name, match["opponent"]} <= set(rating.index):
            continue
        expected = rating[name] - rating[match["opponent"]]
        if match["low"] > expected or match["high"] < expected:  # neither where one of them is nan
            share = 100 / (1 + 10 ** (-expected / 400))
            yield Remark(
                f"Against {match['opponent']} it makes {100 * match['score']:.0f} % of the points, "
                f"where the ratings promise {share:.0f} %.",
                bool(match["low"] > expected),
            )


def _costs(name: str, run: RunEvidence) -> Iterator[Remark]:
    rows = run.standings.set_index("agent")
    for column, unit in (("nodes_per_move", "nodes"), ("median_microseconds", "time")):
        costs = rows[column].dropna()
        costs = costs[costs > 0]
        if name not in costs or len(costs) < 3:
            continue
        ratio = costs[name] / costs.median()
        if max(ratio, 1 / ratio) < CLEAR:
            continue
        own = time_text(costs[name]) if unit == "time" else f"{costs[name]:,.0f} nodes"
        times = f"{ratio:.1f} times" if ratio > 1 else f"1/{1 / ratio:.1f} of"
        yield Remark(
            f"A move takes {own}, {times} the median of those that search in {run.name}.", ratio < 1
        )


# ---------------------------------------------------------------------- errors


def mean_of(row: Any, name: str, digits: int = 2, scale: float = 1) -> str:
    """A mean of an error profile with its interval."""
    return Mean(row[name], row[f"{name}_low"], row[f"{name}_high"]).text(digits, scale)


def _errors(name: str, study: ErrorsEvidence) -> Iterator[Remark]:
    whole = study.whole[study.whole["agent"].isin(study.comparable)].reset_index(drop=True)
    if name not in set(whole["agent"]):
        return
    row = whole[whole["agent"] == name].iloc[0]
    place, others = int(whole["loss"].rank(method="min")[row.name]), len(whole)
    placed = f", place {place} of {others}" if others > 1 else ""
    yield Remark(
        f"Of {counted(int(row['moves']), 'move')} near the end (in {study.name}) each gives away "
        f"{mean_of(row, 'loss')} discs against perfect play{placed}; "
        f"{mean_of(row, 'best_share', 0, 100)} % are best moves, and "
        f"{100 * row['blunder_share']:.1f} % change the outcome.",
        _third(place, others),
    )
    yield from _bands(name, study)


def _bands(name: str, study: ErrorsEvidence) -> Iterator[Remark]:
    """Yield its loss in each part of the game, and the parts with the least and the most loss
    beside the others, if the interval does not reach the median."""
    bands = study.bands[study.bands["agent"].isin(study.comparable)]
    own = bands[bands["agent"] == name].set_index("band")
    losses = "; ".join(f"{band}: {loss:.2f}" for band, loss in own["loss"].items())
    yield Remark(f"Discs lost a move by squares that are empty: {losses}.", None)
    medians = bands.groupby("band", sort=False)["loss"].median()
    if len(own) < 2 or len(study.comparable) < 3:
        return
    ratio = (own["loss"] / medians.replace(0, np.nan)).dropna()
    clear = {True: own["loss_high"] < medians, False: own["loss_low"] > medians}
    for good, ends in clear.items():
        found = ratio[ratio.index.isin(ends.index[ends])]
        if len(found):
            band = found.idxmin() if good else found.idxmax()
            yield Remark(
                f"{'Best' if good else 'Worst'}, beside the others, with {band} empty squares: "
                f"{own['loss'][band]:.2f} discs lost a move, where the median of all is "
                f"{medians[band]:.2f}.",
                good,
            )


# ---------------------------------------------------------------------- other studies


def _pruning(name: str, study: TableEvidence) -> Iterator[Remark]:
    table = study.table
    deepest = table[(table["phase"] == ALL) & (table["depth"] == table["depth"].max())]
    deepest = deepest[~deepest["agent"].map(is_reference)].reset_index(drop=True)
    if name not in set(deepest["agent"]):
        return
    row = deepest[deepest["agent"] == name].iloc[0]
    place = int(deepest["nodes"].rank(method="min")[row.name])
    share, known = 100 * row["nodes_share"], not pd.isna(row["efficiency"])
    of_minimax = "" if pd.isna(share) else f", {share:.2g} % of minimax's"
    efficiency = f"; its efficiency is {mean_of(row, 'efficiency')}" if known else ""
    yield Remark(
        f"At depth {int(row['depth'])} it visits {row['nodes']:,.0f} nodes a position{of_minimax}, "
        f"place {place} of {len(deepest)}{efficiency}.",
        _third(place, len(deepest)),
    )


def _scaling(name: str, study: TableEvidence) -> Iterator[Remark]:
    rows = study.table[study.table["agent"] == name]
    for row in rows.itertuples():
        told = interval_text(row.elo, row.low, row.high)
        yield Remark(f"Twice the {row.effort} brings it {told} Elo.", row.low > 0 or None)
