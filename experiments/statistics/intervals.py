"""Intervals around measured values, their form in texts, and sample sizes."""

from __future__ import annotations

import math

import numpy as np
import scipy  # which loads its parts when they are used

from othello_lab.experiments.statistics.pairs import FloatArray, IntArray

INSIDE = 0.975
"""Probability below the upper end of a 95 % interval."""

ONE_SIDED = 0.05
"""How probable a record still is where its one-sided 95 % bound lies."""

EVERY_SPLIT = "every pair split"
"""What stands in the place of a rating where every pair was shared."""

_FARTHEST = 2.5  # the same, of a quantile that a thousand replicates of few openings still tell

_REACH = 1.96  # standard deviations of a normal distribution from the middle to INSIDE


def interval_text(value: float, low: float, high: float, bound: str = "", digits: int = 0) -> str:
    """Return a value and its interval in words, or a ``bound``, ">" or "<". The ends of an unknown
    interval are nan, and without a value there is a dash.

    >>> interval_text(91.2, -62.4, 336.3), interval_text(-0.2, -44, 43.6)
    ('+91 [-62, 336]', '+0 [-44, 44]')
    >>> interval_text(620, 620, 620, ">")
    '> +620'
    >>> interval_text(35, math.nan, math.nan)
    '+35 [?]'
    >>> interval_text(3.14, 1.88, 4.4, digits=1), interval_text(math.nan, math.nan, math.nan)
    ('+3.1 [1.9, 4.4]', '-')
    """
    if math.isnan(value):
        return "-"
    text = f"{value:+z.{digits}f}"
    if bound:
        return f"{bound} {text}"
    ends = "?" if math.isnan(low) else f"{low:z.{digits}f}, {high:z.{digits}f}"
    return f"{text} [{ends}]"


def elo_words(elo: float, low: float, high: float, bound: str, split: bool) -> str:
    """Return a difference in Elo as a sentence has it: ``+123 [103, 145]``, ``more than +620``, or
    ``unknown (every pair split)``."""
    if split or math.isnan(elo):
        return f"unknown ({EVERY_SPLIT if split else 'no complete pair'})"
    if bound:
        return f"{'more' if bound == '>' else 'less'} than {elo:+z.0f}"
    return interval_text(elo, low, high)


def student(openings: int, looks: int = 1) -> float:
    """Return the half width of a 95 % interval in standard errors: Student's quantile with one
    degree of freedom less than there are openings; nan for less than two openings.

    looks: how often the results may be looked at to stop. The intervals at all these looks then
    hold the truth together with 95 % (Bonferroni), so one of them holds whenever it ends.
    """
    inside = 1 - (1 - INSIDE) / looks
    return float(scipy.special.stdtrit(openings - 1, inside)) if openings > 1 else math.nan


def standard_error(sums: FloatArray, times: IntArray, pairs: int, openings: int) -> float:
    """The standard error of a mean over pairs that come from shared openings.

    sums: shape (m,), of the deviations from the mean of an opening's pairs. times: shape (m,), how
        many openings have that sum. nan for less than two openings.
    """
    if openings < 2:
        return math.nan
    # No product of the linear algebra library: its threads take longer than this, and its sums
    # depend on the processor.
    squares = float((times * sums**2).sum())
    return math.sqrt(squares * openings / (openings - 1)) / pairs


def points_interval(
    points: FloatArray, games: IntArray, times: IntArray
) -> tuple[float, float, float]:
    """A share of points from shared openings (0 to 1), and the ends of its 95 % interval.

    points, games: of every opening, shape (m,), a game (or a pair taken as one) having 0 to 1
        points. times: shape (m,), how many openings gave that. The interval is Student's over
        openings, with half a game won and half a game lost as one opening more, so that equal
        results have one too. All nan without games.
    """
    number, openings = int(times @ games), int(times[games > 0].sum())
    if not number:
        return np.nan, np.nan, np.nan
    middle = float(times @ points + 0.5) / (number + 1)
    added = math.sqrt((middle**2 + (1 - middle) ** 2) / 2)
    sums = np.append(points - middle * games, added)
    error = standard_error(sums, np.append(times, 1), number + 1, openings + 1)
    margin = student(openings + 1) * error
    share = float(times @ points) / number
    low, high = min(share, middle - margin), max(share, middle + margin)
    return share, max(0.0, low), min(1.0, high)


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
    sample: FloatArray, fitted: FloatArray, openings: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Low and high ends of the 95 % intervals of some fitted values; bias-corrected, and expanded
    for few openings (:mod:`experiments.statistics.pool` says why).

    sample: shape (replicates, values), from a Bayesian bootstrap over openings; fitted: shape
    (values,); openings: how many each rests on. nan for values that rest on less than two.
    """
    below = (sample < fitted).sum(axis=0)
    bias = scipy.special.ndtri((below + 0.5) / (len(sample) + 1))  # standard deviations
    # The bootstrap's variance of a mean of N values is (N - 1) / (N + 1) of the honest one, and
    # Student's t takes the place of the normal distribution: 1.96 for large N, 2.50 for 10.
    number = np.where(openings > 1, openings, np.nan)
    reach = scipy.special.stdtrit(number - 1, INSIDE) * np.sqrt((number + 1) / (number - 1))
    quantile = np.fmin(reach, _FARTHEST)
    ends = scipy.special.ndtr([2 * bias - quantile, 2 * bias + quantile])
    columns = zip(sample.T, ends.T, strict=True)
    low, high = np.array([np.quantile(column, at) for column, at in columns]).reshape(-1, 2).T
    stretch = reach / quantile
    return fitted + stretch * (low - fitted), fitted + stretch * (high - fitted)


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
