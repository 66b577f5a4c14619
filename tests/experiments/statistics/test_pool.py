"""Ratings: closed forms, bounds, and how often the intervals hold what they should."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from othello_lab.experiments.statistics.elo import elo_of_score, expected_score
from othello_lab.experiments.statistics.match import match_statistics
from othello_lab.experiments.statistics.pairs import pentanomial
from othello_lab.experiments.statistics.pool import (
    Ratings,
    rate_contrasts,
    rate_pools,
    score_matrix,
)

Outcomes = tuple[int, int, int, int, int]


def pool(agents: int, results: Mapping[tuple[int, int], Outcomes]) -> np.ndarray:
    """The table of counts, shape (agents, agents, 5), from one side of each pairing."""
    pairs = np.zeros((agents, agents, 5), dtype=int)
    for (i, j), outcomes in results.items():
        pairs[i, j] = outcomes
        pairs[j, i] = outcomes[::-1]
    return pairs


def rate(*arguments: Any, **options: Any) -> Ratings:
    """The ratings of a pool that does not fall into parts."""
    ((_, ratings),) = rate_pools(*arguments, **options)
    return ratings


def wins(pairs: int) -> Outcomes:
    """A record of pairs won outright."""
    return 0, 0, 0, 0, pairs


def played_by_colour(elo: np.ndarray, advantage: float, pairs: int, seed: int) -> np.ndarray:
    """A simulated round robin told apart by colour, shape (n, n, 3, 3); no draws."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((len(elo), len(elo), 3, 3), dtype=int)
    for i, j in itertools.combinations(range(len(elo)), 2):
        chances = expected_score(elo[i] - elo[j] + np.array([advantage, -advantage]))
        won = 2 * (rng.random((pairs, 2)) < chances)
        np.add.at(counts[i, j], (won[:, 0], won[:, 1]), 1)
        counts[j, i] = counts[i, j].T[::-1, ::-1]
    return counts


def played(elo: np.ndarray, pairs: int, seed: int) -> np.ndarray:
    """The same by pairs, shape (n, n, 5)."""
    return pentanomial(played_by_colour(elo, 0, pairs, seed))


def test_every_rated_agent_expects_the_points_it_made() -> None:
    """The likelihood equations of the Bradley-Terry model, on an incomplete, uneven pool."""
    results: dict[tuple[int, int], Outcomes] = {(0, 1): (9, 0, 2, 0, 40), (1, 2): (3, 1, 0, 0, 1)}
    pairs = pool(4, results | {(2, 3): (5, 0, 7, 5, 900), (0, 2): (0, 1, 0, 0, 0)})
    elo = rate(pairs).elo
    expected = pairs.sum(axis=2) * expected_score(elo[:, None] - elo[None, :])
    made = pairs @ np.arange(5) / 4
    np.testing.assert_allclose(expected.sum(axis=1), made.sum(axis=1), atol=1e-6)


def test_names_and_colours_do_not_matter() -> None:
    """Renumbered agents keep their ratings; with all results reversed the ratings change sign."""
    pairs = played(np.array([200.0, 50.0, -50.0, -200.0]), pairs=20, seed=3)
    elo = rate(pairs).elo
    shuffle = np.array([2, 0, 3, 1])
    np.testing.assert_allclose(rate(pairs[np.ix_(shuffle, shuffle)]).elo, elo[shuffle], atol=1e-6)
    np.testing.assert_allclose(rate(pairs[:, :, ::-1]).elo, -elo, atol=1e-6)


def test_the_seed_decides_the_intervals() -> None:
    pairs = played(np.zeros(3), pairs=20, seed=4)
    one, same, other = rate(pairs, seed=5), rate(pairs, seed=5), rate(pairs, seed=6)
    assert (one.low == same.low).all() and (one.high == same.high).all()
    assert (one.low != other.low).any() and (one.elo == other.elo).all()


