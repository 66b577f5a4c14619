"""Games as texts: what was written is read again, and what is none is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from othello_lab.agents.config import ConfigError
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.play.config import PERSON
from othello_lab.play.game import GameState
from othello_lab.play.game_files import TITLE, game_of, game_text, players_of, read, write

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
    found = read(path)
    assert [each.game.moves for each in found] == [game.moves for game in games]
    assert [each.game.resigned for each in found] == [None, Color.WHITE, None]
    assert found[0].players == PLAYERS
    assert found[0].game.start == games[0].start
    assert list(tmp_path.iterdir()) == [path]


GOOD = game_text(GameState(Position.start()), PLAYERS)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no saved game"),
        (b"\xff\xfe\x00", "no saved game"),
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
        read(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_no_file_no_folder_nothing_endless(tmp_path: Path) -> None:
    for path, why in (
        (tmp_path / "none", "No such file"),
        (tmp_path, "a folder"),
        (Path("/dev/zero"), "longer than"),
    ):
        with pytest.raises(ConfigError, match=why):
            read(path)
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
