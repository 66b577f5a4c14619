"""Means of what was measured several times from each opening."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab.experiments.statistics.means import SHARE, mean_interval


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
        found = mean_interval(values, np.repeat(np.arange(12), 2), seed)
        held += found.low <= 1 <= found.high
    assert held / 300 > 0.9


def test_what_is_not_known_is_nan_and_shares_stay_within_0_and_1() -> None:
    assert np.isnan(mean_interval([], [])).all()
    one = mean_interval([1, 2, np.nan], ["a", "a", "b"])
    assert one.value == 1.5 and np.isnan(one.low)
    assert one.text() == "1.50 [?]"
    found = mean_interval([0, 0, 1], ["a", "b", "c"], within=SHARE)
    assert found.low == 0 and found.high <= 1
    never = mean_interval([0, 0, 0, 0], ["a", "b", "c", "d"], within=SHARE)
    assert never.value == never.low == 0 and 0.4 < never.high < 0.6
