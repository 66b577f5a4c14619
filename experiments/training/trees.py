"""Decision trees on named features: gradient boosting by scikit-learn, written as plain arrays.

In each stage of the game (so many empty squares) trees of their own are grown one after another,
each to foretell what those before it still miss of the final disc difference. What is learned is
what :class:`agents.learned.trees.TreeEvaluation` answers with. A single tree over the whole game is
grown beside them, to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from agents.learned.features import NAMES, features
from agents.learned.trees import (
    DEPTH,
    FEATURE,
    KIND,
    LEAF,
    LEAVES,
    MOST_THRESHOLD,
    QUESTIONS,
    SQUARES,
    STAGES,
    STARTS,
    THRESHOLD,
    UNIT,
    VERSION,
)
from agents.learned.weights import Weights
from core.settings import Number, Whole
from core.shown import counted
from experiments.config import Plan
from experiments.pairing import ResultTable
from experiments.training.base import Learned, Training, Workshop
from experiments.training.data import TRAIN, VALIDATION, Positions
from experiments.training.extras import needs

if TYPE_CHECKING:
    from experiments.report.figures.base import ReportFigure

MOST_EMPTIES = 60
ALWAYS = MOST_THRESHOLD - 1
"""A threshold that no feature passes."""
_LOOKED_AT = 100_000  # positions of training whose error is told


@dataclass(frozen=True, kw_only=True)
class TreesTraining(Training):
    """Gradient boosting of decision trees, by stage of the game.

    It takes some ten seconds per million positions, whatever ``minutes`` says.
    """

    trees: Annotated[int, Whole(1, 1024)] = 64
    """Of each stage. Processors look at 32 at a time, so take a multiple of that."""
    depth: Annotated[int, Whole(1, DEPTH)] = DEPTH
    """Questions a tree asks, one after another."""
    stages: Annotated[int, Whole(1, MOST_EMPTIES + 1)] = 10
    """Stages of the game, of about as many empty squares each."""
    rate: Annotated[float, Number(above=0, high=1)] = 0.15
    """The share of what it has found out that each tree says (the learning rate)."""
    smallest_leaf: Annotated[int, Whole(1)] = 100
    """Positions of training that an answer is the mean of, at least."""
    drawn_leaves: Annotated[int, Whole(2, LEAVES)] = 12
    """Answers of the single tree."""

    def check(self, plan: Plan) -> None:
        super().check(plan)
        needs("sklearn", "scikit-learn", "learn")

    def learn(self, work: Workshop) -> Learned:
        train, held = (work.positions.part(part) for part in (TRAIN, VALIDATION))
        of_empties = stages_of_empties(self.stages)
        stages: list[Stage] = []
        with work.progress("growing trees", self.stages) as bar:
            for number in range(self.stages):
                name = f"stage {number}"
                state = work.kept(name)
                if state is None:
                    work.finite("scores", train.score, name)
                    parts = [each[of_empties[each.empties] == number] for each in (train, held)]
                    stage = self._grow(parts[0], parts[1], train)
                    work.finite("answers", stage.leaf, name)
                    work.keep(name, vars(stage))
                else:
                    stage = Stage(**state)
                stages.append(stage)
                bar.advance()
        self._note(work, stages)
        arrays = arrays_of(stages, of_empties)
        single = Single.grown(train, self.drawn_leaves, work.rng(1))
        single_weights = Weights(KIND, VERSION, UNIT, arrays_of([single.stage], of_empties * 0))
        file = single_weights.write(work.saved("single_tree.npz"))
        return Learned(
            {"_target_": "agents.learned.TreeEvaluation"},
            Weights(KIND, VERSION, UNIT, arrays),
            unit=UNIT,
            findings=[
                f"The single tree plays as evaluation=trees evaluation.weights={file}.",
                *_findings(stages),
            ],
            tables=[_table(train, held, single, stages)],
            figures=lambda: _figures(single, stages, of_empties),
        )

    def _grow(self, train: Positions, held: Positions, all_of_them: Positions) -> Stage:
        """The trees of one stage; one without positions answers with the mean of all."""
        if not len(train):
            return Stage.constant(self.trees, float(np.mean(all_of_them.score)))
        return grow(
            features(train.mover, train.opponent),
            train.score,
            features(held.mover, held.opponent),
            held.score,
            trees=self.trees,
            depth=self.depth,
            rate=self.rate,
            smallest_leaf=self.smallest_leaf,
        )

    def _note(self, work: Workshop, stages: Sequence[Stage]) -> None:
        """The squared errors by number of trees."""
        for number in range(self.trees):
            row: dict[str, Any] = {"iteration": number + 1}
            for split in ("train", "validation"):
                squares = sum(getattr(stage, f"{split}_squares")[number] for stage in stages)
                count = sum(int(getattr(stage, f"{split}_count")) for stage in stages)
                if count:
                    row[split] = float(squares / count)
            work.note(**row)


# ---------------------------------------------------------------------- growing


@dataclass(frozen=True, eq=False)
class Stage:
    """The trees of a stage, as arrays.

    start: what they add to, in discs. feature, threshold: shape (trees, 31); leaf: discs, shape
    (trees, 32); as in :mod:`agents.learned.trees`. gain: shape (trees, 31): by how much each
    question lowers the sum of squared errors. train_squares, validation_squares: that sum after 1,
    2, ... trees, in squared discs, shape (trees,), over so many positions (train_count,
    validation_count).
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
    def constant(cls, trees: int, value: float) -> Stage:
        """Trees that say nothing."""
        feature, threshold, leaf, gain = _silent(trees)
        nothing = np.zeros(trees)
        return cls(value, feature, threshold, leaf, gain, nothing, nothing, 0, 0)


