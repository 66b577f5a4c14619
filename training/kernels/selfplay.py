"""Temporal differences in compiled code: an agent plays itself, and learns after every game.

It looks one move ahead with its present weights. A game leaves a chain of positions, each with a
side to move (also where it must pass). Backwards from its end each position's value moves towards
its target: the next position's value (part 1 - lambda) and target (part lambda), turned round; the
end's target is the disc difference. If the move was drawn by chance the target is the best move's
value instead, so that chance does not blame the position before it.

How far each weight moves is its own affair (temporal coherence): the rate is multiplied by |sum of
its errors| / sum of |errors|. This is 1 while they all point in one direction, and sinks as they
begin to cancel out.

Sources: R. Sutton, *Learning to Predict by the Methods of Temporal Differences* (1988); D. Beal, M.
Smith, *Temporal Coherence and Prediction Decay in TD Learning* (1999); M. Szubert, W. Jaskowski, K.
Krawiec, *On Scalability, Generalization, and Hybridization of Coevolutionary Learning: A Case Study
for Othello* (2013), for n-tuples in this game.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from othello_lab.agents.learned.geometry import LANES
from othello_lab.agents.learned.lookup import store_contents
from othello_lab.core.bitboard import (
    ONE,
    ZERO,
    after,
    disc_difference,
    legal_moves,
    lowest_square,
    popcount,
)
from othello_lab.core.random import WORDS, draw_below, draw_bit, seed_generator
from othello_lab.core.system.compile import Int, Mask, kernel

SQUARES = 64
MOST_MOVES = 39
OWN_AT = SQUARES + 1
THEIRS_AT = OWN_AT + MOST_MOVES + 1
CLASSES_AT = THEIRS_AT + MOST_MOVES + 1
"""Columns of the weights of a stage: one for each number of empty squares (0 to 64), for each
number of the mover's moves and of the opponent's (0 to 39), then the classes of contents."""

_SIMPLE = 3  # active weights that are no patterns
_PLIES = 128  # more than any game has
_SHARES = np.int64(1 << 30)


class BoardArrays(NamedTuple):
    """The geometry of positions.

    board: mask of the squares. squares: their number. start_mover, start_opponent: masks. rows,
    begins, classes: of the geometry (see :class:`agents.learned.geometry.Geometry`): the share of a
    row's discs in contents, the beginning of each place's contents in ``classes``, and the class of
    each. stages: of each number of empty squares.
    """

    board: np.uint64
    squares: np.int64
    start_mover: np.uint64
    start_opponent: np.uint64
    rows: np.ndarray
    begins: np.ndarray
    classes: np.ndarray
    stages: np.ndarray


class LearnedArrays(NamedTuple):
    """Learned numbers: float32, shape (stages, columns) each.

    weights: in discs. errors, sizes: of each weight the sum of its errors and of their sizes.
    """

    weights: np.ndarray
    errors: np.ndarray
    sizes: np.ndarray


class LearningSettings(NamedTuple):
    """Settings of the learning.

    rate: share of its error that a position's value is corrected by at first. trace: lambda.
    chance: share of moves that are drawn. opening: the most drawn moves at the beginning of a game.
    """

    rate: float
    trace: float
    chance: float
    opening: int


@kernel
def _active(
    board: BoardArrays, mover: Mask, opponent: Mask, contents: np.ndarray, found: np.ndarray
) -> Int:
    """Write the columns of a position's weights into ``found``; its stage."""
    empties = np.int64(SQUARES) - popcount(mover | opponent)
    store_contents(board.rows.ctypes.data, mover, opponent, contents.ctypes.data)
    found[0] = empties
    found[1] = OWN_AT + popcount(legal_moves(mover, opponent) & board.board)
    found[2] = THEIRS_AT + popcount(legal_moves(opponent, mover) & board.board)
    for place in range(len(board.begins)):
        content = board.begins[place] + np.int64(contents[place])
        found[_SIMPLE + place] = CLASSES_AT + np.int64(board.classes[content])
    return board.stages[empties]


@kernel
def _value(weights: np.ndarray, stage: Int, active: np.ndarray) -> float:
    total = 0.0
    for column in active:
        total += weights[stage, column]
    return total


@kernel
def _correct(
    learning: LearnedArrays, stage: Int, active: np.ndarray, error: float, step: float
) -> None:
    """Move the weights of a position by its error, each by ``step`` times its coherence."""
    for column in active:
        size = learning.sizes[stage, column]
        share = 1.0
        if size > 0:
            share = abs(learning.errors[stage, column]) / size
        learning.weights[stage, column] += np.float32(step * share * error)
        learning.errors[stage, column] += np.float32(error)
        learning.sizes[stage, column] += np.float32(abs(error))


@kernel
def learn_games(
    board: BoardArrays,
    learning: LearnedArrays,
    manner: LearningSettings,
    games: Int,
    seed: np.uint64,
) -> tuple[float, Int]:
    """Play this number of games, and learn from each; return the sum of squared errors, and the
    number of positions."""
    generator = np.zeros(WORDS, dtype=np.int64)
    random = np.intp(generator.ctypes.data)
    seed_generator(random, seed)
    contents = np.zeros(LANES, dtype=np.uint16)
    active = np.zeros(_SIMPLE + len(board.begins), dtype=np.int64)
    step = manner.rate / len(active)
    movers, opponents = np.zeros(_PLIES, dtype=np.uint64), np.zeros(_PLIES, dtype=np.uint64)
    promised, drawn = np.zeros(_PLIES), np.zeros(_PLIES, dtype=np.bool_)
    squared, positions = 0.0, np.int64(0)
    for _ in range(games):
        mover, opponent = board.start_mover, board.start_opponent
        opening = draw_below(random, np.int64(manner.opening + 1))
        ply = 0
        while True:
            movers[ply], opponents[ply], drawn[ply] = mover, opponent, False
            moves = legal_moves(mover, opponent) & board.board
            if moves == ZERO:
                if legal_moves(opponent, mover) & board.board == ZERO:
                    break
                mover, opponent = opponent, mover
                ply += 1
                continue
            best, chosen, left = -np.inf, ZERO, moves
            while left != ZERO:
                square = np.uint64(lowest_square(left))
                left &= left - ONE
                other, own = after(mover, opponent, square)
                over = (legal_moves(other, own) | legal_moves(own, other)) & board.board == ZERO
                if over:
                    value = float(disc_difference(own, other, board.squares))
                else:
                    stage = _active(board, other, own, contents, active)
                    value = -_value(learning.weights, stage, active)
                if value > best:
                    best, chosen = value, square
            promised[ply] = best
            if ply < opening or draw_below(random, _SHARES) < manner.chance * _SHARES:
                drawn[ply] = True
                chosen = lowest_square(draw_bit(random, moves))
            mover, opponent = after(mover, opponent, chosen)
            ply += 1
        value = target = float(disc_difference(mover, opponent, board.squares))
        for place in range(ply - 1, -1, -1):
            target = -((1 - manner.trace) * value + manner.trace * target)
            if drawn[place]:
                target = promised[place]
            stage = _active(board, movers[place], opponents[place], contents, active)
            value = _value(learning.weights, stage, active)
            error = target - value
            _correct(learning, stage, active, error, step)
            squared += error * error
            positions += 1
    return squared, positions
