"""Helpers for a user's heuristic; all work in compiled and in ordinary Python.

Each helper is an ordinary function that compiled code can call too.

Masks hold one bit a square, a1 = bit 0, h1 = bit 7, h8 = bit 63, as ``numpy.uint64``. Combine them
with ``&``, ``|``, ``^`` and ``~``; write constants with :func:`squares`, outside the function, so
that they are masks too (a plain number would turn a mask into a signed integer).

>>> CENTRE = squares("d4 e4 d5 e5")
>>> count(CENTRE), count(shift(CENTRE, NORTH) & ~CENTRE)
(4, 2)
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload, register_jitable

from othello_lab.core import bitboard
from othello_lab.core.notation import IllegalMove, parse_square


def squares(names: str) -> np.uint64:
    """Return the mask of squares named with blanks between them, such as ``"a1 h8"``.

    To be called outside the heuristic. Raises ValueError for a name that is no square.
    """
    mask = 0
    for name in names.split():
        square = parse_square(name)
        if square > 63:
            raise IllegalMove(f"{name!r}: not a square")
        mask |= 1 << square
    return np.uint64(mask)


ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
CORNERS = squares("a1 h1 a8 h8")
C_SQUARES = squares("b1 a2 g1 h2 a7 b8 h7 g8")
X_SQUARES = squares("b2 g2 b7 g7")
EDGES = np.uint64(0xFF818181818181FF)

EAST, SOUTH, SOUTH_WEST, SOUTH_EAST = 1, 8, 7, 9
WEST, NORTH, NORTH_EAST, NORTH_WEST = -1, -8, -7, -9
"""Directions for :func:`shift`, row 1 being north."""


def count(mask: np.uint64) -> int:
    """Return the number of squares in a mask."""
    return int(mask).bit_count()


# Compiled code calls this instead.
overload(count)(lambda mask: lambda mask: bitboard.popcount(np.uint64(mask)))


@register_jitable
def moves(mover: np.uint64, opponent: np.uint64) -> np.uint64:
    """Return the mask of the mover's legal moves."""
    return np.uint64(bitboard.legal_moves(np.uint64(mover), np.uint64(opponent)))


@register_jitable
def flips(mover: np.uint64, opponent: np.uint64, square: int) -> np.uint64:
    """Return the mask of the discs that a move to ``square`` (0 to 63) would flip."""
    return np.uint64(bitboard.flips(np.uint64(mover), np.uint64(opponent), np.uint64(square)))


@register_jitable
def around(mask: np.uint64) -> np.uint64:
    """Return the squares of a mask and all their neighbours, also diagonal ones."""
    return np.uint64(bitboard.neighbours(np.uint64(mask)))


@register_jitable
def shift(mask: np.uint64, direction: int) -> np.uint64:
    """Move all squares of a mask one step and drop those beyond the board."""
    moved = np.uint64(mask)
    if direction in (EAST, SOUTH_EAST, NORTH_EAST):
        moved &= bitboard.NOT_H
    if direction in (WEST, NORTH_WEST, SOUTH_WEST):
        moved &= bitboard.NOT_A
    if direction > 0:
        return moved << np.uint64(direction)
    return moved >> np.uint64(-direction)
