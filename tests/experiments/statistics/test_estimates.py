"""Small statistics: Elo, intervals of shares and means, sample sizes, looks at a mean."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.stats import norm

from othello_lab.experiments.statistics.elo import elo_of_score, expected_score
from othello_lab.experiments.statistics.intervals import points_interval, sample_size
from othello_lab.experiments.statistics.means import SHARE, mean_interval
from othello_lab.experiments.statistics.pairs import SHARES
from othello_lab.experiments.statistics.sequential import looks, mean_side


def test_expected_score_and_its_inverse() -> None:
    assert expected_score(0.0) == 0.5
    assert expected_score(400.0) == pytest.approx(10 / 11)
    differences = np.array([-800.0, -1.0, 0.0, 250.0])
    np.testing.assert_allclose(elo_of_score(expected_score(differences)), differences, atol=1e-9)
    for score in (0.0, 1.0, -0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="less than 1"):
            elo_of_score(score)


def share_interval(counts: list[int]) -> tuple[float, float, float]:
    """The interval of pairs from an opening each, by outcome."""
    return points_interval(SHARES, np.ones(5, dtype=int), np.array(counts))


def test_shares_of_points_have_intervals_even_when_all_pairs_went_alike() -> None:
    assert share_interval([10, 20, 100, 30, 40])[0] == pytest.approx(0.5875)
    share, low, high = share_interval([0, 0, 0, 0, 50])
    assert (share, high) == (1, 1)
    assert 0.9 < low < 1
    assert np.isnan(share_interval([0] * 5)[0])
    rng = random.Random(3)
    truth = (0.1 * 1 + 0.3 * 2 + 0.2 * 3 + 0.3 * 4) / 4
    held = 0
    for _ in range(400):
        drawn = rng.choices(range(5), [0.1, 0.1, 0.3, 0.2, 0.3], k=60)
        _, low, high = share_interval([drawn.count(outcome) for outcome in range(5)])
        held += low <= truth <= high
    assert 368 <= held <= 396


def test_intervals_count_openings() -> None:
    """Half as many openings, each measured twice, tell half as much."""
    rng = np.random.default_rng(1)
    values = rng.normal(3, 1, 40)
    many = mean_interval(np.repeat(values, 2), np.repeat(np.arange(40), 2))
    apart = mean_interval(values, np.arange(40))
    assert many == pytest.approx(apart)
    assert apart.low < apart.value < apart.high
    error = values.std(ddof=1) / np.sqrt(40)
    assert apart.high - apart.low == pytest.approx(2 * 2.02 * error, rel=0.15)


def test_intervals_hold_the_mean() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for seed in range(300):
        values = rng.exponential(1, 24) + np.repeat(rng.normal(0, 1, 12), 2)
        mean = mean_interval(values, np.repeat(np.arange(12), 2), seed)
        held += mean.low <= 1 <= mean.high
    assert held / 300 > 0.9


def test_what_is_not_known_is_nan_and_shares_stay_within_0_and_1() -> None:
    assert np.isnan(mean_interval([], [])).all()
    one = mean_interval([1, 2, np.nan], ["a", "a", "b"])
    assert one.value == 1.5 and np.isnan(one.low)
    assert one.text() == "1.50 [?]"
    mean = mean_interval([0, 0, 1], ["a", "b", "c"], within=SHARE)
    assert mean.low == 0 and mean.high <= 1
    never = mean_interval([0, 0, 0, 0], ["a", "b", "c", "d"], within=SHARE)
    assert never.value == never.low == 0 and 0.4 < never.high < 0.6


def test_the_error_rate_goes_with_the_deviation_of_no_difference() -> None:
    wanted = ((norm.ppf(0.95) * 0.5 + norm.ppf(0.8) * 0.2) / 0.1) ** 2
    assert sample_size(0.1, 0.2, 0.5, alpha=0.05, power=0.8) == pytest.approx(wanted)
    swapped = sample_size(0.1, 0.5, 0.2, alpha=0.05, power=0.8)
    assert swapped == pytest.approx(((norm.ppf(0.95) * 0.2 + norm.ppf(0.8) * 0.5) / 0.1) ** 2)


def test_a_mean_of_nought_is_rarely_called_anything() -> None:
    """400 series of 160 values each, skewed or not: 5 % to either side, and two standard errors."""
    rng = np.random.default_rng(1)
    series = np.concatenate([rng.exponential(1, (400, 160)) - 1, rng.normal(0, 1, (400, 160))])
    sides = [mean_side(row, 160, 0.05).side for row in series]
    for part in (sides[:400], sides[400:]):
        for side in (-1, 1):
            assert part.count(side) / 400 <= 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5


def test_a_clear_mean_is_seen_early_and_a_small_one_late_or_not() -> None:
    values = np.random.default_rng(2).normal(0, 1, 640)
    assert mean_side(values + 2, 640, 0.05).units == looks(640)[0]
    assert mean_side(values + 2, 640, 0.05).side == 1
    assert mean_side(values - 0.3, 640, 0.05).units > 40
    assert mean_side(values[:39] + 9, 640, 0.05).side is None
    # Values that are all 0 are known at the end.
    assert mean_side(np.zeros(40), 100, 0.05).side is None
    assert mean_side(np.zeros(100), 100, 0.05).side == 0
    assert mean_side(np.ones(40), 100, 0.05).side == 1
