"""Runs and commands within the process of a test."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from records import edit
from refusals import ended
from rich.console import Console

from othello_lab.core.notation import PASS, split_transcript, square_name
from othello_lab.core.rules import Ruleset
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import RunResult, run
from othello_lab.experiments.pairing.openings import FileOpenings, Opening
from othello_lab.experiments.record.store import FILE

QUIET = Console(quiet=True)
DUEL = ("agents=duel", "agent@first=greedy", "agent@second=random")


def played(results: Path, *words: str, folders: Sequence[Path] = ()) -> RunResult:
    """Play a run, without figures and in this process where the words say nothing of them."""
    for word in ("executor=serial", "figures=none"):
        if not any(other.startswith(word[:8]) for other in words):
            words = (*words, word)
    return run(read([*words, f"results={results}"], folders), "test", QUIET)


def line_of(*words: object, code: int = 0) -> str:
    """Return what a command prints, as one line; it ends with this code."""
    return " ".join(printed(*words, code=code).split())


def printed(*words: object, code: int = 0) -> str:
    """Return what a command prints; it ends with this code.

    Of code 2, for bad input, return its errors alone, which are one line.
    """
    ended_with, out, err = ended(words)
    assert ended_with == code, out + err
    assert "Traceback" not in out + err
    if code == 2:
        assert err.count("\n") == 1, err
    return err if code == 2 else out + err


def made(results: Path, *words: object, code: int = 0) -> tuple[str, Path]:
    """Make a job by a command that ends with this code: what it prints, and the job's folder."""
    before = set(results.glob(f"*/*/{FILE}"))
    said = line_of(*words, f"results={results}", code=code)
    (record,) = set(results.glob(f"*/*/{FILE}")) - before
    return said, record.parent


def read_openings(path: Path, rules: Ruleset, *how: Any, **options: Any) -> list[Opening]:
    """All openings of a file. how: the number of plies to cut them to."""
    return FileOpenings(str(path), *how, repeats=True, **options).find(0, rules, 0)


def changed(folder: Path, *statements: str) -> Path:
    """Change the record of a run, or of a study, by SQL."""
    (path,) = folder.glob("*.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        edit(connection, *statements)
    return folder


def follow_games(result: RunResult, rules: str) -> None:
    """Hold all games of a run to their moves."""
    moves = result.moves
    points = {"black": 1.0, "draw": 0.5, "white": 0.0}
    for game in result.games.itertuples():
        opening = Opening.read(game.opening, rules)
        position = opening.reach(rules)
        for move in moves[moves["game"] == game.game].itertuples():
            assert move.agent == (game.black if position.to_move.value == "black" else game.white)
            assert (move.square == PASS) == position.must_pass
            assert move.move == square_name(move.square)
            position = position.play(int(move.square))
        whole = split_transcript(game.transcript)
        assert opening.begin(rules).follow(whole)[0] == position
        assert game.black_discs == position.black.bit_count()
        assert game.white_discs == position.white.bit_count()
        assert game.black_points == points[game.result]
        assert position.is_over == (game.end_reason == "finished")
        if position.is_over:
            mine = position.disc_difference
            discs = mine if position.to_move.value == "black" else -mine
            assert game.disc_difference == discs
            assert game.black_points == (1 + (discs > 0) - (discs < 0)) / 2
