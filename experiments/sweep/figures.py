"""The figures of a sweep's report, in their order on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.figures import drawing
from othello_lab.experiments.report.figures.labels import name_legend
from othello_lab.experiments.report.figures.palette import DIVERGING, GREY, SEQUENTIAL
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.tables import by_agent
from othello_lab.experiments.sweep.trend import asks_for_costs

Style = dict[str, Any]
MOST_PANELS = 6
"""Values of a second setting that are drawn, a panel each."""

MOST_LINES = 8
"""More agents than these have rows of a heat map instead of lines."""

_LOG_FROM = 8  # times the smallest value of a setting: smaller ones would lie on each other

_NO_LINE = {"linestyle": "none"}
_MAP_LABELS = {
    "elo": "Elo",
    "nodes_per_move": "nodes a move (log scale)",
    "nodes_share": "share of nodes, % (log scale)",
}


def setting_figures(
    table: pd.DataFrame, varied: Mapping[str, Sequence[str]]
) -> Iterator[drawing.ReportFigure]:
    """Yield the figures of a sweep: Elo and nodes of every agent by the one or two settings that
    were varied.

    table: one row a run and agent; see :func:`experiments.sweep.load`. varied: the columns that
    were varied, by the name to be shown; columns that vary together count as one.
    """
    columns = {name: _joined(table, group) for name, group in varied.items()}
    runs = table.assign(**columns)
    # Along the axis goes what has an order, or else what has more values.
    names = sorted(columns, key=lambda name: (not _numeric(runs[name]), -runs[name].nunique()))
    if len(names) == 1 or (len(names) == 2 and runs[names[1]].nunique() <= MOST_PANELS):
        kinds = [_elo_figures, _node_figures]
        for figures in reversed(kinds) if asks_for_costs(runs) else kinds:
            yield from figures(runs, names)


def _chart_of(runs: pd.DataFrame) -> Callable[..., Figure]:
    return agents_chart if runs["agent"].nunique() > MOST_LINES else sweep_chart


def _elo_figures(runs: pd.DataFrame, names: Sequence[str]) -> Iterator[drawing.ReportFigure]:
    compared = runs[runs["agent"] != runs["reference"]]  # which is at 0 everywhere
    if not (compared["elo"].notna() & ~compared["split"]).any():
        return
    draw = _chart_of(compared)
    signs = (
        "> and < are bounds of agents that won or lost everything. The intervals are in the table."
        if draw is agents_chart
        else "Bars are 95 % intervals; triangles are bounds of agents that won or lost everything; "
        "where every pair was split, or all games of a run came from one opening, there is no bar."
    )
    yield drawing.ReportFigure(
        name="elo",
        title="Elo by setting",
        caption=f"{_zero(runs)} {signs}",
        chart=draw(compared, "elo", *names),
    )


def _node_figures(runs: pd.DataFrame, names: Sequence[str]) -> Iterator[drawing.ReportFigure]:
    searching = runs[runs["nodes_per_move"] > 0]
    if searching.empty:
        return
    if asks_for_costs(runs) and len(set(searching["agent"])) > 1:
        base = str(searching.groupby("agent", sort=False)["nodes_per_move"].mean().idxmax())
        whole = searching[searching["agent"] == base].set_index("run")["nodes_per_move"]
        share = 100 * searching["nodes_per_move"] / searching["run"].map(whole)
        shares = searching.assign(nodes_share=share, base=base)
        yield drawing.ReportFigure(
            name="nodes_share",
            title="Share of nodes by setting",
            caption=f"Mean nodes of a move, as a share of those of {base} in the same run.",
            chart=_chart_of(shares)(shares, "nodes_share", *names),
        )
    yield drawing.ReportFigure(
        name="nodes_per_move",
        title="Nodes by setting",
        caption="Mean nodes of a move, over the games of each run.",
        chart=_chart_of(runs)(runs, "nodes_per_move", *names),
    )


def _zero(runs: pd.DataFrame) -> str:
    """Return the meaning of 0 Elo in a sentence."""
    if reference := runs["reference"].iloc[0]:
        return f"Elo is the difference to {reference} in the same run, which is 0."
    return "The mean of each run is 0, so Elo can be compared within a run."


def _joined(runs: pd.DataFrame, group: Sequence[str]) -> pd.Series:
    if len(group) == 1:
        column = runs[group[0]]
        return column if _numeric(column) else column.astype(str)
    return runs[list(group)].astype(str).agg(", ".join, axis=1)


def _numeric(column: pd.Series) -> bool:
    return column.dtype.kind in "if"


def sweep_chart(runs: pd.DataFrame, measure: str, setting: str, other: str | None = None) -> Figure:
    """Elo, or nodes a move, of every agent by one setting that was varied, and a panel for each
    value of another.

    runs: one row a run and agent; columns ``run``, ``agent``, ``games``, the settings, and the
        measure: ``elo`` with ``low``, ``high``, ``bound``, ``split`` and ``reference``,
        ``nodes_per_move``, or ``nodes_share`` (per cent) with ``base``. A numeric setting is drawn
        to scale, others as places.
    setting, other: columns' names; up to 6 values of ``other`` read well.
    """
    _check(runs, measure, setting, other, "low", "high", "split", "reference")
    numeric = _numeric(runs[setting])
    values = _values(runs[setting])
    positions = {value: value if numeric else number for number, value in enumerate(values)}
    agents = drawing.styled(runs["agent"])
    # Agents stand beside each other where their intervals would hide one another.
    apart = 0.05 * min(np.diff(list(positions.values())), default=1) * (measure == "elo")
    with _panels(runs, other, 2.4, max(3.4, 0.5 * len(positions))) as (figure, panels):
        for axes, inside in panels:
            for number, (name, look) in enumerate(agents):
                rows = inside[(inside["agent"] == name) & inside[measure].notna()]
                x = np.array([positions[value] for value in rows[setting]])
                x = x + apart * (number - (len(agents) - 1) / 2)
                style = look | {"label": drawing.drawn(name), "markersize": 6}
                _points(axes, x, rows, measure, style if numeric else style | _NO_LINE)
            _label_settings(axes, setting, positions, numeric)
        _label_measure(panels[0][0], runs, measure)
        lines, labels = panels[0][0].get_legend_handles_labels()
        legend = figure.legend(lines, labels, loc="outside right center", title="agent")
        name_legend(legend, [name for name, _ in agents])
    return figure


def agents_chart(
    runs: pd.DataFrame, measure: str, setting: str, other: str | None = None
) -> Figure:
    """The same as :func:`sweep_chart`, of more agents: each is a row of a heat map, those first
    that are rated highest, or search the fewest nodes. ``elo`` needs ``bound`` only; up to 60
    agents read well."""
    _check(runs, measure, setting, other)
    shown = runs[runs[measure].notna() & ((measure == "elo") | (runs[measure] > 0))]
    means = shown.groupby("agent")[measure].mean().sort_values(ascending=measure != "elo")
    rows = by_agent(shown, means.index)
    return _maps(rows, measure, setting, other)


def _maps(runs: pd.DataFrame, measure: str, setting: str, other: str | None) -> Figure:
    """Draw a heat map for each value of ``other``: agents down, values of ``setting`` across."""
    columns, rows = (_values(runs[name]) for name in (setting, "agent"))
    values = runs[measure].dropna()
    if measure == "elo":
        most = max(values.abs().max(), 1)
        norm, shades = Normalize(-most, most), DIVERGING
    else:
        norm, shades = LogNorm(values.min(), max(values.max(), 1.01 * values.min())), SEQUENTIAL
    label, names = _MAP_LABELS[measure], [_shown(value) for value in columns]
    width, height = max(2.5, 0.75 * len(columns) + 1.2), 2 + 0.45 * len(rows)
    with _panels(runs, other, 2.5, width, height) as (figure, panels):
        for axes, inside in panels:
            cells = np.full((len(rows), len(columns)), np.nan)
            texts = np.full(cells.shape, "", dtype=object)
            titles = texts.copy()
            for run in inside.to_dict("records"):
                cell = rows.index(run["agent"]), columns.index(run[setting])
                cells[cell], texts[cell] = run[measure], _cell(run, measure)
                where = f"agent = {_shown(run['agent'])}, {setting} = {_shown(run[setting])}"
                titles[cell] = f"{run['agent']}\n{where}\n{_measured(run, measure)}"
            drawing.heat(figure, axes, cells, shades, label, norm, texts, 8, titles=titles)
            axes.set_xticks(range(len(columns)), names)
            axes.tick_params(axis="x", rotation=0 if max(map(len, names)) <= 8 else 90)
            axes.set_xlabel(drawing.drawn(setting))
        panels[0][0].set_yticks(range(len(rows)), [_shown(agent) for agent in rows])
        panels[0][0].set_ylabel("agent")
    return figure


def _check(
    runs: pd.DataFrame, measure: str, setting: str, other: str | None, *intervals: str
) -> None:
    """Raise ValueError unless the runs have the columns of a chart. intervals: more of Elo."""
    of_elo = ["bound", *intervals] if measure == "elo" else []
    others = [other] if other else []
    drawing.check_frame(runs, ["run", "agent", "games", setting, measure, *of_elo, *others])


@contextmanager
def _panels(
    runs: pd.DataFrame, other: str | None, beside: float, width: float, height: float = 5
) -> Iterator[tuple[Figure, list[tuple[Axes, pd.DataFrame]]]]:
    """Yield a figure with axes, and the runs, of each value of ``other``; sizes in inches."""
    values = _values(runs[other]) if other else [None]
    with drawing.blank(beside + width * len(values), height, _context(runs)) as figure:
        grid = figure.subplots(1, len(values), sharey=True, squeeze=False)[0]
        for axes, value in zip(grid, values, strict=True):
            if other:
                axes.set_title(drawing.wrapped(f"{other} = {value}"), fontsize=drawing.SMALL + 1)
        inside = [runs[runs[other] == value] if other else runs for value in values]
        yield figure, list(zip(grid, inside, strict=True))


def _values(column: pd.Series) -> list[Any]:
    """The different values of a setting, in their order if they have one."""
    return sorted(set(column)) if _numeric(column) else list(dict.fromkeys(column))


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else drawing.wrapped(value)


def _measured(row: Mapping[Any, Any], measure: str) -> str:
    if np.isnan(row[measure]):
        return ""
    if measure == "elo":
        return f"Elo {_cell(row, measure)}"
    unit = "% of the nodes" if measure == "nodes_share" else "nodes a move"
    return f"{row[measure]:,.1f} {unit}"


def _cell(row: Mapping[Any, Any], measure: str) -> str:
    value = row[measure]
    if np.isnan(value):
        return ""
    if measure == "elo":
        return f"{row['bound']} {drawing.signed(value)}".strip()
    return f"{value:,.0f}" if value < 1e5 else f"{value / 1e6:.1f} M"


def _context(runs: pd.DataFrame) -> str:
    few, many = runs["games"].min(), runs["games"].max()
    games = counted(many, "game") if few == many else f"{few:,} to {many:,} games"
    return f"{counted(runs['run'].nunique(), 'run')}, {games} an agent"


def _label_settings(
    axes: Axes, setting: str, positions: Mapping[Any, float], numeric: bool
) -> None:
    texts = [_shown(value) for value in positions]
    is_log = numeric and min(positions) > 0 and max(positions) >= _LOG_FROM * min(positions)
    if is_log:
        axes.set_xscale("log")
        axes.set_xticks([], minor=True)
    axes.set_xticks(list(positions.values()), texts)
    if not numeric and max(len(value) for value in positions) > 8:
        axes.tick_params(axis="x", rotation=90)
    axes.margins(x=0.08)
    axes.set_xlabel(drawing.drawn(setting) + " (log scale)" * is_log)


def _points(axes: Axes, x: np.ndarray, rows: pd.DataFrame, measure: str, style: Style) -> None:
    """One agent's points, with their intervals where there are any, bounds as triangles."""
    order = np.argsort(x, kind="stable")
    x, rows = x[order], rows.iloc[order]
    y = rows[measure].to_numpy(dtype=float)
    name = str(rows["agent"].iloc[0]) if len(rows) else ""
    if measure != "elo":
        annotate(axes.plot(x, y, **style), name, name)
        return
    errors = np.abs(np.stack([rows["low"], rows["high"]]).astype(float) - y)
    errors[:, rows["split"].to_numpy(dtype=bool)] = 0
    bounds = rows["bound"].to_numpy()
    known = np.where(bounds == "", y, np.nan)  # no line leads to a bound, which is no number
    annotate(axes.errorbar(x, known, yerr=errors, capsize=3, linewidth=1.3, **style), name, name)
    for bound, marker in ((">", "^"), ("<", "v")):
        here = bounds == bound
        annotate(axes.plot(x[here], y[here], marker, color=style["color"], markersize=10), name)


def _label_measure(axes: Axes, runs: pd.DataFrame, measure: str) -> None:
    if measure == "elo":
        zero = runs["reference"].iloc[0] or "mean of the run"
        axes.set_ylabel(drawing.drawn(f"Elo (95 % interval, {zero} = 0)"))
        axes.axhline(0, color=GREY, linewidth=1, zorder=1)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -20), max(high, 20))  # where every pair was split, all are 0
    elif measure == "nodes_share":
        axes.set_ylim(0, 105)
        axes.set_ylabel(drawing.drawn(f"nodes, {runs['base'].iloc[0]} = 100 %"))
    else:
        drawing.decades(axes)
        axes.set_ylabel("nodes a move (log scale)")
