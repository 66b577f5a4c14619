"""Games played to the end without a tree, the basis of Monte-Carlo search.

A rollout is random, every legal move equally likely, or epsilon-greedy: with probability epsilon a
random move, otherwise the one after which a heuristic is best for the side that made it.

The random numbers come from SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014): a counter and a scrambling of it, so that its whole state is one word of
the search's context. A number below n is the upper half of (32 random bits) x n. That favours no
number by more than n / 2^32.
"""

from __future__ import annotations

import numpy as np

from othello_lab.agents.search.context import (
    BOARD,
    LEAVES,
    NODES,
    SHARED,
    SQUARES,
    ScratchLayout,
    count,
    leaf,
)
from othello_lab.agents.search.montecarlo.plain import SplitMix64
from othello_lab.core.bitboard import (
    FILE_A,
    ONE,
    ZERO,
    after,
    disc_difference,
    legal_moves,
    lowest_square,
    popcount,
)
from othello_lab.core.system.compile import Address, Index, Int, Mask, Square, kernel
from othello_lab.core.vector import load, store

_layout = ScratchLayout(behind=SHARED)
RANDOM = _layout.word()
"""State of the random generator."""
EPSILON = _layout.word()
"""The probability of a random move, times 2^53."""
ROLLOUT = _layout.size
"""So many words of the context rollouts know; the tree's are behind them."""

_GAMMA, _FIRST_FACTOR, _SECOND_FACTOR = np.array(SplitMix64.CONSTANTS, dtype=np.uint64)
_11, _27, _30, _31, _32 = (np.uint64(shift) for shift in (11, 27, 30, 31, 32))

_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_EACH_BYTE = FILE_A
_HIGH_BITS = np.uint64(0x8080808080808080)
_1, _2, _3, _4, _8, _255 = (np.uint64(number) for number in (1, 2, 3, 4, 8, 255))


def _bits_of_bytes() -> np.ndarray:
    """Entry 8 b + k: the index of the k-th set bit of the byte b, 0 where it has fewer."""
    table = np.zeros(256 * 8, dtype=np.uint64)
    for byte in range(256):
        for k, bit in enumerate(bit for bit in range(8) if byte >> bit & 1):
            table[8 * byte + k] = bit
    return table


_BIT_OF_BYTE = _bits_of_bytes()


@kernel
def scrambled(state: np.uint64) -> Mask:
    """SplitMix64's 64 random bits for one value of its counter."""
    bits = (state ^ (state >> _30)) * _FIRST_FACTOR
    bits = (bits ^ (bits >> _27)) * _SECOND_FACTOR
    return bits ^ (bits >> _31)


@kernel
def draw(context: Address) -> Mask:
    """The next 64 random bits of this search."""
    state = np.uint64(load(context, RANDOM)) + _GAMMA
    store(context, RANDOM, np.int64(state))
    return scrambled(state)


@kernel
def below(bits: np.uint64, count: Index) -> Mask:
    """A number from 0 to ``count`` - 1 (int64 > 0) made of 64 random bits, as uint64."""
    return ((bits >> _32) * np.uint64(count)) >> _32


@kernel
def nth_square(mask: Mask, n: np.uint64) -> Square:
    """Return the ``n``-th set bit of a mask, counted from 0, as a square (both uint64).

    There are no branches, because they would be guessed wrongly most of the time: the set bits of
    each byte are counted, summed up, and the byte in which the sum passes ``n`` is looked up.
    """
    counts = mask - ((mask >> _1) & _PAIRS)
    counts = (counts & _FOURS) + ((counts >> _2) & _FOURS)
    counts = (counts + (counts >> _4)) & _BYTES
    upto = counts * _EACH_BYTE  # in each byte the set bits of this and all lower bytes
    # The high bit of each byte of which the sum is not more than n: their number is the byte's.
    not_more = (((n * _EACH_BYTE) | _HIGH_BITS) - upto) & _HIGH_BITS
    first = np.uint64(popcount(not_more)) << _3
    before = ((upto << _8) >> first) & _255
    byte = (mask >> first) & _255
    return first + _BIT_OF_BYTE[(byte << _3) + n - before]


@kernel
def random_rollout(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Play random moves to the end; the disc difference there, to the side that is to move here.

    Counts a node for every position after this one.
    """
    board = np.uint64(load(context, BOARD))
    state = np.uint64(load(context, RANDOM))
    plies = np.int64(0)
    while True:
        moves = legal_moves(mover, opponent) & board
        if moves == ZERO:
            if legal_moves(opponent, mover) & board == ZERO:
                break
            mover, opponent = opponent, mover
        else:
            state += _GAMMA
            square = nth_square(moves, below(scrambled(state), popcount(moves)))
            mover, opponent = after(mover, opponent, square)
        plies += 1
    store(context, RANDOM, np.int64(state))
    store(context, NODES, load(context, NODES) + plies)
    difference = disc_difference(mover, opponent, load(context, SQUARES))
    return difference if plies & 1 == 0 else -difference


@kernel
def greedy_rollout(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Play epsilon-greedy moves to the end; result as of :func:`random_rollout`.

    A greedy move is the maximizer's: of all positions after a move the one best for the mover by
    the heuristic, or by the result if it ends the game; the first from a1 to h8 among equals.
    Each position looked at for that is a node and a leaf; the one moved to is counted once, and
    as a leaf no longer. A single legal move is made without a look.
    """
    board = np.uint64(load(context, BOARD))
    epsilon = np.uint64(load(context, EPSILON))
    plies = np.int64(0)
    while True:
        moves = legal_moves(mover, opponent) & board
        if moves == ZERO:
            if legal_moves(opponent, mover) & board == ZERO:
                break
            count(context, NODES)
            mover, opponent = opponent, mover
        else:
            choices = popcount(moves)
            if choices > 1 and draw(context) >> _11 >= epsilon:
                square = best_square(context, mover, opponent, moves)
                store(context, LEAVES, load(context, LEAVES) - 1)
            else:
                square = nth_square(moves, below(draw(context), choices))
                count(context, NODES)
            mover, opponent = after(mover, opponent, square)
        plies += 1
    difference = disc_difference(mover, opponent, load(context, SQUARES))
    return difference if plies & 1 == 0 else -difference


@kernel
def best_square(context: Address, mover: Mask, opponent: Mask, moves: Mask) -> Square:
    """The maximizer's choice among ``moves``."""
    best, best_value = ZERO, np.int64(0)
    first = True
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        value = -leaf(context, *after(mover, opponent, square))
        if first or value > best_value:
            best, best_value = square, value
        first = False
    return best
