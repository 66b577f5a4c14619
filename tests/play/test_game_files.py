"""Games as texts: what was written is read again and stepped through, and what is none is
refused."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from records import query
from runs import changed, read_openings
from shared import copied

from othello_lab.__main__ import room_main
from othello_lab.core.notation import square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.wthor import WthorGame, format_wthor
from othello_lab.play.config import PERSON
from othello_lab.play.game import GameState
from othello_lab.play.game_files import TITLE, game_of, game_text, players_of, saved_games, write
from othello_lab.play.recorded import open_game
from othello_lab.training.games import read_games

STANDARD = ruleset("standard")
PLAYERS = {Color.BLACK: "human", Color.WHITE: "greedy"}


@pytest.mark.parametrize("rules", ["standard", "wpi", "mini4"])
def test_a_game_is_read_as_it_was_written(
    rules: str,
    tmp_path: Path,
    random_game: Callable[[str, int], list[Position]],
    played: Callable[..., GameState],
) -> None:
    games = [played(random_game(rules, seed)) for seed in range(3)]
    games[1].turns = games[1].turns[:5]
    games[1].resigned = Color.WHITE
    path = tmp_path / "games.txt"
    write(path, [game_text(game, PLAYERS) for game in games])
    games_read = saved_games(path.read_text(encoding="utf-8"), str(path))
    assert [read.game.moves for read in games_read] == [game.moves for game in games]
    assert [read.game.resigned for read in games_read] == [None, Color.WHITE, None]
    assert games_read[0].players == PLAYERS
    assert games_read[0].game.start == games[0].start
    assert list(tmp_path.iterdir()) == [path]


GOOD = game_text(GameState(Position.start()), PLAYERS)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no game"),
        (b"\xff\xfe\x00", "byte 0: not text"),
        (TITLE.encode() + b"\n", "unknown ruleset"),
        (GOOD.replace("ruleset: standard", "ruleset: chess").encode(), "'chess'"),
        (GOOD.replace("start: -", "start: ?").encode(), "'\\?' on a1"),
        ((GOOD + "  1. Black a1  by human\n").encode(), r"line \d+: a1: traps nothing"),
        ((GOOD + "  1. White d3  by human\n").encode(), "White d3: black is to move"),
        ((GOOD + "  7. Black d3  by human\n").encode(), "move 7; 1"),
    ],
)
def test_a_file_that_is_none_is_refused(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=why) as refused:
        open_game(path, None, STANDARD, print)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        open_game(tmp_path / "none", None, STANDARD, print)
    with pytest.raises(ConfigError, match="cannot be written"):
        write(tmp_path / "none" / "game.txt", [GOOD])


def test_the_players_of_a_game_are_those_who_made_its_moves() -> None:
    board = "-" * 27 + "O*------*O" + "-" * 27
    text = f"(;GM[Othello]PB[anna]PW[bert]TY[8]BO[8 {board} *]B[d3];)"
    game = game_of(text, ruleset("standard"))
    present = {color: PERSON for color in Color}
    assert players_of(game, present) == {Color.BLACK: "anna", Color.WHITE: "human"}
    game.play(game.position.moves[0], "alphabeta depth=4")
    game.play(game.position.moves[0], "human")
    assert players_of(game, present) == {
        Color.BLACK: "anna, then human",
        Color.WHITE: "alphabeta depth=4",
    }
    unknown = game_of("f5d6", ruleset("standard"))
    assert players_of(unknown, present) == dict.fromkeys(Color, "human")


def test_numbered_moves_and_drawn_boards_are_read() -> None:
    rules = ruleset("standard")
    game = game_of("1. f5 d6\n2. c3 d3 3...c4", rules)
    assert game.position == Position.from_transcript("f5d6c3d3c4")
    for name in ("standard", "wpi", "mini4"):
        position = Position.start(name)
        position = position.play(position.moves[0])
        assert game_of(str(position), ruleset(name)).position == position
    drawn = "\n".join(["--------"] * 3 + ["---OX---", "---XO---"] + ["--------"] * 3)
    with pytest.raises(ValueError, match="who is to move"):
        game_of(drawn, rules)
    for text in (drawn, drawn.replace("X", "*")):
        assert game_of(f"{text}\nBlack to play", rules).position == Position.start()


BOARD = "-" * 27 + "O*------*O" + "-" * 27


def ggf(moves: str, properties: str = "TY[8]", board: str = f"8 {BOARD}") -> str:
    return f"(;GM[Othello]PB[anna]{properties}BO[{board} *]{moves};)\n"


F5, D3 = "B[f5]", "B[d3]W[c5]"
ODD = [
    ggf("B[c4]", "TY[8a]"),
    ggf("B[c4]", "TY[8k]KM[4]"),
    ggf("", "TY[10]", "10 " + "-" * 100),
    ggf("B[a1]"),
]
WTHOR = format_wthor([WthorGame(b"\x25", 32), WthorGame(b"\x13\x22", 32)], date(2026, 1, 1), 2026)
ARCHIVES: dict[str, tuple[str | bytes, list[str], int]] = {
    "GGF": (ggf(F5) + ggf(F5 + "W[d6]") + ggf(D3), ["f5", "f5d6", "d3c5"], 0),
    "odd games": (ggf(F5) + "".join(ODD[:2]) + "2 " + ggf(D3), ["f5", "", "", "d3c5"], 2),
    "another board": (ODD[2] + ggf(D3), ["", "d3c5"], 1),
    "WTHOR": (WTHOR, ["f5", "d3c5"], 0),
    "a transcript a line": ("# mine\nf5\n\nf5d6 c3\nd3c5\n", ["f5", "f5d6c3", "d3c5"], 0),
    "lines that cannot be read": ("f5\nf5d\nd3c5\n", ["f5", "", "d3c5"], 1),
    "a game in several lines": ("1. f5 d6\n2. c3 d3\n", ["f5d6c3d3"], 0),
    "one game in Latin-1": (ggf(F5).replace("anna", "jos\xe9").encode("latin-1"), ["f5"], 0),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_archives_of_every_kind(kind: str, tmp_path: Path) -> None:
    """The last game is the default; those left out keep their numbers, and are counted."""
    content, games, left_out = ARCHIVES[kind]
    path, lines = tmp_path / "games", list[str]()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def moves(number: int | None) -> str:
        game = open_game(path, number, STANDARD, lines.append).game
        return "".join(square_name(move) for move in game.moves)

    assert moves(None) == games[-1]
    assert len(lines) == left_out + bool(left_out)
    assert not left_out or f": {left_out} game" in lines[-1]
    for number, expected in enumerate(games, start=1):
        if expected:
            assert moves(number) == expected
    for number in (0, len(games) + 1, *(n for n, text in enumerate(games, 1) if not text)):
        with pytest.raises(ConfigError, match=f"game={number}: {path} has the "):
            moves(number)
    # Openings are read from the same files, and say what cures them.
    whole = [text for text in games if text]
    if left_out:
        with pytest.raises(ConfigError, match=r"openings\.partly=true"):
            read_openings(path, STANDARD)
    openings = read_openings(path, STANDARD, partly=True)
    assert ["".join(map(square_name, opening.moves)) for opening in openings] == whole
    with path.open("ab") as file:  # which is named where it is chosen
        file.write(ODD[3].encode())
    if kind == "GGF":
        with pytest.raises(ConfigError, match=f"{path}, line 4: move 1 .*a1: traps nothing"):
            moves(None)


FOREIGN = {
    "PGN of chess": b'[Event "x"]\n[Site "y"]\n\n1. e4 e5 *',
    "FEN of chess": b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "SGF": b"(;GM[1]FF[4]SZ[19];B[pd])",
    "packed": b"PK\x03\x04",
    "HTML": b"<!DOCTYPE html>",
    "JSON": b'{"moves": []}',
    "text without moves": b"depth: 2\nevaluation: iago\n",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_another_kind_is_named(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_bytes(FOREIGN[kind])
    for read in (
        lambda: open_game(path, None, STANDARD, print),
        lambda: read_openings(path, STANDARD, partly=True),
        lambda: read_games([path], STANDARD, True, print),
    ):
        with pytest.raises(ConfigError, match=f"{path}: this is .*{kind}"):
            read()


# ------------------------------------------------------------------ stepping through games


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
