"""Weights of patterns, by least squares on the scores of positions.

Each stage of the game has weights of its own. The score of a position is predicted by the sum of
the weights of each pattern's content at each place, of both sides' mobility and of the number of
empty squares. That is a system of equations with a row a position and a column a weight, some fifty
ones in each row. SciPy's LSMR solves it without ever writing it down.

Weights of rare contents are drawn towards 0 (a ridge): ``shrink`` is the number of times a content
has to be seen for half of its own evidence to count.

Source of the method: M. Buro, *Experiments with Multi-ProbCut and a New High-Quality Evaluation
Function for Othello* (1997); of LSMR: D. Fong and M. Saunders (2011).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy  # which loads its parts when they are used

from othello_lab.agents.learned import patterns as model
from othello_lab.agents.learned.geometry import board_of, geometry
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import legal_moves, popcount
from othello_lab.core.system.compile import Mask, kernel
from othello_lab.core.system.settings import Number, Whole, explained
from othello_lab.training.data import TRAIN, VALIDATION, Positions
from othello_lab.training.training import (
    LearningResult,
    Training,
    TrainingContext,
    disc_worth_figures,
)

FEWEST = 1000
"""Positions. A stage with fewer takes the weights of the nearest that has more."""
_MOVES = model.MOST_MOVES + 1
_LARGEST = np.iinfo(np.int16).max
_AT_A_TIME = 4  # stages between two checkpoints, shared out among the workers


@explained
@dataclass(frozen=True, kw_only=True)
class PatternTraining(Training):
    """Learns the weights of :class:`agents.learned.patterns.PatternEvaluation`."""

    width: Annotated[int, Whole(1, 60)] = 4
    """Numbers of empty squares that make a stage."""
    overlap: Annotated[int, Whole(0, 60)] = 1
    """A stage also learns from positions with so many more or fewer empty squares, which makes
    neighbouring stages alike."""
    shrink: Annotated[float, Number(above=0)] = 20.0
    """How strongly weights are drawn towards 0: as many made-up sightings that were worth 0."""
    iterations: Annotated[int, Whole(1)] = 20
    """Steps of LSMR at most, for each stage."""

    def learn(self, work: TrainingContext) -> LearningResult:
        positions = work.positions
        columns = Columns(positions.side)
        learn_from, check_with = positions.part(TRAIN), positions.part(VALIDATION)
        stages = self.stages(positions.side)
        parts = [stages[n : n + _AT_A_TIME] for n in range(0, len(stages), _AT_A_TIME)]
        fit = functools.partial(_fit, shrink=self.shrink, iterations=self.iterations)
        state = work.load_checkpoint("stages") or {
            "weights": np.zeros((0, columns.number), dtype=np.float32),
            "enough": [],
        }
        with work.workers() as workers:
            for number in work.steps("stages", len(parts), state, len(parts), "parts"):
                samples = [
                    (
                        learn_from.stage(low - self.overlap, high + self.overlap),
                        check_with.stage(low, high),
                    )
                    for low, high in parts[number]
                ]
                for (low, _), stage in zip(parts[number], workers(fit, samples), strict=True):
                    state["weights"] = np.vstack([state["weights"], stage.weights])
                    state["enough"].append(stage.positions >= FEWEST)
                    errors = {"train": stage.train, "validation": stage.validation}
                    work.note(empties=low, positions=stage.positions, **errors)
        weights, enough = state["weights"], state["enough"]
        if not any(enough):
            raise ValueError(
                f"{len(learn_from):,} positions to learn from; a stage needs {FEWEST:,}"
            )
        learned = as_weights(positions.side, stages, weights, enough)
        finding = (
            f"{sum(enough)} of {len(enough)} stages had positions enough; of {len(weights)} x "
            f"{columns.number:,} weights {np.count_nonzero(weights):,} were seen at least once, "
            "the others are 0."
        )
        return LearningResult(
            {"_target_": "othello_lab.agents.learned.PatternEvaluation"},
            learned,
            model.UNIT,
            findings=[finding],
            figures=lambda: disc_worth_figures(
                model.PatternEvaluation(learned), check_with, model.UNIT
            ),
        )

    def stages(self, side: int) -> list[tuple[int, int]]:
        """Fewest and most empty squares of each stage, both included, the end of the game first."""
        most = side * side - 4
        firsts = range(0, most + 1, self.width)
        return [(first, min(first + self.width - 1, most)) for first in firsts]


# ---------------------------------------------------------------------- the system of equations


class Columns:
    """The columns of the equations, in this order: the classes of contents, the mover's moves, the
    opponent's, the empty squares.

    number: of columns.
    """

    def __init__(self, side: int) -> None:
        self.side = side
        self.geometry = geometry(side)
        self.moves = self.geometry.classes
        self.their = self.moves + _MOVES
        self.empties = self.their + _MOVES
        self.number = self.empties + model.SQUARES + 1

    def of(self, positions: Positions) -> np.ndarray:
        """Return the columns with a 1 for each position, int32, shape (positions, places + 3)."""
        mover, opponent = positions.mover, positions.opponent
        contents = self.geometry.features(mover, opponent)
        others = _counts(mover, opponent, np.uint64(board_of(self.side)))
        others += np.array([self.moves, self.their, self.empties], dtype=np.int32)
        return np.concatenate([contents, others], axis=1)


@kernel
def _counts(mover: np.ndarray, opponent: np.ndarray, board: Mask) -> np.ndarray:
    """Each side's moves and the squares of the 8x8 board without a disc, int32, shape (n, 3)."""
    counts = np.empty((len(mover), 3), dtype=np.int32)
    most = np.int64(model.MOST_MOVES)
    for n in range(len(mover)):
        counts[n, 0] = min(most, popcount(legal_moves(mover[n], opponent[n]) & board))
        counts[n, 1] = min(most, popcount(legal_moves(opponent[n], mover[n]) & board))
        counts[n, 2] = np.int64(model.SQUARES) - popcount(mover[n] | opponent[n])
    return counts


