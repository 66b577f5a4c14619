"""The figures of a sweep's report, drawn in this order: :data:`SWEEP_FIGURES`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, MaxNLocator

from experiments.report.figures.base import ReportFigure
from experiments.report.figures.style import (
    BLUE,
    ORANGE,
    SMALL,
    blank,
    check_frame,
    coloured,
    theme,
    wrapped,
)

MOST_PANELS = 6
"""Values of a second setting that are drawn, a panel each."""


@dataclass(frozen=True, eq=False)
class SweepFacts:
    """A sweep and what was computed of it.

    runs: one row a run and agent; see :func:`experiments.sweep.load`.
    settings: what was varied: columns of ``runs``, keys that vary together as one column; what is
        drawn along the axis comes first.
    trials: number and Elo of each trial of a search over settings; empty for a plain sweep.
    again: the best trial's confirmation, if it was played: Elo, the ends of its 95 % interval, and
        its games.
    """

    runs: pd.DataFrame
    settings: Sequence[str]
    trials: Sequence[tuple[int, float]] = ()
    again: tuple[float, float, float, int] | None = None

    @classmethod
    def of(
        cls,
        runs: pd.DataFrame,
        groups: Sequence[Sequence[str]],
        short: Mapping[str, str],
        search: Mapping[str, Any],
    ) -> SweepFacts:
        """groups: the keys that were varied, those together that vary together. short: a name for
        each key. search: its trials and the confirmation, if it was one."""
        names = [", ".join(short[key] for key in group) for group in groups]
        columns = {n: _joined(runs, group) for n, group in zip(names, groups, strict=True)}
        runs = runs.assign(**columns)
        # Along the axis goes what has an order, or else what has more values.
        names.sort(key=lambda name: (not _numeric(runs[name]), -runs[name].nunique()))
        return cls(runs, names, search.get("trials", ()), search.get("again"))


def _joined(runs: pd.DataFrame, group: Sequence[str]) -> pd.Series:
    """The values of keys that vary together as one column."""
    if len(group) == 1:
        column = runs[group[0]]
        return column if _numeric(column) else column.astype(str)
    return runs[list(group)].astype(str).agg(", ".join, axis=1)


def _numeric(column: pd.Series) -> bool:
    return column.dtype.kind in "if"


class _SettingFigure(ReportFigure[SweepFacts]):
    """A measure of every agent by one or two settings that were varied; its name is the column."""

    def data(self) -> pd.DataFrame | None:
        facts = self.facts
        if facts.trials or len(facts.settings) not in (1, 2):
            return None
        if len(facts.settings) == 2 and facts.runs[facts.settings[1]].nunique() > MOST_PANELS:
            return None
        return facts.runs if facts.runs[self.name].notna().any() else None

    def chart(self, data: pd.DataFrame) -> Figure:
        return sweep_chart(data, self.name, *self.facts.settings)


class EloFigure(_SettingFigure):
    """Ratings by setting."""

    name, title = "elo", "Elo by setting"

    def caption(self, data: pd.DataFrame) -> str:
        return (
            "Every run's ratings have a mean of 0, so heights can be compared within a run, and "
            "an agent's only where its opponents stay the same. Bars are 95 % intervals; triangles "
            "are bounds of agents that won or lost everything; where every pair was split there is "
            "no bar."
        )


class NodesFigure(_SettingFigure):
    """Nodes a move by setting."""

    name, title = "nodes_per_move", "Nodes by setting"

    def data(self) -> pd.DataFrame | None:
        data = super().data()
        return data if data is not None and data[self.name].max() > 0 else None

    def caption(self, data: pd.DataFrame) -> str:
        return "Mean nodes of a move, over the games of each run."


class SearchFigure(ReportFigure[SweepFacts]):
    """The trials of a search over settings."""

    name, title = "search", "The search"

    def data(self) -> pd.DataFrame | None:
        trials = self.facts.trials
        return pd.DataFrame(trials, columns=["trial", "elo"]) if trials else None

    def chart(self, data: pd.DataFrame) -> Figure:
        return search_chart(data, self.facts.again)

    def caption(self, data: pd.DataFrame) -> str:
        return (
            "Elo of every trial above its fixed opponent, and the best so far. The band is the "
            "95 % interval of the confirmation, played from openings of another seed."
        )


SWEEP_FIGURES = (SearchFigure, EloFigure, NodesFigure)


# ------------------------------------------------------------------ charts


@dataclass(frozen=True)
class _Scale:
    """Where the values of a setting stand along the axis: numbers to scale, others as places."""

    values: list[Any]
    numeric: bool

    @classmethod
    def of(cls, column: pd.Series) -> _Scale:
        numeric = _numeric(column)
        return cls(sorted(set(column)) if numeric else list(dict.fromkeys(column)), numeric)

    @property
    def places(self) -> Sequence[float]:
        return self.values if self.numeric else range(len(self.values))

    @property
    def step(self) -> float:
        """Between the two values that are nearest to each other."""
        return min(np.diff(self.places), default=1)

    def places_of(self, column: pd.Series) -> np.ndarray:
        return np.array([self.places[self.values.index(value)] for value in column])

    def label(self, axes: Axes) -> None:
        """Write the values below the axis."""
        texts = [f"{each:g}" if self.numeric else wrapped(each) for each in self.values]
        axes.set_xticks(self.places, texts)
        if not self.numeric and max(len(str(value)) for value in self.values) > 8:
            axes.tick_params(axis="x", rotation=90)
        axes.margins(x=0.08)


def sweep_chart(runs: pd.DataFrame, measure: str, setting: str, other: str | None = None) -> Figure:
    """Elo, or nodes a move, of every agent by one setting that was varied, and a panel for each
    value of another.

    runs: one row a run and agent; columns ``agent``, the settings, and for the measure ``elo`` also
        ``low``, ``high``, ``bound`` and ``split``, else ``nodes_per_move``. A numeric setting is
        drawn to scale, others as places.
    setting, other: columns' names; up to 6 values of ``other`` read well.

    Raises ValueError if there are no rows or a column is missing.
    """
    intervals = ["low", "high", "bound", "split"] if measure == "elo" else []
    check_frame(runs, ["agent", setting, measure, *intervals, *([other] if other else [])])
    scale = _Scale.of(runs[setting])
    agents = coloured(runs["agent"])
    panels = {p: runs[runs[other] == p] for p in runs[other]} if other else {None: runs}
    with theme():
        figure = Figure(
            figsize=(2.4 + max(3.4, 0.5 * len(scale.values)) * len(panels), 5),
            layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1),
        )
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (panel, inside) in zip(grid, panels.items(), strict=True):
            for number, (name, colour) in enumerate(agents):
                rows = inside[(inside["agent"] == name) & inside[measure].notna()]
                # Agents stand beside each other where their intervals would hide one another.
                shift = 0.05 * scale.step * (number - (len(agents) - 1) / 2) * (measure == "elo")
                x = scale.places_of(rows[setting]) + shift
                style = {"color": colour, "label": name, "markersize": 6}
                style["linestyle"] = "-" if scale.numeric else "none"
                _points(axes, x, rows, measure, style)
            scale.label(axes)
            axes.set_xlabel(setting)
            if other is not None:
                axes.set_title(f"{other} = {panel}", fontsize=SMALL + 1)
        _label_measure(grid[0], measure)
        lines, labels = grid[0].get_legend_handles_labels()
        figure.legend(lines, labels, loc="outside right center", title="agent")
    return figure


def _points(
    axes: Axes, x: np.ndarray, rows: pd.DataFrame, measure: str, style: dict[str, Any]
) -> None:
    """One agent's points, with their intervals where there are any, bounds as triangles."""
    order = np.argsort(x, kind="stable")
    x, rows = x[order], rows.iloc[order]
    y = rows[measure].to_numpy(dtype=float)
    if measure != "elo":
        axes.plot(x, y, marker="o", **style)
        return
    errors = np.abs(np.stack([rows["low"], rows["high"]]).astype(float) - y)
    errors[:, rows["split"].to_numpy(dtype=bool)] = 0
    axes.errorbar(x, y, yerr=errors, marker="o", capsize=3, linewidth=1.3, **style)
    bounds = rows["bound"].to_numpy()
    for bound, marker in ((">", "^"), ("<", "v")):
        here = bounds == bound
        axes.plot(x[here], y[here], marker, color=style["color"], markersize=10)


