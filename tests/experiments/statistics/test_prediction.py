"""What an original was to show, drawn from our pairs."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab.experiments.statistics.prediction import joint_p, predicted, tail


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_an_original_is_drawn_at_our_rates() -> None:
    counts = [100, 200, 400, 200, 100]
    drawn = predicted(counts, 10, rng())
    assert drawn.min() >= 0 and drawn.max() <= 20
    assert drawn.mean() == pytest.approx(10, abs=0.05)
    # Five pairs, each of variance 1.2 in half points.
    assert drawn.var() == pytest.approx(5 * 1.2, rel=0.05)
    odd = predicted(counts, 9, rng())
    assert odd.max() <= 18
    assert odd.mean() == pytest.approx(9, abs=0.05)


def test_few_pairs_of_ours_leave_more_open() -> None:
    few, many = (predicted([0, 0, 0, 0, n], 10, rng()) for n in (5, 5000))
    assert (few < 20).mean() > 0.2
    assert (many < 20).mean() < 0.01


def test_a_tail_is_on_the_side_of_the_result() -> None:
    drawn = predicted([100, 200, 400, 200, 100], 10, rng())
    side, low = tail(drawn, 4)
    assert side == "fewer"
    assert low == pytest.approx((drawn <= 4).mean())
    assert tail(drawn, 16)[0] == "more"


def test_joint_p_values_of_true_originals_are_uniform() -> None:
    """Originals that are as ours: p is below 5 % in 5 % of them, and one that is not is found."""
    generator = np.random.default_rng(7)
    rates = np.array([[0.1, 0.1, 0.4, 0.2, 0.2], [0, 0, 0.1, 0.1, 0.8], [0.3, 0.1, 0.3, 0.1, 0.2]])
    found = []
    for _ in range(300):
        ours = [generator.multinomial(300, each) for each in rates]
        original = [int(generator.multinomial(5, each) @ np.arange(5)) for each in rates]
        drawn = [predicted(each, 10, generator, originals=1000) for each in ours]
        found.append(joint_p(drawn, original))
    low, middle = (np.mean(np.array(found) <= level) for level in (0.05, 0.5))
    assert 0.02 <= low <= 0.085
    assert 0.38 <= middle <= 0.57
    drawn = [predicted(np.round(300 * each).astype(int), 10, generator) for each in rates]
    assert joint_p(drawn, [20, 4, 18]) < 0.001
