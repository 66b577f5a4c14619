"""The end of a training: findings from the measurements, tables and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from othello_lab.core.system.escaping import counted, listed
from othello_lab.experiments.config import RunConfig
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.tables import MATCH_COLUMNS, RATING, cells, elo_text
from othello_lab.experiments.statistics.intervals import elo_words, interval_text
from othello_lab.experiments.studies.positions import PHASES
from othello_lab.experiments.studies.study import Conclusion
from othello_lab.training.learned_files import CONF, PREFIX, WEIGHTS
from othello_lab.training.measuring import Measurements, TrainingSteps
from othello_lab.training.training import CORES, Training

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure

_MATCH = {
    name: MATCH_COLUMNS[name]
    for name in ("opponent", "games", "W-D-L", "score %", RATING, "discs [95 %]")
}
_STAGE: Mapping[str, Callable[[Any], str]] = {
    "empties": lambda row: f"{row.fewest} to {row.most}",
    "positions": lambda row: f"{row.positions:,}",
    "exact %": lambda row: f"{100 * row.exact:.0f}",
    "mean error [95 %]": lambda row: f"{row.error:.2f} [{row.low:.2f}, {row.high:.2f}]",
    "bias": lambda row: f"{row.bias:+.2f}",
    "guessing": lambda row: f"{row.guessing:.2f}",
}
_PART: Mapping[str, Callable[[Any], str]] = {
    "part": lambda row: row.part,
    "positions": _STAGE["positions"],
    "mean squared error": lambda row: f"{row.squared:.2f}",
    "mean error": lambda row: f"{row.error:.2f}",
    "guessing": _STAGE["guessing"],
}
_MOST_NAMED = 4
_MISSED = 0.1  # of its minutes, by which a stop may come earlier or later and nothing is said


def concluded(
    name: str, training: Training, settings: RunConfig, found: TrainingSteps, measured: Measurements
) -> Conclusion:
    """The conclusion of a training of this name. settings: of the run that it is measured by."""
    frames = {
        "errors": measured.stages,
        "calibration": measured.calibration,
        "matches": measured.matches,
        "curve": measured.curve,
    }
    kept = found.final
    return Conclusion(
        list(_findings(name, training, settings, found, measured)),
        [*_tables(measured), *kept.tables, _steps_table(found)],
        {each: frame for each, frame in frames.items() if len(frame)},
        lambda: _figures(training, found, measured),
        list(_notes(training, settings, measured)),
        agents={PREFIX + kept.label: {"_target_": training.player, **_shown(kept.evaluation)}},
        details=_details(found),
    )


def _shown(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluation as in the list of agents: many numbers have a table."""
    return {"evaluation": {k: v for k, v in evaluation.items() if not isinstance(v, list | dict)}}


def _details(found: TrainingSteps) -> dict[str, str]:
    about = found.final.about
    told = {"data hash": about.get("data_hash"), "weights": f"{WEIGHTS}/{found.final.label}.npz"}
    if found.final.kind is None:
        del told["weights"]
    conf = f"--config-dir FOLDER/{CONF} evaluation={PREFIX}{found.final.label}"
    return {key: str(value) for key, value in told.items() if value} | {"in a run": conf}


# ---------------------------------------------------------------------- words


def _findings(
    name: str, training: Training, settings: RunConfig, found: TrainingSteps, measured: Measurements
) -> Iterator[str]:
    if len(measured.matches):
        yield about_matches(name, training, settings, measured.matches)
    if len(measured.curve) > 1:
        yield from _about_curve(measured.curve, measured.gain)
    if exact := measured.exact:
        within = f"[{exact['low']:.2f}, {exact['high']:.2f}]"
        yield (
            f"Against perfect play it errs by {exact['error']:.2f} {within} discs on average, in "
            f"{counted(exact['positions'], 'position')} with up to {exact['empties']} empty "
            "squares."
        )
    if len(measured.phases):
        yield _about_errors(measured)
        yield from about_guessing(measured.parts, measured.held, measured.stages)
    if math.isfinite(measured.slope):
        yield _about_calibration(measured)
    yield from found.final.findings
    yield _about_time(found)


