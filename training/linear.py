"""Tuned linear heuristics: a composite's weights by regression on how games ended.

The final disc difference is predicted by a sum of weight x feature. Each stage of the game (a range
of empties) has weights of its own. The weights are those of least squares with two penalties,
features being measured in units of their own root mean square: *ridge* on the weights' squares,
since features overlap (all of them see a corner), and *smoothing* on the squares of the differences
between neighbouring stages, since a heuristic changes slowly as the board fills. The strengths of
both are those with the best prediction of the validation games. There is no intercept: a composite
has none.

All that least squares needs to know of millions of positions are a few sums, :class:`Moments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy  # which loads its parts when they are used

from othello_lab.agents.evaluation import FEATURES
from othello_lab.agents.evaluation.composite import MOST_EMPTIES
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.settings import Choice, Each, Number, Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing import ResultTable
from othello_lab.training.data import TRAIN, VALIDATION, Positions
from othello_lab.training.training import LearningResult, Training, TrainingContext

if TYPE_CHECKING:
    from othello_lab.experiments.report.figures.drawing import ReportFigure

UNIT = 100
"""Values of learned evaluations per disc."""
DIGITS = 4
"""Significant digits of a weight in a YAML."""
RIDGES = (1e-5, 1e-4, 1e-3, 1e-2)
SMOOTHINGS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Strengths that are tried, as shares of what the positions of an average stage weigh."""
_MOST_COLUMNS = 6  # of stages in a table
_CHUNK = 1 << 17  # positions whose features are in memory at a time

Stages = Sequence[tuple[int, int]]
"""Fewest and most empties of each stage, both included, the end of the game first."""


def stages_of_width(width: int) -> list[tuple[int, int]]:
    """Return all numbers of empties in stages of this width; the rest belongs to the last one."""
    firsts = range(0, MOST_EMPTIES + 2 - width, width)
    return [
        (first, first + width - 1 if first + 2 * width <= MOST_EMPTIES + 1 else MOST_EMPTIES)
        for first in firsts
    ]


def stage_numbers(stages: Stages, empties: np.ndarray) -> np.ndarray:
    """The stage of each number of empties."""
    lasts = [last for _, last in stages]
    return np.searchsorted(lasts, np.minimum(empties, MOST_EMPTIES))


# ---------------------------------------------------------------------- what is known of positions


@dataclass(frozen=True)
class Moments:
    """Sums over positions, stage by stage.

    products: of each two features, shape (stages, features, features). with_score: of each feature
    and the score, shape (stages, features). squares: of the scores, shape (stages,). counts:
    positions, shape (stages,).
    """

    products: np.ndarray
    with_score: np.ndarray
    squares: np.ndarray
    counts: np.ndarray

    @classmethod
    def none(cls, stages: int, features: int) -> Moments:
        """Return the sums over no positions."""
        products = np.zeros((stages, features, features))
        return cls(products, np.zeros((stages, features)), np.zeros(stages), np.zeros(stages))

    @property
    def scales(self) -> np.ndarray:
        """The root mean square of each feature, shape (features,); 1 for one that is always 0."""
        squares = np.einsum("sff->f", self.products) / max(1, self.counts.sum())
        return np.where(squares > 0, np.sqrt(squares), 1.0)

    def loss(self, weights: np.ndarray) -> float:
        """Mean squared error over all positions, in squared discs."""
        crossed = np.einsum("sf,sf->s", weights, self.with_score)
        squared = np.einsum("sf,sfg,sg->s", weights, self.products, weights)
        return float((self.squares - 2 * crossed + squared).sum() / self.counts.sum())


def feature_values(names: Sequence[str], mover: np.ndarray, opponent: np.ndarray) -> np.ndarray:
    """The values of features (by their names in FEATURES), shape (positions, features), int32."""
    columns = [FEATURES[name]().values(mover, opponent) for name in names]
    return np.stack(columns, axis=1)


