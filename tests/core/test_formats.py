"""Games in GGF and WTHOR, moves as the file-protocol tournament writes them, and what is said of
those that cannot be read."""

from __future__ import annotations

import struct
from datetime import date

import numpy as np
import pytest
from boards import played_out, random_game, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from othello_lab import PASS, RULESETS, Color, IllegalMove, NotationError, Position
from othello_lab.core.notation import format_ggf, is_ggf, is_obf, parse_ggf, square_name
from othello_lab.core.wpi import color_letter, may_go_on, move_text, read_move
from othello_lab.core.wthor import (
    PLAYERS,
    TOURNAMENTS,
    WthorGame,
    fitting,
    format_names,
    format_wthor,
    numbered_games,
    offset,
)

# As the Generic Game Server writes it.
START = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"
GAME = (
    "(;GM[Othello]PC[GGS/os]DT[2003-12-15_13:24:03.MST]PB[one]PW[two]RB[2197.01]RW[2199.72]"
    f"TI[05:00//02:00]TY[8]RE[-12.00]BO[{START}]B[d3//0.01]W[C5/1.5/2]B[e6]W[f5//0.1];)"
)


def test_a_game_as_the_server_writes_it() -> None:
    (game,) = parse_ggf(GAME)
    assert game.side == 8
    assert game.words == ("d3", "C5", "e6", "f5")
    assert game.colors == (Color.BLACK, Color.WHITE) * 2
    position = Position.from_obf(game.start)
    assert position == Position.start()
    after, plies = position.follow(game.words, game.colors)
    assert after == Position.from_transcript("d3c5e6f5")
    assert plies == (19, 34, 44, 37)


@pytest.mark.parametrize("between", ["", " ", "\n", "2 "])
def test_several_games_in_one_text(between: str) -> None:
    assert parse_ggf(between + GAME + between + GAME) == 2 * parse_ggf(GAME)


@given(
    name=st.sampled_from(list(RULESETS)),
    seed=seeds,
    length=st.integers(0, 60),
    passes=st.booleans(),
)
@settings(max_examples=60)
def test_what_is_written_is_read(name: str, seed: int, length: int, passes: bool) -> None:
    """Any game under any rules, with its passes or without them."""
    turns = played_out(name, seed)[:length]
    expected = [(position.to_move, move) for position, move in turns if move != PASS or not passes]
    obf = Position.start(name).to_obf()
    text = format_ggf(obf, expected, PB="a [b]; \\c", PW="gr\u00f6\u00dfer\n")
    assert "PB[a b c]PW[gr\u00f6\u00dfer]" in text and "\n" not in text
    (game,) = parse_ggf(text)
    assert game.words == tuple(square_name(m).upper() if m != PASS else "PA" for _, m in expected)
    plies = [move for _, move in turns]
    while passes and plies and plies[-1] == PASS:
        plies.pop()  # nothing after it tells of it
    begin = Position.from_obf(game.start, name)
    assert begin == Position.start(name)
    assert begin.follow(game.words, game.colors)[1] == tuple(plies)


BAD = {
    "(;GM[Othello]B[d3]": ";)",
    "(;GM[Othello]BO[": "B[d3] 'BO['",
    "(;GM[Othello] d3;)": "B[d3] 'd3;)'",
    f"{GAME} and more": "(; 'and more'",
    "(;GM[Go]BO[8];)": "GM[Go]: Othello",
    f"(;BO[{START}];)": "GM[...]",
    "(;GM[Othello]B[d3];)": "BO[...]",
    GAME.replace("TY[8]", "TY[8a]"): "TY[8a]: fewest",
    GAME.replace("BO[8", "BO[6"): "edge squares, side",
    "(;GM[Othello]BO[];)": "BO[]: edge",
}


@pytest.mark.parametrize("text", BAD, ids=str)
def test_text_that_is_no_game(text: str) -> None:
    with refused(*BAD[text].split(), error=NotationError):
        parse_ggf(text)


def test_a_move_by_the_wrong_side() -> None:
    for words, second, named in (
        (["d3", "c5"], Color.BLACK, "move 2 of|c5: white"),
        (["d3", "d3"], Color.WHITE, "move 2 of|d3:|occupied"),
    ):
        with refused(*named.split("|"), error=NotationError):
            Position.start().follow(words, [Color.BLACK, second])


def test_a_line_tells_what_it_is() -> None:
    obf = Position.start().to_obf()
    assert [is_ggf(text) for text in (GAME, obf, "f5d6c3", "")] == [True, False, False, False]
    assert [is_obf(text) for text in (f"{obf}; C4:+2;", "f5 d6", "")] == [True, False, False]


