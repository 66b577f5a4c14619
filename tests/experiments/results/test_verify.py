"""``verify`` believes what is true, and finds what is not."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from chosen import mostly_nightly
from runs import DUEL, changed, played, told
from shared import copied

from othello_lab import RULESETS, AlphaBeta, DiscCount, Limits, Minimax
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import GameRow
from othello_lab.experiments.results.verify.independent import (
    Deadline,
    plain_decisions,
    plain_search,
)
from othello_lab.experiments.results.verify.verify_command import RecordVerification

SEARCHES = ("agents=ab_vs_minimax", "depth=2", "games=6", "openings.plies=9")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("honest"), *SEARCHES, "seed=4").folder


def findings(
    folder: Path, games: int = 0, decisions: int = 0, again: bool = False, plainly: bool = False
) -> list[str]:
    """What a verification in this process finds, each with its check before it.

    games, decisions: how many are played again or repeated. plainly: without kernels.
    """
    with reading(folder) as record:
        verification = RecordVerification(record, trust=False, independent=plainly)
        verification.read()
        if games or decisions or again:
            verification.again(games, decisions, 600, seed=1)
        if plainly:
            verification.independently(600, seed=1)
    checks = verification.checks
    found = [f"{name}: {said}" for name, check in checks.items() for said in check.found]
    assert verification.holds == (not found)
    return found


@pytest.mark.integration
def test_what_is_true_holds(honest: Path) -> None:
    printed = told("verify", honest)
    assert printed.endswith("all of this holds; all 6 games replayed")
    printed = told("verify", honest, "--seconds", "0.0001")
    assert " of 6 games replayed (if one were false, " in printed
    assert " moves of other games asked again (if one were false, " in printed


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        ["ruleset=wpi", "games=8", "schedule=sprt"],
        ["ruleset=mini4", "games=4", "openings.plies=2", "evaluation=disc_count"],
        ["games=4", "openings=start", "openings.repeats=true"],
        ["games=4", "schedule=gauntlet", "limits.nodes=50"],
    ],
)
def test_runs_of_all_kinds_hold(tmp_path: Path, words: list[str]) -> None:
    told("verify", played(tmp_path, "agents=ab_vs_minimax", "depth=2", *words).folder)


KINDS = ["Raises", "Illegal", "Garbage", "Slow"]


@pytest.mark.integration
@pytest.mark.parametrize("how", mostly_nightly(KINDS, ["Illegal"]))
def test_forfeits_hold(tmp_path: Path, how: str) -> None:
    words = [*DUEL, "games=4", f"second._target_=misbehaving.{how}", "+second.after=20"]
    printed = told("verify", played(tmp_path, *words, "limits.seconds=0.15").folder)
    assert f"from outside the lab, --trust runs it: agents.random: misbehaving.{how}" in printed


WINNER = "result = case result when 'black' then 'white' else 'black' end"
OF_GAME_2 = {  # what is changed in the record, and the check that finds it
    "transcript = (select transcript from games where game = 0)": "transcripts",
    "transcript = substr(transcript, 1, 60)": "results",
    f"{WINNER}, black_points = 1 - black_points": "results",
    "black_points = 0.25": "results",
    "black_discs = black_discs + 1": "results",
    "disc_difference = 64": "results",
    "end_reason = 'time exceeded'": "results",
    "detail = 'bored'": "results",
    "end_reason = 'bored'": "results",
    "seed = seed + 2": "schedule",
    "black = white, white = black": "pairs",
}
OF_PLY_30 = {
    "agent = 1 - agent": "moves",
    "square = 0": "moves",
    "late = 2": "moves",
    "late = 7": "counts",
    "nodes = -1": "counts",
    "first_move_cutoffs = cutoffs + 1": "counts",
    "leaves = null": "counts",
}
GONE = "delete from moves where game"
LIES = {
    **{f"update games set {lie} where game = 2": check for lie, check in OF_GAME_2.items()},
    **{
        f"update moves set {lie} where game = 2 and ply = 30": check
        for lie, check in OF_PLY_30.items()
    },
    f"{GONE} = 2 and ply = 30": "moves",
    "update games set pair = 9, game = game + 14 where pair = 2; "
    "update moves set game = game + 14 where game in (4, 5)": "schedule",
    f"delete from games where pair = 2; {GONE} in (4, 5)": "schedule",  # complete too soon
    f"delete from games where game = 2; {GONE} = 2": "pairs",
    "insert into skipped values (1, 'no reason')": "pairs",
    "update run set seed = 99": "settings",
    "update agents set config = json_set(config, '$.depth', 9) where agent = 1": "settings",
    "update openings set text = 'd3c3c4' where number = 0": "settings",
}


@pytest.mark.integration
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found(honest: Path, tmp_path: Path, lie: str) -> None:
    found = findings(changed(copied(honest, tmp_path), *lie.split("; ")))
    assert any(said.startswith(f"{LIES[lie]}: ") for said in found), found


@pytest.mark.integration
@pytest.mark.parametrize(
    ("flag", "wrong"), [("reproducible", 0), ("reproducible", 1), ("selective", 1)]
)
def test_a_wrong_flag_of_an_agent_is_found(
    flag: str, wrong: int, honest: Path, tmp_path: Path
) -> None:
    lie = f"update agents set {flag} = {wrong} where agent = 1"
    found = findings(changed(copied(honest, tmp_path), lie), again=True)
    right = (flag, wrong) == ("reproducible", 1)
    assert any(said.startswith("settings: agent ") and flag in said for said in found) != right


@pytest.mark.parametrize("count", ["nodes = nodes + 1", "value = value - 1", "made = made + 1"])
@pytest.mark.integration
def test_games_are_played_and_decisions_made_again(
    count: str, honest: Path, tmp_path: Path
) -> None:
    """All games unless told otherwise, and all decisions of those that are not."""
    folder = changed(copied(honest, tmp_path), f"update moves set {count} where ply in (20, 30)")
    assert findings(folder) == []
    name = count.split()[0]
    found = findings(folder, games=6)
    assert len(found) == 6
    assert all(
        said.startswith(f"played again: game {game}: ply 20: {name} is ")
        for game, said in enumerate(sorted(found))
    )
    found = findings(folder, games=2, decisions=1000)
    assert sum(said.startswith("played again: game ") for said in found) == 2
    assert sum(said.startswith("asked again: game ") for said in found) == 4 * 2
    assert all(f"{name} is " in said for said in found)


@pytest.mark.integration
def test_lies_are_told_with_the_extent_of_the_sample(honest: Path, tmp_path: Path) -> None:
    folder = changed(copied(honest, tmp_path), "update moves set nodes = nodes + 1 where ply = 30")
    none = ["--games", "0", "--decisions", "0"]
    told("verify", folder, *none)
    printed = told("verify", folder, *none, "--games", "2", "--seed", "3", code=1)
    assert printed.count("played again: game") == 2 and "2 wrong" in printed
    assert "2 of 6 games replayed (if one were false, " in printed
    assert "33 % probability" in printed


def test_a_table_that_is_not_of_these_games_is_found(honest: Path, tmp_path: Path) -> None:
    path = copied(honest, tmp_path) / "matches.csv"
    path.write_text(path.read_text().replace(",6,", ",7,", 1))
    (found,) = findings(path.parent)
    assert found.startswith("totals: matches.csv")


OTHER_VERSION = "update run set versions = json_set(versions, '$.numba', '0.1')"


def test_what_was_played_by_another_version_is_not_played_again(
    honest: Path, tmp_path: Path
) -> None:
    folder = changed(copied(honest, tmp_path), OTHER_VERSION)
    assert "not done: numba 0.1 ->" in told("verify", folder)


@pytest.mark.integration
def test_code_from_outside_runs_where_that_is_asked_for_and_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "from othello_lab import RandomAgent\n\n\nclass Told(RandomAgent):\n    pass\n"
    (tmp_path / "told_elsewhere.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    words = [*DUEL, "games=4", "second._target_=told_elsewhere.Told"]
    folder = played(tmp_path, *words).folder
    printed = told("verify", folder)
    assert "--trust runs it: agents.random: told_elsewhere.Told" in printed
    printed = told("verify", folder, "--trust")
    assert "from outside" not in printed
    assert "played again yes 4 games" in printed
    assert "told_elsewhere" not in sys.modules


@pytest.mark.integration
def test_totals_of_games_without_moves_are_played_again(tmp_path: Path) -> None:
    folder = played(tmp_path, *SEARCHES, "games=2", "record=games").folder
    assert findings(folder, games=2) == []
    changed(folder, "update games set white_evaluations = white_evaluations + 1 where game = 1")
    (found,) = findings(folder, games=2)
    assert found.startswith("played again: game 1: white_evaluations is ")


@pytest.fixture(scope="module")
def plainly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which nothing can be played again, as its versions are others."""
    words = (
        "agents=duel agent@first=minimax agent@second=alphabeta evaluation=disc_count "
        "first.depth=2 second.depth=3 second.table_mb=1 second.iterative=true second.endgame=5 "
        "ruleset=mini6 games=4 openings.plies=11 seed=2"
    )
    folder = played(tmp_path_factory.mktemp("plainly"), *words.split()).folder
    return changed(folder, OTHER_VERSION)


