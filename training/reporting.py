"""The end of a training: findings from the measurements, tables and figures."""

from __future__ import annotations

import functools
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

Columns = Mapping[str, Callable[[Any], str]]
"""The columns of a table: by heading, the function that makes a row's cell."""

EMPTIES: Columns = {
    "empties": lambda row: f"{row.fewest} to {row.most}",
    "positions": lambda row: f"{row.positions:,}",
}
_MATCH: Columns = {
    name: MATCH_COLUMNS[name]
    for name in ("opponent", "games", "W-D-L", "score %", RATING, "discs [95 %]")
}
_STAGE: Columns = {
    **EMPTIES,
    "exact %": lambda row: f"{100 * row.exact:.0f}",
    "mean error [95 %]": lambda row: f"{row.error:.2f} [{row.low:.2f}, {row.high:.2f}]",
    "bias": lambda row: f"{row.bias:+.2f}",
    "guessing": lambda row: f"{row.guessing:.2f}",
}
_PART: Columns = {
    "part": lambda row: row.part,
    "positions": _STAGE["positions"],
    "mean squared error": lambda row: f"{row.squared:.2f}",
    "mean error": lambda row: f"{row.error:.2f}",
    "guessing": _STAGE["guessing"],
}
_STEP: Columns = {
    "step": lambda row: row.step,
    "positions": lambda row: _count(getattr(row, "positions", None)),
    "minutes": lambda row: f"{row.minutes:.2f}",
}
_MOST_NAMED = 4
_MISSED = 0.1  # of its minutes, by which a stop may come earlier or later and nothing is said


def concluded(
    name: str, training: Training, settings: RunConfig, steps: TrainingSteps, measured: Measurements
) -> Conclusion:
    """The conclusion of a training of this name. settings: of the run that it is measured by."""
    frames = {
        "errors": measured.stages,
        "calibration": measured.calibration,
        "matches": measured.matches,
        "curve": measured.curve,
    }
    final = steps.final
    # Many numbers have a table of their own.
    shown = {k: v for k, v in final.evaluation.items() if not isinstance(v, list | dict)}
    details = {"data hash": final.about.get("data_hash")}
    if final.kind is not None:
        details["weights"] = f"{WEIGHTS}/{final.label}.npz"
    details["in a run"] = f"--config-dir FOLDER/{CONF} evaluation={PREFIX}{final.label}"
    return Conclusion(
        list(_findings(name, training, settings, steps, measured)),
        [*_tables(measured), *final.tables, frame_table("Steps", _STEP, steps.steps)],
        {key: frame for key, frame in frames.items() if len(frame)},
        lambda: _figures(training, steps, measured),
        list(_notes(training, settings, measured)),
        agents={PREFIX + final.label: {"_target_": training.player, "evaluation": shown}},
        details={key: str(value) for key, value in details.items() if value},
    )


# ---------------------------------------------------------------------- words


def _findings(
    name: str, training: Training, settings: RunConfig, steps: TrainingSteps, measured: Measurements
) -> Iterator[str]:
    if len(measured.matches):
        yield about_matches(name, training, settings, measured.matches)
    if len(measured.curve) > 1:
        yield from _about_curve(measured.curve, measured.gain)
    if exact := measured.exact:
        yield (
            f"Against perfect play it errs by {exact['error']:.2f} [{exact['low']:.2f}, "
            f"{exact['high']:.2f}] discs on average, in "
            f"{counted(exact['positions'], 'position')} with up to {exact['empties']} empty "
            "squares."
        )
    if len(measured.phases):
        yield _about_errors(measured)
        yield from about_guessing(measured.parts, measured.held, measured.stages)
    if math.isfinite(slope := measured.slope):
        sense = "are too small" if slope > 1.05 else "have the right size"
        sense = "are too large" if slope < 0.95 else sense
        yield (
            f"Where it predicts 10 discs, {10 * slope:.1f} come of it on average: its predictions "
            f"{sense}."
        )
    yield from steps.final.findings
    yield _about_time(steps)


