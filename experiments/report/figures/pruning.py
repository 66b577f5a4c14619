"""Pruning of alpha-beta, by depth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.external_agent import is_outside
from othello_lab.agents.search import SearchAgent
from othello_lab.core.position import Position
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.drawing import (
    SMALL,
    ReportFigure,
    blank,
    check_frame,
    coloured,
    decades,
    drawn,
    styled,
)
from othello_lab.experiments.report.figures.labels import label_ends
from othello_lab.experiments.report.figures.palette import BLUE, GREY
from othello_lab.experiments.report.figures.tooltips import plot_line
from othello_lab.experiments.report.searches import (
    ALGORITHMS,
    NODE_BUDGET,
    count_nodes,
    searched_positions,
)
from othello_lab.experiments.report.tables import marked, share_text

PRUNING_POSITIONS = 20
"""Positions of the run on which nodes are counted where all of them would be too many."""

MOST_POSITIONS = 6000
"""Positions up to which nodes are counted on all of them, if minimax's nodes allow it too."""


def pruning_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Nodes of minimax and alpha-beta, with the evaluations of the deepest searches of the run."""
    searchers = [agent for agent in facts.plan.agents.values() if isinstance(agent, SearchAgent)]
    depth = max((agent.depth for agent in searchers), default=0)
    if depth < 2:
        return
    evaluations = {
        agent.evaluation.name: agent.evaluation for agent in searchers if agent.depth == depth
    }
    positions, which = _positions(facts, depth, next(iter(evaluations.values())))
    if not positions:
        return
    parts: list[pd.DataFrame] = []
    for name, evaluation in evaluations.items():
        # Minimax visits the same nodes whatever the evaluation says.
        algorithms = list(ALGORITHMS)[1 if parts else 0 :]
        counted_nodes = count_nodes(positions, depth, evaluation, NODE_BUDGET, algorithms)
        parts.append(counted_nodes.assign(evaluation=name))
    counts = pd.concat(parts, ignore_index=True)
    if counts["depth"].max() < 2:
        return
    with_what = next(iter(evaluations)) if len(evaluations) == 1 else "each evaluation"
    foreign = _searches_from_outside(facts)
    context = f"{which} of {facts.context}"
    yield ReportFigure(
        name="pruning",
        title="Pruning efficiency",
        caption=f"Mean nodes of minimax and alpha-beta (moves from a1 to h8) on {which} of this "
        f"run, with {with_what}. The percentages are alpha-beta's share of minimax's nodes."
        + (
            f" Both are the lab's own: the nodes of {foreign} are under *Cost per agent*."
            * bool(foreign)
        ),
        chart=pruning_chart(
            counts,
            f"the lab's searches, not {foreign}: {context}" if foreign else context,
            _colours(facts, depth),
        ),
        data=counts,
    )


def _searches_from_outside(facts: RunFacts) -> str:
    """Return the names of agents from outside the lab that count nodes, in words."""
    rows = facts.standings
    counting = set(rows[rows["nodes_per_move"] > 0]["agent"])
    outside = [
        name for name, agent in facts.plan.agents.items() if name in counting and is_outside(agent)
    ]
    return " and ".join(outside)


def _colours(facts: RunFacts, depth: int) -> dict[str, Any]:
    """Of every evaluation the colour of the best agent that searches so deep with it."""
    colours = dict(coloured(facts.order))
    users = {marked(name, agent.selective): agent for name, agent in facts.searchers.items()}
    chosen: dict[str, Any] = {}
    for name in facts.order:
        if name in users and users[name].depth == depth:
            chosen.setdefault(users[name].evaluation.name, colours[name])
    return chosen


def _positions(facts: RunFacts, depth: int, evaluation: Evaluation) -> tuple[list[Position], str]:
    """Return the positions on which nodes are counted, and a description of them: all in which
    searches decided, or a sample."""

    def drawn_positions(count: int | str) -> list[Position]:
        sample = searched_positions(facts.record, count, facts.plan.settings.seed)
        return [position for _, position in sample]

    sample = drawn_positions(PRUNING_POSITIONS)
    sampled = sample, f"a sample of {counted(len(sample), 'position')}"
    ((number,),) = facts.record.rows(
        "select sum((black_nodes > 0) * black_moves + (white_nodes > 0) * white_moves) from games"
    )
    # The page of a match is about its moves, and should not take longer than the match.
    if not sample or number > MOST_POSITIONS or facts.plan.settings.judging.is_set:
        return sampled
    counts = count_nodes(sample, depth, evaluation, NODE_BUDGET)
    deepest = counts[(counts["algorithm"] == "minimax") & (counts["depth"] == depth)]
    if deepest.empty or deepest["nodes"].iloc[0] * number > NODE_BUDGET:
        return sampled
    every = drawn_positions("all")
    return every, f"all {counted(len(every), 'position')}"


def pruning_chart(
    counts: pd.DataFrame, context: str = "", colours: Mapping[str, Any] | None = None
) -> Figure:
    """Draw the nodes of minimax and alpha-beta at each depth, and alpha-beta's as a share of
    minimax's.

    counts: one row an algorithm, evaluation and depth; columns ``algorithm`` ("minimax" or
        "alpha-beta"), ``evaluation`` (its name; of minimax any), ``depth`` (plies), ``nodes`` (mean
        a position, more than 0) and ``positions`` (int). Up to 15 evaluations read well.
    context: the line above. colours: of each evaluation, if there are several.

    Raises ValueError for another frame.
    """
    check_frame(counts, ["algorithm", "evaluation", "depth", "nodes", "positions"])
    strange = set(counts["algorithm"]) - {"minimax", "alpha-beta"}
    if strange:
        raise ValueError(f"algorithm {sorted(strange)[0]!r}: minimax or alpha-beta is needed")
    minimax = counts[counts["algorithm"] == "minimax"].set_index("depth")["nodes"]
    pruned = {
        name: rows.set_index("depth")["nodes"]
        for name, rows in counts[counts["algorithm"] == "alpha-beta"].groupby("evaluation")
    }
    several = len(pruned) > 1
    with blank(width=10 if several else 8, context=context) as figure:
        axes = figure.add_subplot()
        tooltip = "{:,.0f} nodes", "depth"
        if len(minimax):
            label = "minimax" if several else f"minimax, {drawn(counts['evaluation'].iloc[0])}"
            look: Any = {"label": label, "color": GREY, "marker": "s", "markersize": 7}
            plot_line(axes, "minimax", minimax.index, minimax, *tooltip, **look)
        looks = _looks(pruned, colours or {})
        # the dearest first, as the lines lie
        for name in sorted(pruned, key=lambda name: -pruned[name].iloc[-1]):
            nodes = pruned[name]
            label = name if several else f"alpha-beta, {drawn(name)}"
            look = {"label": label, "markersize": 7, **looks[name]}
            plot_line(axes, name, nodes.index, nodes, *tooltip, **look)
            if not several:
                for depth, ratio in (nodes / minimax).dropna().items():
                    _ratio(axes, float(depth), float(nodes[depth]), float(ratio))
        _pruning_axes(axes, counts)
        if several:
            ratios = {name: _last_ratio(nodes, minimax) for name, nodes in pruned.items()}
            label_ends(axes, {"minimax": {"color": GREY}, **looks}, ratios)
        else:
            axes.legend(loc="upper left")
        figure.supxlabel(_pruning_note(counts, minimax, several), fontsize=SMALL, color=GREY)
    return figure


def _looks(pruned: Iterable[str], colours: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the style of each evaluation's line: blue if it is the only one."""
    styles = dict(styled(pruned))
    if len(styles) == 1:
        return {name: {"color": BLUE, "marker": "o"} for name in styles}
    return {
        name: {**style, "color": colours.get(name, style["color"])}
        for name, style in styles.items()
    }


