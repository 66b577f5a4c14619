"""How much alpha-beta prunes, by depth."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from agents.search import SearchAgent
from experiments.report.facts import RunFacts
from experiments.report.figures.base import (
    BLUE,
    GREY,
    ORANGE,
    SMALL,
    ReportFigure,
    blank,
    check_frame,
    drawn,
    share_text,
)
from experiments.studies.searches import count_nodes, searched_positions

PRUNING_POSITIONS = 20
"""Positions of the run on which nodes are counted."""


def pruning_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Nodes of minimax and alpha-beta, with the evaluation of the deepest search of the run."""
    searchers = [agent for agent in facts.plan.agents.values() if isinstance(agent, SearchAgent)]
    deepest = max(searchers, key=lambda agent: agent.depth, default=None)
    if deepest is None or deepest.depth < 2:
        return
    sample = searched_positions(facts.record, PRUNING_POSITIONS, facts.plan.settings.seed)
    positions = [position for _, position in sample]
    counts = count_nodes(positions, deepest.depth, deepest.evaluation)
    if counts["depth"].max() < 2:
        return
    name = deepest.evaluation.name
    yield ReportFigure(
        name="pruning",
        title="Pruning efficiency",
        caption=f"Mean nodes of minimax and alpha-beta (moves from a1 to h8) on the same "
        f"{len(positions)} positions of this run, with {name}. The percentages are alpha-beta's "
        "share of minimax's nodes.",
        chart=pruning_chart(counts, subtitle=name),
        data=counts,
    )


def pruning_chart(counts: pd.DataFrame, subtitle: str) -> Figure:
    """How many nodes minimax and alpha-beta search at each depth, and how many of a hundred of
    minimax's alpha-beta still needs.

    counts: one row an algorithm and depth; columns ``algorithm`` ("minimax" or "alpha-beta"),
        ``depth`` (plies), ``nodes`` (mean a position, more than 0) and ``positions`` (int).
    subtitle: what was searched with, for example the evaluation's name.

    Raises ValueError for another frame.
    """
    check_frame(counts, ["algorithm", "depth", "nodes", "positions"])
    strange = set(counts["algorithm"]) - {"minimax", "alpha-beta"}
    if strange:
        raise ValueError(f"algorithm {sorted(strange)[0]!r}: minimax or alpha-beta is needed")
    nodes = counts.pivot_table(index="depth", columns="algorithm", values="nodes", aggfunc="mean")
    with blank() as figure:
        axes = figure.add_subplot()
        sns.lineplot(
            counts,
            x="depth",
            y="nodes",
            hue="algorithm",
            style="algorithm",
            palette={"minimax": ORANGE, "alpha-beta": BLUE},
            markers={"minimax": "s", "alpha-beta": "o"},
            dashes=False,
            markersize=7,
            errorbar=None,
            ax=axes,
        )
        axes.set_yscale("log")
        axes.margins(x=0.08)
        # Whole decades, with room below for a label.
        low, high = math.log10(counts["nodes"].min() / 2), math.log10(counts["nodes"].max() * 1.3)
        axes.set_ylim(10.0 ** math.floor(low), 10.0 ** math.ceil(high))
        axes.set_xticks(nodes.index)
        axes.yaxis.set_major_locator(LogLocator(numticks=12))
        axes.set_xlabel("search depth (plies)")
        axes.set_ylabel("nodes per position (log scale)")
        axes.set_title(f"Nodes searched by minimax and alpha-beta\n{drawn(subtitle)}")
        axes.legend(title=None, loc="upper left")
        if len(nodes.columns) == 2:
            both = nodes.dropna()
            for depth, ratio in (both["alpha-beta"] / both["minimax"]).items():
                _ratio(axes, float(depth), float(both.loc[depth, "alpha-beta"]), float(ratio))
        figure.supxlabel(_pruning_note(counts, nodes), fontsize=SMALL, color=GREY)
    return figure


def _ratio(axes: Axes, depth: float, nodes: float, ratio: float) -> None:
    """The share of minimax's nodes, right below alpha-beta's point."""
    axes.annotate(
        share_text(ratio),
        (depth, nodes),
        xytext=(3, -5),
        textcoords="offset points",
        ha="left",
        va="top",
        fontsize=SMALL,
        color=BLUE,
    )


def _pruning_note(counts: pd.DataFrame, nodes: pd.DataFrame) -> str:
    """What the labels mean, how many positions were searched, and where minimax stopped."""
    few, many = counts["positions"].min(), counts["positions"].max()
    number = f"{few:,}" if few == many else f"{few:,} to {many:,}"
    note = f"means over {number} positions"
    if len(nodes.columns) == 2:
        note = f"labels: alpha-beta's nodes / minimax's; {note}"
        deepest = int(nodes["minimax"].dropna().index.max())
        if deepest < nodes.index.max():
            note += f"\nminimax was searched to depth {deepest} only: deeper is too expensive"
    return note
