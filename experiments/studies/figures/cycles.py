"""The figures of the study of intransitivity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from othello_lab.experiments.report.figures.drawing import (
    SMALL,
    blank,
    check_frame,
    entitle,
    name_rows,
    resize,
    wrapped,
)
from othello_lab.experiments.report.figures.palette import BLUE, FAINT, GREY, ORANGE, RED
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.statistics.pairs import BoolArray


def ranks_chart(ranks: pd.DataFrame, context: str = "") -> Figure:
    """Elo and alpha-rank side by side, a row an agent.

    ranks: columns ``agent``, ``elo``, ``low``, ``high``, ``bound``, and ``alpha_rank``,
        ``alpha_low``, ``alpha_high`` (0 to 1; ends may be nan). 1 to 40 rows read well.
    """
    check_frame(ranks, ["agent", "elo", "low", "high", "bound", "alpha_rank", "alpha_low"])
    with blank() as figure:
        entitle(figure, context)
        left, right = figure.subplots(1, 2, sharey=True)
        rows, height = name_rows(left, ranks["agent"])
        for row, about in zip(rows, ranks.to_dict("records"), strict=True):
            ends = _ends(about["elo"], about["low"], about["high"])
            mark = {">": ">", "<": "<"}.get(about["bound"], "o")
            rating = left.errorbar(
                about["elo"], row, xerr=None if about["bound"] else ends, fmt=mark, capsize=3,
                color=RED if about["bound"] else BLUE,
            )  # fmt: skip
            ends = _ends(about["alpha_rank"], about["alpha_low"], about["alpha_high"])
            rank = right.errorbar(
                100 * about["alpha_rank"], row, xerr=None if ends is None else 100 * ends,
                fmt="D", capsize=3, color=ORANGE,
            )  # fmt: skip
            title = f"{about['agent']}\nElo {about['elo']:+.0f}, "
            title += f"alpha-rank {100 * about['alpha_rank']:.1f} %"
            annotate([rating, rank], about["agent"], title)
        left.axvline(0, color=GREY, linewidth=1)
        left.set_xlabel("Elo (95 % interval)")
        right.set_xlabel("alpha-rank, % (95 % interval)")
        right.set_xlim(-3, 103)
        right.grid(visible=False, axis="y")
        resize(figure, left, 3.6, height)
    return figure


def _ends(value: float, low: float, high: float) -> np.ndarray | None:
    ends = np.array([[value - low], [high - value]])
    return None if np.isnan(ends).any() else ends


def graph_chart(
    names: Sequence[str], better: BoolArray, circles: Sequence[Sequence[int]], context: str = ""
) -> Figure:
    """Draw the agents on a circle, clockwise from the top in the order given (best first), with an
    arrow from winner to loser.

    better: shape (n, n), true if the row agent is shown to be better. circles: the cycles among
    them, each as places in ``names``. 3 to 24 agents read well.
    """
    number = len(names)
    angle = np.pi / 2 - 2 * np.pi * np.arange(number) / number
    place = np.column_stack([np.cos(angle), np.sin(angle)])
    inside = {
        pair for circle in circles for pair in zip(circle, [*circle[1:], circle[0]], strict=True)
    }
    with blank(width=7.5, height=7) as figure:
        entitle(figure, context)
        axes = figure.add_subplot(aspect="equal")
        axes.axis("off")
        for one, other in sorted(np.argwhere(better).tolist(), key=lambda p: tuple(p) in inside):
            cyclic, upset = (one, other) in inside, one > other
            axes.annotate(
                "", place[other], place[one],
                arrowprops={
                    "arrowstyle": "-|>", "shrinkA": 7, "shrinkB": 7, "mutation_scale": 13,
                    "color": RED if cyclic else GREY if upset else FAINT,
                    "linewidth": 2.2 if cyclic else 0.8,
                    "linestyle": "--" if upset and not cyclic else "-",
                    "connectionstyle": "arc3,rad=0.05",
                },
            )  # fmt: skip
        axes.plot(*place.T, "o", color=BLUE, markersize=9, zorder=3)
        for (x, y), name in zip(place, names, strict=True):
            sides = "left" if x > 0.15 else "right" if x < -0.15 else "center"
            level = "bottom" if y > 0.9 else "top" if y < -0.9 else "center"
            axes.annotate(
                wrapped(name, 18), (x, y), xytext=(9 * x, 9 * y), textcoords="offset points",
                ha=sides, va=level, fontsize=SMALL,
            )  # fmt: skip
        axes.set_xlim(-1.15, 1.15)
        axes.set_ylim(-1.15, 1.15)
    return figure
