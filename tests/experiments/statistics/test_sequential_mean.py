"""Looking at a mean again and again."""

from __future__ import annotations

import numpy as np

from othello_lab.experiments.statistics.sequential_mean import looks, mean_side


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


def test_values_that_are_all_nought_are_known_at_the_end() -> None:
    assert mean_side(np.zeros(40), 100, 0.05).side is None
    assert mean_side(np.zeros(100), 100, 0.05).side == 0
    assert mean_side(np.ones(40), 100, 0.05).side == 1
