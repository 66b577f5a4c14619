"""Schedules are fair."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from core import RULESETS
from experiments.pairing.openings import random_openings
from experiments.pairing.schedule import gauntlet, round_robin, schedule


def test_round_robin_is_fair() -> None:
    openings = random_openings(5, 8, RULESETS["standard"], 1)
    pairs = list(schedule(round_robin(4), openings, seed=7))
    assert len(pairs) == 30
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
    pairings = round_robin(2)
    short, long = list(schedule(pairings, few, 7)), list(schedule(pairings, many, 7))
    for a, b in zip(short, long, strict=False):
        assert [game.seed for game in a] == [game.seed for game in b]
    assert short[0][0].seed != next(schedule(pairings, few, 8))[0].seed


def test_in_a_gauntlet_one_meets_all_others() -> None:
    assert gauntlet(4, 2) == [(2, 0), (2, 1), (2, 3)]
    openings = random_openings(3, 8, RULESETS["standard"], 1)
    pairs = list(schedule(gauntlet(4, 2), openings, seed=7))
    assert [pair[0].pair for pair in pairs] == list(range(9))
    assert all(2 in (game.black, game.white) for pair in pairs for game in pair)
