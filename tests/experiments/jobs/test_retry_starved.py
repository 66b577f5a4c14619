"""Games in which an agent did not get its time are told, and can be played again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from records import query
from rich.console import Console

from othello_lab.__main__ import main
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

WORDS = ["agents=duel", "agent@first=greedy", "agent@second=random", "ruleset=mini6", "games=4"]
TIMED = [*WORDS, "limits.seconds=20", "executor.workers=1", "figures=none"]
CHANGE = "update games set black_nanoseconds = {}, black_waited_nanoseconds = {} where game = 1"


def starved(folder: Path, share: float, seconds: float = 10.0) -> None:
    """Write into a record that Black of game 1 waited for this share of its time, in seconds."""
    with closing(sqlite3.connect(folder / "games.sqlite")) as connection:
        time = round(seconds * 1e9)
        connection.execute(CHANGE.format(time, round(share * time)))
        connection.commit()


@pytest.mark.integration
def test_starved_pairs_are_told_and_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(read([*TIMED, f"results={tmp_path}"]), "test", Console(quiet=True)).folder
    before = query(folder, "select game, transcript from games order by game")
    starved(folder, 0.29)
    assert main(["show", str(folder)]) == 0
    assert "--retry-starved" not in capsys.readouterr().out
    starved(folder, 0.31, seconds=9.9)  # less than half the limit of a single move
    assert main(["show", str(folder)]) == 0
    assert "--retry-starved" not in capsys.readouterr().out
    starved(folder, 0.31)
    assert main(["show", str(folder)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "less than 70 % of its time on a processor" in shown
    assert "in 1; resume FOLDER --retry-starved plays these pairs again" in shown
    assert main(["resume", str(folder), "--retry-starved"]) == 0
    assert "2 of 2 games" in (folder / "log.txt").read_text() or "4/4" in capsys.readouterr().out
    assert query(folder, "select game, transcript from games order by game") == before
    waited = query(folder, "select black_waited_nanoseconds from games where game = 1")
    assert waited[0][0] < 3_000_000_000


@pytest.mark.integration
def test_a_schedule_that_goes_by_results_does_not_play_them_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*TIMED, "schedule=swiss", f"results={tmp_path}"]
    folder = run(read(words), "test", Console(quiet=True)).folder
    starved(folder, 0.31)
    assert main(["show", str(folder)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "in 1; this schedule goes by results" in shown
    assert "executor.workers=1" in shown
    assert main(["resume", str(folder), "--retry-starved"]) == 2
    assert "--retry-starved: this run's schedule goes by results" in capsys.readouterr().err


def test_nobody_is_starved_of_processor_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.replace("limits.seconds", "limits.cpu_seconds") for word in TIMED]
    folder = run(read([*words, f"results={tmp_path}"]), "test", Console(quiet=True)).folder
    starved(folder, 0.9)
    assert main(["show", str(folder)]) == 0
    assert "--retry-starved" not in capsys.readouterr().out
