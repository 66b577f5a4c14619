"""A small neural network: two hidden layers over discs and moves, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation
from othello_lab.agents.learned.simd import dot, lanes_at, plus, plus_product, shift_and_clip
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import ONE, ZERO, bits, legal_moves, lowest_square, popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, Array, Mask, kernel
from othello_lab.core.system.settings import check_settings
from othello_lab.core.vector import address_of, int32_at, load

KIND, VERSION = "network", 1
UNIT = 100
"""Units of value a disc."""
SQUARES = 64
LARGEST = SQUARES * UNIT
PLANES = ("own discs", "their discs", "own moves", "their moves")
"""Inputs: 4 planes of 64 squares, each 0 or 1."""
FIRST, SECOND = 64, 16
"""Units of the two hidden layers."""
ONE_BITS = 8
FULL = 1 << ONE_BITS
"""The whole number for 1 in inputs and outputs of units, all between 0 and 1."""
LAST_BITS = 11
"""Fractional bits of the last layer's sum, those of :data:`FULL` included."""

STAGES, INPUTS, EMPTIES = "stages", "inputs", "empties"
HIDDEN, HIDDEN_BIAS, OUTPUT, OUTPUT_BIAS = "hidden", "hidden_bias", "output", "output_bias"
"""Arrays of weights. By number of empty squares (0 to 64): the stage, uint8, and the first
layer's biases, int16, shape (65, 64). By plane and square: the first layer's weights, int16,
(4, 64, 64). By stage: the second layer's weights, int16, (stages, 16, 64), and biases, int32,
(stages, 16); the last layer's, int32, (stages, 16) and (stages,)."""

# Layout of the parameters, in bytes: the start of each stage's layers (a word of 64 bits by empty
# squares), the first layer, then the other layers by stage.
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
    """Add the weights of the inputs that are 1; an input of 0 adds nothing."""
    while mask != ZERO:
        total = plus(total, lanes_at(16, FIRST, rows + np.int64(lowest_square(mask)) * _ROW))
        mask &= mask - ONE
    return total


@dataclass(eq=False, repr=False)
class NetworkEvaluation(Evaluation):
    """The expected disc difference at the end, by a network of two hidden layers.

    Its inputs are the discs and the legal moves of both sides, square by square. The 64 units of
    the first layer depend on the number of empty squares too. The 16 units of the second layer and
    the output have weights of their own in each stage of the game. The output of a unit is its sum,
    clipped to 0..1; all numbers are whole. Range +-6400, in hundredths of a disc. Not
    antisymmetric, as the side to move matters. Symmetric positions have almost the same value, as
    the training showed it all images. Sparse inputs and whole numbers follow Y. Nasu, *Efficiently
    Updatable Neural-Network-based Evaluation Functions for Computer Shogi* (2018). Raises
    ValueError for weights that cannot be read or are of another kind.

    Why: nobody has to choose features. The units learn relations over the whole board, and the
    weights take little room. But the network knows only squares, so it needs more games to learn
    the same, and more time for a value.
    """

    per_disc = UNIT

    sides = frozenset({8})

    weights: str | Path | LearnedWeights = "network"
    """The name of weights that come with the lab, a file of them, or the weights themselves."""

    def __post_init__(self) -> None:
        check_settings(self)
        names = STAGES, INPUTS, EMPTIES, HIDDEN, HIDDEN_BIAS, OUTPUT, OUTPUT_BIAS
        self._arrays = check_arrays(LearnedWeights.read(self.weights, KIND, VERSION, names))

    def make_parameters(self) -> np.ndarray:
        arrays = self._arrays
        stages = len(arrays[OUTPUT])
        # The weights of two inputs for all units, then of the next two: see plus_product.
        pairs = arrays[HIDDEN].reshape(stages, SECOND, FIRST // 2, 2).transpose(0, 2, 1, 3)
        layers = np.concatenate(
            [
                arrays[HIDDEN_BIAS].astype(np.int32),
                pairs.astype(np.int16).reshape(stages, -1).view(np.int32),
                arrays[OUTPUT].astype(np.int32),
                arrays[OUTPUT_BIAS].astype(np.int32)[:, None],
            ],
            axis=1,
        )
        begins = _STAGES_AT + 4 * layers.shape[1] * arrays[STAGES]
        first = np.concatenate([arrays[INPUTS].ravel(), arrays[EMPTIES].ravel()]).astype(np.int16)
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
        first = shift_and_clip(total, 0, FULL)
        stage = table + load(table, empties)
        sums = plus_product(lanes_at(32, SECOND, stage), first, stage + _HIDDEN_AT)
        second = shift_and_clip(sums, ONE_BITS, FULL)
        bias = int32_at(stage + _OUTPUT_BIAS_AT)[0]
        value = (
            np.int64(bias) + dot(second, lanes_at(32, SECOND, stage + _OUTPUT_AT))
        ) >> LAST_BITS
        return np.int32(min(max(value, -LARGEST), LARGEST))

    def plain(self, position: Position) -> int:
        arrays, empties = self._arrays, SQUARES - position.discs
        stage = arrays[STAGES][empties]
        other = position.other_side()
        planes = bits(position.mover), bits(position.opponent), position.moves, other.moves
        total = arrays[EMPTIES][empties]
        for weights, squares in zip(arrays[INPUTS], planes, strict=True):
            total = total + sum(weights[square] for square in squares)
        first = np.clip(total, 0, FULL)
        sums = arrays[HIDDEN_BIAS][stage] + arrays[HIDDEN][stage] @ first
        second = np.clip(sums >> ONE_BITS, 0, FULL)
        value = arrays[OUTPUT_BIAS][stage] + arrays[OUTPUT][stage] @ second
        return int(np.clip(value >> LAST_BITS, -LARGEST, LARGEST))


def check_arrays(learned: LearnedWeights) -> dict[str, np.ndarray]:
    """Return the arrays of weights as int64.

    Raises ValueError for arrays of a wrong shape, or with sums too large for the kernel.
    """
    of_empties, stages = learned.stages(STAGES, SQUARES)
    shapes = {
        INPUTS: (len(PLANES), SQUARES, FIRST),
        EMPTIES: (SQUARES + 1, FIRST),
        HIDDEN: (stages, SECOND, FIRST),
        HIDDEN_BIAS: (stages, SECOND),
        OUTPUT: (stages, SECOND),
        OUTPUT_BIAS: (stages,),
    }
    arrays = {name: learned.whole(name, shape) for name, shape in shapes.items()}
    size = {name: np.abs(array) for name, array in arrays.items()}
    # A square has a disc of one side, or is empty: then either side may have a move there.
    mine, their, own_move, their_move = size[INPUTS]
    of_square = np.maximum(np.maximum(mine, their), own_move + their_move)
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
    return {STAGES: of_empties, **arrays}
