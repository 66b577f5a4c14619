"""Data that studies of matches take from the record of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.standings import pairs_by_opening, rated_parts, standings
from othello_lab.experiments.statistics.pairs import FloatArray, IntArray, pentanomial
from othello_lab.experiments.statistics.pool import rate_contrasts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class PairPool:
    """The complete pairs of a run without a forfeit, every agent for itself.

    names: of its agents. pairs, times: as of :func:`experiments.statistics.pool.rate_pools`.
    """

    names: list[str]
    pairs: IntArray
    times: IntArray

    @classmethod
    def of(cls, record: Record) -> PairPool:
        tables, times = pairs_by_opening(record, rated=True)
        return cls(record.agents()["name"].tolist(), pentanomial(tables), times)

    @property
    def openings(self) -> int:
        """From how many openings there are pairs."""
        return int(self.times.sum())

    def contrasts(self, weights: ArrayLike, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """See :func:`experiments.statistics.pool.rate_contrasts`; all nan where there is no pair,
        or the pool falls into parts."""
        try:
            return rate_contrasts(self.pairs, weights, seed=seed, times=self.times)
        except ValueError:
            unknown = np.full(len(np.asarray(weights)), np.nan)
            return unknown, unknown, unknown


def strengths(record: Record, seed: int) -> pd.DataFrame:
    """Return the standings of a run (:func:`experiments.report.standings.standings`), indexed by
    agent; for agents that search ``microseconds`` is processor time. Agents that played no game
    have 0 games, and nothing else.
    """
    table = standings(record, rated_parts(record, seed))
    by_processor = 1e6 * table["nodes_per_move"] / table["nodes_per_second"]
    times = by_processor.where(table["nodes_per_second"] > 0, table["microseconds"])
    order = list(dict.fromkeys([*table["agent"], *record.agents()["name"]]))
    rated = table.assign(microseconds=times).set_index("agent").reindex(order)
    return rated.fillna({"games": 0, "bound": "", "split": False}).assign(agent=order)