@kernel
def sums(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sum of each row's weights, float32: the matrix times a vector."""
    totals = np.empty(len(columns), dtype=np.float32)
    for row in range(len(columns)):
        total = np.float32(0)
        for n in range(columns.shape[1]):
            total += weights[columns[row, n]]
        totals[row] = total
    return totals


@kernel
def _shares(columns: np.ndarray, values: np.ndarray, number: int) -> np.ndarray:
    """Each column's sum of its rows' values, float32: the turned matrix times a vector."""
    totals = np.zeros(number, dtype=np.float32)
    for row in range(len(columns)):
        for n in range(columns.shape[1]):
            totals[columns[row, n]] += values[row]
    return totals


def solve(
    columns: np.ndarray, score: np.ndarray, number: int, shrink: float, iterations: int
) -> tuple[np.ndarray, int]:
    """Return the weights, float32, with the least squares of the rows' errors plus ``shrink`` times
    the squares of the weights; and the number of steps.

    columns: shape (rows, places), numbers below ``number``. score: float32, shape (rows,).
    """
    rows = len(columns)
    seen = np.bincount(columns.ravel(), minlength=number).astype(np.float32)
    # Weights are measured in a unit that suits how often each is seen: far fewer steps.
    scale = 1 / np.sqrt(seen + np.float32(shrink))
    towards_0 = np.float32(np.sqrt(shrink)) * scale

    def forwards(scaled: np.ndarray) -> np.ndarray:
        scaled = scaled.astype(np.float32).ravel()
        both = sums(columns, scale * scaled), towards_0 * scaled
        return np.concatenate(both, dtype=np.float64)

    def back(values: np.ndarray) -> np.ndarray:
        values = values.astype(np.float32).ravel()
        shares = scale * _shares(columns, values[:rows], number) + towards_0 * values[rows:]
        return shares.astype(np.float64)

    operator = scipy.sparse.linalg.LinearOperator(
        (rows + number, number), matvec=forwards, rmatvec=back, dtype=np.float64
    )
    wanted = np.concatenate([score, np.zeros(number, dtype=np.float32)])
    with np.errstate(over="ignore"):  # it compares 1e100 with numbers of 32 bits
        solution, _, steps, *_ = scipy.sparse.linalg.lsmr(operator, wanted, maxiter=iterations)
    return scale * solution.astype(np.float32), int(steps)


# ---------------------------------------------------------------------- one stage


@dataclass(frozen=True, eq=False)
class PatternStage:
    """One stage's weights, in discs, and its mean squared errors (squared discs; NaN for none)."""

    weights: np.ndarray
    positions: int
    train: float
    validation: float


def _fit(part: tuple[Positions, Positions], shrink: float, iterations: int) -> PatternStage:
    """Learn the weights of a stage. part: its positions to learn from, and to check with."""
    learn_from, check_with = part
    columns = Columns(learn_from.side)
    active = columns.of(learn_from)
    weights, _ = solve(active, learn_from.score, columns.number, shrink, iterations)
    return PatternStage(
        weights,
        len(learn_from),
        _error(sums(active, weights), learn_from.score),
        _error(sums(columns.of(check_with), weights), check_with.score),
    )


def _error(foretold: np.ndarray, score: np.ndarray) -> float:
    return float(np.mean((foretold - score) ** 2)) if len(score) else float("nan")


# ---------------------------------------------------------------------- what comes of it


def as_weights(
    side: int, stages: list[tuple[int, int]], weights: np.ndarray, enough: Iterable[bool]
) -> LearnedWeights:
    """Return the weights of an evaluation.

    stages: fewest and most empty squares of each. weights: in discs, shape (stages, columns).
    enough: the stages that could be learned; the others take the weights of the nearest of these.
    """
    columns = Columns(side)
    learned = np.flatnonzero(list(enough))
    source = [int(learned[np.abs(learned - stage).argmin()]) for stage in range(len(stages))]
    outside = model.SQUARES - side * side
    stage_of = np.zeros(model.SQUARES + 1, dtype=np.uint8)
    constant = np.zeros(model.SQUARES + 1)
    for stage, (low, high) in enumerate(stages):
        low, high = low + outside, high + outside
        last = high if stage + 1 < len(stages) else model.SQUARES
        stage_of[low : last + 1] = stage
        taken = weights[source[stage], columns.empties :]
        if source[stage] == stage:
            constant[low : last + 1] = taken[low : last + 1]
        else:
            constant[low : last + 1] = taken[np.flatnonzero(taken)].mean()
    used = weights[source]
    arrays = {
        model.STAGES: stage_of,
        model.CONSTANT: _in_units(constant),
        model.OWN_MOVES: _in_units(used[:, columns.moves : columns.their]),
        model.THEIR_MOVES: _in_units(used[:, columns.their : columns.empties]),
        model.CONTENTS: _in_units(used[:, : columns.moves]),
    }
    return LearnedWeights(model.KIND, model.VERSION, model.UNIT, arrays, {"side": side})


def _in_units(discs: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(discs * model.UNIT), -_LARGEST, _LARGEST).astype(np.int16)
