"""Which agents decide alike, and where they differ most."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram, leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from othello_lab.core.notation import parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.figures.base import (
    ReportFigure,
    blank,
    check_frame,
    entitle,
    wrapped,
)
from othello_lab.experiments.report.figures.palette import GREY, SEQUENTIAL
from othello_lab.experiments.studies.agreement import choices_text
from othello_lab.experiments.studies.figures.board import boards, draw_board, turn_text

_SHOWN = 40
"""Agents up to which the numbers stand in the cells."""
_NAMES = 3
"""Agents that are named with a move."""


def similarity_figures(
    pairs: pd.DataFrame, apart: pd.DataFrame, answers: pd.DataFrame, rules: Ruleset
) -> Iterator[ReportFigure]:
    """The figures of the study: see :mod:`experiments.studies.similarity`."""
    about = f"{counted(len(answers), 'position')}, {rules.name}"
    if len(answers.columns) > 2 and pairs["agreement"].notna().all():
        yield ReportFigure(
            name="similarity",
            title="Who decides alike",
            caption=f"In how many per cent of the positions ({about}) two agents choose the same "
            "move. Agents "
            "that decide alike stand beside each other; where branches join says how much two "
            "groups differ on average (clusters by average linkage).",
            chart=similarity_chart(pairs, about),
        )
    if len(apart):
        yield ReportFigure(
            name="differences",
            title="Where they differ most",
            caption="The positions with the most evenly spread choices. On a square stands how "
            "many agents chose it, below the board who.",
            chart=differences_chart(
                apart, answers, rules, f"the {len(apart)} most disputed of {about}"
            ),
        )


def similarity_chart(pairs: pd.DataFrame, context: str = "") -> Figure:
    """A heat map of agreement, its agents ordered by clustering, and the tree of the clusters.

    pairs: one row a pair; columns ``first``, ``second`` and ``agreement`` (0 to 1). 3 agents or
        more.
    """
    check_frame(pairs, ["first", "second", "agreement"])
    agreement = pairs.pivot_table(index="first", columns="second", values="agreement")
    names = list(dict.fromkeys([*pairs["first"], *pairs["second"]]))
    square = agreement.reindex(index=names, columns=names).to_numpy()
    square = np.where(np.isnan(square), square.T, square)
    np.fill_diagonal(square, 1)
    distances = squareform(1 - square, checks=False)
    tree = optimal_leaf_ordering(linkage(distances, "average"), distances)
    order = leaves_list(tree)
    size = float(np.clip(6 / len(names), 0.3, 0.7)) * len(names)
    shown = [wrapped(names[number]) for number in order]
    with blank(size + 4.5, size + 2.2) as figure:
        entitle(figure, context)
        above, below = figure.subplots(2, 1, height_ratios=[1, max(2.0, size)])
        dendrogram(tree, ax=above, no_labels=True, color_threshold=0, above_threshold_color=GREY)
        above.set_ylabel("differ, %")
        above.set_ylim(bottom=0)
        above.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
        above.grid(visible=False, axis="x")
        sns.despine(ax=above, bottom=True)
        _heatmap(below, pd.DataFrame(100 * square[np.ix_(order, order)], shown, shown))
    return figure


def _heatmap(axes: Axes, values: pd.DataFrame) -> None:
    """Agreement in per cent, rows and columns the agents in the same order."""
    agents = len(values)
    with warnings.catch_warnings():
        # seaborn 0.13 sets up its colour map in a way that matplotlib 3.11 will retire
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        sns.heatmap(
            values,
            vmin=0,
            vmax=100,
            cmap=SEQUENTIAL,
            annot=agents <= _SHOWN,
            fmt=".0f",
            annot_kws={"fontsize": 10 if agents <= 12 else 7},
            linewidths=0.5,
            xticklabels=True,
            yticklabels=True,
            cbar_kws={"label": "same move, %"},
            ax=axes,
        )
    axes.grid(visible=False)
    axes.tick_params(axis="x", rotation=90)
    axes.tick_params(axis="y", rotation=0)
    axes.set_xlabel("")
    axes.set_ylabel("")


def differences_chart(
    apart: pd.DataFrame, answers: pd.DataFrame, rules: Ruleset, context: str = ""
) -> Figure:
    """Boards with what agents chose on them.

    apart: one row a position; ``position`` (OBF), its index those of ``answers``, which has a
        column an agent with the names of moves.
    """
    check_frame(apart, ["position"])
    texts = {piece: choices_text(answers.loc[piece], _NAMES) for piece in apart.index}
    longest = max(map(len, texts.values()))
    figure, places = boards(len(apart), 3.2 + 0.17 * longest, context)
    for axes, (piece, row) in zip(places, apart.iterrows(), strict=True):
        position = Position.from_obf(row["position"], rules)
        counts = answers.loc[piece].value_counts()
        labels = {parse_square(move, rules.side): str(number) for move, number in counts.items()}
        told = "\n".join(wrapped(text, 44) for text in texts[piece])
        draw_board(axes, position, labels, f"{turn_text(position)}\n{told}")
    return figure
