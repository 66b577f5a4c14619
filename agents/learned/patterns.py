"""Pattern evaluation: a sum of learned weights of patterns, by stage of the game."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation
from othello_lab.agents.learned.geometry import BYTES, LANES, ROWS, board_of, geometry
from othello_lab.agents.learned.lookup import load_short, sum_of_places
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import bits, legal_moves, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask
from othello_lab.core.system.settings import check_settings
from othello_lab.core.vector import address_of, load

KIND, VERSION = "patterns", 1
UNIT = 100
"""Units of value a disc."""
SIDES = (4, 6, 8)
"""Edges of boards that have patterns."""
MOST_MOVES = 39
"""Most moves with a weight of mobility."""
SQUARES = 64
LARGEST = 64 * UNIT

STAGES, CONSTANT, CONTENTS = "stages", "constant", "contents"
OWN_MOVES, THEIR_MOVES = "own_moves", "their_moves"
"""Arrays of weights. By number of empty squares (0 to 64): the stage, uint8, and a constant,
int16, with the effect of parity. By stage and number of moves: the weights of mobility, int16,
shape (stages, 40) each. By stage and class: the weights of patterns, int16, shape (stages,
classes)."""

# Layout of the parameters: first numbers of 64 bits, ...
_BOARD = np.int64(0)
_STAGE = np.int64(1)  # by empty squares: start of its stage's weights, in bytes
_CONSTANT = _STAGE + SQUARES + 1
_PLACES = _CONSTANT + SQUARES + 1  # int32: the first of each place's weights in a stage
_LINE = 8  # numbers in a line of the cache; what follows begins with one
_NUMBERS = -(-(int(_PLACES) + LANES // 2) // _LINE) * _LINE
# ... then the rows of the geometry, and for each stage its weights, all of 16 bits. Behind the last
# one there is another, as a lookup may read two.
_ROW_NUMBERS = ROWS * BYTES * LANES
_ROWS_AT = 8 * _NUMBERS
_STAGES_AT = _ROWS_AT + 2 * _ROW_NUMBERS
# A stage begins with a 0, for lanes without a place, and mobility.
_OWN = np.int64(1)
_THEIRS = _OWN + MOST_MOVES + 1
_HEAD = int(_THEIRS) + MOST_MOVES + 1


@dataclass(eq=False, repr=False)
class PatternEvaluation(Evaluation):
    """The expected disc difference at the end, a sum of weights by stage of the game.

    All patterns on the board, both sides' mobility and the number of empty squares have weights.
    Range +-6400, in hundredths of a disc. Not antisymmetric, as the side to move matters; unchanged
    under the board's symmetries. Patterns: edge with X-squares, corners of 3x3 and 2x5, rows 2 to
    4, diagonals of 4 to 8.
    Source: M. Buro, *Experiments with Multi-ProbCut and a New High-Quality Evaluation Function for
    Othello* (1997). Raises ValueError for weights that cannot be read or are of another kind.

    Why: nobody has to know good features. Games show the worth of each content of an edge, a corner
    or a line, at each stage. A sum of some dozens of weights, looked up in tables, knows edges,
    stability and mobility better than rules made by hand, and is fast enough for deep searches.
    """

    per_disc = UNIT

    weights: str | Path | LearnedWeights = "patterns"
    """The name of weights that come with the lab, a file of them, or the weights themselves."""

    def __post_init__(self) -> None:
        check_settings(self)
        names = STAGES, CONSTANT, OWN_MOVES, THEIR_MOVES, CONTENTS
        self._learned = LearnedWeights.read(self.weights, KIND, VERSION, names)
        self._side = self._learned.about.get("side", 8)
        if self._side not in SIDES:
            raise ValueError(
                f"weights: side {self._side!r}; {' or '.join(map(str, SIDES))} is needed"
            )
        self._geometry = geometry(self._side)
        self.sides = frozenset({self._side})
        _, stages = self._learned.stages(STAGES, SQUARES)
        self._learned.short(CONSTANT, (SQUARES + 1,))
        self._learned.short(OWN_MOVES, (stages, MOST_MOVES + 1))
        self._learned.short(THEIR_MOVES, (stages, MOST_MOVES + 1))
        self._learned.short(CONTENTS, (stages, self._geometry.classes))

    def make_parameters(self) -> np.ndarray:
        arrays, shapes = self._learned.arrays, self._geometry
        parts = [arrays[OWN_MOVES], arrays[THEIR_MOVES]]
        begins, offset = [], _HEAD
        for pattern, first in zip(shapes.patterns, shapes.first, strict=True):
            parts.append(arrays[CONTENTS][:, first + pattern.classes])
            begins += [offset] * len(pattern.places)
            offset += pattern.contents
        nothing = np.zeros((len(arrays[CONTENTS]), 1), dtype=np.int16)
        stages = np.concatenate([nothing, *parts], axis=1, dtype=np.int16)
        numbers = np.zeros(_NUMBERS, dtype=np.int64)
        numbers[_BOARD] = np.uint64(board_of(self._side)).view(np.int64)
        numbers[_STAGE:_CONSTANT] = _STAGES_AT + 2 * stages.shape[1] * arrays[STAGES].astype(int)
        numbers[_CONSTANT:_PLACES] = arrays[CONSTANT]
        numbers[_PLACES:].view(np.int32)[: len(begins)] = begins
        rows = shapes.rows.ravel().view(np.int16)
        shorts = np.concatenate([numbers.view(np.int16), rows, stages.ravel()])
        return np.pad(shorts, (0, 2 - len(shorts) % 2)).view(np.int32)

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        table = address_of(parameters)
        board = np.uint64(load(table, _BOARD))
        empties = np.int64(SQUARES) - popcount(mover | opponent)
        stage = table + load(table, _STAGE + empties)
        value = load(table, _CONSTANT + empties)
        value += load_short(stage, _OWN + popcount(legal_moves(mover, opponent) & board))
        value += load_short(stage, _THEIRS + popcount(legal_moves(opponent, mover) & board))
        value += sum_of_places(table + _ROWS_AT, table + 8 * _PLACES, stage, mover, opponent)
        return np.int32(min(max(value, -LARGEST), LARGEST))

    def plain(self, position: Position) -> int:
        return int(min(max(sum(self.parts(position).values()), -LARGEST), LARGEST))

    def parts(self, position: Position) -> dict[str, int | float]:
        arrays, shapes = self._learned.arrays, self._geometry
        empties = SQUARES - position.discs
        stage = int(arrays[STAGES][empties])
        other = position.other_side()
        mine, theirs = len(position.moves), len(other.moves)
        parts: dict[str, int | float] = {
            f"{position.empties} empty squares": int(arrays[CONSTANT][empties]),
            f"{mine} moves against {theirs}": int(
                arrays[OWN_MOVES][stage, mine] + arrays[THEIR_MOVES][stage, theirs]
            ),
        }
        digit = dict.fromkeys(bits(position.mover), 1) | dict.fromkeys(bits(position.opponent), 2)
        for pattern, first in zip(shapes.patterns, shapes.first, strict=True):
            total = 0
            for squares in pattern.places:
                content = sum(digit.get(square, 0) * 3**n for n, square in enumerate(squares))
                total += int(arrays[CONTENTS][stage, first + pattern.classes[content]])
            parts[pattern.name] = total
        return parts
