"""Games in WTHOR, and what is said of files that are none."""

from __future__ import annotations

import struct
from datetime import date

import numpy as np
import pytest

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


def random_game(rng: np.random.Generator) -> tuple[list[int], Position]:
    """The plies of a game, passes included, and its end."""
    position, plies = Position.start(), []
    while not position.is_over:
        plies.append(int(rng.choice(position.moves or (PASS,))))
        position = position.play(plies[-1])
    return plies, position


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


def round_trip(count: int) -> None:
    rng = np.random.default_rng(count)
    games, ends = [], []
    for number in range(count):
        plies, end = random_game(rng)
        moves = bytes(ply for ply in plies if ply != PASS)
        discs = int(rng.integers(65))
        games.append(WthorGame(moves, discs, number % 7, number % 11, number % 3))
        ends.append((end, plies))
    again = parse_wthor(format_wthor(games, DAY, 2026))
    assert again == games
    for game, (end, plies) in zip(again, ends, strict=True):
        words = [square_name(move) for move in game.moves]
        assert Position.start().follow(words) == (end, tuple(plies))


def test_games_make_the_round_trip() -> None:
    round_trip(50)


@pytest.mark.integration
def test_many_games_make_the_round_trip() -> None:
    round_trip(3000)


def changed(at: int, *new: int) -> bytes:
    content = bytearray(format_wthor(2 * [WthorGame(bytes([37, 43]), 32)], DAY, 2026))
    content[at : at + len(new)] = new
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "byte 0: the file ends in its header"),
        (changed(0)[:9], "byte 9: the file ends in its header, which has 16 bytes"),
        (changed(0)[:100], "byte 100: 2 games make 152 bytes, and the file has 100"),
        (changed(0) + b"x", "byte 152: 2 games make 152 bytes, and the file has 153"),
        (changed(4, 255, 255, 255, 255), "4,294,967,295 games make 292,057,776,076 bytes, and"),
        (changed(12, 10), "byte 12: a board of 10x10; 8x8 is expected"),
        (changed(13, 1), "byte 13: a file of kind 1; games, kind 0, are expected"),
        (changed(offset(1) + 8, 19), "byte 92: 19 as move 1 of game 2; 11 (a1) to 88 (h8) is"),
        (changed(offset(0) + 9, 0, 37), "byte 25: 0 as move 2 of game 1; 11 (a1) to 88 (h8) is"),
        (format_names(["a"], PLAYERS, DAY), "byte 8: 1 names; a file of games, which has none,"),
    ],
)
def test_what_is_no_file_of_games_is_told_with_its_byte(content: bytes, complaint: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_wthor(content)
    assert str(caught.value).startswith(complaint) or complaint in str(caught.value)


def test_a_board_of_0_is_the_usual_one() -> None:
    assert len(parse_wthor(changed(12, 0))) == 2
