"""Charts of a report's page that answer to the mouse. The figure of the same name stands in the
place of each on paper, and where scripts are off."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from othello_lab.core.system.escaping import visible
from othello_lab.experiments.report.facts import RunFacts, zero_text
from othello_lab.experiments.report.figures.base import coloured
from othello_lab.experiments.report.figures.cost import pareto, surely
from othello_lab.experiments.report.tables import elo_text, time_text

if TYPE_CHECKING:
    import altair as alt

_ROW = 26  # pixels of an agent's row
_MOST_NUMBERS = 16  # agents up to which the matrix has its numbers written in it
_COST_HEIGHT = 340  # pixels, as are the following
_WIDTHS = (240, 560, 900)  # of a plot on a telephone, a small and a large screen
_LETTER = 7
_NAME_HEIGHT = 22
_NAME_OFFSET = 9  # from the dot
_FEW_DECADES = 200  # from the lowest to the highest time


def run_charts(facts: RunFacts, figures: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The Vega-Lite specifications of a run's charts, by the names of their figures; only those
    whose figures are there."""
    return {name: make(facts).to_dict() for name, make in CHARTS.items() if name in figures}


def _agents(facts: RunFacts) -> pd.DataFrame:
    """One row a rated agent of the largest pool, with what is told of it where the mouse is."""
    standings = facts.standings.assign(agent=list(map(visible, facts.order)))
    rated = standings[(standings["part"] == 0) & standings["elo"].notna()]
    return pd.DataFrame(
        {
            "agent": rated["agent"],
            "elo": rated["elo"].round(1),
            "low": rated["low"].round(1),
            "high": rated["high"].round(1),
            "bound": rated["bound"],
            "Elo [95 %]": [elo_text(row) for row in rated.itertuples()],
            "games": rated["games"],
            "W-D-L": [f"{row.wins}-{row.draws}-{row.losses}" for row in rated.itertuples()],
            "score": [f"{100 * score:.1f} %" for score in rated["score"]],
            "nodes a move": rated["nodes_per_move"].round(1),
            "microseconds": rated["microseconds"].round(3),
            "time a move": [time_text(spent) for spent in rated["microseconds"]],
        }
    )


_TOLD = ("agent", "Elo [95 %]", "games", "W-D-L", "score", "nodes a move", "time a move")


def _told(agents: pd.DataFrame) -> list[alt.Tooltip]:
    import altair as alt

    return [
        alt.Tooltip(f"{name}:{'Q' if name == 'nodes a move' else 'N'}")
        for name in _TOLD
        if agents[name].notna().any()
    ]


def _colour(facts: RunFacts, agents: pd.DataFrame) -> alt.Color:
    """An agent's own, as in all figures."""
    import altair as alt

    own = dict(coloured(agents["agent"], list(map(visible, facts.order))))
    scale = alt.Scale(domain=list(own), range=[to_hex(each) for each in own.values()])
    return alt.Color("agent:N", scale=scale, legend=None)


def _elo(facts: RunFacts) -> alt.LayerChart:
    """Ratings with their intervals."""
    import altair as alt

    agents = _agents(facts)
    rows = alt.Y("agent:N", sort=agents["agent"].tolist(), title=None)
    base = alt.Chart(agents).encode(y=rows, tooltip=_told(agents), color=_colour(facts, agents))
    zero = f"Elo, {zero_text(facts.anchor)} = 0"
    bars = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=zero), x2="high:Q")
    shapes = alt.Scale(domain=["", ">", "<"], range=["circle", "triangle-right", "triangle-left"])
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x="elo:Q", shape=alt.Shape("bound:N", scale=shapes, legend=None)
    )
    return (bars + dots).properties(width="container", height=max(80, _ROW * len(agents)))


def _cost(facts: RunFacts) -> alt.TopLevelMixin:
    """Ratings by what a move takes, to be moved and enlarged."""
    import altair as alt

    agents = _agents(facts)
    agents = agents[agents["microseconds"] > 0].reset_index(drop=True)
    best = pareto(agents["microseconds"].to_numpy(), surely(agents))
    agents["best"] = agents.index.isin(best)
    low, high = agents["microseconds"].min() / 2, 2 * agents["microseconds"].max()
    cost = alt.X(
        "microseconds:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        title="mean time a move (log scale)",
        axis=alt.Axis(
            labelExpr=_TIME_LABEL, values=log_ticks(low, high), labelSeparation=8, grid=False
        ),
    )
    base = alt.Chart(agents).encode(x=cost, tooltip=_told(agents), color=_colour(facts, agents))
    line = (
        alt.Chart(agents[agents["best"]])
        .mark_line(interpolate="step-after", color="#888888", strokeWidth=1)
        .encode(x=cost, y="elo:Q")
    )
    bars = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title="Elo"), y2="high:Q")
    shapes = alt.Scale(domain=["", ">", "<"], range=["circle", "triangle-up", "triangle-down"])
    dots = base.mark_point(filled=True, size=110, opacity=1).encode(
        y="elo:Q", shape=alt.Shape("bound:N", scale=shapes, legend=None)
    )
    layers = [line, bars, dots]
    named = place_names(agents, low, high)
    for (room, front, side), rows in named.groupby(["room", "best", "align"]):
        names = alt.Chart(rows).mark_text(
            fontWeight="bold" if front else "normal",
            align=side,
            dx=_NAME_OFFSET if side == "left" else -_NAME_OFFSET,
            dy=-_NAME_OFFSET,
            fontSize=11,
            opacity=alt.expr(f"width >= {room} ? 1 : 0"),
        )
        layers.append(names.encode(x=cost, y="elo:Q", text="agent:N"))
    return alt.layer(*layers).properties(width="container", height=_COST_HEIGHT)


