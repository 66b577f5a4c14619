"""Every agent against every other: shares of points, and how sure it is who is better."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from core.shown import counted
from experiments.report.facts import RunFacts, marked_names
from experiments.report.figures.base import ReportFigure, blank, entitle, resize, wrapped
from experiments.report.standings import pair_counts
from experiments.statistics.pairs import FloatArray
from experiments.statistics.pool import score_matrix

SUPERIORITY_AGENTS = range(3, 21)
"""For so many agents the report shows how sure each one's superiority is; of two, LOS says it."""


def win_rates_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """Who took how many of the points from whom, unless everybody took half of them."""
    if facts.parts and all(ratings.split.all() for _, ratings in facts.parts):
        return
    yield ReportFigure(
        name="win_rates",
        title="Win rates",
        caption="Share of points of the row agent against the column agent, draws counting half.",
        chart=matrix_chart(
            _best_first(score_matrix(pair_counts(facts.record)), facts),
            label="score of the row agent, %",
            across="opponent",
            context=facts.context,
        ),
    )


def superiority_figures(facts: RunFacts) -> Iterator[ReportFigure]:
    """How sure it is that each agent is better than each other."""
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
        caption="How likely the row agent is above the column agent, from a bootstrap over the "
        f"{counted(facts.openings, 'opening')}, which all pairings share: 50 is a toss-up, or one "
        "strategy by two names; 97.5 or more is what a two-sided test at 5 % would call better. "
        "The fewer openings, the less sure.",
        chart=matrix_chart(
            _best_first(above, facts),
            label="row agent rated above, %",
            across="than",
            context=facts.context,
        ),
    )


def _best_first(values: FloatArray, facts: RunFacts) -> pd.DataFrame:
    """A square of values by the agents' numbers as a frame, in the order of the standings."""
    names, order = facts.names, marked_names(facts.standings)
    return pd.DataFrame(values, index=names, columns=names).loc[order, order]


def matrix_chart(shares: pd.DataFrame, label: str, across: str, context: str = "") -> Figure:
    """A heatmap of per cent between agents.

    shares: square; index and columns the same agents, best first; values 0 to 1; nan on the
        diagonal and where two did not meet (left grey). 2 to 20 agents read well.
    label: what the values are. across: what the column agents are to the row agents. context: what
        stands above.

    Raises ValueError if the frame is empty or its rows and columns are not the same agents.
    """
    if shares.empty or list(shares.index) != list(shares.columns):
        raise ValueError("rows and columns must be the same agents, at least one")
    agents = len(shares)
    names = [wrapped(name) for name in shares.index]
    longest = max(len(line) for name in names for line in name.splitlines())
    lines = max(1 + name.count("\n") for name in names)
    cell = float(np.clip(5 / agents, 0.42, 1.1))  # inches
    level = 0.085 * longest < cell  # the names fit below their cells, side by side
    cell = max(cell, 0.17 * lines)  # where they stand upright, their lines must fit
    with blank() as figure:
        entitle(figure, context)
        axes = figure.add_subplot()
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
        resize(figure, axes, cell * agents, cell * agents)
    return figure
