"""Full factorial designs: the effect of each switch, and of two of them together.

With k switches there are 2^k combinations; in combination c switch i is on where bit i of c is set.
The **main effect** of a switch is its average gain over all combinations of the others. The
**interaction** of two is the difference of one's gain with the other on and off, again on average;
below 0 they partly do the same work (Box, Hunter & Hunter 2005, Statistics for Experimenters,
chapter 5). All are weighted sums of the 2^k results.

>>> combinations(2).astype(int)
array([[0, 0],
       [1, 0],
       [0, 1],
       [1, 1]])
>>> results = np.array([0, 30, 50, 60])  # the first brings 30 alone, 10 beside the second
>>> main_effects(2) @ results
array([20., 40.])
>>> terms, weights = interactions(2)
>>> terms, weights @ results
([(0, 1)], array([-20.]))
"""

from __future__ import annotations

from itertools import combinations as subsets

import numpy as np

from othello_lab.experiments.statistics.pairs import BoolArray, FloatArray


def combinations(switches: int) -> BoolArray:
    """Return the switches that are on in each combination, shape (2^k, k)."""
    return np.arange(1 << switches)[:, None] >> np.arange(switches) & 1 == 1


def main_effects(switches: int) -> FloatArray:
    """The weights that combinations have in each switch's main effect, shape (k, 2^k)."""
    sign = 2.0 * combinations(switches) - 1
    return np.asarray(sign.T / (1 << switches - 1))


def interactions(switches: int) -> tuple[list[tuple[int, int]], FloatArray]:
    """Each two switches i < j, and the weights that combinations have in their interaction, shape
    (k (k - 1) / 2, 2^k)."""
    sign = 2.0 * combinations(switches) - 1
    terms = list(subsets(range(switches), 2))
    rows = [sign[:, i] * sign[:, j] / (1 << switches - 2) for i, j in terms]
    return terms, np.array(rows).reshape(len(terms), 1 << switches)