def about_matches(name: str, training: Training, settings: RunConfig, matches: pd.DataFrame) -> str:
    """Return sentences on the opponents it beats, with the least lead."""
    player = f"As the evaluation of {training.player} at depth {settings.depth}"
    # A bound, of a match that was nearly won or lost as a whole, may be on either side of 0.
    at_least = matches["elo"].where(matches["bound"] == ">", matches["elo_low"])
    at_most = matches["elo"].where(matches["bound"] == "<", matches["elo_high"])
    beaten, lost = matches[at_least > 0], matches[at_most < 0]
    games = counted(int(matches["games"].min()), "game")
    nearest = matches.loc[matches["score"].idxmin()]
    ends = nearest.elo_low, nearest.elo_high, nearest.bound, nearest.split
    by = elo_words(nearest.elo, *ends)
    near = f"the strongest, {nearest.opponent}, by {by} Elo in {games}"
    if len(beaten) == len(matches) > 1:
        return f"{player}, {name} beats all {len(matches)} opponents: {near}."
    number = len(beaten) or "none"
    told = f"{player}, {name} beats {number} of {counted(len(matches), 'opponent')}"
    if len(lost):
        told += f", and loses to {_named(lost['opponent'])}"
    open_ = matches[~matches.index.isin([*beaten.index, *lost.index])]
    if len(open_):
        told += f"; against {_named(open_['opponent'])} nothing is certain"
    return f"{told}. Its Elo above {nearest.opponent}: {by}, in {games}."


def _named(names: Sequence[str]) -> str:
    several = list(names)
    if len(several) > _MOST_NAMED:
        return f"{', '.join(several[:_MOST_NAMED])} and {len(several) - _MOST_NAMED} more"
    return listed(several)


def _about_curve(curve: pd.DataFrame, gain: tuple[float, float, float]) -> Iterator[str]:
    first, last = curve.iloc[0], curve.iloc[-1]
    if math.isfinite(gain[0]):
        told = interval_text(*gain)
        yield (
            f"From {first['minutes']:g} to {last['minutes']:g} minutes on {CORES} cores it gains "
            f"{told} Elo{'' if gain[1] > 0 else ', which may be chance'}."
        )
    missed = curve[(curve["spent"] / curve["minutes"] - 1).abs() > _MISSED]
    if len(missed):
        took = [
            f"{_minutes(row.spent)} minutes, not {row.minutes:g}" for row in missed.itertuples()
        ]
        yield f"Stops came earlier or later than asked for: after {_named(took)}."
    falls = [
        f"{phase} from {first[f'error_{phase}']:.2f} to {last[f'error_{phase}']:.2f}"
        for phase in PHASES
        if f"error_{phase}" in curve
    ]
    if falls:
        yield f"Its mean error goes in the {', in the '.join(falls)} discs."


def _about_errors(measured: Measurements) -> str:
    told = []
    for row in measured.phases[::-1].itertuples():
        told.append(f"{row.error:.1f} discs in the {row.phase}")
    return (
        f"On positions that it has not learned from ({measured.held}) it misses the score by "
        f"{', '.join(told)} on average."
        if measured.held != "train"
        else f"On the positions that it has learned from it misses the score by {', '.join(told)} "
        "on average; there are none kept apart."
    )


def about_guessing(parts: pd.DataFrame, held: str, stages: pd.DataFrame) -> Iterator[str]:
    """Return sentences on parts where an evaluation is of no use. Errors in discs alone do not show
    them. The frames are those of :class:`Measurements`."""
    whole = parts[parts["part"] == held]
    for row in whole.itertuples():
        if row.error >= row.guessing:
            yield (
                f"That is no better than guessing: always saying the mean score misses by "
                f"{row.guessing:.1f} discs, this by {row.error:.1f}. More "
                "games may help, or, where the training has one, a smaller learning rate."
            )
    if stages.empty:  # too few positions in each: a frame without columns
        return
    worse = stages[stages["error"] >= stages["guessing"]]
    if len(worse) and (whole["error"] < whole["guessing"]).all():
        yield (
            f"With {_ranges(worse)} empty squares it is no better than guessing: always saying "
            "the mean score misses by less."
        )


