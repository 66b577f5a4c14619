"""The figure of the study of openings."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from othello_lab.experiments.report.figures.drawing import (
    blank,
    check_frame,
    entitle,
    name_rows,
    resize,
)
from othello_lab.experiments.report.figures.palette import BLUE, GREY, ORANGE


def openings_chart(sets: pd.DataFrame, context: str = "") -> Figure:
    """Pairs needed, shares of draws and of pairs that the opening decided, and Black's advantage, a
    row a set of openings.

    sets: columns ``openings``, ``pairs_needed``, ``needed_low``, ``needed_high`` (nan where nothing
        is known), ``draws``, ``same_colour`` (0 to 1), ``black_elo``, ``black_elo_low`` and
        ``black_elo_high``. 1 to 12 rows read well.
    """
    check_frame(sets, ["openings", "pairs_needed", "draws", "same_colour", "black_elo"])
    with blank() as figure:
        entitle(figure, context)
        panels = figure.subplots(1, 3, sharey=True)
        needed, shares, black = panels
        rows, height = name_rows(needed, sets["openings"])
        needed.set_ylabel("openings")
        for row, about in zip(rows, sets.to_dict("records"), strict=True):
            for axes, value, ends in (
                (needed, "pairs_needed", ("needed_low", "needed_high")),
                (black, "black_elo", ("black_elo_low", "black_elo_high")),
            ):
                spread = np.array(
                    [[about[value] - about[ends[0]]], [about[ends[1]] - about[value]]]
                )
                known = None if np.isnan(spread).any() else spread
                axes.errorbar(about[value], row, xerr=known, fmt="o", color=BLUE, capsize=3)
            shares.plot(100 * about["draws"], row, "o", color=BLUE)
            shares.plot(100 * about["same_colour"], row, "D", color=ORANGE)
        black.axvline(0, color=GREY, linewidth=1)
        needed.set_xlim(left=0)
        shares.set_xlim(left=-1)
        needed.set_xlabel("pairs needed (95 % interval)")
        shares.set_xlabel("games drawn (\N{BLACK CIRCLE}), pairs\nwith one colour's wins "
                          "(\N{BLACK DIAMOND}), %")  # fmt: skip
        black.set_xlabel("Black's advantage, Elo")
        for axes in panels:
            axes.grid(visible=False, axis="y")
        resize(figure, needed, 2.9, height)
    return figure
