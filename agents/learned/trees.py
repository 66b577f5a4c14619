"""Evaluation by the sum of many small decision trees, by stage of the game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation
from othello_lab.agents.learned.features import EDGES, NAMES, plain_features, tables, write_features
from othello_lab.agents.learned.features import SQUARES as WORTH
from othello_lab.agents.learned.forest import LEAVES, TOGETHER, TREE_BYTES, sum_of_leaves
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import popcount
from othello_lab.core.position import Position
from othello_lab.core.system.compile import Address, Array, Int, Mask, kernel
from othello_lab.core.system.settings import check_settings
from othello_lab.core.vector import address_of, int32_at, load, room

KIND, VERSION = "trees", 1
UNIT = 100
"""Units of value a disc."""
SQUARES = 64
LARGEST = SQUARES * UNIT
QUESTIONS = LEAVES - 1

STAGES, STARTS, FEATURE, THRESHOLD, LEAF = "stages", "starts", "feature", "threshold", "leaf"
"""Arrays of weights. stages: by number of empty squares (0 to 64), uint8. starts: by stage, the
value before the trees' sum, int32. feature, threshold: by stage, tree and question, uint8 and
int32, shape (stages, trees, 31). Question 0 comes first; after question n comes 2n + 1 if the
feature is at most the threshold, otherwise 2n + 2; leaves count after all questions. leaf: the
answers of a tree, int32, shape (stages, trees, 32)."""

MOST_THRESHOLD = 1 << 25
"""Bound of the absolute value of features and thresholds."""
MOST_BOUNDS = 255
"""Different thresholds that a stage may have for a wide feature."""
_WIDE = EDGES, WORTH
"""Features beyond a byte. In their place the kernel takes how many of the stage's thresholds for
them they exceed, less 128; the others lie between -64 and 64."""
_LEAST, _GREATEST = np.iinfo(np.int8).min, np.iinfo(np.int8).max
assert len(NAMES) <= LEAVES  # numbers that a question chooses from

# The parameters: by empty squares the start of the stage, a word of 64 bits; the number of groups
# of trees; the length of a list of thresholds; the tables of the features; the stages. A stage: its
# start value; the lists of EDGES and of WORTH; the questions of all trees; the leaves of all trees.
_GROUPS, _BOUNDS = np.int64(SQUARES + 1), np.int64(SQUARES + 2)
_TABLES_AT = np.intp(8 * (SQUARES + 3))
_ROOM = LEAVES // 2
_BLOCK = 32  # a list's length is a multiple of it, so that no rest is looked at one by one


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
        self._arrays = check_arrays(LearnedWeights.read(self.weights, KIND, VERSION, names))

    @property
    def trees(self) -> int:
        """Number of trees in a stage."""
        return int(self._arrays[FEATURE].shape[1])

    def make_parameters(self) -> np.ndarray:
        arrays = self._arrays
        stages = len(arrays[STARTS])
        bounds = np.clip(arrays[THRESHOLD], _LEAST, _GREATEST)
        known = [_thresholds(arrays, wide) for wide in _WIDE]
        length = max(len(ascending) for lists in known for ascending in lists)
        length = -(-length // _BLOCK) * _BLOCK
        lists = np.full((stages, len(_WIDE), length), MOST_THRESHOLD)
        for number, wide in enumerate(_WIDE):
            for stage, ascending in enumerate(known[number]):
                lists[stage, number, : len(ascending)] = ascending
                of_wide = arrays[FEATURE][stage] == wide
                ranks = np.searchsorted(ascending, arrays[THRESHOLD][stage][of_wide])
                bounds[stage][of_wide] = ranks + _LEAST
        groups = -(-self.trees // TOGETHER)
        questions = np.zeros((stages, groups * TOGETHER, 2, LEAVES), dtype=np.int8)
        questions[:, : self.trees, 0, :QUESTIONS] = arrays[FEATURE]
        questions[:, : self.trees, 1, :QUESTIONS] = bounds
        leaves = np.zeros((stages, groups * TOGETHER, LEAVES), dtype=np.int32)
        leaves[:, : self.trees] = arrays[LEAF]
        parts = arrays[STARTS], lists, questions.view(np.int32), leaves
        rows = np.concatenate([part.reshape(stages, -1) for part in parts], axis=1)
        first = int(_TABLES_AT) + 4 * len(tables())
        begins = first + 4 * rows.shape[1] * arrays[STAGES]
        words = np.append(begins, [groups, length]).astype(np.int64).view(np.int32)
        return np.concatenate([words, tables(), rows.astype(np.int32).ravel()])

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        table = address_of(parameters)
        place = room(_ROOM)
        features = int32_at(place)
        write_features(mover, opponent, table + _TABLES_AT, features)
        stage = table + load(table, np.int64(SQUARES) - popcount(mover | opponent))
        groups, bounds = load(table, _GROUPS), load(table, _BOUNDS)
        lists = stage + np.intp(4)
        features[EDGES] = _exceeded(lists, bounds, features[EDGES])
        features[WORTH] = _exceeded(lists + 4 * bounds, bounds, features[WORTH])
        questions = lists + 8 * bounds
        leaves = questions + np.intp(TREE_BYTES * TOGETHER) * groups
        value = int32_at(stage)[0]
        for _ in range(groups):
            value = np.int32(value + sum_of_leaves(place, questions, leaves))
            questions += np.intp(TREE_BYTES * TOGETHER)
            leaves += np.intp(4 * LEAVES * TOGETHER)
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


@kernel
def _exceeded(bounds: Address, count: Int, value: np.int32) -> np.int32:
    """Return how many of ``count`` bounds a value exceeds, less 128."""
    numbers, exceeded = int32_at(bounds), np.int32(_LEAST)
    for n in range(count):
        exceeded = np.int32(exceeded + np.int32(value > numbers[n]))
    return exceeded


def _thresholds(arrays: dict[str, np.ndarray], feature: Int) -> list[np.ndarray]:
    """Return by stage the different thresholds of a feature, ascending."""
    pairs = zip(arrays[FEATURE], arrays[THRESHOLD], strict=True)
    return [np.unique(threshold[number == feature]) for number, threshold in pairs]


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
    for wide in _WIDE:
        number = max(len(ascending) for ascending in _thresholds(arrays, wide))
        if number > MOST_BOUNDS:
            raise ValueError(
                f"weights: {THRESHOLD}: {number} different ones for {NAMES[wide]} in a stage; "
                f"at most {MOST_BOUNDS} are possible"
            )
    most = np.abs(arrays[STARTS]) + np.abs(arrays[LEAF]).max(axis=-1).sum(axis=-1)
    if most.max() > np.iinfo(np.int32).max:
        raise ValueError(f"weights: {LEAF}: sums up to {most.max():,} do not fit int32")
    return {STAGES: of_empties, **arrays}
