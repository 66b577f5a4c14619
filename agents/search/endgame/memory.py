"""The memory of the endgame solver: its scratch memory and its transposition table.

The scratch memory is one array of int64, handed around by its address. It begins like that of every
search (:mod:`agents.search.context`: counters, limit, board), so that counting and stopping are the
same; then follow the solver's switches, all plain numbers, so that turning a technique off needs no
compilation.

The transposition table holds, for each position, proven bounds of its score and the best move
found. It consists of buckets of 64 bytes, one line of the processor's cache, with two entries of 32
bytes: the mover's mask, the opponent's mask, the data, and 8 bytes unused. Whole positions are
compared, so a hit is never a mistake.

Several threads (:mod:`agents.search.endgame.parallel`) read and write the large table without
locks, so an entry can be *torn*: one word from one thread, another word from another. Therefore
both masks are stored XORed with the data, mixed so that different data always give different words
(Hyatt and Mann 2002). A torn entry then belongs to no position, and is read as no entry.

* **Replacement**: the first entry of a bucket keeps the position with the most empty squares (the
  later one of equals), because its proof cost most; the displaced entry moves to the second place,
  open to all others.
* **Two tables**: positions with at most ``SMALL_EMPTIES`` empty squares, by far the most, go to a
  table of 512 KB that stays in the processor's cache, and don't push out the costlier ones.
* **Generations**: an entry counts only in the generation it was written in, and each solving starts
  a new one. So each starts with a table that is as good as empty, without clearing it.
* **Size in use**: the system hands out memory page by page when it is first touched, which costs
  more than a short search. So a solving touches only the beginning of the large table, as much as
  its number of empty squares fills (:func:`bits_for`).
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

MOST_THREADS = 64
"""The most threads that search one position."""
MARK_BITS = 12

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
_layout.block(8)  # a line of the cache: other threads write only to the next word
LEAVE = _layout.word()
"""A message of another thread: the number of empty squares of a finished node; 0 for none."""
_layout.block(8)
LEAVING = _layout.word()  # empty squares of the node to which this thread goes back; or 0
PATH = _layout.block(2 * 65)
"""By number of empty squares: mover and opponent of the node that this thread is at or below."""
SHARED_FROM = _layout.word()  # empty squares from which on threads share a node
MARKS = _layout.word()  # address of the marks of positions that threads search now
PEERS = _layout.block(MOST_THREADS)
"""Addresses of the other threads' scratch memories, then 0."""

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
_MIX = np.int64(0x2545F4914F6CDD1D)  # odd, so different data stay different
_SECOND_MULTIPLIER = np.uint64(0xC2B2AE3D27D4EB4F)
_THIRD_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
_17, _31, _32 = np.int64(17), np.uint64(31), np.uint64(32)

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
def _data_of(entry: Address, mover: Mask, opponent: Mask, generation: Int) -> Int:
    """Return the data of an entry, or 0 if it is torn, old or of another position."""
    data = load(entry, 2)  # once: another thread may change it at any time
    mixed = data * _MIX
    if (
        load(entry, 0) ^ mixed == np.int64(mover)
        and load(entry, 1) ^ (mixed >> _17) == np.int64(opponent)
        and data >> np.int64(32) == generation
    ):
        return data
    return np.int64(0)


@kernel
def look_up(context: Address, bucket: Address, mover: Mask, opponent: Mask) -> Int:
    """Return the data of a position, as int64: read it with :func:`lower_of`, :func:`upper_of` and
    :func:`best_move_of`. 0 if nothing is known."""
    generation = load(context, GENERATION)
    known = _data_of(bucket, mover, opponent, generation)
    if known != 0:
        return known
    return _data_of(bucket + _SECOND, mover, opponent, generation)


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
    if _data_of(bucket, mover, opponent, generation) == 0:
        if _data_of(bucket + _SECOND, mover, opponent, generation) != 0:
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
    mixed = known * _MIX
    store(entry, 0, np.int64(mover) ^ mixed)
    store(entry, 1, np.int64(opponent) ^ (mixed >> _17))
    store(entry, 2, known)


# ------------------------------------------------------------------ setting up


_BITS_OF_SMALL_PROBLEMS = 20


def bits_for(empties: int) -> int:
    """Return the number of bits of the buckets' numbers that a solving makes use of.

    Each further empty square gives 2.5 times the entries: at most 450 at 16 empty squares and
    24,000 at 20, in 252 positions. Up to 20 bits (64 MB) next to no entry is ever displaced, so
    the nodes are those of the whole table. Beyond that an eighth of the entries is in use.
    """
    return max(min(empties + 1, _BITS_OF_SMALL_PROBLEMS), empties - 2)


class SolverMemory:
    """The arrays behind the addresses that kernels get, of one thread.

    large, marks: the large table and the marks of positions, which several threads share.
    ready_for: the solver that the switches and the board were written for. sorting: owner of the
    memory at the evaluation's addresses.
    """

    def __init__(self, large: TableMemory, marks: np.ndarray) -> None:
        self._marks = marks
        self.tables = large, TableMemory(_SMALL_BITS)
        self.context = np.zeros(_layout.size, dtype=np.int64)
        self.address = np.intp(self.context.ctypes.data)
        self.ready_for: tuple[Any, ...] = ()
        self.sorting: SortingSettings | None = None
        layout.set_limits(self.context)
        small = self.tables[1]
        self.context[TABLE] = large.address
        self.context[TABLE_SHIFT] = large.shift
        self.context[SMALL_TABLE] = small.address
        self.context[MARKS] = marks.ctypes.data
        self.context[EDGES] = edge_table().ctypes.data

    def use_table(self, empties: int) -> None:
        """Use as much of the large table as a position with this number of empty squares fills."""
        self.context[TABLE_SHIFT] = max(self.tables[0].shift, 64 - bits_for(empties))

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


def team_of(table_mb: int, threads: int) -> list[SolverMemory]:
    """Return a memory for each thread of a team, with one large table.

    table_mb: size of that table; rounded down to a power of two.
    """
    large, marks = TableMemory.of(table_mb), np.zeros(1 << MARK_BITS, dtype=np.int64)
    team = [SolverMemory(large, marks) for _ in range(threads)]
    for member in team:
        peers = [other.address for other in team if other is not member]
        member.context[PEERS : PEERS + len(peers)] = peers
    return team
