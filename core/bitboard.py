"""The board as two 64-bit masks, and the kernels that make moves on it.

A mask holds one bit a square, a1 = bit 0, h1 = bit 7, h8 = bit 63, in every ruleset; a 6x6 or 4x4
board is the corner a1..f6 or a1..d4 of the 8x8 one. A position is the pair *(mover, opponent)*: the
discs of the side to move and of the other side. All kernels take and return ``uint64`` masks (from
Python: ``numpy.uint64``).

:func:`legal_moves`, :func:`has_short_move`, :func:`flips` and :func:`advance` exist twice, as
vector code (:mod:`core.vector`) and in plain form here. The choice is made once, at import: vector
code on x86-64 with AVX2, the plain form elsewhere or if the environment variable
``OTHELLO_LAB_PORTABLE`` is set.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

import numpy as np

from othello_lab.core import vector
from othello_lab.core.system.compile import (
    Int,
    Mask,
    ScalarKernel,
    Square,
    kernel,
    portable_requested,
    processor,
)
from othello_lab.core.vector import highest_bit, popcount
from othello_lab.core.vector import lowest_square as lowest_square

# Constants of the kernels' own type: a literal mixed with uint64 would turn the result into int64.
ZERO, ONE = np.uint64(0), np.uint64(1)
BYTE = np.uint64(0xFF)
"""The first row; of any row shifted down to it, the eight squares."""
FILE_A = np.uint64(0x0101010101010101)
NOT_A, NOT_H = ~FILE_A, ~(FILE_A << np.uint64(7))
TOP_BYTE = np.uint64(56)
"""A shift by so much brings the top byte down."""
CORNERS = (0, 7, 56, 63)
"""a1, h1, a8, h8."""

_INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)
_EVERYWHERE = np.uint64(0xFFFFFFFFFFFFFFFF)
_UPWARD = np.array(vector.UPWARD, dtype=np.uint64)
_DOWNWARD = np.array(vector.DOWNWARD, dtype=np.uint64)


@kernel
def _line_moves(mover: Mask, opponent: Mask, inside: Mask, step: np.uint64) -> Mask:
    """Squares that bracket a run of opponent discs along one direction, both ways.

    The run is filled outward from the mover's discs in doubling steps: after the first two lines
    it covers runs of up to two discs, then four, then six, the longest that fit on the board.
    """
    twice = step + step
    run = opponent & inside
    up = run & (mover << step)
    down = run & (mover >> step)
    up |= run & (up << step)
    down |= run & (down >> step)
    pairs_up = run & (run << step)
    pairs_down = pairs_up >> step
    up |= pairs_up & (up << twice)
    down |= pairs_down & (down >> twice)
    up |= pairs_up & (up << twice)
    down |= pairs_down & (down >> twice)
    return (up << step) | (down >> step)


@kernel
def plain_legal_moves(mover: Mask, opponent: Mask) -> Mask:
    """As :func:`legal_moves`, without vector instructions."""
    ends = _line_moves(mover, opponent, _INNER_COLUMNS, np.uint64(1))
    ends |= _line_moves(mover, opponent, _EVERYWHERE, np.uint64(8))
    ends |= _line_moves(mover, opponent, _INNER_COLUMNS, np.uint64(7))
    ends |= _line_moves(mover, opponent, _INNER_COLUMNS, np.uint64(9))
    return ends & ~(mover | opponent)


@kernel
def _single_ends(mover: Mask, run: Mask, step: np.uint64) -> Mask:
    """Squares right behind a single disc of ``run`` beside the mover's, along one direction."""
    return ((run & (mover << step)) << step) | ((run & (mover >> step)) >> step)


@kernel
def plain_has_short_move(mover: Mask, opponent: Mask, board: Mask) -> bool:
    """As :func:`has_short_move`, without vector instructions."""
    inside = opponent & _INNER_COLUMNS
    ends = _single_ends(mover, inside, np.uint64(1)) | _single_ends(mover, opponent, np.uint64(8))
    ends |= _single_ends(mover, inside, np.uint64(7)) | _single_ends(mover, inside, np.uint64(9))
    return ends & board & ~(mover | opponent) != ZERO


@kernel
def plain_flips(mover: Mask, opponent: Mask, square: Square) -> Mask:
    """As :func:`flips`, without vector instructions."""
    flipped = ZERO
    for direction in range(4):
        ray = _UPWARD[square, direction]
        # Adding 1 to "opponent discs, and everything off the ray" carries through the run of
        # opponent discs to the first other square of the ray.
        end = ((opponent | ~ray) + ONE) & ray & mover
        if end != ZERO:
            flipped |= (end - ONE) & ray
        ray = _DOWNWARD[square, direction]
        end = highest_bit(ray & ~opponent) & mover
        if end != ZERO:
            flipped |= ray & (ZERO - (end << ONE))
    return flipped


