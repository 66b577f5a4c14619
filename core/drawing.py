"""A board as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_SQUARE = 40  # user units of the SVG
_EDGE = 22
BOARD, LINES = "#2f8560", "#1f3a2e"
"""Colours of the board and of the lines between its squares."""
_TEXT = "#777"
DISCS = {"X": "#1e2124", "O": "#f7f5ee", "*": "#8fbfa6"}
"""What is drawn, by the marks that a printed position has."""
_RADIUS = {"X": 16, "O": 16, "*": 4}


def svg(side: int, rows: Iterable[int], marks: Mapping[int, str], caption: str) -> str:
    """Return an SVG of a board with ``side`` squares along an edge, readable on light and dark
    pages.

    rows: their numbers from 0, in the drawn order from the top. marks: by square (a1 = 0, h8 = 63),
    as in a printed position: ``X`` for Black, ``O`` for White, ``*`` for a legal move. caption:
    text below the board, and for those who cannot see it.
    """
    size = side * _SQUARE
    width, height = size + _EDGE + 1, size + 2 * _EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
        f'aria-label="{caption}" font-family="sans-serif" font-size="13" text-anchor="middle" '
        f'fill="{_TEXT}">',
        f'<rect x="{_EDGE}" y="{_EDGE}" width="{size}" height="{size}" fill="{BOARD}"/>',
    ]
    for line in range(side + 1):
        at = _EDGE + line * _SQUARE
        ends = f"M{at} {_EDGE}v{size}M{_EDGE} {at}h{size}"
        parts.append(f'<path d="{ends}" stroke="{LINES}"/>')
    for column in range(side):
        parts.append(_text(_middle(column), 15, "abcdefgh"[column]))
    for index, row in enumerate(rows):
        parts.append(_text(10, _middle(index) + 5, f"{row + 1}"))
        for column in range(side):
            if (mark := marks.get(8 * row + column, "")) in DISCS:
                circle = f'cx="{_middle(column)}" cy="{_middle(index)}" r="{_RADIUS[mark]}"'
                parts.append(f'<circle {circle} fill="{DISCS[mark]}"/>')
    parts += [_text(_EDGE + size // 2, height - 6, caption), "</svg>"]
    return "".join(parts)


def _middle(index: int) -> int:
    return _EDGE + index * _SQUARE + _SQUARE // 2


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{text}</text>'
