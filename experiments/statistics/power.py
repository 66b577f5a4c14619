"""Sample sizes that show a difference."""

from __future__ import annotations

import math

import scipy  # which loads its parts when they are used

from othello_lab.experiments.statistics.intervals import INSIDE, student


def sample_size(
    difference: float, deviation: float, deviation0: float, alpha: float, power: float
) -> float:
    """Return the number of independent results that show a mean larger by ``difference``.

    ((z(1 - alpha) deviation0 + z(power) deviation) / difference)^2, the sample size of a one-sided
    test of a mean at the error rate ``alpha`` that finds the difference with probability ``power``;
    z: quantiles of the normal distribution.

    deviation, deviation0: standard deviation of a result if there is this difference, or none.
    difference: not 0.

    >>> round(sample_size(0.1, 0.5, 0.5, alpha=0.05, power=0.9))
    214
    """
    reach = scipy.special.ndtri(1 - alpha) * deviation0 + scipy.special.ndtri(power) * deviation
    return float((reach / difference) ** 2)


def times_as_many(
    value: float, low: float, high: float, openings: int, power: float = 0.9
) -> float:
    """Return the factor by which more openings would give a 95 % interval without 0 in it with
    probability ``power``, if ``value`` is right and its interval over ``openings`` holds 0 now; inf
    for a value of 0.

    >>> round(times_as_many(10, -10, 30, 1000), 1)
    10.9
    """
    if not value:
        return math.inf
    error = (high - low) / (2 * student(openings))
    return sample_size(value, error, error, alpha=1 - INSIDE, power=power)
