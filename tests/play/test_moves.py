"""How people write moves."""

from __future__ import annotations

import pytest

from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS, Color
from othello_lab.play.moves import looks_like_move, read_move, written

D3 = 19


@pytest.mark.parametrize(
    "text", ["d3", "D3", "(B D 3)", "b d 3", "( B d 3 )", "3 4", "3,4", "(3 4)"]
)
def test_ways_to_write_a_move(text: str) -> None:
    assert looks_like_move(text)
    assert read_move(text, Position.start()) == D3


@pytest.mark.parametrize("text", ["--", "pass", "PA", "(B P 1)"])
def test_ways_to_write_a_pass(text: str) -> None:
    assert looks_like_move(text)
    assert read_move(text, Position.start()) == PASS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(W D 3)", "black is to move"),
        ("i9", "not a square"),
        ("d9", "not a square"),
        ("0 4", "row and column"),
        ("9 1", "row and column"),
        ("(B Z 3)", "not a square"),
        ("(B D 33)", "not a square"),
    ],
)
def test_what_is_no_move_is_refused_with_the_reason(text: str, why: str) -> None:
    assert looks_like_move(text)
    with pytest.raises(IllegalMove, match=why):
        read_move(text, Position.start())


@pytest.mark.parametrize("text", ["help", "undo", "depth 3", "", "d", "34", "hint 3"])
def test_commands_are_no_moves(text: str) -> None:
    assert not looks_like_move(text)


def test_the_ruleset_says_how_a_move_is_written() -> None:
    assert written(D3, Color.WHITE, RULESETS["wpi"]) == "(W D 3)"
    assert written(PASS, Color.BLACK, RULESETS["wpi"]) == "(B P 1)"
    assert written(D3, Color.BLACK, RULESETS["standard"]) == "d3"
    assert written(PASS, Color.BLACK, RULESETS["mini6"]) == "passes"


@pytest.mark.parametrize("rules", RULESETS)
def test_what_is_written_can_be_read(rules: str) -> None:
    position = Position.start(rules)
    for move in position.moves:
        assert read_move(written(move, position.to_move, position.ruleset), position) == move
