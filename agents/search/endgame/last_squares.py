"""The endgame with one to four empty squares, the place of three quarters of all nodes.

No lists of moves, no table: the empty squares are handed down by name, and each is tried at once.
All kernels answer a null window (alpha, alpha + 1), fail-soft: a result above alpha is a lower
bound of the score to the mover, any other an upper bound of it.

Nodes are counted as follows: every position a kernel enters, every position after a pass, and the
full board after the last disc, counted but never built. Empty squares that turn out not to be legal
moves are no nodes.
"""

from __future__ import annotations

import numpy as np

from othello_lab.agents.search.context import BOARD, NODES, SQUARES, STABILITY_RETURNS, count
from othello_lab.agents.search.endgame.memory import EDGES, QUADRANT, STABILITY_FROM
from othello_lab.core.bitboard import (
    ONE,
    ZERO,
    after_flips,
    around,
    disc_difference,
    flips,
    lowest_square,
    popcount,
)
from othello_lab.core.last_flips import last_flips
from othello_lab.core.stability import stable_discs
from othello_lab.core.system.compile import Address, Int, Mask, Square, kernel
from othello_lab.core.vector import int32_at, load, store

UNKNOWN = np.int64(-(1 << 20))
"""Less than any score: no move was found yet."""

_NEIGHBOURS = np.array(
    [sum(1 << near for near in around(square)) for square in range(64)], dtype=np.uint64
)


