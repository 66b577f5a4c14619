"""Sequential tests: published log-likelihood ratios, an independent optimiser, error rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from othello_lab.experiments.jobs.sample_size import pair_shares
from othello_lab.experiments.statistics.match import match_statistics
from othello_lab.experiments.statistics.sequential import MODELS, Sprt, simulate
from othello_lab.experiments.statistics.stopped_match import stopped_estimate, stopped_estimates

# Log-likelihood ratios that fastchess checks itself against (app/tests/sprt_test.cpp), which took
# them from Stockfish's testing site, and one that it printed for a real match.
PUBLISHED = [
    ("normalized", 0, 2, [365, 16618, 36229, 16974, 390], 2.25),
    ("normalized", -1.75, 0.25, [127, 4883, 10712, 5150, 104], 3.01),
    ("normalized", 0, 5, [0, 0, 0, 0, 5550], 111.82),
    ("normalized", 0, 20, [0, 0, 2, 0, 37], 2.96),
    ("logistic", 0.5, 2.5, [223, 9863, 21279, 10037, 246], -3.07),
    ("logistic", 0, 2, [871, 26175, 55983, 26678, 821], -4.98),
]


@pytest.mark.parametrize(("model", "elo0", "elo1", "counts", "published"), PUBLISHED)
def test_published_ratios(model, elo0, elo1, counts, published):
    llr = Sprt(elo0, elo1, model=model).llr(counts)
    assert llr == pytest.approx(published, abs=0.006, rel=3e-4)


pairs = st.lists(st.integers(0, 10**6), min_size=5, max_size=5)


@pytest.mark.integration
@given(pairs, st.sampled_from(MODELS), st.integers(-400, 399), st.integers(1, 800))
@settings(max_examples=100)
def test_any_counts_have_a_finite_ratio_that_turns_with_the_board(counts, model, elo0, width):
    elo1 = min(elo0 + width, 400)
    llr = Sprt(elo0, elo1, model=model).llr(counts)
    mirrored = Sprt(-elo1, -elo0, model=model).llr(counts[::-1])
    assert math.isfinite(llr)
    assert mirrored == pytest.approx(-llr, rel=1e-6, abs=1e-5)


def test_many_matches_at_once_are_each_as_alone():
    counts = np.random.default_rng(2).multinomial(80, [0.1, 0.2, 0.3, 0.3, 0.1], size=20)
    for model in MODELS:
        test = Sprt(-5, 25, model=model)
        assert test.llrs(counts) == pytest.approx([test.llr(row) for row in counts], abs=1e-9)


def test_bounds_and_decisions():
    test = Sprt(0, 10, alpha=0.05, beta=0.1)
    assert test.lower == pytest.approx(math.log(0.1 / 0.95))
    assert test.upper == pytest.approx(math.log(0.9 / 0.05))
    assert test.decide([0, 0, 0, 0, 0]) == ""
    assert test.decide([50, 100, 300, 200, 100]) == "H1"
    assert test.decide([100, 200, 300, 100, 50]) == "H0"


@pytest.mark.parametrize("model", MODELS)
def test_splitting_every_pair_ends_at_no_difference(model):
    """Two agents that play alike must not be tested for ever."""
    counts = np.zeros((3000, 5), dtype=int)
    counts[:, 2] = np.arange(3000)
    test = Sprt(0, 10, model=model)
    llrs = test.llrs(counts)
    assert llrs[0] == pytest.approx(0, abs=0.01)
    assert (np.diff(llrs) < 0).all()
    assert test.decide(counts[-1]) == "H0"


@pytest.mark.parametrize(
    ("elos", "more", "words"),
    [
        ((5, 5), {}, "elo0"),
        ((5, 0), {}, "elo0=5 elo1=0"),
        ((float("nan"), 0), {}, "elo0"),
        ((0, 9999), {}, "elo1=9999"),
        ((-500, 0), {"model": "normalized"}, "-400 and 400"),
        ((0, 5), {"alpha": 0}, "alpha=0"),
        ((0, 5), {"beta": 0.5}, "beta=0.5"),
        ((0, 5), {"beta": float("nan")}, "beta=nan"),
        ((0, 5), {"model": "bayesian"}, "logistic, normalized"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused(elos, more, words):
    with pytest.raises(ValueError, match=words) as error:
        Sprt(*elos, **more)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("counts", [[1, 2, 3], [1, 2, 3, 4, -1], [[1, 2, 3, 4, 5]]])
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(ValueError, match="five numbers"):
        Sprt(0, 5).llr(counts)


@pytest.mark.integration
@pytest.mark.parametrize(("elo", "split"), [(25, 0.0), (50, 0.4), (200, 0.0)])
def test_intervals_hold_the_truth_and_estimates_are_median_unbiased(
    elo: float, split: float
) -> None:
    """400 simulated tests of 0 against 50 Elo each: three standard errors around 95 and 50 %."""
    test = Sprt(0, 50)
    counts, _ = simulate(test, pair_shares(elo, 0.04, split), 400, seed=3)
    estimates, low, high = stopped_estimates(test, counts)
    assert ((low <= estimates) & (estimates <= high)).all()
    assert 0.92 <= ((low <= elo) & (elo <= high)).mean() <= 0.985
    assert 0.425 <= (estimates < elo).mean() <= 0.575


def test_the_bias_of_a_stopped_score_is_taken_back() -> None:
    """H1 accepted early: the score is too good."""
    test, counts = Sprt(0, 50), [4, 6, 14, 12, 14]
    assert test.decide(counts) == "H1"
    estimate = stopped_estimate(test, counts)
    assert 0 < estimate.low < estimate.elo < match_statistics(counts).elo
    assert estimate.elo < estimate.high


def test_a_test_seen_from_the_other_side() -> None:
    one = stopped_estimate(Sprt(-10, 30), [4, 16, 30, 24, 26])
    other = stopped_estimate(Sprt(-30, 10), [26, 24, 30, 16, 4])
    assert one.elo == pytest.approx(-other.elo)
    assert [one.low, one.high] == pytest.approx([-other.high, -other.low])


def test_an_undecided_test_has_about_the_interval_of_its_match() -> None:
    """Far within bounds that lie far out nothing was stopped."""
    counts = [10, 20, 40, 30, 20]
    match = match_statistics(counts)
    estimate = stopped_estimate(Sprt(-60, 60, alpha=1e-14, beta=1e-14), counts)
    assert [estimate.elo, estimate.low, estimate.high] == pytest.approx(
        [match.elo, match.elo_low, match.elo_high], abs=4
    )


def test_a_perfect_record_has_no_upper_end() -> None:
    test = Sprt(0, 50)
    won = stopped_estimate(test, [0, 0, 0, 0, 60])
    assert won.high > 500 and won.low > 150
    assert np.isfinite(won.low)
    lost = stopped_estimate(test, [60, 0, 0, 0, 0])
    assert lost.elo < lost.high < 0