# ------------------------------------------------------------------ WTHOR

DAY = date(2026, 1, 31)


def test_the_bytes_are_as_the_format_defines_them() -> None:
    squares = bytes([37, 0, 7, 56, 63])  # f5 a1 h1 a8 h8
    content = format_wthor([WthorGame(squares, 40, 258, 3, 1)], DAY, 2025)
    assert content[:16] == bytes([20, 26, 1, 31, 1, 0, 0, 0, 0, 0, 0xE9, 7, 8, 0, 0, 0])
    game = content[16:]
    assert len(game) == 68
    assert struct.unpack("<HHH", game[:6]) == (1, 258, 3)
    assert tuple(game[6:13]) == (40, 40, 56, 11, 18, 81, 88)
    assert game[13:] == bytes(55)
    players = format_names(["Ann", "B\u00e9n\u00e9"], PLAYERS, DAY)
    assert players[:16] == bytes([20, 26, 1, 31, 0, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0])
    assert players[16:36] == b"Ann" + bytes(17)
    assert players[36:] == "B\u00e9n\u00e9".encode("latin-1") + bytes(16)
    assert len(format_names(["cup"], TOURNAMENTS, DAY)) == 16 + 26


def test_names_are_cut_to_what_fits() -> None:
    assert fitting("x" * 30, PLAYERS) == "x" * 19
    assert fitting("x" * 30, TOURNAMENTS) == "x" * 25
    assert fitting("\u9ed2 n\u00b0 1", PLAYERS) == "? n\u00b0 1"


@pytest.mark.parametrize("count", [50, pytest.param(3000, marks=pytest.mark.nightly)])
def test_games_make_the_round_trip(count: int) -> None:
    rng = np.random.default_rng(count)
    games, ends = [], []
    for number in range(count):
        turns = played_out("standard", number)
        moves = bytes(move for _, move in turns if move != PASS)
        discs = int(rng.integers(65))
        games.append(WthorGame(moves, discs, number % 7, number % 11, number % 3))
        position, last = turns[-1]
        ends.append((position.play(last), tuple(move for _, move in turns)))
    again = [game for _, game in numbered_games(format_wthor(games, DAY, 2026))]
    assert again == games
    for game, end in zip(again, ends, strict=True):
        assert Position.start().follow([square_name(move) for move in game.moves]) == end


def changed(at: int, *new: int) -> bytes:
    content = bytearray(format_wthor(2 * [WthorGame(bytes([37, 43]), 32)], DAY, 2026))
    content[at : at + len(new)] = new
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "byte 0:|header"),
        (changed(0)[:9], "byte 9:|header|16"),
        (changed(0)[:100], "byte 100: 2 games|152 bytes|has 100"),
        (changed(0) + b"x", "byte 152: 2 games|152 bytes|has 153"),
        (changed(4, 255, 255, 255, 255), "4,294,967,295|292,057,776,076"),
        (changed(12, 10), "byte 12:|10x10|8x8"),
        (changed(13, 1), "byte 13:|kind 1|kind 0"),
        (changed(offset(1) + 8, 19), "byte 92: 19 |move 1 of game 2|11 (a1)|88 (h8)"),
        (changed(offset(0) + 9, 0, 37), "byte 25: 0 |move 2 of game 1"),
        (format_names(["a"], PLAYERS, DAY), "byte 8: 1 "),
    ],
)
def test_what_is_no_file_of_games_is_told_with_its_byte(content: bytes, words: str) -> None:
    with refused(*words.split("|"), error=NotationError):
        numbered_games(content)
    assert len(numbered_games(changed(12, 0))) == 2, "a board of 0 is the usual one"


# ------------------------------------------------------------------ the file-protocol tournament

WPI_START = Position.start("wpi")
PASSING = Position.from_obf(f"XO{'-' * 14}XO{'-' * 46} X", "wpi").play("c1")


def test_all_moves_of_games_are_read_as_they_are_written() -> None:
    for rules in RULESETS:
        for position in random_game(rules, 3)[:-1]:
            for move in position.moves or (PASS,):
                text = move_text(move, position.to_move, position.ruleset)
                assert read_move(text, position) == move
                assert read_move(f"  {text.lower()}\r\n", position) == move


def test_who_begins_is_called_white() -> None:
    assert WPI_START.to_move is Color.WHITE
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
        read_move(text, WPI_START)


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
