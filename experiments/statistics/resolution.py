"""Resolution of a set of openings: pairs needed to show a difference in Elo.

A fixed match tells a difference from 0 by a one-sided test of the mean score of a pair, see
:mod:`experiments.jobs.sample_size`. The fewer its pairs' scores vary, the fewer it needs:

    n = ((z(1 - alpha) + z(power)) sqrt(v) / (s - 1/2))^2,

with s the expected score at the difference and v the variance of a pair's share of points. Where
pairs repeat earlier ones move for move, or come from few openings and go alike there, they say
less: v is then the variance that gives the mean its standard error over openings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.elo import NELO, expected_score
from othello_lab.experiments.statistics.intervals import bootstrap_intervals
from othello_lab.experiments.statistics.pairs import SHARES, FloatArray, by_opening

ALPHA, POWER = 0.05, 0.9
"""Error rate of the test, and how probably it finds a difference that is there."""

REPLICATES = 1000


@dataclass(frozen=True, eq=False)
class Resolution:
    """The resolution of pairs: the number needed to show a difference.

    pairs: needed, with the ends of the 95 % interval ``low`` and ``high``; nan where nothing can be
        said of the spread (less than two openings, or all pairs alike). nelo: what the difference
        is in normalised Elo. evidence: in how many standard errors it shows after 1,000 games.
    sample: shape (replicates,), of the logarithm of ``pairs``, to compare sets; empty where nan.
    """

    pairs: float
    low: float
    high: float
    nelo: float
    evidence: float
    sample: FloatArray


_NAN = math.nan
_UNKNOWN = Resolution(_NAN, _NAN, _NAN, _NAN, _NAN, np.zeros(0))


def resolution(
    counts: ArrayLike, times: ArrayLike | None = None, elo: float = 30.0, seed: int = 0
) -> Resolution:
    """Return the resolution of pairs like these for a difference of ``elo``.

    counts, times: see :func:`experiments.statistics.pairs.by_opening`. seed: of the bootstrap over
    openings that gives the interval.

    >>> found = resolution([10, 20, 40, 20, 10])
    >>> round(found.pairs), round(found.nelo, 1)
    (346, 38.6)
    """
    units, often = by_opening(counts, times)
    met = units.any(axis=1) & (often > 0)
    units, share = units[met], often[met].astype(float)
    if share.sum() < 2:
        return _UNKNOWN
    variance = float(_variances(units, share[None])[0])
    if not variance > 0:
        return _UNKNOWN
    gain = expected_score(elo) - 0.5
    needed = (scipy.special.ndtri(1 - ALPHA) + scipy.special.ndtri(POWER)) ** 2 / gain**2
    rng = np.random.default_rng(seed)
    weight = rng.standard_gamma(share, (REPLICATES, len(share)))
    sample = np.log(needed * np.maximum(_variances(units, weight), 1e-12))
    fitted = np.log([needed * variance])
    low, high = bootstrap_intervals(sample[:, None], fitted, np.array([int(share.sum())]))
    low, high = np.fmin(low, fitted), np.fmax(high, fitted)
    return Resolution(
        pairs=float(np.exp(fitted[0])),
        low=float(np.exp(low[0])),
        high=float(np.exp(high[0])),
        nelo=NELO / math.sqrt(2) * gain / math.sqrt(variance),
        evidence=gain * math.sqrt(500 / variance),
        sample=sample,
    )


def _variances(units: np.ndarray, weight: FloatArray) -> FloatArray:
    """A pair's variance that counts, for each row of weights of openings, shape (rows,).

    n times the squared standard error over openings of the mean of n pairs; where each opening has
    one pair that is the usual variance.
    """
    pairs, points = units.sum(axis=1), units @ SHARES
    total = weight @ pairs
    mean = (weight @ points) / total
    squares = weight @ points**2 - 2 * mean * (weight @ (points * pairs))
    squares += mean**2 * (weight @ pairs.astype(float) ** 2)
    return np.asarray(squares / total)
