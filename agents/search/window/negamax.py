"""Alpha-beta with every technique of the family, each a switch of its own.

One kernel holds the search; each technique is explained in a file of its own:
:mod:`~agents.search.window.ordering`, :mod:`~agents.search.window.transposition`,
:mod:`~agents.search.window.selective`. With all switches off it visits the very nodes of
:mod:`agents.search.window.alphabeta`.
"""

from __future__ import annotations

import numpy as np

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import (
    MADE,
    clear_pv,
    count,
    count_more,
    enter_again,
    extend_pv,
    final_value,
    leaf,
    out_of_budget,
)
from othello_lab.agents.search.window import ordering, selective, transposition
from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves, lowest_square, popcount
from othello_lab.core.notation import PASS
from othello_lab.core.system.compile import Address, Int, Mask, kernel
from othello_lab.core.vector import load, store

_1 = np.int64(1)
_TOP = np.int64(layout.MAX_DEPTH)


@kernel
def _last_ply(
    context: Address, mover: Mask, opponent: Mask, moves: Mask, alpha: Int, beta: Int, ply: Int
) -> Int:
    """The value of a node with one ply to go: its moves lead to leaves. This is where a search
    spends its time, and moves are tried by class of square or from a1 to h8."""
    row = _TOP - ply
    clear_pv(context, row - _1)
    by_kind = load(context, layout.STATIC_FRONTIER) != 0
    kind = layout.KINDS_OF_SQUARE
    best = -layout.INFINITY
    first = True
    while moves != ZERO:
        group = moves
        if by_kind:
            group &= np.uint64(load(context, kind))
            kind += 1
            moves ^= group
        else:
            moves = ZERO
        while group != ZERO:
            square = lowest_square(group)
            group &= group - ONE
            value = -leaf(context, *after(mover, opponent, square))
            best = max(best, value)
            if value > alpha:
                alpha = value
                extend_pv(context, row, np.int64(square))
                if alpha >= beta:
                    if moves | group != ZERO:
                        count(context, layout.CUTOFFS)
                        if first:
                            count(context, layout.FIRST_MOVE_CUTOFFS)
                    return best
            first = False
    return best


@kernel
def _sorted_last_ply(
    context: Address, mover: Mask, opponent: Mask, moves: Mask, alpha: Int, beta: Int, ply: Int
) -> Int:
    """As :func:`_last_ply`, with all moves looked at and sorted; leaves get these values."""
    row = _TOP - ply
    clear_pv(context, row - _1)
    listed = ordering.list_moves(context, mover, opponent, moves, ply, -layout.INFINITY)
    count_more(context, MADE, listed)
    best = -layout.INFINITY
    for number in range(listed):
        square = ordering.next_move(context, ply, number, listed)
        enter_again(context)
        count(context, layout.NODES)
        count(context, layout.LEAVES)
        value = -ordering.glanced(context, ply, square)
        if abs(value) >= FINAL_UNIT:  # the game is over
            value = -final_value(context, *after(mover, opponent, square))
        best = max(best, value)
        if value > alpha:
            alpha = value
            extend_pv(context, row, np.int64(square))
            if alpha >= beta:
                if number < listed - 1:
                    count(context, layout.CUTOFFS)
                    if number == 0:
                        count(context, layout.FIRST_MOVE_CUTOFFS)
                return best
    return best


@kernel
def _enhanced_cutoff(
    context: Address, mover: Mask, opponent: Mask, moves: Mask, beta: Int, depth: Int
) -> Int:
    """A value >= beta that some child's table entry already proves, or -INFINITY (J. Schaeffer,
    A. Plaat, *New advances in alpha-beta searching*, 1996)."""
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        count(context, MADE)
        entry = transposition.find(context, *after(mover, opponent, square))
        if (
            entry != transposition.NOT_FOUND
            and transposition.holds_at(context, entry, depth - _1)
            and -transposition.upper_of(entry) >= beta
        ):
            return -transposition.upper_of(entry)
    return -layout.INFINITY


