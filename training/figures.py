"""The figures of a training: its course, and the quality of its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    blank,
    check_frame,
    drawn,
    entitle,
    styled,
)
from othello_lab.experiments.report.figures.elo import elo_chart
from othello_lab.experiments.report.figures.palette import BLUE, GREY, ORANGE, PAGE
from othello_lab.experiments.studies.positions import PHASES
from othello_lab.training.data import SPLITS
from othello_lab.training.measuring import Measurements, TrainingSteps
from othello_lab.training.training import CORES, Training

STEPS = ("epoch", "generation", "iteration", "games", "step", "empties")
"""Columns of a history that say how far it was, the best first."""
_PANELS = 6
_WIDTH = 4.2  # inches of a panel


def training_figures(
    training: Training, steps: TrainingSteps, measured: Measurements
) -> Iterator[ReportFigure]:
    """Yield the figures of a report, the most important first; the training's own ones are files
    already."""
    label = steps.final.label
    yield from _of_matches(training, label, measured)
    yield from _of_positions(label, measured)
    history = pd.DataFrame(list(steps.final.history))
    if len(history) > 1 and panels_of(history):
        chart = history_chart(history, label)
        caption = "What was noted while learning."
        yield ReportFigure("history", "How it went", caption, chart, history)
    for figure in steps.final.figures:
        yield ReportFigure(figure.name, figure.title, figure.caption, figure.svg)


def _of_matches(training: Training, label: str, measured: Measurements) -> Iterator[ReportFigure]:
    if len(measured.curve) > 1:
        yield ReportFigure(
            "learning_curve",
            "Learning curve",
            f"What was learned after so many minutes on {CORES} cores, and measured in one pool "
            f"with the line-up {training.ladder}, whose mean is 0 Elo; bars are 95 % intervals. "
            "Beside it the mean absolute error on positions that were not learned from, by phase "
            "of the game.",
            curve_chart(measured.curve, label),
        )
    if len(measured.matches):
        rows = opponents(measured.matches)
        yield ReportFigure(
            "opponents",
            "Against every opponent",
            f"By how much {label} is stronger than each opponent, in matches of their own; bars "
            "are 95 % intervals. Arrows: at least, or at most, so much.",
            elo_chart(rows, "each opponent", label, rows["agent"].tolist()),
        )


def _of_positions(label: str, measured: Measurements) -> Iterator[ReportFigure]:
    if len(measured.stages) > 1:
        yield ReportFigure(
            "error_by_stage",
            "Error by stage",
            "Mean absolute error by how many squares are empty, the game going on to the right, "
            f"with 95 % intervals over games ({measured.held}). Filled: most scores are those of "
            "perfect play; hollow: of how the game went on. Dashed: always saying the mean.",
            stage_chart(measured.stages, label),
        )
    if len(measured.calibration):
        yield ReportFigure(
            "calibration",
            "Calibration",
            "What became of positions for which about the same was predicted, by phase of the "
            "game: their mean score, which should lie on the line, and how many were won, a draw "
            "being half a win.",
            calibration_chart(measured.calibration, label),
        )


def opponents(matches: pd.DataFrame) -> pd.DataFrame:
    """Matches as the chart of ratings has its rows, the weakest result first."""
    rows = matches.sort_values("score")
    columns = {"elo_low": "low", "elo_high": "high", "opponent": "agent"}
    return rows.drop(columns="agent").rename(columns=columns)


# ---------------------------------------------------------------------- charts


def curve_chart(curve: pd.DataFrame, context: str = "") -> Figure:
    """Rating and error by minutes of training.

    curve: one row a stop; columns ``spent`` (the minutes that it really took), and where known
        ``elo``, ``low``, ``high``, and ``error_PHASE`` for phases of the game (discs).
    """
    check_frame(curve, ["spent"])
    errors = [phase for phase in PHASES if f"error_{phase}" in curve]
    shown = [name for name, there in (("elo", "elo" in curve), ("error", errors)) if there]
    check_frame(pd.DataFrame({"panel": shown}), [])
    with blank(1.3 + _WIDTH * len(shown), 4.2) as figure:
        entitle(figure, context)
        grid = figure.subplots(1, len(shown), squeeze=False)[0]
        for axes, panel in zip(grid, shown, strict=True):
            if panel == "elo":
                rows = curve[curve["elo"].notna()]
                ends = np.abs(np.stack([rows["low"], rows["high"]]) - rows["elo"].to_numpy())
                ends = np.nan_to_num(ends)
                axes.errorbar(
                    rows["spent"], rows["elo"], yerr=ends, color=BLUE, marker="o", capsize=3
                )
                axes.set_ylabel("Elo (95 % interval)")
            else:
                for phase, style in styled(errors, PHASES):
                    axes.plot(curve["spent"], curve[f"error_{phase}"], label=phase, **style)
                axes.set_ylabel("mean absolute error, discs")
                axes.set_ylim(0, None)
                axes.legend(frameon=False)
            axes.set_xscale("log", base=2)
            axes.set_xticks(curve["spent"].tolist())
            axes.xaxis.set_major_formatter(
                FuncFormatter(lambda value, _: f"{value:.2g}" if value < 10 else f"{value:.0f}")
            )
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xlabel(f"minutes of training on {CORES} cores")
            axes.margins(x=0.08)
    return figure


def stage_chart(stages: pd.DataFrame, context: str = "") -> Figure:
    """Draw the mean absolute error by empty squares.

    stages: one row for each range of empty squares; columns ``fewest``, ``most``, ``exact`` (share
    of scores of perfect play), ``error``, ``low``, ``high``, ``guessing`` (discs).
    """
    check_frame(stages, ["fewest", "most", "exact", "error", "low", "high", "guessing"])
    with blank(8, 4.2) as figure:
        entitle(figure, context)
        axes = figure.add_subplot()
        middle = (stages["fewest"] + stages["most"]) / 2
        axes.plot(middle, stages["guessing"], "--", color=GREY, label="always saying the mean")
        axes.fill_between(
            middle, stages["low"], stages["high"], color=BLUE, alpha=0.15, linewidth=0
        )
        axes.plot(middle, stages["error"], color=BLUE)
        for scores, exact, face in (
            ("perfect play", stages["exact"] >= 0.5, BLUE),
            ("how games went on", stages["exact"] < 0.5, PAGE),
        ):
            if exact.any():
                axes.plot(
                    middle[exact], stages["error"][exact], "o", color=BLUE, markerfacecolor=face,
                    label=f"against {scores}",
                )  # fmt: skip
        axes.invert_xaxis()
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(0, None)
        axes.set_xlabel("empty squares")
        axes.set_ylabel("mean absolute error, discs")
        axes.legend(frameon=False)
    return figure


def calibration_chart(calibration: pd.DataFrame, context: str = "") -> Figure:
    """Draw outcome and share of wins by prediction.

    calibration: one row a group of positions; columns ``phase``, ``predicted``, ``outcome``
        (discs), ``won``, ``won_low``, ``won_high`` (shares).
    """
    check_frame(calibration, ["phase", "predicted", "outcome", "won", "won_low", "won_high"])
    with blank(10, 4.6) as figure:
        entitle(figure, context)
        by_score, by_win = figure.subplots(1, 2)
        low, high = (
            end(calibration[["predicted", "outcome"]].to_numpy().ravel()) for end in (min, max)
        )
        by_score.plot([low, high], [low, high], color=GREY, linewidth=1)
        for phase, style in styled(calibration["phase"], PHASES):
            rows = calibration[calibration["phase"] == phase]
            thin = {**style, "markersize": 4, "linewidth": 1}
            by_score.plot(rows["predicted"], rows["outcome"], label=drawn(phase), **thin)
            by_win.plot(rows["predicted"], 100 * rows["won"], **thin)
            by_win.fill_between(
                rows["predicted"], 100 * rows["won_low"], 100 * rows["won_high"],
                color=style["color"], alpha=0.15, linewidth=0,
            )  # fmt: skip
        by_win.axhline(50, color=GREY, linewidth=1)
        by_win.axvline(0, color=GREY, linewidth=1)
        by_score.set_ylabel("mean score, discs")
        by_win.set_ylabel("won, %")
        by_win.set_ylim(-3, 103)
        for axes in (by_score, by_win):
            axes.set_xlabel("predicted, discs to the mover")
        by_score.legend(frameon=False)
    return figure


def panels_of(history: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns of a history to be drawn together, by the name of their panel: parts of
    the data (``train``, ``validation``), alone or after the measured quantity (``loss_train``), and
    columns that begin with the same word (``fitness_mean``, ``fitness_best``)."""
    panels: dict[str, list[str]] = {}
    for name in history.select_dtypes("number"):
        if name not in (*STEPS, "minutes"):
            words = [word for word in name.split("_") if word not in SPLITS]
            panels.setdefault(words[0] if words else "loss", []).append(name)
    return dict(list(panels.items())[:_PANELS])


