"""The statistics against simulated matches whose truth is known, by the models of
``benchmarks/validity.py``. That script runs all these tests and prints the numbers."""

from __future__ import annotations

import importlib.util
import math
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from chosen import rows_mostly_nightly

from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.statistics.sequential import Sprt


def _load() -> ModuleType:
    path = Path(__file__).parents[3] / "benchmarks" / "validity.py"
    spec = importlib.util.spec_from_file_location("validity", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules["validity"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VALIDITY: Any = _load()
CASES = {
    2000: [(0, 100, 0.04, 0.0), (400, 100, 0.04, 0.0)],
    5000: [*VALIDITY.MATCHES, *VALIDITY.FEW_PAIRS],
}


@pytest.mark.parametrize(
    ("matches", "case"),
    rows_mostly_nightly([(n, case) for n, cases in CASES.items() for case in cases], [2000]),
    ids=str,
)
def test_intervals_of_a_match_hold_the_truth(matches: int, case: tuple[Any, ...]) -> None:
    """93 to 97 % within three standard errors of a share, for Elo and normalised Elo; of few pairs
    not less."""
    held, nelo_held, bounds = VALIDITY.coverage(*case, matches, seed=1)
    print(f"\n{case}: Elo {held:.3f}, nElo {nelo_held:.3f}, only a bound {bounds:.4f}")
    slack = 3 * math.sqrt(0.05 * 0.95 / matches)
    assert min(held, nelo_held) >= 0.93 - slack
    assert case[1] < 100 or max(held, nelo_held) <= 0.97 + slack


def test_bounds_of_a_match_hold_the_truth() -> None:
    """700 Elo apart few matches of 50 pairs have an interval; the rest get a bound, at 95 %."""
    held, _, bounds = VALIDITY.coverage(700, 50, 0.01, 0.0, 2000, seed=1)
    assert bounds > 0.5 and held > 0.935


@pytest.mark.integration
def test_intervals_of_pools_hold_the_truth_though_pairings_share_openings() -> None:
    """Four strategies, the first by five names; each opening suits some of them better."""
    model = VALIDITY.SharedOpenings(np.array([150.0, 50, -50, -150]), 200, 200, copies=4)
    held, wrong, naive = VALIDITY.pool_coverage(model, openings=8, pools=60, seed=1)
    assert 0.92 <= held <= 0.99
    assert wrong <= 0.02 and naive < 0.8


@pytest.mark.nightly
@pytest.mark.parametrize("openings", VALIDITY.OPENINGS)
@pytest.mark.parametrize("case", VALIDITY.POOLS, ids=str)
def test_coverage_of_pools(case: tuple[int, float, float, float], openings: int) -> None:
    """93 to 97 % within three standard errors; of four openings not less."""
    agents, gap, suits, colour = case
    model = VALIDITY.SharedOpenings(gap * (np.arange(agents) - (agents - 1) / 2), suits, colour)
    held, wrong, naive = VALIDITY.pool_coverage(model, openings, pools=100, seed=1)
    print(f"\n{case}, {openings} openings: {held:.3f}, wrong {wrong:.3f}, naive {naive:.3f}")
    slack = 3 * np.sqrt(0.05 * 0.95 / 100)
    assert held >= 0.93 - slack
    assert openings <= 4 or held <= 0.97 + slack


@pytest.mark.parametrize(
    ("matches", "case"),
    rows_mostly_nightly(
        [(500, ("logistic", 0, 150, 0.05, 0.05, 0.04, 0.0)), *((2000, c) for c in VALIDITY.TESTS)],
        [500],
    ),
    ids=str,
)
def test_sequential_tests_are_wrong_no_more_often_than_they_may(matches: int, case: Any) -> None:
    model, elo0, elo1, alpha, beta, draws, split = case
    test = Sprt(elo0, elo1, alpha, beta, model)
    wrong0, wrong1, *pairs = VALIDITY.errors(test, draws, split, matches, seed=1)
    print(f"\n{case}: H0 rejected {wrong0:.4f}, H1 rejected {wrong1:.4f}, pairs {pairs}")
    for wrong, limit in ((wrong0, alpha / (1 - beta)), (wrong1, beta / (1 - alpha))):
        assert wrong <= limit + 3 * math.sqrt(limit * (1 - limit) / matches)
    assert max(pairs) < (40 if elo1 == 150 else 1000)


@pytest.mark.nightly
@pytest.mark.parametrize("case", VALIDITY.TESTS, ids=str)
def test_intervals_after_a_sequential_test_hold_the_truth(case: Any) -> None:
    """And half of the estimates are below it, unlike those of the score."""
    model, elo0, elo1, alpha, beta, draws, split = case
    test = Sprt(elo0, elo1, alpha, beta, model)
    for elo in VALIDITY.stopped_truths(test):
        with suppress(ConfigError):  # so many draws leave no room for the difference
            held, below, naive = VALIDITY.stopped_coverage(test, elo, draws, split, 2000, seed=1)
            print(f"\n{case}, {elo:g} Elo: {held:.3f}, below {below:.3f}; the score {naive:+.1f}")
            assert 0.92 <= held <= 0.98 and 0.4 <= below <= 0.6
