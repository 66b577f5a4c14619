"""Schedules are fair, and a schedule of one's own plays like those of the lab."""

from __future__ import annotations

import inspect
import textwrap
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from records import content
from rich.console import Console

from othello_lab import RULESETS, resume
from othello_lab.agents.config import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.pairing import Gauntlet, RoundRobin, Schedule
from othello_lab.experiments.pairing.ladder import Ladder
from othello_lab.experiments.pairing.openings import Opening, RandomOpenings
from othello_lab.experiments.pairing.schedule import Pair, PairDraw, PairOutcome, PairOutcomes

QUIET = Console(quiet=True)
NAMES = ["a", "b", "c", "d"]


def all_pairs(
    schedule: Schedule, names: list[str], openings: list[Opening], seed: int
) -> list[Pair]:
    return PairDraw(schedule, names, openings, seed).take(10_000)


def test_round_robin_is_fair() -> None:
    openings = RandomOpenings(plies=8).find(5, RULESETS["standard"], 1)
    pairs = all_pairs(RoundRobin(), NAMES, openings, seed=7)
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
    few = RandomOpenings(plies=8).find(2, RULESETS["standard"], 1)
    many = RandomOpenings(plies=8).find(9, RULESETS["standard"], 2)
    short, long = (all_pairs(RoundRobin(), NAMES[:2], openings, 7) for openings in (few, many))
    for a, b in zip(short, long, strict=False):
        assert [game.seed for game in a] == [game.seed for game in b]
    assert short[0][0].seed != all_pairs(RoundRobin(), NAMES[:2], few, 8)[0][0].seed


def test_in_a_gauntlet_one_meets_all_others() -> None:
    openings = RandomOpenings(plies=8).find(3, RULESETS["standard"], 1)
    pairs = all_pairs(Gauntlet("c"), NAMES, openings, seed=7)
    assert [(pair[0].black, pair[0].white) for pair in pairs[:3]] == [(2, 0), (2, 1), (2, 3)]
    assert [pair[0].pair for pair in pairs] == list(range(9))
    assert all(2 in (game.black, game.white) for pair in pairs for game in pair)
    assert all_pairs(Gauntlet(), NAMES, openings[:1], 7)[0][0].black == 0


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
    openings = RandomOpenings(plies=8).find(5, RULESETS["standard"], 1)
    draw = PairDraw(RoundRobin(), NAMES, openings, 7)
    draw.skip({0, 7, 29})
    taken = []
    while some := draw.take(4):
        assert len(some) <= 4
        taken += some
    every = all_pairs(RoundRobin(), NAMES, openings, 7)
    assert taken == [pair for pair in every if pair[0].pair not in (0, 7, 29)]


# ---------------------------------------------------------------------- a schedule of one's own


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command line of the cup in the docstring of Schedule, in files outside the repository."""
    blocks = inspect.getdoc(Schedule).split("::\n\n")
    (source,) = (block.split("\n\n``")[0] for block in blocks if "class Cup" in block)
    (tmp_path / "cup.py").write_text(textwrap.dedent(source), encoding="utf-8")
    (tmp_path / "conf" / "schedule").mkdir(parents=True)
    (tmp_path / "conf" / "schedule" / "cup.yaml").write_text(
        "# Half of the agents are out after each round\n_target_: cup.Cup\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["schedule=cup", "agents=classics", "~agents.alphabeta_5", "~agents.minimax_2"]
    return [*words, "games=6", "figures=false", f"results={tmp_path / 'results'}"]


@pytest.mark.integration
def test_a_schedule_from_outside_plays_the_same_games_on_any_number_of_workers(
    cup: list[str], tmp_path: Path
) -> None:
    records = []
    for executor in (["executor=serial"], ["executor.workers=1"], ["executor.workers=3"]):
        plan = read([*cup, *executor], [tmp_path / "conf"])
        result = run(plan, "test", QUIET)
        assert result.complete
        records.append(content(result.folder))
    assert records[0] == records[1] == records[2]
    met = [(black, white) for _, _, black, white, *_ in records[0]["games"][::2]]
    assert len(met) == plan.pairs == 3
    assert met[:2] == [(0, 1), (2, 3)]  # random - greedy, weighted - alphabeta_3
    winners = set()
    for one, other in zip(records[0]["games"][0:4:2], records[0]["games"][1:4:2], strict=True):
        points = one[5] + 1 - other[5]
        winners.add(one[2] if points >= 1 else one[3])
    assert set(met[2]) == winners


def only(
    pairs: int, take: Callable[[PairDraw, int], list[Pair]]
) -> Callable[[PairDraw, int], list[Pair]]:
    """``take``, but for so many pairs alone."""
    left = iter(range(pairs))
    return lambda draw, most: take(draw, most) if next(left, None) is not None else []


@pytest.mark.integration
def test_a_schedule_from_outside_is_resumed(
    cup: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after each number of pairs, also before the final is known."""
    words = [*cup, "executor=serial"]
    whole = content(run(read(words, [tmp_path / "conf"]), "test", QUIET).folder)
    for pairs in (1, 2):
        plan = read(words, [tmp_path / "conf"])
        with monkeypatch.context() as patched:
            patched.setattr(PairDraw, "take", only(pairs, PairDraw.take))
            stopped = run(plan, "test", QUIET)
        assert not stopped.complete
        assert len(content(stopped.folder)["games"]) == 2 * pairs
        resumed = resume(stopped.folder, console=QUIET, trust=True)
        assert resumed.complete
        assert content(resumed.folder) == whole


def test_what_is_no_schedule_is_refused(cup: list[str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"schedule: othello_lab.RandomAgent is no .*Schedule"):
        read([*cup, "schedule._target_=othello_lab.RandomAgent"], [tmp_path / "conf"])
    with pytest.raises(ConfigError, match=r"schedule: a sequential test needs two agents; .* 4"):
        read([*cup[1:], "schedule=sprt"])
    with pytest.raises(ConfigError, match="schedule: unknown champion 'nobody'; choose from ran"):
        read([*cup[1:], "schedule=gauntlet", "schedule.champion=nobody"])
