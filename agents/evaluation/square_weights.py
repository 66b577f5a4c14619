"""Square weights: the worth of a disc is the worth of its square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from othello_lab.agents.evaluation.evaluation import Evaluation, Feature
from othello_lab.core.bitboard import BYTE, CORNERS, ONE, ZERO, around, bits
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask, kernel
from othello_lab.core.system.settings import called

CORNER_TO_CENTRE = (
    (120, -20, 20, 5),
    (-20, -40, -5, -5),
    (20, -5, 15, 3),
    (5, -5, 3, 3),
)
"""The weights of the quarter a1..d4, row by row; the other three mirror it."""

_CORNERS = np.array(CORNERS, dtype=np.uint64)
_NEIGHBOURS = np.array([sorted(around(corner)) for corner in CORNERS], dtype=np.uint64)
"""The three neighbours of each corner."""


def full_board(quarter: ArrayLike) -> np.ndarray:
    """Mirror a 4x4 quarter a1..d4 both ways into 8x8 int32 weights."""
    left = np.asarray(quarter)
    top = np.concatenate([left, left[:, ::-1]], axis=1)
    return np.concatenate([top, top[::-1]]).astype(np.int32)


@kernel
def _worth_of_rows(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
    """Return the mover's squares minus the opponent's, from a table of 8 rows x 256 values."""
    value = np.int32(0)
    for row in range(8):
        shift = np.uint64(8 * row)
        value += parameters[256 * row + np.int64(mover >> shift & BYTE)]
        value -= parameters[256 * row + np.int64(opponent >> shift & BYTE)]
    return value


class SquareWeights(Evaluation):
    """The sum of the weights of the mover's squares minus the same sum of the opponent's.

    Range -1176 to 1176 for the standard weights (the sum of their absolute values), in units of
    the table. Antisymmetric, unchanged under the board's symmetries. Made for the 8x8 board.
    Source: Norvig, *Paradigms of AI Programming* (1992), 18.3, ``weighted-squares``.

    Why: a corner can never be flipped and an edge seldom; a move beside an empty corner often gives
    it away. A weight for each square expresses all that by a few look-ups. It is the same all game
    long, and knows nothing of moves.
    """

    as_features = (Feature("square_weights", 1176, order=2),)

    sides = frozenset({8})

    def __init__(self, weights: Sequence[Sequence[int]] = CORNER_TO_CENTRE) -> None:
        """weights: 4 rows of 4 for the quarter a1..d4, or 8 rows of 8 for the whole board.

        Raises ValueError for another shape, or weights that are not integers within +-100000.
        """
        table = np.asarray(weights)
        if table.shape not in ((4, 4), (8, 8)):
            raise ValueError(f"square weights of shape {table.shape}; (4, 4) or (8, 8) needed")
        if table.dtype.kind not in "iu" or not -100_000 <= table.min() <= table.max() <= 100_000:
            raise ValueError("square weights must be integers between -100000 and 100000")
        self.weights = full_board(table) if table.shape == (4, 4) else table.astype(np.int32)

    def __repr__(self) -> str:
        usual = np.array_equal(self.weights, full_board(CORNER_TO_CENTRE))
        return called(self, {"weights": CORNER_TO_CENTRE if usual else self.weights.tolist()})

    def make_parameters(self) -> np.ndarray:
        """Return a table of 8 rows x 256 values: the worth of each pattern of discs on a row.

        So a value takes sixteen look-ups instead of up to 64 additions.
        """
        patterns = np.arange(256)[:, None] >> np.arange(8) & 1
        return (self.weights @ patterns.T).astype(np.int32).ravel()

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        return _worth_of_rows(mover, opponent, parameters)

    def plain(self, position: Position) -> int:
        flat = self.weights.ravel()
        mine = sum(int(flat[square]) for square in bits(position.mover))
        return mine - sum(int(flat[square]) for square in bits(position.opponent))


class ModifiedSquareWeights(SquareWeights):
    """Square weights with a change beside an occupied corner.

    There an occupied square is worth +5 to its owner instead of its weight. Range -916 to 916 for
    the standard weights, in units of the table. Antisymmetric, unchanged under the board's
    symmetries. Made for the 8x8 board.
    Source: Norvig, *Paradigms of AI Programming* (1992), 18.6, ``modified-weighted-squares``.

    Why: the squares beside a corner are bad only because they offer it. Once the corner is taken,
    that reason is gone, but plain weights still avoid these squares.
    """

    as_features = (Feature("modified_square_weights", 916, order=3),)

    SETTLED: ClassVar[int] = 5

    def make_parameters(self) -> np.ndarray:
        """Return the rows' table, then the gains of each corner's three neighbours."""
        flat = self.weights.ravel()
        gains = [self.SETTLED - flat[square] for square in _NEIGHBOURS.ravel()]
        return np.concatenate([super().make_parameters(), np.array(gains, dtype=np.int32)])

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        value = _worth_of_rows(mover, opponent, parameters)
        for corner in range(4):
            if (mover | opponent) >> _CORNERS[corner] & ONE != ZERO:
                for i in range(3):
                    square = _NEIGHBOURS[corner, i]
                    mine = np.int32(mover >> square & ONE) - np.int32(opponent >> square & ONE)
                    value += mine * parameters[2048 + 3 * corner + i]
        return value

    def plain(self, position: Position) -> int:
        value = super().plain(position)
        flat = self.weights.ravel()
        for corner in CORNERS:
            if (position.mover | position.opponent) >> corner & 1:
                for square in around(corner):
                    gain = self.SETTLED - int(flat[square])
                    value += gain * (position.mover >> square & 1)
                    value -= gain * (position.opponent >> square & 1)
        return value