def _pruning_axes(axes: Axes, counts: pd.DataFrame) -> None:
    decades(axes)
    axes.margins(x=0.08)
    # Whole decades, with room below for a label.
    low, high = math.log10(counts["nodes"].min() / 2), math.log10(counts["nodes"].max() * 1.3)
    axes.set_ylim(10.0 ** math.floor(low), 10.0 ** math.ceil(high))
    axes.set_xticks(sorted(set(counts["depth"])))
    axes.set_xlabel("search depth (plies)")
    axes.set_ylabel("nodes per position (log scale)")


def _last_ratio(nodes: pd.Series, minimax: pd.Series) -> str:
    """Return alpha-beta's nodes as a share of minimax's at the deepest depth of both."""
    ratios = (nodes / minimax).dropna()
    return f": {share_text(ratios.iloc[-1])}" if len(ratios) else ""


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


def _pruning_note(counts: pd.DataFrame, minimax: pd.Series, several: bool) -> str:
    """Return a note on the labels, the number of positions, and the last depth of minimax."""
    few, many = counts["positions"].min(), counts["positions"].max()
    number = f"{few:,} to {many:,} positions" if few != many else counted(many, "position")
    note = f"means over {number}"
    if len(minimax) and (counts["algorithm"] == "alpha-beta").any():
        deepest = int(minimax.index.max())
        where = f" at depth {deepest}" if several else ""
        note = f"%: alpha-beta's nodes / minimax's{where}; {note}"
        if deepest < counts["depth"].max():
            note += f"\nminimax was searched to depth {deepest} only: deeper is too expensive"
    return note
