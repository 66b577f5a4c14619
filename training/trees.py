"""Decision trees on named features: gradient boosting by scikit-learn, written as plain arrays.

In each stage of the game (a range of empty squares) trees of their own are grown one after another,
each to predict the remaining error of the final disc difference. The result is the data of
:class:`agents.learned.trees.TreeEvaluation`. A single tree over the whole game is grown too, to be
read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from othello_lab.agents.learned.features import NAMES, features
from othello_lab.agents.learned.forest import DEPTH, LEAVES
from othello_lab.agents.learned.trees import KIND, UNIT, VERSION
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.settings import Number, Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing import ResultTable
from othello_lab.training.data import TRAIN, VALIDATION, Positions
from othello_lab.training.stages import MOST_EMPTIES, stages_of_empties
from othello_lab.training.training import LearningResult, Training, TrainingContext
from othello_lab.training.tree_growing import (
    SingleTree,
    TreeStage,
    answers,
    arrays_of,
    grow,
    importances,
    stages_of_state,
    state_of_stages,
)

if TYPE_CHECKING:
    from othello_lab.experiments.report.figures.drawing import ReportFigure


@dataclass(frozen=True, kw_only=True)
class TreesTraining(Training):
    """Gradient boosting of decision trees, by stage of the game.

    It takes some ten seconds per million positions; ``minutes`` does not limit it.
    """

    trees: Annotated[int, Whole(1, 1024)] = 32
    """Of each stage. Processors look at 8 at a time, so take a multiple of that."""
    depth: Annotated[int, Whole(1, DEPTH)] = DEPTH
    """Questions a tree asks, one after another."""
    stages: Annotated[int, Whole(1, MOST_EMPTIES + 1)] = 15
    """Stages of the game, of about as many empty squares each."""
    rate: Annotated[float, Number(above=0, high=1)] = 0.25
    """The share of what it has found out that each tree says (the learning rate)."""
    smallest_leaf: Annotated[int, Whole(1)] = 100
    """Positions of training that an answer is the mean of, at least."""
    drawn_leaves: Annotated[int, Whole(2, LEAVES)] = 12
    """Answers of the single tree."""

    def check(self, plan: Plan) -> None:
        super().check(plan)
        needs("this training", "sklearn", "learn", "scikit-learn")

    def learn(self, work: TrainingContext) -> LearningResult:
        train, held = (work.positions.part(part) for part in (TRAIN, VALIDATION))
        work.finite("scores", train.score, "training")
        of_empties = stages_of_empties(self.stages)
        state = work.load_checkpoint("stages") or {}
        stages = stages_of_state(state)
        for number in work.steps("stages", self.stages, state, self.stages, "stages"):
            of_train, of_held = (part[of_empties[part.empties] == number] for part in (train, held))
            stage = self._grow(of_train, of_held, float(np.mean(train.score)))
            stages.append(stage)
            state |= state_of_stages(stages)
        self._note(work, stages)
        single = SingleTree.grown(train, self.drawn_leaves, work.rng(1))
        arrays = arrays_of([single.stage], of_empties * 0)
        single_weights = LearnedWeights(KIND, VERSION, UNIT, arrays)
        file = single_weights.write(work.saved("single_tree.npz"))
        shares = importances(stages).mean(axis=0)
        first, second, third = (
            f"{NAMES[n]} ({100 * shares[n]:.0f} %)" for n in np.argsort(-shares)[:3]
        )
        return LearningResult(
            {"_target_": "othello_lab.agents.learned.TreeEvaluation"},
            LearnedWeights(KIND, VERSION, UNIT, arrays_of(stages, of_empties)),
            unit=UNIT,
            findings=[
                f"The single tree plays as evaluation=trees evaluation.weights={file}.",
                f"What the trees asked about brought most by {first}, {second} and {third}.",
            ],
            tables=[_table(train, held, single, stages)],
            figures=lambda: _figures(single, stages, of_empties),
        )

    def _grow(self, train: Positions, held: Positions, mean: float) -> TreeStage:
        """The trees of one stage; one without positions answers with the mean of all."""
        if not len(train):
            return TreeStage.constant(self.trees, mean)
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

    def _note(self, work: TrainingContext, stages: Sequence[TreeStage]) -> None:
        """The squared errors by number of trees."""
        for number in range(self.trees):
            row: dict[str, Any] = {"iteration": number + 1}
            for split in ("train", "validation"):
                squares = sum(getattr(stage, f"{split}_squares")[number] for stage in stages)
                count = sum(int(getattr(stage, f"{split}_count")) for stage in stages)
                if count:
                    row[split] = float(squares / count)
            work.note(**row)


def _table(
    train: Positions, held: Positions, single: SingleTree, stages: Sequence[TreeStage]
) -> ResultTable:
    """Return the errors of the mean, the single tree and all trees on positions that were held
    back."""
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
    single: SingleTree, stages: Sequence[TreeStage], of_empties: np.ndarray
) -> Iterable[ReportFigure]:
    from othello_lab.training.weights_figures import tree_figures  # what draws takes long to load

    return tree_figures(single, stages, of_empties)
