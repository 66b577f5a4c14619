"""Ratios of two estimates, such as Elo by microsecond, with their intervals."""

from __future__ import annotations

import math

from othello_lab.experiments.statistics.means import Mean

UNKNOWN = Mean(math.nan, math.nan, math.nan)


def ratio_of(top: Mean, bottom: Mean, least: float = 0.0) -> Mean:
    """Return the ratio of two independent estimates with its 95 % interval.

    The interval is Fieller's, in the form for intervals whose ends are not equally far away (Donner
    & Zou 2012, Closed-form confidence intervals for functions of the normal mean and standard
    deviation, Statistical Methods in Medical Research 21). A bound r is a ratio for which the
    distance of ``top - r * bottom`` from 0 is the length of its interval to that side.

    least: the resolution of the measurement of ``bottom``. There is no ratio, and all is nan, if
    ``bottom`` may be 0 or less, is not above ``least``, or has no interval.

    >>> ratio_of(Mean(100, 80, 120), Mean(10, 8, 12)).text(1)
    '10.0 [7.5, 13.3]'
    >>> ratio_of(Mean(100, 80, 120), Mean(10, -1, 21)).text(), ratio_of(UNKNOWN, UNKNOWN).text()
    ('-', '-')
    """
    if not (bottom.low > 0 and bottom.value > least) or any(map(math.isnan, top)):
        return UNKNOWN
    below = bottom.high if top.low > 0 else bottom.low
    above = bottom.low if top.high > 0 else bottom.high
    low = _end(top.value, top.low, bottom.value, below, -1)
    high = _end(top.value, top.high, bottom.value, above, 1)
    return Mean(top.value / bottom.value, low, high)


def _end(top: float, top_end: float, bottom: float, bottom_end: float, side: int) -> float:
    """Return the bound on this side, -1 or 1: a solution r of
    ``(top - r * bottom)**2 == (top - top_end)**2 + r**2 * (bottom - bottom_end)**2``."""
    square = bottom_end * (2 * bottom - bottom_end)
    constant = top_end * (2 * top - top_end)
    half = top * bottom
    root = side * math.sqrt(max(half * half - square * constant, 0.0))
    # Of the two forms of a solution the one that subtracts no numbers that are nearly equal.
    if half * root < 0:
        return constant / (half - root)
    return (half + root) / square
