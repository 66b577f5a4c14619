"""Schedules are fair, and a schedule of one's own plays like those of the lab."""

from __future__ import annotations

import inspect
import textwrap
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from records import content
from runs import played

from othello_lab import RULESETS
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.pairing import Gauntlet, RoundRobin, Schedule
from othello_lab.experiments.pairing.ladder import Ladder
from othello_lab.experiments.pairing.openings import Opening, RandomOpenings
from othello_lab.experiments.pairing.schedule import Pair, PairOutcome, PairOutcomes, PairQueue

NAMES = ["a", "b", "c", "d"]


def some(count: int, seed: int = 1) -> list[Opening]:
    return RandomOpenings(plies=8).find(count, RULESETS["standard"], seed)


def all_pairs(
    schedule: Schedule, openings: list[Opening], names: list[str] = NAMES, seed: int = 7
) -> list[Pair]:
    return PairQueue(schedule, names, openings, seed).take(10_000)


def test_round_robin_is_fair() -> None:
    pairs = all_pairs(RoundRobin(), some(5))
    assert len(pairs) == RoundRobin().length(NAMES, 5) == 30
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
    few, many = some(2), some(9, seed=2)
    short, long = (all_pairs(RoundRobin(), openings, NAMES[:2]) for openings in (few, many))
    for a, b in zip(short, long, strict=False):
        assert [game.seed for game in a] == [game.seed for game in b]
    assert short[0][0].seed != all_pairs(RoundRobin(), few, NAMES[:2], 8)[0][0].seed


def test_in_a_gauntlet_one_meets_all_others() -> None:
    pairs = all_pairs(Gauntlet("c"), some(3))
    assert [(pair[0].black, pair[0].white) for pair in pairs[:3]] == [(2, 0), (2, 1), (2, 3)]
    assert [pair[0].pair for pair in pairs] == list(range(9))
    assert all(2 in (game.black, game.white) for pair in pairs for game in pair)
    assert all_pairs(Gauntlet(), some(1))[0][0].black == 0


def test_climbers_meet_rungs_of_their_strength() -> None:
    """c wins all pairs, d loses all."""
    ladder, results = Ladder(3), PairOutcomes()
    met = []
    for number in range(4):
        pairings = ladder.pairings(number, ["1", "2", "3", "c", "d"], results)
        met.append(pairings)
        for first, second in pairings:
            points = {3: 2, 4: 0}.get(first, 1)
            results.add(PairOutcome(first, second, points, ("x", "y")))
    assert all(pairings[:2] == [(0, 1), (1, 2)] for pairings in met)
    assert [pairings[2:] for pairings in met] == [[(3, 1), (4, 1)], *3 * [[(3, 2), (4, 0)]]]


def test_pairs_are_handed_out_a_few_at_a_time_and_played_ones_left_out() -> None:
    openings = some(5)
    draw = PairQueue(RoundRobin(), NAMES, openings, 7)
    draw.skip({0, 7, 29})
    taken = []
    while pairs := draw.take(4):
        assert len(pairs) <= 4
        taken += pairs
    every = all_pairs(RoundRobin(), openings)
    assert taken == [pair for pair in every if pair[0].pair not in (0, 7, 29)]


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command line of the cup in the docstring of Schedule, in files outside the repository."""
    blocks = inspect.getdoc(Schedule).split("::\n\n")
    (source,) = (block.split("\n\n``")[0] for block in blocks if "class Cup" in block)
    (tmp_path / "cup.py").write_text(textwrap.dedent(source), encoding="utf-8")
    (tmp_path / "conf" / "schedule").mkdir(parents=True)
    (tmp_path / "conf" / "schedule" / "cup.yaml").write_text(
        "# Half of the agents are out after each round\n_target_: cup.Cup\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    agents = "agents=classics", "~agents.alphabeta_5", "~agents.minimax_2"
    return ["schedule=cup", *agents, "games=6"]


@pytest.mark.integration
def test_a_schedule_from_outside_plays_the_same_games_on_any_number_of_workers(
    cup: list[str], tmp_path: Path
) -> None:
    folders = [tmp_path / "conf"]
    records = []
    for executor in ("executor=serial", "executor.workers=1", "executor.workers=3"):
        result = played(tmp_path / "results", *cup, executor, folders=folders)
        assert result.complete
        records.append(content(result.folder))
    assert records[0] == records[1] == records[2]
    met = [(black, white) for _, _, black, white, *_ in records[0]["games"][::2]]
    assert len(met) == read(cup, folders).pairs == 3
    assert met[:2] == [(0, 1), (2, 3)]  # random - greedy, weighted - alphabeta_3
    winners = set()
    for one, other in zip(records[0]["games"][0:4:2], records[0]["games"][1:4:2], strict=True):
        points = one[5] + 1 - other[5]
        winners.add(one[2] if points >= 1 else one[3])
    assert set(met[2]) == winners


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["schedule._target_=othello_lab.RandomAgent"], "othello_lab.RandomAgent is no .*Schedule"),
        (["schedule=sprt"], "two agents; .*4"),
        (["schedule=gauntlet", "schedule.champion=nobody"], "'nobody'; choose from ran"),
    ],
)
def test_what_is_no_schedule_is_refused(words: list[str], complaint: str) -> None:
    line_up = ["agents=classics", "~agents.alphabeta_5", "~agents.minimax_2"]
    with pytest.raises(ConfigError, match=f"^schedule: .*{complaint}"):
        read([*line_up, *words])
