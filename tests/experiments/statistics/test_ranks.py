"""Mean ranks over openings, held to scipy's Friedman test and to pools where all are equal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from othello_lab.experiments.statistics.ranks import MeanRanks, critical_difference, mean_ranks


def test_ranks_are_those_of_the_scores() -> None:
    found = mean_ranks([[3, 1, 2], [5, 5, 1]])
    assert found.ranks.tolist() == [1.25, 2.25, 2.5]
    assert found.openings == 2


def test_friedman_is_that_of_scipy() -> None:
    scores = np.random.default_rng(1).integers(0, 6, (30, 4)) + np.arange(4)  # with ties
    found = mean_ranks(scores)
    theirs = stats.friedmanchisquare(*scores.T)
    assert found.chi2 == pytest.approx(theirs.statistic)
    ratio = 29 * found.chi2 / (30 * 3 - found.chi2)
    assert found.probability == pytest.approx(stats.f.sf(ratio, 3, 87))


def test_alike_openings_may_be_counted() -> None:
    scores, times = np.array([[3, 1, 2], [1, 3, 2], [2, 2, 2]]), np.array([5, 2, 1])
    one, other = mean_ranks(scores, times), mean_ranks(scores.repeat(times, axis=0))
    assert one.ranks == pytest.approx(other.ranks)
    assert (one.chi2, one.openings) == (pytest.approx(other.chi2), other.openings)


def test_all_equal_and_all_sure() -> None:
    assert mean_ranks([[1, 1, 1]] * 4).chi2 == 0
    assert mean_ranks([[1, 1, 1]] * 4).probability == 1
    assert mean_ranks([[3, 2, 1]] * 4).probability == 0
    with pytest.raises(ValueError, match="two of each are needed"):
        mean_ranks([[1, 2, 3]])


def test_equals_differ_in_one_pool_of_twenty() -> None:
    """Agents that meet each other: one's point is another's loss, which Nemenyi must bear."""
    rng = np.random.default_rng(3)
    agents, openings, pools = 5, 20, 200
    upper = np.triu(np.ones((agents, agents), dtype=bool), 1)
    points = rng.integers(0, 5, (pools, openings, agents, agents)) / 2 * upper
    scores = (points + np.where(upper.T, 2 - points.swapaxes(2, 3), 0)).sum(axis=3)
    apart = [np.ptp((found := mean_ranks(pool)).ranks) > found.difference for pool in scores]
    assert np.mean(apart) == pytest.approx(0.05, abs=0.035)


@pytest.mark.parametrize(("agents", "quantile"), [(2, 1.960), (4, 2.569), (10, 3.164)])
def test_critical_differences_are_those_of_the_table(agents: int, quantile: float) -> None:
    """Table 5a of Demsar (2006)."""
    difference = critical_difference(agents, 30)
    assert difference == pytest.approx(quantile * np.sqrt(agents * (agents + 1) / 180), abs=0.002)


def test_groups_are_the_largest_within_the_difference() -> None:
    ranks = np.array([4.0, 1.0, 1.5, 2.2, 6.0])
    found = MeanRanks(ranks, 10, 1.3, 1.0, 0.5)
    assert found.groups() == [(1.0, 2.2)]
    wide = MeanRanks(ranks, 10, 2.0, 1.0, 0.5)
    assert wide.groups() == [(1.0, 2.2), (2.2, 4.0), (4.0, 6.0)]
