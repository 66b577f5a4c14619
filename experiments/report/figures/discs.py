"""By how many discs games end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    check_frame,
    coloured,
    column,
    row_chart,
    signed,
)
from othello_lab.experiments.report.figures.palette import GREY, INK
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.standings import disc_differences

_BIN = 4  # discs
_ROOM = 0.3  # of the 0.33 inches that a name of one line has


def discs_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of each agent's final disc differences."""
    table = disc_differences(facts.record)
    if table.empty:
        return
    table["agent"] = table["agent"].map(dict(enumerate(facts.names)))
    yield ReportFigure(
        name="discs",
        title="Disc differences",
        caption="Disc differences of finished games: the agent's discs minus its opponent's, "
        "empty squares to the winner. A higher bar means more games, on "
        f"the same scale for all. A step is {_BIN} discs wide, and the dark mark is the mean.",
        chart=discs_chart(table, facts.context, facts.order),
    )


def discs_chart(games: pd.DataFrame, context: str = "", order: Sequence[str] = ()) -> Figure:
    """Draw the distribution of each agent's disc difference, a row an agent.

    games: columns ``agent``, ``difference`` (discs, as the agent sees it) and ``games`` (their
    number). 1 to 60 agents read well; the figure grows with them. context: the line above. order:
    all agents of the report, for their rows and colours.
    """
    check_frame(games, ["agent", "difference", "games"])
    agents = coloured(games["agent"], order)
    limit = max(_BIN * np.ceil(games["difference"].abs().max() / _BIN), 2 * _BIN) + _BIN / 2
    edges = np.arange(-limit, limit + 1, _BIN)
    shares, means = {}, []
    for name, _ in agents:
        results = games[games["agent"] == name]
        counts, _ = np.histogram(results["difference"], edges, weights=results["games"])
        shares[name] = counts / counts.sum()
        means.append(float(np.average(results["difference"], weights=results["games"])))
    most = max(share.max() for share in shares.values())
    with row_chart(shares, context, stretch=1.6) as (figure, axes, rows):
        axes.axvline(0, color=GREY, linewidth=1, zorder=1)
        for row, (name, colour), mean in zip(rows, agents, means, strict=True):
            base = row + _ROOM / 2
            heights = base - _ROOM * shares[name] / most
            steps = axes.stairs(heights, edges, baseline=base, fill=True, color=colour, alpha=0.75)
            mark = axes.plot([mean, mean], [base, base - _ROOM / 2], color=INK, linewidth=2)
            annotate([steps, *mark], name, f"{name}\nmean {signed(mean, 1)} discs")
        axes.set_xlim(edges[0], edges[-1])
        axes.set_xlabel("disc difference at the end of a game")
        column(axes, "mean", rows, [signed(mean, 1) for mean in means], offset=50)
        total = games.groupby("agent")["games"].sum()
        column(axes, "games", rows, [f"{total[name]:,}" for name in shares], offset=108)
    return figure
