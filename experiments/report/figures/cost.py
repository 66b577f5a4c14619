"""Strength against cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from othello_lab.experiments.report.facts import RunFacts, zero_text
from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    arrange,
    axis_time,
    blank,
    check_frame,
    log_scale,
    styled,
    wrapped,
)
from othello_lab.experiments.report.figures.labels import LabelledPoint, name_dots, name_legend
from othello_lab.experiments.report.figures.palette import GREY
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.figures.tooltips import standing_title

COSTS = {"microseconds": "mean time a move", "nodes_per_move": "mean nodes a move"}
"""What is compared: columns of the standings, and what they are."""

_LEGEND_ROWS = 24


def cost_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """The ratings of each part of the pool, by the time and the nodes that a move took."""
    table = facts.standings.assign(agent=facts.order)
    for part, rows in table[table["microseconds"] > 0].groupby("part"):
        number = int(str(part))
        if number < 0 or len(rows) < 2 or rows["split"].all():
            continue
        anchor = facts.parts[number][1].anchor
        zero = zero_text(None if anchor is None else facts.anchor)
        pool = f" {number + 1}" if len(facts.parts) > 1 else ""
        yield ReportFigure(
            name=f"cost_{number + 1}" if number else "cost",
            title=f"Elo against cost{', pool' if pool else ''}{pool}",
            caption=f"Elo against the cost of a move; {zero} is 0 Elo. Bars are 95 % "
            "intervals, triangles bounds. On the line, and in bold, are the agents that no other "
            "agent of the same or a lower cost outrates (the Pareto front).",
            chart=elo_cost_chart(rows, facts.context, facts.order),
        )


def elo_cost_chart(ratings: pd.DataFrame, context: str = "", order: Sequence[str] = ()) -> Figure:
    """Draw Elo against the mean time of a move, and, if at least two agents count nodes, against
    those.

    ratings: one row an agent; columns ``agent``, ``elo``, ``low``, ``high`` (Elo; the last two may
        be nan), ``bound`` ("", ">" or "<"), ``microseconds`` (more than 0) and ``nodes_per_move``
        (0 or nan of an agent that counts none). 2 to 30 agents read well.
    context: the line above. order: all agents of the report, for their colours.
    """
    check_frame(ratings, ["agent", "elo", "low", "high", "bound", *COSTS])
    shown = [cost for cost in COSTS if (ratings[cost] > 0).sum() > 1]
    styles = dict(styled(ratings["agent"], order))
    with blank(width=1.2 + 4.2 * len(shown), height=5.2, context=context) as figure:
        grid = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        fronts: dict[str, set[str]] = {}
        for axes, cost in zip(grid, shown, strict=True):
            rows = ratings[ratings[cost] > 0]
            front = pareto(rows[cost].to_numpy(dtype=float), surely(rows))
            fronts[cost] = set(rows["agent"].to_numpy()[front])
            best = rows.iloc[front]
            axes.step(best[cost], best["elo"], where="post", color=GREY, linewidth=1, zorder=1)
            for row in rows.to_dict("records"):
                part = _point(axes, row, row[cost], styles[row["agent"]])
                annotate(part, row["agent"], standing_title(row))
            _label_cost(axes, cost, rows[cost])
        grid[0].set_ylabel("Elo (95 % interval)")
        best = set().union(*fronts.values())
        if _name_agents(figure, dict(zip(shown, grid, strict=True)), ratings, best):
            for text in [text for axes in grid for text in axes.texts]:
                text.remove()
            columns = math.ceil(len(styles) / _LEGEND_ROWS)
            figure.set_size_inches(figure.get_figwidth() + 2.7 * columns, figure.get_figheight())
            _add_legend(figure, styles, best, columns)
            _name_agents(figure, dict(zip(shown, grid, strict=True)), ratings, best)
    return figure


def surely(ratings: pd.DataFrame) -> np.ndarray:
    """Return a safe value of each rating (columns ``elo`` and ``bound``), for :func:`pareto`. A
    bound is no rating: an agent that lost everything is worth less than all others, one that won
    everything more."""
    known = ratings["elo"].to_numpy(dtype=float)
    bound, most = ratings["bound"].to_numpy(), np.finfo(float).max
    return np.select([bound == "<", bound == ">"], [-most, most], known)


def pareto(cost: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Return the places on the Pareto front, by rising cost: all that cost no more are worth less.

    >>> pareto(np.array([3.0, 1, 2, 2]), np.array([9.0, 5, 4, 7]))
    array([1, 3, 0])
    """
    order = np.lexsort((-worth, cost))
    before = np.maximum.accumulate(np.append(-np.inf, worth[order][:-1]))
    return order[worth[order] > before]


def _name_agents(
    figure: Figure, panels: dict[str, Axes], ratings: pd.DataFrame, best: set[str]
) -> set[str]:
    """Name agents beside their dots; return the names without room in any panel."""
    arrange(figure)
    missing = set(ratings["agent"])
    for cost, axes in panels.items():
        rows = ratings[ratings[cost] > 0]
        dots = [
            LabelledPoint(row.agent, x, row.elo, row.agent in best, _bar_ends(row))
            for x, row in zip(rows[cost].astype(float), rows.itertuples(), strict=True)
        ]
        missing &= name_dots(axes, dots) | (missing - set(rows["agent"]))
    return missing


def _bar_ends(row: Any) -> tuple[float, float] | None:
    return None if row.bound or math.isnan(row.low) else (float(row.low), float(row.high))


def _add_legend(
    figure: Figure, styles: dict[str, dict[str, Any]], best: set[str], columns: int
) -> None:
    """Name all agents right of the axes, those of the front in bold letters."""
    marks = [
        Line2D([], [], color=style["color"], marker=style["marker"], linestyle="none")
        for style in styles.values()
    ]
    names = [wrapped(name) for name in styles]
    legend = figure.legend(marks, names, loc="outside right center", ncols=columns)
    name_legend(legend, styles)
    for text, name in zip(legend.get_texts(), styles, strict=True):
        if name in best:
            text.set_fontweight("bold")


def _point(axes: Axes, row: dict[str, Any], cost: float, style: dict[str, Any]) -> list[Any]:
    """One agent; where it has a bound only, a triangle points to the open side."""
    known = not row["bound"] and not math.isnan(row["low"])
    ends = [[row["elo"] - row["low"]], [row["high"] - row["elo"]]] if known else None
    look: Any = {"color": style["color"], "marker": style["marker"], "markersize": 7}
    look |= {"capsize": 2, "linewidth": 1.2, "linestyle": "none"}
    parts: list[Any] = [axes.errorbar(cost, row["elo"], yerr=ends, **look)]
    if row["bound"]:
        arrow = "^" if row["bound"] == ">" else "v"
        parts += axes.plot(cost, row["elo"], arrow, color=style["color"], markersize=12)
    return parts


def _label_cost(axes: Axes, cost: str, values: pd.Series) -> None:
    texts = {"microseconds": axis_time, "nodes_per_move": "{:,.0f}".format}
    log_scale(axes, values.min(), values.max(), texts[cost])
    axes.set_xlabel(f"{COSTS[cost]} (log scale)")
