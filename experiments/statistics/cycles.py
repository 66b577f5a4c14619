"""Cycles that chance does not explain: A beats B, B beats C, and C beats A.

Every pairing is a question of its own: does one agent make more than half of the points? Its
p-value is Student's over openings, with half a pair won and half a pair lost as one opening more,
as intervals of a match have it. The better agents of all pairings are decided together, by Holm's
procedure (1979, Scandinavian Journal of Statistics 6): with a probability of 95 % none of these
answers is wrong, for any results of the other pairings. So a circle of answers is a cycle, for any
number of possible circles. ``benchmarks/validity.py`` counts the planted cycles found in simulated
pools, and false ones.
"""

from __future__ import annotations

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.pairs import (
    SHARES,
    BoolArray,
    FloatArray,
    IntArray,
    pentanomial,
)
from othello_lab.experiments.statistics.units import PairUnits

ERROR_RATE = 0.05
"""The probability that anything is called a cycle where there is none is at most this."""


def beaten(
    pairs: ArrayLike, times: ArrayLike | None = None, error_rate: float = ERROR_RATE
) -> BoolArray:
    """Return True for each row agent that is shown to be better than the column agent, shape (n,
    n).

    pairs, times: counts as in :func:`experiments.statistics.pool.rate`. error_rate: upper bound of
    the probability that any one of the answers is wrong. Raises ValueError.
    """
    chance = superiority_chances(pairs, times)
    first, second = np.triu_indices(len(chance), 1)
    two_sided = 2 * np.minimum(chance[first, second], chance[second, first])
    met = ~np.isnan(two_sided)
    order = np.argsort(np.where(met, two_sided, np.inf), kind="stable")
    allowed = error_rate / np.maximum(met.sum() - np.arange(len(order)), 1)
    shown = np.zeros(len(order), dtype=bool)
    passed = np.where(met[order], two_sided[order], np.inf) <= allowed
    shown[order] = np.logical_and.accumulate(passed)
    better = np.zeros(chance.shape, dtype=bool)
    forwards = chance[first, second] < 0.5
    better[first[shown & forwards], second[shown & forwards]] = True
    better[second[shown & ~forwards], first[shown & ~forwards]] = True
    return better


def superiority_chances(pairs: ArrayLike, times: ArrayLike | None = None) -> FloatArray:
    """Return the probability of results as good as the row agent's if it is no better than the
    column agent, shape (n, n); nan for two that did not meet. See :func:`beaten`."""
    units = PairUnits.of(pairs, times)
    counts = units.counts
    number = counts.sum(axis=2).astype(float)
    number[number == 0] = np.nan
    middle = (counts @ SHARES + 0.5) / (number + 1)
    openings, squares = _spread(units, middle)
    openings, squares = openings + 1, squares + 0.25 + (middle - 0.5) ** 2  # one imagined
    error = np.sqrt(squares * openings / (openings - 1)) / (number + 1)
    return np.asarray(scipy.special.stdtr(openings - 1, (0.5 - middle) / error))


def _spread(units: PairUnits, middle: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From how many openings each two agents have pairs, and the sum over openings of their pairs'
    deviations from ``middle``, squared; both of shape (n, n)."""
    if units.apart:
        counts = units.counts
        squares = (counts * (SHARES - middle[..., None]) ** 2).sum(axis=2)
        return counts.sum(axis=2).astype(float), squares
    tables = units.tables
    if units.by_colour:
        tables = pentanomial(tables.reshape(*tables.shape[:3], 3, 3))
    pairs = tables.sum(axis=3)
    sums = tables @ SHARES - pairs * np.nan_to_num(middle)
    openings = np.tensordot(units.times, pairs > 0, axes=1).astype(float)
    return openings, np.tensordot(units.times, sums**2, axes=1)


def cycles(better: BoolArray) -> list[tuple[int, ...]]:
    """Return the circles of three agents, each better than the next, the lowest number first; and
    of each group that has only longer ones a shortest.

    >>> better = np.zeros((4, 4), dtype=bool)
    >>> better[[0, 1, 2, 0], [1, 2, 0, 3]] = True
    >>> cycles(better)
    [(0, 1, 2)]
    """
    number = len(better)
    found: list[tuple[int, ...]] = []
    for a in range(number):
        for b in np.flatnonzero(better[a]):
            thirds = np.flatnonzero(better[b] & better[:, a])
            found += [(a, int(b), int(c)) for c in thirds if a < min(b, c)]
    inside = {agent for circle in found for agent in circle}
    label = scipy.sparse.csgraph.connected_components(better, directed=True, connection="strong")[1]
    for group in range(label.max(initial=-1) + 1):
        members = np.flatnonzero(label == group)
        if len(members) > 2 and not inside & set(members.tolist()):
            found.append(_shortest(better, members))
    return found


def _shortest(better: BoolArray, members: IntArray) -> tuple[int, ...]:
    """A shortest circle among agents that all reach each other."""
    best: tuple[int, ...] = ()
    for start in members.tolist():
        paths: list[tuple[int, ...]] = [(start,)]
        seen = {start}
        while paths and not (best and len(paths[0]) >= len(best)):
            path = paths.pop(0)
            if better[path[-1], start]:  # after two steps or more: nobody beats its better
                best = path
                break
            for after in np.flatnonzero(better[path[-1]]).tolist():
                if after not in seen:
                    seen.add(after)
                    paths.append((*path, after))
    return best
