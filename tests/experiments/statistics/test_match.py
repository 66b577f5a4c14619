"""One match: closed forms, bounds, and what is refused."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t

from othello_lab.experiments.statistics.elo import elo_of_score
from othello_lab.experiments.statistics.match import match_statistics
from othello_lab.experiments.statistics.sequential import Sprt


def test_a_match_by_hand() -> None:
    """100 pairs of which 75 % of the points were taken; s = 0.65, v = 0.0775."""
    match = match_statistics([5, 10, 30, 30, 25])
    shares = np.repeat([0, 0.25, 0.5, 0.75, 1], [5, 10, 30, 30, 25])
    s, v = shares.mean(), shares.var()
    assert match.score == pytest.approx(s)
    assert match.elo == pytest.approx(-400 * math.log10(1 / s - 1))
    error = math.sqrt(v / 99)
    reach = t.ppf(0.975, 99) * error
    ends = [-400 * math.log10(1 / end - 1) for end in (s - reach, s + reach)]
    assert [match.elo_low, match.elo_high] == pytest.approx(ends, rel=1e-6)
    assert match.nelo == pytest.approx((s - 0.5) / math.sqrt(2 * v) * 800 / math.log(10))
    assert match.los == pytest.approx(t.cdf((s - 0.5) / error, 99))
    assert (match.bound, match.split, match.pairs) == ("", False, 100)
    assert match.elo_text == f"{match.elo:+.0f} [{ends[0]:.0f}, {ends[1]:.0f}]"


def test_normalised_elo_and_its_test_count_alike() -> None:
    """The log-likelihood ratio turns from H0 to H1 half-way between them."""
    counts = [40, 90, 400, 150, 60]
    nelo = match_statistics(counts).nelo
    assert Sprt(nelo - 5, nelo + 5, model="normalized").llr(counts) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("counts", "elo", "nelo", "los"),
    [
        ([0, 0, 0, 0, 0], "-", "-", "-"),
        ([0, 0, 9, 0, 0], "every pair split", "-", "-"),
        ([0, 0, 0, 0, 100], "> +607", "-", "-"),
        ([100, 0, 0, 0, 0], "< -607", "-", "-"),
        ([0, 0, 0, 0, 1], "> -512", "-", "-"),
    ],
)
def test_where_there_is_only_a_bound(counts: list[int], elo: str, nelo: str, los: str) -> None:
    match = match_statistics(counts)
    assert (match.elo_text, match.nelo_text, match.los_text) == (elo, nelo, los)


def test_pairs_of_one_opening_are_no_further_evidence() -> None:
    """The same result again and again from each of 40 openings: as sure as one pair from each."""
    one = np.eye(5, dtype=int)[[0, 1, 2, 2, 2, 3, 3, 4, 4, 4] * 4]
    alone, again = match_statistics(one), match_statistics(25 * one)
    assert (alone.pairs, again.pairs) == (40, 1000)
    for name in ("score", "elo", "elo_low", "elo_high", "nelo", "nelo_low", "nelo_high", "los"):
        assert getattr(again, name) == pytest.approx(getattr(alone, name))
    summed = match_statistics(one.sum(axis=0))
    assert astuple(summed) == pytest.approx(astuple(alone), nan_ok=True)
    types, times = np.unique(25 * one, axis=0, return_counts=True)
    assert match_statistics(types, times).elo_low == pytest.approx(again.elo_low)


def test_few_openings_by_hand() -> None:
    """Three openings of five pairs, with 10, 9 and 10 of 20 half points: the sums of deviations
    from the mean are 1/12, -2/12 and 1/12 pairs."""
    match = match_statistics([[0, 1, 3, 1, 0], [0, 1, 4, 0, 0], [0, 0, 5, 0, 0]])
    error = math.sqrt((1 + 4 + 1) / 12**2 * 3 / 2) / 15
    reach = t.ppf(0.975, 2) * error
    ends = [elo_of_score(29 / 60 + side * reach) for side in (-1, 1)]
    assert [match.elo_low, match.elo_high] == pytest.approx(ends)
    assert match.los == pytest.approx(t.cdf(-1 / 60 / error, 2))
    assert math.isnan(match.nelo)  # three openings do not tell a variance
    one = match_statistics([[10, 0, 0, 0, 90]])
    assert (one.bound, one.score) == (">", 0.9)
    assert one.elo < 0 and math.isnan(one.los)


def test_superiority_is_never_certain() -> None:
    assert match_statistics([0, 2, 50, 300, 600]).los_text == "> 99.9 %"
    assert match_statistics([600, 300, 50, 2, 0]).los_text == "< 0.1 %"
    assert match_statistics([5, 0, 9, 0, 5]).los_text == "50.0 %"


@pytest.mark.parametrize(
    ("counts", "points"), [([0, 0, 2, 0, 98], 99), ([0, 0, 0, 52, 0], 39), ([1, 0, 0, 0, 1], 1)]
)
def test_the_bound_is_that_of_clopper_and_pearson(counts: list[int], points: int) -> None:
    """98 of 100 pairs won: 99 +- 1.4 % leaves the scale. Every pair 3/4: no variance."""
    exact = binomtest(points, sum(counts)).proportion_ci(confidence_level=0.90, method="exact")
    assert match_statistics(counts).bound == ">"
    assert match_statistics(counts).elo == pytest.approx(elo_of_score(float(exact.low)))


@given(st.lists(st.integers(0, 10**6), min_size=5, max_size=5))
def test_a_match_seen_from_the_other_side(counts: list[int]) -> None:
    one, other = match_statistics(counts), match_statistics(counts[::-1])
    assert one.elo_text.count("nan") == one.nelo_text.count("nan") == 0
    if one.bound and one.score != 0.5:
        assert {one.bound, other.bound} == {"<", ">"}
    if not one.bound and sum(counts):
        assert one.elo_low == pytest.approx(-other.elo_high, abs=1e-6, nan_ok=True)
        assert one.nelo == pytest.approx(-other.nelo, abs=1e-6, nan_ok=True)
    if one.score != 0.5:
        assert one.elo == pytest.approx(-other.elo, rel=1e-6, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("counts", [[1, 2, 3], [1, 2, 3, 4, -5], [0.5, 1, 1, 1, 1]])
def test_counts_of_a_match_that_are_none_are_refused(counts: list[float]) -> None:
    with pytest.raises(ValueError, match="numbers of pairs"):
        match_statistics(counts)


@pytest.mark.parametrize("counts", [[0, 0, 0, 20, 10], [30, 60, 0, 0, 0]])
def test_a_margin_of_normalised_elo_may_be_nought(counts: list[int]) -> None:
    """Two results, whose skewness is just so that the formula's variance vanishes."""
    match = match_statistics(counts)
    assert match.bound == ""
    assert match.nelo_high - match.nelo_low == pytest.approx(0, abs=2e-6)
