"""Means of values that were measured several times from each opening."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.intervals import bootstrap_intervals, wilson
from othello_lab.experiments.statistics.pairs import FloatArray

REPLICATES = 1000
"""Of the bootstrap over openings."""
ANY, SHARE = (-np.inf, np.inf), (0.0, 1.0)
"""Where a mean can lie."""


class Mean(NamedTuple):
    """A mean and the ends of its 95 % interval; these are nan for less than two openings."""

    value: float
    low: float
    high: float

    def text(self, digits: int = 2, scale: float = 1.0) -> str:
        """The mean and its interval, ``0.93 [0.91, 0.95]``; a dash where there is none.

        >>> Mean(0.934, 0.91, 0.95).text(), Mean(0.5, float("nan"), float("nan")).text(0, 100)
        ('0.93 [0.91, 0.95]', '50 [?]')
        """
        if np.isnan(self.value):
            return "-"
        said = [f"{scale * value:.{digits}f}" for value in self]
        return f"{said[0]} [{'?' if np.isnan(self.low) else ', '.join(said[1:])}]"


NO_MEAN = Mean(np.nan, np.nan, np.nan)
"""That of no values."""


def mean_interval(
    values: ArrayLike,
    openings: ArrayLike,
    seed: int = 0,
    within: tuple[float, float] = ANY,
    weights: ArrayLike | None = None,
) -> Mean:
    """Return the mean of values, much alike from one opening, with the 95 % interval of a bootstrap
    over openings. nan if there are none; values that are nan are left out.

    values, openings: shape (n,), one of each measurement. within: the possible range of the mean, a
    limit of intervals. SHARE: they are shares, or truth values; if all openings have the same
    share, a bootstrap has no spread and the interval is Wilson's, an opening counting once.
    weights: shape (n,), above 0; None for a plain mean.
    """
    measured: FloatArray = np.asarray(values, dtype=float)
    there = ~np.isnan(measured)
    if not there.any():
        return NO_MEAN
    _, unit = np.unique(np.asarray(openings)[there], return_inverse=True)
    weight = np.ones(len(unit)) if weights is None else np.asarray(weights, dtype=float)[there]
    sums, numbers = (
        np.bincount(unit, part).astype(float) for part in (weight * measured[there], weight)
    )
    units, mean = len(sums), float(sums.sum() / numbers.sum())
    # The weights of openings that are alike, exponential each, add up to a gamma's.
    alike, number = np.unique([sums, numbers], axis=1, return_counts=True)
    drawn = np.random.default_rng(seed).standard_gamma(number, (REPLICATES, len(number)))
    sample = np.divide(*(alike @ drawn.T))[:, None]
    low, high = bootstrap_intervals(sample, np.array([mean]), np.array([units]))
    ends = np.clip([low[0], high[0]], *within)
    if within == SHARE and units > 1 and np.ptp(sums / numbers) == 0:
        ends = np.array(wilson(mean * units, units))
    return Mean(mean, *map(float, ends))
