"""Figures of a report: their parts, their look, and the way from a chart to a page or a file.

A chart is a function of a tidy frame that returns a matplotlib ``Figure`` of its own: pyplot keeps
none of them, and they can be drawn in a worker or a notebook alike. It raises ValueError for a
frame without rows or without a column that it needs.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, LogLocator, NullLocator

from othello_lab.core.system.escaping import visible
from othello_lab.core.system.files import write_file, writing
from othello_lab.experiments.record.folder import write_table
from othello_lab.experiments.report.figures.palette import (
    COLOURS,
    GREY,
    INK,
    LINE,
    MANY_COLOURS,
    MISSING,
    PAGE,
    colour_map,
    ink_on,
    ink_variable,
    level_of,
    scale,
)
from othello_lab.experiments.report.figures.quick_seaborn import styles
from othello_lab.experiments.report.figures.svg import annotate, inline_svg, svg_file
from othello_lab.experiments.report.page import Drawing

MINUS = "\N{MINUS SIGN}"
SMALL = 9
"""Points; the size of tick labels and values."""

_MARKERS = "osD^vPX*"
_DASHES = ("-", "--", ":", "-.")
_NAME_WIDTH = 30  # letters of an agent's name before it goes on in the next line
_DPI, _SCREEN_DPI = 200, 100

# seaborn's white style with a grid, in the colours that pages have variables for. The first font
# comes with matplotlib: labels need the same room on every machine; the others are for browsers
# that lack it.
_STYLE: Any = {
    **styles.plotting_context("notebook"),
    **styles.axes_style("whitegrid"),
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "axes.facecolor": PAGE,
    "axes.labelsize": 11,
    "axes.formatter.use_mathtext": False,
    "figure.facecolor": PAGE,
    "grid.color": LINE,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "legend.title_fontsize": 11,
    "patch.edgecolor": PAGE,
    "text.color": INK,
    "text.usetex": False,
    "xtick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.color": INK,
    "ytick.labelsize": SMALL,
}


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A figure of a report.

    name: of its files, without ending. title: its heading. caption: how to read it. chart: a
    figure of matplotlib, or the inline SVG of one that was drawn before. data: written to a CSV of
    its name too, if given.
    """

    name: str
    title: str
    caption: str
    chart: Figure | str
    data: pd.DataFrame | None = None


def draw_figures(
    figures: Iterable[ReportFigure], folder: Path, files: bool = False
) -> list[Drawing]:
    """Draw all figures, and write their data to ``folder``.

    files: write a PNG and an SVG of each to ``folder``, too.

    A chart that is drawn is cleared: all those of 60 agents take 200 MB.
    """
    drawings = []
    for figure in figures:
        drawings.append(_draw(figure, folder, files))
        if figure.data is not None:
            write_table(figure.data, folder / f"{figure.name}.csv")
    return drawings


def _draw(figure: ReportFigure, folder: Path, files: bool) -> Drawing:
    chart, file = figure.chart, f"{figure.name}.png"
    if isinstance(chart, str):
        svg = chart
        files = (folder / file).is_file()
    else:
        if files:
            save(chart, folder, figure.name)
        with _styled():
            _lay_out(chart)
            svg = inline_svg(chart, figure.name, figure.title)
        chart.clear()
    return Drawing(figure.name, figure.title, figure.caption, svg, file if files else "")


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write ``name``.png and ``name``.svg into ``folder``, made if need be, and return the paths.
    Text stays text in the SVG, and the same figure gives the same bytes again."""
    folder.mkdir(parents=True, exist_ok=True)
    png, svg = folder / f"{name}.png", folder / f"{name}.svg"
    with writing(png) as file:
        _print_png(figure, file, _DPI)
    with _styled():
        write_file(svg, svg_file(figure, name))
    return [png, svg]


def _print_png(figure: Figure, file: IO[bytes], dots: int) -> None:
    figure.set_dpi(dots)
    with _styled():
        _lay_out(figure)
        # `Figure.savefig` would draw everything twice, to see first how large it is.
        FigureCanvasAgg(figure).print_png(file)


class ShownFigure(Figure):
    """A figure that a notebook shows, although pyplot does not know it."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        _print_png(self, file, _SCREEN_DPI)
        return file.getvalue()


def arrange(figure: Figure) -> None:
    """Put all into its place, as far as it is drawn."""
    FigureCanvasAgg(figure)
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)


def _lay_out(figure: Figure) -> None:
    """Put all into its place, where it stays."""
    arrange(figure)
    figure.set_layout_engine("none")


@contextmanager
def blank(width: float = 8, height: float = 5, context: str = "") -> Iterator[Figure]:
    """Return an empty figure of this size, in inches, that makes room for its labels. It has a
    light grid, and letters that can be read at 8 by 5 inches. context: the line above."""
    with _styled():
        layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
        figure = ShownFigure(figsize=(width, height), dpi=_DPI, layout=layout)
        entitle(figure, context)
        yield figure


