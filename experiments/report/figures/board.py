"""A board in a figure."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Circle, Rectangle

from othello_lab.core.bitboard import bits
from othello_lab.core.drawing import BOARD, DISCS, LINES
from othello_lab.core.position import Position
from othello_lab.experiments.report.figures.drawing import SMALL, blank
from othello_lab.experiments.report.figures.palette import GREY, INK

_RADIUS = 0.4  # of a square's side


def draw_board(axes: Axes, position: Position, labels: Mapping[int, str], below: str) -> None:
    """Draw a position. labels: texts on squares, by their number (a1 = 0). below: the lines below
    it."""
    side = position.ruleset.side
    up = position.ruleset.first_row_on_top
    rows = list(range(side)) if up else list(reversed(range(side)))
    axes.add_patch(Rectangle((0, 0), side, side, facecolor=BOARD, edgecolor=LINES))
    for line in range(1, side):
        axes.plot([0, side], [line, line], color=LINES, linewidth=0.7)
        axes.plot([line, line], [0, side], color=LINES, linewidth=0.7)
    for discs, mark in ((position.black, "X"), (position.white, "O")):
        for square in bits(discs):
            axes.add_patch(
                Circle(_middle(square, rows), _RADIUS, facecolor=DISCS[mark], linewidth=0)
            )
    for square, text in labels.items():
        axes.text(
            *_middle(square, rows),
            text,
            ha="center",
            va="center",
            color=DISCS["O"],
            fontsize=SMALL,
            weight="bold",
        )
    axes.set_xlim(0, side)
    axes.set_ylim(side, 0)
    axes.set_aspect("equal")
    axes.set_xticks([n + 0.5 for n in range(side)], "abcdefgh"[:side])
    axes.set_yticks([n + 0.5 for n in range(side)], [f"{row + 1}" for row in rows])
    axes.xaxis.tick_top()
    axes.tick_params(length=0, colors=GREY, labelsize=SMALL - 1, pad=1)
    axes.grid(visible=False)
    axes.set_xlabel(below, fontsize=SMALL - 1, loc="left", color=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)


def turn_text(position: Position) -> str:
    """Return the side to move, in the words below a board."""
    return f"{position.to_move.value.capitalize()} to move"


def boards(number: int, height: float, context: str = "") -> tuple[Figure, list[Axes]]:
    """Return a figure with places for boards, up to three beside each other, each ``height`` inches
    high with the text below it."""
    columns = min(3, number)
    lines = -(-number // columns)
    with blank(3.4 * columns, lines * height, context=context) as figure:
        engine = figure.get_layout_engine()
        assert isinstance(engine, ConstrainedLayoutEngine)
        engine.set(hspace=0.08)
        places = figure.subplots(lines, columns, squeeze=False).flatten().tolist()
    for axes in places[number:]:
        axes.set_axis_off()
    return figure, places[:number]


def _middle(square: int, rows: list[int]) -> tuple[float, float]:
    return square % 8 + 0.5, rows.index(square // 8) + 0.5
