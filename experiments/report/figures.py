"""Figures of ratings, scores and pruning, drawn from data frames.

Each function takes a tidy frame and returns a matplotlib ``Figure`` of its own: nothing is shown,
nothing is kept in pyplot, and the figure can be drawn in a worker or a notebook alike.
:func:`save` writes it as PNG and SVG.
"""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, MaxNLocator

from experiments.statistics.intervals import interval_text

MINUS = "\N{MINUS SIGN}"

_BLUE, _ORANGE, _GREEN, _RED = sns.color_palette("colorblind", 4)
_GREY = "0.35"
_SMALL = 9  # points; tick labels and values
_NAME_WIDTH = 30  # letters of an agent's name before it goes on in the next line
_DPI = 150
_SALT = "othello"  # fixes the ids inside an SVG, so that the same figure gives the same file


def elo_chart(standings: pd.DataFrame, anchor: str = "") -> Figure:
    """Every agent's rating with its 95 % interval, one row an agent, in the order given (best
    first, at the top).

    standings: one row an agent; columns ``agent`` (str), ``elo``, ``low``, ``high`` (Elo),
        ``bound`` ("" for a rating, ">" or "<" where ``elo`` is only a limit) and ``games``
        (int). 1 to 30 rows read well; the figure grows with them. If there is a column ``split``
        (bool), agents all of whose pairs were shared evenly get these words and no interval.
    anchor: the agent rated 0; if none is, the mean of the pool is.

    The values are repeated in words at the right, half the interval's width after the ±. Raises
    ValueError if there are no rows or a column is missing.
    """
    _check(standings, ["agent", "elo", "low", "high", "bound", "games"])
    names = [_wrapped(name) for name in standings["agent"]]
    lines = np.array([1 + name.count("\n") for name in names])
    heights = 0.16 + 0.17 * lines  # inches
    heights *= max(1, 1.2 / heights.sum())
    rows = heights.cumsum() - heights / 2
    with _theme():
        figure, axes = _blank()
        axes.axvline(0, color=_GREY, linewidth=1)
        bounds = standings["bound"].to_numpy()
        split = standings.get("split", pd.Series(False, index=standings.index)).to_numpy()
        for row, bound, elo, low, high, even in zip(
            rows, bounds, standings["elo"], standings["low"], standings["high"], split, strict=True
        ):
            _rating(axes, row, bound, elo, *((elo, elo) if even else (low, high)))
        axes.set_ylim(float(heights.sum()), 0)
        axes.set_yticks(rows, names)
        axes.set_xlim(*_elo_limits(standings))
        axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
        axes.grid(visible=False, axis="y")
        pool = "pool" if all(bounds) or not any(bounds) else "pool without bounds"
        axes.set_xlabel(f"Elo (95 % interval, {anchor or f'mean of the {pool}'} = 0)")
        axes.set_ylabel("agent")
        ratings = standings[["elo", "low", "high", "bound"]].to_numpy()
        values = [
            "every pair\nsplit" if even else _value(*rating)
            for rating, even in zip(ratings, split, strict=True)
        ]
        _column(axes, "Elo", rows, values, offset=108)
        _column(axes, "games", rows, [f"{games:,}" for games in standings["games"]], offset=150)
        _resize(figure, axes, 5, float(heights.sum()))
    return figure


def win_rate_matrix(scores: pd.DataFrame) -> Figure:
    """The share of points of every agent against every other, as a heatmap.

    scores: square; index and columns the same agents, best first; values 0 to 1, the share of
        points of the row agent; nan on the diagonal and where two did not meet (left grey). 2 to
        20 agents read well.

    Raises ValueError if the frame is empty or its rows and columns are not the same agents.
    """
    return _matrix(scores, "score of the row agent, %", "opponent")


def superiority_matrix(shares: pd.DataFrame) -> Figure:
    """How sure it is that each agent is better than each other, as a heatmap.

    shares: as for :func:`win_rate_matrix`, but values are the share of the bootstrap's replicates
        in which the row agent is rated above the column agent.

    Raises ValueError if the frame is empty or its rows and columns are not the same agents.
    """
    return _matrix(shares, "row agent rated above, %", "than")


