"""Pairs, the unit of all statistics: two games from one opening with colours swapped."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

OUTCOMES = 5
"""Results of a pair: 0, 1/2, 1, 3/2 or 2 points of 2 (LL, LD, DD or WL, WD, WW)."""

SHARES = np.arange(OUTCOMES) / (OUTCOMES - 1)
"""The share of a pair's two points, by outcome."""


def pentanomial(by_colour: IntArray) -> IntArray:
    """Counts of pairs told apart by colour, shape (..., 3, 3), as counts by points, (..., 5)."""
    half_points = np.add.outer(np.arange(3), np.arange(3))
    return np.stack([by_colour[..., half_points == k].sum(axis=-1) for k in range(OUTCOMES)], -1)


def by_opening(counts: ArrayLike, times: ArrayLike | None = None) -> tuple[IntArray, IntArray]:
    """Counts of a match's pairs by outcome, shape (m, 5), and how many openings gave each row.

    counts: shape (5,), each pair from an opening of its own; or (m, 5), a row an opening. times:
        shape (m,), how many openings gave each row; None for one each. Raises ValueError for
        another shape, or counts that are negative or not whole.
    """
    seen = np.asarray(counts)
    whole = np.issubdtype(seen.dtype, np.integer)
    if seen.ndim not in (1, 2) or seen.shape[-1] != OUTCOMES or not whole or (seen < 0).any():
        raise ValueError(
            f"counts {seen.tolist()}: {OUTCOMES} numbers of pairs, LL to WW, are needed"
        )
    if seen.ndim == 1:
        return np.eye(OUTCOMES, dtype=np.int64), seen
    often = np.ones(len(seen), dtype=np.int64) if times is None else np.asarray(times)
    return seen, often