@kernel
def finished(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Score of a finished game to the mover."""
    return disc_difference(mover, opponent, load(context, SQUARES))


@kernel
def stability_bound(context: Address, opponent: Mask, mover: Mask) -> Int:
    """Return an upper bound of the mover's score, because the opponent keeps his stable discs."""
    stable = stable_discs(opponent, mover, int32_at(load(context, EDGES)))
    return load(context, SQUARES) - 2 * popcount(stable)


@kernel
def last_one(context: Address, mover: Mask, opponent: Mask, alpha: Int, square: Square) -> Int:
    """One empty square."""
    flipped = last_flips(mover, square)
    taken = 2 * popcount(mover) + 2 - load(context, SQUARES)  # with the square, without its flips
    nodes = load(context, NODES)
    if flipped != 0:
        store(context, NODES, nodes + 2)
        return taken + 2 * flipped
    # A pass. If the opponent cannot move either, the square goes to the winner.
    score = taken if taken > 0 else taken - 2
    nodes += 1
    if score > alpha:
        flipped = last_flips(opponent, square)
        if flipped != 0:
            nodes += 2
            score = taken - 2 - 2 * flipped
    store(context, NODES, nodes)
    return score


@kernel
def _two_moves(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, first: Square, second: Square
) -> Int:
    """The better of the moves to two empty squares, or UNKNOWN if neither is legal."""
    best = UNKNOWN
    if _NEIGHBOURS[first] & opponent != ZERO:
        flipped = flips(mover, opponent, first)
        if flipped != ZERO:
            other, mine = after_flips(mover, opponent, first, flipped)
            best = -last_one(context, other, mine, -alpha - 1, second)
            if best > alpha:
                return best
    if _NEIGHBOURS[second] & opponent != ZERO:
        flipped = flips(mover, opponent, second)
        if flipped != ZERO:
            other, mine = after_flips(mover, opponent, second, flipped)
            best = max(best, -last_one(context, other, mine, -alpha - 1, first))
    return best


@kernel
def last_two(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, first: Square, second: Square
) -> Int:
    """Two empty squares."""
    count(context, NODES)
    best = _two_moves(context, mover, opponent, alpha, first, second)
    if best != UNKNOWN:
        return best
    best = _two_moves(context, opponent, mover, -alpha - 1, first, second)
    if best != UNKNOWN:
        count(context, NODES)
        return -best
    return finished(context, mover, opponent)


@kernel
def _three_moves(
    context: Address,
    mover: Mask,
    opponent: Mask,
    alpha: Int,
    first: Square,
    second: Square,
    third: Square,
) -> Int:
    """The best of the moves to three empty squares, or UNKNOWN if none is legal."""
    best = UNKNOWN
    if _NEIGHBOURS[first] & opponent != ZERO:
        flipped = flips(mover, opponent, first)
        if flipped != ZERO:
            other, mine = after_flips(mover, opponent, first, flipped)
            best = -last_two(context, other, mine, -alpha - 1, second, third)
            if best > alpha:
                return best
    if _NEIGHBOURS[second] & opponent != ZERO:
        flipped = flips(mover, opponent, second)
        if flipped != ZERO:
            other, mine = after_flips(mover, opponent, second, flipped)
            score = -last_two(context, other, mine, -alpha - 1, first, third)
            if score > alpha:
                return score
            best = max(best, score)
    if _NEIGHBOURS[third] & opponent != ZERO:
        flipped = flips(mover, opponent, third)
        if flipped != ZERO:
            other, mine = after_flips(mover, opponent, third, flipped)
            score = -last_two(context, other, mine, -alpha - 1, first, second)
            best = max(best, score)
    return best


@kernel
def last_three(
    context: Address,
    mover: Mask,
    opponent: Mask,
    alpha: Int,
    first: Square,
    second: Square,
    third: Square,
) -> Int:
    """Three empty squares, tried in this order."""
    count(context, NODES)
    best = _three_moves(context, mover, opponent, alpha, first, second, third)
    if best != UNKNOWN:
        return best
    best = _three_moves(context, opponent, mover, -alpha - 1, first, second, third)
    if best != UNKNOWN:
        count(context, NODES)
        return -best
    return finished(context, mover, opponent)


@kernel
def _four_moves(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, odd: Mask, empty: Mask
) -> Int:
    """The best of the moves to four empty squares, or UNKNOWN if none is legal."""
    best = UNKNOWN
    left = empty & odd
    later = empty ^ left
    if left == ZERO:
        left, later = later, ZERO
    while left != ZERO:
        square = lowest_square(left)
        left &= left - ONE
        if left == ZERO:
            left, later = later, ZERO
        if _NEIGHBOURS[square] & opponent == ZERO:
            continue
        flipped = flips(mover, opponent, square)
        if flipped == ZERO:
            continue
        # The other three, those in odd quadrants first.
        rest = empty ^ (ONE << square)
        odd_rest = rest & (odd ^ np.uint64(load(context, QUADRANT + np.int64(square))))
        even_rest = rest ^ odd_rest
        if odd_rest == ZERO:
            odd_rest, even_rest = even_rest, ZERO
        first = lowest_square(odd_rest)
        odd_rest &= odd_rest - ONE
        if odd_rest == ZERO:
            odd_rest, even_rest = even_rest, ZERO
        second = lowest_square(odd_rest)
        odd_rest &= odd_rest - ONE
        if odd_rest == ZERO:
            odd_rest = even_rest
        third = lowest_square(odd_rest)
        other, mine = after_flips(mover, opponent, square, flipped)
        score = -last_three(context, other, mine, -alpha - 1, first, second, third)
        if score > alpha:
            return score
        best = max(best, score)
    return best


@kernel
def last_four(context: Address, mover: Mask, opponent: Mask, alpha: Int, odd: Mask) -> Int:
    """Four empty squares, those in odd quadrants (the mask ``odd``) first."""
    count(context, NODES)
    if alpha >= load(context, STABILITY_FROM + 4):
        bound = stability_bound(context, opponent, mover)
        if bound <= alpha:
            count(context, STABILITY_RETURNS)
            return bound
    empty = np.uint64(load(context, BOARD)) & ~(mover | opponent)
    best = _four_moves(context, mover, opponent, alpha, odd, empty)
    if best != UNKNOWN:
        return best
    best = _four_moves(context, opponent, mover, -alpha - 1, odd, empty)
    if best != UNKNOWN:
        count(context, NODES)
        return -best
    return finished(context, mover, opponent)
