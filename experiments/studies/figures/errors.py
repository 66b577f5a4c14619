"""Loss of agents against perfect play, by empty squares."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from othello_lab.core.notation import parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.experiments.report.figures import drawing
from othello_lab.experiments.report.figures.board import boards, draw_board, turn_text
from othello_lab.experiments.report.figures.labels import label_ends
from othello_lab.experiments.report.figures.tooltips import SHADED, plot_line, shade, shaded_note


def error_figures(
    profile: pd.DataFrame, costly: pd.DataFrame, rules: Ruleset, sample: str
) -> Iterator[drawing.ReportFigure]:
    """The figures of the study: see :mod:`experiments.studies.errors`.

    profile: of :func:`~experiments.studies.errors.error_profile`. costly: the moves that are drawn.
    """
    by_empties = profile[profile["empties"] != "all"].astype({"empties": int})
    if len(set(by_empties["empties"])) > 1:
        yield drawing.ReportFigure(
            name="error_profile",
            title="Error profile",
            caption="Mean discs lost a move against perfect play, and the share of best moves, of "
            f"{sample}, by the number of empty squares."
            + shaded_note(by_empties["agent"].nunique()),
            chart=error_chart(by_empties, sample),
        )
    if len(costly):
        yield drawing.ReportFigure(
            name="costly_moves",
            title="The costliest moves, drawn",
            caption="The move played, and the best moves. A number on a square is the mover's "
            "final lead in discs with perfect play after that move.",
            chart=costly_chart(costly, rules, f"{len(costly)} of {sample}"),
        )


def costly_chart(costly: pd.DataFrame, rules: Ruleset, context: str = "") -> Figure:
    """Draw boards with the played and the best move, each with its discs under perfect play.

    costly: one row a move; columns ``agent``, ``game``, ``position`` (OBF), ``move``, ``best``
    (names of squares), ``score`` and ``loss``.
    """
    drawing.check_frame(costly, ["agent", "game", "position", "move", "best", "score", "loss"])
    figure, places = boards(len(costly), 3.7, context)
    for axes, row in zip(places, costly.to_dict("records"), strict=True):
        position = Position.from_obf(row["position"], rules)
        got = {row["best"]: row["score"], row["move"]: row["score"] - row["loss"]}
        labels = {parse_square(move, rules.side): f"{discs:+d}" for move, discs in got.items()}
        title = f"{row['agent']} played {row['move']}, not {row['best']} (game {row['game']})"
        draw_board(axes, position, labels, f"{turn_text(position)}\n{drawing.wrapped(title, 44)}")
    return figure


def error_chart(profile: pd.DataFrame, context: str = "") -> Figure:
    """Discs lost and best moves by empty squares, the game going on to the right.

    profile: one row an agent and number of empties; columns ``agent``, ``empties`` (int), ``loss``
        and ``best_share`` with ``_low`` and ``_high``.
    """
    drawing.check_frame(profile, ["agent", "empties", "loss", "best_share"])
    agents = drawing.styled(profile["agent"])
    with drawing.blank(width=11, height=5, context=context) as figure:
        panels = zip(figure.subplots(1, 2), (("loss", 1), ("best_share", 100)), strict=True)
        for axes, (measure, scale) in panels:
            for name, style in agents:
                rows = profile[profile["agent"] == name].sort_values("empties", ascending=False)
                x, y = rows["empties"], scale * rows[measure]
                plot_line(axes, name, x, y, "{:.3g}", "empties", **style)
                if len(agents) <= SHADED:
                    low, high = (scale * rows[f"{measure}_{end}"] for end in ("low", "high"))
                    shade(axes, name, x, low, high, style["color"])
            axes.invert_xaxis()
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_xlabel("empty squares")
            axes.set_ylim(0, None if scale == 1 else 103)
        figure.axes[0].set_ylabel("discs lost a move (mean)")
        figure.axes[1].set_ylabel("best moves, %")
        label_ends(figure.axes[1], dict(agents))
    return figure
