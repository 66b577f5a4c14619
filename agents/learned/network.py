"""A small neural network: two hidden layers over discs and moves, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation
from othello_lab.agents.learned.simd import dot, lanes_at, plus, plus_product, squeezed
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import ONE, ZERO, bits, legal_moves, lowest_square, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, Array, Mask, kernel
from othello_lab.core.system.settings import check_settings
from othello_lab.core.vector import address_of, int32_at, load

KIND, VERSION = "network", 1
UNIT = 100
"""A value of so much is one disc."""
SQUARES = 64
LARGEST = SQUARES * UNIT
PLANES = ("own discs", "their discs", "own moves", "their moves")
"""What is 0 or 1 on each square: the inputs, 4 x 64 of them."""
FIRST, SECOND = 64, 16
"""Units of the two hidden layers."""
ONE_BITS = 8
FULL = 1 << ONE_BITS
"""What stands for 1 among the inputs and outputs of the units, which answer with 0 to 1."""
LAST_BITS = 11
"""A weight of the last layer is so many bits finer than the value, those of :data:`FULL`
included."""

STAGES, INPUTS, EMPTIES, HIDDEN, HIDDEN_BIAS, OUTPUT, OUTPUT_BIAS = (
    "stages",
    "inputs",
    "empties",
    "hidden",
    "hidden_bias",
    "output",
    "output_bias",
)
"""The arrays of the weights. By number of empty squares (0 to 64): the stage, uint8, and the first
layer's biases, int16, shape (65, 64). Its weights, by plane and square: int16, (4, 64, 64). By
stage: the second layer's weights, int16, (stages, 16, 64), and biases, int32, (stages, 16); the
last layer's, int32, (stages, 16) and (stages,)."""

# Where things stand among the parameters, in bytes: where each stage's layers begin (a word of 64
# bits by empty squares), the first layer, and then by stage the others.
_ROW = np.int64(2 * FIRST)
_PLANE = np.int64(SQUARES * _ROW)
_INPUTS_AT = np.int64(8 * (SQUARES + 1))
_EMPTIES_AT = np.int64(_INPUTS_AT + len(PLANES) * _PLANE)
_STAGES_AT = int(_EMPTIES_AT + (SQUARES + 1) * _ROW)
# A stage: biases and weights of the second layer, weights and bias of the last.
_HIDDEN_AT = np.int64(4 * SECOND)
_OUTPUT_AT = np.int64(_HIDDEN_AT + 2 * FIRST * SECOND)
_OUTPUT_BIAS_AT = np.int64(_OUTPUT_AT + 4 * SECOND)


@kernel
def _plus_rows(total: Array, rows: Address, mask: Mask) -> Array:
    """Add the weights of the inputs that are 1; the others need not be looked at."""
    while mask != ZERO:
        total = plus(total, lanes_at(16, FIRST, rows + np.int64(lowest_square(mask)) * _ROW))
        mask &= mask - ONE
    return total


