"""The colours of figures, on light and on dark pages.

Charts are drawn in the colours of a light page. :mod:`~experiments.report.figures.svg` replaces
each of them by a CSS variable, and :func:`stylesheet` declares these variables twice: for light
pages and paper, and for dark pages.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from matplotlib.colors import ListedColormap, to_hex, to_rgb

from othello_lab.core.drawing import BOARD, DISCS, LINES
from othello_lab.experiments.report.figures.quick_seaborn import palettes

PAGE, INK, GREY = "#ffffff", "#262626", "#595959"
FAINT, LINE, MISSING = "#8c8c8c", "#d9d9d9", "#ececec"
"""Of a light page: behind all, text, secondary text, thin marks, grid, cells without a value."""

_SEPARATE = (0, 1, 2, 3, 4, 9, 5, 7, 6, 8)  # the pale ones of "colorblind" last
COLOURS: Sequence[str] = [
    to_hex(colour) for colour in np.array(palettes.color_palette("colorblind", 10))[list(_SEPARATE)]
]
"""Colours of up to ten series, which all readers can tell apart."""
BLUE, ORANGE = COLOURS[:2]

MANY_COLOURS: Sequence[str] = (
    *("#0a70b4", "#ff00ff", "#e18700", "#c3005a", "#009600", "#9600f0", "#9696f0", "#785a1e"),
    *("#ff4b87", "#00b4a5", "#003cff", "#a57887", "#c34bc3", "#784b87", "#6969ff", "#d24b00"),
    *("#96871e", "#5ab42d", "#0096d2", "#00785a"),
)
"""Colours of more than ten series. Each is as far as can be from those before it, in OKLab with
lightness counted 1.3 times, among colours with a contrast of 2.6 to light and to dark pages."""

LEVELS = 21
"""Colours of a scale; an odd number, so that a diverging scale has a middle."""

DIVERGING, SEQUENTIAL = "diverging", "sequential"
"""Names of the two scales: from red over white to blue, and from pale to dark."""

_CSS_NAMES = {
    PAGE: "page",
    INK: "text",
    GREY: "soft",
    FAINT: "strong",
    LINE: "line",
    MISSING: "missing",
    BOARD: "felt",
    LINES: "felt-line",
    DISCS["X"]: "black-disc",
    DISCS["O"]: "white-disc",
}
_DARK_PAGE, _DARK_MISSING = "#17181a", "#2a2c2f"
_LEAST_CONTRAST = 4.5  # of a series to a dark page


@functools.cache
def scale(name: str, dark: bool = False) -> list[str]:
    """Return the colours of a scale, the lowest value first."""
    if name == DIVERGING:
        shades = (
            palettes.diverging_palette(12, 245, s=75, l=60, n=LEVELS, center="dark")
            if dark
            else palettes.color_palette("RdBu", LEVELS)
        )
    else:
        shades = palettes.color_palette("mako" if dark else "mako_r", LEVELS + 2)[1:-1]
    return [to_hex(shade) for shade in shades]


def colour_map(name: str) -> ListedColormap:
    """Return a scale of a light page as a colour map."""
    return ListedColormap(scale(name))


def level_of(share: float) -> int:
    """Return the place in a scale of a value, from 0 (the lowest) to 1 (the highest).

    >>> level_of(0), level_of(0.5), level_of(1)
    (0, 10, 20)
    """
    return int(np.clip(share * LEVELS, 0, LEVELS - 1))


def ink_on(colour: str) -> str:
    """Return the colour of text on this colour: the one with more contrast."""
    return max(PAGE, INK, key=lambda ink: _contrast(ink, colour))


@functools.cache
def css_variables() -> dict[str, str]:
    """Return the CSS variable of each colour that charts use, by the colour."""
    names = {colour: f"--{name}" for colour, name in _CSS_NAMES.items()}
    for prefix, colours in _numbered().items():
        for number, (light, _) in enumerate(colours):
            assert light not in names, f"{light} means two things"
            names[light] = f"--{prefix}{number}"
    return names


def stylesheet() -> tuple[str, str]:
    """Return the declarations of the variables that the style of a page does not have itself: for
    light pages and paper, and for dark pages."""
    light, dark = [f"--missing:{MISSING}"], [f"--missing:{_DARK_MISSING}"]
    light += [f"--black-disc:{DISCS['X']}", f"--white-disc:{DISCS['O']}"]
    for prefix, colours in _numbered().items():
        is_scale = prefix in _SCALES.values()
        for number, pair in enumerate(colours):
            for declarations, colour in zip((light, dark), pair, strict=True):
                declarations.append(f"--{prefix}{number}:{colour}")
                if is_scale:
                    declarations.append(f"--{prefix}{number}i:{ink_on(colour)}")
    return ";".join(light), ";".join(dark)


def ink_variable(colour: str) -> str:
    """Return the CSS variable of text on a colour of a scale."""
    return f"{css_variables()[colour]}i"


_SCALES = {DIVERGING: "d", SEQUENTIAL: "q"}


def _numbered() -> dict[str, list[tuple[str, str]]]:
    """Return pairs of a light and a dark colour, by the prefix of their variables."""
    pairs = {
        "s": [(colour, _lightened(colour)) for colour in COLOURS],
        "m": [(colour, _lightened(colour)) for colour in MANY_COLOURS],
    }
    for name, prefix in _SCALES.items():
        pairs[prefix] = list(zip(scale(name), scale(name, dark=True), strict=True))
    return pairs


def _lightened(colour: str) -> str:
    """Return a colour as it is drawn on a dark page, as light as it must be to be seen there."""
    while _contrast(colour, _DARK_PAGE) < _LEAST_CONTRAST:
        red, green, blue = (part + 0.04 * (1 - part) for part in to_rgb(colour))
        colour = to_hex((red, green, blue))
    return colour


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21, as WCAG 2 defines it."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = np.array(to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))
