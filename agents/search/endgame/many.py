"""Exact scores of many positions, one after another in compiled code, and perfect play from them
on: the labels of positions to learn from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import enter_again
from othello_lab.agents.search.endgame import memory
from othello_lab.agents.search.endgame.kernels import (
    FEW,
    best_known,
    decide,
    next_move,
    principal,
    rank_moves,
)
from othello_lab.agents.search.endgame.last_squares import UNKNOWN
from othello_lab.agents.search.endgame.memory import NO_MOVE, SolverMemory
from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves, lowest_square, popcount
from othello_lab.core.system.compile import Address, Array, Int, Mask, kernel
from othello_lab.core.vector import load, store


class PerfectLines(NamedTuple):
    """Positions of perfect play, in order; those of a line together.

    mover, opponent: uint64 masks. score: to the mover, int64. turn: 0 where the side is to move
    that is in the line's first position, 1 for the other, int8. line: number of the position it
    follows from, int64.
    """

    mover: np.ndarray
    opponent: np.ndarray
    score: np.ndarray
    turn: np.ndarray
    line: np.ndarray


@kernel
def odd_quadrants(context: Address, left: Mask) -> Mask:
    """Mask of the quadrants with an odd number of these squares."""
    odd = ZERO
    while left != ZERO:
        odd ^= np.uint64(load(context, memory.QUADRANT + np.int64(lowest_square(left))))
        left &= left - ONE
    return odd


@kernel
def _score(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Return the exact score: first the winner, then the margin."""
    squares = load(context, layout.SQUARES)
    left = np.uint64(load(context, layout.BOARD)) & ~(mover | opponent)
    odd, empties = odd_quadrants(context, left), np.int64(popcount(left))
    store(context, memory.GENERATION, load(context, memory.GENERATION) + np.int64(1))
    store(context, memory.TOP_EMPTIES, empties)
    enter_again(context)
    score = principal(context, mover, opponent, np.int64(-1), np.int64(1), odd, empties)
    if score == 0:
        return score
    enter_again(context)
    if score > 0:
        return principal(context, mover, opponent, score - 1, squares + 1, odd, empties)
    return principal(context, mover, opponent, -squares - 1, score + 1, odd, empties)


@kernel
def _best_move(context: Address, mover: Mask, opponent: Mask, moves: Mask, score: Int) -> Int:
    """A move worth the score of its position, the most promising one first; -1 if none is."""
    left = np.uint64(load(context, layout.BOARD)) & ~(mover | opponent)
    odd, empties = odd_quadrants(context, left), np.int64(popcount(left))
    first = NO_MOVE
    if empties > FEW:
        first = best_known(context, mover, opponent, empties)
    number = rank_moves(context, mover, opponent, moves, odd, empties, first, UNKNOWN)
    ranked = context + 8 * (memory.MOVES + 64 * empties)
    for turn in range(number):
        square = next_move(ranked, turn, number)
        other, mine = after(mover, opponent, square)
        rest = odd ^ np.uint64(load(context, memory.QUADRANT + np.int64(square)))
        enter_again(context)
        if decide(context, other, mine, -score, rest, empties - np.int64(1)) <= -score:
            return np.int64(square)
    return np.int64(-1)


@kernel
def _solve_all(
    context: Address,
    movers: Array,
    opponents: Array,
    most: Int,
    scores: Array,
    masks: Array,
    details: Array,
) -> Int:
    """Write scores and lines as :func:`solve_all` returns them; return the number of positions."""
    rows = np.int64(0)
    board = np.uint64(load(context, layout.BOARD))
    for number in range(len(movers)):
        mover, opponent = movers[number], opponents[number]
        score = _score(context, mover, opponent)
        scores[number] = score
        turn = np.int64(0)
        if most == 0:
            continue
        while True:
            moves = legal_moves(mover, opponent) & board
            passes = moves == ZERO
            if passes and legal_moves(opponent, mover) & board == ZERO:
                break
            masks[rows, 0], masks[rows, 1] = mover, opponent
            details[rows, 0], details[rows, 1], details[rows, 2] = score, turn, number
            rows += 1
            if passes:
                mover, opponent = opponent, mover
            else:
                square = _best_move(context, mover, opponent, moves, score)
                if square < 0:
                    return np.int64(-1)
                mover, opponent = after(mover, opponent, np.uint64(square))
            turn = np.int64(1) - turn
            score = -score
    return rows


def solve_all(
    solver: SolverMemory, mover: np.ndarray, opponent: np.ndarray, most: int
) -> tuple[np.ndarray, PerfectLines]:
    """The exact scores of positions, int64, and the lines of perfect play from them on.

    solver: set up for the board. mover, opponent: uint64 masks. most: squares that may be empty;
    0 for no lines.
    """
    room = 2 * most * len(mover) + 1  # no two passes follow each other
    if most:
        empties = most - np.bitwise_count(mover | opponent).astype(np.int64)
        room = int(2 * empties.sum()) + len(mover) + 1
    scores = np.zeros(len(mover), dtype=np.int64)
    masks = np.zeros((room, 2), dtype=np.uint64)
    details = np.zeros((room, 3), dtype=np.int64)
    rows = _solve_all(solver.address, mover, opponent, np.int64(most), scores, masks, details)
    assert rows >= 0, "no move is worth the score"
    score, turn, line = details[:rows].T
    lines = PerfectLines(masks[:rows, 0], masks[:rows, 1], score, turn.astype(np.int8), line)
    return scores, lines
