"""Losses of two agents by ply, beside their time and depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from othello_lab.experiments.report.figures import drawing
from othello_lab.experiments.report.figures.labels import name_legend
from othello_lab.experiments.report.figures.palette import GREY
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.figures.tooltips import points_title
from othello_lab.experiments.report.late_moves import ALL
from othello_lab.experiments.report.tables import time_text
from othello_lab.experiments.statistics.intervals import interval_text
from othello_lab.experiments.studies.loss_profile import RESULTS

_LEAST_GAMES = 5  # of an agent with a result; fewer say nothing
_GAP = 0.12  # between the marks of two agents, in bands


class _Panel(NamedTuple):
    """A measure of a profile and its axis. text: of a value, in a tooltip."""

    measure: str
    label: str
    text: Callable[[float], str]


_LOSS = _Panel("loss_game", "discs given away a game", "{:.2f}".format)
_TIME = _Panel("microseconds", "mean time a move", time_text)
_DEPTH = _Panel("depth", "plies ahead (mean)", "{:.1f}".format)


def loss_figures(
    profile: pd.DataFrame, sample: str, exact_from: int | None
) -> Iterator[drawing.ReportFigure]:
    """Yield the figures of the study: see :mod:`experiments.studies.losses`.

    profile: of :func:`~experiments.studies.loss_profile.loss_profile`. exact_from: the first ply
    with a solved move; None if there is none.
    """
    parts = profile[profile["plies"] != ALL]
    whole = parts[parts["result"] == ALL]
    border = "" if exact_from is None else " Right of the dotted line the exact solver judges."
    yield drawing.ReportFigure(
        name="losses_by_ply",
        title="Where the discs go",
        caption="Mean discs that each agent gives away in a game, by band of plies, with 95 % "
        f"intervals over openings; to the right the mean time and depth of the same moves.{border}",
        chart=loss_chart(whole, sample, exact_from),
    )
    decided = parts[parts["result"].isin(RESULTS) & (parts["games"] >= _LEAST_GAMES)]
    if len(set(decided["result"])) > 1:
        yield drawing.ReportFigure(
            name="losses_by_result",
            title="Where the discs go, by result",
            caption="The same losses, separately for the games that an agent won, drew and lost. "
            f"Results with fewer than {_LEAST_GAMES} games of an agent are not drawn.",
            chart=result_chart(decided, sample, exact_from),
        )


def loss_chart(profile: pd.DataFrame, context: str = "", exact_from: int | None = None) -> Figure:
    """Draw losses by band of plies, and where they are known time and depth, a panel each.

    profile: one row an agent and band; columns ``agent``, ``plies``, ``loss_game`` with ``_low``
        and ``_high``, ``microseconds`` and ``depth``. Two agents and up to 12 bands read well.
    exact_from: the first ply with a solved move, marked by a dotted line.
    """
    drawing.check_frame(profile, ["agent", "plies", "loss_game", "microseconds", "depth"])
    panels = [_LOSS, *(panel for panel in (_TIME, _DEPTH) if profile[panel.measure].notna().any())]
    return _drawn(profile, [(panel, profile, "") for panel in panels], context, exact_from)


def result_chart(profile: pd.DataFrame, context: str = "", exact_from: int | None = None) -> Figure:
    """Draw losses by band of plies, a panel for each result.

    profile: one row an agent, result and band; columns as for :func:`loss_chart`, and ``result``.
    """
    drawing.check_frame(profile, ["agent", "result", "plies", "loss_game"])
    parts = [
        (_LOSS, rows, f"games that the agent {verb}")
        for result, verb in zip(RESULTS, ("won", "drew", "lost"), strict=True)
        if len(rows := profile[profile["result"] == result])
    ]
    return _drawn(profile, parts, context, exact_from)


def _drawn(
    profile: pd.DataFrame,
    parts: Sequence[tuple[_Panel, pd.DataFrame, str]],
    context: str,
    exact_from: int | None,
) -> Figure:
    bands = list(dict.fromkeys(profile["plies"]))
    styles = drawing.styled(dict.fromkeys(profile["agent"]))
    shared = len({panel for panel, _, _ in parts}) == 1
    with drawing.blank(width=1.5 + 4.2 * len(parts), height=4.8, context=context) as figure:
        grid = figure.subplots(1, len(parts), squeeze=False, sharey=shared)[0]
        for axes, (panel, frame, title) in zip(grid, parts, strict=True):
            _panel(axes, panel, frame, bands, styles)
            axes.set_title(title, fontsize="medium")
            if panel is _LOSS and exact_from is not None:
                axes.axvline(_position(exact_from, bands), color=GREY, linestyle=":")
            if not shared or axes is grid[0]:
                axes.set_ylabel(panel.label)
        for axes in grid:
            axes.set_ylim(bottom=0)
        names = {drawing.drawn(name): drawing.wrapped(name) for name, _ in styles}
        handles = dict(
            (label, handle)
            for axes in grid
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        )
        legend = figure.legend(
            handles.values(),
            [names[label] for label in handles],
            loc="outside lower center",
            ncols=2,
        )
        name_legend(legend, dict(styles))
    return figure


def _position(ply: int, bands: Sequence[str]) -> float:
    """Return the place of the beginning of a ply on an axis of bands."""
    for number, band in enumerate(bands):
        first, _, last = band.rpartition("-")
        begin, end = int(first or last), int(last)
        if ply <= end:
            return number - 0.5 + (ply - begin) / (end - begin + 1)
    return len(bands) - 0.5


def _panel(
    axes: Axes,
    panel: _Panel,
    frame: pd.DataFrame,
    bands: Sequence[str],
    styles: Sequence[tuple[str, dict]],
) -> None:
    for number, (name, style) in enumerate(styles):
        rows = frame[frame["agent"] == name].set_index("plies").reindex(bands)
        values = rows[panel.measure].to_numpy(dtype=float)
        if np.isnan(values).all():
            continue
        aside = np.arange(len(bands)) + _GAP * (number - (len(styles) - 1) / 2)
        spread, texts = None, [panel.text(value) for value in values]
        if panel is _LOSS:
            low, high = (rows[f"{panel.measure}_{end}"].to_numpy() for end in ("low", "high"))
            spread = np.nan_to_num(np.abs(np.stack([low, high]) - values))
            texts = [interval_text(*ends) for ends in zip(values, low, high, strict=True)]
        line = axes.errorbar(
            aside, values, yerr=spread, capsize=3, markersize=6, label=drawing.drawn(name), **style
        )
        title = points_title(name, zip(bands, texts, strict=True), "plies")
        annotate(line, name, title)
    labels = [band.replace("-", "\N{EN DASH}") for band in bands]
    axes.set_xticks(range(len(bands)), labels, rotation=45)
    axes.set_xlabel("plies")
    axes.grid(visible=False, axis="x")
    if panel is _TIME:
        axes.yaxis.set_major_formatter(FuncFormatter(drawing.axis_time))
