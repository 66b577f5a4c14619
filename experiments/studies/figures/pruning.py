"""Pruning of searches: leaves, efficiency and branching factor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from othello_lab.experiments.report.figures import drawing
from othello_lab.experiments.report.figures.labels import label_ends
from othello_lab.experiments.report.figures.palette import GREY
from othello_lab.experiments.report.figures.tooltips import SHADED, plot_line, shade, shaded_note
from othello_lab.experiments.report.searches import sample_text
from othello_lab.experiments.studies.efficiency import ALL, FLOOR, MINIMAX, is_reference, of_agents
from othello_lab.experiments.studies.positions import PHASES


def pruning_figures(costs: pd.DataFrame, ruleset: str) -> Iterator[drawing.ReportFigure]:
    """Yield the figures of a table of :func:`experiments.studies.efficiency.summary`."""
    whole = costs[costs["phase"] == ALL]
    sample = f"{sample_text(whole)}, {ruleset}"
    on = f"on the same {sample_text(whole)}"
    deepest = int(costs["depth"].max())
    yield drawing.ReportFigure(
        name="tree_sizes",
        title="Nodes and leaves by depth",
        caption=f"Means a position {on}. Left: all positions entered. Right: the leaves alone. The "
        "floor is the smallest tree that proves the value: no search without a table has fewer "
        "leaves.",
        chart=sizes_chart(whole, sample),
    )
    if whole["efficiency"].notna().any():
        yield drawing.ReportFigure(
            name="efficiency",
            title="Efficiency of pruning by depth",
            caption=f"0 is minimax's tree, 1 the smallest that proves the value, by the logarithms "
            f"of their leaves, {on}. Below 0 a search looks at more leaves than minimax: it "
            "searches positions several times. Above 1 its table saves more than "
            "any proof without a table." + shaded_note(of_agents(whole)["agent"].nunique()),
            chart=efficiency_chart(whole, sample),
        )
    if (costs["phase"] != ALL).any():
        yield drawing.ReportFigure(
            name="branching",
            title="Branching factor by phase of the game",
            caption=f"The effective branching factor at depth {deepest}: the number of "
            f"moves at each node of an even tree with the same number of leaves, {on}. For minimax "
            "it is the number of moves of a position.",
            chart=branching_chart(
                costs[(costs["phase"] != ALL) & (costs["depth"] == deepest)],
                f"{sample}, {deepest} plies",
            ),
        )


def _styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the style of each search: references in grey, agents in colours."""
    different = list(dict.fromkeys(names))
    agents = [name for name in different if not is_reference(name)]
    styles = {name: {**style, "markersize": 5} for name, style in drawing.styled(agents)}
    for name in different:
        if is_reference(name):
            dashes = ":" if name.startswith(FLOOR) else "--"
            styles[name] = {"color": GREY, "linestyle": dashes, "linewidth": 2}
    return styles


def sizes_chart(costs: pd.DataFrame, context: str = "") -> Figure:
    """Nodes and leaves of every search by depth.

    costs: one row an agent and depth; columns ``agent``, ``depth`` (plies), ``nodes`` and
        ``leaves`` (means a position; nan for the nodes of the smallest tree). Up to 15 agents read
        well.
    """
    drawing.check_frame(costs, ["agent", "depth", "nodes", "leaves"])
    styles = _styles(costs["agent"])
    with drawing.blank(width=11, height=5, context=context) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for axes, measure in ((left, "nodes"), (right, "leaves")):
            _lines(axes, costs, measure, styles)
            drawing.decades(axes)
            axes.set_ylabel(f"{measure} a position (log scale)")
            axes.yaxis.set_tick_params(labelleft=True)
        label_ends(right, styles)
    return figure


def efficiency_chart(costs: pd.DataFrame, context: str = "") -> Figure:
    """The efficiency of every search by depth, with its interval.

    costs: one row an agent and depth; columns ``agent``, ``depth``, ``efficiency``,
        ``efficiency_low`` and ``efficiency_high``; nan where there is none.
    """
    drawing.check_frame(
        costs, ["agent", "depth", "efficiency", "efficiency_low", "efficiency_high"]
    )
    rows = of_agents(costs)
    styles = _styles(costs["agent"])
    with drawing.blank(width=8.5, context=context) as figure:
        axes = figure.add_subplot()
        axes.axhline(1, color=GREY, linestyle=":", linewidth=2)
        axes.axhline(0, color=GREY, linestyle="--", linewidth=2)
        _lines(axes, rows, "efficiency", styles)
        for name, group in rows.groupby("agent", sort=False):
            if len(set(rows["agent"])) <= SHADED:
                ordered = group.sort_values("depth")
                ends = ordered["efficiency_low"], ordered["efficiency_high"]
                shade(axes, name, ordered["depth"], *ends, styles[str(name)]["color"])
        for height, what in ((1, FLOOR), (0, MINIMAX)):
            axes.annotate(
                what,
                (0, height),
                (4, 3),
                xycoords=axes.get_yaxis_transform(),
                textcoords="offset points",
                fontsize=drawing.SMALL,
                color=GREY,
            )
        axes.set_ylabel("efficiency")
        label_ends(axes, styles)
    return figure


def branching_chart(costs: pd.DataFrame, context: str = "") -> Figure:
    """The effective branching factor of every search by phase of the game.

    costs: one row an agent and phase; columns ``agent``, ``phase`` and ``ebf``.
    """
    drawing.check_frame(costs, ["agent", "phase", "ebf"])
    phases = [phase for phase in PHASES if phase in set(costs["phase"])]
    styles = _styles(costs["agent"])
    numbered = costs.assign(depth=costs["phase"].map({p: n for n, p in enumerate(phases)}))
    with drawing.blank(width=8.5, context=context) as figure:
        axes = figure.add_subplot()
        _lines(axes, numbered, "ebf", styles)
        axes.set_xticks(range(len(phases)), phases)
        axes.set_xlabel("phase of the game")
        axes.set_ylabel("effective branching factor")
        axes.set_ylim(bottom=0)
        label_ends(axes, styles)
    return figure


def _lines(axes: Axes, costs: pd.DataFrame, measure: str, styles: dict[str, Any]) -> None:
    for name, group in costs.dropna(subset=[measure]).groupby("agent", sort=False):
        ordered = group.sort_values("depth")
        by, style = "depth" if measure != "ebf" else "phase", styles[str(name)]
        plot_line(axes, name, ordered["depth"], ordered[measure], "{:,.3g}", by, **style)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("search depth (plies)")