def _matrix(shares: pd.DataFrame, label: str, across: str) -> Figure:
    """A heatmap of per cent between agents; ``label`` says of what."""
    if shares.empty or list(shares.index) != list(shares.columns):
        raise ValueError("rows and columns must be the same agents, at least one")
    agents = len(shares)
    names = [_wrapped(name) for name in shares.index]
    longest = max(len(line) for name in names for line in name.splitlines())
    lines = max(1 + name.count("\n") for name in names)
    cell = float(np.clip(5 / agents, 0.42, 1.1))  # inches
    level = 0.085 * longest < cell  # the names fit below their cells, side by side
    cell = max(cell, 0.17 * lines)  # where they stand upright, their lines must fit
    with _theme():
        figure, axes = _blank()
        axes.set_facecolor("0.9")
        with warnings.catch_warnings():
            # seaborn 0.13 sets up its colour map in a way that matplotlib 3.11 will retire
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            sns.heatmap(
                100 * shares.set_axis(names).set_axis(names, axis=1),
                vmin=0,
                vmax=100,
                center=50,
                cmap="vlag_r",
                annot=True,
                fmt=".0f",
                annot_kws={"fontsize": 8 if agents > 12 else 10},
                linewidths=0.5,
                xticklabels=True,
                yticklabels=True,
                cbar_kws={"label": label},
                ax=axes,
            )
        for text in axes.texts:  # they lie in their cells: no need to measure 400 of them
            text.set_in_layout(False)
        axes.grid(visible=False)
        axes.tick_params(axis="x", rotation=0 if level else 90)
        axes.tick_params(axis="y", rotation=0)
        axes.set_xlabel(across)
        axes.set_ylabel("agent")
        _resize(figure, axes, cell * agents, cell * agents)
    return figure


def pruning_chart(counts: pd.DataFrame, subtitle: str) -> Figure:
    """How many nodes minimax and alpha-beta search at each depth, and how many of a hundred of
    minimax's alpha-beta still needs.

    counts: one row an algorithm and depth; columns ``algorithm`` ("minimax" or "alpha-beta"),
        ``depth`` (plies), ``nodes`` (mean a position, more than 0) and ``positions`` (int).
    subtitle: what was searched with, for example the evaluation's name.

    Raises ValueError if there are no rows, a column is missing or an algorithm is another.
    """
    _check(counts, ["algorithm", "depth", "nodes", "positions"])
    strange = set(counts["algorithm"]) - {"minimax", "alpha-beta"}
    if strange:
        raise ValueError(f"algorithm {sorted(strange)[0]!r}: minimax or alpha-beta is needed")
    nodes = counts.pivot_table(index="depth", columns="algorithm", values="nodes", aggfunc="mean")
    with _theme():
        figure, axes = _blank()
        sns.lineplot(
            counts,
            x="depth",
            y="nodes",
            hue="algorithm",
            style="algorithm",
            palette={"minimax": _ORANGE, "alpha-beta": _BLUE},
            markers={"minimax": "s", "alpha-beta": "o"},
            dashes=False,
            markersize=7,
            errorbar=None,
            ax=axes,
        )
        axes.set_yscale("log")
        axes.margins(x=0.08)
        axes.set_ylim(*_decades(counts["nodes"]))
        axes.set_xticks(nodes.index)
        axes.yaxis.set_major_locator(LogLocator(numticks=12))
        axes.set_xlabel("search depth (plies)")
        axes.set_ylabel("nodes per position (log scale)")
        axes.set_title(f"Nodes searched by minimax and alpha-beta\n{subtitle}")
        axes.legend(title=None, loc="upper left")
        if len(nodes.columns) == 2:
            both = nodes.dropna()
            for depth, ratio in (both["alpha-beta"] / both["minimax"]).items():
                _ratio(axes, float(depth), float(both.loc[depth, "alpha-beta"]), float(ratio))
        figure.supxlabel(_pruning_note(counts, nodes), fontsize=_SMALL, color=_GREY)
    return figure


