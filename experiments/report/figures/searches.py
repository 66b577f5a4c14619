"""Costs of each search on the same positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
from matplotlib.figure import Figure

from othello_lab.experiments.report.facts import RunFacts, marked_names
from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    blank,
    check_frame,
    coloured,
    column,
    decades,
    drawn,
    log_scale,
    row_chart,
    styled,
)
from othello_lab.experiments.report.figures.labels import label_ends
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.figures.tooltips import plot_line, shade
from othello_lab.experiments.report.question import Question
from othello_lab.experiments.report.searches import sample_text
from othello_lab.experiments.report.tables import by_agent, share_text


def searches_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Nodes of every search, by depth where several depths were asked for."""
    if facts.costs is None:
        return
    costs = facts.costs.assign(agent=marked_names(facts.costs))
    if facts.question is not Question.COST or facts.plan.settings.searches.depths:
        costs = by_agent(costs, facts.order)
    plan, baseline = facts.plan, facts.plan.settings.searches.baseline
    ends = dict.fromkeys(f"{depth}" for depth in (costs["depth"].min(), costs["depth"].max()))
    ratios = f", with ratios to {baseline} and their 95 % intervals" if baseline else ""
    yield ReportFigure(
        name="searches",
        title="What each search costs",
        caption=f"Mean nodes of every search on the same {sample_text(costs)} of this "
        f"run, without any memory of the others. The table is "
        f"in searches.csv{ratios}.",
        chart=depth_chart(costs, baseline, plan.rules.name, facts.order)
        if plan.settings.searches.depths
        else cost_chart(costs, f"depth {' to '.join(ends)}", plan.rules.name, facts.order),
    )


def cost_chart(
    costs: pd.DataFrame, subtitle: str, ruleset: str = "standard", order: Sequence[str] = ()
) -> Figure:
    """Draw the nodes of every search on the same positions, one dot an agent, in the order given.

    costs: one row an agent; columns ``agent`` (str), ``nodes`` (mean a position, more than 0),
        ``positions``, ``openings`` (int) and ``depth``. 2 to 30 rows read well; the figure grows
        with them.
    subtitle: settings that the searches share. ruleset: its name. order: all agents of the report,
        for their colours.

    The nodes, and their share of the largest number, are repeated at the right.
    """
    check_frame(costs, ["agent", "nodes", "positions", "openings", "depth"])
    nodes = costs["nodes"].to_numpy()
    context = f"{sample_text(costs)}, {ruleset}, {subtitle}"
    with row_chart(costs["agent"], context) as (figure, axes, rows):
        colours = dict(coloured(costs["agent"], order))
        for row, name, count in zip(rows, costs["agent"], nodes, strict=True):
            # a log scale has no 0 for bars
            dot = axes.plot(count, row, "o", markersize=7, color=colours[name], zorder=3)
            annotate(dot, name, f"{name}\n{count:,.1f} nodes a position")
        log_scale(axes, nodes.min(), nodes.max(), lambda value: f"{value:,.0f}")
        axes.set_xlabel("nodes a position (log scale)")
        column(axes, "nodes", rows, [f"{count:,.0f}" for count in nodes], offset=60)
        column(
            axes, "share", rows, [share_text(share) for share in nodes / nodes.max()], offset=110
        )
    return figure


def depth_chart(
    costs: pd.DataFrame,
    baseline: str | None = None,
    ruleset: str = "standard",
    order: Sequence[str] = (),
) -> Figure:
    """Nodes of every search by depth, or their ratio to one search's, with its 95 % interval.

    costs: one row an agent and depth; columns ``agent``, ``depth`` (plies), ``positions`` and
        ``openings`` (int), ``nodes`` (mean a position), and with a baseline ``nodes_ratio``,
        ``nodes_low`` and ``nodes_high``.
    order: all agents of the report, for their colours.
    """
    measure = "nodes_ratio" if baseline else "nodes"
    ends = ["nodes_low", "nodes_high"] if baseline else []
    check_frame(costs, ["agent", "depth", "positions", "openings", "nodes", measure, *ends])
    with blank(context=f"{sample_text(costs)}, {ruleset}") as figure:
        axes = figure.add_subplot()
        styles = styled(costs["agent"], order)
        for name, style in styles:
            rows = costs[costs["agent"] == name].sort_values("depth")
            plot_line(axes, name, rows["depth"], rows[measure], "{:,.3g}", "depth", **style)
            if baseline:
                low, high = (rows[end] for end in ends)
                shade(axes, name, rows["depth"], low, high, style["color"])
        axes.set_xticks(sorted(set(costs["depth"])))
        axes.set_xlabel("search depth (plies)")
        if baseline:
            axes.set_ylim(bottom=0)
            axes.set_ylabel(drawn(f"nodes, {baseline} = 1"))
        else:
            decades(axes)
            axes.set_ylabel("nodes a position (log scale)")
        label_ends(axes, dict(styles))
    return figure
