"""The figure of the study of scaling."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from othello_lab.experiments.report.figures import drawing
from othello_lab.experiments.report.figures.labels import name_legend
from othello_lab.experiments.report.figures.svg import annotate


def scaling_chart(levels: pd.DataFrame, by: str, context: str = "") -> Figure:
    """Rating by level of effort, and where they are known by nodes and time, a panel each.

    levels: one row an agent and level; columns ``agent``, ``level`` (in units of ``by``), ``elo``,
        ``low``, ``high``, ``nodes_per_move`` and ``microseconds``. Up to 10 agents read well.
    """
    drawing.check_frame(
        levels, ["agent", "level", "elo", "low", "high", "nodes_per_move", "microseconds"]
    )
    panels = {"level": f"{by} a move" if by != "depth" else "depth, plies"}
    for column_, words in (("nodes_per_move", "mean nodes"), ("microseconds", "mean time")):
        if (levels[column_] > 0).any():
            panels[column_] = f"{words} a move"
    styles = drawing.styled(dict.fromkeys(levels["agent"]))
    with drawing.blank(width=3 + 3.2 * len(panels), height=4.6, context=context) as figure:
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (effort, label) in zip(grid, panels.items(), strict=True):
            for name, style in styles:
                rows = levels[(levels["agent"] == name) & (levels[effort] > 0)]
                rows = rows.sort_values(effort)
                ends = np.abs(np.stack([rows["low"], rows["high"]]) - rows["elo"].to_numpy())
                part = axes.errorbar(
                    rows[effort], rows["elo"], yerr=ends, capsize=2, markersize=6,
                    label=drawing.drawn(name), **style,
                )  # fmt: skip
                annotate(part, name, name)
            axes.set_xscale("log", base=2)
            if effort == "level":
                axes.set_xticks(sorted(set(levels["level"])))
                axes.minorticks_off()
            text = drawing.axis_time if effort == "microseconds" else _plainly
            axes.xaxis.set_major_formatter(FuncFormatter(text))
            axes.set_xlabel(label)
            axes.margins(x=0.08)
            if effort != "level":
                axes.tick_params(axis="x", rotation=45)
        grid[0].set_ylabel("Elo (95 % interval)")
        lines, labels = grid[0].get_legend_handles_labels()
        names = [drawing.wrapped(label) for label in labels]
        name_legend(figure.legend(lines, names, loc="outside right center"), dict(styles))
    return figure


def _plainly(value: float, _: object = None) -> str:
    """A number at a tick: ``0.01``, ``250``, ``12k``."""
    if value >= 10_000:
        return f"{value / 1e6:,.3g}M" if value >= 1e6 else f"{value / 1e3:,.3g}k"
    return f"{value:,.4g}"
