"""Names of series inside a chart: beside dots, at the right ends of lines, and in legends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from othello_lab.experiments.report.figures.drawing import SMALL, wrapped
from othello_lab.experiments.report.figures.svg import annotate

_LINE = 0.165  # inches of a line of text
_DOT = 6  # points from a dot's middle
_GAP = 0.8 * _DOT  # to a name's corner
_SIDES: Sequence[tuple[float, float, str, str]] = (
    (1, 1, "left", "bottom"),
    (-1, 1, "right", "bottom"),
    (1, -1, "left", "top"),
    (-1, -1, "right", "top"),
    (1.4, 0, "left", "center"),
    (-1.4, 0, "right", "center"),
    (1, 2.6, "left", "bottom"),
    (-1, 2.6, "right", "bottom"),
    (1, -2.6, "left", "top"),
    (-1, -2.6, "right", "top"),
)


@dataclass(frozen=True)
class LabelledPoint:
    """A point with a name. first: it is named before the others, in bold letters. ends: of its
    upright bar, the same as ``y`` if it has none."""

    name: str
    x: float
    y: float
    first: bool = False
    ends: tuple[float, float] | None = None


def label_ends(
    axes: Axes,
    styles: Mapping[str, Mapping[str, Any]],
    suffix: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Name lines right of the axes, at the height of their right ends as far as there is room, with
    leaders in their colours. The limits of the axes must be final.

    styles: of each line, by its label; lines with other labels are left alone. suffix: follows the
        name.
    """
    lines = {line.get_label(): line for line in axes.lines if line.get_label() in styles}
    ends = {}
    for label, line in lines.items():
        points = np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float)
        points = points[np.isfinite(points).all(axis=1)]
        if len(points):
            ends[str(label)] = points[-1]
    if not ends:
        return
    pixels = axes.transData.transform(np.array(list(ends.values())))
    wanted = axes.transAxes.inverted().transform(pixels)[:, 1]
    texts = [wrapped(name) + suffix.get(name, "") for name in ends]
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes of a figure"
    inches = figure.get_figheight() * axes.get_position().height
    sizes = np.array([_LINE * (1 + text.count("\n")) for text in texts]) / inches
    heights = spread(np.clip(wanted, 0, 1), sizes)
    for (name, end), text, height in zip(ends.items(), texts, heights, strict=True):
        style = styles[name]
        leader = {
            **{"color": style["color"], "linestyle": style.get("linestyle", "-"), "linewidth": 0.8},
            **{"arrowstyle": "-", "shrinkA": 1, "shrinkB": 4, "relpos": (0, 0.5)},
        }
        label = axes.annotate(
            text, tuple(end), (1.04, float(height)), textcoords="axes fraction", va="center",
            fontsize=SMALL, arrowprops=leader, annotation_clip=False,
        )  # fmt: skip
        annotate([label, label.arrow_patch], series=name)


def spread(wanted: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return places for labels, as near as can be to those wanted, none over another. sizes: their
    heights. All have the same unit and the shape (labels,).

    >>> spread(np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.2, 0.2])).round(2)
    array([0.4, 0.6, 0. ])
    """
    order = np.argsort(wanted, kind="stable")
    size = sizes[order]
    middles = np.cumsum(size) - size / 2
    places = np.empty(len(wanted))
    places[order] = _not_falling(wanted[order] - middles) + middles
    return places


def _not_falling(values: np.ndarray) -> np.ndarray:
    """Return the ascending numbers nearest to these, by squares. Neighbours in the wrong order
    share their mean (isotonic regression)."""
    means: list[float] = []
    shares: list[int] = []
    for value in values.tolist():
        mean, share = value, 1
        while means and means[-1] >= mean:
            last = shares.pop()
            mean = (means.pop() * last + mean * share) / (last + share)
            share += last
        means.append(mean)
        shares.append(share)
    return np.repeat(means, shares)


def name_dots(axes: Axes, dots: Sequence[LabelledPoint]) -> set[str]:
    """Write names beside dots, if a name hides no other name, no dot and no edge, and as few bars
    as can be. Everything must be in its place. Return the names without room."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    renderer = FigureCanvasAgg(figure).get_renderer()
    reach = _DOT * figure.dpi / 72
    places = axes.transData.transform([(dot.x, dot.y) for dot in dots])
    marks = [Bbox.from_bounds(x - reach / 2, y - reach / 2, reach, reach) for x, y in places]
    bars = [_bar(axes, dot) for dot in dots]
    taken: list[Bbox] = []
    missing = set()
    for dot in sorted(dots, key=lambda dot: not dot.first):
        label = _name_dot(axes, dot)
        first = label.get_window_extent(renderer)
        choices: list[tuple[int, tuple[float, float, str, str], Bbox]] = []
        for side in _SIDES:
            box = Bbox(first.get_points() + _way(first, side, figure.dpi))
            inside = axes.bbox.containsx(box.x0) and axes.bbox.containsx(box.x1)
            inside &= axes.bbox.containsy(box.y0) and axes.bbox.containsy(box.y1)
            if inside and not box.count_overlaps([*marks, *taken]):
                choices.append((box.count_overlaps(bars), side, box))
        if not choices:
            missing.add(dot.name)
            label.remove()
            continue
        _, (right, up, ha, va), box = min(choices, key=lambda choice: choice[0])
        label.set(position=(_GAP * right, _GAP * up), ha=ha, va=va)
        taken.append(box)
    return missing


def _way(first: Bbox, side: tuple[float, float, str, str], dots: float) -> tuple[float, float]:
    """Return how far a name moves from its place on the first side to that on another, in pixels:
    measuring it there again would take longer. dots: an inch."""
    right, up, ha, va = side
    far = _GAP * dots / 72
    x, y = far * (right - _SIDES[0][0]), far * (up - _SIDES[0][1])
    x -= first.width * {"left": 0, "right": 1}[ha]
    y -= first.height * {"bottom": 0, "center": 0.5, "top": 1}[va]
    return x, y


def _bar(axes: Axes, dot: LabelledPoint) -> Bbox:
    """Return the place of a dot's bar, in pixels."""
    low, high = dot.ends or (dot.y, dot.y)
    (x, bottom), (_, top) = axes.transData.transform([(dot.x, low), (dot.x, high)])
    return Bbox.from_extents(x - 1, bottom, x + 1, top)


def _name_dot(axes: Axes, dot: LabelledPoint) -> Annotation:
    """Write a name on the first side of its dot."""
    right, up, ha, va = _SIDES[0]
    label = axes.annotate(
        wrapped(dot.name), (dot.x, dot.y), (_GAP * right, _GAP * up), ha=ha, va=va,
        textcoords="offset points", fontsize=SMALL - 1, weight="bold" if dot.first else "normal",
    )  # fmt: skip
    label.set_in_layout(False)
    annotate(label, series=dot.name)
    return label


def name_legend(legend: Legend, names: Iterable[str]) -> None:
    """Make the entries of a legend parts of the series that they name, in this order."""
    for text, handle, name in zip(legend.get_texts(), legend.legend_handles, names, strict=True):
        annotate([text, handle], series=name)
