"""Decision trees grown by scikit-learn, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from othello_lab.agents.learned.features import NAMES, features
from othello_lab.agents.learned.forest import DEPTH, LEAVES
from othello_lab.agents.learned.trees import (
    FEATURE,
    LEAF,
    MOST_THRESHOLD,
    QUESTIONS,
    STAGES,
    STARTS,
    THRESHOLD,
    UNIT,
)
from othello_lab.training.data import Positions

ALWAYS = MOST_THRESHOLD - 1
"""A threshold that no feature passes."""
_LOOKED_AT = 100_000  # positions of training whose error is told


@dataclass(frozen=True, eq=False)
class TreeStage:
    """The trees of a stage, as arrays.

    start: the constant they add to, in discs. feature, threshold: shape (trees, 31); leaf: discs,
    shape (trees, 32); as in :mod:`agents.learned.trees`. gain: shape (trees, 31): reduction of the
    sum of squared errors by each question. train_squares, validation_squares: that sum after 1, 2,
    ... trees, in squared discs, shape (trees,), over train_count and validation_count positions.
    """

    start: float
    feature: np.ndarray
    threshold: np.ndarray
    leaf: np.ndarray
    gain: np.ndarray
    train_squares: np.ndarray
    validation_squares: np.ndarray
    train_count: int
    validation_count: int

    @classmethod
    def constant(cls, trees: int, value: float) -> TreeStage:
        """Trees that say nothing."""
        shape, nothing = (trees, QUESTIONS), np.zeros(trees)
        feature, gain = np.zeros(shape, dtype=np.uint8), np.zeros(shape)
        threshold = np.full(shape, ALWAYS, dtype=np.int32)
        leaf = np.zeros((trees, LEAVES))
        return cls(value, feature, threshold, leaf, gain, nothing, nothing, 0, 0)


def state_of_stages(stages: Sequence[TreeStage]) -> dict[str, Any]:
    """Return stages as the state of a checkpoint."""
    return {
        field.name: np.array([getattr(stage, field.name) for stage in stages])
        for field in fields(TreeStage)
    }


def stages_of_state(state: Mapping[str, Any]) -> list[TreeStage]:
    """Return the stages of :func:`state_of_stages`; none for an empty state."""
    columns = [state[field.name] for field in fields(TreeStage)] if state else []
    return [TreeStage(*values) for values in zip(*columns, strict=True)]


def grow(
    of_train: np.ndarray,
    train_score: np.ndarray,
    of_held: np.ndarray,
    held_score: np.ndarray,
    *,
    trees: int,
    depth: int,
    rate: float,
    smallest_leaf: int,
) -> TreeStage:
    """Trees that foretell scores by features, each shape (positions, features); those held back are
    only foretold, and there may be none."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingRegressor(
        learning_rate=rate,
        max_iter=trees,
        max_depth=depth,
        max_leaf_nodes=2**depth,
        min_samples_leaf=smallest_leaf,
        early_stopping=False,
    )
    # More threads wait for each other most of the time: a stage's positions are few.
    with threadpool_limits(1):
        model.fit(of_train, train_score)
    # scikit-learn has no public way to its trees.
    start = float(model._baseline_prediction.item())
    stage = TreeStage.constant(trees, start)
    for number, (predictor,) in enumerate(model._predictors):
        _copy(predictor.nodes, stage, number)
    seen = slice(None, None, max(1, len(train_score) // _LOOKED_AT))
    errors: dict[str, Any] = {}
    for split, given, score in (
        ("train", of_train[seen], train_score[seen]),
        ("validation", of_held, held_score),
    ):
        missed = start + np.cumsum(answers(stage, given), axis=0) - score
        errors |= {f"{split}_squares": (missed**2).sum(axis=1), f"{split}_count": len(score)}
    return replace(stage, **errors)


def _copy(nodes: Sequence[Mapping[str, Any]] | np.ndarray, stage: TreeStage, tree: int) -> None:
    """Copy scikit-learn's nodes of a tree into one of full depth, the one of this number: below a
    leaf that comes early, questions have one answer."""
    for slot, number in _slots(nodes):
        node = nodes[number]
        if slot >= QUESTIONS:
            stage.leaf[tree, slot - QUESTIONS] = node["value"]
        elif not node["is_leaf"]:
            stage.feature[tree, slot] = node["feature_idx"]
            # Features are whole numbers.
            stage.threshold[tree, slot] = np.floor(node["num_threshold"])
            stage.gain[tree, slot] = max(0.0, node["gain"])


def _slots(nodes: Sequence[Mapping[str, Any]] | np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield each slot of a tree of full depth, with the number of scikit-learn's node there; below
    a leaf that comes early, that leaf's."""
    todo = [(0, 0)]
    while todo:
        slot, number = todo.pop()
        yield slot, number
        if slot < QUESTIONS:
            node = nodes[number]
            children = (number, number) if node["is_leaf"] else (node["left"], node["right"])
            todo += [(2 * slot + 1, int(children[0])), (2 * slot + 2, int(children[1]))]


def answers(stage: TreeStage, given: np.ndarray) -> np.ndarray:
    """Return each tree's answers, in discs, shape (trees, positions), for features of shape
    (positions, features)."""
    result = np.empty((len(stage.leaf), len(given)))
    rows = np.arange(len(given))
    for number in range(len(result)):
        node = np.zeros(len(given), dtype=np.int64)
        for _ in range(DEPTH):
            values = given[rows, stage.feature[number, node]]
            node = 2 * node + 1 + (values > stage.threshold[number, node])
        result[number] = stage.leaf[number, node - QUESTIONS]
    return result


def arrays_of(stages: Sequence[TreeStage], of_empties: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arguments of :class:`agents.learned.trees.TreeEvaluation` from these stages."""
    return {
        STAGES: of_empties,
        STARTS: np.array([round(UNIT * stage.start) for stage in stages], dtype=np.int32),
        FEATURE: np.stack([stage.feature for stage in stages]),
        THRESHOLD: np.stack([stage.threshold for stage in stages]),
        LEAF: np.rint(UNIT * np.stack([stage.leaf for stage in stages])).astype(np.int32),
    }


# ---------------------------------------------------------------------- one tree to be read


@dataclass(frozen=True, eq=False)
class SingleTree:
    """One tree over the whole game. counts: positions at each question and leaf, shape (63,)."""

    stage: TreeStage
    counts: np.ndarray = field(default_factory=lambda: np.zeros(QUESTIONS + LEAVES))

    @classmethod
    def grown(cls, train: Positions, leaves: int, rng: np.random.Generator) -> SingleTree:
        """Return scikit-learn's tree with this number of leaves, from a part of the positions."""
        from sklearn.tree import DecisionTreeRegressor

        some = train.sample(10 * _LOOKED_AT, rng)
        model = DecisionTreeRegressor(
            max_depth=DEPTH, max_leaf_nodes=leaves, min_samples_leaf=max(1, len(some) // 200)
        )
        tree = model.fit(features(some.mover, some.opponent), some.score).tree_
        nodes = {
            "value": tree.value[:, 0, 0],
            "is_leaf": tree.children_left < 0,
            "feature_idx": tree.feature,
            "num_threshold": tree.threshold,
            "gain": _gains(tree),
            "left": tree.children_left,
            "right": tree.children_right,
        }
        rows = [{name: column[n] for name, column in nodes.items()} for n in range(tree.node_count)]
        stage = TreeStage.constant(1, 0.0)
        _copy(rows, stage, 0)
        counts = np.zeros(QUESTIONS + LEAVES)
        for slot, number in _slots(rows):
            counts[slot] = tree.n_node_samples[number]
        return cls(stage, counts)


def _gains(tree: Any) -> np.ndarray:
    """By how much each question of scikit-learn's tree lowers the sum of squares."""
    squares = tree.impurity * tree.weighted_n_node_samples
    left, right = tree.children_left, tree.children_right
    return np.where(left < 0, 0.0, squares - squares[left] - squares[right])


def importances(stages: Sequence[TreeStage]) -> np.ndarray:
    """Of each stage the share of the gain that questions about each feature have, shape (stages,
    features); 0 where no question was asked."""
    gains = np.zeros((len(stages), len(NAMES)))
    for row, stage in zip(gains, stages, strict=True):
        np.add.at(row, stage.feature.ravel(), stage.gain.ravel())
    return gains / np.maximum(gains.sum(axis=1, keepdims=True), 1e-12)
