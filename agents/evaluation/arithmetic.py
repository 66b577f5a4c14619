"""Exact arithmetic that evaluations share: rounding, and comparing two counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from core.compile import kernel

FORMS = ("difference", "ratio")
"""How two counts can be compared: mine - theirs, or (mine - theirs) / (mine + theirs + 2)."""

RATIO_UNIT = 1000
"""A ratio is given in thousandths."""


@kernel
def rounded(numerator, denominator):  # type: ignore[no-untyped-def]
    """numerator / denominator (int64, denominator > 0) rounded to the nearest, half to even."""
    quotient = numerator // denominator
    twice = 2 * (numerator - quotient * denominator)
    if twice > denominator or (twice == denominator and quotient & 1):
        quotient += 1
    return quotient


@kernel
def compared(mine, theirs, ratio):  # type: ignore[no-untyped-def]
    """Two counts (int64) compared: as ratio in thousandths if ``ratio``, else as difference."""
    if ratio:
        return rounded(np.int64(RATIO_UNIT) * (mine - theirs), mine + theirs + 2)
    return mine - theirs


def plain_compared(mine: int, theirs: int, form: str) -> int:
    """As :func:`compared`, in plain Python."""
    if form == "ratio":
        return round(RATIO_UNIT * Fraction(mine - theirs, mine + theirs + 2))
    return mine - theirs


def form_parameters(form: str) -> np.ndarray:
    """The parameters of an evaluation in one of the FORMS; ValueError for another word."""
    if form not in FORMS:
        raise ValueError(f"form '{form}'; choose from {', '.join(FORMS)}")
    return np.array([form == "ratio"], dtype=np.int32)