@kernel
def vector_legal_moves(mover: Mask, opponent: Mask) -> Mask:
    """As :func:`legal_moves`, four directions at a time."""
    return vector.legal_moves(mover, opponent)


@kernel
def vector_flips(mover: Mask, opponent: Mask, square: Square) -> Mask:
    """As :func:`flips`, four directions at a time."""
    return vector.flips(mover, opponent, square)


@kernel
def vector_has_short_move(mover: Mask, opponent: Mask, board: Mask) -> bool:
    """As :func:`has_short_move`, four directions at a time."""
    return vector.has_short_move(mover, opponent, board)


VECTORISED = (
    not portable_requested()
    and platform.machine().lower() in ("x86_64", "amd64")
    and "avx2" in processor()[1]
)
"""Whether this process uses the vector kernels."""

legal_moves = vector_legal_moves if VECTORISED else plain_legal_moves
"""``legal_moves(mover, opponent) -> mask`` of the empty squares where the mover would flip at
least one disc, on the 8x8 board; on a smaller board intersect it with the board's mask."""

has_short_move = vector_has_short_move if VECTORISED else plain_has_short_move
"""``has_short_move(mover, opponent, board) -> bool``: True if on a square of ``board`` the mover
has a move that turns one disc alone in some direction. Nearly all positions with moves have one,
and it is found sooner than all moves are."""

flips = vector_flips if VECTORISED else plain_flips
"""``flips(mover, opponent, square) -> mask`` of the opponent discs that a disc of the mover on the
empty ``square`` (uint64, 0..63) turns; 0 where the move is illegal."""


LEGAL_MOVES = ScalarKernel(lambda mover, opponent: legal_moves(mover, opponent), 2)
"""``LEGAL_MOVES.open(mover, opponent)``: :func:`legal_moves` of Python's numbers."""
FLIPS = ScalarKernel(lambda mover, opponent, square: flips(mover, opponent, square), 3)
"""``FLIPS.open(mover, opponent, square)``: :func:`flips` of Python's numbers."""


@kernel
def after(mover: Mask, opponent: Mask, square: Square) -> tuple[Mask, Mask]:
    """The position after a legal move: mover and opponent of the next turn."""
    return after_flips(mover, opponent, square, flips(mover, opponent, square))


@kernel
def after_flips(mover: Mask, opponent: Mask, square: Square, flipped: Mask) -> tuple[Mask, Mask]:
    """As :func:`after`, with the flipped discs known."""
    return opponent ^ flipped, mover ^ flipped ^ (ONE << square)


@kernel
def plain_advance(mover: Mask, opponent: Mask, move: Mask) -> tuple[Mask, Mask, Mask]:
    """As :func:`advance`, without vector instructions."""
    mover, opponent = after(mover, opponent, lowest_square(move))
    return mover, opponent, legal_moves(mover, opponent)


@kernel
def vector_advance(mover: Mask, opponent: Mask, move: Mask) -> tuple[Mask, Mask, Mask]:
    """As :func:`advance`, four directions at a time."""
    return vector.advance(mover, opponent, move)


advance = vector_advance if VECTORISED else plain_advance
"""``advance(mover, opponent, move) -> mover, opponent, moves``: the next turn after a legal move,
and its legal moves on the 8x8 board. move: the mask of its square."""


# ------------------------------------------------------------------ one bit of a mask


def bits(mask: int) -> list[int]:
    """The squares of a mask in ascending order: a1, b1, ... h8."""
    squares = []
    while mask:
        squares.append((mask & -mask).bit_length() - 1)
        mask &= mask - 1
    return squares


_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_HIGH_BITS = np.uint64(0x8080808080808080)
_1, _2, _3, _4, _8 = (np.uint64(number) for number in (1, 2, 3, 4, 8))


def _bits_of_bytes() -> np.ndarray:
    """Entry 8 b + k: the index of the k-th set bit of the byte b, 0 where it has fewer."""
    table = np.zeros(256 * 8, dtype=np.uint64)
    for byte in range(256):
        for k, bit in enumerate(bits(byte)):
            table[8 * byte + k] = bit
    return table


_BIT_OF_BYTE = _bits_of_bytes()


