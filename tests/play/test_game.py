"""A game that can be taken back, and how its end is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.play.game import GameState, line_text, outcome, value_text


def game_of(transcript: str) -> GameState:
    game = GameState(Position.start())
    _, moves = game.start.follow([transcript[i : i + 2] for i in range(0, len(transcript), 2)])
    game.follow(moves, "human")
    return game


def test_an_illegal_move_changes_nothing() -> None:
    game = game_of("f5d6")
    with pytest.raises(IllegalMove, match="square occupied"):
        game.play(37, "human")
    assert line_text(game.moves) == "f5 d6"


def test_taking_back_goes_to_the_last_decision_of_a_player() -> None:
    game = game_of("f5d6c3d3")
    assert game.take_back([Color.BLACK]) == 2
    assert line_text(game.moves) == "f5 d6"
    assert game.take_back(Color) == 1
    assert game.take_back([Color.WHITE]) == 0
    assert line_text(game.moves) == "f5"


def test_a_forced_pass_is_nobodys_decision(
    random_game: Callable[[str, int], list[Position]],
) -> None:
    games = (random_game("mini4", seed) for seed in range(300))
    positions = next(each for each in games if any(now.must_pass for now in each))
    game = GameState(positions[0])
    for after in positions[1:]:
        now = game.position
        game.play(next(m for m in (now.moves or (PASS,)) if now.play(m) == after), "x")
        if game.moves[-1] == PASS:
            break
    assert game.take_back(Color) == 2
    assert PASS not in game.moves


def test_who_resigns_loses_by_the_whole_board() -> None:
    game = game_of("f5d6c3")
    game.resigned = Color.BLACK
    assert game.is_over
    assert game.winner is Color.WHITE
    assert game.margin == 64
    assert "Black resigns: White wins by 64, the whole board. Black 5" in outcome(game)
    assert GameState(Position.start("mini4"), resigned=Color.WHITE).margin == 16


def test_the_end_is_told_with_winner_score_and_margin() -> None:
    lost = GameState(Position.from_obf("X" * 40 + "O" * 24 + " X"))
    assert outcome(lost) == "The game is over: Black wins by 16. Black 40, White 24."
    drawn = GameState(Position.from_obf("X" * 32 + "O" * 32 + " X"))
    assert outcome(drawn) == "The game is over: a draw, 32 : 32."
    early = GameState(Position.from_obf("OO" + "-" * 62 + " X"))
    assert "White wins by 64, the empty squares counted. Black 0, White 2" in outcome(early)


def test_values_are_told_as_people_read_them() -> None:
    assert value_text(12) == "+12"
    assert value_text(-3 << 24) == "loss by 3"
    assert value_text(0) == "+0"
    assert value_text(0.25) == "+0.250"
    assert value_text(None) == "none"
