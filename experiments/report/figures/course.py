"""The course of a game: time and nodes of its moves, and the agents' values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.drawing import (
    MINUS,
    SMALL,
    ReportFigure,
    axis_time,
    blank,
    cell_texts,
    check_frame,
    heat,
    name_ticks,
    styled,
    wrapped,
)
from othello_lab.experiments.report.figures.labels import name_legend
from othello_lab.experiments.report.figures.palette import BLUE, GREY, ORANGE, SEQUENTIAL
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.moves import RecordedMoves, quantiles_by
from othello_lab.experiments.statistics.pairs import BoolArray

MEASURES = {"microseconds": "time a move", "nodes": "nodes a move"}
MOST_LINES = 8
"""More agents than these have rows of a heat map instead of lines."""

MOST_PANELS = 12
"""Agents in one figure of values; more have several figures."""

_PLIES = 256  # more than a game has on any board
_LEAST_GAMES = 5  # of less at a ply a mean, or a median, jumps about
_BAND = (0.1, 0.9)


def course_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of the time and the nodes of every agent's moves, ply by ply, unless most
    agents have too few moves."""
    table = course(facts.moves, facts.names)
    if table.empty or 2 * table["agent"].nunique() < len(facts.names):
        return
    yield ReportFigure(
        name="course",
        title="The course of a game",
        caption=f"Time and nodes of a move at each ply: the medians of {_games(facts.moves)}. "
        "Black begins, so its plies are the odd ones until somebody passes."
        f"{_left_out(facts.moves, np.isfinite(facts.moves.nanoseconds), facts.names, table)}"
        " The table is in course.csv.",
        chart=course_chart(table, facts.context, facts.order),
        data=table,
    )