def _ranges(stages: pd.DataFrame) -> str:
    """Numbers of empty squares, stages next to each other as one range: ``0 to 9 and 30 to 49``."""
    ranges: list[list[int]] = []
    for row in stages.itertuples():
        if ranges and ranges[-1][1] + 1 == row.fewest:
            ranges[-1][1] = row.most
        else:
            ranges.append([row.fewest, row.most])
    *others, last = [f"{fewest} to {most}" for fewest, most in ranges]
    return f"{', '.join(others)} and {last}" if others else last


def _about_calibration(measured: Measurements) -> str:
    slope = measured.slope
    if slope > 1.05:
        sense = "its predictions are too small"
    elif slope < 0.95:
        sense = "its predictions are too large"
    else:
        sense = "its predictions have the right size"
    return f"Where it predicts 10 discs, {10 * slope:.1f} come of it on average: {sense}."


def _about_time(found: TrainingSteps) -> str:
    total = sum(row["minutes"] for row in found.steps)
    learning = sum(row["minutes"] for row in found.steps if "learning" in row["step"])
    playing = sum(row["minutes"] for row in found.steps if "self-play" in row["step"])
    told = f"{_minutes(learning)} of learning"
    if playing:
        told += f", {_minutes(playing)} of self-play"
    return f"It took {_minutes(total)} minutes on {CORES} cores (processor time): {told}."


def _minutes(minutes: float) -> str:
    return f"{minutes:.1f}" if minutes >= 1 else f"{minutes:.2f}"


def _notes(training: Training, settings: RunConfig, measured: Measurements) -> Iterator[str]:
    if len(measured.stages):
        yield (
            "Errors are in discs. *Exact* is the share of positions whose score is that of perfect "
            "play, by the solver; the score of the others is how the game went on, so that part of "
            "the error there is the players'. *Guessing* is the error of always saying the mean. "
            "Intervals are 95 %, over games."
        )
    if len(measured.matches):
        yield (
            f"Matches are of {training.player} at depth {settings.depth} with either evaluation, "
            "each opening played with both colours."
        )
    if len(measured.curve):
        yield (
            f"Minutes are of processor time, two of which are one on {CORES} cores; self-play and "
            "all learning up to a stop are in them. Ratings are those of one pool with the "
            f"line-up {training.ladder}, whose mean is 0."
        )


# ---------------------------------------------------------------------- tables


def _tables(measured: Measurements) -> Iterator[ResultTable]:
    if len(measured.matches):
        yield frame_table("Matches", _MATCH, measured.matches.sort_values("score"))
    if len(measured.curve):
        yield _curve_table(measured.curve)
    if len(measured.stages):
        yield frame_table(f"Error by stage ({measured.held})", _STAGE, measured.stages)
    if len(measured.parts):
        yield frame_table("Loss", _PART, measured.parts)


def frame_table(
    title: str, columns: Mapping[str, Callable[[Any], str]], frame: pd.DataFrame
) -> ResultTable:
    """Return a table of a frame. columns: by heading, the function that makes a row's cell."""
    return ResultTable(title, list(columns), cells(columns, frame))


def _steps_table(found: TrainingSteps) -> ResultTable:
    return ResultTable(
        "Steps",
        ["step", "positions", "minutes"],
        [
            [row["step"], _count(row.get("positions")), f"{row['minutes']:.2f}"]
            for row in found.steps
        ],
    )


def _count(number: Any) -> str:
    return "-" if number is None or math.isnan(number) else f"{number:,.0f}"


def _curve_table(curve: pd.DataFrame) -> ResultTable:
    phases = [phase for phase in PHASES if f"error_{phase}" in curve]
    rated = [RATING] if "elo" in curve else []
    columns = ["minutes", "really taken", "positions", *rated, *(f"error, {p}" for p in phases)]
    rows = []
    for row in curve.itertuples():
        made = [f"{row.minutes:g}", f"{row.spent:.2f}", _count(row.positions or None)]
        made += [elo_text(row)] if rated else []
        rows.append([*made, *(f"{getattr(row, f'error_{phase}'):.2f}" for phase in phases)])
    return ResultTable("What was learned at each stop", columns, rows, words=())


# ---------------------------------------------------------------------- figures


def _figures(
    training: Training, found: TrainingSteps, measured: Measurements
) -> Iterator[ReportFigure]:
    from othello_lab.training.figures import training_figures

    yield from training_figures(training, found, measured)
