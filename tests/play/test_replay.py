"""Stepping through games: of a file, and of a run."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from records import query
from runs import changed
from shared import copied

from othello_lab.__main__ import room_main
from othello_lab.core.rules import Color, ruleset
from othello_lab.play.game_files import game_of, game_text, write

Replay = Callable[..., str]


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Replay:
    """``replay("b\\nq\\n", "game.txt", code=0)``: what is printed, with that exit code."""

    def run(script: str, *words: str, code: int = 0) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(script))
        assert room_main("play", ["replay", *words]) == code
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    return run


def test_a_file_is_stepped_through(tmp_path: Path, replay: Replay) -> None:
    path = tmp_path / "game.txt"
    game = game_of("f5d6c3", ruleset("standard"))
    write(path, [game_text(game, dict.fromkeys(Color, "human"))] * 2)
    out = replay("\n\nb\n3\nn\n0\nfoo\nq\n", str(path), "game=1")
    shown = re.findall(r"^(\d)\. (?:Black|White) (\w\d)$", out, re.MULTILINE)
    assert shown == [("1", "f5"), ("2", "d6"), ("1", "f5"), ("3", "c3")]
    assert "moves are 1 to 3" in out
    assert "record ends here" in out
    assert "Enter or n: next" in out
    assert "input has ended" in replay("", str(path))
    assert replay("", str(path), "--all").count("a  b  c") == 4
    assert "games 1 to 2" in replay("", str(path), "game=3", code=2)


def test_a_game_of_a_run_is_stepped_through(
    recorded_duel: Path, tmp_path: Path, replay: Replay
) -> None:
    folder = copied(recorded_duel, tmp_path)
    games = query(folder, "select game, transcript, black_discs from games")
    for number, transcript, black in games[:2]:
        out = replay("", str(folder), f"game={number}", "--all")
        moves = re.findall(r"^\d+\. (?:Black|White) ([a-h][1-8])$", out, re.MULTILINE)
        assert "".join(moves) == transcript
        assert f"Black {black}, White" in out
        assert "depth 1" in out
        assert "game states examined" in out
    assert "games are 0 to 7" in replay("", str(folder), "game=8", code=2)
    forfeit = "update games set black_points = 1, result = 'black', end_reason = 'illegal move'"
    changed(folder, f"{forfeit}, detail = 'a1: occupied'")
    ((white,),) = query(folder, "select name from agents join games on agent = white limit 1")
    out = replay("", str(folder), "game=0", "--all")
    assert f"White ({white}) loses: illegal move: a1: occupied" in out
    changed(folder, "update games set end_reason = 'resigned', detail = ''")
    assert f"White ({white}) resigns." in replay("", str(folder), "game=0", "--all")
