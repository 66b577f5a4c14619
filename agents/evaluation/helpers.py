"""What a heuristic of one's own can use: all of it works in compiled and in ordinary Python.

Each helper is an ordinary function, which compiled code can call too.

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
    """The mask of squares named with blanks between them, e.g. ``"a1 h8"``; to be called outside
    the heuristic. Raises ValueError for a name that is no square."""
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
    """Number of squares in a mask."""
    return int(mask).bit_count()


# What compiled code calls instead.
overload(count)(lambda mask: lambda mask: bitboard.popcount(np.uint64(mask)))


@register_jitable
def moves(mover: np.uint64, opponent: np.uint64) -> np.uint64:
    """Mask of the legal moves of the side whose discs come first."""
    return np.uint64(bitboard.legal_moves(np.uint64(mover), np.uint64(opponent)))


@register_jitable
def flips(mover: np.uint64, opponent: np.uint64, square: int) -> np.uint64:
    """Mask of the discs that a move to ``square`` (0 to 63) would flip."""
    return np.uint64(bitboard.flips(np.uint64(mover), np.uint64(opponent), np.uint64(square)))


@register_jitable
def around(mask: np.uint64) -> np.uint64:
    """The squares of a mask and all their neighbours, also diagonal ones."""
    return np.uint64(bitboard.neighbours(np.uint64(mask)))


@register_jitable
def shift(mask: np.uint64, direction: int) -> np.uint64:
    """All squares of a mask moved one step; those that would leave the board are dropped."""
    moved = np.uint64(mask)
    if direction in (EAST, SOUTH_EAST, NORTH_EAST):
        moved &= bitboard.NOT_H
    if direction in (WEST, NORTH_WEST, SOUTH_WEST):
        moved &= bitboard.NOT_A
    if direction > 0:
        return moved << np.uint64(direction)
    return moved >> np.uint64(-direction)
