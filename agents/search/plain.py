"""The reading twins: the searches as one would explain them, in plain Python.

They count what the compiled searches count, node for node, and tests hold the two equal. Run an
agent with ``compiled: false`` to play with them.
"""

from __future__ import annotations

from collections.abc import Callable

from agents.evaluation.base import FINAL_UNIT
from core.game import SearchStats
from core.notation import PASS
from core.position import Position

Line = tuple[int, ...]
Evaluate = Callable[[Position], int]

INFINITY = 65 * FINAL_UNIT


def minimax(
    position: Position, depth: int, evaluate: Evaluate, stats: SearchStats
) -> tuple[int, Line]:
    """Value to the mover and principal variation, looking at every line of ``depth`` plies."""
    stats.nodes += 1
    if position.is_over:
        stats.leaves += 1
        return position.disc_difference * FINAL_UNIT, ()
    if depth == 0:
        stats.leaves += 1
        stats.evaluations += 1
        return evaluate(position), ()
    best = -INFINITY
    best_line: Line = ()
    for move in position.moves or (PASS,):
        value, line = minimax(position.play(move), depth - 1, evaluate, stats)
        if -value > best:
            best, best_line = -value, (move, *line)
    return best, best_line


def alphabeta(
    position: Position,
    depth: int,
    evaluate: Evaluate,
    stats: SearchStats,
    alpha: int = -INFINITY,
    beta: int = INFINITY,
) -> tuple[int, Line]:
    """As :func:`minimax`, leaving out what cannot change the value.

    The mover already has a line worth ``alpha``; the opponent already has one that holds the
    mover to ``beta``. Once a move is worth ``beta`` or more, the opponent will not let this
    position arise, and the remaining moves need not be looked at: a cutoff.
    """
    stats.nodes += 1
    if position.is_over:
        stats.leaves += 1
        return position.disc_difference * FINAL_UNIT, ()
    if depth == 0:
        stats.leaves += 1
        stats.evaluations += 1
        return evaluate(position), ()
    moves = position.moves or (PASS,)
    best = -INFINITY
    best_line: Line = ()
    for number, move in enumerate(moves, start=1):
        value, line = alphabeta(position.play(move), depth - 1, evaluate, stats, -beta, -alpha)
        if -value > best:
            best = -value
            if best > alpha:
                alpha, best_line = best, (move, *line)
        if alpha >= beta:
            if number < len(moves):
                stats.cutoffs += 1
                stats.first_move_cutoffs += number == 1
            break
    return best, best_line
