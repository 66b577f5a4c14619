"""The evaluation and the depth of the solver's sorting search.

At many empty squares a search of a few plies ranks the moves before the exact search tries them.
The better it foresees the refutation, the smaller the exact search; its result stays the same. It
uses an evaluation learned from games (:mod:`agents.learned.patterns`) if the lab has weights for
the board, and otherwise :class:`RoughEvaluation`, made by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation
from othello_lab.agents.learned.geometry import board_of
from othello_lab.agents.learned.patterns import PatternEvaluation
from othello_lab.agents.learned.weights import shipped
from othello_lab.core.bitboard import NOT_A, NOT_H, around, bits, legal_moves, neighbours, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask, kernel
from othello_lab.core.vector import address_of, load

TRAINED, ROUGH = "trained", "rough"
"""Sorting with the weights that come with the lab, where there are some for the board; and never
with learned ones."""
WEIGHTS = {8: "patterns", 6: "patterns6"}
"""By side of the board: the name of the weights that come with the lab."""


@dataclass(frozen=True)
class SortingSettings:
    """Settings for sorting moves with an evaluation.

    steps: for no ply ahead (the evaluation alone), one ply, two and so on: the empty squares from
    which the sorting search looks this far, and 64 times a value's weight in a move's rank then. Of
    two steps with the same empty squares the later one counts. margin: moves worse than the best so
    far by this margin need not be told apart. doubt: if the evaluation of a position itself is less
    than needed by this, in hundredths of a disc, its moves are sorted by the evaluation alone; None
    for never. freedom: bonus of each legal move to the value at the end of the sorting search. A
    value predicts the winner, not the size of the tree; the mobility below a move does. mobility:
    malus of each reply to a move's rank, searched ahead or not.
    """

    evaluation: Evaluation
    steps: tuple[tuple[int, int], ...]
    margin: int
    doubt: int | None
    freedom: int
    mobility: int

    def plies(self, empties: int) -> int:
        """Return the plies to look ahead; -1 for none at all."""
        return sum(empties >= start for start, _ in self.steps) - 1

    def weight(self, empties: int) -> int:
        """Return 64 times a value's weight in a move's rank; 0 without a sorting search."""
        plies = self.plies(empties)
        return self.steps[plies][1] if plies >= 0 else 0


def sorting_of(choice: str | Path, side: int) -> SortingSettings:
    """Return the sorting for boards of this side: ``trained``, ``rough``, or the name or file of
    weights of patterns. These sort on boards of their size. Raises ValueError for weights that
    cannot be read."""
    evaluation: PatternEvaluation | None = None
    if choice == TRAINED:
        evaluation = _shipped(side)
    elif choice != ROUGH:
        try:
            evaluation = PatternEvaluation(choice)
        except ValueError as error:
            raise ValueError(f"sorting={choice}: {TRAINED}, {ROUGH} or weights; {error}") from error
    if evaluation is None or side not in evaluation.sides:
        return _rough(side)
    return _trained(evaluation)


@cache  # reading them takes longer than most positions
def _shipped(side: int) -> PatternEvaluation | None:
    name = WEIGHTS.get(side)
    return PatternEvaluation(name) if name in shipped() else None


@cache
def _rough(side: int) -> SortingSettings:
    plies_from = (14, 14, 16, 18, 22, 25, 28)
    steps = tuple((start, 3 * 64) for start in plies_from)
    return SortingSettings(
        RoughEvaluation(side), steps, margin=1 << 20, doubt=None, freedom=0, mobility=32
    )


def _trained(evaluation: PatternEvaluation) -> SortingSettings:
    # Of some 50 choices, one of few nodes and few evaluations on fforum-20-39, on 40 positions of
    # 18 empty squares and on 7 of 22 to 26. From the start of 6x6 others take fewer nodes.
    steps = ((12, 8), (14, 24), (17, 32), (20, 40), (24, 48))
    return SortingSettings(evaluation, steps, margin=1000, doubt=400, freedom=50, mobility=64)


# ------------------------------------------------------------------ the one made by hand

_MOBILITY, _POTENTIAL, _CORNER, _X_SQUARE = 8, 3, 32, 12
_BOARD, _CORNERS = np.int64(0), np.int64(1)
_SEVEN, _NINE = np.uint64(7), np.uint64(9)


@kernel
def _diagonal_neighbours(mask: Mask) -> Mask:
    """The squares that touch a square of ``mask`` at a corner, on the 8x8 board."""
    east = ((mask << _NINE) | (mask >> _SEVEN)) & NOT_A
    west = ((mask << _SEVEN) | (mask >> _NINE)) & NOT_H
    return east | west


@dataclass(eq=False, repr=False)
class RoughEvaluation(Evaluation):
    """A rough evaluation: mobility, potential mobility, corners, and X-squares beside empty
    corners. Range +-1000 or so; antisymmetric, unchanged under the board's symmetries.

    side: of the board.
    """

    side: int = 8

    def __post_init__(self) -> None:
        self.sides = frozenset({self.side})

    def make_parameters(self) -> np.ndarray:
        last = self.side - 1
        corners = sum(1 << (8 * row + column) for row in (0, last) for column in (0, last))
        return np.array([board_of(self.side), corners], dtype=np.uint64).view(np.int32)

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        numbers = address_of(parameters)
        board = np.uint64(load(numbers, _BOARD))
        corners = np.uint64(load(numbers, _CORNERS))
        empty = board & ~(mover | opponent)
        mine, theirs = legal_moves(mover, opponent) & board, legal_moves(opponent, mover) & board
        mobility = popcount(mine) + popcount(mine & corners)
        mobility -= popcount(theirs) + popcount(theirs & corners)
        potential = popcount(neighbours(opponent) & empty) - popcount(neighbours(mover) & empty)
        taken = popcount(mover & corners) - popcount(opponent & corners)
        danger = _diagonal_neighbours(empty & corners)
        exposed = popcount(mover & danger) - popcount(opponent & danger)
        value = _MOBILITY * mobility + _POTENTIAL * potential + _CORNER * taken
        return np.int32(value - _X_SQUARE * exposed)

    def plain(self, position: Position) -> int:
        last = self.side - 1
        corners = {8 * row + column for row in (0, last) for column in (0, last)}
        other = position.other_side()
        empty = set(bits(position.ruleset.board & ~(position.mover | position.opponent)))
        worth = [0, 0]
        for at, side in enumerate((position, other)):
            discs, moves = set(bits(side.mover)), set(side.moves)
            touched = {near for square in bits(side.opponent) for near in around(square)}
            exposed = [
                square
                for corner in corners & empty
                for square in discs
                if abs(square // 8 - corner // 8) == abs(square % 8 - corner % 8) == 1
            ]
            worth[at] = (
                _MOBILITY * (len(moves) + len(moves & corners))
                + _POTENTIAL * len(touched & empty)
                + _CORNER * len(discs & corners)
                - _X_SQUARE * len(exposed)
            )
        return worth[0] - worth[1]