@contextmanager
def row_chart(
    names: Iterable[object], context: str, width: float = 5, stretch: float = 1
) -> Iterator[tuple[Figure, Axes, np.ndarray]]:
    """Return a figure, its axes with a row for each name, and where the rows are. In the end the
    axes get ``width`` inches, and ``stretch`` times the height that the names need."""
    with blank(context=context) as figure:
        axes = figure.add_subplot()
        rows, height = name_rows(axes, names)
        yield figure, axes, rows
        resize(figure, axes, width, stretch * height)


@contextmanager
def _styled() -> Iterator[None]:
    """The look of all figures. A sign that the font lacks is drawn as a box, without a warning."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def entitle(figure: Figure, context: str) -> None:
    """Write the context over a figure, if there is one."""
    if context:
        figure.suptitle(wrapped(context, 80), fontsize=SMALL + 1, color=GREY)


def resize(figure: Figure, axes: Axes, width: float, height: float) -> None:
    """Give the axes of a figure the size ``width`` by ``height`` inches.

    All around the axes keeps its size, except a colour bar; hence up to three rounds.
    """
    wanted, layout = np.array([width, height]), figure.get_layout_engine()
    assert layout is not None, "see blank"
    for _ in range(3):
        layout.execute(figure)
        whole, inside = figure.get_size_inches(), axes.get_position().size
        missing = wanted - whole * inside
        if np.abs(missing).max() < 0.02:
            figure.set_layout_engine("none")  # nothing moves any more
            break
        figure.set_size_inches(*(whole + missing))


def check_frame(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """ValueError unless the frame has rows and these columns."""
    missing = [column for column in columns if column not in frame]
    if missing:
        raise ValueError(f"the frame lacks {', '.join(missing)}; it has {', '.join(frame)}")
    if frame.empty:
        raise ValueError("the frame has no rows: nothing to draw")


def drawn(name: object) -> str:
    """A name as matplotlib is to be given it, so that it is drawn as it is."""
    return _literal(visible(name))


def wrapped(name: object, width: int = _NAME_WIDTH) -> str:
    """The same over as many lines as it needs, broken at spaces, hyphens and underscores."""
    lines = textwrap.wrap(visible(name).replace("_", "_ "), width)
    return _literal("\n".join(lines).replace("_ ", "_"))


def _literal(text: str) -> str:
    """Text that is not read as a formula, and that no legend hides for its first underscore."""
    return re.sub("^_", " _", text.replace("$", r"\$"))


def coloured(names: Iterable[str], order: Sequence[str] = ()) -> list[tuple[str, Any]]:
    """Every different name with its colour.

    order: all the names that there are in a report, best first; by default the names as they come.
        Names are returned in this order, and colours go by the place in it, so that an agent has
        the same in all figures of a report.
    """
    return [(name, style["color"]) for name, style in styled(names, order)]


def styled(names: Iterable[str], order: Sequence[str] = ()) -> list[tuple[str, dict[str, Any]]]:
    """The same with a marker and dashes too, as keywords of ``Axes.plot``, for print without
    colours and for more agents than there are colours."""
    chosen = dict.fromkeys(names)
    places = {name: number for number, name in enumerate(dict.fromkeys([*order, *chosen]))}
    colours = COLOURS if len(places) <= len(COLOURS) else MANY_COLOURS
    return [
        (
            name,
            {
                "color": colours[number % len(colours)],
                "marker": _MARKERS[number % len(_MARKERS)],
                "linestyle": _DASHES[_dash(number, len(colours))],
            },
        )
        for name, number in places.items()
        if name in chosen
    ]


def _dash(number: int, colours: int) -> int:
    """The dashes of a line: of many lines each has others than those of nearly its colour."""
    turns = number // colours
    return (number * (colours == len(MANY_COLOURS)) + turns) % len(_DASHES)


def name_rows(axes: Axes, names: Iterable[object]) -> tuple[np.ndarray, float]:
    """Give the y axis a row for each name, the first at the top; where the rows are, and how many
    inches all of them need."""
    shown = list(names)
    texts = [wrapped(name) for name in shown]
    lines = np.array([1 + text.count("\n") for text in texts])
    heights = 0.16 + 0.17 * lines
    heights *= max(1, 1.2 / heights.sum())
    rows = heights.cumsum() - heights / 2
    axes.set_ylim(float(heights.sum()), 0)
    axes.set_yticks(rows, texts)
    name_ticks(axes, shown)
    axes.grid(visible=False, axis="y")
    axes.set_ylabel("agent")
    return rows, float(heights.sum())


def name_ticks(axes: Axes, names: Iterable[object]) -> None:
    """Make the labels of the y axis parts of the series that they name."""
    for tick, name in zip(axes.get_yticklabels(), names, strict=True):
        annotate(tick, series=str(name))


def heat(
    figure: Figure,
    axes: Axes,
    values: np.ndarray,
    colours: str,
    label: str,
    norm: Normalize | None = None,
    texts: np.ndarray | None = None,
    size: float = SMALL,
    parted: bool = True,
    titles: np.ndarray | None = None,
) -> QuadMesh:
    """Draw a table as coloured cells, with a bar of the colours' meaning (``label``).

    values: shape (rows, columns); nan is left grey. colours: name of a scale of the palette. texts:
    of the cells, of the same shape, at ``size`` points. parted: True for lines between columns too.
    titles: tooltips of the cells, of the same shape.

    Not ``seaborn.heatmap``, because it draws the whole figure once more and leaves one with pyplot.
    """
    shades = colour_map(colours)
    rows, columns = values.shape
    sides = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    mesh = axes.pcolormesh(*sides, np.ma.masked_invalid(values), cmap=shades, norm=norm)
    mesh.set_clip_on(False)  # the axes end with it
    axes.set_facecolor(MISSING)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.grid(visible=False)
    if parted:
        axes.set_xticks(np.arange(columns - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
    axes.set_axisbelow(False)
    axes.grid(visible=True, which="minor", color=PAGE, linewidth=0.5)
    figure.colorbar(mesh, ax=axes, label=label).outline.set_visible(False)
    shares = np.ma.filled(mesh.norm(np.ma.masked_invalid(values)), 0.0)
    if texts is not None:
        for (row, column), text in np.ndenumerate(texts):
            if text:
                shade = scale(colours)[level_of(float(shares[row, column]))]
                cell = axes.text(
                    column, row, text, ha="center", va="center", color=ink_on(shade), size=size
                )
                annotate(cell, ink=ink_variable(shade))
                cell.set_in_layout(False)  # it lies in its cell: no need to measure it
    if titles is not None:
        annotate(mesh, titles=titles.ravel().tolist())
    return mesh


def cell_texts(frame: pd.DataFrame, text: Callable[[Any, Any, float], str]) -> np.ndarray:
    """Return a text for each cell of a table, "" for nan. text: called with row, column, value."""
    return np.array(
        [
            ["" if np.isnan(value) else text(row, column, value)
             for column, value in zip(frame.columns, values, strict=True)]
            for row, values in zip(frame.index, frame.to_numpy(dtype=float), strict=True)
        ],
        dtype=object,
    )  # fmt: skip


def log_scale(axes: Axes, low: float, high: float, text: Callable[[float], str]) -> None:
    """Give the x axis a log scale from half of ``low`` to twice ``high``, with a line at each 1, 2
    and 5, or of many decades at each power of ten; ``text`` returns the label of a line."""
    axes.set_xscale("log")
    axes.set_xlim(low / 2, 2 * high)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axes.xaxis.set_minor_locator(NullLocator())


class _Decades(LogFormatterSciNotation):
    """Labels such as 10³, as letters: matplotlib would set each as a formula, and take longer for
    that than for all else of a figure."""

    def __call__(self, value: float, pos: Any = None) -> str:
        text = super().__call__(value, pos)
        text = re.sub(r"\^\{(-?\d+)\}", lambda power: power[1].translate(_RAISED), text)
        return re.sub(
            r"[${}]|\\mathdefault", "", text.replace(r"\times", "\N{MULTIPLICATION SIGN}")
        )


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def decades(axes: Axes) -> None:
    """Give the y axis a log scale with a line at each power of ten."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    axes.yaxis.set_major_formatter(_Decades())
    axes.yaxis.set_minor_formatter(_Decades())


