"""Minimax: look at everything to a fixed depth. Slow, and the measure of every other search."""

from __future__ import annotations

from functools import cache

import numpy as np

from othello_lab.agents.agent import Limits, SearchStats
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
from othello_lab.agents.search.observer import SearchObserver
from othello_lab.agents.search.search_agent import SearchAgent
from othello_lab.agents.search.window import plain
from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves, lowest_square
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Address, Int, Mask, kernel
from othello_lab.core.system.settings import explained
from othello_lab.core.vector import load
from othello_lab.core.whole_games import CompiledPlayer, decision


@kernel
def _last_ply(context: Address, mover: Mask, opponent: Mask, moves: Mask) -> Int:
    """The value of a node whose moves, at least one, lead to leaves. The best one is chosen without
    a branch, because the processor would often guess it wrongly."""
    best, best_square = -layout.INFINITY, ZERO
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        value = -leaf(context, *after(mover, opponent, square))
        best_square = square if value > best else best_square
        best = max(best, value)
    layout.set_pv(context, np.int64(1), np.int64(best_square))
    return best


@kernel
def minimax(context: Address, mover: Mask, opponent: Mask, depth: Int) -> Int:
    """Value of a position to the mover, ``depth`` plies (at least 1) deep, in negamax form.

    Counts into the context, and leaves the principal variation in its row ``depth``.
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
            value = -minimax(context, opponent, mover, depth - np.int64(1))
            if out_of_budget(context):
                return value
        extend_pv(context, depth, np.int64(PASS))
        return value
    if depth == 1:
        return _last_ply(context, mover, opponent, moves)
    best = -layout.INFINITY
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        other, mine = after(mover, opponent, square)
        value = -minimax(context, other, mine, depth - np.int64(1))
        if out_of_budget(context):
            return value
        if value > best:
            best = value
            extend_pv(context, depth, np.int64(square))
    return best


def _decide(
    context: Address, mover: Mask, opponent: Mask, moves: Mask, generator: Address, answer: Address
) -> Int:
    """A decision of :data:`core.whole_games.Decide`."""
    value = minimax(context, mover, opponent, begin_decision(context))
    return end_decision(context, value, moves, answer)


_decided = cache(lambda: decision(_decide))


@explained
class Minimax(SearchAgent):
    """Full-width search to a fixed depth, which leaves nothing out; among equal moves the first
    from a1 to h8."""

    def compiled_player(self, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
        return self._compiled_player(_decided(), rules, limits) if self.compiled else None

    def _compiled(self, context: Address, mover: Mask, opponent: Mask, depth: Int) -> Int:
        return minimax(context, mover, opponent, depth)

    def _plainly(
        self, position: Position, depth: int, stats: SearchStats, watch: SearchObserver
    ) -> tuple[int, plain.Line]:
        return plain.minimax(position, depth, self.evaluation.plain, stats, watch, self.final)
