"""Intervals around what was measured, and how they are written."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from experiments.statistics.pairs import SHARES, FloatArray, IntArray

INSIDE = 0.975
"""Probability below the upper end of a 95 % interval."""

ONE_SIDED = 0.05
"""How probable a record still is where its one-sided 95 % bound lies."""

_REACH = 1.96  # standard deviations of a normal distribution from the middle to INSIDE


def interval_text(value: float, low: float, high: float, bound: str = "") -> str:
    """A value and its interval, which need not lie evenly around it; or a ``bound``, ">" or "<".

    >>> interval_text(91.2, -62.4, 336.3), interval_text(-0.2, -44, 43.6)
    ('+91 [-62, 336]', '+0 [-44, 44]')
    >>> interval_text(620, 620, 620, ">")
    '> +620'
    """
    return f"{bound} {value:+z.0f}" if bound else f"{value:+z.0f} [{low:z.0f}, {high:z.0f}]"


def margin_text(value: float, margin: float, bound: str = "") -> str:
    """A value and half the width of its interval: ``+12 ± 8``; a dash where the value is nan. With
    a ``bound`` as :func:`interval_text`."""
    if bound:
        return interval_text(value, value, value, bound)
    return "-" if math.isnan(value) else f"{value:+z.0f} ± {margin:.0f}"


def share_interval(counts: ArrayLike) -> tuple[float, float, float, int]:
    """The share of points (0 to 1), the ends of its 95 % interval, and the number of pairs.

    counts: shape (5,), the number of pairs with 0 to 4 half points. The interval is normal over
    pairs, with half a pair won and half a pair lost added, so that pairs which all went alike have
    one too. All nan without pairs.
    """
    seen = np.asarray(counts, dtype=float)
    pairs = int(seen.sum())
    if not pairs:
        return np.nan, np.nan, np.nan, 0
    more = seen + np.array([0.5, 0, 0, 0, 0.5])
    middle = more @ SHARES / more.sum()
    margin = _REACH * np.sqrt(more @ (SHARES - middle) ** 2) / more.sum()
    share = float(seen @ SHARES) / pairs
    low, high = min(share, middle - margin), max(share, middle + margin)
    return share, max(0.0, low), min(1.0, high), pairs


def wilson(points: float, games: int) -> tuple[float, float]:
    """The 95 % interval of a share of points, draws as halves, taken as wins and losses (Wilson
    1927, Journal of the American Statistical Association 22).

    >>> low, high = wilson(8, 10)
    >>> round(low, 2), round(high, 2)
    (0.49, 0.94)
    """
    z = _REACH
    share = points / games
    middle = share + z * z / (2 * games)
    margin = z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    whole = 1 + z * z / games
    return max(0.0, (middle - margin) / whole), min(1.0, (middle + margin) / whole)


def bootstrap_intervals(
    sample: FloatArray, fitted: FloatArray, played: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Low and high ends of the 95 % intervals of some fitted values; bias-corrected, and expanded
    for few pairs (:mod:`experiments.statistics.pool` says why).

    sample: shape (replicates, values); fitted: shape (values,); played: the pairs each rests on.
    """
    below = (sample < fitted).sum(axis=0)
    bias = ndtri((below + 0.5) / (len(sample) + 1))  # standard deviations
    # The bootstrap's variance of a mean of N values is (N - 1) / (N + 1) of the honest one, and
    # Student's t takes the place of the normal distribution: 1.96 for large N, 2.50 for 10. One
    # pair, which shows no variance at all, is treated as two.
    pairs = np.maximum(played, 2).astype(float)
    reach = stdtrit(pairs - 1, INSIDE) * np.sqrt((pairs + 1) / (pairs - 1))
    return _quantiles(sample, ndtr(2 * bias - reach)), _quantiles(sample, ndtr(2 * bias + reach))


def _quantiles(sample: FloatArray, at: FloatArray) -> FloatArray:
    """One quantile of each column, at probabilities of shape (columns,)."""
    columns = zip(sample.T, at, strict=True)
    return np.array([np.quantile(column, probability) for column, probability in columns])
