"""Openings are legal, distinct and reproducible; schedules are fair."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from agents.config import ConfigError
from core import RULESETS, Ruleset
from experiments.openings import random_openings
from experiments.schedule import pairs_in_round_robin, round_robin


@pytest.mark.parametrize("rules", RULESETS.values(), ids=RULESETS)
def test_openings_are_legal_and_distinct_up_to_symmetry(rules: Ruleset) -> None:
    count, plies = (200, 8) if rules.side == 8 else (30, 6)
    openings = random_openings(count, plies, rules, seed=3)
    reached = [opening.reach(rules) for opening in openings]
    assert all(len(opening.moves) == plies for opening in openings)
    assert not any(position.is_over for position in reached)
    assert len({position.canonical() for position in reached}) == count


def test_openings_come_from_the_seed_and_longer_lists_begin_alike() -> None:
    rules = RULESETS["standard"]
    assert random_openings(50, 8, rules, 1) == random_openings(80, 8, rules, 1)[:50]
    assert random_openings(50, 8, rules, 1) != random_openings(50, 8, rules, 2)


def test_too_many_openings_are_refused_with_the_number_there_is() -> None:
    rules = RULESETS["standard"]
    # One start; one first move and three second ones up to symmetry.
    for plies, there_are in ((0, 1), (1, 1), (2, 3)):
        assert len(random_openings(there_are, plies, rules, 1)) == there_are
        with pytest.raises(ConfigError, match=rf"only {there_are} distinct openings"):
            random_openings(there_are + 1, plies, rules, 1)


def test_round_robin_is_fair() -> None:
    openings = random_openings(5, 8, RULESETS["standard"], 1)
    pairs = list(round_robin(4, openings, seed=7))
    assert len(pairs) == pairs_in_round_robin(4, 5) == 30
    games = [game for pair in pairs for game in pair]
    assert [game.number for game in games] == list(range(60))
    for one, other in pairs:
        assert (one.black, one.white) == (other.white, other.black)
        assert one.opening == other.opening
        assert one.pair == other.pair
    met = Counter((pair[0].opening, frozenset((pair[0].black, pair[0].white))) for pair in pairs)
    assert set(met.values()) == {1}
    assert {agents for _, agents in met} == {frozenset(p) for p in combinations(range(4), 2)}
    seeds = [game.seed for game in games]
    assert all(seed % 2 == 0 and 0 <= seed < 2**63 for seed in seeds)
    assert len(set(seeds)) == 60


def test_a_games_seed_depends_on_the_runs_seed_and_its_pair_alone() -> None:
    few = random_openings(2, 8, RULESETS["standard"], 1)
    many = random_openings(9, 8, RULESETS["standard"], 2)
    short, long = list(round_robin(2, few, 7)), list(round_robin(2, many, 7))
    for a, b in zip(short, long, strict=False):
        assert [game.seed for game in a] == [game.seed for game in b]
    assert short[0][0].seed != next(round_robin(2, few, 8))[0].seed
