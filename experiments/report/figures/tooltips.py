"""Tooltips: their texts, and the lines that have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.report.figures.svg import annotate
from othello_lab.experiments.report.tables import elo_text, time_text

SHADED = 4
"""So many lines have intervals that can be told apart."""

_MOST_POINTS = 16  # of a line that are listed


def standing_title(row: Mapping[Any, Any]) -> str:
    """Return a row of the standings as lines: rating, results and costs, as far as it has them."""
    standing = SimpleNamespace(**({"split": False} | {str(key): row[key] for key in row}))
    lines = [str(row["agent"]), f"Elo {elo_text(standing)}"]
    if "wins" in row:
        results = f"W-D-L {row['wins']}-{row['draws']}-{row['losses']}"
        lines.append(
            f"{counted(row['games'], 'game')}, {results}, score {100 * row['score']:.1f} %"
        )
    if row.get("nodes_per_move", 0) > 0:
        lines.append(f"{row['nodes_per_move']:,.1f} nodes a move")
    if row.get("microseconds", 0) > 0:
        lines.append(f"{time_text(row['microseconds'])} a move")
    return "\n".join(lines)


def points_title(name: object, points: Iterable[tuple[object, str]], by: str) -> str:
    """Return a line's name and its points, if these are few.

    points: pairs of a place and a value in words. by: the name of the places.

    >>> print(points_title("greedy", [(1, "0.5"), (2, "0.7")], "depth"))
    greedy
    depth 1: 0.5
    depth 2: 0.7
    """
    listed = [f"{by} {point}: {value}" for point, value in points]
    return "\n".join([str(name), *(listed if len(listed) <= _MOST_POINTS else [])])


def plot_line(axes: Axes, name: object, x: Any, y: Any, form: str, by: str, **style: Any) -> None:
    """Draw a line, with its name and its points in a tooltip.

    x, y: shape (points,). form: of a value. by: the name of the places. style: keywords of
    ``Axes.plot``; the label is the name by default.
    """
    points = zip(x, map(form.format, y), strict=True)
    style.setdefault("label", name)
    annotate(axes.plot(x, y, **style), str(name), points_title(name, points, by))


def shade(
    axes: Axes, name: object, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: Any
) -> None:
    """Draw the band of the intervals of a line, all of shape (points,)."""
    band = axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    annotate(band, str(name))


def shaded_note(lines: int) -> str:
    """Return the sentence of a caption on the intervals of so many lines, a space before it."""
    return " The 95 % intervals over openings are shaded." if lines <= SHADED else ""