def log_ticks(low: float, high: float) -> list[float]:
    """Where a log axis from ``low`` to ``high`` is labelled: at each 1, 2 and 5, or of many decades
    at each power of ten.

    >>> log_ticks(20, 700)
    [20.0, 50.0, 100.0, 200.0, 500.0]
    """
    steps = (1, 2, 5) if high < _FEW_DECADES * low else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def place_names(agents: pd.DataFrame, low: float, high: float) -> pd.DataFrame:
    """Where agents' names stand beside their dots: they hide no other name, and no dot unless
    they are of the Pareto front and have no other place.

    agents: columns ``agent``, ``microseconds``, ``elo``, ``low``, ``high`` and ``best``: whether it
        is of the front, whose names go before the others. low, high: the ends of the axis of times.

    The agents whose names have room, with two columns more: ``room``, how wide the plot must be for
    that, in pixels; ``align``, the side of the name that is at the dot.
    """
    along = np.log(agents["microseconds"].to_numpy(dtype=float) / low) / math.log(high / low)
    span = max(np.nanmax(agents[["elo", "high"]]) - np.nanmin(agents[["elo", "low"]]), 1)
    down = -agents["elo"].to_numpy(dtype=float) / span * _COST_HEIGHT
    sizes = _LETTER * agents["agent"].str.len().to_numpy() + _NAME_OFFSET
    front = agents["best"].to_numpy(dtype=bool)
    order = np.argsort(~front, kind="stable")
    found: dict[int, tuple[int, str]] = {}
    for width in _WIDTHS:
        dots, taken = along * width, []
        for place, (_, align) in found.items():
            start = dots[place] - (sizes[place] if align == "right" else 0)
            taken.append((start, start + sizes[place], down[place]))
        for place, over, align in product(order.tolist(), (False, True), ("left", "right")):
            start = dots[place] - (sizes[place] if align == "right" else 0)
            end = start + sizes[place]
            near = np.abs(down - down[place]) < _NAME_HEIGHT
            near[place] = False
            near &= (dots > start - _NAME_OFFSET) & (dots < end + _NAME_OFFSET)
            hides = near.any() and not (over and front[place])
            hides |= any(
                start < other_end and other_start < end and abs(other - down[place]) < _NAME_HEIGHT
                for other_start, other_end, other in taken
            )
            if place not in found and not hides and start >= 0 and end <= width:
                found[place] = width, align
                taken.append((start, end, down[place]))
    rows = sorted(found)
    return agents.iloc[rows].assign(
        room=[found[place][0] for place in rows], align=[found[place][1] for place in rows]
    )


_TIME_LABEL = (
    "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : "
    "datum.value >= 1e3 ? datum.value / 1e3 + ' ms' : datum.value + ' µs'"
)


def _win_rates(facts: RunFacts) -> alt.TopLevelMixin:
    """The score of each against each."""
    import altair as alt

    matches = facts.matches
    there = pd.DataFrame(
        {
            "agent": matches["first"].map(visible),
            "opponent": matches["second"].map(visible),
            "score": (100 * matches["score"]).round(1),
            "games": matches["games"],
            "W-D-L": [f"{row.wins}-{row.draws}-{row.losses}" for row in matches.itertuples()],
        }
    )
    back = there.rename(columns={"agent": "opponent", "opponent": "agent"}).assign(
        score=(100 - there["score"]).round(1),
        **{"W-D-L": ["-".join(text.split("-")[::-1]) for text in there["W-D-L"]]},
    )
    order = facts.standings["agent"].map(visible).tolist()
    base = alt.Chart(pd.concat([there, back])).encode(
        y=alt.Y("agent:N", sort=order, title=None),
        x=alt.X("opponent:N", sort=order, title="opponent", axis=alt.Axis(labelAngle=-40)),
        tooltip=["agent:N", "opponent:N", "score:Q", "W-D-L:N", "games:Q"],
    )
    colour = alt.Color(
        "score:Q",
        title="score %",
        scale=alt.Scale(scheme="blueorange", domain=[0, 100], reverse=True),
    )
    tiles = base.mark_rect().encode(color=colour)
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("score:Q", format=".0f"),
        color=alt.condition("abs(datum.score - 50) > 20", alt.value("white"), alt.value("black")),
    )
    layers = (tiles, numbers) if len(order) <= _MOST_NUMBERS else (tiles,)
    return alt.layer(*layers).properties(width="container", height=max(80, _ROW * len(order)))


CHARTS: Mapping[str, Callable[[RunFacts], alt.TopLevelMixin]] = {
    "elo": _elo,
    "cost": _cost,
    "win_rates": _win_rates,
}
"""What answers to the mouse, by the name of its figure."""
