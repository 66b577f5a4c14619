"""Strength against effort: Elo gained by each doubling of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.pairs import FloatArray


def doubling_weights(efforts: ArrayLike) -> FloatArray:
    """Return the weights of ratings at these efforts in the Elo gained by a doubling, shape (n,).

    efforts: shape (n,), above 0, at least two different ones. The gain is the slope of the straight
    line through the ratings over log2(effort) by least squares, a weighted sum of the ratings with
    weights that add up to 0. Raises ValueError.

    >>> print(doubling_weights([100, 200, 400]) @ [0, 80, 130])
    65.0
    """
    effort = np.asarray(efforts, dtype=float)
    if effort.ndim != 1 or not (effort > 0).all() or len(set(effort.tolist())) < 2:
        raise ValueError(f"efforts {effort.tolist()}: two different ones above 0 are needed")
    doublings = np.log2(effort)
    away = doublings - doublings.mean()
    return np.asarray(away / (away @ away))


def step_weights(efforts: ArrayLike) -> FloatArray:
    """The same from each effort to the next one, shape (n - 1, n); efforts: ascending.

    >>> step_weights([100, 200, 800]) @ [0, 80, 130]
    array([80., 25.])
    """
    doublings = np.diff(np.log2(np.asarray(efforts, dtype=float)))
    return np.asarray(np.diff(np.eye(len(doublings) + 1), axis=0) / doublings[:, None])