def cost_chart(costs: pd.DataFrame, subtitle: str) -> Figure:
    """Nodes of every search on the same positions, one bar an agent, in the order given.

    costs: one row an agent; columns ``agent`` (str), ``nodes`` (mean a position, more than 0),
        ``positions`` (int) and ``depth``. 2 to 30 rows read well; the figure grows with them.
    subtitle: what the searches had in common.

    The nodes, and their share of the dearest search's, are repeated at the right. Raises ValueError
    if there are no rows or a column is missing.
    """
    _check(costs, ["agent", "nodes", "positions", "depth"])
    nodes = costs["nodes"].to_numpy()
    with _theme():
        figure, axes = _blank()
        rows = np.arange(len(costs))
        axes.barh(rows, nodes, color=_BLUE, height=0.7)
        axes.set_xscale("log")
        axes.set_xlim(10 ** math.floor(math.log10(nodes.min())), nodes.max() * 1.2)
        axes.set_ylim(len(costs) - 0.5, -0.5)
        axes.set_yticks(rows, [_wrapped(name) for name in costs["agent"]])
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"nodes a position, log scale ({costs['positions'].max()} positions)")
        axes.set_ylabel("agent")
        axes.set_title(subtitle)
        _column(axes, "nodes", rows, [f"{each:,.0f}" for each in nodes], offset=60)
        _column(axes, "share", rows, [_share(each / nodes.max()) for each in nodes], offset=110)
        _resize(figure, axes, 5, max(1.2, 0.3 * len(costs)))
    return figure


def depth_chart(costs: pd.DataFrame, baseline: str | None = None) -> Figure:
    """Nodes of every search by depth, or their ratio to one search's, with its 95 % interval.

    costs: one row an agent and depth; columns ``agent``, ``depth`` (plies), ``positions`` and
        ``openings`` (int), ``nodes`` (mean a position), and with a baseline ``nodes_ratio``,
        ``nodes_low`` and ``nodes_high``.

    Raises ValueError if there are no rows or a column is missing.
    """
    ratio = ["nodes_ratio", "nodes_low", "nodes_high"] if baseline else []
    _check(costs, ["agent", "depth", "positions", "openings", "nodes", *ratio])
    names = list(dict.fromkeys(sorted(costs["agent"])))
    palette = sns.color_palette("colorblind" if len(names) <= 10 else "husl", len(names))
    depths = sorted(set(costs["depth"]))
    with _theme():
        figure, axes = _blank()
        for number, (name, colour) in enumerate(zip(names, palette, strict=True)):
            rows = costs[costs["agent"] == name].sort_values("depth")
            style: Any = {"color": colour, "label": name, "marker": "osD^vP*X"[number % 8]}
            if baseline is None:
                axes.plot(rows["depth"], rows["nodes"], **style)
                continue
            axes.plot(rows["depth"], rows["nodes_ratio"], **style)
            axes.fill_between(
                rows["depth"], rows["nodes_low"], rows["nodes_high"], color=colour, alpha=0.15
            )
        axes.set_xticks(depths)
        axes.set_xlabel("search depth (plies)")
        if baseline is None:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(numticks=12))
            axes.set_ylabel("nodes a position (log scale)")
        else:
            axes.set_ylim(bottom=0)
            axes.set_ylabel(f"nodes, {baseline} = 1")
        axes.legend(title=None, loc="best")
        axes.set_title(
            f"{costs['positions'].max():,} positions from {costs['openings'].max():,} openings"
        )
    return figure


