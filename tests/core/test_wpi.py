"""Moves as the file-protocol tournament writes them."""

from __future__ import annotations

import pytest
from boards import random_game
from refusals import refused

from othello_lab import PASS, RULESETS, Color, IllegalMove, Position
from othello_lab.core.wpi import color_letter, may_go_on, move_text, read_move

START = Position.start("wpi")
PASSING = Position.from_obf(f"XO{'-' * 14}XO{'-' * 46} X", "wpi").play("c1")


def test_all_moves_of_games_are_read_as_they_are_written() -> None:
    for rules in RULESETS:
        for position in random_game(rules, 3)[:-1]:
            for move in position.moves or (PASS,):
                text = move_text(move, position.to_move, position.ruleset)
                assert read_move(text, position) == move
                assert read_move(f"  {text.lower()}\r\n", position) == move


def test_who_begins_is_called_white() -> None:
    assert START.to_move is Color.WHITE
    assert color_letter(Color.WHITE, RULESETS["wpi"]) == "W"
    assert color_letter(Color.WHITE, RULESETS["standard"]) == "B"
    assert move_text(19, Color.BLACK, RULESETS["standard"]) == "(W D 3)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(W D 4)", "'(W D 4)': occupied"),
        ("(W A 1)", "'(W A 1)': traps nothing"),
        ("(B D 3)", "'(B D 3)': colour; W"),
        ("(W D 9)", "'(W D 9)': not on the board A to H, 1 to 8"),
        ("(W D 0)", "not on the board"),
        ("(W D 123456789)", "not on the board"),
        ("(W I 1)", "not on the board"),
        ("(W P 1)", "'(W P 1)': pass d3, c4, f5, e6"),
        ("(w  p   77 )", "'(w p 77 )': pass"),
        ("(W P)", "'(W P)': malformed; (W D 3)"),
        *((text, "malformed") for text in ("", "W D 3", "(W D 3", "(W D 3) (W C 4)", "(W 3 D)")),
        *((text, "malformed") for text in ("(X D 3)", "(W D3)", "(W D -3)")),
        ("(W D \N{ARABIC-INDIC DIGIT THREE})", "malformed"),
        ("\N{LATIN SMALL LETTER LONG S}" * 100, "\N{LATIN SMALL LETTER LONG S}...': malformed"),
        ("(W D 3" + " " * 5000 + ")", "malformed"),
    ],
)
def test_what_is_no_legal_move_is_told(text: str, words: str) -> None:
    with refused(*words.split(), error=IllegalMove):
        read_move(text, START)


def test_each_beginning_of_a_move_may_go_on() -> None:
    for whole in (" ( w  d\t 3 )", "(B P 12)", "(W D 3)"):
        for length in range(len(whole)):
            assert may_go_on(whole[:length]), whole[:length]
        assert not may_go_on(whole) and not may_go_on(whole + "\n")
    for text in ("x", "(W D 3) ", "(W D 3)(", "W", "(WD", "((", "(W 3", " " * 5000):
        assert not may_go_on(text), text


def test_a_pass_may_have_any_row() -> None:
    assert PASSING.must_pass
    letter = color_letter(PASSING.to_move, PASSING.ruleset)
    for row in ("1", "9", "0", "42"):
        assert read_move(f"({letter} P {row})", PASSING) == PASS
