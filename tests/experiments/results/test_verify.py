"""``verify`` believes what is true, and finds what is not."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from chosen import mostly_nightly
from records import edit, edit_moves
from rich.console import Console

from othello_lab import Color, Position
from othello_lab.__main__ import main
from othello_lab.core.notation import PASS, square_name
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

QUIET = Console(quiet=True)
OUTSIDE = "from outside the lab, --trust runs it:"


def played(folder: Path, *words: str) -> Path:
    words = (*words, f"results={folder}", "figures=false", "executor=serial")
    return run(read(words), "test", QUIET).folder


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest")
    return played(
        folder, "agents=ab_vs_minimax", "depth=2", "games=6", "openings.plies=9", "seed=4"
    )


def verified(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["verify", str(folder), *words])
    return code, capsys.readouterr().out


def lying(honest: Path, copy: Path, *statements: str) -> Path:
    """A copy of a run after SQL on its record."""
    shutil.copytree(honest, copy)
    with closing(sqlite3.connect(copy / "games.sqlite", isolation_level=None)) as connection:
        edit(connection, *statements)
    return copy


def test_what_is_true_holds(honest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = verified(capsys, honest)
    assert code == 0, printed
    assert printed.rstrip().endswith("all of this holds; all 6 games replayed")
    undone = [line.split("  ")[0] for line in printed.splitlines() if line[15:16] == "-"]
    assert undone == [" asked again"]


@pytest.mark.parametrize(
    "words",
    [
        ["ruleset=wpi", "games=8", "schedule=sprt"],
        ["ruleset=mini4", "games=4", "openings.plies=2", "evaluation=disc_count"],
        ["games=4", "openings=start", "openings.repeats=true"],
        ["games=4", "schedule=gauntlet", "limits.nodes=50"],
    ],
)
def test_runs_of_all_kinds_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    folder = played(tmp_path, "agents=ab_vs_minimax", "depth=2", *words)
    code, printed = verified(capsys, folder)
    assert code == 0, printed


@pytest.mark.parametrize(
    "how", mostly_nightly(["Raises", "Illegal", "Garbage", "Slow"], ["Illegal"])
)
def test_forfeits_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str) -> None:
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=4"]
    words += [f"second._target_=misbehaving.{how}", "+second.after=20"]
    folder = played(tmp_path, *words, "limits.seconds=0.15")
    code, printed = verified(capsys, folder)
    assert code == 0, printed
    assert f"from outside the lab, --trust runs it: agents.random: misbehaving.{how}" in " ".join(
        printed.split()
    )


# What is changed in the record, and the check that finds it.
LIES = {
    "another game": (
        "transcripts",
        "update games set transcript = (select transcript from games where game = 0) "
        "where game = 5",
    ),
    "a shorter game": (
        "results",
        "update games set transcript = substr(transcript, 1, 60) where game = 1",
    ),
    "the other winner": (
        "results",
        "update games set result = case result when 'black' then 'white' else 'black' end, "
        "black_points = 1 - black_points where game = 2",
    ),
    "more points": ("results", "update games set black_points = 0.25 where game = 2"),
    "more discs": ("results", "update games set black_discs = black_discs + 1 where game = 2"),
    "a higher win": ("results", "update games set disc_difference = 64 where game = 2"),
    "a forfeit": ("results", "update games set end_reason = 'time exceeded' where game = 2"),
    "a reason": ("results", "update games set detail = 'bored' where game = 2"),
    "an unheard-of end": ("results", "update games set end_reason = 'bored' where game = 2"),
    "another mover": ("moves", "update moves set agent = 1 - agent where game = 2 and ply = 30"),
    "another square": ("moves", "update moves set square = 0 where game = 2 and ply = 30"),
    "a move less": ("moves", "delete from moves where game = 2 and ply = 30"),
    "a late move": ("moves", "update moves set late = 2 where game = 2 and ply = 30"),
    "late as never": ("counts", "update moves set late = 7 where game = 2 and ply = 30"),
    "negative nodes": ("counts", "update moves set nodes = -1 where game = 2 and ply = 30"),
    "more first cutoffs": (
        "counts",
        "update moves set first_move_cutoffs = cutoffs + 1 where game = 2 and ply = 30",
    ),
    "a count missing": ("counts", "update moves set leaves = null where game = 2 and ply = 30"),
    "one node more": ("played again", "update moves set nodes = nodes + 1 where ply = 30"),
    "another value": ("played again", "update moves set value = value - 1 where ply = 30"),
    "one more made": ("asked again", "update moves set made = made + 1 where ply = 30"),
    "another seed": ("schedule", "update games set seed = seed + 2 where game = 2"),
    "a pair that was not drawn": (
        "schedule",
        "update games set pair = 9, game = game + 14 where pair = 2",
        "update moves set game = game + 14 where game in (4, 5)",
    ),
    "complete too soon": (
        "schedule",
        "delete from games where pair = 2",
        "delete from moves where game in (4, 5)",
    ),
    "the same colours": (
        "pairs",
        "update games set black = white, white = black where game = 2",
    ),
    "half a pair": (
        "pairs",
        "delete from games where game = 2",
        "delete from moves where game = 2",
    ),
    "skipped and played": ("pairs", "insert into skipped values (1, 'no reason')"),
    "another seed of the run": ("settings", "update run set seed = 99"),
    "another agent's settings": (
        "settings",
        "update agents set config = json_set(config, '$.depth', 9) where agent = 1",
    ),
    "moves that do not follow from the seed": (
        "settings",
        "update agents set reproducible = 0 where agent = 1",
    ),
    "a selective agent": ("settings", "update agents set selective = 1 where agent = 1"),
    "openings in another order": ("settings", "update openings set text = 'd3c3c4' where number = 0"),  # noqa: E501
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lie: str
) -> None:
    check, *statements = LIES[lie]
    words = {
        "played again": ["--decisions", "0"],
        "asked again": ["--games", "0", "--decisions", "1000"],
    }.get(check, ["--games", "0", "--decisions", "0"])
    code, printed = verified(capsys, lying(honest, tmp_path / "run", *statements), *words)
    assert code == 1
    assert f"\n{check}: " in printed, printed
    assert "wrong" in printed


def test_a_table_that_is_not_of_these_games_is_found(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lying(honest, tmp_path / "run")
    path = folder / "matches.csv"
    path.write_text(path.read_text().replace(",6,", ",7,", 1))
    code, printed = verified(capsys, folder)
    assert code == 1
    assert "totals: matches.csv" in printed


def test_what_was_played_by_another_version_is_not_played_again(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = "update run set versions = json_set(versions, '$.numba', '0.1')"
    code, printed = verified(capsys, lying(honest, tmp_path / "run", changed))
    assert code == 0
    assert "not done: numba 0.1 ->" in " ".join(printed.split())


@pytest.mark.integration
def test_code_from_outside_runs_only_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=4"]
    folder = played(tmp_path, *words, "second._target_=misbehaving.Mine")
    code, printed = verified(capsys, folder)
    assert code == 0
    assert "from outside the lab, --trust runs it: agents.random: misbehaving.Mine" in " ".join(
        printed.split()
    )
    code, printed = verified(capsys, folder, "--trust")
    assert code == 0
    assert "from outside" not in " ".join(printed.split())


@pytest.mark.integration
def test_code_from_outside_never_runs_in_the_process_that_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "from othello_lab import RandomAgent\n\n\nclass Told(RandomAgent):\n    pass\n"
    (tmp_path / "told_elsewhere.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=4"]
    folder = played(tmp_path, *words, "second._target_=told_elsewhere.Told")
    code, printed = verified(capsys, folder, "--trust")
    assert code == 0
    assert [line.split()[:4] for line in printed.splitlines() if "played again" in line] == [
        ["played", "again", "yes", "4"]
    ]
    assert "told_elsewhere" not in sys.modules


def test_games_are_left_out_of_the_sample(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lie = "update moves set nodes = nodes + 1 where ply = 30"
    folder = lying(honest, tmp_path / "run", lie)
    none = ["--games", "0", "--decisions", "0"]
    assert verified(capsys, folder, *none)[0] == 0
    _, printed = verified(capsys, folder, *none, "--games", "2", "--seed", "3")
    assert printed.count("played again: game") == 2
    assert "2 of 6 games replayed (if one were false, " in printed
    assert "would find it with 33 % probability" in printed


@pytest.mark.parametrize("game", range(6))
def test_one_false_game_is_found_unless_told_otherwise(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], game: int
) -> None:
    lie = f"update moves set made = made + 1 where game = {game} and ply = 30"
    code, printed = verified(capsys, lying(honest, tmp_path / "run", lie))
    assert code == 1
    assert f"\nplayed again: game {game}: ply 30: made is " in printed


def test_time_that_is_too_short_for_all_games_leaves_some_out(
    honest: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = verified(capsys, honest, "--seconds", "0.0001")
    assert code == 0
    assert " of 6 games replayed (if one were false, " in printed
    assert " moves of other games asked again (if one were false, " in printed


@pytest.mark.integration
def test_totals_of_games_without_moves_are_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["agents=ab_vs_minimax", "depth=2", "games=2", "record=games", "openings.plies=9"]
    folder = played(tmp_path, *words)
    assert verified(capsys, folder)[0] == 0
    lie = "update games set white_evaluations = white_evaluations + 1 where game = 1"
    code, printed = verified(capsys, lying(folder, tmp_path / "lie", lie))
    assert code == 1
    assert "played again: game 1: white_evaluations is " in printed


# ---------------------------------------------------------------------- without kernels

SEARCHES = (
    "agents=duel agent@first=minimax agent@second=alphabeta evaluation=disc_count first.depth=2 "
    "second.depth=3 second.table_mb=1 second.iterative=true second.endgame=5 "
    "ruleset=mini6 games=4 openings.plies=11 seed=2"
)


@pytest.fixture(scope="module")
def plainly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which nothing can be played again, as its versions are others."""
    folder = tmp_path_factory.mktemp("plainly")
    changed = "update run set versions = json_set(versions, '$.numba', '0.1')"
    return lying(played(folder, *SEARCHES.split()), folder / "run", changed)