def history_chart(history: pd.DataFrame, context: str = "") -> Figure:
    """Draw the notes of a training, by step.

    history: one row a note; one of the columns STEPS, or else the rows are numbered. Panels as in
        :func:`panels_of`. If a training has several stages (column ``stage``), each has a line.
    """
    panels = panels_of(history)
    check_frame(history, [])
    check_frame(pd.DataFrame({"panel": list(panels)}), [])
    step = next((name for name in STEPS if name in history), "note")
    history = history if step in history else history.assign(note=range(len(history)))
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    with blank(max(6.5, 0.6 + _WIDTH * columns), 0.6 + 3.2 * lines) as figure:
        entitle(figure, context)
        grid = figure.subplots(lines, columns, squeeze=False).flatten().tolist()
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        for axes, (panel, names) in zip(grid, panels.items(), strict=False):
            _lines(axes, history, step, panel, names)
    return figure


def _lines(axes: Axes, history: pd.DataFrame, step: str, panel: str, names: Sequence[str]) -> None:
    """Draw one panel of a history."""
    colours: Mapping[str, Any] = {"train": BLUE, "validation": ORANGE}
    for name, style in styled(names):
        rows = history[[step, name]].dropna()
        colour = next((c for word, c in colours.items() if word in name), style["color"])
        label = drawn(name.removeprefix(f"{panel}_").replace("_", " "))
        marker = "." if len(rows) < 40 else None
        axes.plot(rows[step], rows[name], color=colour, marker=marker, label=label)
    axes.set_xlabel("empty squares" if step == "empties" else step)
    axes.set_ylabel(drawn(panel))
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    if len(names) > 1:
        axes.legend(frameon=False)