def about_matches(name: str, training: Training, settings: RunConfig, matches: pd.DataFrame) -> str:
    """Return sentences on the opponents it beats, with the least lead."""
    # A bound, of a match that was nearly won or lost as a whole, may be on either side of 0.
    at_least = matches["elo"].where(matches["bound"] == ">", matches["elo_low"])
    at_most = matches["elo"].where(matches["bound"] == "<", matches["elo_high"])
    beaten, lost = matches[at_least > 0], matches[at_most < 0]
    uncertain = matches[~matches.index.isin([*beaten.index, *lost.index])]
    games = counted(int(matches["games"].min()), "game")
    nearest = matches.loc[matches["score"].idxmin()]
    ends = nearest.elo_low, nearest.elo_high, nearest.bound, nearest.split
    elo = elo_words(nearest.elo, *ends)
    text = f"As the evaluation of {training.player} at depth {settings.depth}, {name} beats "
    if len(beaten) == len(matches) > 1:
        text += f"all {len(matches)} opponents: "
        return f"{text}the strongest, {nearest.opponent}, by {elo} Elo in {games}."
    text += f"{len(beaten) or 'none'} of {counted(len(matches), 'opponent')}"
    if len(lost):
        text += f", and loses to {_named(lost['opponent'])}"
    if len(uncertain):
        text += f"; against {_named(uncertain['opponent'])} nothing is certain"
    return f"{text}. Its Elo above {nearest.opponent}: {elo}, in {games}."


def _named(names: Sequence[str]) -> str:
    several = list(names)
    if len(several) > _MOST_NAMED:
        return f"{', '.join(several[:_MOST_NAMED])} and {len(several) - _MOST_NAMED} more"
    return listed(several)


def _about_curve(curve: pd.DataFrame, gain: tuple[float, float, float]) -> Iterator[str]:
    first, last = curve.iloc[0], curve.iloc[-1]
    if math.isfinite(gain[0]):
        yield (
            f"From {first['minutes']:g} to {last['minutes']:g} minutes on {CORES} cores it gains "
            f"{interval_text(*gain)} Elo{'' if gain[1] > 0 else ', which may be chance'}."
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
    rows = measured.phases[::-1].itertuples()
    errors = ", ".join(f"{row.error:.1f} discs in the {row.phase}" for row in rows)
    if measured.held == "train":
        return (
            f"On the positions that it has learned from it misses the score by {errors} on "
            "average; there are none kept apart."
        )
    return (
        f"On positions that it has not learned from ({measured.held}) it misses the score by "
        f"{errors} on average."
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


def _about_time(steps: TrainingSteps) -> str:
    rows = steps.steps
    whole, learning, playing = (
        float(rows["minutes"][rows["step"].str.contains(word)].sum())
        for word in ("", "learning", "self-play")
    )
    text = f"It took {_minutes(whole)} minutes on {CORES} cores (processor time): "
    text += f"{_minutes(learning)} of learning"
    return f"{text}, {_minutes(playing)} of self-play." if playing else f"{text}."


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


def frame_table(title: str, columns: Columns, frame: pd.DataFrame, **looks: Any) -> ResultTable:
    """Return a table of a frame. looks: further arguments of :class:`ResultTable`."""
    return ResultTable(title, list(columns), cells(columns, frame), **looks)


def _count(number: Any) -> str:
    return "-" if number is None or math.isnan(number) else f"{number:,.0f}"


def _curve_table(curve: pd.DataFrame) -> ResultTable:
    columns: dict[str, Callable[[Any], str]] = {
        "minutes": lambda row: f"{row.minutes:g}",
        "really taken": lambda row: f"{row.spent:.2f}",
        "positions": lambda row: _count(row.positions or None),
    }
    if "elo" in curve:
        columns[RATING] = elo_text
    for phase in PHASES:
        if f"error_{phase}" in curve:
            columns[f"error, {phase}"] = functools.partial(_phase_error, phase)
    return frame_table("What was learned at each stop", columns, curve, words=())


def _phase_error(phase: str, row: Any) -> str:
    return f"{getattr(row, f'error_{phase}'):.2f}"


# ---------------------------------------------------------------------- figures


def _figures(
    training: Training, steps: TrainingSteps, measured: Measurements
) -> Iterator[ReportFigure]:
    from othello_lab.training.figures import training_figures

    yield from training_figures(training, steps, measured)
