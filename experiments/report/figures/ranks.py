"""Mean ranks over openings, and their certain differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.drawing import (
    SMALL,
    ReportFigure,
    blank,
    coloured,
    drawn,
    entitle,
)
from othello_lab.experiments.report.figures.palette import GREY, INK
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.statistics.ranks import MeanRanks, mean_ranks

LEAST_AGENTS = 3
LEAST_OPENINGS = 10
"""With less the test finds next to nothing, and its probabilities are rough."""

_SPACE = "\N{NO-BREAK SPACE}"  # browsers draw several plain ones as one
_ROW, _BAR, _LONGEST = 0.24, 0.11, 40  # inches of a name and of a group's bar; letters of a name


def ranks_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of the mean ranks over those openings from which all agents met all others
    equally often."""
    scores = facts.scores
    times = scores.times[scores.full]
    if len(facts.names) < LEAST_AGENTS or times.sum() < LEAST_OPENINGS:
        return
    found = mean_ranks(scores.points[scores.full].sum(axis=2), times)
    if found.chi2 == 0:
        return
    probability = f"{found.probability:.2g}" if found.probability >= 0.001 else "less than 0.001"
    yield ReportFigure(
        name="ranks",
        title="Critical difference",
        caption=f"Mean ranks by the points from each of {counted(found.openings, 'opening')} from "
        "which all met all others; 1 is best. A bar joins agents with mean ranks less than the "
        "critical difference apart (Nemenyi's test, 5 % for all comparisons together). This test "
        "uses less than the ratings: only the order of the agents from an opening, and it allows "
        "for all comparisons at once. So the interval of their difference in Elo may still tell "
        "joined agents apart. If all were equally good, ranks as different as these would have a "
        f"probability of {probability} (Friedman's test).",
        chart=ranks_chart(facts.names, found, facts.context, facts.order),
    )


def ranks_chart(
    names: Sequence[str], found: MeanRanks, context: str = "", order: Sequence[str] = ()
) -> Figure:
    """Draw a critical-difference diagram (Demsar 2006): agents at their mean ranks, the better half
    named at the left, and bars that join agents without a certain difference.

    names: of the agents, as ``found`` has them; 3 to 60 read well. context: the line above. order:
    all agents of the report, for their colours.
    """
    agents, colours = len(names), dict(coloured(names, order))
    best_first = np.argsort(found.ranks, kind="stable")
    groups = found.groups()
    left = best_first[: (agents + 1) // 2]
    right = best_first[(agents + 1) // 2 :][::-1]
    top = 0.25 + _BAR * len(groups)  # inches below the axis where the names begin
    height = top + _ROW * len(left)
    with blank(width=9, height=height + 1.2) as figure:
        entitle(figure, context)
        axes = figure.add_subplot()
        most = max(agents, 1 + found.difference)
        axes.set_xlim(1, most)
        axes.set_ylim(height, -0.55)
        _rank_axis(axes, agents, found.difference)
        for side, members in ((0.0, left), (1.0, right)):
            for row, agent in enumerate(members):
                name, down = names[agent], top + _ROW * (row + 0.5)
                _leader(axes, name, found.ranks[agent], down, side, colours[name], most)
        for number, (low, high) in enumerate(groups):
            down = 0.18 + _BAR * number
            slack = 0.004 * (most - 1)
            axes.plot([low - slack, high + slack], [down, down], color=INK, linewidth=3.5)
    return figure


def _rank_axis(axes: Axes, agents: int, difference: float) -> None:
    """The scale of ranks, and the critical difference over it."""
    axes.grid(visible=False)
    for place in ("left", "right", "bottom", "top"):
        axes.spines[place].set_visible(False)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.plot([1, agents], [0, 0], color=GREY, linewidth=1.2, clip_on=False)
    step = max(1, round(agents / 10))
    for rank in sorted({1, agents, *range(step, agents - step // 2, step)}):
        axes.plot([rank, rank], [0, -0.06], color=GREY, linewidth=1.2, clip_on=False)
        axes.text(rank, -0.09, f"{rank}", ha="center", va="bottom", size=SMALL)
    ends = [1, 1 + difference]
    axes.plot(ends, [-0.42, -0.42], "|-", color=INK, linewidth=2, markersize=8, clip_on=False)
    where: Any = {"va": "center", "size": SMALL}
    axes.text(
        ends[1], -0.42, f"{3 * _SPACE}critical difference {difference:.2f}", ha="left", **where
    )


def _leader(
    axes: Axes, name: str, rank: float, down: float, side: float, colour: Any, most: float
) -> None:
    """The line from an agent's mean rank to its name at the left (``side`` 0) or the right (1)."""
    end = 1 + side * (most - 1)
    parts: list[Any] = axes.plot(
        [rank, rank, end], [0, down, down], color=colour, linewidth=1.4, clip_on=False
    )
    parts += axes.plot(rank, 0, "o", color=colour, markersize=5, clip_on=False, zorder=4)
    text = drawn(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")
    gap = 2 * _SPACE
    shown = f"{text}{gap}{rank:.2f}{_SPACE}" if not side else f"{_SPACE}{rank:.2f}{gap}{text}"
    label = axes.text(end, down, shown, ha="left" if side else "right", va="center", size=SMALL)
    annotate([*parts, label], name, f"{name}\nmean rank {rank:.2f}")
