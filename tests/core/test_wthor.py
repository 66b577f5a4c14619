"""Games in WTHOR, and what is said of files that are none."""

from __future__ import annotations

import struct
from datetime import date

import numpy as np
import pytest
from boards import played_out
from refusals import refused

from othello_lab import PASS, NotationError, Position
from othello_lab.core.notation import square_name
from othello_lab.core.wthor import (
    PLAYERS,
    TOURNAMENTS,
    WthorGame,
    fitting,
    format_names,
    format_wthor,
    offset,
    parse_wthor,
)

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
    again = parse_wthor(format_wthor(games, DAY, 2026))
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
        parse_wthor(content)
    assert len(parse_wthor(changed(12, 0))) == 2, "a board of 0 is the usual one"
