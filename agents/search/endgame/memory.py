"""The memory of the endgame solver: its scratch memory and its transposition table.

The scratch memory is one array of int64, handed around by its address. It begins like that of every
search (:mod:`agents.search.context`: counters, limit, board), so that counting and stopping are the
same; then follow the solver's switches, all plain numbers, so that turning a technique off needs no
compilation.

The transposition table holds, for each position, proven bounds of its score and the best move
found. It consists of buckets of 64 bytes, one line of the processor's cache, with two entries of 32
bytes: the mover's mask, the opponent's mask, the data, and 8 bytes unused. Whole positions are
compared, so a hit is never a mistake.

* **Replacement**: the first entry of a bucket keeps the position with the most empty squares (the
  later one of equals), because its proof cost most; the displaced entry moves to the second place,
  open to all others.
* **Two tables**: positions with at most ``SMALL_EMPTIES`` empty squares, by far the most, go to a
  table of 512 KB that stays in the processor's cache, and don't push out the costlier ones.
* **Generations**: an entry counts only in the generation it was written in, and each solving starts
  a new one. So each starts with a table that is as good as empty, without clearing it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import ScratchLayout
from othello_lab.agents.search.endgame.sorting import SortingSettings
from othello_lab.agents.search.table import GOLDEN_RATIO, LOG_BUCKET_BYTES, TableMemory
from othello_lab.core.bitboard import bits
from othello_lab.core.rules import Ruleset
from othello_lab.core.stability import edge_table
from othello_lab.core.system.compile import Address, Int, Mask, Square, kernel
from othello_lab.core.vector import load, store

_layout = ScratchLayout(behind=layout.SHARED)
TABLE = _layout.word()  # address of the large table
TABLE_SHIFT = _layout.word()  # what brings a hash down to the number of a bucket of it
SMALL_TABLE = _layout.word()  # address of the small one
GENERATION = _layout.word()
EDGES = _layout.word()  # address of othello_lab.core.stability.edge_table
CORNERS = _layout.word()  # mask of the board's corners
MOBILITY_WEIGHT = _layout.word()  # what a reply takes off a move's rank; 0: not looked at
FREEDOM = _layout.word()  # what each move of the mover adds to the values that sort
DOUBT = _layout.word()  # how far below alpha a position is hardly worth sorting; or NEVER
MARGIN = _layout.word()  # by how much worse a value need not be known exactly
ETC_FROM = _layout.word()  # empty squares from which children are looked up in the table
TOP_EMPTIES = _layout.word()  # empty squares of the position whose best move is to be kept
TOP_MOVE = _layout.word()  # its best move so far
PLIES = _layout.block(65)
"""By number of empty squares: how far the sorting search looks ahead; -1 for not at all."""
VALUE_WEIGHT = _layout.block(65)
"""By number of empty squares: 64 times what a value of that search adds to a move's rank."""
STABILITY_FROM = _layout.block(65)
"""By number of empty squares: the lowest alpha for which stable discs are counted."""
QUADRANT = _layout.block(64)
"""By square: the mask of its quadrant, or 0 throughout if parity is switched off."""
WORTH = _layout.block(64)
"""By square: how good a move there usually is."""
MOVES = _layout.block(65 * 64)
"""By number of empty squares, 64 each: the ranked moves of a node."""
FLIPS = _layout.block(65 * 64)
"""By number of empty squares, 64 each: what a move to each square flips."""

NEVER = 1 << 20
"""More than any number of empty squares and any score."""
NO_MOVE = np.uint64(64)

SMALL_EMPTIES = 11
_SMALL_BITS = 13
_SECOND = np.int64(32)  # where a bucket's second entry starts
_SMALL_SHIFT = np.uint64(64 - _SMALL_BITS)
_BUCKET_SHIFT = np.int64(LOG_BUCKET_BYTES)

_BYTE = np.uint64(0xFF)
_OFFSET = np.int64(64)  # makes bounds non-negative
_SECOND_MULTIPLIER = np.uint64(0xC2B2AE3D27D4EB4F)
_THIRD_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
_31, _32 = np.uint64(31), np.uint64(32)

# From the corner inwards, a quarter of the 8x8 board: the order in which good moves are usually
# found; smaller boards use its corner.
_WORTH = ((9, 2, 8, 6), (2, 1, 3, 4), (8, 3, 7, 5), (6, 4, 5, 0))


# ------------------------------------------------------------------ kernels of the table


