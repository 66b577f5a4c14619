"""Intervals of shares of points."""

from __future__ import annotations

import random

import numpy as np
import pytest

from othello_lab.experiments.statistics.intervals import share_interval


def test_shares_of_points_have_intervals_even_when_all_pairs_went_alike() -> None:
    assert share_interval([10, 20, 100, 30, 40])[0] == pytest.approx(0.5875)
    share, low, high, pairs = share_interval([0, 0, 0, 0, 50])
    assert (share, high, pairs) == (1, 1, 50)
    assert 0.9 < low < 1
    assert np.isnan(share_interval([0] * 5)[0])
    rng = random.Random(3)
    truth = (0.1 * 1 + 0.3 * 2 + 0.2 * 3 + 0.3 * 4) / 4
    held = 0
    for _ in range(400):
        drawn = rng.choices(range(5), [0.1, 0.1, 0.3, 0.2, 0.3], k=60)
        _, low, high, _ = share_interval([drawn.count(outcome) for outcome in range(5)])
        held += low <= truth <= high
    assert 368 <= held <= 396
