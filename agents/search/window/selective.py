"""Selective search: techniques that may give another value than minimax's.

- **Multi-ProbCut** (M. Buro, *Experiments with Multi-ProbCut and a new high-quality evaluation
  function for Othello*, 1997): a shallower search that comes out far enough above beta or below
  alpha makes it probable that the deep one would, and stands in for it.
- **Futility pruning**: one or two plies above the leaves the evaluation alone stands in, if it is
  far enough beyond the window (J. Schaeffer, *Experiments in search and knowledge*, 1986).
- **Tapered search**: only a number of moves at the head of the ordering are searched, by ply
  and by the rank of the move before.
- **Singular extension**: a move that looks much better than all others, or is the only one, is
  searched a ply deeper.

All are off by default, and agents that use them say so (``selective``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import INFINITY, MAX_DEPTH, count_evaluation
from othello_lab.agents.search.window.ordering import glance
from othello_lab.agents.search.window.transposition import NO_MOVE
from othello_lab.core.bitboard import ONE, ZERO, after, lowest_square, popcount
from othello_lab.core.system.compile import Address, Index, Int, Mask, kernel
from othello_lab.core.vector import load, load_float, store

# ------------------------------------------------------------------ ProbCut
# Its parameters: for each depth, stage and number of the check the check's depth (0: none), slope,
# intercept and tolerance, as float64.

CHECKS = 2
DEEPEST = 30
STAGE_DISCS = 8
"""Discs on the board that make a stage."""
STAGES = 64 // STAGE_DISCS + 1
GLANCE = CHECKS
"""Where the place of another check would be stands what the evaluation alone foretells."""
FUTILE = 2
"""The greatest depth at which the evaluation alone may stand in for a search."""
PROBCUT_SHAPE = (DEEPEST + 1, STAGES, CHECKS + 1, 4)
_FIELDS = PROBCUT_SHAPE[-1]


@kernel
def _probcut_place(discs: Int, depth: Int, number: Index) -> Int:
    stage = discs // STAGE_DISCS
    return ((depth * STAGES + stage) * (CHECKS + 1) + number) * _FIELDS


@kernel
def check_depth(parameters: Address, occupied: Mask, depth: Int, number: Index) -> Int:
    """Depth of the shallower search that may stand in for one of this depth; 0 for none."""
    if depth > DEEPEST:
        return np.int64(0)
    return np.int64(load_float(parameters, _probcut_place(popcount(occupied), depth, number)))


@kernel
def allows_cuts(parameters: Address, occupied: Mask, depth: Int) -> bool:
    """Return True if there is a check at this depth."""
    return bool(check_depth(parameters, occupied, depth, 0) != 0)


@kernel
def foretold(
    context: Address, mover: Mask, opponent: Mask, depth: Int, ply: Int
) -> tuple[Int, Int]:
    """Return the evaluation's prediction of the value at this depth: probably at least the first
    number, and at most the second. A check for more is not worth its search. INFINITY and
    -INFINITY, which forbid no check, if the evaluation is not used. It is not called again where it
    is known."""
    parameters = load(context, layout.PROBCUT)
    discs = popcount(mover | opponent)
    if load_float(parameters, _probcut_place(discs, depth, GLANCE)) == 0.0:
        return INFINITY, -INFINITY
    value = load(context, layout.KNOWN + ply)
    if value == layout.UNKNOWN:
        value = count_evaluation(context, mover, opponent)
        store(context, layout.KNOWN + ply, value)
    return _foretold_by(parameters, discs, depth, value)


@kernel
def _foretold_by(parameters: Address, discs: Int, depth: Int, value: Int) -> tuple[Int, Int]:
    """The prediction by a value of the evaluation."""
    fields = _probcut_place(discs, depth, GLANCE)
    slope, intercept = load_float(parameters, fields + 1), load_float(parameters, fields + 2)
    prediction = np.int64(slope * value + intercept)
    tolerance = np.int64(load_float(parameters, fields + 3))
    return prediction - tolerance, prediction + tolerance


@kernel
def futile_move(context: Address, occupied: Mask, depth: Int, value: Int, alpha: Int) -> bool:
    """Return True for a move that probably gives no more than alpha.

    occupied: the discs before the move. depth: that of the position after it, of which futility
    pruning knows (:func:`allows_futility`). value: the evaluation there, to the side that moves
    next.
    """
    if abs(value) >= FINAL_UNIT:  # the game is over
        return False
    discs = popcount(occupied) + 1
    at_least, _ = _foretold_by(load(context, layout.PROBCUT), discs, depth, value)
    return bool(-FINAL_UNIT < -alpha <= at_least)


@kernel
def allows_futility(context: Address, occupied: Mask, depth: Int) -> bool:
    """Return True if the evaluation alone may stand in for a search of this depth."""
    parameters = load(context, layout.PROBCUT)
    if depth > FUTILE or parameters == 0:
        return False
    return bool(load_float(parameters, _probcut_place(popcount(occupied), depth, GLANCE)) != 0.0)


@kernel
def high_check(parameters: Address, occupied: Mask, depth: Int, number: Index, beta: Int) -> Int:
    """Return the value that the shallower search must reach for the deep one to be probably >=
    beta; INFINITY if beta is no value a heuristic can give."""
    if beta >= FINAL_UNIT or beta <= -FINAL_UNIT:
        return INFINITY
    fields = _probcut_place(popcount(occupied), depth, number)
    slope, intercept = load_float(parameters, fields + 1), load_float(parameters, fields + 2)
    return np.int64(np.ceil((beta - intercept + load_float(parameters, fields + 3)) / slope))


@kernel
def low_check(parameters: Address, occupied: Mask, depth: Int, number: Index, alpha: Int) -> Int:
    """Return the value that the shallower search must not exceed for the deep one to be probably <=
    alpha; -INFINITY if alpha is no value a heuristic can give."""
    if alpha >= FINAL_UNIT or alpha <= -FINAL_UNIT:
        return -INFINITY
    fields = _probcut_place(popcount(occupied), depth, number)
    slope, intercept = load_float(parameters, fields + 1), load_float(parameters, fields + 2)
    return np.int64(np.floor((alpha - intercept - load_float(parameters, fields + 3)) / slope))


@kernel
def refuting_value(context: Address, occupied: Mask, depth: Int, beta: Int) -> Int:
    """Return the highest evaluation, to the side that moves next, after a move that probably gives
    at least beta; -INFINITY if beta is no value a heuristic can give. occupied, depth: as for
    :func:`futile_move`."""
    one_more = occupied | (occupied + ONE)  # as many discs as after a move
    return low_check(load(context, layout.PROBCUT), one_more, depth, GLANCE, -beta)


# ------------------------------------------------------------------ tapered search


def taper_widths(taper: Sequence[int | Sequence[int]]) -> np.ndarray:
    """Return the number of moves searched, int64, shape (PLIES, RANKS_KNOWN): by ply from the root
    and rank (from 0) of the move that led there.

    taper: an entry a ply, its last one holding for all deeper plies: a number of moves, or a list
    of numbers by rank, its last one holding for all lower ranks. Raises ValueError for anything
    else than numbers of at least 1.
    """
    if not isinstance(taper, Sequence) or isinstance(taper, str) or not taper:
        raise ValueError(f"taper={taper}: a list is needed, by ply, of numbers of moves")
    rows = []
    for ply, entry in enumerate(taper):
        row = list(entry) if isinstance(entry, Sequence) and entry else [entry]
        for moves in row:
            if type(moves) is not int or moves < 1:
                raise ValueError(
                    f"taper={taper}: {entry} at ply {ply}; a number of moves, 1 or more, or a list "
                    "of such numbers by the rank of the move before, is needed"
                )
        rows.append((row + [row[-1]] * layout.RANKS_KNOWN)[: layout.RANKS_KNOWN])
    rows = (rows + [rows[-1]] * layout.PLIES)[: layout.PLIES]
    return np.array(rows, dtype=np.int64)


@kernel
def width(context: Address, ply: Int) -> Int:
    """Return the number of moves that a tapered search looks at in the node now searched at this
    ply."""
    rank = load(context, layout.RANKS + ply)
    if rank >= layout.RANKS_KNOWN:
        rank = np.int64(layout.RANKS_KNOWN - 1)
    return load(context, layout.WIDTHS + ply * layout.RANKS_KNOWN + rank)


# ------------------------------------------------------------------ singular extension


@kernel
def may_extend(context: Address, depth: Int, ply: Int) -> bool:
    """Return True if a move of this node may be searched a ply deeper: the line to it was not
    extended too often, and there is room."""
    if load(context, layout.EXTENSIONS + ply) >= load(context, layout.SINGULAR_PLIES):
        return False
    return bool(ply + depth < MAX_DEPTH)


@kernel
def singular_move(context: Address, mover: Mask, opponent: Mask, moves: Mask) -> Int:
    """Return the move to be searched a ply deeper, or NO_MOVE: the only move, or one with an
    evaluation that exceeds every other by the margin."""
    if moves & (moves - ONE) == ZERO:
        return np.int64(lowest_square(moves))
    best, second = -INFINITY, -INFINITY
    best_move = NO_MOVE
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        value = -glance(context, *after(mover, opponent, square))
        if value > best:
            best, second = value, best
            best_move = np.int64(square)
        elif value > second:
            second = value
    if best - second >= load(context, layout.SINGULAR_MARGIN):
        return best_move
    return NO_MOVE