@kernel
def plain_nth_bit(mask: Mask, n: np.uint64) -> Mask:
    """As :func:`nth_bit`, on any processor.

    There are no branches, because they would be guessed wrongly most of the time: the set bits of
    each byte are counted, summed up, and the byte in which the sum passes ``n`` is looked up.
    """
    counts = mask - ((mask >> _1) & _PAIRS)
    counts = (counts & _FOURS) + ((counts >> _2) & _FOURS)
    counts = (counts + (counts >> _4)) & _BYTES
    upto = counts * FILE_A  # in each byte the set bits of this and all lower bytes
    # The high bit of each byte of which the sum is not more than n: their number is the byte's.
    not_more = (((n * FILE_A) | _HIGH_BITS) - upto) & _HIGH_BITS
    first = np.uint64(popcount(not_more)) << _3
    before = ((upto << _8) >> first) & BYTE
    byte = (mask >> first) & BYTE
    return ONE << (first + _BIT_OF_BYTE[(byte << _3) + n - before])


@kernel
def deposited_nth_bit(mask: Mask, n: np.uint64) -> Mask:
    """As :func:`nth_bit`, by an instruction of the processor."""
    return vector.deposit(ONE << n, mask)


_SLOW_DEPOSIT = ("znver1", "znver2")
"""Processors that have the instruction, but take up to 290 cycles for it."""
nth_bit = (
    deposited_nth_bit
    if VECTORISED and "bmi2" in processor()[1] and processor()[0] not in _SLOW_DEPOSIT
    else plain_nth_bit
)
"""``nth_bit(mask, n) -> mask`` of the ``n``-th set bit of a mask, counted from 0 (both uint64)."""


# ------------------------------------------------------------------ arithmetic on masks

_ONE_ROW = np.uint64(8)
_GATHER = np.uint64(0x0102040810204080)


@kernel
def file_a_as_byte(mask: Mask) -> Mask:
    """The squares of a mask on file a as 8 bits, a1 in bit 0. A product brings them together in
    the top byte."""
    return ((mask & FILE_A) * _GATHER) >> TOP_BYTE


@kernel
def neighbours(mask: Mask) -> Mask:
    """The squares of ``mask`` and all their neighbours, also diagonal ones, on the 8x8 board."""
    wide = mask | ((mask << ONE) & NOT_A) | ((mask >> ONE) & NOT_H)
    return wide | (wide << _ONE_ROW) | (wide >> _ONE_ROW)


@kernel
def disc_difference(mover: Mask, opponent: Mask, squares: Int) -> Int:
    """Mover's discs minus opponent's, the empty ones of ``squares`` (int64, the size of the board)
    going to the winner: the score of a finished game by the rules of the World Othello Federation.
    """
    mine, theirs = popcount(mover), popcount(opponent)
    if mine > theirs:
        return squares - 2 * theirs
    if mine < theirs:
        return 2 * mine - squares
    return mine - theirs


def disc_differences(mover: np.ndarray, opponent: np.ndarray, squares: int) -> np.ndarray:
    """As :func:`disc_difference`, of many positions: int64."""
    mine, theirs = (np.bitwise_count(mask).astype(np.int64) for mask in (mover, opponent))
    return mine - theirs + np.sign(mine - theirs) * (squares - mine - theirs)


def around(square: int) -> set[int]:
    """The three to eight neighbours of a square on the 8x8 board."""
    column, row = square % 8, square // 8
    return {
        8 * y + x
        for x in range(max(0, column - 1), min(8, column + 2))
        for y in range(max(0, row - 1), min(8, row + 2))
        if (x, y) != (column, row)
    }


def symmetric_forms(mover: Any, opponent: Any, side: int) -> Iterator[tuple[Any, Any]]:
    """The eight positions that differ from this one by a symmetry of the board, itself among them.

    mover, opponent: masks as Python integers, or arrays of uint64. side: of the board.
    """
    shift = 8 - side
    for _ in range(4):
        # Mirroring and transposing in turn runs through all eight symmetries.
        mover, opponent = mirror(mover) >> shift, mirror(opponent) >> shift
        yield mover, opponent
        mover, opponent = transpose(mover), transpose(opponent)
        yield mover, opponent


def _swap(mask: Any, select: int, distance: int) -> Any:
    """Exchange the selected bits with those ``distance`` higher (a delta swap)."""
    changed = (mask ^ (mask >> distance)) & select
    return mask ^ changed ^ (changed << distance)


def mirror(mask: Any) -> Any:
    """Left and right exchanged: a1 becomes h1 (Python integers, or arrays)."""
    mask = _swap(mask, 0x5555555555555555, 1)
    mask = _swap(mask, 0x3333333333333333, 2)
    return _swap(mask, 0x0F0F0F0F0F0F0F0F, 4)


def transpose(mask: Any) -> Any:
    """Rows and columns exchanged: b1 becomes a2 (Python integers, or arrays)."""
    mask = _swap(mask, 0x00AA00AA00AA00AA, 7)
    mask = _swap(mask, 0x0000CCCC0000CCCC, 14)
    return _swap(mask, 0x00000000F0F0F0F0, 28)