@pytest.mark.integration
def test_plain_python_checks_all_games_and_decisions(plainly: Path) -> None:
    printed = told("verify", plainly, "--independent", "--seconds", "600")
    assert "0 of 4 games replayed (if one were false, this check would find it with 0 %" in printed
    assert "all 4 games checked by the plain rules; all " in printed
    assert printed.endswith(" moves checked by plain searches")


END = "(select max(ply) from moves where game = 1)"
VALUE = "update moves set value = value +"
PLAIN_LIES = {
    **{sql: "plain rules" for sql in LIES if "transcript" in sql or "discs" in sql},
    "update moves set square = 0 where game = 2 and ply = 20": "plain rules",
    "update moves set nodes = nodes + 1 where agent = 0": "plain search",
    "update moves set made = made + 1 where agent = 0": "plain search",
    f"{VALUE} 1 where agent = 0": "plain search",
    # one of these is alpha-beta's, and the solver's
    f"{VALUE} 1 where game = 1 and ply in (14, 15)": "plain search",
    f"{VALUE} 33554432 where game = 1 and ply in ({END} - 3, {END} - 2)": "plain search",
    "update moves set depth = 2 where agent = 1 and ply between 14 and 16": "plain search",
    "update games set black = white, white = black; "
    "update moves set agent = 1 - agent": "plain search",
}