def values_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of the values that agents gave their positions, ply by ply."""
    table = values(facts.moves, facts.names)
    agents = [name for name in facts.order if name in set(table["agent"])]
    missing = _left_out(facts.moves, _valued(facts.moves), facts.names, table)
    figures = math.ceil(len(agents) / MOST_PANELS)
    for number in range(figures):
        # about as many in each: no figure is left with one agent
        first, end = (len(agents) * part // figures for part in (number, number + 1))
        some = agents[first:end]
        places = f", {first + 1} to {end}" if figures > 1 else ""
        yield ReportFigure(
            name=f"values_{number + 1}" if number else "values",
            title=f"Values over the game{places}",
            caption="The values that the agent gave its games, in the units of its evaluation. "
            "More is better for Black, at every move. Lines are means of "
            f"{_games(facts.moves)}, bands go from the 10th to the 90th per cent. If the "
            "agent is as strong as its opponents and judges right, both lines stay near 0. Values "
            f"of finished games are left out.{missing}",
            chart=values_chart(table[table["agent"].isin(some)], facts.context, some),
        )


def _games(moves: RecordedMoves) -> str:
    games = counted(moves.games, "game")
    return f"{games}, drawn by chance of {moves.recorded:,}" if moves.sampled else games


def _left_out(
    moves: RecordedMoves, known: BoolArray, names: Sequence[str], table: pd.DataFrame
) -> str:
    """Return the reason why agents with something to show are not in a table, with a space before
    it; "" if all are. known: the moves with something to show, shape (moves,)."""
    there = set(table["agent"])
    missing = [names[agent] for agent in np.unique(moves.agent[known])]
    missing = [name for name in missing if name not in there]
    if not missing:
        return ""
    return (
        f" Not shown, as they have fewer than {_LEAST_GAMES} moves at every ply: "
        f"{', '.join(missing)}."
    )


# ------------------------------------------------------------------ numbers


def course(moves: RecordedMoves, names: Sequence[str]) -> pd.DataFrame:
    """Medians by agent and ply: columns agent (name), ply, moves, microseconds (that the agent
    could use) and nodes. Plies with few moves are left out."""
    known = np.isfinite(moves.nanoseconds) & (moves.ply < _PLIES)
    cell = moves.agent[known] * _PLIES + moves.ply[known]
    cells, count, nodes = quantiles_by(cell, moves.nodes[known], (0.5,))
    _, _, nanoseconds = quantiles_by(cell, moves.nanoseconds[known], (0.5,))
    table = pd.DataFrame(
        {
            "agent": [names[agent] for agent in cells // _PLIES],
            "ply": cells % _PLIES,
            "moves": count,
            "microseconds": nanoseconds[:, 0] / 1000,
            "nodes": nodes[:, 0],
        }
    )
    return _frequent(table)


def values(moves: RecordedMoves, names: Sequence[str]) -> pd.DataFrame:
    """Return agents' values by agent, colour and ply, as Black sees them, without finished games:
    columns agent (name), side ("Black" or "White", the agent's), ply, moves, mean, low and high
    (10th and 90th per cent). Plies with few moves are left out."""
    known = _valued(moves)
    black, agent, ply = moves.black[known], moves.agent[known], moves.ply[known]
    value = np.where(black, 1, -1) * moves.value[known]
    cell = (2 * agent + ~black) * _PLIES + ply
    cells, count, ends = quantiles_by(cell, value, _BAND)
    sums = np.bincount(np.searchsorted(cells, cell), value, minlength=len(cells))
    table = pd.DataFrame(
        {
            "agent": [names[number] for number in cells // _PLIES // 2],
            "side": np.where(cells // _PLIES % 2, "White", "Black"),
            "ply": cells % _PLIES,
            "moves": count,
            "mean": sums / count,
            "low": ends[:, 0],
            "high": ends[:, 1],
        }
    )
    return _frequent(table)


def _valued(moves: RecordedMoves) -> BoolArray:
    """Return True for each move with a value of a game that is not finished, shape (moves,)."""
    with np.errstate(invalid="ignore"):
        known: BoolArray = (np.abs(moves.value) < FINAL_UNIT) & (moves.ply < _PLIES)
    return known


def _frequent(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without plies that few games reached, unless all are few."""
    least = min(_LEAST_GAMES, table["moves"].max()) if len(table) else 0
    return table[table["moves"] >= least].reset_index(drop=True)


# ------------------------------------------------------------------ charts


def course_chart(table: pd.DataFrame, context: str = "", order: Sequence[str] = ()) -> Figure:
    """Draw the time and the nodes of a move by ply: a line an agent, or of many agents a row of a
    heat map.

    table: see :func:`course`; nodes may be 0, of an agent that counts none. 1 to 60 agents read
        well.
    context: the line above. order: all agents of the report, for their rows and colours.
    """
    check_frame(table, ["agent", "ply", *MEASURES])
    shown = [measure for measure in MEASURES if (table[measure] > 0).any()]
    draw = _lines if table["agent"].nunique() <= MOST_LINES else _heats
    return draw(table, shown, context, order)


def _lines(table: pd.DataFrame, shown: list[str], context: str, order: Sequence[str]) -> Figure:
    with blank(width=9, height=1.2 + 2.6 * len(shown), context=context) as figure:
        grid = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        styles = styled(table["agent"], order)
        for axes, measure in zip(grid, shown, strict=True):
            for number, (name, style) in enumerate(styles):
                rows = table[(table["agent"] == name) & (table[measure] > 0)]
                if len(rows) or measure == shown[0]:
                    every = (3 * number % 10, 10)  # so that marks do not hide each other
                    label = wrapped(name) if measure == shown[0] else None
                    line = axes.plot(
                        rows["ply"], rows[measure], **style, label=label, markevery=every,
                        markersize=6,
                    )  # fmt: skip
                    annotate(line, name, name)
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(numticks=9))
            axes.yaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_formatter(FuncFormatter(_TEXTS[measure]))
            axes.set_ylabel(f"{MEASURES[measure]} (log scale)")
        grid[-1].set_xlabel("ply")
        legend = figure.legend(loc="outside right center")
        name_legend(legend, [name for name, _ in styles])
    return figure


