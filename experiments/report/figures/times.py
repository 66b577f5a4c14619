"""Times of moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from othello_lab.experiments.report.facts import RunFacts, marked_names
from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    axis_time,
    check_frame,
    coloured,
    column,
    log_scale,
    row_chart,
)
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.tables import time_text


def times_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """The time that moves took."""
    standings = facts.standings.assign(agent=marked_names(facts.standings))
    timed = standings[standings["median_microseconds"].notna()]
    if timed.empty:
        return
    yield ReportFigure(
        name="times",
        title="Time a move takes",
        caption="Time of a move, without the time in which the machine did something else. The "
        "dot is the median; at the end of the line are 95 of 100 moves. Fewer nodes may well take "
        "more time.",
        chart=time_chart(timed, facts.context, facts.order),
    )


def time_chart(times: pd.DataFrame, context: str = "", order: Sequence[str] = ()) -> Figure:
    """Draw the median of the time of a move and its 95th percentile, one row an agent, in the order
    given.

    times: one row an agent; columns ``agent`` (str), ``median_microseconds``,
        ``p95_microseconds``. 1 to 30 rows read well; the figure grows with them.
    context: the line above. order: all agents of the report, for their colours.
    """
    check_frame(times, ["agent", "median_microseconds", "p95_microseconds"])
    # A log scale has no 0, and below a microsecond nothing is measured.
    median, most = (
        times[name].clip(lower=1).to_numpy(dtype=float)
        for name in ("median_microseconds", "p95_microseconds")
    )
    with row_chart(times["agent"], context) as (figure, axes, rows):
        named = dict(coloured(times["agent"], order))
        for row, name, low, high in zip(rows, times["agent"], median, most, strict=True):
            look: Any = {"color": named[name], "linewidth": 2}
            line = axes.plot([low, high], [row, row], **look)
            ends = axes.plot(low, row, "o", color=named[name], markersize=6, zorder=3)
            ends += axes.plot(high, row, "|", color=named[name], markersize=9, markeredgewidth=2)
            title = f"{name}\nmedian {time_text(low)}, 95 % within {time_text(high)}"
            annotate([*line, *ends], name, title)
        log_scale(axes, median.min(), most.max(), axis_time)
        axes.set_xlabel("time a move, median and 95th percentile (log scale)")
        columns = {"median": times["median_microseconds"], "95 %": times["p95_microseconds"]}
        for number, (title, values) in enumerate(columns.items(), start=1):
            column(axes, title, rows, [time_text(value) for value in values], offset=60 * number)
    return figure
