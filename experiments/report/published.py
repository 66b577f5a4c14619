"""A run's numbers beside those that were published of the same experiment."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from experiments.config import PublishedConfig
from experiments.record.store import Record
from experiments.report.standings import pair_counts
from experiments.statistics.intervals import share_interval, wilson

if TYPE_CHECKING:
    import pandas as pd


def beside(
    published: PublishedConfig, record: Record, costs: pd.DataFrame | None
) -> list[tuple[str, str, str]]:
    """One row for each number of the original: what it is, ours with its 95 % interval, theirs.

    Theirs has an interval too where it is a share of a number of games (Wilson 1927, Journal of
    the American Statistical Association 22). What this run has not measured is a dash.
    """
    return [*_points(published, record), *_costs(published, costs)]


def _points(published: PublishedConfig, record: Record) -> Iterable[tuple[str, str, str]]:
    counts = pair_counts(record)
    number = {name: i for i, name in enumerate(record.agents()["name"])}
    told: set[frozenset[str]] = set()
    for name, row in published.points.items():
        met = [number[other] for other in row]
        if len(row) > 1:
            theirs = _theirs(sum(row.values()), published.games * len(row))
            yield f"{name}, score in all", _ours(counts[number[name], met].sum(axis=0)), theirs
        for other, points in row.items():
            if {name, other} not in told:  # the other's row says the same again
                told.add(frozenset((name, other)))
                ours = _ours(counts[number[name], number[other]])
                yield f"{name} against {other}", ours, _theirs(points, published.games)


def _ours(counts: np.ndarray) -> str:
    share, low, high, pairs = share_interval(counts)
    if not pairs:
        return "-"
    return f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {2 * pairs:,} games"


def _theirs(points: float, games: int) -> str:
    low, high = wilson(points, games)
    share = 100 * points / games
    return f"{points:g} of {games}: {share:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def _costs(
    published: PublishedConfig, costs: pd.DataFrame | None
) -> Iterable[tuple[str, str, str]]:
    for measure in ("nodes", "evaluations"):
        for name, ratio in getattr(published, measure).items():
            ours = "-"
            if costs is not None and f"{measure}_ratio" in costs:
                row = costs[costs["agent"] == name].iloc[-1]  # the deepest
                ours = f"{row[f'{measure}_ratio']:.2f}"
                if not math.isnan(row[f"{measure}_low"]):
                    ours += f" [{row[f'{measure}_low']:.2f}, {row[f'{measure}_high']:.2f}]"
            yield f"{name}, {measure}", ours, f"{ratio:.2f}"
