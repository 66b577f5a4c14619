"""The rules of Othello in plain Python: the reading twin of :mod:`core.bitboard`.

Nothing here is compiled, and nothing of the lab is imported. Discs are masks of Python's own whole
numbers, a1 = bit 0, and ``side`` is the number of squares along an edge. The tests hold the
kernels to these rules, and ``othello-lab verify --independent`` checks records by them.

>>> black, white = 1 << 28 | 1 << 35, 1 << 27 | 1 << 36
>>> [square for square in range(64) if legal_moves(black, white) >> square & 1]
[19, 26, 37, 44]
>>> flips(black, white, 19) == 1 << 27
True
"""

from __future__ import annotations

from functools import cache

DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""Steps by row and column."""


@cache
def lines(side: int) -> dict[int, list[list[int]]]:
    """Return the lines that lead away from each square of the board, the nearest square first;
    every square but the key is a mask of one bit."""
    rays: dict[int, list[list[int]]] = {}
    for row in range(side):
        for column in range(side):
            away = rays.setdefault(8 * row + column, [])
            for down, right in DIRECTIONS:
                line = []
                y, x = row + down, column + right
                while 0 <= y < side and 0 <= x < side:
                    line.append(1 << 8 * y + x)
                    y, x = y + down, x + right
                away.append(line)
    return rays


def flips(mover: int, opponent: int, square: int, side: int = 8) -> int:
    """Return the discs of ``opponent`` that a disc of ``mover`` on an empty square turns; 0 if the
    move is illegal.

    Along each line away from the square: the discs of the other side that follow without a gap, if
    a disc of the own side comes right after them.
    """
    turned = 0
    for line in lines(side)[square]:
        between = 0
        for square_mask in line:
            if not opponent & square_mask:
                if mover & square_mask:
                    turned |= between
                break
            between |= square_mask
    return turned


def legal_moves(mover: int, opponent: int, side: int = 8) -> int:
    """Return the empty squares on which a disc of ``mover`` turns at least one."""
    moves = 0
    for square in lines(side):
        if not (mover | opponent) >> square & 1 and flips(mover, opponent, square, side):
            moves |= 1 << square
    return moves
