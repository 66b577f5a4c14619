"""The compiled part of the endgame solver: exact scores by principal variation search.

A score is the disc difference at the end to the side to move, empty squares going to the winner. It
is always even, so a null window (alpha, alpha + 1) asks one question: more than alpha, or not?

From few to many empty squares, the kernels are

* :mod:`agents.search.endgame.last_squares`: 1 to 4, without lists of moves;
* :func:`last_five`: 5, moves in odd quadrants first, without a table;
* :func:`null_window`: 6 and more, all techniques;
* :func:`principal`: any number, with a window wider than null, along the principal variation;
* :mod:`agents.search.endgame.parallel`: 13 and more, if several threads search together.

The techniques, each of which :class:`agents.search.endgame.solver.EndgameSolver` can leave out:

* **fastest first** (:func:`rank_moves`): the moves that leave the opponent fewest replies first,
  because the tree below is small. (Slagle and Dixon's mobility ordering, which solvers have used
  since the eighties.)
* **parity**: moves into quadrants with an odd number of empty squares first; the player there tends
  to have the last move in it.
* **stability**: the opponent keeps his stable discs, an upper bound of the score. They are counted
  if alpha is high enough for that to matter.
* **etc**, enhanced transposition cutoff: before searching, look for a child in the table that
  refutes. (Plaat, Schaeffer, Pijls and de Bruin 1996.)
* **sorting search**: at many empty squares the moves are ranked also by a search of a few plies
  with a rough heuristic (:func:`_outlook`).

Always on: a transposition table (:mod:`agents.search.endgame.memory`), principal variation search,
and fail-soft bounds.
"""

from __future__ import annotations

import numpy as np

from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import MADE, count, count_more, enter_again, out_of_budget
from othello_lab.agents.search.endgame import memory
from othello_lab.agents.search.endgame.last_squares import (
    UNKNOWN,
    finished,
    last_four,
    last_one,
    last_three,
    last_two,
    stability_bound,
)
from othello_lab.agents.search.endgame.memory import (
    NO_MOVE,
    best_move_of,
    bucket_of,
    look_up,
    lower_of,
    remember,
    upper_of,
)
from othello_lab.core.bitboard import (
    ONE,
    ZERO,
    after,
    after_flips,
    flips,
    legal_moves,
    lowest_square,
    popcount,
)
from othello_lab.core.system.compile import Address, Index, Int, Mask, Square, kernel
from othello_lab.core.vector import load, prefetch, store

FEW = 5
"""Up to so many empty squares are searched without a table."""

# What makes a move's rank, the greatest first.
_FROM_TABLE = np.int64(1 << 40)
_WORTH_WEIGHT = 4
PARITY_BONUS = 12
_SQUARE_BITS = np.int64(6)
_SQUARE = np.int64(63)
_WEIGHT_BITS = np.int64(6)
# The sorting search: more than any value, and what a disc is worth at the end of the game.
_FAR = np.int64(1 << 20)
_DISC = 100


# ------------------------------------------------------------------ five empty squares


@kernel
def last_five(context: Address, mover: Mask, opponent: Mask, alpha: Int, odd: Mask) -> Int:
    """The null window (alpha, alpha + 1) of a position with FEW empty squares, fail-soft.

    odd: mask of the quadrants with an odd number of empty squares, searched first; among their
    squares and among the others, corners first.
    """
    count(context, layout.NODES)
    if alpha >= load(context, memory.STABILITY_FROM + FEW):
        bound = stability_bound(context, opponent, mover)
        if bound <= alpha:
            count(context, layout.STABILITY_RETURNS)
            return bound
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO:
        if legal_moves(opponent, mover) & board == ZERO:
            return finished(context, mover, opponent)
        return -last_five(context, opponent, mover, -alpha - 1, odd)
    best = UNKNOWN
    left = moves & odd
    later = moves ^ left
    if left == ZERO:
        left, later = later, ZERO
    corners = np.uint64(load(context, memory.CORNERS))
    while left != ZERO:
        likely = left & corners
        square = lowest_square(likely if likely != ZERO else left)
        left ^= ONE << square
        if left == ZERO:
            left, later = later, ZERO
        other, own = after(mover, opponent, square)
        odd_then = odd ^ np.uint64(load(context, memory.QUADRANT + np.int64(square)))
        score = -last_four(context, other, own, -alpha - 1, odd_then)
        if score > best:
            best = score
            if score > alpha:
                break
    return best