def sweep_chart(runs: pd.DataFrame, setting: str, measure: str, other: str | None = None) -> Figure:
    """Elo, or nodes a move, of every agent by one setting that was varied, and a panel for each
    value of another.

    runs: one row a run and agent; columns ``agent``, the settings, and for the measure ``elo`` also
        ``low``, ``high``, ``bound`` and ``split``, else ``nodes_per_move``. A numeric setting is
        drawn to scale, others as places.
    setting, other: columns' names; up to 6 values of ``other`` read well.

    Raises ValueError if there are no rows or a column is missing.
    """
    intervals = ["low", "high", "bound", "split"] if measure == "elo" else []
    _check(runs, ["agent", setting, measure, *intervals, *([other] if other else [])])
    numeric = runs[setting].dtype.kind in "if"
    values = list(dict.fromkeys(runs[setting])) if not numeric else sorted(set(runs[setting]))
    names = list(dict.fromkeys(sorted(runs["agent"])))
    panels = list(dict.fromkeys(runs[other])) if other else [None]
    places = values if numeric else range(len(values))
    step = min(np.diff(places), default=1) if len(places) > 1 else 1
    with _theme():
        palette = sns.color_palette("colorblind" if len(names) <= 10 else "husl", len(names))
        figure = Figure(
            figsize=(2.4 + max(3.4, 0.5 * len(values)) * len(panels), 5),
            layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1),
        )
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(grid, panels, strict=True):
            for number, (name, colour) in enumerate(zip(names, palette, strict=True)):
                rows = runs[(runs["agent"] == name) & runs[measure].notna()]
                rows = rows if other is None else rows[rows[other] == panel]
                # Agents stand beside each other where their intervals would hide one another.
                shift = 0.05 * step * (number - (len(names) - 1) / 2) * (measure == "elo")
                x = np.array([places[values.index(value)] for value in rows[setting]]) + shift
                _measured(axes, x, rows, measure, colour, name, line=numeric)
            axes.set_xticks(
                places, [f"{value:g}" if numeric else _wrapped(value) for value in values]
            )
            if not numeric and max(len(str(value)) for value in values) > 8:
                axes.tick_params(axis="x", rotation=90)
            axes.margins(x=0.08)
            axes.set_xlabel(setting)
            if other is not None:
                axes.set_title(f"{other} = {panel}", fontsize=_SMALL + 1)
        if measure == "elo":
            grid[0].set_ylabel("Elo (95 % interval, mean of the run = 0)")
            low, high = grid[0].get_ylim()
            grid[0].set_ylim(min(low, -20), max(high, 20))  # where every pair was split, all are 0
        else:
            grid[0].set_yscale("log")
            grid[0].yaxis.set_major_locator(LogLocator(numticks=12))
            grid[0].set_ylabel("nodes a move (log scale)")
        lines, labels = grid[0].get_legend_handles_labels()
        figure.legend(lines, labels, loc="outside right center", title="agent")
    return figure


def _measured(
    axes: Axes, x: np.ndarray, rows: pd.DataFrame, measure: str, colour: Any, name: str, line: bool
) -> None:
    """One agent's points, with their intervals where there are any, bounds as triangles."""
    order = np.argsort(x, kind="stable")
    x, rows = x[order], rows.iloc[order]
    style: Any = {"color": colour, "label": name, "markersize": 6}
    style["linestyle"] = "-" if line else "none"
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
        axes.plot(x[here], y[here], marker, color=colour, markersize=10)


def search_chart(
    trials: Iterable[tuple[int, float]], again: tuple[float, float, float, int] | None
) -> Figure:
    """The objective of each trial of a search over settings, the best so far, and what the
    confirmation of the best says.

    trials: number and Elo of each, in order, at least one. again: Elo of the confirmation, the ends
        of its 95 % interval, and its games; None where there is none.
    """
    numbers, values = (np.array(column) for column in zip(*trials, strict=True))
    with _theme():
        figure, axes = _blank()
        axes.plot(numbers, values, "o", color=_BLUE, label="trial")
        axes.step(
            numbers, np.maximum.accumulate(values), where="post", color=_BLUE, label="best so far"
        )
        if again is not None:
            elo, low, high, games = again
            axes.axhspan(low, high, color=_ORANGE, alpha=0.2, linewidth=0)
            axes.axhline(
                elo, color=_ORANGE, label=f"the best again, {games:,} games from fresh openings"
            )
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("trial")
        axes.set_ylabel("Elo above the fixed opponent")
        axes.legend(title=None, loc="best")
    return figure


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write ``name``.png (150 dots an inch) and ``name``.svg into ``folder``, made if need be.

    Text stays text in the SVG, and the same figure gives the same bytes again. Returns the paths.
    """
    folder.mkdir(parents=True, exist_ok=True)
    png, svg = folder / f"{name}.png", folder / f"{name}.svg"
    figure.savefig(png, dpi=_DPI)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": _SALT}):
        figure.savefig(svg, metadata={"Date": None})
    return [png, svg]


# ------------------------------------------------------------------ parts


def _theme() -> AbstractContextManager[None]:
    """seaborn's white grid and letters that can be read at 8 by 5 inches."""
    settings: Any = sns.axes_style("whitegrid") | sns.plotting_context("notebook")
    sizes = {"axes.titlesize": 12, "axes.labelsize": 11, "legend.fontsize": 10}
    ticks = {"xtick.labelsize": _SMALL, "ytick.labelsize": _SMALL}
    return mpl.rc_context(settings | sizes | ticks)


