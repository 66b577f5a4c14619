"""The smallest tree that proves a value: the floor below every search that prunes.

To prove that a position is worth at least v, one good move is enough, but for the opponent every
answer has to be looked at; to prove that it is worth at most v, every move, but one good answer
each. Alpha-beta with perfect ordering looks at no more than both proofs together, which share one
leaf (D. E. Knuth and R. W. Moore, *An analysis of alpha-beta pruning*, 1975: the critical tree).
Their formula is for trees that branch evenly; here the leaves of this position's own tree are
counted, taking the cheapest good move everywhere. Positions that several lines lead to count for
each line.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import final_value, leaf
from othello_lab.agents.search.observer import UNWATCHED
from othello_lab.agents.search.window import plain
from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves, lowest_square
from othello_lab.core.game import SearchStats
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, Announce, Int, Mask, kernel, prepare
from othello_lab.core.vector import load, popcount

NO_PROOF = np.int64(1 << 62)
_1 = np.int64(1)


@kernel
def fewest_leaves(
    context: Address, mover: Mask, opponent: Mask, depth: Int, bound: Int, at_least: Int, limit: Int
) -> Int:
    """The leaves of the smallest tree of ``depth`` plies that proves the value of a position to its
    mover to be at least ``bound`` (``at_least`` 1), or at most (0); ``limit`` (1 or more) where
    none with fewer leaves does. A finished game is one leaf."""
    if depth == 0:
        value = leaf(context, mover, opponent)
        proven = value >= bound if at_least == _1 else value <= bound
        return _1 if proven else limit
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board
    other_way = _1 - at_least  # no literal: numba loads no recursion with one from its cache
    if moves == ZERO:
        if legal_moves(opponent, mover) & board == ZERO:
            value = final_value(context, mover, opponent)
            proven = value >= bound if at_least == _1 else value <= bound
            return _1 if proven else limit
        return fewest_leaves(context, opponent, mover, depth - _1, -bound, other_way, limit)
    if at_least == _1:
        best = limit
        while moves != ZERO and best > _1:
            square = lowest_square(moves)
            moves &= moves - ONE
            other, mine = after(mover, opponent, square)
            best = fewest_leaves(context, other, mine, depth - _1, -bound, other_way, best)
        return best
    left = popcount(moves)  # of which each needs a leaf at least
    total = np.int64(0)
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        left -= _1
        most = limit - total - left
        if most <= _1:
            return limit
        other, mine = after(mover, opponent, square)
        number = fewest_leaves(context, other, mine, depth - _1, -bound, other_way, most)
        if number >= most:
            return limit
        total += number
    return total


def smallest_tree(
    position: Position, depth: int, value: int, evaluation: Evaluation, final: str = "discs"
) -> int:
    """The leaves of the smallest tree, ``depth`` plies deep (1 or more), that proves the value of a
    position: those of the two proofs of ``>= value`` and ``<= value``, less the one they share.

    value: minimax's, at this depth with this evaluation, to the mover. final: what a finished game
    is worth, as of :class:`agents.search.SearchAgent`. Takes a small part of minimax's time. Raises
    ValueError if the position has another value.
    """
    if not evaluation.compiled:
        proofs = [
            fewest_leaves_plainly(position, depth, value, at_least, evaluation, final)
            for at_least in (True, False)
        ]
        if math.inf in proofs:
            raise ValueError(f"the value is not {value}")
        return int(sum(proofs)) - 1
    context = layout.new()
    layout.set_constants(context, position.ruleset, evaluation)
    context[layout.PAIP_ENDS] = final == "win"
    address = np.intp(context.ctypes.data)
    total = -1
    for at_least in (True, False):
        masks, question = position.masks, (np.int64(depth), np.int64(value))
        leaves = int(fewest_leaves(address, *masks, *question, np.int64(at_least), NO_PROOF))
        if leaves >= NO_PROOF:
            raise ValueError(f"the value is not {value}")
        total += leaves
    return total


def fewest_leaves_plainly(
    position: Position,
    depth: int,
    bound: int,
    at_least: bool,
    evaluation: Evaluation,
    final: str = "discs",
) -> float:
    """The same in plain Python as :func:`fewest_leaves`; infinity where there is no proof."""
    if depth == 0 or position.is_over:
        value = plain.leaf(position, evaluation.plain, SearchStats(), UNWATCHED, final, depth > 0)
        proven = value >= bound if at_least else value <= bound
        return 1 if proven else math.inf
    leaves = (
        fewest_leaves_plainly(
            position.play(move), depth - 1, -bound, not at_least, evaluation, final
        )
        for move in position.moves or (PASS,)
    )
    return min(leaves) if at_least else sum(leaves)


def prepare_proofs(evaluation: Evaluation, announce: Announce | None = None) -> None:
    """Compile the kernel before workers fork."""
    if evaluation.compiled:
        evaluation.prepare(announce)
        prepare("smallest trees", lambda: _try(evaluation), announce)


def _try(evaluation: Evaluation) -> None:
    with suppress(ValueError):  # the start may have another value
        smallest_tree(Position.start(), 1, 0, evaluation)
