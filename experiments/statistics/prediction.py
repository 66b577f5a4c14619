"""Predicted results of a small experiment of others, if its strategies are as strong as ours.

A result is the number of half points of a player, and its distribution an array of the
probabilities of 0, 1, 2, ... half points. All probabilities are computed, none is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.pairs import OUTCOMES, FloatArray, by_opening

_PRIOR = 0.1
"""Of each outcome of a pair so many were seen before all games: half a pair in all, so that what a
run has never seen is improbable, not impossible."""

_STEPS = 1 << 18
"""Steps to which the surprise of results is rounded: a quarter of a million for that of the
original. An original of ten pairings then has its probability to one part in two thousand at
worst, as a surprise of 20 and ten errors of half a step are less than 0.0004."""


def predicted(counts: ArrayLike, games: int, times: ArrayLike | None = None) -> FloatArray:
    """Return the distribution of a player's half points in originals of this number of games.

    counts, times: of our pairs, see :func:`experiments.statistics.pairs.by_opening`. An original
    is played in pairs, each from an opening of its own, as ours. An odd game is half a pair, and
    half a point that is left over from it counts or not, equally likely. The probabilities of a
    pair's outcomes are the same in all of an original, and have the Dirichlet distribution that our
    pairs leave.
    """
    units, often = by_opening(counts, times)
    seen = np.asarray(often @ units + _PRIOR, dtype=float)
    if games % 2 == 0:
        return _points_of_pairs(seen, games // 2)
    found = np.zeros(2 * games + 1)
    for outcome, share in enumerate(seen / seen.sum()):
        # The odd game's pair is one that is seen before the others.
        others = _points_of_pairs(seen + np.eye(OUTCOMES)[outcome], games // 2)
        for half_points in (outcome // 2, (outcome + 1) // 2):
            found[half_points : half_points + len(others)] += share / 2 * others
    return found


def _points_of_pairs(seen: FloatArray, pairs: int) -> FloatArray:
    """Return the distribution of half points in this number of pairs: outcome i, one of i half
    points, has been seen ``seen[i]`` times before.

    Of m pairs, k have the lowest outcome with the beta-binomial probability; the other m - k are
    divided among the higher outcomes in the same way.
    """
    number = np.arange(pairs + 1)
    size = (OUTCOMES - 1) * pairs + 1
    found = np.zeros((pairs + 1, size))  # a row for each m
    found[number, (OUTCOMES - 1) * number] = 1
    for outcome in reversed(range(OUTCOMES - 1)):
        higher, found = found, np.zeros_like(found)
        first, rest = seen[outcome], seen[outcome + 1 :].sum()
        for k in number:
            others = number[: pairs + 1 - k]
            log = scipy.special.betaln(k + first, others + rest)
            log -= scipy.special.betaln(first, rest)
            log += scipy.special.gammaln(k + others + 1)
            log -= scipy.special.gammaln(k + 1) + scipy.special.gammaln(others + 1)
            shift = outcome * k
            found[k:, shift:] += np.exp(log)[:, None] * higher[: len(others), : size - shift]
    return np.asarray(found[pairs])


def total(results: Iterable[FloatArray]) -> FloatArray:
    """Return the distribution of the sum of independent results.

    >>> total([np.array([0.5, 0.5]), np.array([0.5, 0.5])])
    array([0.25, 0.5 , 0.25])
    """
    return reduce(np.convolve, results)


def tail(result: FloatArray, seen: int) -> tuple[str, float]:
    """Return ``"fewer"`` or ``"more"``, and the probability of a result at least as far out as the
    one seen, on the side of the middle where that is.

    >>> tail(np.array([0.25, 0.5, 0, 0.25]), 1)
    ('more', 0.75)
    """
    fewer, more = float(result[: seen + 1].sum()), float(result[seen:].sum())
    return ("fewer", fewer) if fewer < more else ("more", more)


def joint_p(results: Sequence[FloatArray], seen: Sequence[int]) -> float:
    """Return the probability that independent results are as improbable as those seen, or more so.

    results: their distributions. seen: those of the original. The product of the probabilities is
    compared. Its logarithm is a sum, whose distribution is a convolution over the results.

    >>> joint_p([np.array([0.1, 0.2, 0.7]), np.array([0.5, 0.5])], [1, 0])
    0.3
    """
    surprises = [-np.log(np.fmax(result, np.finfo(float).tiny)) for result in results]
    of_seen = sum(surprise[own] for surprise, own in zip(surprises, seen, strict=True))
    step = of_seen / _STEPS
    if step <= 0:  # nothing else could have been seen
        return 1.0
    places = [np.rint(surprise / step).astype(int) for surprise in surprises]
    limit = sum(int(place[own]) for place, own in zip(places, seen, strict=True))
    less = np.ones(1)  # the distribution of the sum below the original's
    for place, result in zip(places, results, strict=True):
        inside = place < limit
        spread = np.bincount(place[inside], weights=result[inside], minlength=1)
        less = scipy.signal.fftconvolve(less, spread)[:limit]
    return round(min(max(1 - float(less.sum()), 0.0), 1.0), 12)
