"""How people write moves."""

from __future__ import annotations

import pytest

from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS, Color
from othello_lab.play.moves import looks_like_move, read_move, written

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