# ------------------------------------------------------------------ the sorting search


@kernel
def _outlook(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Return the evaluation of a position, with the mover's freedom."""
    value = layout.count_evaluation(context, mover, opponent)
    freedom = load(context, memory.FREEDOM)
    if freedom != 0:
        board = np.uint64(load(context, layout.BOARD))
        value += freedom * popcount(legal_moves(mover, opponent) & board)
    return value


@kernel
def _look_ahead(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, beta: Int, depth: Int
) -> Int:
    """Alpha-beta with the evaluation, for sorting."""
    count(context, layout.NODES)
    if depth == 0:
        return _outlook(context, mover, opponent)
    if depth > 2 and out_of_budget(context):
        return alpha
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO:
        if legal_moves(opponent, mover) & board == ZERO:
            return _DISC * finished(context, mover, opponent)
        return -_look_ahead(context, opponent, mover, -beta, -alpha, depth)
    best = -_FAR
    left = moves & np.uint64(load(context, memory.CORNERS))  # which are good moves, most often
    later = moves ^ left
    if left == ZERO:
        left, later = later, ZERO
    while left != ZERO:
        square = lowest_square(left)
        left &= left - ONE
        if left == ZERO:
            left, later = later, ZERO
        other, own = after(mover, opponent, square)
        score = -_look_ahead(context, other, own, -beta, -max(alpha, best), depth - np.int64(1))
        if score > best:
            best = score
            if score >= beta:
                break
    return best


# ------------------------------------------------------------------ six and more empty squares


@kernel
def _rank(context: Address, mover: Mask, opponent: Mask, square: Square, odd: Mask) -> Int:
    """Return the priority of a move to ``square``, without looking ahead; mover and opponent are
    those after it."""
    rank = _WORTH_WEIGHT * load(context, memory.WORTH + np.int64(square))
    if odd & (ONE << square) != ZERO:
        rank += PARITY_BONUS
    weight = load(context, memory.MOBILITY_WEIGHT)
    if weight != 0:
        board = np.uint64(load(context, layout.BOARD))
        corners = np.uint64(load(context, memory.CORNERS))
        replies = legal_moves(mover, opponent) & board
        rank -= weight * (popcount(replies) + popcount(replies & corners))
    return rank


@kernel
def next_move(ranked: Address, start: Index, end: Int) -> Square:
    """Take the highest ranked of the moves from number ``start`` on out of a list: its square. The
    list's address is ``ranked``; places before ``start`` are done with."""
    best, at = load(ranked, start), start
    for other in range(start + 1, end):
        rank = load(ranked, other)
        if rank > best:
            best, at = rank, other
    store(ranked, at, load(ranked, start))
    return np.uint64(best & _SQUARE)


@kernel
def rank_moves(
    context: Address,
    mover: Mask,
    opponent: Mask,
    moves: Mask,
    odd: Mask,
    empties: Int,
    first_move: Square,
    alpha: Int,
) -> Int:
    """Write the moves with their ranks, and their flips, into the lists for this number of empty
    squares; return their number. ``first_move`` is ranked highest. alpha: the value that a move has
    to exceed; UNKNOWN to find the best one. The positions after the moves are not counted as made;
    they may have been before."""
    ranked = context + 8 * (memory.MOVES + 64 * empties)
    flipped_by = context + 8 * (memory.FLIPS + 64 * empties)
    plies = load(context, memory.PLIES + empties)
    doubt = load(context, memory.DOUBT)
    if plies > 0 and doubt != memory.NEVER:
        hope = layout.count_evaluation(context, mover, opponent) + doubt
        if hope < _DISC * alpha:
            plies = np.int64(0)  # likely no move is enough, and in which order matters little
    best = -_FAR
    number = np.int64(0)
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        flipped = flips(mover, opponent, square)
        store(flipped_by, np.int64(square), np.int64(flipped))
        if square == first_move:
            rank = _FROM_TABLE
        else:
            other, own = after_flips(mover, opponent, square, flipped)
            if FEW + 1 < empties < load(context, memory.ETC_FROM):
                # It will be looked up soon; with enhanced cutoffs it just was.
                prefetch(bucket_of(context, other, own, empties - 1))
            rank = _rank(context, other, own, square, odd)
            if plies >= 0 and not out_of_budget(context):
                enter_again(context)
                least = best - load(context, memory.MARGIN)
                value = max(least, -_look_ahead(context, other, own, -_FAR, -least, plies))
                best = max(best, value)
                rank += (load(context, memory.VALUE_WEIGHT + empties) * value) >> _WEIGHT_BITS
        store(ranked, number, (rank << _SQUARE_BITS) | np.int64(square))
        number += 1
    return number


@kernel
def refuted_by_table(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, moves: Mask, empties: Int
) -> tuple[Square, Int]:
    """Enhanced transposition cutoff: a move that the table knows to be worth more than alpha, and
    that worth; UNKNOWN if there is none."""
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        other, own = after(mover, opponent, square)
        count(context, MADE)
        bucket = bucket_of(context, other, own, empties - 1)
        known = look_up(context, bucket, other, own)
        if known != 0 and -upper_of(known) > alpha:
            return square, -upper_of(known)
    return NO_MOVE, UNKNOWN


@kernel
def null_window(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, odd: Mask, empties: Int
) -> Int:
    """The null window (alpha, alpha + 1) of a position with more than FEW empty squares, fail-soft:
    a result above alpha is a lower bound of the score, any other an upper bound.

    odd: mask of the quadrants with an odd number of empty squares. If the search runs out of its
    budget the result means nothing, and nothing was written into the table on its account.
    """
    count(context, layout.NODES)
    # Step 1: the opponent's stable discs.
    if alpha >= load(context, memory.STABILITY_FROM + empties):
        bound = stability_bound(context, opponent, mover)
        if bound <= alpha:
            count(context, layout.STABILITY_RETURNS)
            return bound
    # Step 2: the table.
    squares = load(context, layout.SQUARES)
    lower, upper, known_move = -squares, squares, NO_MOVE
    bucket = bucket_of(context, mover, opponent, empties)
    known = look_up(context, bucket, mover, opponent)
    if known != 0:
        lower, upper, known_move = lower_of(known), upper_of(known), best_move_of(known)
        if lower > alpha:
            count(context, layout.TABLE_RETURNS)
            return lower
        if upper <= alpha:
            count(context, layout.TABLE_RETURNS)
            return upper
    # Step 3: no moves.
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO:
        if legal_moves(opponent, mover) & board == ZERO:
            return finished(context, mover, opponent)
        return -null_window(context, opponent, mover, -alpha - 1, odd, empties)
    # Step 4: a child in the table.
    if empties >= load(context, memory.ETC_FROM):
        square, score = refuted_by_table(context, mover, opponent, alpha, moves, empties)
        if score != UNKNOWN:
            count(context, layout.TABLE_RETURNS)
            remember(context, bucket, mover, opponent, max(lower, score), upper, square, empties)
            return score
    else:
        count_more(context, MADE, popcount(moves))
    # Step 5: the moves, most promising first.
    number = rank_moves(context, mover, opponent, moves, odd, empties, known_move, alpha)
    ranked = context + 8 * (memory.MOVES + 64 * empties)
    flipped_by = context + 8 * (memory.FLIPS + 64 * empties)
    best, best_move = UNKNOWN, NO_MOVE
    for turn in range(number):
        square = next_move(ranked, turn, number)
        flipped = np.uint64(load(flipped_by, np.int64(square)))
        other, own = after_flips(mover, opponent, square, flipped)
        odd_then = odd ^ np.uint64(load(context, memory.QUADRANT + np.int64(square)))
        enter_again(context)
        if empties == FEW + 1:
            score = -last_five(context, other, own, -alpha - 1, odd_then)
        else:
            score = -null_window(context, other, own, -alpha - 1, odd_then, empties - np.int64(1))
        if out_of_budget(context):
            return score
        if score > best:
            best, best_move = score, square
            if score > alpha:
                break
    # Step 6: what was proven.
    if best > alpha:
        lower = max(lower, best)
    else:
        upper = min(upper, best)
    remember(context, bucket, mover, opponent, lower, upper, best_move, empties)
    return best


# ------------------------------------------------------------------ any number of empty squares


@kernel
def decide(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, odd: Mask, empties: Int
) -> Int:
    """The null window (alpha, alpha + 1) of any position, fail-soft."""
    if empties > FEW:
        return null_window(context, mover, opponent, alpha, odd, empties)
    if empties == FEW:
        return last_five(context, mover, opponent, alpha, odd)
    if empties == 4:
        return last_four(context, mover, opponent, alpha, odd)
    left = np.uint64(load(context, layout.BOARD)) & ~(mover | opponent)
    if left == ZERO:
        count(context, layout.NODES)
        return finished(context, mover, opponent)
    first = lowest_square(left)
    left &= left - ONE
    if left == ZERO:
        return last_one(context, mover, opponent, alpha, first)
    second = lowest_square(left)
    left &= left - ONE
    if left == ZERO:
        return last_two(context, mover, opponent, alpha, first, second)
    return last_three(context, mover, opponent, alpha, first, second, lowest_square(left))


@kernel
def _close_in(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, beta: Int, odd: Mask, empties: Int
) -> Int:
    """A wider window by null windows alone, from below, for positions too small for a table."""
    lower, upper = -load(context, layout.SQUARES), load(context, layout.SQUARES)
    score = lower if lower >= beta else upper  # of a window beyond all scores
    bar = alpha | np.int64(1)
    count(context, MADE)  # for its first search
    while lower < upper and lower < beta and upper > alpha:
        enter_again(context)
        score = decide(context, mover, opponent, bar, odd, empties)
        if score > bar:
            lower, bar = score, score + 1
        else:
            upper, bar = score, score - 1
    return score


@kernel
def principal(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, beta: Int, odd: Mask, empties: Int
) -> Int:
    """Score within the window (alpha, beta), fail-soft: principal variation search.

    Keeps the best move so far of the position with TOP_EMPTIES empty squares in TOP_MOVE.
    """
    if beta - alpha <= 1:
        return decide(context, mover, opponent, alpha, odd, empties)
    if empties <= FEW:
        return _close_in(context, mover, opponent, alpha, beta, odd, empties)
    count(context, layout.NODES)
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO:
        if legal_moves(opponent, mover) & board == ZERO:
            return finished(context, mover, opponent)
        return -principal(context, opponent, mover, -beta, -alpha, odd, empties)
    squares = load(context, layout.SQUARES)
    lower, upper, known_move = -squares, squares, NO_MOVE
    bucket = bucket_of(context, mover, opponent, empties)
    known = look_up(context, bucket, mover, opponent)
    if known != 0:
        lower, upper, known_move = lower_of(known), upper_of(known), best_move_of(known)
        if lower >= beta or lower == upper:
            count(context, layout.TABLE_RETURNS)
            return lower
        if upper <= alpha:
            count(context, layout.TABLE_RETURNS)
            return upper
    count_more(context, MADE, popcount(moves))
    number = rank_moves(context, mover, opponent, moves, odd, empties, known_move, UNKNOWN)
    ranked = context + 8 * (memory.MOVES + 64 * empties)
    flipped_by = context + 8 * (memory.FLIPS + 64 * empties)
    best, best_move, bar = UNKNOWN, NO_MOVE, alpha
    for turn in range(number):
        square = next_move(ranked, turn, number)
        flipped = np.uint64(load(flipped_by, np.int64(square)))
        other, own = after_flips(mover, opponent, square, flipped)
        odd_then = odd ^ np.uint64(load(context, memory.QUADRANT + np.int64(square)))
        fewer = empties - np.int64(1)
        enter_again(context)
        if turn == 0:
            score = -principal(context, other, own, -beta, -bar, odd_then, fewer)
        else:
            # A null window first: is it better at all? By how much, only if it is.
            score = -decide(context, other, own, -bar - 1, odd_then, fewer)
            if bar < score < beta and not out_of_budget(context):
                enter_again(context)
                score = -principal(context, other, own, -beta, -score + 1, odd_then, fewer)
        if out_of_budget(context):
            return score
        if score > best:
            best, best_move = score, square
            if empties == load(context, memory.TOP_EMPTIES):
                store(context, memory.TOP_MOVE, np.int64(square))
            bar = max(bar, score)
            if score >= beta:
                break
    if best > alpha:
        lower = max(lower, best)
    if best < beta:
        upper = min(upper, best)
    remember(context, bucket, mover, opponent, lower, upper, best_move, empties)
    return best


@kernel
def best_known(context: Address, mover: Mask, opponent: Mask, empties: Int) -> Square:
    """The table's best move in a position with more than FEW empty squares, or 64."""
    known = look_up(context, bucket_of(context, mover, opponent, empties), mover, opponent)
    return best_move_of(known) if known != 0 else NO_MOVE
