"""The board of PAIP's Othello (Norvig, chapter 18) and its Python versions, a list of 100 squares.

``@`` is black, ``o`` white, ``.`` empty, ``?`` the edge around them; a1 is 11, h1 is 18, h8 is 88.
"""

from __future__ import annotations

from collections.abc import Sequence

from othello_lab.core.bitboard import bits
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

PIECES = {Color.BLACK: "@", Color.WHITE: "o"}
_OUTER, _EMPTY = "?", "."
_BOARD = [_EMPTY if 1 <= row <= 8 and 1 <= column <= 8 else _OUTER
          for row in range(10) for column in range(10)]  # fmt: skip


def board_list(black: int, white: int) -> list[str]:
    """Make a fresh list of an 8x8 board from its masks."""
    board = _BOARD.copy()
    for mask, piece in ((black, PIECES[Color.BLACK]), (white, PIECES[Color.WHITE])):
        for square in bits(mask):
            board[list_index(square)] = piece
    return board


def position_of(player: str, board: Sequence[str]) -> Position:
    """Return the position of such a list, with this player to move."""
    masks = dict.fromkeys(PIECES.values(), 0)
    for square in range(64):
        piece = board[list_index(square)]
        if piece in masks:
            masks[piece] |= 1 << square
    color = Color.BLACK if player == PIECES[Color.BLACK] else Color.WHITE
    return Position(masks[PIECES[color]], masks[PIECES[color.other]], color)


def list_index(square: int) -> int:
    """Return the index in the list of a square (a1 = 0 ... h8 = 63)."""
    row, column = divmod(square, 8)
    return 10 * (row + 1) + column + 1


def square_at(index: int) -> int:
    """Return the square (a1 = 0 ... h8 = 63) at an index of the list; raises ValueError."""
    row, column = divmod(index, 10)
    if not (1 <= row <= 8 and 1 <= column <= 8):
        raise ValueError(f"{index}: not a square (squares are 11 for a1 to 88 for h8)")
    return 8 * (row - 1) + column - 1
