"""Quality of a training's result: on positions that it has not learned from, and in matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from othello_lab.agents.evaluation import Evaluation
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.report.standings import matches
from othello_lab.experiments.statistics.intervals import elo_words
from othello_lab.experiments.statistics.means import SHARE, mean_interval
from othello_lab.experiments.studies.pools import PairPool, strengths
from othello_lab.experiments.studies.positions import PHASES
from othello_lab.training.data import SPLITS, TEST, TRAIN, Positions
from othello_lab.training.learned_files import PREFIX, StepResult

if TYPE_CHECKING:
    import pandas as pd

STAGE = 5
"""Numbers of empty squares that are told together."""
BINS = 24
"""Groups of equally many positions that calibration is looked at in."""
FEW = 50
"""Of fewer positions nothing is told."""
MOST = 100_000
"""Positions that are measured on; of more a sample."""
_SAMPLED = 7  # keeps random numbers apart
_NONE = Positions.none()


@dataclass(frozen=True)
class TrainingSteps:
    """The results of a training's steps.

    final: the last result; snapshots: at the stops of a learning curve, by minutes; spent: minutes
    that each of these really took, all before it included. positions: the data to measure on, None
    for none. matches, ladder: folders of runs, None for none. steps: the rows of the record.
    """

    final: StepResult
    snapshots: Mapping[float, StepResult]
    spent: Mapping[float, float]
    positions: Positions | None
    matches: Path | None
    ladder: Path | None
    steps: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Measurements:
    """The measurements; a frame without rows for a missing one.

    parts: one row a part of the positions: part, positions, squared (mean squared error, discs),
        error (mean absolute error), guessing (the same for the part's mean alone).
    held: the part that the rest is measured on; stages: one row for each range of empties, fewest,
    most, positions, exact (share with the solver's score), error, low, high, bias, guessing.
    phases: one row a phase of the game: phase, positions, exact, error, low, high.
    exact: the error on positions with the solver's score, of these empties at most: positions,
        empties, error, low, high; empty where there are few.
    calibration: by phase and group of predictions: phase, predicted, outcome, won (share, draws
        half), positions; slope: outcome by a predicted disc.
    matches: of :func:`experiments.report.standings.matches`, from the learned evaluation's view.
    curve: one row a stop of the learning curve: minutes, spent, positions, elo, low, high, and
        ``error_PHASE``.
    gain: Elo from its first stop to its last, with the ends of the 95 % interval.
    scores: the most important of it, plain data.
    """

    parts: pd.DataFrame
    held: str
    stages: pd.DataFrame
    phases: pd.DataFrame
    exact: dict[str, Any]
    calibration: pd.DataFrame
    slope: float
    matches: pd.DataFrame
    curve: pd.DataFrame
    gain: tuple[float, float, float]
    scores: dict[str, Any]


def measure(steps: TrainingSteps, folder: Path, seed: int) -> Measurements:
    """Measure the result of a training in this folder."""
    import pandas as pd

    parts, held, examined, predicted = pd.DataFrame(), "", _NONE, np.zeros(0)
    evaluation = steps.final.built(folder)
    if (positions := steps.positions) is not None:
        unit = steps.final.unit or unit_of(evaluation, positions)
        parts = errors_by_part(evaluation, unit, positions, seed)
        examined, held = examined_part(positions, seed)
        predicted = predictions(evaluation, unit, examined)
    played = pd.DataFrame()
    if steps.matches is not None:
        with reading(steps.matches) as record:
            played = matches(record, winners=False)
            played = played[played["agent"] == PREFIX + steps.final.label]
    stages = errors_by_stage(predicted, examined, seed)
    calibration, slope = calibrated(predicted, examined)
    return Measurements(
        parts=parts,
        held=held,
        stages=stages,
        phases=errors_by_phase(predicted, examined, seed),
        exact=error_of_perfect_play(predicted, examined, seed),
        calibration=calibration,
        slope=slope,
        matches=played,
        curve=_curve(steps, folder, seed),
        gain=_gain(steps, seed),
        scores=_scores(steps, stages, parts, played),
    )


# ---------------------------------------------------------------------- on positions


def predictions(evaluation: Evaluation, unit: float, positions: Positions) -> np.ndarray:
    """The disc differences that it predicts, float, shape (n,)."""
    values: np.ndarray = evaluation.values(positions.mover, positions.opponent) / unit
    return values


def unit_of(evaluation: Evaluation, positions: Positions) -> float:
    """The value that is worth a disc, by least squares over the positions learned from; 1 where
    values and outcomes have nothing to do with each other."""
    train = positions.part(TRAIN)
    values = predictions(evaluation, 1, train)
    both = float(values @ train.score)
    return float(values @ values) / both if both > 0 else 1.0


def examined_part(positions: Positions, seed: int) -> tuple[Positions, str]:
    """Return the positions to measure on, a sample of many, and the name of their part: the test's,
    or another one's if these are too few."""
    counts = np.bincount(positions.split, minlength=len(SPLITS))
    part = next((part for part in range(TEST, TRAIN, -1) if counts[part] >= FEW), TRAIN)
    return _sample(positions.part(part), seed), SPLITS[part]


def _sample(positions: Positions, seed: int) -> Positions:
    return positions.sample(MOST, np.random.default_rng([seed, _SAMPLED]))


def errors_by_part(
    evaluation: Evaluation, unit: float, positions: Positions, seed: int
) -> pd.DataFrame:
    """See :class:`Measurements`."""
    import pandas as pd

    rows = []
    for number, name in enumerate(SPLITS):
        part = positions.part(number)
        if len(part):
            sample = _sample(part, seed)
            missed = predictions(evaluation, unit, sample) - sample.score
            rows.append(
                {
                    "part": name,
                    "positions": len(part),
                    "squared": float(np.mean(missed**2)),
                    "error": float(np.abs(missed).mean()),
                    "guessing": _guessing(sample.score),
                }
            )
    return pd.DataFrame(rows)


def ranges_of_empties(positions: Positions) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield ranges of empty squares with enough positions: the fewest, the most, and a mask."""
    for fewest in range(0, int(positions.empties.max(initial=0)) + 1, STAGE):
        most = fewest + STAGE - 1
        there = (positions.empties >= fewest) & (positions.empties <= most)
        if there.sum() >= FEW:
            yield fewest, most, there


def errors_by_stage(predicted: np.ndarray, positions: Positions, seed: int) -> pd.DataFrame:
    """See :class:`Measurements`."""
    import pandas as pd

    rows = []
    for fewest, most, there in ranges_of_empties(positions):
        score = positions.score[there]
        ends = {"fewest": fewest, "most": most}
        others = {"bias": float((predicted[there] - score).mean()), "guessing": _guessing(score)}
        rows.append(ends | _error(predicted, positions, there, seed) | others)
    return pd.DataFrame(rows)


def errors_by_phase(predicted: np.ndarray, positions: Positions, seed: int) -> pd.DataFrame:
    """See :class:`Measurements`."""
    import pandas as pd

    rows = []
    for number, phase in enumerate(PHASES):
        there = phase_numbers(positions) == number
        if there.sum() >= FEW:
            rows.append({"phase": phase, **_error(predicted, positions, there, seed)})
    return pd.DataFrame(rows, columns=["phase", "positions", "exact", "error", "low", "high"])


def error_of_perfect_play(predicted: np.ndarray, positions: Positions, seed: int) -> dict[str, Any]:
    """See :class:`Measurements`."""
    there = positions.exact
    if there.sum() < FEW:
        return {}
    error = _error(predicted, positions, there, seed)
    return error | {"empties": int(positions.empties[there].max())}


def phase_numbers(positions: Positions) -> np.ndarray:
    """Return the number of each position's phase among PHASES. A phase is a third of a game's
    moves."""
    moves = positions.side**2 - 4
    made = moves - positions.empties
    return np.clip(len(PHASES) * made // moves, 0, len(PHASES) - 1)


def _guessing(score: np.ndarray) -> float:
    return float(np.abs(score - score.mean()).mean())


def _error(
    predicted: np.ndarray, positions: Positions, there: np.ndarray, seed: int
) -> dict[str, Any]:
    """Return the mean absolute error on the positions of a mask, with its interval over games."""
    missed = np.abs(predicted[there] - positions.score[there])
    error = mean_interval(missed, positions.game[there], seed)
    exact = float(positions.exact[there].mean())
    ends = {"error": error.value, "low": error.low, "high": error.high}
    return {"positions": len(missed), "exact": exact, **ends}


def calibrated(predicted: np.ndarray, positions: Positions) -> tuple[pd.DataFrame, float]:
    """See :class:`Measurements`: the groups, and the slope of outcome over prediction."""
    import pandas as pd

    rows = []
    phases = phase_numbers(positions)
    for number, phase in enumerate(PHASES):
        of_phase = np.flatnonzero(phases == number)
        if len(of_phase) < FEW:
            continue
        order = of_phase[np.argsort(predicted[of_phase], kind="stable")]
        for group in np.array_split(order, min(BINS, len(order) // FEW)):
            score = positions.score[group]
            won = 0.5 + np.sign(score) / 2
            share = mean_interval(won, positions.game[group], within=SHARE)
            rows.append(
                {
                    "phase": phase,
                    "predicted": float(predicted[group].mean()),
                    "outcome": float(score.mean()),
                    "won": share.value,
                    "won_low": share.low,
                    "won_high": share.high,
                    "positions": len(group),
                }
            )
    squares = float(predicted @ predicted)
    slope = float(predicted @ positions.score) / squares if squares > 0 else float("nan")
    return pd.DataFrame(rows), slope


# ---------------------------------------------------------------------- in matches


def _curve(steps: TrainingSteps, folder: Path, seed: int) -> pd.DataFrame:
    """See :class:`Measurements`."""
    import pandas as pd

    table, rows = None, []
    if steps.ladder is not None:
        with reading(steps.ladder) as record:
            table = strengths(record, seed)
    for minutes, result in steps.snapshots.items():
        row: dict[str, Any] = {"minutes": minutes, "spent": steps.spent[minutes]}
        row["positions"] = result.about.get("positions", 0)
        if table is not None:
            rated = table.loc[PREFIX + result.label]
            row |= {name: rated[name] for name in ("games", "elo", "low", "high", "bound", "split")}
        if (positions := steps.positions) is not None:
            evaluation, (examined, _) = result.built(folder), examined_part(positions, seed)
            unit = result.unit or unit_of(evaluation, positions)
            phases = errors_by_phase(predictions(evaluation, unit, examined), examined, seed)
            row |= {f"error_{phase.phase}": float(phase.error) for phase in phases.itertuples()}
        rows.append(row)
    return pd.DataFrame(rows)


def _gain(steps: TrainingSteps, seed: int) -> tuple[float, float, float]:
    """See :class:`Measurements`; nan where it is not known."""
    labels = [PREFIX + result.label for result in steps.snapshots.values()]
    if steps.ladder is None or len(labels) < 2:
        return (float("nan"),) * 3
    with reading(steps.ladder) as record:
        pool = PairPool.of(record)
    weights = np.zeros((1, len(pool.names)))
    weights[0, [pool.names.index(labels[end]) for end in (0, -1)]] = -1, 1
    elo, low, high = (float(ends[0]) for ends in pool.contrasts(weights, seed))
    return elo, low, high


def _scores(
    steps: TrainingSteps, stages: pd.DataFrame, parts: pd.DataFrame, played: pd.DataFrame
) -> dict[str, Any]:
    """The most important of it, as the weights' side file has it."""
    scores: dict[str, Any] = {"minutes": round(float(steps.steps["minutes"].sum()), 2)}
    for row in parts.itertuples():
        scores[f"squared_error_{row.part}"] = round(float(row.squared), 2)
    for row in stages.itertuples():
        errors = scores.setdefault("mean_error_by_empties", {})
        errors[f"{row.fewest}-{row.most}"] = round(float(row.error), 2)
    for row in played.itertuples():
        elo = elo_words(row.elo, row.elo_low, row.elo_high, row.bound, row.split)
        scores.setdefault("elo", {})[str(row.opponent)] = f"{elo}, {row.games} games"
    return scores
