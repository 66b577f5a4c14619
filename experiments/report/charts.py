"""Charts of a report's page that answer to the mouse. The figure of the same name stands in the
place of each on paper, and where scripts are off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.colors import to_hex

from core.shown import visible
from experiments.report.facts import RunFacts, zero_text
from experiments.report.figures.base import coloured
from experiments.report.figures.cost import pareto, surely
from experiments.report.tables import elo_text, time_text

if TYPE_CHECKING:
    import altair as alt

_ROW = 26  # pixels of an agent's row
_MOST_NUMBERS = 16  # agents up to which the matrix has its numbers written in it


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
    cost = alt.X(
        "microseconds:Q",
        scale=alt.Scale(type="log", padding=30),
        title="mean time a move (log scale)",
        axis=alt.Axis(labelExpr=_TIME_LABEL, tickCount=5, grid=False),
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
    if len(agents) <= _MOST_NUMBERS:
        places: Any = {"align": "left", "dx": 9, "dy": -9, "fontSize": 11}
        for front, rows in agents.groupby("best"):
            names = alt.Chart(rows).mark_text(fontWeight="bold" if front else "normal", **places)
            layers.append(names.encode(x=cost, y="elo:Q", text="agent:N"))
    return alt.layer(*layers).properties(width="container", height=340)


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
