"""A sequential test of a mean against 0, looked at again and again as values come.

After 40, 80, 160, ... units, and after all there are, the mean is tested. Costs of searches are
skewed, and Student's t is then wrong too often on one side, so the smaller of two counts: Student's
t and Hall's, corrected for skewness (Hall 1992, Journal of the Royal Statistical Society B 54).
With k looks each is at the error rate divided by 2k: in simulated series, normal, exponential and
log-normal (deviation 1 of the logarithm), a mean of 0 is called negative, or positive, in at most 5
% of cases at an error rate of 5 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.pairs import FloatArray

FIRST_LOOK = 40
"""Units before which nothing is said."""


def looks(most: int, first: int = FIRST_LOOK) -> list[int]:
    """Return the numbers of units at which to look, up to the largest.

    >>> looks(100)
    [40, 80, 100]
    """
    numbers = [first << turn for turn in range(64) if first << turn < most]
    return [*numbers, most]


@dataclass(frozen=True)
class MeanVerdict:
    """side: -1 or 1 for a mean shown to be below or above 0; 0 where all values are 0; None where
    nothing is shown. units: how many it took."""

    side: int | None
    units: int


def mean_side(values: ArrayLike, most: int, error_rate: float) -> MeanVerdict:
    """Return the side of 0 on which the mean lies, judged at the looks there are values for.

    values: shape (n,), of independent units in the order of their arrival. most: their largest
    number.

    >>> mean_side([-1.0, -2.0] * 20, 100, 0.05)
    MeanVerdict(side=-1, units=40)
    """
    seen = np.asarray(values, dtype=float)
    turns = looks(most)
    for units in turns:
        if units > len(seen):
            break
        part = seen[:units]
        if not part.any():
            if units == most:
                return MeanVerdict(0, units)
            continue
        if side := side_at_look(part, len(turns), error_rate):
            return MeanVerdict(side, units)
    return MeanVerdict(None, len(seen))


def side_at_look(values: ArrayLike, turns: int, error_rate: float) -> int:
    """Return the side of 0, -1 or 1, on which the mean is shown to lie at one look; 0 for neither.

    values: shape (n,), of all units so far. turns: the number of looks that share the error rate.
    """
    seen = np.asarray(values, dtype=float)
    t = _t(seen)
    shown = scipy.special.stdtr(len(seen) - 1, -abs(t)) <= error_rate / (2 * turns)  # false for nan
    return int(np.sign(t)) if shown else 0


def _t(values: FloatArray) -> float:
    """The smaller of Student's t and Hall's; 0 where their signs differ; nan for a single value."""
    if len(values) < 2:
        return math.nan
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    if not deviation:
        return math.copysign(math.inf, mean)
    ratio = mean / deviation
    skew = float(((values - mean) ** 3).mean() / values.std() ** 3)
    hall = ratio + skew * ratio**2 / 3 + skew**2 * ratio**3 / 27 + skew / (6 * len(values))
    if ratio * hall <= 0:
        return 0.0
    return math.copysign(math.sqrt(len(values)) * min(abs(ratio), abs(hall)), ratio)
