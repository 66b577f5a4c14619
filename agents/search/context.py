"""The scratch memory of a compiled search: one array of int64, handed around by its address.

Passing an array object through a deep recursion costs more than all else; an address costs one
register. The layout: counters, the limit on them, what never changes during a search, then the
principal variation, a triangle of which row ``d`` holds the best line of a node that is at most
``d`` plies from the end of the search.
"""

from __future__ import annotations

import numpy as np

from agents.evaluation.base import FINAL_UNIT, Evaluation
from core.bitboard import ZERO, disc_difference, legal_moves
from core.compile import kernel
from core.rules import Ruleset
from core.vector import call_evaluation, load, store

# Counters, in the order of SearchStats' fields.
(
    NODES,
    EVALUATIONS,
    LEAVES,
    CUTOFFS,
    FIRST_MOVE_CUTOFFS,
    TABLE_RETURNS,
    PROBCUT_RETURNS,
    STABILITY_RETURNS,
    PLAYOUTS,
) = range(9)
COUNTERS = 9
LIMIT = 9
"""Nodes after which the search is to stop; a timer sets it to 0 when time is up."""
NO_LIMIT = (1 << 63) - 1
# Constants of the search.
BOARD, SQUARES, EVALUATION, PARAMETERS = range(10, 14)
PV = 14

MAX_DEPTH = 64
"""The deepest search that fits; longer than any rest of a game with its passes in practice."""
_ROW = MAX_DEPTH + 1
END = np.int64(-1)
"""Marks the end of a principal variation."""

# What only :mod:`agents.search.window.negamax` and its techniques use: switches, then their tables.
(
    NULL_WINDOWS,
    TABLE,
    TABLE_SHIFT,
    GENERATION,
    OLDEST,
    ENHANCED_CUTOFFS,
    TABLE_MOVES,
    STATIC_FRONTIER,
    PROBCUT,
    TAPERED,
    SINGULAR_MARGIN,
    SINGULAR_PLIES,
    ROOT_MOVE,
    ROOT_VALUE,
) = range(PV + (MAX_DEPTH + 1) * _ROW, PV + (MAX_DEPTH + 1) * _ROW + 14)
CRITERIA = ROOT_VALUE + 1  # of the move ordering, 5
RANK_OF_SQUARE = CRITERIA + 5  # static class by square, 64
KINDS_OF_SQUARE = RANK_OF_SQUARE + 64  # static classes as masks, 8
KILLERS = KINDS_OF_SQUARE + 8  # two by ply
HISTORY = KILLERS + 2 * _ROW  # by side (even or odd ply) and square, 2 x 64
MOVES = HISTORY + 2 * 64  # a list of 64 keys by ply
WIDTHS = MOVES + 64 * _ROW  # of a tapered search, by ply and rank of the move before, 32 each
RANKS = WIDTHS + 32 * _ROW  # rank of the move that led to the node now searched at each ply
EXTENSIONS = RANKS + _ROW  # plies by which the line to it was extended
SIZE = EXTENSIONS + _ROW

INFINITY = np.int64(65 * FINAL_UNIT)
"""More than any value."""


@kernel
def count(context, counter):  # type: ignore[no-untyped-def]
    """Add one to a counter."""
    store(context, counter, load(context, counter) + 1)


@kernel
def out_of_budget(context):  # type: ignore[no-untyped-def]
    """Whether the search is to stop: what it then returns means nothing. Asked after each return
    from a deeper search, so a limit is exceeded by at most the nodes between two such returns."""
    return load(context, NODES) >= load(context, LIMIT)


@kernel
def count_evaluation(context, mover, opponent):  # type: ignore[no-untyped-def]
    """Call the heuristic, and count the call."""
    count(context, EVALUATIONS)
    return call_evaluation(load(context, EVALUATION), mover, opponent, load(context, PARAMETERS))


@kernel
def final_value(context, mover, opponent):  # type: ignore[no-untyped-def]
    """What a finished game is worth to the mover."""
    return disc_difference(mover, opponent, load(context, SQUARES)) * FINAL_UNIT


@kernel
def leaf(context, mover, opponent):  # type: ignore[no-untyped-def]
    """Value of a node with no plies to go. Searches call this instead of themselves for their
    last ply, which saves a quarter of the time; the node counts like any other."""
    count(context, NODES)
    count(context, LEAVES)
    board = np.uint64(load(context, BOARD))
    if legal_moves(mover, opponent) & board == ZERO and (
        legal_moves(opponent, mover) & board == ZERO
    ):
        return final_value(context, mover, opponent)
    return count_evaluation(context, mover, opponent)


@kernel
def clear_pv(context, row):  # type: ignore[no-untyped-def]
    """The node whose line is kept in this row has no best line yet."""
    store(context, PV + row * _ROW, END)


@kernel
def extend_pv(context, row, move):  # type: ignore[no-untyped-def]
    """The best line of a node is this move and then its child's best line, one row below."""
    own = PV + row * _ROW
    child = own - _ROW
    store(context, own, move)
    for ply in range(row):
        reply = load(context, child + ply)
        store(context, own + ply + 1, reply)
        if reply == END:
            break


@kernel
def set_pv(context, row, move):  # type: ignore[no-untyped-def]
    """The best line of a node is this move; what follows is not known."""
    store(context, PV + row * _ROW, move)
    store(context, PV + row * _ROW + 1, END)


def new() -> np.ndarray:
    """A fresh context. Row 0 of the principal variation, that of the leaves, stays empty."""
    context = np.zeros(SIZE, dtype=np.int64)
    context[PV] = END
    context[LIMIT] = NO_LIMIT
    return context


def stopped(context: np.ndarray) -> bool:
    """Whether the last search ran out of nodes or time, so that its result means nothing."""
    return bool(context[NODES] >= context[LIMIT])


def set_constants(context: np.ndarray, rules: Ruleset, evaluation: Evaluation) -> None:
    """Fill in what stays the same from one search to the next."""
    context[BOARD] = np.uint64(rules.board).view(np.int64)
    context[SQUARES] = rules.squares
    context[EVALUATION] = evaluation.address
    context[PARAMETERS] = evaluation.parameters_address


def read_pv(context: np.ndarray, row: int) -> tuple[int, ...]:
    """The best line in a row."""
    line = context[PV + row * _ROW : PV + (row + 1) * _ROW].tolist()
    return tuple(line[: line.index(-1)])