def independently(capsys: pytest.CaptureFixture[str], folder: Path) -> tuple[int, str]:
    return verified(capsys, folder, "--independent", "--seconds", "600")


def test_plain_python_checks_all_games_and_decisions(
    plainly: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = independently(capsys, plainly)
    assert code == 0, printed
    assert "0 of 4 games replayed (if one were false, this check would find it with 0 %" in printed
    assert "all 4 games checked by the plain rules; all " in printed
    assert printed.rstrip().endswith(" moves checked by plain searches")


ENDGAME = "(select max(ply) - 3 from moves where game = 1)"
PLAIN_LIES = {
    "another game": (
        "plain rules",
        "update games set transcript = (select transcript from games where game = 0) "
        "where game = 3",
    ),
    "the other winner": (
        "plain rules",
        "update games set result = case result when 'black' then 'white' else 'black' end, "
        "black_points = 1 - black_points where game = 2",
    ),
    "a disc more": ("plain rules", "update games set black_discs = black_discs + 1 where game = 2"),
    "another square": ("plain rules", "update moves set square = 0 where game = 2 and ply = 20"),
    "one node more": ("plain search", "update moves set nodes = nodes + 1 where agent = 0"),
    "one more made": ("plain search", "update moves set made = made + 1 where agent = 0"),
    "minimax's value": ("plain search", "update moves set value = value + 1 where agent = 0"),
    "alpha-beta's value": (
        "plain search",
        "update moves set value = value + 1 where game = 1 and ply = 14",
        "update moves set value = value + 1 where game = 1 and ply = 15",
    ),
    "the solver's value": (
        "plain search",
        f"update moves set value = value + 33554432 where game = 1 and ply = {ENDGAME}",
        f"update moves set value = value + 33554432 where game = 1 and ply = {ENDGAME} + 1",
    ),
    "another depth": (
        "plain search",
        "update moves set depth = 2 where agent = 1 and ply between 14 and 16",
    ),
    "swapped colours": (
        "plain search",
        "update games set black = white, white = black",
        "update moves set agent = 1 - agent",
    ),
}


@pytest.mark.parametrize("lie", PLAIN_LIES)
def test_plain_python_finds_a_lie(
    plainly: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lie: str
) -> None:
    check, *statements = PLAIN_LIES[lie]
    code, printed = independently(capsys, lying(plainly, tmp_path / "run", *statements))
    assert code == 1
    assert f"\n{check}: game " in printed, printed


def with_another_move(folder: Path) -> None:
    """Change one move of game 0 of a record, and finish the game so that all of it is legal and
    its result is that of its last board."""
    with closing(sqlite3.connect(folder / "games.sqlite", isolation_level=None)) as connection:
        text = "select turns from turns where game = 0"
        turns = json.loads(connection.execute(text).fetchone()[0])
        (opening,) = connection.execute("select opening from games where game = 0").fetchone()
        position = before = Position.from_transcript(opening, "mini6")
        place = 0
        for number, (_, _, square, *_) in enumerate(turns):
            if len(position.moves) > 1:
                before, place = position, number
            position = position.play(square)
        decided = {turn[1]: turn for turn in turns if turn[2] != PASS}
        colors = {turns[place][1]: before.to_move}
        colors[1 - turns[place][1]] = before.to_move.other
        kept, position = turns[:place], before
        avoid = turns[place][2]
        while not position.is_over:
            square = next((move for move in position.moves if move != avoid), PASS)
            agent = next(agent for agent, color in colors.items() if color is position.to_move)
            ply = turns[0][0] + len(kept)
            rest = decided[agent][3:] if square != PASS else []
            kept.append([ply, agent, square, *rest])
            position, avoid = position.play(square), PASS
        squares = "".join(square_name(turn[2]) for turn in kept if turn[2] != PASS)
        black, white = position.black.bit_count(), position.white.bit_count()
        won = (black > white) - (black < white)
        discs = position.disc_difference * (1 if position.to_move is Color.BLACK else -1)
        connection.execute("update turns set turns = ? where game = 0", (json.dumps(kept),))
        connection.execute(
            "update games set transcript = ?, result = ?, black_points = ?, disc_difference = ?, "
            "black_discs = ?, white_discs = ? where game = 0",
            (
                opening + squares,
                ("draw", "black", "white")[won],
                (won + 1) / 2,
                discs,
                black,
                white,
            ),
        )
        edit_moves(connection)


def test_a_legal_move_that_no_agent_chose_is_found_by_plain_search_alone(
    plainly: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(plainly, folder)
    with_another_move(folder)
    (folder / "matches.csv").unlink()
    assert verified(capsys, folder)[0] == 0
    code, printed = independently(capsys, folder)
    assert code == 1
    assert "\nplain search: game 0, ply " in printed


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


def test_every_difference_of_a_decision_is_told(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lie = "update moves set nodes = nodes + 1, value = value - 1 where game < 3 and ply in (20, 30)"
    folder = lying(honest, tmp_path / "run", lie)
    code, printed = verified(capsys, folder, "--games", "0", "--decisions", "1000")
    assert code == 1
    found = [line for line in printed.splitlines() if line.startswith("asked again: ")]
    assert len(found) == 3 * 2 * 2
    assert found[0].startswith("asked again: game 0, ply 20: value is ")


@pytest.mark.parametrize(
    "words",
    [
        # A table carries over from move to move, and so do random numbers.
        "agent@first=pvs first.depth=3",
        pytest.param("agent@first=random", marks=pytest.mark.integration),
        pytest.param("agent@first=mcts first.playouts=20", marks=pytest.mark.integration),
    ],
)
def test_decisions_are_asked_for_where_games_cannot_be_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    other = ["agent@second=random", "second._target_=misbehaving.Mine", "games=2"]
    folder = played(tmp_path, "agents=duel", *words.split(), *other, "openings.plies=9")
    code, printed = verified(capsys, folder, "--decisions", "40")
    assert code == 0, printed
    assert [line.split()[:5] for line in printed.splitlines() if line.startswith(" asked")] == [
        ["asked", "again", "yes", "40", "of"]
    ]
    lie = "update moves set evaluations = evaluations + 1 where ply = 31 and agent = 0"
    folder = lying(folder, tmp_path / "lie", lie, lie.replace("31", "32"))
    code, printed = verified(capsys, folder, "--decisions", "400")
    assert code == 1
    assert "asked again: game" in printed