def moments_of_positions(
    names: Sequence[str],
    stages: Stages,
    mover: np.ndarray,
    opponent: np.ndarray,
    score: np.ndarray,
) -> Moments:
    """Return the sums over positions.

    mover, opponent: uint64 masks. score: final disc difference to the mover. All of one length.
    """
    sums = Moments.none(len(stages), len(names))
    for begin in range(0, len(score), _CHUNK):
        chunk = slice(begin, begin + _CHUNK)
        features = feature_values(names, mover[chunk], opponent[chunk])
        empties = 64 - np.bitwise_count(mover[chunk] | opponent[chunk]).astype(np.int64)
        stage = stage_numbers(stages, empties)
        for number in np.unique(stage):
            rows = features[stage == number].astype(float)
            scores = score[chunk][stage == number].astype(float)
            sums.products[number] += rows.T @ rows
            sums.with_score[number] += rows.T @ scores
            sums.squares[number] += scores @ scores
            sums.counts[number] += len(rows)
    return sums


# ---------------------------------------------------------------------- fitting


def fit(known: Moments, ridge: float, smoothing: float) -> np.ndarray:
    """Return the weights of least squares with penalties, in discs, shape (stages, features).

    ridge, smoothing: more than 0 and at least 0, as shares of the weight of an average stage's
    positions.
    """
    stages, width = known.with_score.shape
    scales = known.scales
    weight = known.counts.sum() / stages
    matrix = np.zeros((stages, width, stages, width))
    for stage in range(stages):
        matrix[stage, :, stage] = known.products[stage] / np.outer(scales, scales) / weight
    # Neighbours, twice: a path's Laplacian is what the squared differences along it are.
    steps = np.diff(np.eye(stages), axis=0)
    between = np.kron(steps.T @ steps, np.eye(width))
    square = matrix.reshape(stages * width, -1)
    square = square + ridge * np.eye(stages * width) + smoothing * between
    right = (known.with_score / scales / weight).ravel()
    solved = scipy.linalg.solve(square, right, assume_a="pos")
    return solved.reshape(stages, width) / scales


@dataclass(frozen=True)
class LinearFit:
    """Weights in discs, shape (stages, features), with the settings that gave them."""

    weights: np.ndarray
    ridge: float
    smoothing: float


def best_fit(
    train: Moments,
    validation: Moments,
    ridges: Sequence[float] = RIDGES,
    smoothings: Sequence[float] = SMOOTHINGS,
) -> LinearFit:
    """The fit that foretells the validation positions best; of equals the strongest penalties."""
    fits = {pair: fit(train, *pair) for pair in product(sorted(ridges), sorted(smoothings))}
    best = min(reversed(fits), key=lambda pair: validation.loss(fits[pair]))
    return LinearFit(fits[best], *best)


# ---------------------------------------------------------------------- what comes of it


def as_composite(names: Sequence[str], stages: Stages, weights: np.ndarray) -> dict[str, Any]:
    """The settings of the composite with these weights.

    weights: in discs, shape (stages, features); the composite's values are in 1/UNIT of a disc.
    """
    return {
        "_target_": "othello_lab.agents.evaluation.Composite",
        "stages": [
            {
                "empties": list(ends),
                "weights": {
                    name: float(f"{UNIT * weight:.{DIGITS}g}")
                    for name, weight in zip(names, row, strict=True)
                },
            }
            for ends, row in zip(stages, weights, strict=True)
        ],
    }


def sizes(weights: np.ndarray, known: Moments) -> np.ndarray:
    """By how many discs each feature moves the value of a stage's positions, as a root mean square
    with the sign of the weight, shape (stages, features); NaN where a stage has no position."""
    with np.errstate(invalid="ignore"):
        squares = np.einsum("sff->sf", known.products) / known.counts[:, None]
    return weights * np.sqrt(squares)


def stage_text(ends: tuple[int, int]) -> str:
    """A stage in a table: ``8-11``."""
    return f"{ends[0]}\N{EN DASH}{ends[1]}" if ends[0] < ends[1] else f"{ends[0]}"


def weights_table(
    names: Sequence[str], stages: Stages, weights: np.ndarray, unit: str = f"1/{UNIT} of a disc"
) -> ResultTable:
    """Weights, UNIT times those given, for each unit of their features: a row a feature, a column
    for each of some stages. unit: of the numbers shown, in words."""
    shown = np.unique(np.linspace(0, len(stages) - 1, _MOST_COLUMNS).round().astype(int)).tolist()
    rows = [
        [name, *(f"{UNIT * column[stage]:.3g}" for stage in shown)]
        for name, column in zip(names, weights.T, strict=True)
    ]
    return ResultTable(
        "Weights by empty squares",
        ["feature", *(stage_text(stages[stage]) for stage in shown)],
        rows,
        note=f"What a unit of the feature is worth, in {unit}: a corner, a move, a thousandth of a "
        "ratio (`othello-lab agents evaluate` shows them). The YAML has all stages.",
    )