def test_an_evenly_split_pool_is_flagged_and_keeps_an_interval() -> None:
    """100 splits rule out a few per cent of other outcomes, not all of them."""
    ratings = rate(pool(3, {(i, j): (0, 0, 100, 0, 0) for i in range(3) for j in range(i + 1, 3)}))
    assert ratings.split.all()
    np.testing.assert_allclose(ratings.elo, 0, atol=1e-9)
    assert (ratings.low < -0.5).all() and (ratings.low > -10).all()
    mixed = rate(pool(3, {(0, 1): (0, 0, 9, 0, 0), (1, 2): (0, 1, 9, 0, 2)}))
    assert mixed.split.tolist() == [True, False, False]


def test_two_agents_one_of_whom_won_everything() -> None:
    """Clopper and Pearson's one-sided limit: 0.05^(1/100) points a pair, so 607 Elo apart."""
    ratings = rate(pool(2, {(0, 1): wins(100)}))
    assert ratings.bound == (">", "<")
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(elo_of_score(0.05**0.01), abs=1e-6)
    assert ratings.elo.sum() == pytest.approx(0, abs=1e-9)
    assert (ratings.low == ratings.elo).all() and (ratings.high == ratings.elo).all()


def test_perfect_agents_do_not_disturb_the_others() -> None:
    inner = played(np.array([100.0, 0.0, -100.0]), pairs=30, seed=7)
    outer = pool(5, {(3, j): wins(20) for j in (0, 1, 2, 4)} | {(j, 4): wins(9) for j in range(3)})
    outer[:3, :3] = inner
    alone, together = rate(inner), rate(outer)
    for name in ("elo", "low", "high"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(together, name)[:3])
    assert together.bound == ("", "", "", ">", "<")
    # the record that is just 5 % probable, over the rated opponents
    best = expected_score(together.elo[3] - together.elo[:3])
    worst = expected_score(together.elo[:3] - together.elo[4])
    assert [math.prod(best**20), math.prod(worst**9)] == pytest.approx([0.05, 0.05], abs=1e-6)
    assert together.order.tolist() == [3, 0, 1, 2, 4]


@pytest.mark.parametrize(
    ("agents", "rest", "bound"),
    [
        (4, {}, (">", ">", "<", "<")),
        (3, {}, (">", "", "<")),
        (4, {(2, 3): (4, 2, 3, 2, 5)}, (">", ">", "", "")),  # perfect once others are set aside
    ],
)
def test_layers_of_perfect_records(
    agents: int, rest: dict[tuple[int, int], Outcomes], bound: tuple[str, ...]
) -> None:
    """Each beats all that come after it, but for the rest."""
    every = dict.fromkeys(itertools.combinations(range(agents), 2), wins(10))
    ratings = rate(pool(agents, every | rest))
    assert ratings.bound == bound and ratings.order.tolist() == list(range(agents))
    assert (np.diff(ratings.elo) < 0).all()
    if not rest:
        np.testing.assert_allclose(ratings.elo, -ratings.elo[::-1], atol=1e-6)
    if agents == 3:
        assert ratings.elo[0] == pytest.approx(elo_of_score(0.05**0.1), abs=1e-6)


def test_one_group_always_beats_another() -> None:
    """The larger group is rated, the smaller shifted as a whole to its bound."""
    results = {(i, j): wins(10) for i in (0, 1) for j in (2, 3, 4)}
    results |= {(0, 1): (2, 0, 5, 0, 3), (2, 3): (1, 1, 1, 1, 2), (3, 4): (1, 1, 1, 1, 2)}
    ratings = rate(pool(5, results))
    assert ratings.bound == (">", ">", "", "", "")
    alone = rate(pool(2, {(0, 1): (2, 0, 5, 0, 3)}))
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(np.ptp(alone.elo), abs=1e-6)
    assert ratings.elo[1] > ratings.elo[2]
    assert ratings.elo[2:].mean() == pytest.approx(0, abs=1e-9)


