"""Scales of playing strength: Elo and normalised Elo."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
import scipy  # which loads its parts when they are used

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
