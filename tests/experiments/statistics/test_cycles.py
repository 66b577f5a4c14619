"""Cycles, and alpha-rank, which shows them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from othello_lab.experiments.statistics import cycles as cycles_module
from othello_lab.experiments.statistics.alpha_rank import alpha_rank
from othello_lab.experiments.statistics.cycles import beaten, cycles, superiority_chances

VALIDITY = Path(__file__).parents[3] / "benchmarks" / "validity.py"


@pytest.fixture(scope="module")
def rates():  # type: ignore[no-untyped-def]
    """How often cycles are found, as ``benchmarks/validity.py`` finds it out."""
    spec = importlib.util.spec_from_file_location("validity_of_cycles", VALIDITY)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cycle_rates


def test_planted_cycles_are_found_and_others_are_not(rates) -> None:  # type: ignore[no-untyped-def]
    """60 pools of 6 agents each; the benchmark has more."""
    found, wrong = rates(6, 50, 100, 0, openings=200, pools=60, seed=1)
    assert found >= 0.95 and wrong <= 0.05
    assert rates(6, 0, 0, 200, openings=50, pools=60, seed=2)[1] <= 0.05


def won(pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """A pool of two: one agent won all pairs, each from its own opening, and tables by opening."""
    table = np.zeros((2, 2, 5), dtype=int)
    table[0, 1, 4] = table[1, 0, 0] = 1
    return pairs * table, np.tile(table, (pairs, 1, 1, 1))


def test_a_few_pairs_won_prove_nothing() -> None:
    for pairs in (1, 2, 3):
        assert not beaten(won(pairs)[0]).any()
    together, by_opening = won(20)
    assert beaten(together)[0, 1]
    np.testing.assert_allclose(superiority_chances(together), superiority_chances(by_opening))


def test_pairs_of_one_opening_are_no_further_evidence() -> None:
    assert not beaten(20 * won(1)[1]).any()


def test_longer_circles_are_found_where_there_are_no_short_ones() -> None:
    better = np.zeros((6, 6), dtype=bool)
    better[[0, 1, 2, 3], [1, 2, 3, 0]] = True
    assert cycles(better) == [(0, 1, 2, 3)]
    better[[4, 5], [0, 0]] = True
    assert cycles(better) == [(0, 1, 2, 3)]


@pytest.mark.parametrize("alpha", [0.001, 0.1, 1, 10, 1000])
def test_rock_paper_scissors_have_the_same_mass(alpha: float) -> None:
    """Omidshafiei et al. 2019, section on the game: a third each, whatever alpha is."""
    payoff = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    np.testing.assert_allclose(alpha_rank(payoff, alpha), 1 / 3)


def test_biased_rock_paper_scissors_have_the_same_mass_too() -> None:
    """The same paper's biased game, whose Nash equilibrium is (1/16, 10/16, 5/16): under strong
    selection only who beats whom counts. Under weak selection the mass is uneven."""
    payoff = np.array([[0, -0.5, 1], [0.5, 0, -0.1], [-1, 0.1, 0]])
    np.testing.assert_allclose(alpha_rank(payoff, 100), 1 / 3, atol=1e-3)
    assert np.ptp(alpha_rank(payoff, 0.1)) > 0.05


def test_two_agents_have_the_closed_form() -> None:
    """The odds of two states are those of their fixation probabilities: e^((m - 1) u)."""
    mass = alpha_rank([[0.5, 0.6], [0.4, 0.5]], alpha=1, population=10)
    assert mass[0] / mass[1] == pytest.approx(np.exp(9 * 0.2))


def test_a_ladder_gives_its_best_agent_all() -> None:
    strength = np.array([3.0, 0, 5, 1])
    payoff = 1 / (1 + np.exp(strength[None] - strength[:, None]))
    np.testing.assert_allclose(alpha_rank(payoff, 100), [0, 0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(
        alpha_rank(np.stack([payoff, payoff.T]), 100)[1], [0, 1, 0, 0], atol=1e-12
    )


def test_agents_that_did_not_meet_are_even() -> None:
    np.testing.assert_allclose(alpha_rank(np.full((3, 3), np.nan), 10), 1 / 3)


@pytest.mark.parametrize(
    ("payoff", "alpha", "population"), [([[1, 2]], 1, 50), (np.eye(2), 0, 50), (np.eye(2), 1, 1)]
)
def test_what_is_out_of_range_is_refused(payoff: object, alpha: float, population: int) -> None:
    with pytest.raises(ValueError, match="needed"):
        alpha_rank(payoff, alpha, population)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("two_sided", "shown"),
    [
        ((0.01, 0.02, 0.04), (True, True, True)),  # held to 0.05 / 3, 0.05 / 2 and 0.05
        ((0.02, 0.04, 0.01), (True, True, True)),
        ((0.02, 0.02, 0.02), (False, False, False)),
        ((0.01, 0.03, 0.04), (True, False, False)),  # after the first failure none is shown
        ((0.01, float("nan"), 0.04), (True, False, True)),  # only two pairs of agents met
    ],
)
def test_better_agents_are_found_by_holms_procedure(
    two_sided: tuple[float, ...], shown: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [(0, 1), (0, 2), (1, 2)]
    chance = np.full((3, 3), np.nan)
    for (i, j), p in zip(places, two_sided, strict=True):
        chance[i, j], chance[j, i] = p / 2, 1 - p / 2
    monkeypatch.setattr(cycles_module, "superiority_chances", lambda *_: chance)
    better = cycles_module.beaten([])
    assert tuple(better[place] for place in places) == shown
    assert better.sum() == sum(shown)