def column(axes: Axes, title: str, rows: np.ndarray, values: list[str], offset: float) -> None:
    """A column of texts right of the axes, one at each row, ending ``offset`` points away."""
    places: Any = {"textcoords": "offset points", "ha": "right", "fontsize": SMALL}
    side = axes.get_yaxis_transform()  # x: 0 to 1 over the axes; y: the row
    for row, value in zip(rows, values, strict=True):
        cell = axes.annotate(
            value, (1, float(row)), xytext=(offset, 0), xycoords=side, va="center", **places
        )
        cell.set_in_layout(False)  # it ends where the title does, which is measured
    axes.annotate(
        title, (1, 1), xytext=(offset, 4), xycoords="axes fraction", weight="bold", **places
    )


def axis_time(microseconds: float, _: object = None) -> str:
    """Return the label of a tick of an axis of times: ``100 ns``, ``5 µs``, ``2 s``."""
    units = {"s": 1e6, "ms": 1e3, "µs": 1.0, "ns": 1e-3}
    unit = next((unit for unit, size in units.items() if microseconds >= 0.9995 * size), "ns")
    return f"{microseconds / units[unit]:.3g}\N{NO-BREAK SPACE}{unit}"


def signed(number: float, digits: int = 0) -> str:
    """Return a number with its sign, a true minus."""
    return f"{number:+z.{digits}f}".replace("-", MINUS)