def _silent(trees: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    shape = trees, QUESTIONS
    return (
        np.zeros(shape, dtype=np.uint8),
        np.full(shape, ALWAYS, dtype=np.int32),
        np.zeros((trees, LEAVES)),
        np.zeros(shape),
    )


def stages_of_empties(stages: int) -> np.ndarray:
    """The stage of each number of empty squares from 0 to 64, uint8; stage 0 is the game's end."""
    empties = np.minimum(np.arange(SQUARES + 1), MOST_EMPTIES)
    return (empties * stages // (MOST_EMPTIES + 1)).astype(np.uint8)


def empties_text(of_empties: np.ndarray, stage: int) -> str:
    """The numbers of empty squares of a stage, as ``42-37``."""
    found = np.flatnonzero(of_empties[: MOST_EMPTIES + 1] == stage)
    return f"{found[-1]}-{found[0]}" if len(found) > 1 else f"{found[0]}"


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
) -> Stage:
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
    feature, threshold, leaf, gain = _silent(trees)
    # scikit-learn has no public way to its trees.
    for number, (predictor,) in enumerate(model._predictors):
        _copy(predictor.nodes, feature[number], threshold[number], leaf[number], gain[number])
    start = float(model._baseline_prediction.item())
    nothing = np.zeros(trees)
    found = Stage(start, feature, threshold, leaf, gain, nothing, nothing, 0, 0)
    seen = slice(None, None, max(1, len(train_score) // _LOOKED_AT))
    errors: dict[str, Any] = {}
    for split, given, score in (
        ("train", of_train[seen], train_score[seen]),
        ("validation", of_held, held_score),
    ):
        missed = start + np.cumsum(answers(found, given), axis=0) - score
        errors |= {f"{split}_squares": (missed**2).sum(axis=1), f"{split}_count": len(score)}
    return Stage(**{**vars(found), **errors})


def _copy(
    nodes: Sequence[Mapping[str, Any]] | np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    leaf: np.ndarray,
    gain: np.ndarray,
) -> None:
    """Copy scikit-learn's nodes of a tree into one of full depth: below a leaf that comes early,
    questions have one answer."""
    todo = [(0, 0)]
    while todo:
        place, number = todo.pop()
        node = nodes[number]
        if place >= QUESTIONS:
            leaf[place - QUESTIONS] = node["value"]
        elif node["is_leaf"]:
            todo += [(2 * place + 1, number), (2 * place + 2, number)]
        else:
            feature[place] = node["feature_idx"]
            threshold[place] = np.floor(node["num_threshold"])  # features are whole numbers
            gain[place] = max(0.0, node["gain"])
            todo += [(2 * place + 1, int(node["left"])), (2 * place + 2, int(node["right"]))]


def answers(stage: Stage, given: np.ndarray) -> np.ndarray:
    """What each tree says, in discs, shape (trees, positions), of features of shape (positions,
    features)."""
    found = np.empty((len(stage.leaf), len(given)))
    rows = np.arange(len(given))
    for number in range(len(found)):
        place = np.zeros(len(given), dtype=np.int64)
        for _ in range(DEPTH):
            asked = given[rows, stage.feature[number, place]]
            place = 2 * place + 1 + (asked > stage.threshold[number, place])
        found[number] = stage.leaf[number, place - QUESTIONS]
    return found


def arrays_of(stages: Sequence[Stage], of_empties: np.ndarray) -> dict[str, np.ndarray]:
    """What :class:`agents.learned.trees.TreeEvaluation` needs of these stages."""
    return {
        STAGES: of_empties,
        STARTS: np.array([round(UNIT * stage.start) for stage in stages], dtype=np.int32),
        FEATURE: np.stack([stage.feature for stage in stages]),
        THRESHOLD: np.stack([stage.threshold for stage in stages]),
        LEAF: np.rint(UNIT * np.stack([stage.leaf for stage in stages])).astype(np.int32),
    }


# ---------------------------------------------------------------------- one tree to be read


@dataclass(frozen=True, eq=False)
class Single:
    """One tree over the whole game. counts: positions at each question and leaf, shape (63,)."""

    stage: Stage
    counts: np.ndarray = field(default_factory=lambda: np.zeros(QUESTIONS + LEAVES))

    @classmethod
    def grown(cls, train: Positions, leaves: int, rng: np.random.Generator) -> Single:
        """scikit-learn's tree with so many leaves, from a part of the positions."""
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
        stage = Stage.constant(1, 0.0)
        _copy(rows, stage.feature[0], stage.threshold[0], stage.leaf[0], stage.gain[0])
        counts = np.zeros(QUESTIONS + LEAVES)
        todo = [(0, 0)]
        while todo:
            place, number = todo.pop()
            counts[place] = tree.n_node_samples[number]
            if not nodes["is_leaf"][number]:
                todo += [(2 * place + 1, nodes["left"][number])]
                todo += [(2 * place + 2, nodes["right"][number])]
        return cls(stage, counts)


def _gains(tree: Any) -> np.ndarray:
    """By how much each question of scikit-learn's tree lowers the sum of squares."""
    squares = tree.impurity * tree.weighted_n_node_samples
    left, right = tree.children_left, tree.children_right
    return np.where(left < 0, 0.0, squares - squares[left] - squares[right])


# ---------------------------------------------------------------------- the report


def importances(stages: Sequence[Stage]) -> np.ndarray:
    """Of each stage the share of the gain that questions about each feature have, shape (stages,
    features); 0 where no question was asked."""
    found = np.zeros((len(stages), len(NAMES)))
    for row, stage in zip(found, stages, strict=True):
        np.add.at(row, stage.feature.ravel(), stage.gain.ravel())
    return found / np.maximum(found.sum(axis=1, keepdims=True), 1e-12)


def _findings(stages: Sequence[Stage]) -> Iterator[str]:
    shares = importances(stages).mean(axis=0)
    best = [f"{NAMES[n]} ({100 * shares[n]:.0f} %)" for n in np.argsort(-shares)[:3]]
    yield f"What the trees asked about brought most by {', '.join(best[:-1])} and {best[-1]}."


def _table(
    train: Positions, held: Positions, single: Single, stages: Sequence[Stage]
) -> ResultTable:
    """How far the mean, the single tree and all trees are off positions that were held back."""
    rows = []
    if len(held):
        alone = answers(single.stage, features(held.mover, held.opponent))[0]
        squares = sum(stage.validation_squares[-1] for stage in stages)
        for name, squared in (
            ("the mean score", np.sum((held.score - np.mean(train.score)) ** 2)),
            ("the single tree", np.sum((held.score - alone) ** 2)),
            (f"{len(stages)} stages of {len(stages[0].leaf)} trees", squares),
        ):
            rows.append([name, f"{np.sqrt(squared / len(held)):.2f}"])
    return ResultTable(
        "How far off",
        ["foretold by", "discs"],
        rows,
        note=f"Root mean square over {counted(len(held), 'position')} of games that were held "
        "back; most of it is what no evaluation can know.",
    )


def _figures(
    single: Single, stages: Sequence[Stage], of_empties: np.ndarray
) -> Iterator[ReportFigure]:
    from experiments.training.tree_figures import tree_figures

    yield from tree_figures(single, stages, of_empties)
