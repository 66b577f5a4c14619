"""Exact arithmetic for evaluations: rounding, and comparing two counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from othello_lab.core.system.compile import Int, kernel

FORMS = ("difference", "ratio", "own")
"""Forms of comparing two counts: mine - theirs, (mine - theirs) / (mine + theirs + 2), or -theirs.
The last one is the own count of the side that has just moved."""
_RATIO, _OWN = FORMS.index("ratio"), FORMS.index("own")

RATIO_UNIT = 1000
"""A ratio is given in thousandths."""


@kernel
def rounded(numerator: Int, denominator: Int) -> Int:
    """Return numerator / denominator (int64, denominator > 0), rounded half to even."""
    quotient = numerator // denominator
    twice = 2 * (numerator - quotient * denominator)
    if twice > denominator or (twice == denominator and quotient & 1):
        quotient += 1
    return quotient


@kernel
def compared(mine: Int, theirs: Int, form: Int) -> Int:
    """Compare two counts (int64) in the form of this number; a ratio is in thousandths."""
    if form == _OWN:
        return -theirs
    if form == _RATIO:
        return rounded(np.int64(RATIO_UNIT) * (mine - theirs), mine + theirs + 2)
    return mine - theirs


def plain_compared(mine: int, theirs: int, form: str) -> int:
    """Compare two counts as :func:`compared` does, in plain Python."""
    if form == "ratio":
        return round(RATIO_UNIT * Fraction(mine - theirs, mine + theirs + 2))
    return -theirs if form == "own" else mine - theirs
