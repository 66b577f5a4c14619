"""Ranks over many openings: Friedman's test and Nemenyi's critical difference.

Every agent has a score from each opening, all from the same opponents, and is ranked by it there: 1
for the best, ties sharing the mean of their ranks. If all were equally good, every order would be
as probable as any other from each opening, whatever the scores are like; that they meet each other
does not matter to this. Friedman's test (1937, Journal of the American Statistical Association 32),
in the form of Iman and Davenport (1980, Communications in Statistics A9), asks whether the mean
ranks differ more than they would then. Two agents' mean ranks differ for certain where they are
further apart than Nemenyi's critical difference (1963), which allows for all comparisons at once: q
sqrt(k (k + 1) / (6 N)) for k agents and N openings, where q is the studentized range's quantile
divided by sqrt(2) (Demsar 2006, Statistical Comparisons of Classifiers over Multiple Data Sets,
Journal of Machine Learning Research 7, section 3.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.pairs import FloatArray

LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class MeanRanks:
    """The mean ranks of k agents, from :func:`mean_ranks`.

    ranks: the mean rank of each over the openings, shape (k,), 1 to k; less is better. openings:
    how many. difference: further apart than this two mean ranks differ for certain. chi2:
    Friedman's statistic, with k - 1 degrees of freedom, corrected for ties. probability: of mean
    ranks that differ as much if all agents were equally good.
    """

    ranks: FloatArray
    openings: int
    difference: float
    chi2: float
    probability: float

    def groups(self) -> list[tuple[float, float]]:
        """The lowest and the highest mean rank of every largest group of at least two agents that
        lie no further apart than the critical difference."""
        ordered = np.sort(self.ranks)
        last = np.searchsorted(ordered, ordered + self.difference, side="right") - 1
        return [
            (float(ordered[first]), float(ordered[end]))
            for first, end in enumerate(last)
            if end > first and (first == 0 or end > last[first - 1])
        ]


def mean_ranks(scores: ArrayLike, times: ArrayLike | None = None) -> MeanRanks:
    """Rank k agents by their scores from each of N openings.

    scores: shape (m, k), more is better; k >= 2. times: shape (m,), how many openings gave each
        row; None for one each. ValueError unless that makes at least two openings.
    """
    table = np.asarray(scores, dtype=float)
    often = np.ones(len(table), dtype=int) if times is None else np.asarray(times)
    openings, agents = int(often.sum()), table.shape[1]
    if openings < 2 or agents < 2:
        raise ValueError(f"{agents} agents and {openings} openings: two of each are needed")
    above = (table[:, None, :] > table[:, :, None]).sum(axis=2)
    equal = (table[:, None, :] == table[:, :, None]).sum(axis=2)
    ranks = above + (equal + 1) / 2
    mean = often @ ranks / openings
    spread = often @ (ranks - (agents + 1) / 2) ** 2  # of each agent's ranks
    between = openings * ((mean - (agents + 1) / 2) ** 2).sum()
    chi2 = openings * (agents - 1) * between / spread.sum() if spread.any() else 0.0
    return MeanRanks(
        ranks=mean,
        openings=openings,
        difference=critical_difference(agents, openings),
        chi2=float(chi2),
        probability=_probability(float(chi2), agents, openings),
    )


def critical_difference(agents: int, openings: int) -> float:
    """Nemenyi's, at 5 %.

    >>> round(critical_difference(4, 14), 2)  # Demsar's example
    1.25
    """
    from scipy.stats import studentized_range  # loading it takes a third of a second

    quantile = float(studentized_range.ppf(1 - LEVEL, agents, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(agents * (agents + 1) / (6 * openings))


def _probability(chi2: float, agents: int, openings: int) -> float:
    """Of at least this much by chance: Iman and Davenport's F has k - 1 and (k - 1)(N - 1) degrees
    of freedom."""
    most = openings * (agents - 1)
    if chi2 >= most:
        return 0.0
    free, others = agents - 1, (agents - 1) * (openings - 1)
    ratio = (openings - 1) * chi2 / (most - chi2)
    return float(scipy.special.betainc(others / 2, free / 2, others / (others + free * ratio)))
