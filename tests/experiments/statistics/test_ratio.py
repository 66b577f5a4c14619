"""Ratios and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from othello_lab.experiments.statistics.means import Mean
from othello_lab.experiments.statistics.ratio import UNKNOWN, ratio_of


def fieller(top: float, top_margin: float, bottom: float, bottom_margin: float) -> list[float]:
    """The interval by Fieller's formula for independent estimates."""
    square, constant = bottom**2 - bottom_margin**2, top**2 - top_margin**2
    root = math.sqrt((top * bottom) ** 2 - square * constant)
    return [(top * bottom - root) / square, (top * bottom + root) / square]


@pytest.mark.parametrize("top", [100, 5, 0, -5, -100])
@pytest.mark.parametrize("margin", [1, 20])
def test_even_intervals_give_fiellers(top: float, margin: float) -> None:
    found = ratio_of(Mean(top, top - margin, top + margin), Mean(10, 8, 12))
    assert found.value == top / 10
    assert found[1:] == pytest.approx(fieller(top, margin, 10, 2))


def test_a_denominator_that_may_be_0_has_no_ratio() -> None:
    top = Mean(100, 80, 120)
    for bottom in (Mean(10, 0, 20), Mean(10, -5, 25), Mean(-10, -12, -8), Mean(0.05, 0.04, 0.06)):
        assert all(map(math.isnan, ratio_of(top, bottom, least=0.3)))
    assert all(map(math.isnan, ratio_of(top, Mean(10, math.nan, math.nan))))
    assert all(map(math.isnan, ratio_of(UNKNOWN, Mean(10, 8, 12))))
    assert ratio_of(top, UNKNOWN).text() == "-"


def test_an_interval_grows_as_its_denominator_comes_near_0() -> None:
    ends = [ratio_of(Mean(100, 80, 120), Mean(10, low, 20 - low)).high for low in (9, 5, 1, 0.1)]
    assert ends == sorted(ends) and ends[-1] > 900


def test_an_uneven_interval_holds_the_ratio() -> None:
    found = ratio_of(Mean(100, 90, 140), Mean(10, 9, 25))
    assert 0 < found.low < 10 < found.high
    assert found.low < ratio_of(Mean(100, 90, 140), Mean(10, 9, 11)).low


def test_intervals_hold_the_truth_in_95_of_100_cases() -> None:
    generator, reach = np.random.default_rng(3), 1.96
    tops, bottoms = generator.normal(30, 12, 4000), generator.normal(10, 1.5, 4000)
    inside = 0
    for top, bottom in zip(tops.tolist(), bottoms.tolist(), strict=True):
        found = ratio_of(
            Mean(top, top - reach * 12, top + reach * 12),
            Mean(bottom, bottom - reach * 1.5, bottom + reach * 1.5),
        )
        inside += found.low <= 3 <= found.high
    assert 0.935 < inside / 4000 < 0.965