@pytest.mark.integration
@pytest.mark.parametrize("lie", PLAIN_LIES)
def test_plain_python_finds_a_lie(plainly: Path, tmp_path: Path, lie: str) -> None:
    found = findings(changed(copied(plainly, tmp_path), *lie.split("; ")), plainly=True)
    assert any(said.startswith(f"{PLAIN_LIES[lie]}: game ") for said in found), found


def test_another_move_than_the_agents_is_found_by_plain_search(plainly: Path) -> None:
    """By minimax's twin always, by the others where it is worth less."""
    searches = [
        Minimax(2, DiscCount()),
        AlphaBeta(3, DiscCount(), table_mb=1, iterative=True, endgame=5),
    ]
    agents = dict(enumerate(map(plain_search, searches)))
    with reading(plainly) as record:
        rows = record.turns(0)
        game = GameRow._make(record.rows("select * from games where game = 0")[0])
    found = set()
    for decision in plain_decisions(game, rows, agents, Limits(), RULESETS["mini6"]):
        assert decision.differences(Deadline(600)) == []
        for move in set(decision.position.moves) - {decision.row.square}:
            another = replace(decision, row=decision.row._replace(square=move))
            wrong = another.differences(Deadline(600))
            assert wrong or decision.row.agent
            if wrong:
                found.add((decision.row.agent, decision.solved))
    assert found >= {(0, False), (1, False), (1, True)}


NO_KERNEL = """
import gc, sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from othello_lab.core import bitboard
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.results.verify.verify_command import RecordVerification

with reading(Path(sys.argv[1])) as record:
    verification = RecordVerification(record, trust=False, independent=True)
    verification.independently(seconds=600, seed=1)
checks = [verification.checks[name] for name in ("plain rules", "plain search")]
assert all(check.done == check.every > 0 for check in checks), checks
used = [item for item in gc.get_objects() if isinstance(item, Dispatcher) and item.overloads]
assert not used, used
assert not any("open" in vars(kernel) for kernel in (bitboard.LEGAL_MOVES, bitboard.FLIPS))
"""


@pytest.mark.integration
def test_plain_python_runs_no_kernel(plainly: Path) -> None:
    subprocess.run([sys.executable, "-c", NO_KERNEL, plainly], check=True)


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        # A table carries over from move to move, and so do random numbers.
        "agent@first=pvs first.depth=3",
        "agent@first=random",
        "agent@first=mcts first.playouts=20",
    ],
)
def test_decisions_are_asked_for_where_games_cannot_be_played_again(
    tmp_path: Path, words: str
) -> None:
    other = ["agent@second=random", "second._target_=misbehaving.Mine", "games=2"]
    folder = played(tmp_path, "agents=duel", *words.split(), *other, "openings.plies=9").folder
    assert " asked again yes 40 of " in told("verify", folder, "--decisions", "40")
    changed(folder, "update moves set evaluations = evaluations + 1 where agent = 0 and ply > 30")
    found = findings(folder, decisions=400)
    assert found and all(said.startswith("asked again: game") for said in found)
