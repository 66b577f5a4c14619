"""Every agent against every other: shares of points, and probabilities of superiority."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    blank,
    cell_texts,
    heat,
    name_ticks,
    resize,
    wrapped,
)
from othello_lab.experiments.report.figures.palette import DIVERGING
from othello_lab.experiments.statistics.pairs import FloatArray, IntArray
from othello_lab.experiments.statistics.pool import score_matrix

SUPERIORITY_AGENTS = range(3, 21)
"""For so many agents the report shows how sure each one's superiority is; of two, LOS says it."""

NUMBERED = 30
"""Up to so many agents have numbers in the cells of a matrix."""

_WIDTH = 30  # letters of a name before it goes on in the next line


def win_rates_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of the shares of points between agents, unless everybody took half of
    them, or single games make no pairs."""
    if facts.all_split or not facts.pair_counts.any():
        return
    shares = _best_first(score_matrix(facts.pair_counts), facts)
    games = _best_first(2 * facts.pair_counts.sum(axis=2), facts)
    note = "win_rates.csv"
    if len(shares) <= NUMBERED:
        met = games.to_numpy()[games.to_numpy() > 0]
        unequal = ", with the number of games" if len(set(met.tolist())) > 1 else ""
        note = f"numbers in the cells are per cent{unequal}"
    yield ReportFigure(
        name="win_rates",
        title="Win rates",
        caption="Share of points of the row agent against the column agent. A draw counts half; "
        f"pairs of games that repeat an earlier one are left out; {note}. Agents that did not meet "
        "have a grey field.",
        chart=matrix_chart(
            shares,
            label="score of the row agent, %",
            across="opponent",
            context=facts.context,
            games=games,
        ),
        data=_listed(shares, games),
    )


def _listed(shares: pd.DataFrame, games: pd.DataFrame) -> pd.DataFrame:
    """Return the matrix as a table, one row for each two agents that met."""
    first, second = np.nonzero(games.to_numpy())
    return pd.DataFrame(
        {
            "agent": shares.index[first],
            "opponent": shares.columns[second],
            "score": shares.to_numpy()[first, second],
            "games": games.to_numpy()[first, second],
        }
    )


def superiority_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Yield the figure of the probability that each agent is better than each other."""
    agents = len(facts.names)
    if agents not in SUPERIORITY_AGENTS or not facts.parts:
        return
    above = np.full((agents, agents), np.nan)
    for members, ratings in facts.parts:
        above[np.ix_(members, members)] = ratings.superiority
    if np.isnan(above).all():
        return  # one opening tells nothing of others
    yield ReportFigure(
        name="superiority",
        title="Who is better, and how sure that is",
        caption="Probability that the row agent is above the column agent, from a bootstrap over "
        f"the {counted(facts.openings, 'opening')} that all pairings share. 50 is a toss-up, or "
        "one strategy with two names; a two-sided test at 5 % calls 97.5 or more better. "
        "Fewer openings make it less sure.",
        chart=matrix_chart(
            _best_first(above, facts),
            label="row agent rated above, %",
            across="than",
            context=facts.context,
        ),
    )


def _best_first(values: FloatArray | IntArray, facts: RunFacts) -> pd.DataFrame:
    """A square of values by the agents' numbers as a frame, in the order of the standings."""
    return pd.DataFrame(values, facts.names, facts.names).loc[facts.order, facts.order]


def matrix_chart(
    shares: pd.DataFrame,
    label: str,
    across: str,
    context: str = "",
    games: pd.DataFrame | None = None,
) -> Figure:
    """Draw a heat map of per cent between agents.

    shares: square; index and columns the same agents, best first; values 0 to 1; nan on the
        diagonal and where two did not meet (left grey). Up to 30 agents have numbers in their
        cells; of 60 the colours can still be read.
    label: the meaning of the values. across: the role of the column agents. context: the line
    above. games: number of games of each value, alike in shape; written once if all are the same.

    Raises ValueError if the frame is empty or its rows and columns are not the same agents.
    """
    if shares.empty or list(shares.index) != list(shares.columns):
        raise ValueError("rows and columns must be the same agents, at least one")
    agents = len(shares)
    names = [wrapped(name, _WIDTH if agents <= NUMBERED else 2 * _WIDTH) for name in shares.index]
    longest = max(len(line) for name in names for line in name.splitlines())
    lines = max(1 + name.count("\n") for name in names)
    cell = float(np.clip(5 / agents, 0.42 if agents <= NUMBERED else 0.2, 1.1))  # inches
    level = 0.085 * longest < cell  # the names fit below their cells, side by side
    cell = max(cell, 0.17 * lines)  # where they stand upright, their lines must fit
    often = [] if games is None else sorted({*games.to_numpy()[shares.notna().to_numpy()].tolist()})
    if len(often) == 1:
        label += f"\n({often[0]:,} games each)"
    with blank(context=context) as figure:
        axes = figure.add_subplot()
        texts = _cells(shares, games if len(often) > 1 else None) if agents <= NUMBERED else None
        norm, size = Normalize(0, 100), 8 if agents > 12 else 10
        values = 100 * shares.to_numpy(dtype=float)
        tips = _titles(shares, games, across)
        heat(figure, axes, values, DIVERGING, label, norm, texts, size, titles=tips)
        axes.set_xticks(range(agents), names, rotation=0 if level else 90)
        axes.set_yticks(range(agents), names)
        name_ticks(axes, shares.index)
        if agents > NUMBERED:
            axes.tick_params(labelsize=7)
        axes.set_xlabel(across)
        axes.set_ylabel("agent")
        resize(figure, axes, cell * agents, cell * agents)
    return figure


def _titles(shares: pd.DataFrame, games: pd.DataFrame | None, across: str) -> np.ndarray:
    """Return the tooltips of the cells."""
    joint = "than" if across == "than" else "against"

    def title(agent: str, other: str, share: float) -> str:
        of = "" if games is None else f" of {counted(games.loc[agent, other], 'game')}"
        return f"{agent}\n{joint} {other}\n{100 * share:.1f} %{of}"

    return cell_texts(shares, title)


def _cells(shares: pd.DataFrame, games: pd.DataFrame | None) -> np.ndarray:
    """Return the texts of the cells: per cent, and the number of games."""

    def text(agent: str, other: str, share: float) -> str:
        often = "" if games is None else f" %\nin {games.loc[agent, other]:,}"
        return f"{100 * share:.0f}{often}"

    return cell_texts(shares, text)
