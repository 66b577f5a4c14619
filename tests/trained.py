"""A training that only tests do: two weights, of corners and mobility."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from othello_lab.agents.evaluation import Corners, Mobility
from othello_lab.core.system.settings import Number, Whole
from othello_lab.experiments.pairing import ResultTable
from othello_lab.training.data import TRAIN, VALIDATION, Positions
from othello_lab.training.training import LearningResult, Training, TrainingContext

if TYPE_CHECKING:
    from othello_lab.experiments.report.figures.drawing import ReportFigure

UNIT = 100
FEATURES = {"corners": Corners, "mobility": Mobility}


@dataclass(frozen=True, kw_only=True)
class TwoWeights(Training):
    """Linear regression on corners and mobility, by gradient descent."""

    steps: Annotated[int, Whole(1)] = 20
    rate: Annotated[float, Number(above=0)] = 0.02

    def learn(self, work: TrainingContext) -> LearningResult:
        train, held = (work.positions.part(part) for part in (TRAIN, VALIDATION))
        features, of_held = _features(train), _features(held)
        state = work.kept("weights") or {"weights": np.zeros(2), "step": 0}
        weights = state["weights"]
        with work.progress("descending", self.steps, state["step"]) as bar:
            for step in range(state["step"], self.steps):
                if work.over:
                    break
                rows = work.rng(step).integers(len(train), size=min(1000, len(train)))
                missed = features[rows] @ weights - train.score[rows]
                weights = weights - self.rate * features[rows].T @ missed / len(rows)
                where = f"step {step}"
                work.finite("weights", weights, where)
                loss = float(np.mean((of_held @ weights - held.score) ** 2))
                work.note(step=step, train=float(np.mean(missed**2)), validation=loss)
                work.keep("weights", {"weights": weights, "step": step + 1})
                bar.advance()
        named = {name: round(float(w * UNIT), 3) for name, w in zip(FEATURES, weights, strict=True)}
        table = ResultTable(
            "Weights", ["feature", "weight"], [[n, str(w)] for n, w in named.items()]
        )
        return LearningResult(
            {"_target_": "othello_lab.agents.evaluation.Composite", "weights": named},
            unit=UNIT,
            findings=[f"A corner is worth {named['corners'] / UNIT:.1f} discs."],
            tables=[table],
            figures=_figures,
        )


def _features(positions: Positions) -> np.ndarray:
    values = [kind().values(positions.mover, positions.opponent) for kind in FEATURES.values()]
    return np.stack(values, axis=1).astype(float)


def _figures() -> Iterator[ReportFigure]:
    from othello_lab.experiments.report.figures.drawing import ReportFigure, blank

    with blank(3, 2) as figure:
        figure.add_subplot()
    yield ReportFigure("weights", "Weights, drawn", "A board.", figure)
