"""``verify`` believes what is true, and finds what is not."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from chosen import mostly_slow
from records import edit
from rich.console import Console

from othello_lab.__main__ import main
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
    assert "all of this holds" in printed
    assert "6 games" in printed and "-" not in [line[15:16] for line in printed.splitlines()]


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


@pytest.mark.parametrize("how", mostly_slow(["Raises", "Illegal", "Garbage", "Slow"], ["Illegal"]))
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
    assert "totals: matches.csv is not what the games give" in printed


def test_what_was_played_by_another_version_is_not_played_again(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = "update run set versions = json_set(versions, '$.numba', '0.1')"
    code, printed = verified(capsys, lying(honest, tmp_path / "run", changed))
    assert code == 0
    assert "not done: numba 0.1 ->" in " ".join(printed.split())


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


@pytest.mark.slow
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
        pytest.param("agent@first=random", marks=pytest.mark.slow),
        pytest.param("agent@first=mcts first.playouts=20", marks=pytest.mark.slow),
    ],
)
def test_decisions_are_asked_for_where_games_cannot_be_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    other = ["agent@second=random", "second._target_=misbehaving.Mine", "games=2"]
    folder = played(tmp_path, "agents=duel", *words.split(), *other, "openings.plies=9")
    code, printed = verified(capsys, folder, "--decisions", "40")
    assert code == 0, printed
    assert [line.split()[:5] for line in printed.splitlines() if "asked again" in line] == [
        ["asked", "again", "yes", "40", "moves"]
    ]
    lie = "update moves set evaluations = evaluations + 1 where ply = 31 and agent = 0"
    folder = lying(folder, tmp_path / "lie", lie, lie.replace("31", "32"))
    code, printed = verified(capsys, folder, "--decisions", "400")
    assert code == 1
    assert "asked again: game" in printed
