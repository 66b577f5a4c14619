"""Stable discs can never be flipped again; here a quick lower bound of them.

A disc is counted as stable if, in each of the four line directions, it cannot be flipped: because
the line through it has no empty square left, or because its neighbour in that direction is a stable
disc of its own colour. Discs on an edge can be flipped along the edge only, and all sequences there
are tried out once and for all. The count is a sound lower bound: it may miss stable discs that need
a longer argument, but a counted disc is never flipped.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from othello_lab.core.bitboard import (
    BYTE,
    FILE_A,
    NOT_A,
    NOT_H,
    ONE,
    TOP_BYTE,
    ZERO,
    file_a_as_byte,
)
from othello_lab.core.system.compile import Array, Mask, kernel

_EDGE = 8
_INSIDE = np.uint64(0x007E7E7E7E7E7E00)
_DIAGONAL = np.uint64(0x8040201008040201)
_TO_COLUMN_H = np.uint64(0x00406070787C7E7F)  # row r: what lifts bit r, if set, to bit 7
_TWO, _FOUR = np.uint64(2), np.uint64(4)
_SEVEN, _EIGHT, _NINE = np.uint64(7), np.uint64(8), np.uint64(9)
_SIXTEEN, _THIRTY_TWO = np.uint64(16), np.uint64(32)


# ------------------------------------------------------------------ edges, tried out in advance


def _played_on_edge(mine: int, theirs: int, square: int) -> tuple[int, int]:
    """Return masks of an edge after a disc is put on an empty square of it, with its flips."""
    flipped = 0
    for step in (1, -1):
        run, at = 0, square + step
        while 0 <= at < _EDGE and theirs >> at & 1:
            run, at = run | 1 << at, at + step
        if 0 <= at < _EDGE and mine >> at & 1:
            flipped |= run
    return mine | flipped | 1 << square, theirs & ~flipped


@cache
def _stable_on_edge(mine: int, theirs: int) -> tuple[int, int]:
    """Return the discs of each side that survive all moves of both sides on this edge."""
    stable_own, stable_other = mine, theirs
    for square in range(_EDGE):
        if (mine | theirs) >> square & 1:
            continue
        after_own, after_other = _stable_on_edge(*_played_on_edge(mine, theirs, square))
        stable_own, stable_other = stable_own & after_own, stable_other & after_other
        after_other, after_own = _stable_on_edge(*_played_on_edge(theirs, mine, square))
        stable_own, stable_other = stable_own & after_own, stable_other & after_other
    return stable_own, stable_other


def base_3(mask: int) -> int:
    """The number in base 3 that has a digit 1 where a mask of an edge's 8 squares has a bit."""
    return sum(3**square for square in range(_EDGE) if mask >> square & 1)


EDGE_TABLE_SIZE = 256 + 3**_EDGE
"""Numbers in :func:`edge_table`."""


@cache
def edge_table() -> np.ndarray:
    """The own stable discs of every edge as a mask, bit 0 for a1.

    Shape (6817,), int32: first, for each mask of 8 squares, its number in base 3; then, for each
    of the 3^8 edges numbered that way (0 empty, 1 own, 2 other), the mask.
    """
    table = np.zeros(EDGE_TABLE_SIZE, dtype=np.int32)
    table[:256] = [base_3(mask) for mask in range(256)]
    for mine in range(256):
        for theirs in range(256):
            if not mine & theirs:
                number = table[mine] + 2 * table[theirs]
                table[256 + number] = _stable_on_edge(mine, theirs)[0]
    return table


# ------------------------------------------------------------------ kernels


@kernel
def _spread(empty: Mask, step: np.uint64, up: Mask, down: Mask) -> Mask:
    """All diagonals in one direction with an empty square; ``up``, ``down`` keep off the edge."""
    above, below = empty, empty
    for _ in range(3):
        above |= up & (above << step)
        below |= down & (below >> step)
        up &= up << step
        down &= down >> step
        step += step
    return above | below


@kernel
def _full_lines(occupied: Mask) -> tuple[Mask, Mask, Mask, Mask]:
    """The squares of all rows, files, falling and rising diagonals without an empty square."""
    rows = occupied & (occupied >> ONE)
    rows &= rows >> _TWO
    rows &= rows >> _FOUR
    files = occupied & (occupied >> _EIGHT)
    files &= files >> _SIXTEEN
    files &= files >> _THIRTY_TWO
    falling = ~_spread(~occupied, _NINE, NOT_A, NOT_H)
    rising = ~_spread(~occupied, _SEVEN, NOT_H, NOT_A)
    return (rows & FILE_A) * BYTE, (files & BYTE) * FILE_A, falling, rising


@kernel
def _stable_on_edges(mover: Mask, opponent: Mask, table: Array) -> Mask:
    """The mover's discs on the four edges that no sequence there can flip."""
    stable = _stable_edge(table, mover & BYTE, opponent & BYTE)
    stable |= _stable_edge(table, mover >> TOP_BYTE, opponent >> TOP_BYTE) << TOP_BYTE
    # A file is gathered into one byte, and its stable discs are scattered again.
    west = _stable_edge(table, file_a_as_byte(mover), file_a_as_byte(opponent))
    east = _stable_edge(table, file_a_as_byte(mover >> _SEVEN), file_a_as_byte(opponent >> _SEVEN))
    return stable | _scattered(west) | (_scattered(east) << _SEVEN)


@kernel
def _with_inner(
    stable: Mask, discs: Mask, rows: Mask, files: Mask, falling: Mask, rising: Mask
) -> Mask:
    """Stable discs of an edge and those of the inside, neighbour by neighbour, by full lines."""
    inside = discs & _INSIDE
    stable |= rows & files & falling & rising & inside
    if stable == ZERO:
        return stable
    while True:
        more = (
            inside
            & (rows | (stable << ONE) | (stable >> ONE))
            & (files | (stable << _EIGHT) | (stable >> _EIGHT))
            & (falling | (stable << _NINE) | (stable >> _NINE))
            & (rising | (stable << _SEVEN) | (stable >> _SEVEN))
        )
        if more & ~stable == ZERO:
            return stable
        stable |= more


@kernel
def stable_discs(mover: Mask, opponent: Mask, table: Array) -> Mask:
    """Mask of the mover's discs that can never be flipped, a sound lower bound.

    table: :func:`edge_table`, as an array or a pointer to its first element.
    """
    edges = _stable_on_edges(mover, opponent, table)
    return _with_inner(edges, mover, *_full_lines(mover | opponent))


@kernel
def stable_discs_of_both(mover: Mask, opponent: Mask, table: Array) -> tuple[Mask, Mask]:
    """The mover's and the opponent's :func:`stable_discs`, in less time than one after the
    other."""
    lines = _full_lines(mover | opponent)
    mine = _with_inner(_stable_on_edges(mover, opponent, table), mover, *lines)
    theirs = _with_inner(_stable_on_edges(opponent, mover, table), opponent, *lines)
    return mine, theirs


@kernel
def _stable_edge(table: Array, mine: Mask, theirs: Mask) -> Mask:
    """The own stable discs of an edge given as two masks of 8 bits."""
    number = table[np.int64(mine)] + 2 * table[np.int64(theirs)]
    return np.uint64(table[256 + np.int64(number)])


@kernel
def _scattered(edge: Mask) -> Mask:
    """8 bits back on the a-file, bit 0 on a1."""
    diagonal = (edge * FILE_A) & _DIAGONAL  # bit r of row r
    return ((diagonal + _TO_COLUMN_H) >> _SEVEN) & FILE_A
