"""Figures of agents with like decisions, and of the positions in which they differ most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram, leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from othello_lab.core.notation import parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.figures.board import boards, draw_board, turn_text
from othello_lab.experiments.report.figures.drawing import (
    ReportFigure,
    blank,
    check_frame,
    entitle,
    heat,
    name_ticks,
    wrapped,
)
from othello_lab.experiments.report.figures.palette import GREY, SEQUENTIAL
from othello_lab.experiments.report.figures.quick_seaborn import utils
from othello_lab.experiments.studies.agreement import choices_text

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
            caption=f"Share of the positions ({about}) in which two agents choose the same move, "
            "per cent. Agents that decide alike are neighbours. The place at which two branches "
            "join shows the mean difference of the groups (clusters by average linkage).",
            chart=similarity_chart(pairs, about),
        )
    if len(apart):
        yield ReportFigure(
            name="differences",
            title="Where they differ most",
            caption="The positions with the most evenly spread choices. A number on a square "
            "counts the agents that chose it; their names are below the board.",
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
    shown = [names[number] for number in order]
    with blank(size + 4.5, size + 2.2) as figure:
        entitle(figure, context)
        above, below = figure.subplots(2, 1, height_ratios=[1, max(2.0, size)])
        dendrogram(tree, ax=above, no_labels=True, color_threshold=0, above_threshold_color=GREY)
        above.set_ylabel("differ, %")
        above.set_ylim(bottom=0)
        above.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
        above.grid(visible=False, axis="x")
        utils.despine(ax=above, bottom=True)
        _agreement(figure, below, pd.DataFrame(100 * square[np.ix_(order, order)], shown, shown))
    return figure


def _agreement(figure: Figure, axes: Axes, values: pd.DataFrame) -> None:
    """Draw agreement in per cent, rows and columns the agents in the same order."""
    agents, cells = len(values), values.to_numpy()
    names = [wrapped(name) for name in values.index]
    titles = np.array(
        [
            [f"{one}\n{other}\n{cells[row, column]:.1f} % the same"
             for column, other in enumerate(values.columns)]
            for row, one in enumerate(values.index)
        ]
    )  # fmt: skip
    heat(
        figure,
        axes,
        cells,
        SEQUENTIAL,
        "same move, %",
        Normalize(0, 100),
        np.char.mod("%.0f", cells) if agents <= _SHOWN else None,
        10 if agents <= 12 else 7,
        titles=titles,
    )
    axes.set_xticks(range(agents), names, rotation=90)
    axes.set_yticks(range(agents), names)
    name_ticks(axes, values.index)


def differences_chart(
    apart: pd.DataFrame, answers: pd.DataFrame, rules: Ruleset, context: str = ""
) -> Figure:
    """Draw boards with the agents' choices on them.

    apart: one row a position; ``position`` (OBF), its index that of ``answers``. answers: a column
    an agent with the names of moves.
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
