"""Scales of playing strength: Elo, normalised Elo, and Elo gained by a doubling of effort."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.pairs import FloatArray

ELO = 400 / math.log(10)
"""Elo points in one natural unit: ratings are fitted as logits and scaled by this at the end."""

NELO = 800 / math.log(10)
"""Normalised Elo points in one standard deviation of a game."""

Numbers = TypeVar("Numbers", float, FloatArray)


def expected_score(difference: Numbers) -> Numbers:
    """The share of points expected by an agent rated ``difference`` Elo above its opponent.

    1 / (1 + 10^(-difference / 400)), 0 to 1; a number or an array of any shape.

    >>> round(expected_score(200), 3)
    0.76
    """
    share: Any = scipy.special.expit(np.asarray(difference, dtype=float) / ELO)
    return share if np.ndim(difference) else share.item()


def elo_of_score(score: Numbers) -> Numbers:
    """Return the Elo difference with ``score`` as the expected share of points.

    400 log10(score / (1 - score)), the inverse of :func:`expected_score`; a number or an array of
    any shape. Raises ValueError unless 0 < score < 1: a perfect score has no rating, only a bound.

    >>> round(elo_of_score(0.75), 1)
    190.8
    """
    share = np.asarray(score, dtype=float)
    if not np.all((share > 0) & (share < 1)):
        raise ValueError(f"score {score}: more than 0 and less than 1 is needed")
    difference: Any = ELO * (np.log(share) - np.log1p(-share))
    return difference if np.ndim(score) else difference.item()


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
