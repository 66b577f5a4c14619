"""Minimax: look at everything to a fixed depth. Slow, and the measure of every other search."""

from __future__ import annotations

import numpy as np

from agents.search.base import SearchAgent
from agents.search.context import (
    BOARD,
    INFINITY,
    LEAVES,
    NODES,
    clear_pv,
    count,
    extend_pv,
    final_value,
    leaf,
    out_of_budget,
)
from agents.search.window import plain
from core.bitboard import flips, legal_moves, lowest_square
from core.compile import kernel
from core.notation import PASS
from core.vector import load

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@kernel
def minimax(context, mover, opponent, depth):  # type: ignore[no-untyped-def]
    """Value of a position to the mover, ``depth`` plies (at least 1) deep, in negamax form.

    Counts into the context, and leaves the principal variation in its row ``depth``.
    """
    count(context, NODES)
    clear_pv(context, depth)
    board = np.uint64(load(context, BOARD))
    moves = legal_moves(mover, opponent) & board
    if moves == _ZERO and legal_moves(opponent, mover) & board == _ZERO:
        count(context, LEAVES)
        return final_value(context, mover, opponent)
    if moves == _ZERO:
        if depth == 1:
            value = -leaf(context, opponent, mover)
        else:
            value = -minimax(context, opponent, mover, depth - np.int64(1))
            if out_of_budget(context):
                return value
        extend_pv(context, depth, np.int64(PASS))
        return value
    best = -INFINITY
    while moves != _ZERO:
        square = lowest_square(moves)
        moves &= moves - _ONE
        flipped = flips(mover, opponent, square)
        other, own = opponent ^ flipped, mover ^ flipped ^ (_ONE << square)
        if depth == 1:
            value = -leaf(context, other, own)
        else:
            value = -minimax(context, other, own, depth - np.int64(1))
            if out_of_budget(context):
                return value
        if value > best:
            best = value
            extend_pv(context, depth, np.int64(square))
    return best


class Minimax(SearchAgent):
    """Full-width search to a fixed depth; among equal moves the first from a1 to h8."""

    def _compiled(self, context: int, mover: np.uint64, opponent: np.uint64, depth: int) -> int:
        return int(minimax(np.intp(context), mover, opponent, np.int64(depth)))

    _plain = staticmethod(plain.minimax)
