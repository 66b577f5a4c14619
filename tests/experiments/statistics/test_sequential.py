"""Sequential tests: published log-likelihood ratios, an independent optimiser, error rates."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from othello_lab.experiments.statistics.elo import NELO
from othello_lab.experiments.statistics.sequential import MODELS, Sprt

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
    found = Sprt(elo0, elo1, model=model).llr(counts)
    assert found == pytest.approx(published, abs=0.006, rel=3e-4)


def constrained(counts, model, elo):
    """The greatest log-likelihood under a hypothesis, by a general optimiser."""
    seen, share = np.where(np.asarray(counts) == 0, 0.001, counts), np.arange(5) / 4

    def constraint(p):
        mean = p @ share
        if model == "logistic":
            return mean - 1 / (1 + 10 ** (-elo / 400))
        return mean - 0.5 - elo * math.sqrt(2) / NELO * math.sqrt(p @ share**2 - mean**2)

    def total(p):
        return p.sum() - 1

    best = -math.inf
    for start in (np.full(5, 0.2), seen / seen.sum() * 0.9 + 0.02):
        found = minimize(
            lambda p: -(seen @ np.log(p)) / seen.sum(), start, jac=lambda p: -seen / p / seen.sum(),
            bounds=[(1e-9, 1)] * 5, method="SLSQP", options={"maxiter": 1000, "ftol": 1e-14},
            constraints=[{"type": "eq", "fun": each} for each in (total, constraint)],
        )  # fmt: skip
        if found.success and abs(constraint(found.x)) < 1e-8:
            best = max(best, -found.fun * seen.sum())
    return best


@pytest.mark.parametrize("model", MODELS)
def test_ratio_is_that_of_a_general_optimiser(model):
    rng = np.random.default_rng(1)
    for _ in range(12):
        counts = rng.multinomial(rng.integers(30, 300), rng.dirichlet(np.ones(5) * 2))
        elo0, elo1 = sorted(rng.uniform(-120, 120, size=2))
        expected = constrained(counts, model, elo1) - constrained(counts, model, elo0)
        assert Sprt(elo0, elo1, model=model).llr(counts) == pytest.approx(expected, abs=1e-3)


pairs = st.lists(st.integers(0, 10**6), min_size=5, max_size=5)


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
        assert test.llrs(counts) == pytest.approx([test.llr(each) for each in counts], abs=1e-9)


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
