"""Remarks on the time that agents of a run had, used, and did not get."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from records import edit_moves
from rich.console import Console
from shared import copied

from othello_lab import Limits
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.findings import findings
from othello_lab.experiments.report.tables import limits_in_words


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = ["agents=duel", "agent@first=iterative", "agent@second=random", "first.depth=1"]
    words += ["games=2", "executor=serial", "figures=none", "isolation=none", "limits.seconds=9"]
    results = tmp_path_factory.mktemp("results")
    return run(read([*words, f"results={results}"]), "test", Console(quiet=True)).folder


def remarks(folder: Path, edit: str, limits: Limits | None = None) -> str:
    """Return all remarks on a run, after an edit of its moves and with other limits."""
    with closing(sqlite3.connect(folder / "games.sqlite")) as connection, connection:
        edit_moves(connection, edit)
    with facts_of(folder, Console(quiet=True)) as facts:
        plan = replace(facts.plan, limits=limits) if limits else facts.plan
        return "\n".join(findings(RunFacts(facts.record, plan)).remarks)


MILLISECONDS = "update moves set nanoseconds = 1e6 * {}, waited_nanoseconds = 1e6 * {}, late = 0"


@pytest.mark.parametrize(
    ("limits", "spent", "waited", "share"),
    [
        (Limits(seconds=0.05), 7.5, 0, "15 %"),
        (Limits(seconds=0.05), 30, 0, ""),
        (Limits(seconds=0.05), 0, 0, "0 %"),
        (Limits(cpu_seconds=0.05), 30, 0, "30 %"),
        # What it waited for a processor is not unused.
        (Limits(seconds=0.05), 15, 35, ""),
        (Limits(seconds=0.05), 5, 25, "20 %"),
        # More than the time of a move is limited.
        (Limits(), 1, 0, ""),
        (Limits(clock=1), 1, 0, ""),
        (Limits(nodes=9, seconds=0.05), 1, 0, ""),
    ],
    ids=str,
)
def test_searches_that_end_long_before_the_limit_on_time_are_told(
    timed: Path, tmp_path: Path, limits: Limits, spent: float, waited: float, share: str
) -> None:
    edit = MILLISECONDS.format(spent + waited, waited)
    told = remarks(copied(timed, tmp_path), f"{edit}, cpu_nanoseconds = 5e5 * {spent}", limits)
    assert f"iterative used {share}" in told if share else "iterative used" not in told
    assert "(depth 1)" in told or not share


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ("update moves set nanoseconds = 1000, cpu_nanoseconds = 500", "50 % of"),
        ("update moves set nanoseconds = 1000, cpu_nanoseconds = 990", ""),
        ("delete from moves", ""),
    ],
)
def test_little_processor_time_for_much_thinking_is_told(
    timed: Path, tmp_path: Path, edit: str, told: str
) -> None:
    found = remarks(copied(timed, tmp_path), edit)
    assert ("oversubscribed" in found) == bool(told) and told in found
    assert "isolation=none" in found


@pytest.mark.parametrize(("plies", "moves"), [(20, "iterative"), (0, "")])
def test_moves_that_stand_though_late_by_the_wall_clock_are_counted(
    timed: Path, tmp_path: Path, plies: int, moves: str
) -> None:
    folder = copied(timed, tmp_path)
    late = f"update moves set late = (agent = 0 and ply < {plies} and game = 0)"
    found = remarks(folder, late)
    with closing(sqlite3.connect(folder / "games.sqlite")) as connection:
        ((count,),) = connection.execute("select count(*) from moves where late = 1").fetchall()
    assert (f": iterative {count}." in found) == bool(moves) == bool(count)


def test_limits_in_words() -> None:
    said = [
        *limits_in_words(Limits(nodes=2000, cpu_seconds=0.005)),
        *limits_in_words(Limits(seconds=0.05)),
        *limits_in_words(Limits(clock=10, depth=4)),
    ]
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in said] == [
        "at most 2,000 nodes a move",
        "5 ms of processor time a move",
        "50 ms a move",
        "10 s a game",
        "depth at most 4",
    ]
    assert limits_in_words(Limits()) == []