@kernel
def bucket_of(context: Address, mover: Mask, opponent: Mask, empties: Int) -> Address:
    """Return the address of a position's bucket."""
    mixed = mover * GOLDEN_RATIO + (opponent ^ (opponent >> _31)) * _SECOND_MULTIPLIER
    mixed ^= mixed >> _32
    mixed *= _THIRD_MULTIPLIER
    if empties <= SMALL_EMPTIES:
        return load(context, SMALL_TABLE) + (np.int64(mixed >> _SMALL_SHIFT) << _BUCKET_SHIFT)
    shift = np.uint64(load(context, TABLE_SHIFT))
    return load(context, TABLE) + (np.int64(mixed >> shift) << _BUCKET_SHIFT)


@kernel
def _holds(entry: Address, mover: Mask, opponent: Mask, generation: Int) -> bool:
    return (
        load(entry, 0) == np.int64(mover)
        and load(entry, 1) == np.int64(opponent)
        and load(entry, 2) >> np.int64(32) == generation
    )


@kernel
def look_up(context: Address, bucket: Address, mover: Mask, opponent: Mask) -> Int:
    """Return the data of a position, as int64: read it with :func:`lower_of`, :func:`upper_of` and
    :func:`best_move_of`. 0 if nothing is known."""
    generation = load(context, GENERATION)
    if _holds(bucket, mover, opponent, generation):
        return load(bucket, 2)
    if _holds(bucket + _SECOND, mover, opponent, generation):
        return load(bucket + _SECOND, 2)
    return np.int64(0)


@kernel
def lower_of(known: Int) -> Int:
    """The proven lower bound of the score."""
    return np.int64(np.uint64(known) & _BYTE) - _OFFSET


@kernel
def upper_of(known: Int) -> Int:
    """The proven upper bound of the score."""
    return np.int64((np.uint64(known) >> np.uint64(8)) & _BYTE) - _OFFSET


@kernel
def best_move_of(known: Int) -> Square:
    """The best move found, or 64."""
    return (np.uint64(known) >> np.uint64(16)) & _BYTE


@kernel
def remember(
    context: Address,
    bucket: Address,
    mover: Mask,
    opponent: Mask,
    lower: Int,
    upper: Int,
    move: Square,
    empties: Int,
) -> None:
    """Write bounds and best move (uint64) of a position, in place of its older entry."""
    generation = load(context, GENERATION)
    known = (
        (lower + _OFFSET)
        | (upper + _OFFSET) << np.int64(8)
        | np.int64(move) << np.int64(16)
        | empties << np.int64(24)
        | generation << np.int64(32)
    )
    entry = bucket
    if not _holds(bucket, mover, opponent, generation):
        if _holds(bucket + _SECOND, mover, opponent, generation):
            entry = bucket + _SECOND
        else:
            first = load(bucket, 2)
            if first >> np.int64(32) == generation:
                if (first >> np.int64(24)) & np.int64(0xFF) <= empties:
                    store(bucket + _SECOND, 0, load(bucket, 0))
                    store(bucket + _SECOND, 1, load(bucket, 1))
                    store(bucket + _SECOND, 2, first)
                else:
                    entry = bucket + _SECOND
    store(entry, 0, np.int64(mover))
    store(entry, 1, np.int64(opponent))
    store(entry, 2, known)


# ------------------------------------------------------------------ setting up


class SolverMemory:
    """The arrays behind the addresses that kernels get.

    table_mb: size of the large table; rounded down to a power of two. ready_for: the solver that
    the switches and the board were written for. sorting: owner of the memory at the evaluation's
    addresses.
    """

    def __init__(self, table_mb: int) -> None:
        self.tables = TableMemory.of(table_mb), TableMemory(_SMALL_BITS)
        self.context = np.zeros(_layout.size, dtype=np.int64)
        self.address = np.intp(self.context.ctypes.data)
        self.ready_for: tuple[Any, ...] = ()
        self.sorting: SortingSettings | None = None
        self.context[layout.LIMIT] = layout.NO_LIMIT
        large, small = self.tables
        self.context[TABLE] = large.address
        self.context[TABLE_SHIFT] = large.shift
        self.context[SMALL_TABLE] = small.address
        self.context[EDGES] = edge_table().ctypes.data

    def set_board(self, rules: Ruleset, parity: bool) -> None:
        """Write the numbers that depend on the size of the board."""
        layout.set_constants(self.context, rules)
        corners, half = 0, rules.side // 2
        for square in bits(rules.board):
            row, column = divmod(square, 8)
            quadrant = sum(
                1 << (8 * r + c)
                for r in range(rules.side)
                for c in range(rules.side)
                if (r < half, c < half) == (row < half, column < half)
            )
            inwards = min(row, rules.side - 1 - row), min(column, rules.side - 1 - column)
            if inwards == (0, 0):
                corners |= 1 << square
            self.context[WORTH + square] = _WORTH[inwards[0]][inwards[1]]
            self.context[QUADRANT + square] = np.uint64(quadrant).view(np.int64) if parity else 0
        self.context[CORNERS] = np.uint64(corners).view(np.int64)