def _label_measure(axes: Axes, measure: str) -> None:
    """What the upright axis shows, and how far it reaches."""
    if measure == "elo":
        axes.set_ylabel("Elo (95 % interval, mean of the run = 0)")
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -20), max(high, 20))  # where every pair was split, all are 0
    else:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(numticks=12))
        axes.set_ylabel("nodes a move (log scale)")


def search_chart(trials: pd.DataFrame, again: tuple[float, float, float, int] | None) -> Figure:
    """The objective of each trial of a search over settings, the best so far, and what the
    confirmation of the best says.

    trials: in order, at least one; columns ``trial`` (its number) and ``elo``. again: Elo of the
        confirmation, the ends of its 95 % interval, and its games; None where there is none.
    """
    numbers, values = trials["trial"].to_numpy(), trials["elo"].to_numpy()
    with theme():
        figure, axes = blank()
        axes.plot(numbers, values, "o", color=BLUE, label="trial")
        axes.step(
            numbers, np.maximum.accumulate(values), where="post", color=BLUE, label="best so far"
        )
        if again is not None:
            elo, low, high, games = again
            axes.axhspan(low, high, color=ORANGE, alpha=0.2, linewidth=0)
            axes.axhline(
                elo, color=ORANGE, label=f"the best again, {games:,} games from fresh openings"
            )
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("trial")
        axes.set_ylabel("Elo above the fixed opponent")
        axes.legend(title=None, loc="best")
    return figure
