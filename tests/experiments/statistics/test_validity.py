"""The statistics against simulated matches whose truth is known: ``benchmarks/validity.py`` with
fewer of them. ``pytest test_validity.py -m integration -s`` prints the numbers."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from othello_lab.experiments.statistics.pool import rate
from othello_lab.experiments.statistics.sequential import Sprt


def _load() -> ModuleType:
    path = Path(__file__).parents[3] / "benchmarks" / "validity.py"
    spec = importlib.util.spec_from_file_location("validity", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules["validity"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VALIDITY: Any = _load()


def check_coverage(case: tuple[float, int, float, float], matches: int) -> None:
    """93 to 97 % within three standard errors of a share, for Elo and normalised Elo."""
    held, nelo_held, bounds = VALIDITY.coverage(*case, matches, seed=1)
    print(f"\n{case}: Elo {held:.3f}, nElo {nelo_held:.3f}, only a bound {bounds:.4f}")
    slack = 3 * math.sqrt(0.05 * 0.95 / matches)
    for share in (held, nelo_held):
        assert 0.93 - slack <= share <= 0.97 + slack


def test_intervals_of_a_match_hold_the_truth() -> None:
    for case in ((0, 100, 0.04, 0.0), (400, 100, 0.04, 0.0)):
        check_coverage(case, 2000)


def test_bounds_of_a_match_hold_the_truth() -> None:
    """700 Elo apart few matches of 50 pairs have an interval; the rest get a bound, at 95 %."""
    held, _, bounds = VALIDITY.coverage(700, 50, 0.01, 0.0, 2000, seed=1)
    assert bounds > 0.5
    assert held > 0.935


@pytest.mark.integration
@pytest.mark.parametrize("case", VALIDITY.MATCHES, ids=str)
def test_coverage(case: tuple[float, int, float, float]) -> None:
    check_coverage(case, 5000)


@pytest.mark.integration
@pytest.mark.parametrize("case", VALIDITY.FEW_PAIRS, ids=str)
def test_few_pairs_are_no_surer_than_they_may(case: tuple[float, int, float, float]) -> None:
    held, nelo_held, bounds = VALIDITY.coverage(*case, 5000, seed=1)
    print(f"\n{case}: Elo {held:.3f}, nElo {nelo_held:.3f}, only a bound {bounds:.4f}")
    assert held >= 0.93


@pytest.mark.integration
def test_intervals_of_pools_hold_the_truth_though_pairings_share_openings() -> None:
    """Four strategies, the first by five names; each opening suits some of them better."""
    model = VALIDITY.SharedOpenings(np.array([150.0, 50, -50, -150]), 200, 200, copies=4)
    held, wrong, naive = VALIDITY.pool_coverage(model, openings=8, pools=60, seed=1)
    assert 0.92 <= held <= 0.99
    assert wrong <= 0.02
    assert naive < 0.8


@pytest.mark.integration
@pytest.mark.parametrize(
    ("case", "openings"),
    [
        (case, openings)
        for place, case in enumerate(VALIDITY.POOLS)
        for openings in VALIDITY.OPENINGS[place % 2 :: 2]
    ],
    ids=str,
)
def test_coverage_of_pools(case: tuple[int, float, float, float], openings: int) -> None:
    """93 to 97 % within three standard errors; of four openings not less."""
    agents, gap, suits, colour = case
    model = VALIDITY.SharedOpenings(gap * (np.arange(agents) - (agents - 1) / 2), suits, colour)
    held, wrong, naive = VALIDITY.pool_coverage(model, openings, pools=100, seed=1)
    print(f"\n{case}, {openings} openings: {held:.3f}, wrong {wrong:.3f}, naive {naive:.3f}")
    slack = 3 * np.sqrt(0.05 * 0.95 / 100)
    assert held >= 0.93 - slack
    assert openings <= 4 or held <= 0.97 + slack


@pytest.mark.integration
@pytest.mark.parametrize("case", VALIDITY.TESTS, ids=str)
def test_sequential_tests_are_wrong_no_more_often_than_they_may(case: Any) -> None:
    model, elo0, elo1, alpha, beta, draws, split = case
    wrong0, wrong1, *pairs = VALIDITY.errors(
        Sprt(elo0, elo1, alpha, beta, model), draws, split, 2000, seed=1
    )
    print(f"\n{case}: H0 rejected {wrong0:.4f}, H1 rejected {wrong1:.4f}, pairs {pairs}")
    for wrong, limit in ((wrong0, alpha / (1 - beta)), (wrong1, beta / (1 - alpha))):
        assert wrong <= limit + 3 * math.sqrt(limit * (1 - limit) / 2000)
    assert max(pairs) < 1000


def test_a_sequential_test_is_seldom_wrong() -> None:
    wrong0, wrong1, *pairs = VALIDITY.errors(Sprt(0, 150), 0.04, 0.0, 500, seed=1)
    assert max(wrong0, wrong1) <= 0.0526 + 3 * math.sqrt(0.05 / 500)
    assert max(pairs) < 40


@pytest.mark.integration
def test_the_ratings_recover_a_ladder() -> None:
    ladder = np.linspace(-450, 450, 10)
    ratings = rate(VALIDITY.round_robin(ladder, 2000, seed=1))
    assert np.abs(ratings.elo - ladder).max() < 8
    assert ((ratings.low <= ladder) & (ladder <= ratings.high)).sum() >= 8