@kernel
def negamax(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, beta: Int, depth: Int, ply: Int
) -> Int:
    """Value of a position to the mover within the window (alpha, beta), ``depth`` plies (at least
    1) deep, ``ply`` plies from the root, fail-soft.

    A result inside the window is minimax's value; one <= alpha is an upper bound of it, one
    >= beta a lower bound; unless a selective technique is on. Counts into the context, and leaves
    the principal variation in its row MAX_DEPTH - ply where the result lies inside the window.
    Once the context is out of budget results mean nothing, but the root's row and ROOT_VALUE
    still tell of the moves that were searched to their end.
    """
    count(context, layout.NODES)
    row = _TOP - ply
    clear_pv(context, row)
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board

    # Step 1. The game is over.
    if moves == ZERO and legal_moves(opponent, mover) & board == ZERO:
        count(context, layout.LEAVES)
        return final_value(context, mover, opponent)

    # Step 2. Futility (selective): the evaluation alone makes a cutoff here probable.
    if ply > 0 and selective.allows_futility(context, mover | opponent, depth):
        at_least, at_most = selective.foretold(context, mover, opponent, depth, ply)
        if -FINAL_UNIT < beta <= at_least:
            count(context, layout.PROBCUT_RETURNS)
            return beta
        if at_most <= alpha < FINAL_UNIT:
            count(context, layout.PROBCUT_RETURNS)
            return alpha

    # Step 3. A pass.
    if moves == ZERO:
        store(context, layout.RANKS + ply + 1, np.int64(0))
        store(context, layout.EXTENSIONS + ply + 1, load(context, layout.EXTENSIONS + ply))
        store(context, layout.KNOWN + ply + 1, layout.UNKNOWN)
        if depth == 1:
            clear_pv(context, row - _1)
            value = -leaf(context, opponent, mover)
        else:
            value = -negamax(context, opponent, mover, -beta, -alpha, depth - _1, ply + _1)
            if out_of_budget(context):
                return value
        extend_pv(context, row, np.int64(PASS))
        if ply == 0:
            store(context, layout.ROOT_VALUE, value)
        return value

    # Step 4. One ply to go: all moves lead to leaves, unless something wants to choose or extend.
    tapered = load(context, layout.TAPERED) != 0
    singular = load(context, layout.SINGULAR_MARGIN) >= 0
    if depth == 1 and not tapered and not singular and ply > 0:
        if load(context, layout.SORT_LEAVES) != 0:
            return _sorted_last_ply(context, mover, opponent, moves, alpha, beta, ply)
        return _last_ply(context, mover, opponent, moves, alpha, beta, ply)
    if load(context, layout.SORT_LEAVES) != 0 and ply == 0:  # nobody has looked at the root yet
        ordering.glance(context, mover, opponent)
        if depth == 1:
            value = _sorted_last_ply(context, mover, opponent, moves, alpha, beta, ply)
            store(context, layout.ROOT_VALUE, value)
            return value

    # Step 5. The transposition table: bounds found at this depth, and a move to try first.
    table = load(context, layout.TABLE) != 0 and depth > 1
    hint = transposition.NO_MOVE
    if ply == 0:
        hint = load(context, layout.ROOT_MOVE)
    elif table:
        entry = transposition.find(context, mover, opponent)
        if entry != transposition.NOT_FOUND:
            hint = transposition.hint_of(entry)
            if transposition.holds_at(context, entry, depth):
                lower, upper = transposition.lower_of(entry), transposition.upper_of(entry)
                if lower >= beta or lower == upper:
                    count(context, layout.TABLE_RETURNS)
                    if hint != transposition.NO_MOVE:
                        layout.set_pv(context, row, hint)
                    return lower
                if upper <= alpha:
                    count(context, layout.TABLE_RETURNS)
                    return upper
        transposition.expect(context, mover, opponent)

    # Step 6. Enhanced transposition cutoff: bounds of the children.
    looked = False  # whether all positions that may still be entered from here are made already
    if table and ply > 0 and depth > 2 and load(context, layout.ENHANCED_CUTOFFS) != 0:
        value = _enhanced_cutoff(context, mover, opponent, moves, beta, depth)
        if value >= beta:
            count(context, layout.TABLE_RETURNS)
            return value
        looked = True

    # Step 7. ProbCut (selective): a shallower search that makes a cutoff here probable.
    probcut = load(context, layout.PROBCUT)
    if probcut != 0 and ply > 0 and selective.allows_cuts(probcut, mover | opponent, depth):
        at_least, at_most = selective.foretold(context, mover, opponent, depth, ply)
        for check in range(selective.CHECKS):
            shallow = selective.check_depth(probcut, mover | opponent, depth, check)
            if shallow == 0:
                break
            bound = selective.high_check(probcut, mover | opponent, depth, check, beta)
            if bound < layout.INFINITY and at_least >= beta:
                enter_again(context)
                value = negamax(context, mover, opponent, bound - _1, bound, shallow, ply)
                if out_of_budget(context):
                    return value
                if value >= bound:
                    count(context, layout.PROBCUT_RETURNS)
                    return beta
            bound = selective.low_check(probcut, mover | opponent, depth, check, alpha)
            if bound > -layout.INFINITY and at_most <= alpha:
                enter_again(context)
                value = negamax(context, mover, opponent, bound, bound + _1, shallow, ply)
                if out_of_budget(context):
                    return value
                if value <= bound:
                    count(context, layout.PROBCUT_RETURNS)
                    return alpha
        clear_pv(context, row)

    # Step 8. Singular extension (selective): a move that stands out is searched a ply deeper.
    extended = transposition.NO_MOVE
    if singular and selective.may_extend(context, depth, ply):
        extended = selective.singular_move(context, mover, opponent, moves)
        if moves & (moves - ONE) != ZERO and not looked:
            count_more(context, MADE, popcount(moves))
            looked = True

    # Step 9. All moves: the table's first, the others as the ordering has them.
    limit = np.int64(64)
    if tapered:
        limit = selective.width(context, ply)
    ordered = load(context, layout.CRITERIA) != 0
    null_windows = load(context, layout.NULL_WINDOWS) != 0
    occupied = mover | opponent
    sorts = load(context, layout.SORTS) != 0
    some_futile = sorts and ply > 0 and selective.allows_futility(context, occupied, depth - _1)
    if ply > 0 and load(context, layout.TABLE_MOVES) == 0:
        hint = transposition.NO_MOVE
    low = alpha
    best = -layout.INFINITY
    best_move = transposition.NO_MOVE
    listed = np.int64(-1)  # moves in the list; it is written when the hint has not cut off
    number = np.int64(0)
    tried = np.int64(0)
    while tried < limit:
        known = layout.UNKNOWN
        if tried == 0 and hint < 64 and (moves >> np.uint64(hint)) & ONE != ZERO:
            square = np.uint64(hint)
            moves ^= ONE << square
        elif not ordered:
            if moves == ZERO:
                break
            square = lowest_square(moves)
            moves &= moves - ONE
        else:
            if listed < 0:
                enough = -layout.INFINITY
                if some_futile:
                    enough = selective.refuting_value(context, occupied, depth - _1, beta)
                listed = ordering.list_moves(context, mover, opponent, moves, ply, enough)
                if load(context, layout.LOOKS) != 0 and not looked:
                    count_more(context, MADE, listed)
                    looked = True
                if some_futile and listed > 0:
                    square = ordering.listed_move(context, ply, listed - _1)
                    if ordering.glanced(context, ply, square) <= enough:
                        count(context, layout.PROBCUT_RETURNS)
                        ordering.remember_cutoff(context, square, depth, ply)
                        best, best_move = beta, np.int64(square)
                        layout.set_pv(context, row, best_move)
                        break
            if number == listed:
                break
            square = ordering.next_move(context, ply, number, listed)
            if sorts:
                known = ordering.glanced(context, ply, square)
            if (
                some_futile
                and np.int64(square) != extended
                and selective.futile_move(context, occupied, depth - _1, known, low)
            ):
                count(context, layout.PROBCUT_RETURNS)
                best = max(best, low)  # as all later moves give no more
                break
            moves ^= ONE << square
            number += _1
        other, mine = after(mover, opponent, square)
        if looked:
            enter_again(context)
        to_go = depth - _1
        extensions = load(context, layout.EXTENSIONS + ply)
        if np.int64(square) == extended:
            to_go = depth
            extensions += _1
        store(context, layout.RANKS + ply + 1, tried)
        store(context, layout.EXTENSIONS + ply + 1, extensions)
        store(context, layout.KNOWN + ply + 1, known)
        if to_go == 0:
            clear_pv(context, row - _1)
            value = -leaf(context, other, mine)
        else:
            if null_windows and tried > 0 and beta - low > 1:
                value = -negamax(context, other, mine, -low - _1, -low, to_go, ply + _1)
                if out_of_budget(context):
                    return value
                if low < value < beta:
                    if ply == 0:  # better than the best so far, however much
                        extend_pv(context, row, np.int64(square))
                        store(context, layout.ROOT_VALUE, value)
                    enter_again(context)
                    value = -negamax(context, other, mine, -beta, -low, to_go, ply + _1)
            else:
                value = -negamax(context, other, mine, -beta, -low, to_go, ply + _1)
            if out_of_budget(context):
                return value
        tried += _1
        best = max(best, value)
        if value > low:
            low = value
            best_move = np.int64(square)
            extend_pv(context, row, best_move)
            if ply == 0:
                store(context, layout.ROOT_VALUE, value)
            if low >= beta:
                if moves != ZERO:
                    count(context, layout.CUTOFFS)
                    if tried == 1:
                        count(context, layout.FIRST_MOVE_CUTOFFS)
                if ordered:
                    ordering.remember_cutoff(context, square, depth, ply)
                break

    # Step 10. Remember what was found.
    if table:
        lower, upper = -layout.INFINITY, layout.INFINITY
        if best > alpha:
            lower = best
        if best < beta:
            upper = best
        if best <= alpha:
            best_move = hint  # of moves that all failed low none is known to be good
        transposition.remember(context, mover, opponent, depth, lower, upper, best_move)
    return best