def test_groups_linked_only_through_perfect_agents() -> None:
    """0 beats 1 and 2, which beat 3; 1 and 2 never met, nor did 0 and 3."""
    results = {(0, 1): wins(8), (0, 2): wins(8), (1, 3): wins(8), (2, 3): wins(8)}
    ratings = rate(pool(4, results))
    assert ratings.elo[0] > ratings.elo[1] == pytest.approx(ratings.elo[2], abs=1e-6)
    assert ratings.elo[2] > ratings.elo[3]
    assert all(ratings.bound)


def test_few_wins_prove_nothing_but_still_rank() -> None:
    """One pair won: the 95 % limit lies below the loser, yet the winner is listed first."""
    for winner in (0, 1):
        ratings = rate(pool(2, {(winner, 1 - winner): wins(1)}))
        assert ratings.bound[winner] == ">" and ratings.elo[winner] < 0
        assert ratings.order[0] == winner


def test_an_anchor_holds_the_scale() -> None:
    pairs = played(np.array([200.0, 0.0, -200.0]), pairs=50, seed=8)
    free, held = rate(pairs), rate(pairs, anchor=2)
    assert held.anchor == 2 and held.elo[2] == held.low[2] == held.high[2] == 0
    np.testing.assert_allclose(np.diff(held.elo), np.diff(free.elo), atol=1e-9)
    # the differences from the anchor are less certain than those from the mean
    assert (held.high - held.low > free.high - free.low)[:2].all()
    np.testing.assert_array_equal(held.superiority, free.superiority)


def test_two_agents_one_of_them_the_anchor_show_their_difference() -> None:
    counts = (5, 0, 40, 0, 55)
    ratings, alone = rate(pool(2, {(0, 1): counts}), anchor=1), match_statistics(counts)
    assert ratings.elo[0] == pytest.approx(elo_of_score(0.75))
    width = alone.elo_high - alone.elo_low
    assert ratings.high[0] - ratings.low[0] == pytest.approx(width, rel=0.1)


def test_an_anchor_without_a_rating_is_let_go() -> None:
    pairs = pool(3, {(0, 1): (9, 0, 2, 0, 9), (0, 2): wins(9), (1, 2): wins(9)})
    ratings = rate(pairs, anchor=2)
    assert ratings.anchor is None
    np.testing.assert_array_equal(ratings.elo, rate(pairs).elo)


def test_superiority_agrees_with_the_likelihood_of_superiority() -> None:
    """Two agents: the bootstrap's share is the LOS, which has a closed form."""
    for outcomes in ((10, 5, 30, 25, 30), (20, 5, 40, 5, 22), (5, 0, 90, 0, 4)):
        share = rate(pool(2, {(0, 1): outcomes}), replicates=20_000).superiority
        assert share[0, 1] + share[1, 0] == pytest.approx(1)
        assert share[0, 1] == pytest.approx(match_statistics(outcomes).los, abs=0.03)
        assert np.isnan(np.diag(share)).all()


def test_blacks_advantage_is_recovered_with_the_ratings() -> None:
    elo = np.array([150.0, 0.0, -150.0])
    told_apart = played_by_colour(elo, 80, pairs=3000, seed=9)
    ratings = rate(told_apart)
    assert ratings.advantage is not None
    low, best, high = ratings.advantage
    assert low < 80 < high and low < best < high < low + 20
    np.testing.assert_allclose(ratings.elo, elo, atol=12)
    # The likelihood equations: Black made the points that it was expected to make.
    gap = ratings.elo[:, None] - ratings.elo[None, :] + best
    made = told_apart.sum(axis=3) @ np.array([0, 0.5, 1])
    games = told_apart.sum(axis=(2, 3))
    assert (games * expected_score(gap)).sum() == pytest.approx(made.sum(), abs=1e-6)
    expected = games * expected_score(gap) + (games * (1 - expected_score(gap))).T
    scored = pentanomial(told_apart) @ np.arange(5) / 2
    np.testing.assert_allclose(expected.sum(axis=1), scored.sum(axis=1), atol=1e-6)


