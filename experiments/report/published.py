"""A run's numbers beside those that were published of the same experiment."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from experiments.config import PublishedConfig
from experiments.record.store import Record
from experiments.report.standings import pairs_by_opening
from experiments.statistics.intervals import share_interval, wilson
from experiments.statistics.pairs import IntArray, pentanomial

if TYPE_CHECKING:
    import pandas as pd

Row = tuple[str, str, str]
"""What a number is, this run's with its 95 % interval, and the original's."""


def comparison(published: PublishedConfig, record: Record, costs: pd.DataFrame | None) -> list[Row]:
    """One row for each number of the original, which has an interval too where it is a share of a
    number of games. What this run has not measured is a dash."""
    return [*_scores(published, record), *_costs(published, costs)]


def _scores(published: PublishedConfig, record: Record) -> Iterable[Row]:
    tables, times = pairs_by_opening(record)
    counts = pentanomial(tables)
    number = {name: i for i, name in enumerate(record.agents()["name"])}
    shown: set[frozenset[str]] = set()
    for name, points in published.points.items():
        if len(points) > 1:
            met = [number[other] for other in points]
            original = _original_share(sum(points.values()), published.games * len(points))
            yield (
                f"{name}, score in all",
                _own_share(counts[:, number[name], met].sum(1), times),
                original,
            )
        for other, scored in points.items():
            if {name, other} not in shown:  # the other's row has the same again
                shown.add(frozenset((name, other)))
                own = _own_share(counts[:, number[name], number[other]], times)
                yield f"{name} against {other}", own, _original_share(scored, published.games)


def _own_share(counts: IntArray, times: IntArray) -> str:
    share, low, high, pairs = share_interval(counts, times)
    if not pairs:
        return "-"
    return f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {2 * pairs:,} games"


def _original_share(points: float, games: int) -> str:
    low, high = wilson(points, games)
    share = 100 * points / games
    return f"{points:g} of {games}: {share:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def _costs(published: PublishedConfig, costs: pd.DataFrame | None) -> Iterable[Row]:
    for measure in ("nodes", "evaluations"):
        for name, ratio in getattr(published, measure).items():
            own = "-"
            if costs is not None and f"{measure}_ratio" in costs:
                row = costs[costs["agent"] == name].iloc[-1]  # the deepest
                own = f"{row[f'{measure}_ratio']:.2f}"
                if not math.isnan(row[f"{measure}_low"]):
                    own += f" [{row[f'{measure}_low']:.2f}, {row[f'{measure}_high']:.2f}]"
            yield f"{name}, {measure}", own, f"{ratio:.2f}"