@dataclass(eq=False, repr=False)
class NetworkEvaluation(Evaluation):
    """The expected disc difference at the end, by a network of two hidden layers.

    Its inputs are the discs and the legal moves of both sides, square by square. The 64 units of
    the first layer know the number of empty squares as well; 16 units of the second, and the
    output, are others in each stage of the game. A unit answers with its sum, clipped to 0..1; all
    numbers are whole ones. Range +-6400, in hundredths of a disc. Not antisymmetric, as it matters
    who is to move; symmetric positions have almost the same value, which it was taught by
    examples. Sparse inputs and whole numbers are those of Y. Nasu, *Efficiently Updatable
    Neural-Network-based Evaluation Functions for Computer Shogi* (2018). Raises ValueError for
    weights that cannot be read or are of another kind.

    Why: nobody has to say what it should look at. Its units find out what belongs together on the
    whole board, and its weights take little room. But all it knows of Othello are squares, so it
    needs more games to learn the same, and more time to say it.
    """

    sides = frozenset({8})

    weights: str | Path | LearnedWeights = "network"
    """The name of weights that come with the lab, a file of them, or the weights themselves."""

    def __post_init__(self) -> None:
        check_settings(self)
        names = STAGES, INPUTS, EMPTIES, HIDDEN, HIDDEN_BIAS, OUTPUT, OUTPUT_BIAS
        given = self.weights
        if not isinstance(given, LearnedWeights):
            given = LearnedWeights.read(given, KIND, VERSION, names)
        self._arrays = checked(given)

    def make_parameters(self) -> np.ndarray:
        found = self._arrays
        stages = len(found[OUTPUT])
        # The weights of two inputs for all units, then of the next two: see plus_product.
        pairs = found[HIDDEN].reshape(stages, SECOND, FIRST // 2, 2).transpose(0, 2, 1, 3)
        layers = np.concatenate(
            [
                found[HIDDEN_BIAS].astype(np.int32),
                pairs.astype(np.int16).reshape(stages, -1).view(np.int32),
                found[OUTPUT].astype(np.int32),
                found[OUTPUT_BIAS].astype(np.int32)[:, None],
            ],
            axis=1,
        )
        begins = _STAGES_AT + 4 * layers.shape[1] * found[STAGES]
        first = np.concatenate([found[INPUTS].ravel(), found[EMPTIES].ravel()]).astype(np.int16)
        return np.concatenate([begins.view(np.int32), first.view(np.int32), layers.ravel()])

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        table = address_of(parameters)
        empties = np.int64(SQUARES) - popcount(mover | opponent)
        inputs = table + _INPUTS_AT
        total = lanes_at(16, FIRST, table + _EMPTIES_AT + empties * _ROW)
        total = _plus_rows(total, inputs, mover)
        total = _plus_rows(total, inputs + _PLANE, opponent)
        total = _plus_rows(total, inputs + 2 * _PLANE, legal_moves(mover, opponent))
        total = _plus_rows(total, inputs + 3 * _PLANE, legal_moves(opponent, mover))
        first = squeezed(total, 0, FULL)
        stage = table + load(table, empties)
        sums = plus_product(lanes_at(32, SECOND, stage), first, stage + _HIDDEN_AT)
        second = squeezed(sums, ONE_BITS, FULL)
        bias = int32_at(stage + _OUTPUT_BIAS_AT)[0]
        value = (
            np.int64(bias) + dot(second, lanes_at(32, SECOND, stage + _OUTPUT_AT))
        ) >> LAST_BITS
        return np.int32(min(max(value, -LARGEST), LARGEST))

    def plain(self, position: Position) -> int:
        found, empties = self._arrays, SQUARES - position.discs
        stage = found[STAGES][empties]
        other = Position(position.opponent, position.mover, position.to_move.other)
        planes = bits(position.mover), bits(position.opponent), position.moves, other.moves
        total = found[EMPTIES][empties]
        for weights, squares in zip(found[INPUTS], planes, strict=True):
            total = total + sum(weights[square] for square in squares)
        first = np.clip(total, 0, FULL)
        sums = found[HIDDEN_BIAS][stage] + found[HIDDEN][stage] @ first
        second = np.clip(sums >> ONE_BITS, 0, FULL)
        value = found[OUTPUT_BIAS][stage] + found[OUTPUT][stage] @ second
        return int(np.clip(value >> LAST_BITS, -LARGEST, LARGEST))


def checked(learned: LearnedWeights) -> dict[str, np.ndarray]:
    """The arrays of weights, int64. Raises ValueError for weights of another shape, or whose sums
    may be too large for the kernel."""
    of_empties, stages = learned.stages(STAGES, SQUARES)
    shapes = {
        INPUTS: (len(PLANES), SQUARES, FIRST),
        EMPTIES: (SQUARES + 1, FIRST),
        HIDDEN: (stages, SECOND, FIRST),
        HIDDEN_BIAS: (stages, SECOND),
        OUTPUT: (stages, SECOND),
        OUTPUT_BIAS: (stages,),
    }
    found = {name: learned.whole(name, shape) for name, shape in shapes.items()}
    size = {name: np.abs(array) for name, array in found.items()}
    # A square has a disc of one side, or is empty: then both may be able to move there.
    own, their, own_move, their_move = size[INPUTS]
    of_square = np.maximum(np.maximum(own, their), own_move + their_move)
    for name, most, kind in (
        (INPUTS, size[EMPTIES].max(axis=0) + of_square.sum(axis=0), np.int16),
        (HIDDEN, size[HIDDEN].max(axis=-1), np.int16),
        (HIDDEN, size[HIDDEN_BIAS] + FULL * size[HIDDEN].sum(axis=-1), np.int32),
        (OUTPUT, size[OUTPUT_BIAS] + FULL * size[OUTPUT].sum(axis=-1), np.int32),
    ):
        if most.max() > np.iinfo(kind).max:
            raise ValueError(
                f"weights: {name}: numbers up to {most.max():,}; they must fit {kind.__name__}"
            )
    return {STAGES: of_empties, **found}
