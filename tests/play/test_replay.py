"""Stepping through games: of a file, and of a run."""

from __future__ import annotations

import functools
import io
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from othello_lab import AlphaBeta, DiscCount, RandomAgent, run_match
from othello_lab.__main__ import room_main
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.play.game import GameState
from othello_lab.play.game_files import game_text, write

main = functools.partial(room_main, "play")


def replayed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script: str, *words: str
) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(script))
    assert main(["replay", *words]) == 0
    return capsys.readouterr().out


def test_a_file_is_stepped_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = GameState(Position.start())
    game.follow(Position.start().follow(["f5", "d6", "c3"])[1], "human")
    path = tmp_path / "game.txt"
    players = dict.fromkeys(Color, "human")
    write(path, [game_text(game, players)] * 2)
    out = replayed(monkeypatch, capsys, "\n\nb\n3\nn\n0\nfoo\nq\n", str(path), "game=1")
    shown = re.findall(r"^(\d)\. (?:Black|White) (\w\d)$", out, re.MULTILINE)
    assert shown == [("1", "f5"), ("2", "d6"), ("1", "f5"), ("3", "c3")]
    assert "That is the end of the game; its moves are 1 to 3." in out
    assert "The record ends here." in out
    assert "Enter or n: next" in out
    assert "The input has ended" in replayed(monkeypatch, capsys, "", str(path))
    assert replayed(monkeypatch, capsys, "", str(path), "--all").count("a  b  c") == 4
    assert main(["replay", str(path), "game=3"]) == 2
    assert "has the games 1 to 2" in capsys.readouterr().err


def test_a_game_of_a_run_is_stepped_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = {"searcher": AlphaBeta(2, DiscCount()), "random": RandomAgent()}
    where = {"results": tmp_path, "ruleset": "mini6", "workers": 0}
    result = run_match(agents, games=2, quiet=True, figures=False, **where)
    folder = Path(result.folder)
    capsys.readouterr()
    with closing(sqlite3.connect(folder / "games.sqlite")) as record, record:
        games = record.execute("select game, transcript, black_discs from games").fetchall()
    for number, transcript, black in games:
        out = replayed(monkeypatch, capsys, "", str(folder), f"game={number}", "--all")
        moves = re.findall(r"^\d+\. (?:Black|White) ([a-f][1-6])$", out, re.MULTILINE)
        assert "".join(moves) == transcript
        assert f"Black {black}, White" in out
        assert "depth 2" in out
        assert "game states examined" in out
    assert main(["replay", str(folder), "game=2"]) == 2
    assert "the record's games are 0 to 1" in capsys.readouterr().err
    with closing(sqlite3.connect(folder / "games.sqlite")) as record, record:
        forfeit = "update games set black_points = 1, result = 'black', end_reason = 'illegal move'"
        record.execute(f"{forfeit}, detail = 'a1: occupied'")
        ((white,),) = record.execute("select name from agents join games on agent = white limit 1")
    out = replayed(monkeypatch, capsys, "", str(folder), "game=0", "--all")
    assert f"Here the game ended: White ({white}) loses: illegal move: a1: occupied." in out
