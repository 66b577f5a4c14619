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
    ONE,
    ZERO,
    advance,
    after,
    disc_difference,
    legal_moves,
    lowest_square,
    nth_bit,
    popcount,
)
from othello_lab.core.system.compile import Address, Index, Int, Mask, kernel
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
def random_rollout(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Play random moves to the end; the disc difference there, to the side that is to move here.

    Counts a node for every position after this one.
    """
    board = np.uint64(load(context, BOARD))
    state = np.uint64(load(context, RANDOM))
    moves = legal_moves(mover, opponent) & board
    plies = np.int64(0)
    while True:
        if moves == ZERO:
            moves = legal_moves(opponent, mover) & board
            if moves == ZERO:
                break
            mover, opponent = opponent, mover
        else:
            state += _GAMMA
            move = nth_bit(moves, below(scrambled(state), popcount(moves)))
            mover, opponent, moves = advance(mover, opponent, move)
            moves &= board
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
    moves = legal_moves(mover, opponent) & board
    plies = np.int64(0)
    while True:
        if moves == ZERO:
            moves = legal_moves(opponent, mover) & board
            if moves == ZERO:
                break
            count(context, NODES)
            mover, opponent = opponent, mover
        else:
            choices = popcount(moves)
            if choices > 1 and draw(context) >> _11 >= epsilon:
                move = best_move(context, mover, opponent, moves)
                store(context, LEAVES, load(context, LEAVES) - 1)
            else:
                move = nth_bit(moves, below(draw(context), choices))
                count(context, NODES)
            mover, opponent, moves = advance(mover, opponent, move)
            moves &= board
        plies += 1
    difference = disc_difference(mover, opponent, load(context, SQUARES))
    return difference if plies & 1 == 0 else -difference


@kernel
def best_move(context: Address, mover: Mask, opponent: Mask, moves: Mask) -> Mask:
    """The maximizer's choice among ``moves``, as a mask."""
    best, best_value = ZERO, np.int64(0)
    first = True
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        value = -leaf(context, *after(mover, opponent, square))
        if first or value > best_value:
            best, best_value = ONE << square, value
        first = False
    return best