def _heats(table: pd.DataFrame, shown: list[str], context: str, order: Sequence[str]) -> Figure:
    agents = [name for name, _ in styled(table["agent"], order)]
    names = [wrapped(name) for name in agents]
    row = 0.2 + 0.13 * max(name.count("\n") for name in names)  # inches
    with blank(2.5 + 4.5 * len(shown), 1.6 + row * len(agents), context) as figure:
        grid = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        plies = range(int(table["ply"].min()), int(table["ply"].max()) + 1)
        for axes, measure in zip(grid, shown, strict=True):
            cells = table.pivot_table(measure, "agent", "ply").reindex(agents, columns=plies)
            cells = cells.where(cells > 0)
            data = cells.to_numpy(dtype=float)
            label = f"{MEASURES[measure]} (log scale)"
            ends = LogNorm(np.nanmin(data), max(np.nanmax(data), 1.01 * np.nanmin(data)))
            titles = _titles(cells, _TEXTS[measure])
            mesh = heat(figure, axes, data, SEQUENTIAL, label, ends, parted=False, titles=titles)
            assert mesh.colorbar is not None, "see heat"
            mesh.colorbar.formatter = FuncFormatter(_TEXTS[measure])
            mesh.colorbar.minorticks_off()
            mesh.colorbar.update_ticks()
            shift = plies[0]
            ticks = [ply for ply in plies if ply % 10 == 0]
            axes.set_xticks([ply - shift for ply in ticks], [f"{ply}" for ply in ticks])
            axes.set_xlabel("ply")
        grid[0].set_yticks(range(len(agents)), names, fontsize=8)
        name_ticks(grid[0], agents)
    return figure


def _titles(cells: pd.DataFrame, text: Callable[..., str]) -> np.ndarray:
    """Return the tooltips of the cells of a measure by agent and ply."""
    return cell_texts(cells, lambda name, ply, value: f"{name}\nply {ply}: {text(value, None)}")


_TEXTS = {"microseconds": axis_time, "nodes": lambda value, _: f"{value:,.0f}"}


def values_chart(table: pd.DataFrame, context: str = "", order: Sequence[str] = ()) -> Figure:
    """Draw the agents' values of their games as Black sees them, a panel an agent, a line for each
    of its colours.

    table: see :func:`values`. 1 to 12 agents read well. context: the line above. order: the agents
    in the order of the panels.
    """
    check_frame(table, ["agent", "side", "ply", "mean", "low", "high"])
    agents = [name for name, _ in styled(table["agent"], order)]
    columns = min(3, len(agents))
    rows = math.ceil(len(agents) / columns)
    with blank(width=max(6.5, 3.5 * columns), height=1.4 + 2.2 * rows, context=context) as figure:
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
        for axes, name in zip(grid, agents, strict=False):
            _panel(axes, table[table["agent"] == name])
            axes.set_title(wrapped(name), fontsize=SMALL + 1)
        for number, axes in enumerate(grid):
            axes.set_visible(number < len(agents))
            if len(agents) - columns <= number < len(agents):
                axes.set_xlabel("ply")
                axes.tick_params(labelbottom=True)
        figure.supylabel("value, as Black sees it", fontsize=11)
        lines, labels = grid[0].get_legend_handles_labels()
        figure.legend(lines, labels, loc="outside lower center", ncols=2)
    return figure


def _panel(axes: Axes, table: pd.DataFrame) -> None:
    axes.axhline(0, color=GREY, linewidth=1)
    for side, colour in (("Black", BLUE), ("White", ORANGE)):
        rows = table[table["side"] == side]
        # A colour's plies are every second one, save after passes, which few games have.
        dash = "-" if side == "Black" else "--"
        axes.plot(rows["ply"], rows["mean"], dash, color=colour, label=f"the agent has {side}")
        axes.fill_between(rows["ply"], rows["low"], rows["high"], color=colour, alpha=0.18, lw=0)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.7g}".replace("-", MINUS))
    )
