"""The independent units of a pool of matches: its openings, shared by all pairings.

Games from one opening are much alike, for any number of agents: it may suit one of them against
everybody, and two searches that differ in little but their tie-breaks play nearly the same game
from it. So all pairs of an opening are taken together (Cameron & Miller 2015, A Practitioner's
Guide to Cluster-Robust Inference, Journal of Human Resources 50).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.bradley_terry import pairings, points_and_games
from othello_lab.experiments.statistics.pairs import (
    OUTCOMES,
    BoolArray,
    FloatArray,
    IntArray,
    pentanomial,
)

_BY_COLOUR = 9  # cells of a pairing told apart by colour


@dataclass(frozen=True, eq=False)
class PairUnits:
    """Counts of pairs, by the opening that they came from.

    tables: shape (m, n, n, cells): the different tables that openings gave; 5 cells, or 9 by
        colour, see :mod:`experiments.statistics.bradley_terry`. times: shape (m,), how many
        openings gave each. apart: every pair came from an opening of its own; then there is one
        table, the sum of all.
    """

    tables: IntArray
    times: IntArray
    apart: bool

    @classmethod
    def of(cls, pairs: ArrayLike, times: ArrayLike | None = None) -> PairUnits:
        """From counts as :func:`experiments.statistics.pool.rate_pools` takes them; ValueError."""
        table = np.asarray(pairs)
        kind = (3, 3) if table.ndim > 3 and table.shape[-2:] == (3, 3) else (OUTCOMES,)
        agents = table.shape[: -len(kind)]
        if len(agents) not in (2, 3) or table.shape != (*agents[:-1], agents[-2], *kind):
            raise ValueError(
                f"pairs has shape {table.shape}; (n, n, {OUTCOMES}) or (n, n, 3, 3) is needed, "
                "or one such table for each opening"
            )
        if not np.issubdtype(table.dtype, np.integer):
            raise ValueError(f"pairs holds {table.dtype}; whole numbers are needed")
        apart = table.ndim == 2 + len(kind)
        tables = table[None] if apart else table
        if (tables < 0).any():
            raise ValueError("pairs holds a negative count")
        backwards = tables[..., ::-1] if kind == (OUTCOMES,) else tables[..., ::-1, ::-1].mT
        _check_views(_flat(tables, kind), _flat(backwards, kind))
        often = np.ones(len(tables), dtype=np.int64) if times is None else np.asarray(times)
        if often.shape != (len(tables),) or (often < 1).any() or (apart and times is not None):
            raise ValueError(f"times {often.tolist()}: a count for each opening's table is needed")
        return cls(_flat(tables, kind), often, apart)

    @property
    def by_colour(self) -> bool:
        """True if the counts distinguish colours."""
        return self.tables.shape[3] == _BY_COLOUR

    @cached_property
    def cells(self) -> IntArray:
        """All pairs together, shape (n, n, cells)."""
        return np.asarray(np.tensordot(self.times, self.tables, axes=1), dtype=np.int64)

    @cached_property
    def counts(self) -> IntArray:
        """The same without colours, shape (n, n, 5)."""
        size = len(self.cells)
        return pentanomial(self.cells.reshape(size, size, 3, 3)) if self.by_colour else self.cells

    @cached_property
    def number(self) -> IntArray:
        """From how many openings each agent has pairs, shape (n,)."""
        if self.apart:
            return np.asarray(self.counts.sum(axis=(1, 2)))
        return np.asarray(self.times @ self.tables.any(axis=(2, 3)))

    @property
    def total(self) -> int:
        """From how many openings there are pairs."""
        if self.apart:
            return int(self.counts.sum()) // 2
        return int(self.times @ self.tables.any(axis=(1, 2, 3)))

    def among(self, agents: BoolArray | IntArray, by_colour: bool) -> PairUnits:
        """Of these agents only, told apart by colour or not."""
        tables = self.tables[np.ix_(np.arange(len(self.tables)), agents, agents)]
        if self.by_colour and not by_colour:
            tables = pentanomial(tables.reshape(*tables.shape[:3], 3, 3))
        return PairUnits(tables, self.times, self.apart)

    def scored(self) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array, FloatArray]:
        """Of every unit the points of each pairing's first agent, shape (units, kinds * pairings),
        and the games, shape (units, pairings), as :func:`points_and_games` counts them; and how
        many units are alike, shape (units,)."""
        first, second = pairings(self.cells)
        if not self.apart:
            points, games = points_and_games(self.tables[:, first, second].astype(float))
            rows = points.reshape(len(points), -1), games[:, 0]
            return *map(scipy.sparse.csr_array, rows), self.times.astype(float)
        # One unit for each result of each pairing, as often as it came.
        played = self.cells[first, second]
        pairing, result = np.nonzero(played)
        points, _ = points_and_games(np.eye(played.shape[1])[None, result])
        row, kinds = np.arange(len(pairing)), points.shape[1]
        cells = (row.repeat(kinds), (pairing[:, None] + len(first) * np.arange(kinds)).ravel())
        shape = len(row), kinds * len(first)
        scored = scipy.sparse.csr_array((points[0].T.ravel(), cells), shape=shape)
        games = scipy.sparse.csr_array((np.ones(len(row)), (row, pairing)), (len(row), len(first)))
        return scored, games, played[pairing, result].astype(float)


def _flat(tables: np.ndarray, kind: tuple[int, ...]) -> IntArray:
    return tables.reshape(*tables.shape[:3], math.prod(kind)).astype(np.int64)


def _check_views(cells: IntArray, backwards: IntArray) -> None:
    diagonal = np.arange(cells.shape[1])
    if cells[:, diagonal, diagonal].any():
        raise ValueError("pairs has an agent meeting itself: the diagonal must be 0")
    different = (cells != backwards.swapaxes(1, 2)).any(axis=(0, 3))
    if different.any():
        i, j = np.argwhere(different)[0]
        raise ValueError(f"pairs[{j}, {i}] is not pairs[{i}, {j}] backwards")
