"""The error profile of a line-up in little."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from othello_lab.experiments.report.figures.drawing import (
    blank,
    check_frame,
    entitle,
    heat,
    resize,
    wrapped,
)
from othello_lab.experiments.report.figures.palette import SEQUENTIAL

_CELL = 1.3, 0.3  # inches


def loss_chart(bands: pd.DataFrame, context: str = "") -> Figure:
    """Discs lost a move by agent and part of the game, as a heat map with the numbers in it.

    bands: one row an agent and part; columns ``agent`` (best first), ``empties`` (number of the
        part, in the order of the game), ``band`` (its squares that are empty) and ``loss``.
    """
    check_frame(bands, ["agent", "empties", "band", "loss"])
    agents = list(dict.fromkeys(bands["agent"]))
    ordered = bands.sort_values("empties", kind="stable")
    names = list(dict.fromkeys(ordered["band"]))
    table = bands.pivot_table(index="agent", columns="band", values="loss").reindex(agents, axis=0)
    values = table[names].to_numpy(float)
    texts = np.where(np.isnan(values), "", np.char.mod("%.2f", values))
    with blank(width=7, height=3) as figure:
        axes = figure.subplots()
        entitle(figure, context)
        heat(figure, axes, values, SEQUENTIAL, "discs lost a move", texts=texts)
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks(range(len(agents)), [wrapped(name) for name in agents])
        axes.set_xlabel("empty squares")
        resize(figure, axes, _CELL[0] * len(names), max(1.0, _CELL[1] * len(agents)))
    return figure