@pytest.mark.integration
def test_intervals_of_blacks_advantage_hold_it() -> None:
    held = 0
    for seed in range(100):
        told_apart = played_by_colour(np.array([50.0, -50.0]), 60, pairs=60, seed=seed)
        ratings = rate(told_apart, 200, seed)
        assert ratings.advantage is not None
        held += ratings.advantage[0] <= 60 <= ratings.advantage[2]
    assert 92 <= held <= 98


def test_an_advantage_that_cannot_be_told_leaves_the_ratings_as_they_are() -> None:
    """Black won everything; or all with Black and half with White, which has no maximum."""
    for cells in ({(2, 0): 9, (0, 0): 0}, {(2, 0): 5, (2, 2): 5}):
        told_apart = np.zeros((2, 2, 3, 3), dtype=int)
        for cell, count in cells.items():
            told_apart[0, 1][cell] = count
        told_apart[1, 0] = told_apart[0, 1].T[::-1, ::-1]
        pairs = pentanomial(told_apart)
        ratings = rate(told_apart)
        assert ratings.advantage is None
        np.testing.assert_array_equal(ratings.elo, rate(pairs).elo)


def test_results_by_colour_must_be_told_from_both_sides() -> None:
    told_apart = played_by_colour(np.array([200.0, 0.0]), 100, pairs=99, seed=1)
    wrong, other_colours = told_apart.copy(), told_apart.copy()
    wrong[0, 1, 0, 0] += 1
    other_colours[1, 0] = other_colours[1, 0].T
    for table in (wrong, other_colours):
        with pytest.raises(ValueError, match="backwards"):
            rate(table)


def by_opening(pairs: np.ndarray, openings: int) -> np.ndarray:
    """A table that each of so many openings gave."""
    return np.repeat(pairs[None], openings, axis=0)


def test_pairs_of_one_opening_are_one_result() -> None:
    """Whatever happened fifty times in each opening is no surer than what happened once."""
    order, pair = np.random.default_rng(1), np.array([0, 0, 0, 0, 1])
    single = np.stack([pool(2, {(0, 1): tuple(order.permutation(pair))}) for _ in range(40)])
    apart, once, often = rate(single.sum(axis=0)), rate(single), rate(50 * single)
    np.testing.assert_allclose(apart.elo, often.elo)
    for one in (apart, often):
        np.testing.assert_allclose(one.high - one.low, once.high - once.low, rtol=0.1)
    careless = rate(50 * single.sum(axis=0))
    assert (careless.high - careless.low < 0.2 * (once.high - once.low)).all()


def test_tables_may_be_told_once_with_their_number() -> None:
    two = np.stack([pool(2, {(0, 1): (0, 0, 1, 0, 0)}), pool(2, {(0, 1): wins(1)})])
    numbered = rate(two, times=[30, 10])
    repeated = rate(np.repeat(two, [30, 10], axis=0))
    np.testing.assert_allclose(numbered.elo, repeated.elo)
    np.testing.assert_allclose(numbered.high - numbered.low, repeated.high - repeated.low, rtol=0.1)
    for times in ([30], [30, 0], [1, 1, 1]):
        with pytest.raises(ValueError, match="times"):
            rate(two, times=times)
    with pytest.raises(ValueError, match="times"):
        rate(two[0], times=[3])


def test_an_opening_suits_an_agent_against_everybody() -> None:
    """The first agent wins all its games of every second opening and loses those of the others:
    against four or against one, that is as much evidence."""
    results = [{(0, j): one for j in range(1, 5)} for one in (wins(1), (1, 0, 0, 0, 0))]
    others = {(i, j): (0, 0, 1, 0, 0) for i in range(1, 5) for j in range(i + 1, 5)}
    shared = np.stack([pool(5, suited | others) for suited in results * 10])
    aware, careless = rate(shared), rate(shared.sum(axis=0))
    assert aware.elo == pytest.approx(careless.elo)
    width = aware.high - aware.low, careless.high - careless.low
    assert width[0][0] > 1.7 * width[1][0]  # of four times as many pairs half the width


