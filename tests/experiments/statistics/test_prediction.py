"""What an original was to show, computed from our pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from othello_lab.experiments.statistics.prediction import joint_p, predicted, tail, total

COUNTS = [[3, 0, 5, 1, 7], [0, 0, 0, 0, 12], [40, 10, 90, 20, 30]]


def sequences(seen: Sequence[Fraction], pairs: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every sequence of outcomes and its probability: each outcome is drawn in proportion to how
    often it was seen, then counts as seen once more."""
    if not pairs:
        yield (), Fraction(1)
        return
    for outcome, number in enumerate(seen):
        after = [times + (place == outcome) for place, times in enumerate(seen)]
        for rest, probability in sequences(after, pairs - 1):
            yield (outcome, *rest), probability * number / sum(seen)


def slowly(counts: Sequence[int], games: int) -> list[float]:
    """The distribution of half points, by all sequences of pairs."""
    found: Counter[int] = Counter()
    seen = [Fraction(number) + Fraction(1, 10) for number in counts]
    for outcomes, probability in sequences(seen, -(-games // 2)):
        if games % 2 == 0:
            found[sum(outcomes)] += probability  # type: ignore[assignment]
            continue
        *whole, odd = outcomes
        for half in (odd // 2, (odd + 1) // 2):
            found[sum(whole) + half] += probability / 2  # type: ignore[assignment]
    return [float(found[half_points]) for half_points in range(2 * games + 1)]


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("games", [1, 2, 7, 8])
def test_distributions_are_those_of_all_sequences(counts: list[int], games: int) -> None:
    found = predicted(counts, games)
    assert found == pytest.approx(slowly(counts, games), rel=1e-9, abs=1e-15)
    assert found.sum() == pytest.approx(1)


def test_an_original_is_expected_at_our_rates() -> None:
    half_points = np.arange(21)
    found = predicted([1000, 2000, 4000, 2000, 1000], 10)
    assert half_points @ found == pytest.approx(10)
    # Five pairs, each of variance 1.2 in half points.
    assert (half_points - 10) ** 2 @ found == pytest.approx(5 * 1.2, rel=0.01)


def test_few_pairs_of_ours_leave_more_open() -> None:
    few, many = (predicted([0, 0, 0, 0, number], 10) for number in (5, 5000))
    assert few[:20].sum() > 0.2
    assert many[:20].sum() < 0.01


def test_many_games_have_a_distribution_too() -> None:
    found = predicted([100, 200, 400, 200, 100], 301)
    assert len(found) == 603 and found.min() >= 0
    assert found.sum() == pytest.approx(1)


def test_a_tail_is_on_the_side_of_the_result() -> None:
    found = predicted([100, 200, 400, 200, 100], 10)
    assert tail(found, 4) == ("fewer", pytest.approx(found[:5].sum()))
    assert tail(found, 16) == ("more", pytest.approx(found[16:].sum()))
    both = total([found, found])
    chances = {a + b: 0.0 for a in range(21) for b in range(21)}
    for a, b in product(range(21), repeat=2):
        chances[a + b] += found[a] * found[b]
    assert both == pytest.approx([chances[points] for points in range(41)])


def slow_joint_p(results: Sequence[np.ndarray], seen: Sequence[int]) -> float:
    """The probability of all combinations of results that are no more probable than the one seen,
    by looking at each."""
    level = math.prod(result[own] for result, own in zip(results, seen, strict=True))
    chances = [math.prod(chosen) for chosen in product(*(result.tolist() for result in results))]
    return math.fsum(chance for chance in chances if chance <= level * (1 + 1e-9))


@pytest.mark.parametrize(
    "seen", [[6, 8, 4], [3, 8, 4], [8, 7, 0], [0, 0, 8], [4, 8, 5], [5, 6, 2], [8, 8, 8]]
)
def test_joint_p_is_that_of_all_combinations(seen: list[int]) -> None:
    results = [predicted(counts, 4) for counts in COUNTS]
    assert joint_p(results, seen) == pytest.approx(slow_joint_p(results, seen), abs=1e-5)


def test_equally_improbable_results_count() -> None:
    """The distribution is symmetric, so that each result has one as improbable on the other side,
    and so has each combination in another order."""
    result = predicted([10, 20, 40, 20, 10], 6)
    one = result[2] + result[10] + result[:2].sum() + result[11:].sum()
    assert joint_p([result], [2]) == pytest.approx(one)
    pair = [result, result]
    assert joint_p(pair, [2, 5]) == pytest.approx(slow_joint_p(pair, [2, 5]), abs=1e-5)
    assert joint_p([np.ones(1)], [0]) == 1


@pytest.mark.integration
def test_joint_p_values_of_true_originals_are_uniform() -> None:
    """Originals that are as ours: p is below 5 % in 5 % of them, and one that is not is found."""
    generator = np.random.default_rng(7)
    rates = np.array([[0.1, 0.1, 0.4, 0.2, 0.2], [0, 0, 0.1, 0.1, 0.8], [0.3, 0.1, 0.3, 0.1, 0.2]])
    found = []
    for _ in range(80):
        ours = [generator.multinomial(300, each) for each in rates]
        original = [int(generator.multinomial(5, each) @ np.arange(5)) for each in rates]
        found.append(joint_p([predicted(each, 10) for each in ours], original))
    low, middle = (np.mean(np.array(found) <= level) for level in (0.05, 0.5))
    assert 0.01 <= low <= 0.12
    assert 0.35 <= middle <= 0.65
    results = [predicted(np.round(300 * each).astype(int), 10) for each in rates]
    assert joint_p(results, [20, 4, 18]) < 0.001
