"""Agents that won or lost everything: they have no finite rating, only a bound."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy  # which loads its parts when they are used

from othello_lab.experiments.statistics.pairs import BoolArray, FloatArray, IntArray


class Layers:
    """The order in which agents without a finite rating are set aside, and put back with a bound.

    A *block* is a largest set of agents linked by scored points in both directions (a strongly
    connected component), so that within it ratings are finite (Ford 1957, American Mathematical
    Monthly 64); between two blocks all points went one way. Almost always there is one block, or
    one and a few single agents that won or lost everything. The largest block is the *core*; its
    agents are rated. Of the others, all that won or lost everything against those still there are
    set aside, again and again until the core is alone; where all blocks are single agents, the last
    one left is the core, and there may be none.

    bound: "", ">" or "<" for each agent. rated: shape (n,), True for an agent with a rating.
    """

    def __init__(self, points: FloatArray, openings: IntArray) -> None:
        """points: shape (n, n), pairs' worth of points of the row agent. openings: shape (n,), from
        how many each agent has them: that many results its record counts in a bound."""
        met = scipy.sparse.csgraph.connected_components(points > 0, connection="strong")
        label = met[1]
        self._points, self._openings, self._label = points, openings, label
        member = np.eye(label.max() + 1)[label]  # agent x block
        self._won = member.T @ points @ member  # pairs that the row block won of the column block
        np.fill_diagonal(self._won, 0)
        self._round = np.zeros(len(self._won), dtype=int)  # when each block was set aside
        self._side = [""] * len(self._won)
        sizes = member.sum(axis=0)
        self._core = self._peel(int(sizes.argmax()) if sizes.max() > 1 else None)
        self.bound = tuple(self._side[block] for block in label)
        self.rated = np.array([not bound for bound in self.bound])

    def blocks(self) -> Iterator[IntArray]:
        """The agents of each block."""
        return (np.flatnonzero(self._label == block) for block in range(len(self._won)))

    def _peel(self, core: int | None) -> int | None:
        """Set blocks aside until only the core is left; returns it, found or given, if any."""
        left = np.arange(len(self._won))
        number = 0
        while len(left) > 1:
            number += 1
            among = self._won[np.ix_(left, left)]
            outer = (among.sum(axis=1) == 0) | (among.sum(axis=0) == 0)
            if core is not None:
                outer &= left != core
            for block in left[outer]:
                self._round[block] = number
                # Won or lost against those left, or if it met none, against most.
                margin = self._won[block] - self._won[:, block]
                decisive = margin[left].sum() or margin.sum()
                self._side[block] = ">" if decisive >= 0 else "<"
            left = left[~outer]
        return int(left[0]) if len(left) else None

    def placed(self, inside: FloatArray, chance: float) -> FloatArray:
        """All ratings in natural units, shape (n,), from those within each block.

        Blocks come back in the opposite order, each shifted to where its record against those
        already there has the probability ``chance``.
        """
        ratings = inside.copy()
        anchor = self._round.argmax() if self._core is None else self._core
        there = np.arange(len(self._won)) == anchor
        met = self._won + self._won.T > 0
        while not there.all():
            ready = ~there & met[:, there].any(axis=1)
            latest = ready & (self._round == self._round[ready].max())
            for block in np.flatnonzero(latest):
                members = self._label == block
                ratings[members] += self._shift(members, there[self._label], ratings, chance)
            there |= latest
        if self._core is None:
            ratings -= ratings.mean()
        return ratings

    def _shift(
        self, members: BoolArray, there: BoolArray, rating: FloatArray, chance: float
    ) -> float:
        """Return the distance to move a block, so that winning all its won games is as improbable
        as losing all its lost ones; no loss (or no win) counts as ``chance``."""
        won = self._points[np.ix_(members, there)]
        lost = self._points[np.ix_(there, members)].T
        met = (won + lost).sum(axis=1, keepdims=True)
        openings = self._openings[members][:, None]
        weight = openings / np.maximum(met, openings)
        won, lost = weight * won, weight * lost
        gap = rating[there][None, :] - rating[members][:, None]
        log_expit = scipy.special.log_expit

        def surplus(shift: float) -> float:
            wins = (won * log_expit(shift - gap)).sum() if won.any() else math.log(chance)
            losses = (lost * log_expit(gap - shift)).sum() if lost.any() else math.log(chance)
            return float(wins - losses)

        total = won.sum() + lost.sum()
        margin = 5 + 3 / total + math.log(1 + total)  # surplus changes sign within this
        return float(scipy.optimize.brentq(surplus, gap.min() - margin, gap.max() + margin))