def test_one_opening_has_no_interval() -> None:
    table = pool(3, dict.fromkeys([(0, 1), (1, 2), (0, 2)], (0, 0, 0, 1, 0)))
    ratings = rate(table[None])
    assert ratings.elo[0] > 0
    assert np.isnan([ratings.low, ratings.high]).all() and np.isnan(ratings.superiority).all()
    three, many = (rate(by_opening(table, openings)) for openings in (3, 100))
    assert (three.high - three.low > 200).all() and (many.high - many.low < 100).all()
    assert 0.5 < three.superiority[0, 2] < 0.975


def test_a_perfect_record_counts_openings() -> None:
    """Three agents, two of them equal, whom the first always beats: 20 pairs from 10 openings."""
    table = pool(3, {(0, 1): wins(1), (0, 2): wins(1), (1, 2): (0, 0, 1, 0, 0)})
    ratings, apart = rate(by_opening(table, 10)), rate(10 * table)
    assert ratings.bound == (">", "", "")
    assert expected_score(ratings.elo[0]) == pytest.approx(0.05 ** (1 / 10))
    assert expected_score(apart.elo[0]) == pytest.approx(0.05 ** (1 / 20))


def test_agents_of_one_strategy_are_rated_as_one() -> None:
    ladder, rng = np.array([100.0, 0.0, -100.0]), np.random.default_rng(2)
    tables = np.stack([played(ladder, 1, rng.integers(99)) for _ in range(30)])
    plays = [1, 0, 1, 2, 1]
    ((members, ratings),) = rate_pools(tables, strategies=plays, anchor=3)
    assert members.tolist() == [0, 1, 2, 3, 4]
    anchored = rate(tables, anchor=2)
    np.testing.assert_array_equal(ratings.elo, anchored.elo[plays])
    np.testing.assert_array_equal(ratings.low, anchored.low[plays])
    assert (ratings.anchor, ratings.strategy.tolist()) == (3, plays)
    assert ratings.superiority[0, 2] == ratings.superiority[4, 0] == 0.5
    assert ratings.superiority[1, 4] == rate(tables).superiority[0, 1]
    assert np.isnan(np.diag(ratings.superiority)).all()
    assert ratings.order.tolist() == [1, 0, 2, 4, 3]


def test_agents_that_met_nobody_but_their_own_strategy() -> None:
    none = np.zeros((1, 1, 1, 5), dtype=int)
    ((members, ratings),) = rate_pools(none, strategies=[0, 0], anchor=1)
    assert members.tolist() == [0, 1] and ratings.anchor is None
    assert ratings.split.all() and ratings.elo.tolist() == [0, 0]
    assert ratings.superiority[0, 1] == 0.5


def test_a_pool_in_parts_is_rated_in_parts() -> None:
    table = np.zeros((6, 6, 5), dtype=int)
    one, other = np.array([0, 3, 5]), np.array([1, 4])
    three, two = played(np.array([100.0, 0.0, -100.0]), 30, 1), pool(2, {(0, 1): (3, 0, 9, 0, 1)})
    table[np.ix_(one, one)], table[np.ix_(other, other)] = three, two
    parts = rate_pools(table, anchor=4)
    assert [members.tolist() for members, _ in parts] == [[0, 3, 5], [1, 4]]  # 2 met nobody
    np.testing.assert_array_equal(parts[0][1].elo, rate(three).elo)
    np.testing.assert_array_equal(parts[1][1].elo, rate(two, anchor=1).elo)
    assert [ratings.anchor for _, ratings in parts] == [None, 1]


