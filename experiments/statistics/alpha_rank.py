"""Alpha-rank: the agents that remain if agents are replaced by those that beat them.

Elo gives every agent one number. It cannot show that A beats B, B beats C and C beats A. Alpha-rank
(Omidshafiei et al. 2019, "alpha-Rank: Multi-Agent Evaluation by Evolution", Scientific Reports 9)
takes a large population that plays one strategy; now and then somebody tries another one. It takes
over with a probability that grows with its payoff against the resident. The share of time that the
population spends with each agent is its mass. A ladder's best agent has all of it; three that beat
each other in a circle share it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.pairs import FloatArray

POPULATION = 50
"""Members of the population, as in the published examples."""

_CERTAIN = 700.0  # the largest exponent that float64 bears


def alpha_rank(payoff: ArrayLike, alpha: float, population: int = POPULATION) -> FloatArray:
    """Return the mass of each of n agents, shape (n,), with the sum 1.

    payoff: shape (..., n, n), the payoff of the row agent in a game against the column agent, such
    as its share of points; shape (..., n) is returned for many at once. nan, for two that did not
        meet, counts as even.
    alpha: the strength of selection, above 0; large, only the winner of a match counts, not its
    margin. population: its members, 2 or more.

    The chance that one agent s takes over a population of r is (1 - e^-u) / (1 - e^-mu) with u =
    alpha (M(s, r) - M(r, s)), or 1 / m where u = 0; each of the others is tried equally often.
    Raises ValueError for another shape or numbers out of range.

    >>> rock_paper_scissors = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> alpha_rank(rock_paper_scissors, alpha=10).round(3)
    array([0.333, 0.333, 0.333])
    """
    made = np.asarray(payoff, dtype=float)
    if made.ndim < 2 or made.shape[-1] != made.shape[-2]:
        raise ValueError(f"payoff has shape {made.shape}; (n, n) is needed")
    if not (0 < alpha < np.inf and population >= 2):
        raise ValueError(
            f"alpha={alpha:g} population={population}: above 0, and at least 2, are needed"
        )
    number = made.shape[-1]
    if number == 1:
        return np.ones(made.shape[:-1])
    ahead = np.nan_to_num(made.swapaxes(-1, -2) - made)  # [r, s]: of the new s against resident r
    chance = _taking_over(alpha * ahead, population) / (number - 1)
    diagonal = np.arange(number)
    chance[..., diagonal, diagonal] = 0
    chance[..., diagonal, diagonal] = 1 - chance.sum(axis=-1)
    return _stationary(chance)


def _taking_over(u: FloatArray, population: int) -> FloatArray:
    """Return (1 - e^-u) / (1 - e^-mu), the probability that a new agent takes over; 1 / m if u is
    0."""
    even = np.abs(u) < 1e-12
    bounded = np.where(even, 1.0, np.clip(u, -_CERTAIN / population, _CERTAIN))
    return np.where(even, 1 / population, np.expm1(-bounded) / np.expm1(-population * bounded))


def _stationary(chance: FloatArray) -> FloatArray:
    """Return the stationary distribution of Markov chains with these probabilities, shape (..., n).

    States are eliminated one after the other (Grassmann, Taksar & Heyman 1985, Operations Research
    33). This adds and multiplies positive numbers only, so probabilities of e^-700 keep their
    digits.
    """
    left = chance.copy()
    number = left.shape[-1]
    for last in range(number - 1, 0, -1):
        onwards = left[..., last, :last].sum(axis=-1)
        left[..., :last, last] /= onwards[..., None]
        through = left[..., :last, last, None] * left[..., None, last, :last]
        left[..., :last, :last] += through
    mass = np.zeros(left.shape[:-1])
    mass[..., 0] = 1
    for state in range(1, number):
        mass[..., state] = (mass[..., :state] * left[..., :state, state]).sum(axis=-1)
        mass /= mass.sum(axis=-1, keepdims=True)
    return mass
