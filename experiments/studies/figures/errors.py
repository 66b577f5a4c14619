"""What agents lose against perfect play, by empty squares."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.report.figures.base import (
    SMALL,
    ReportFigure,
    blank,
    check_frame,
    drawn,
    entitle,
    styled,
)

SHADED = 4
"""So many agents have intervals that can be told apart."""


def error_figures(profile: pd.DataFrame, about: str) -> Iterator[ReportFigure]:
    """The figure of what :func:`experiments.studies.errors.error_profile` gives."""
    by_empties = profile[profile["empties"] != "all"].astype({"empties": int})
    if len(set(by_empties["empties"])) < 2:
        return
    yield ReportFigure(
        name="error_profile",
        title="Error profile",
        caption=f"Mean discs lost a move against perfect play, and the share of best moves, of "
        f"{about}, by how many squares were empty. Of up to {SHADED} agents the 95 % intervals "
        "over openings are shaded.",
        chart=error_chart(by_empties, about),
    )


def error_chart(profile: pd.DataFrame, context: str = "") -> Figure:
    """Discs lost and best moves by empty squares, the game going on to the right.

    profile: one row an agent and number of empties; columns ``agent``, ``empties`` (int), ``loss``
        and ``best_share`` with ``_low`` and ``_high``.
    """
    check_frame(profile, ["agent", "empties", "loss", "best_share"])
    agents = styled(profile["agent"])
    with blank(width=11, height=5) as figure:
        entitle(figure, context)
        panels = zip(figure.subplots(1, 2), (("loss", 1), ("best_share", 100)), strict=True)
        for axes, (measure, scale) in panels:
            for name, style in agents:
                rows = profile[profile["agent"] == name].sort_values("empties")
                axes.plot(rows["empties"], scale * rows[measure], label=drawn(name), **style)
                if len(agents) <= SHADED:
                    low, high = (scale * rows[f"{measure}_{end}"] for end in ("low", "high"))
                    axes.fill_between(
                        rows["empties"], low, high, color=style["color"], alpha=0.15, linewidth=0
                    )
            axes.invert_xaxis()
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_xlabel("empty squares")
            axes.set_ylim(0, None if scale == 1 else 103)
        figure.axes[0].set_ylabel("discs lost a move (mean)")
        figure.axes[1].set_ylabel("best moves, %")
        figure.axes[1].legend(
            loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=SMALL
        )
    return figure
