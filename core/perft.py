"""Perft: how many sequences of plies there are from a position, the classic check of a move maker.

A pass counts as a ply, and a finished game as one leaf at any remaining depth: from the standard
start 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, ... (a convention that does not count
passes gives 3005320 at depth 9).
"""

from __future__ import annotations

import numpy as np

from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves, lowest_square, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Announce, Int, Mask, kernel, prepare


@kernel
def _count(mover: Mask, opponent: Mask, board: Mask, depth: Int, inner: Int) -> Int:
    """Leaves ``depth`` >= 1 plies below a position, and ``inner`` for each node above them."""
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO:
        if legal_moves(opponent, mover) & board == ZERO:
            return np.int64(1)
        if depth == 1:
            return inner + np.int64(1)
        return inner + _count(opponent, mover, board, depth - np.int64(1), inner)
    if depth == 1:
        return inner + popcount(moves)
    count = inner
    while moves != ZERO:
        square = lowest_square(moves)
        moves &= moves - ONE
        count += _count(*after(mover, opponent, square), board, depth - np.int64(1), inner)
    return count


def perft(position: Position, depth: int, announce: Announce | None = None) -> int:
    """Number of leaves ``depth`` >= 0 plies below ``position``; ValueError for a negative depth."""
    if depth < 0:
        raise ValueError(f"depth {depth}: perft needs a depth of 0 or more")
    prepare("perft", lambda: _counted(Position.start(), 1, 0), announce)
    return _counted(position, depth, 0) if depth else 1


def tree_size(position: Position, depth: int) -> int:
    """Return the number of nodes that minimax enters, ``depth`` >= 1 plies deep: all there are."""
    return _counted(position, depth, 1)


def _counted(position: Position, depth: int, inner: int) -> int:
    board = np.uint64(position.ruleset.board)
    return int(_count(*position.masks, board, np.int64(depth), np.int64(inner)))
