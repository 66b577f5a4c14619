"""Figures of a trained network: its use of the squares of the board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from othello_lab.experiments.report.figures.drawing import (
    SMALL,
    ReportFigure,
    blank,
    entitle,
    heat,
    signed,
)
from othello_lab.experiments.report.figures.palette import DIVERGING
from othello_lab.training.neural import Network, NetworkInputs
from othello_lab.training.stages import empties_text, stages_of_empties


def network_figures(network: Network, held: NetworkInputs) -> Iterator[ReportFigure]:
    """The figures of a training's report. held: positions that were held back."""
    if not len(held):
        return
    of_empties = stages_of_empties(network.stages)
    shown = sorted({network.stages - 1, network.stages // 2, 0}, reverse=True)
    boards = [network.worth_of_squares(held, stage) for stage in shown]
    found = [
        (board, f"{empties_text(of_empties, stage)} empty squares")
        for board, stage in zip(boards, shown, strict=True)
        if np.isfinite(board).all()
    ]
    if found:
        yield ReportFigure(
            name="worth_of_squares",
            title="What a disc is worth to the network, by square",
            caption="By how many discs the value rises where a disc is the mover's and not the "
            "opponent's, all else alike, mobility too: the mean slope over positions that were "
            "held back and their symmetric images. A network has no such weights; they change "
            "from position to position.",
            chart=squares_chart([board for board, _ in found], [title for _, title in found]),
        )


def squares_chart(boards: Sequence[np.ndarray], titles: Sequence[str], context: str = "") -> Figure:
    """Worths of squares, in discs, each shape (8, 8), row 1 first."""
    most = max(float(np.abs(board).max()) for board in boards) or 1.0
    norm = TwoSlopeNorm(0, -most, most)
    with blank(width=4.3 * len(boards) + 0.6, height=4.2) as figure:
        entitle(figure, context)
        places = figure.subplots(1, len(boards), squeeze=False)[0]
        for axes, board, title in zip(places, boards, titles, strict=True):
            texts = np.array([[signed(worth, 1) for worth in row] for row in board])
            heat(figure, axes, board, DIVERGING, "discs", norm, texts, size=SMALL - 2)
            axes.set_title(title)
            axes.set_aspect("equal")
            axes.set_xticks(range(8), "abcdefgh")
            axes.set_yticks(range(8), range(1, 9))
            axes.xaxis.tick_top()
    return figure
