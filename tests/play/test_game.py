"""A game that can be taken back, and how its end is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.play.game import GameState, line_text, outcome, value_text
from othello_lab.play.game_files import game_of

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
    positions = next(each for each in games if any(now.must_pass for now in each))
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
    for board, told in {
        "X" * 40 + "O" * 24: "Black wins by 16. Black 40, White 24",
        "X" * 32 + "O" * 32: "a draw, 32 : 32",
        "OO" + "-" * 62: "White wins by 64, the empty squares counted. Black 0, White 2",
    }.items():
        assert told in outcome(GameState(Position.from_obf(f"{board} X")))


def test_values_are_told_as_people_read_them() -> None:
    values = {12: "+12", -3 << 24: "loss by 3", 3 << 24: "win by 3", 0: "+0", 0.25: "+0.250"}
    assert {value: value_text(value) for value in values} == values
    assert value_text(None) == "none"
    assert value_text(-17, 100) == "-0.2 discs"  # of the champion
    assert value_text(3 << 24, 100) == "win by 3"