def _blank() -> tuple[Figure, Axes]:
    """An empty figure of 8 by 5 inches that makes room for its labels, and its axes."""
    figure = Figure(figsize=(8, 5), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    return figure, figure.add_subplot()


def _resize(figure: Figure, axes: Axes, width: float, height: float) -> None:
    """Make the figure so large that its axes measure ``width`` by ``height`` inches.

    What stands around the axes keeps its size, save a colour bar; hence up to three rounds.
    """
    wanted = np.array([width, height])
    for _ in range(3):
        figure.draw_without_rendering()
        whole, inside = figure.get_size_inches(), axes.get_position().size
        missing = wanted - whole * inside
        if np.abs(missing).max() < 0.02:
            break
        figure.set_size_inches(*(whole + missing))


def _check(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """ValueError unless the frame has rows and these columns."""
    missing = [column for column in columns if column not in frame]
    if missing:
        raise ValueError(f"the frame lacks {', '.join(missing)}; it has {', '.join(frame)}")
    if frame.empty:
        raise ValueError("the frame has no rows: nothing to draw")


def _wrapped(name: str) -> str:
    """A name over as many lines as it needs, broken at spaces, hyphens and underscores."""
    lines = textwrap.wrap(name.replace("_", "_ "), _NAME_WIDTH)
    return "\n".join(lines).replace("_ ", "_")


def _signed(elo: float) -> str:
    """A whole number with its sign: +123, +0, or with a true minus."""
    return f"{elo:+z.0f}".replace("-", MINUS)


def _value(elo: float, low: float, high: float, bound: str) -> str:
    """A rating in words: "+123 [103, 145]", or "> +620"."""
    if bound:
        return f"{bound} {_signed(elo)}"
    if elo == low == high == 0:
        return "0"
    return interval_text(elo, low, high).replace("-", MINUS)


def _rating(axes: Axes, row: float, bound: str, elo: float, low: float, high: float) -> None:
    """One agent's point with its interval, or its limit with an arrow to the open side."""
    if not bound:
        spread = [[elo - low], [high - elo]]
        axes.errorbar(elo, row, xerr=spread, fmt="o", color=_BLUE, capsize=3, markersize=6)
        return
    axes.plot(elo, row, marker="|", markersize=9, markeredgewidth=2, color=_RED)
    axes.annotate(
        "",
        (elo, row),
        xytext=(24 if bound == ">" else -24, 0),
        textcoords="offset points",
        arrowprops={"arrowstyle": "<|-", "color": _RED, "shrinkA": 0, "shrinkB": 0},
    )


def _elo_limits(standings: pd.DataFrame) -> tuple[float, float]:
    """The ends of the Elo axis: all intervals, zero, and room for an arrow; at least 20 points."""
    low, high = min(0.0, standings["low"].min()), max(0.0, standings["high"].max())
    margin = max((0.12 if any(standings["bound"]) else 0.06) * (high - low), 10)
    return low - margin, high + margin


def _column(axes: Axes, title: str, rows: np.ndarray, values: list[str], offset: float) -> None:
    """A column of texts right of the axes, one at each row, ending ``offset`` points away."""
    places: Any = {"textcoords": "offset points", "ha": "right", "fontsize": _SMALL}
    side = axes.get_yaxis_transform()  # x: 0 to 1 over the axes; y: the row
    for row, value in zip(rows, values, strict=True):
        axes.annotate(
            value, (1, float(row)), xytext=(offset, 0), xycoords=side, va="center", **places
        )
    axes.annotate(
        title, (1, 1), xytext=(offset, 4), xycoords="axes fraction", weight="bold", **places
    )


def _decades(nodes: pd.Series) -> tuple[float, float]:
    """The ends of the logarithmic axis: whole decades, with room below for a label."""
    low, high = math.log10(nodes.min() / 2), math.log10(nodes.max() * 1.3)
    return 10.0 ** math.floor(low), 10.0 ** math.ceil(high)


def _ratio(axes: Axes, depth: float, nodes: float, ratio: float) -> None:
    """The share of minimax's nodes, right below alpha-beta's point."""
    axes.annotate(
        _share(ratio),
        (depth, nodes),
        xytext=(3, -5),
        textcoords="offset points",
        ha="left",
        va="top",
        fontsize=_SMALL,
        color=_BLUE,
    )


def _share(ratio: float) -> str:
    """A share in words: "12 %", "3.4 %", and below one in a hundred "1/250"."""
    if ratio < 0.01:
        return f"1/{1 / ratio:,.0f}"
    return f"{100 * ratio:.{1 if ratio < 0.0995 else 0}f} %"


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
