"""Evaluation by the sum of many small decision trees, by stage of the game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation
from othello_lab.agents.learned.features import NAMES, plain_features, tables, write_features
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Array, Mask
from othello_lab.core.system.settings import check_settings
from othello_lab.core.vector import address_of, int32_at, load, room

KIND, VERSION = "trees", 1
UNIT = 100
"""Units of value a disc."""
SQUARES = 64
LARGEST = SQUARES * UNIT
DEPTH = 5
"""Questions on the way to a leaf."""
QUESTIONS, LEAVES = 2**DEPTH - 1, 2**DEPTH

STAGES, STARTS, FEATURE, THRESHOLD, LEAF = "stages", "starts", "feature", "threshold", "leaf"
"""Arrays of weights. stages: by number of empty squares (0 to 64), uint8. starts: by stage, the
value before the trees' sum, int32. feature, threshold: by stage, tree and question, uint8 and
int32, shape (stages, trees, 31). Question 0 comes first; after question n comes 2n + 1 if the
feature is at most the threshold, otherwise 2n + 2; leaves count after all questions. leaf: the
answers of a tree, int32, shape (stages, trees, 32)."""

# A question in the parameters: the feature's number in the low bits, the threshold above them.
_FEATURE_BITS = 5
_FEATURE_MASK = np.int32((1 << _FEATURE_BITS) - 1)
_COUNT = len(NAMES)
assert _COUNT <= _FEATURE_MASK
MOST_THRESHOLD = 1 << 31 - _FEATURE_BITS - 1
"""Bound of the absolute value of features and thresholds."""
# The parameters: by empty squares the start of the stage, a word of 64 bits; the number of trees;
# the tables of the features; the stages. A stage: its start value; tree by tree questions, leaves.
_TREES = np.int64(SQUARES + 1)
_TABLES_AT = np.intp(8 * (SQUARES + 2))
_TREE = np.int32(QUESTIONS + LEAVES)
_ROOM = (_COUNT + 1) // 2


@dataclass(eq=False, repr=False)
class TreeEvaluation(Evaluation):
    """The expected disc difference at the end, the sum of many small decision trees.

    A tree asks five questions, such as ``own_moves <= 7?``, each depending on the answer before,
    and ends at a number. The questions are about :data:`agents.learned.features.NAMES`. Each stage
    of the game has its own trees. Range +-6400, in hundredths of a disc. Not antisymmetric, as the
    side to move matters; unchanged under the board's symmetries. Source: J. Friedman, *Greedy
    Function Approximation: A Gradient Boosting Machine* (2001). Raises ValueError for weights that
    cannot be read or are of another kind.

    Why: a reader sees in the questions when a feature matters: few moves are bad unless all corners
    are taken. A weighted sum cannot express that. But the values change in steps, and the trees
    know nothing beyond their features.
    """

    per_disc = UNIT

    sides = frozenset({8})

    weights: str | Path | LearnedWeights = "trees"
    """The name of weights that come with the lab, a file of them, or the weights themselves."""

    def __post_init__(self) -> None:
        check_settings(self)
        names = STAGES, STARTS, FEATURE, THRESHOLD, LEAF
        weights = self.weights
        if not isinstance(weights, LearnedWeights):
            weights = LearnedWeights.read(weights, KIND, VERSION, names)
        self._arrays = check_arrays(weights)

    @property
    def trees(self) -> int:
        """Number of trees in a stage."""
        return int(self._arrays[FEATURE].shape[1])

    def make_parameters(self) -> np.ndarray:
        arrays = self._arrays
        questions = (arrays[THRESHOLD] << _FEATURE_BITS) + arrays[FEATURE]
        trees = np.concatenate([questions, arrays[LEAF]], axis=-1)
        stages = np.concatenate([arrays[STARTS][:, None], trees.reshape(len(trees), -1)], axis=1)
        first = int(_TABLES_AT) + 4 * len(tables())
        begins = first + 4 * stages.shape[1] * arrays[STAGES]
        words = np.append(begins, self.trees).astype(np.int64).view(np.int32)
        return np.concatenate([words, tables(), stages.astype(np.int32).ravel()])

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        table = address_of(parameters)
        features = int32_at(room(_ROOM))
        write_features(mover, opponent, table + _TABLES_AT, features)
        stage = int32_at(table + load(table, np.int64(SQUARES) - popcount(mover | opponent)))
        value = stage[0]
        for tree in range(load(table, _TREES)):
            at = np.int32(np.int32(1) + np.int32(tree) * _TREE)
            place = np.int32(0)
            for _ in range(DEPTH):
                question = np.int32(stage[np.int32(at + place)])
                feature = np.int32(features[np.int32(question & _FEATURE_MASK)])
                right = np.int32(feature << _FEATURE_BITS) > question
                place = np.int32(place + place + 1 + np.int32(right))
            value = np.int32(value + stage[np.int32(at + place)])
        return np.int32(min(max(value, -LARGEST), LARGEST))

    def answers(self, position: Position) -> Iterator[int]:
        """Yield each tree's answer at a position, in plain Python."""
        arrays, features = self._arrays, plain_features(position)
        stage = arrays[STAGES][SQUARES - position.discs]
        for tree in range(self.trees):
            place = 0
            while place < QUESTIONS:
                feature = features[NAMES[arrays[FEATURE][stage, tree, place]]]
                place = 2 * place + (1 if feature <= arrays[THRESHOLD][stage, tree, place] else 2)
            yield int(arrays[LEAF][stage, tree, place - QUESTIONS])

    def plain(self, position: Position) -> int:
        start = int(self._arrays[STARTS][self._arrays[STAGES][SQUARES - position.discs]])
        return min(max(start + sum(self.answers(position)), -LARGEST), LARGEST)


def check_arrays(learned: LearnedWeights) -> dict[str, np.ndarray]:
    """Return the arrays of weights as int64.

    Raises ValueError for arrays of a wrong shape, or with numbers too large for the kernel.
    """
    of_empties, stages = learned.stages(STAGES, SQUARES)
    trees = max(learned.arrays[FEATURE].shape[1:2], default=0)
    shapes = {
        STARTS: (stages,),
        FEATURE: (stages, trees, QUESTIONS),
        THRESHOLD: (stages, trees, QUESTIONS),
        LEAF: (stages, trees, LEAVES),
    }
    arrays = {name: learned.whole(name, shape) for name, shape in shapes.items()}
    if not trees:
        raise ValueError("weights: there is no tree")
    feature = arrays[FEATURE]
    if feature.min() < 0 or feature.max() >= len(NAMES):
        raise ValueError(f"weights: {FEATURE}: there are the features 0 to {len(NAMES) - 1}")
    if np.abs(arrays[THRESHOLD]).max() >= MOST_THRESHOLD:
        raise ValueError(f"weights: {THRESHOLD}: less than {MOST_THRESHOLD:,} is needed")
    most = np.abs(arrays[STARTS]) + np.abs(arrays[LEAF]).max(axis=-1).sum(axis=-1)
    if most.max() > np.iinfo(np.int32).max:
        raise ValueError(f"weights: {LEAF}: sums up to {most.max():,} do not fit int32")
    return {STAGES: of_empties, **arrays}