NOTHING = pool(2, {})


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (pool(4, {(0, 1): wins(2), (2, 3): (1, 1, 1, 1, 1)}), "4 agents in 2 parts"),
        (pool(3, {(0, 1): wins(2)}), "3 agents in 2 parts"),
        (pool(1, {}), "1 agents"),
        (NOTHING[..., 0], "shape"),
        (NOTHING[..., :3], "shape"),
        (NOTHING.astype(float), "whole numbers"),
        (pool(2, {(0, 1): (0, 0, -1, 0, 0)}), "negative"),
        (np.ones((2, 2, 5), dtype=int), "itself"),
        (np.array([[[0] * 5, [1, 0, 0, 0, 0]], [[1, 0, 0, 0, 0], [0] * 5]]), "backwards"),
    ],
)
def test_tables_that_are_no_pool_are_refused(pairs: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rate_contrasts(pairs, np.zeros((1, len(pairs))))


def test_score_matrix_leaves_blank_who_never_met() -> None:
    scores = score_matrix(pool(3, {(0, 1): (1, 0, 2, 0, 5), (1, 2): wins(3)}))
    nan = math.nan
    np.testing.assert_array_equal(scores, [[nan, 0.75, nan], [0.25, nan, 1], [nan, 0, nan]])


def check(ratings: Ratings) -> None:
    """What holds for every pool: finite numbers in order, and an anchor."""
    elo, known = ratings.elo, ~np.isnan(ratings.low)  # of one opening no interval is told
    low, high = ratings.low[known], ratings.high[known]
    assert np.isfinite(elo).all() and np.isfinite(low).all() and np.isfinite(high).all()
    assert (low <= elo[known]).all() and (elo[known] <= high).all()
    rated = np.array([bound == "" for bound in ratings.bound])
    assert set(ratings.bound) <= {"", ">", "<"}
    assert abs((elo[rated] if rated.any() else elo).mean()) < 1e-6
    assert sorted(ratings.order) == list(range(len(elo)))


@pytest.mark.integration
@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.booleans(), st.data())
def test_any_connected_pool_has_finite_ratings(
    agents: int, perfect: bool, data: st.DataObject
) -> None:
    """Of any counts, or only of won and lost pairings, so that layers, cycles and chains of all
    kinds appear."""
    few = [(0, 0, 0, 0, 0), wins(1), wins(40), (3, 0, 0, 0, 0), (1, 0, 0, 0, 1)]
    count = st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 1_000_000))
    outcomes = st.sampled_from(few) if perfect else st.tuples(*[count] * 5)
    results = {(i, j): data.draw(outcomes) for j in range(agents) for i in range(j)}
    results |= {(j - 1, j): data.draw(outcomes.filter(any)) for j in range(1, agents)}
    check(rate(pool(agents, results), replicates=100))


def test_a_contrast_of_two_is_their_difference() -> None:
    pairs = pool(3, {(0, 1): (5, 0, 40, 0, 55), (1, 2): (10, 10, 30, 20, 30)})
    ratings = rate(pairs, anchor=1)
    ends = np.stack(rate_contrasts(pairs, [[1, -1, 0], [-1, 1, 0], [1, 0, -1]]), axis=1)
    (value, low, high), turned, third = ends.tolist()
    assert value == pytest.approx(ratings.elo[0])
    assert [low, high] == pytest.approx([ratings.low[0], ratings.high[0]], rel=0.02)
    assert turned == pytest.approx([-value, -high, -low], rel=0.02)
    assert third[2] - third[1] > high - low


def test_a_contrast_with_a_perfect_record_is_unknown() -> None:
    pairs = pool(3, {(0, 1): wins(20), (1, 2): (5, 0, 20, 0, 20)})
    value, low, high = rate_contrasts(pairs, [[1, -1, 0], [0, 1, -1]])
    assert np.isnan([value[0], low[0], high[0]]).all()
    assert low[1] < value[1] < high[1]


@pytest.mark.parametrize("weights", [[[1, 1, -2]], [[1, 0]], [1, -1]])
def test_weights_that_are_no_contrast_are_refused(weights: list) -> None:
    with pytest.raises(ValueError, match="add up"):
        rate_contrasts(pool(2, {(0, 1): (5, 0, 40, 0, 55)}), weights)
