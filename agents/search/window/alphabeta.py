"""Alpha-beta: minimax's value without looking at moves that cannot matter."""

from __future__ import annotations

from functools import cache

import numpy as np

from othello_lab.agents.agent import Limits
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import (
    begin_decision,
    clear_pv,
    count,
    end_decision,
    extend_pv,
    final_value,
    leaf,
    out_of_budget,
)
from othello_lab.agents.search.window.search import WindowSearch
from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves, lowest_square
from othello_lab.core.notation import PASS
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Address, Int, Mask, kernel
from othello_lab.core.system.settings import explained
from othello_lab.core.vector import load
from othello_lab.core.whole_games import CompiledPlayer, decision


@kernel
def alphabeta(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, beta: Int, depth: Int
) -> Int:
    """Value of a position to the mover within the window (alpha, beta), ``depth`` plies
    (at least 1) deep, fail-soft.

    A result inside the window is minimax's value; one <= alpha is an upper bound of it, one
    >= beta a lower bound. Moves are tried from a1 to h8. Counts into the context, and leaves the
    principal variation in its row ``depth`` where the result lies inside the window.
    """
    count(context, layout.NODES)
    clear_pv(context, depth)
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO and legal_moves(opponent, mover) & board == ZERO:
        count(context, layout.LEAVES)
        return final_value(context, mover, opponent)
    if moves == ZERO:
        if depth == 1:
            value = -leaf(context, opponent, mover)
        else:
            value = -alphabeta(context, opponent, mover, -beta, -alpha, depth - np.int64(1))
            if out_of_budget(context):
                return value
        extend_pv(context, depth, np.int64(PASS))
        return value
    best = -layout.INFINITY
    first = True
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        other, mine = after(mover, opponent, square)
        if depth == 1:
            value = -leaf(context, other, mine)
        else:
            value = -alphabeta(context, other, mine, -beta, -alpha, depth - np.int64(1))
            if out_of_budget(context):
                return value
        best = max(best, value)
        if value > alpha:
            alpha = value
            extend_pv(context, depth, np.int64(square))
            if alpha >= beta:
                if moves != ZERO:
                    count(context, layout.CUTOFFS)
                    if first:
                        count(context, layout.FIRST_MOVE_CUTOFFS)
                break
        first = False
    return best


def _decide(
    context: Address, mover: Mask, opponent: Mask, moves: Mask, generator: Address, answer: Address
) -> Int:
    """A decision of :data:`core.whole_games.Decide`."""
    low, high = -layout.INFINITY, layout.INFINITY
    value = alphabeta(context, mover, opponent, low, high, begin_decision(context))
    return end_decision(context, value, moves, answer)


_decided = cache(lambda: decision(_decide))


@explained
class AlphaBeta(WindowSearch):
    """Alpha-beta pruning: minimax's value with a fraction of its nodes, as a position is left once
    one reply shows that a better one has been found elsewhere.

    With every technique off, moves are tried from a1 to h8, and the move is minimax's too; with an
    ordering it is the first in that order of those that are worth the value.
    """

    def compiled_player(self, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
        if not (self.compiled and self.bare and self.endgame == 0):
            return None
        return self._compiled_player(_decided(), rules, limits)

    def _compiled(self, context: Address, mover: Mask, opponent: Mask, depth: Int) -> Int:
        return alphabeta(context, mover, opponent, -layout.INFINITY, layout.INFINITY, depth)
