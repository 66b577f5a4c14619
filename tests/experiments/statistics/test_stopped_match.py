"""What is told of the difference after a sequential test."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab.experiments.jobs.sample_size import pair_shares
from othello_lab.experiments.statistics.match import match_statistics
from othello_lab.experiments.statistics.sequential import Sprt, simulate
from othello_lab.experiments.statistics.stopped_match import stopped_estimate, stopped_estimates


@pytest.mark.integration
@pytest.mark.parametrize(("elo", "split"), [(25, 0.0), (50, 0.4), (200, 0.0)])
def test_intervals_hold_the_truth_and_estimates_are_median_unbiased(
    elo: float, split: float
) -> None:
    """400 simulated tests of 0 against 50 Elo each: three standard errors around 95 and 50 %."""
    test = Sprt(0, 50)
    counts, _ = simulate(test, pair_shares(elo, 0.04, split), 400, seed=3)
    found, low, high = stopped_estimates(test, counts)
    assert ((low <= found) & (found <= high)).all()
    assert 0.92 <= ((low <= elo) & (elo <= high)).mean() <= 0.985
    assert 0.425 <= (found < elo).mean() <= 0.575


def test_the_bias_of_a_stopped_score_is_taken_back() -> None:
    """H1 accepted early: the score is too good."""
    test, counts = Sprt(0, 50), [4, 6, 14, 12, 14]
    assert test.decide(counts) == "H1"
    found = stopped_estimate(test, counts)
    assert 0 < found.low < found.elo < match_statistics(counts).elo
    assert found.elo < found.high


def test_a_test_seen_from_the_other_side() -> None:
    one = stopped_estimate(Sprt(-10, 30), [4, 16, 30, 24, 26])
    other = stopped_estimate(Sprt(-30, 10), [26, 24, 30, 16, 4])
    assert one.elo == pytest.approx(-other.elo)
    assert [one.low, one.high] == pytest.approx([-other.high, -other.low])


def test_an_undecided_test_has_about_the_interval_of_its_match() -> None:
    """Far within bounds that lie far out nothing was stopped."""
    counts = [10, 20, 40, 30, 20]
    match = match_statistics(counts)
    found = stopped_estimate(Sprt(-60, 60, alpha=1e-14, beta=1e-14), counts)
    assert [found.elo, found.low, found.high] == pytest.approx(
        [match.elo, match.elo_low, match.elo_high], abs=4
    )


def test_a_perfect_record_has_no_upper_end() -> None:
    test = Sprt(0, 50)
    won = stopped_estimate(test, [0, 0, 0, 0, 60])
    assert won.high > 500 and won.low > 150
    assert np.isfinite(won.low)
    lost = stopped_estimate(test, [60, 0, 0, 0, 0])
    assert lost.elo < lost.high < 0
