"""Whether a mean is below or above 0, looked at again and again as values come.

After 20, 40, 80, ... units, and after all there are, Student's interval of the mean is looked at;
with k looks each is at the error rate divided by k (Bonferroni), so the probability that a mean of
0 or more is ever called negative is at most the error rate, and the reverse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

FIRST_LOOK = 20
"""Units before which nothing is said."""


def looks(most: int) -> list[int]:
    """After how many units to look, of at most so many.

    >>> looks(100)
    [20, 40, 80, 100]
    """
    found = [FIRST_LOOK << turn for turn in range(64) if FIRST_LOOK << turn < most]
    return [*found, most]


@dataclass(frozen=True)
class MeanVerdict:
    """side: -1 or 1 for a mean shown to be below or above 0; 0 where all values are 0; None where
    nothing is shown. units: how many it took."""

    side: int | None
    units: int


def mean_side(values: ArrayLike, most: int, error_rate: float) -> MeanVerdict:
    """On which side of 0 the mean lies, judged at the looks there are values for.

    values: shape (n,), of independent units in the order in which they came; the most that there
    can be: ``most``.

    >>> mean_side([-1.0, -2.0] * 10, 100, 0.05)
    MeanVerdict(side=-1, units=20)
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
        deviation = float(part.std(ddof=1)) if units > 1 else math.nan
        if math.isnan(deviation):
            break
        t = part.mean() / (deviation / math.sqrt(units)) if deviation else math.inf * part[0]
        if stdtr(units - 1, -abs(t)) <= error_rate / len(turns):
            return MeanVerdict(int(np.sign(t)), units)
    return MeanVerdict(None, len(seen))
