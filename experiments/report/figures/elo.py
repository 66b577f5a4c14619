"""Ratings with their intervals: one figure for each part of the pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from othello_lab.experiments.report.facts import RunFacts, marked_names, zero_text
from othello_lab.experiments.report.figures.drawing import (
    MINUS,
    ReportFigure,
    check_frame,
    coloured,
    column,
    drawn,
    row_chart,
)
from othello_lab.experiments.report.figures.palette import GREY
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.figures.tooltips import standing_title
from othello_lab.experiments.statistics.intervals import interval_text


def elo_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """The ratings of each part of the pool."""
    standings = facts.standings.assign(agent=marked_names(facts.standings))
    for part, (members, ratings) in enumerate(facts.parts):
        if ratings.split.all():
            continue  # all at 0, without intervals
        anchor = "" if ratings.anchor is None else facts.names[members[ratings.anchor]]
        rows = standings[standings["part"] == part]
        bounds = " Arrows: at least, or at most, so much." if (rows["bound"] != "").any() else ""
        yield ReportFigure(
            name=f"elo_{part + 1}" if part else "elo",
            title=f"Elo, pool {part + 1}" if len(facts.parts) > 1 else "Elo",
            caption=f"Bradley-Terry ratings over all games; {zero_text(anchor)} is 0. Bars are "
            "95 % intervals from a bootstrap over the openings, which all pairings share. 100 "
            f"points more is an expected score of 64 %.{bounds}",
            chart=elo_chart(rows, anchor, facts.context, facts.order),
        )


def elo_chart(
    standings: pd.DataFrame, anchor: str = "", context: str = "", order: Sequence[str] = ()
) -> Figure:
    """Draw every agent's rating with its 95 % interval, one row an agent, in the order given (best
    first, at the top).

    standings: one row an agent; columns ``agent`` (str), ``elo``, ``low``, ``high`` (Elo),
        ``bound`` ("" for a rating, ">" or "<" if ``elo`` is only a limit), ``split`` (bool:
        all pairs were shared evenly, so there is no interval) and ``games`` (int); ``low`` and
        ``high`` are nan where no interval can be given. 1 to 30 rows
        read well; the figure grows with them.
    anchor: the agent rated 0; if none is, the mean of the pool is. context: the line above.
    order: all agents of the report, for their colours.

    The values are repeated in words at the right. Raises ValueError for another frame.
    """
    check_frame(standings, ["agent", "elo", "low", "high", "bound", "split", "games"])
    with row_chart(standings["agent"], context) as (figure, axes, rows):
        axes.axvline(0, color=GREY, linewidth=1)
        ratings = standings[["elo", "low", "high", "bound", "split"]].to_numpy()
        values = []
        titles = {row["agent"]: standing_title(row) for row in standings.to_dict("records")}
        colours = dict(coloured(standings["agent"], order))
        for row, name, rating in zip(rows, standings["agent"], ratings, strict=True):
            elo, low, high, bound, split = rating
            known = not split and not np.isnan(low)
            ends = (low, high) if known else (elo, elo)
            drawn_parts = _rating(axes, row, colours[name], bound, elo, *ends)
            annotate(drawn_parts, name, titles[name])
            values.append("every pair\nsplit" if split else _value(elo, low, high, bound))
        axes.set_xlim(*_elo_limits(standings))
        axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
        bounds = standings["bound"]
        pool = "pool" if all(bounds) or not any(bounds) else "pool without bounds"
        axes.set_xlabel(drawn(f"Elo (95 % interval, {anchor or f'mean of the {pool}'} = 0)"))
        column(axes, "Elo", rows, values, offset=108)
        column(axes, "games", rows, [f"{games:,}" for games in standings["games"]], offset=150)
    return figure


def _value(elo: float, low: float, high: float, bound: str) -> str:
    """A rating in words, with a true minus: "+123 [103, 145]", or "> +620"."""
    if not bound and elo == low == high == 0:
        return "0"
    return interval_text(elo, low, high, bound).replace("-", MINUS)


def _rating(
    axes: Axes, row: float, colour: Any, bound: str, elo: float, low: float, high: float
) -> list[Any]:
    """One agent's point with its interval, or its limit with an arrow to the open side."""
    if not bound:
        spread = [[elo - low], [high - elo]]
        look: Any = {"fmt": "o", "color": colour, "capsize": 3, "markersize": 6}
        return [axes.errorbar(elo, row, xerr=spread, **look)]
    limit = axes.plot(elo, row, marker="|", markersize=9, markeredgewidth=2, color=colour)
    arrow = axes.annotate(
        "",
        (elo, row),
        xytext=(24 if bound == ">" else -24, 0),
        textcoords="offset points",
        arrowprops={"arrowstyle": "<|-", "color": colour, "shrinkA": 0, "shrinkB": 0},
    )
    return [limit, arrow.arrow_patch]


def _elo_limits(standings: pd.DataFrame) -> tuple[float, float]:
    """The ends of the Elo axis: all intervals, zero, and room for an arrow; at least 20 points."""
    values = standings[["elo", "low", "high"]]
    low, high = min(0.0, values.min(axis=None)), max(0.0, values.max(axis=None))
    margin = max((0.12 if any(standings["bound"]) else 0.06) * (high - low), 10)
    return low - margin, high + margin
