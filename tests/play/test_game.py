"""A game that can be taken back, how its end is told, how people write its moves, and the name of
its opening."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from othello_lab.core.bitboard import symmetric_forms
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS, Color, ruleset
from othello_lab.play.game import GameState, line_text, outcome, value_text
from othello_lab.play.game_files import game_of
from othello_lab.play.moves import looks_like_move, read_move, written
from othello_lab.play.opening_names import LINES, named_positions, opening_names

STANDARD = ruleset("standard")


def test_an_illegal_move_changes_nothing() -> None:
    game = game_of("f5d6", STANDARD)
    with pytest.raises(IllegalMove, match="square occupied"):
        game.play(37, "human")
    assert line_text(game.moves) == "f5 d6"


def test_taking_back_goes_to_the_last_decision_of_a_player() -> None:
    game = game_of("f5d6c3d3", STANDARD)
    assert game.take_back([Color.BLACK]) == 2
    assert line_text(game.moves) == "f5 d6"
    assert game.take_back(Color) == 1
    assert game.take_back([Color.WHITE]) == 0
    assert line_text(game.moves) == "f5"


def test_a_forced_pass_is_nobodys_decision(
    random_game: Callable[[str, int], list[Position]], played: Callable[..., GameState]
) -> None:
    games = (random_game("mini4", seed) for seed in range(300))
    positions = next(game for game in games if any(now.must_pass for now in game))
    passing = next(number for number, now in enumerate(positions) if now.must_pass)
    game = played(positions[: passing + 2])
    assert game.moves[-1] == PASS
    assert game.take_back(Color) == 2
    assert PASS not in game.moves


def test_who_resigns_loses_by_the_whole_board() -> None:
    game = game_of("f5d6c3", STANDARD)
    game.resigned = Color.BLACK
    assert game.is_over
    assert game.winner is Color.WHITE
    assert game.margin == 64
    assert "Black resigns: White wins by 64" in outcome(game)
    assert GameState(Position.start("mini4"), resigned=Color.WHITE).margin == 16


def test_the_end_is_told_with_winner_score_and_margin() -> None:
    for board, words in {
        "X" * 40 + "O" * 24: "Black wins by 16. Black 40, White 24",
        "X" * 32 + "O" * 32: "a draw, 32 : 32",
        "OO" + "-" * 62: "White wins by 64, the empty squares counted. Black 0, White 2",
    }.items():
        assert words in outcome(GameState(Position.from_obf(f"{board} X")))


def test_values_are_told_as_people_read_them() -> None:
    values = {12: "+12", -3 << 24: "loss by 3", 3 << 24: "win by 3", 0: "+0", 0.25: "+0.250"}
    assert {value: value_text(value) for value in values} == values
    assert value_text(None) == "none"
    assert value_text(-17, 100) == "-0.2 discs"  # of the champion
    assert value_text(3 << 24, 100) == "win by 3"


# ------------------------------------------------------------------ how people write moves


D3 = 19


def test_ways_to_write_a_move_and_a_pass() -> None:
    ways = {
        D3: ["d3", "D3", "(B D 3)", "b d 3", "( B d 3 )", "3 4", "3,4", "(3 4)"],
        PASS: ["--", "pass", "PA", "(B P 1)"],
    }
    for move, texts in ways.items():
        for text in texts:
            assert looks_like_move(text)
            assert read_move(text, Position.start()) == move


@pytest.mark.parametrize(
    ("why", "texts"),
    [
        ("black is to move", ["(W D 3)"]),
        ("not a square", ["i9", "d9", "(B Z 3)", "(B D 33)"]),
        ("row and column", ["0 4", "9 1"]),
    ],
)
def test_what_is_no_move_is_refused_with_the_reason(why: str, texts: list[str]) -> None:
    for text in texts:
        assert looks_like_move(text)
        with pytest.raises(IllegalMove, match=why):
            read_move(text, Position.start())


def test_commands_are_no_moves() -> None:
    for text in ("help", "undo", "depth 3", "", "d", "34", "hint 3"):
        assert not looks_like_move(text)


def test_the_ruleset_says_how_a_move_is_written_and_that_can_be_read() -> None:
    assert written(D3, Color.WHITE, RULESETS["wpi"]) == "(W D 3)"
    assert written(PASS, Color.BLACK, RULESETS["wpi"]) == "(B P 1)"
    assert written(D3, Color.BLACK, RULESETS["standard"]) == "d3"
    assert written(PASS, Color.BLACK, RULESETS["mini6"]) == "passes"
    for rules in RULESETS:
        position = Position.start(rules)
        for move in position.moves:
            text = written(move, position.to_move, position.ruleset)
            assert read_move(text, position) == move


# ------------------------------------------------------------------ names of openings


def test_all_lines_are_legal_and_end_in_different_positions() -> None:
    rows = LINES.splitlines()
    assert len(named_positions()) == len(rows) == 77
    assert len({row.partition(" ")[2] for row in rows}) == len(rows)


def test_the_last_name_holds() -> None:
    for text, name in {
        "f5": "",
        "c4e3f6e6f5": "Tiger",
        "d3c5f6f5e6": "Tiger",  # the same, mirrored
        "f5d6c3d3c4": "Tiger",  # and turned
        "f5d6c3d3c4f4": "Tiger",  # until there is another name
        "c4e3f6e6f5c5c3": "Stephenson",
        "f5f6": "Diagonal Opening",
        "f5f4": "Parallel Opening",
    }.items():
        assert opening_names(game_of(text, ruleset("standard")))[-1] == name
    assert opening_names(GameState(Position.start("mini4"))) == [""]
    assert set(opening_names(game_of("c4", ruleset("wpi")))) == {""}


def test_every_form_of_a_line_has_its_name() -> None:
    position = Position.from_transcript("c4e3f4c5d6f3e6c3d3e2")
    forms = {
        Position(int(mover), int(opponent), position.to_move).canonical()
        for mover, opponent in symmetric_forms(*position.masks, 8)
    }
    assert {named_positions()[form] for form in forms} == {"Rose"}