def sizes_figures(
    names: Sequence[str], stages: Stages, moved: np.ndarray, unit: str = "discs"
) -> Iterator[ReportFigure]:
    """Yield a heat map of :func:`sizes`, in this unit."""
    from othello_lab.training.weights_figures import sizes_figure  # which takes long to load

    yield sizes_figure(names, [stage_text(ends) for ends in stages], moved, unit)


# ---------------------------------------------------------------------- the training

DEFAULT_FEATURES = (
    "corner_closeness",
    "corners",
    "disc_count",
    "edge_stability",
    "frontier_discs",
    "mobility",
    "modified_square_weights",
    "potential_mobility_ratio",
    "square_weights",
    "stable_discs",
)
"""Left out: iago, a composite itself; the other forms of mobility, which add nothing; and parity,
which adds 0.2 % of the squared error but costs a third of the time."""


def check_features(features: Sequence[str], rules: Ruleset) -> None:
    """Raise ValueError unless a composite of these features, by name, fits the board."""
    if not features or len(set(features)) < len(features):
        raise ValueError(f"train.features={features}: at least one, and none twice, is needed")
    for name in features:
        if rules.side not in FEATURES[name]().sides:
            raise ValueError(f"train.features: {name} is for the 8x8 board, not for {rules.name}")


@dataclass(frozen=True, kw_only=True)
class TunedWeights(Training):
    """A composite's weights by ridge regression on the final disc difference."""

    features: Annotated[list[str], Each(Choice(*FEATURES))] = field(
        default_factory=lambda: list(DEFAULT_FEATURES)
    )
    """What the composite is made of."""
    stage: Annotated[int, Whole(1, MOST_EMPTIES)] = 4
    """Numbers of empties that share their weights."""
    ridge: Annotated[float | None, Number(above=0)] = None
    """Penalty on large weights; null: what foretells the validation games best."""
    smoothing: Annotated[float | None, Number(low=0)] = None
    """Penalty on differences between neighbouring stages; null likewise."""

    def check(self, plan: Plan) -> None:
        check_features(self.features, plan.rules)

    def prepare(self, plan: Plan) -> None:
        for name in self.features:
            FEATURES[name]().prepare()

    def learn(self, work: TrainingContext) -> LearningResult:
        stages, sums = stages_of_width(self.stage), []
        with work.progress("parts", 2) as bar:
            for split in (TRAIN, VALIDATION):
                part: Positions = work.positions.part(split)
                masks = part.mover, part.opponent
                sums.append(moments_of_positions(self.features, stages, *masks, part.score))
                with_score = sums[-1].with_score
                work.finite("sums of features and scores", with_score, "adding up positions")
                bar.advance()
        train, validation = sums
        ridges = RIDGES if self.ridge is None else (self.ridge,)
        smoothings = SMOOTHINGS if self.smoothing is None else (self.smoothing,)
        best = best_fit(train, validation, ridges, smoothings)
        weights = work.finite("weights", best.weights, "solving the least squares")
        moved = sizes(weights, train)
        nothing = np.zeros_like(weights)
        losses = train.loss(weights), validation.loss(weights), validation.loss(nothing)
        seen, unseen, blind = np.sqrt(losses)
        finding = (
            f"On games that were not learned from, the weights miss the final disc difference by "
            f"{unseen:.1f} discs (root mean square; {seen:.1f} on those that were, {blind:.1f} for "
            f"an evaluation that always says 0), with ridge {best.ridge:g} and smoothing "
            f"{best.smoothing:g}."
        )
        return LearningResult(
            as_composite(self.features, stages, weights),
            unit=UNIT,
            findings=[finding],
            tables=[weights_table(self.features, stages, weights)],
            figures=lambda: sizes_figures(self.features, stages, moved),
            about={
                "ridge": best.ridge,
                "smoothing": best.smoothing,
                "train_loss": round(losses[0], 3),
                "validation_loss": round(losses[1], 3),
            },
        )
