"""Patterns of a board: small groups of squares with one weight for each content.

A pattern, for instance an edge, lies at several *places*, its images under the board's symmetries.
The *content* of a place is a number in base 3 with one digit a square: 0 empty, 1 the mover's, 2
the opponent's. All places of a pattern share their weights. Two contents that mirror each other at
the same place share a weight too, for instance an edge read from the left and from the right.
All contents that share a weight are a *class*; one sequence of numbers runs over the classes of all
patterns.

Source: M. Buro, *Experiments with Multi-ProbCut and a New High-Quality Evaluation Function for
Othello* (1997); his program Logistello has these patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from othello_lab.core.bitboard import bits, symmetric_forms
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.compile import kernel

LANES = 48
"""Places looked up at a time; no board has more."""
ROWS, BYTES = 8, 256


@dataclass(frozen=True, eq=False)
class Pattern:
    """A group of squares and its places.

    name: such as ``corner 3x3``. places: the squares of each place, lowest digit first; all are
    images of the first place. classes: the class of each of the 3 ** squares contents, counted
    from 0 for this pattern, int32. number: of classes.
    """

    name: str
    places: tuple[tuple[int, ...], ...]
    classes: np.ndarray
    number: int

    @property
    def contents(self) -> int:
        """Number of contents that a place can have."""
        return len(self.classes)


@dataclass(frozen=True, eq=False)
class Geometry:
    """All patterns of a board, with the tables to read them.

    side: of the board. patterns: in the order of the class numbers. first: the first class of each
    pattern. rows: uint16, shape (8, 256, LANES): the share of one row of the board, one side's
    discs as a byte, in the content of every place. The content is the sum over all rows, once for
    the mover's discs and twice for the opponent's. Lanes without a place hold 0. classes: number of
    classes.
    """

    side: int
    patterns: tuple[Pattern, ...]
    first: tuple[int, ...]
    rows: np.ndarray
    classes: int

    @property
    def places(self) -> list[tuple[int, tuple[int, ...]]]:
        """All places: the number of the pattern and the squares."""
        return [
            (number, cells)
            for number, pattern in enumerate(self.patterns)
            for cells in pattern.places
        ]

    def features(self, mover: np.ndarray, opponent: np.ndarray) -> np.ndarray:
        """Return the class of each place's content, int32, shape (positions, places).

        mover, opponent: masks, uint64, of equal length.
        """
        places = self.places
        starts, classes = [0], []
        for pattern, first in zip(self.patterns, self.first, strict=True):
            classes.append(pattern.classes + np.int32(first))
            starts.append(starts[-1] + pattern.contents)
        begins = np.array([starts[number] for number, _ in places], dtype=np.int64)
        return _features(mover, opponent, self.rows, begins, np.concatenate(classes))


@kernel
def _features(
    mover: np.ndarray,
    opponent: np.ndarray,
    rows: np.ndarray,
    begins: np.ndarray,
    classes: np.ndarray,
) -> np.ndarray:
    """Return the class of each place's content.

    begins: start of each place's pattern in ``classes``.
    """
    indices = np.empty((len(mover), len(begins)), dtype=np.int32)
    byte = np.uint64(255)
    for n in range(len(mover)):
        for cells in range(len(begins)):
            content = np.int64(0)
            for row in range(8):
                shift = np.uint64(8 * row)
                content += np.int64(rows[row, (mover[n] >> shift) & byte, cells])
                content += 2 * np.int64(rows[row, (opponent[n] >> shift) & byte, cells])
            indices[n, cells] = classes[begins[cells] + content]
    return indices


@cache
def geometry(side: int) -> Geometry:
    """Build the patterns of a board of 4, 6 or 8 squares a side."""
    patterns = tuple(_pattern(name, squares, side) for name, squares in _shapes(side))
    first = np.cumsum([0, *(pattern.number for pattern in patterns)])
    rows = np.zeros((ROWS, BYTES, LANES), dtype=np.uint16)
    places = [cells for pattern in patterns for cells in pattern.places]
    for lane, cells in enumerate(places):
        for digit, square in enumerate(cells):
            row, column = divmod(square, 8)
            with_disc = np.arange(BYTES) >> column & 1 == 1
            rows[row, with_disc, lane] += np.uint16(3**digit)
    return Geometry(side, patterns, tuple(map(int, first[:-1])), rows, int(first[-1]))


def _shapes(side: int) -> list[tuple[str, list[int]]]:
    """Return the name of each pattern and the squares of its first place."""

    def block(rows: int, columns: int) -> list[int]:
        return [8 * row + column for row in range(rows) for column in range(columns)]

    shapes = [
        ("edge and X-squares", [*range(side), 8 + 1, 8 + side - 2]),
        ("corner 3x3", block(3, 3)),
        ("corner 2x5", block(2, min(5, side))),
    ]
    shapes += [
        (f"row {row + 1}", [8 * row + n for n in range(side)]) for row in range(1, side // 2)
    ]
    shapes += [
        (f"diagonal of {n}", [side - n + 9 * k for k in range(n)]) for n in range(side, 3, -1)
    ]
    return shapes


def _pattern(name: str, squares: list[int], side: int) -> Pattern:
    """Build a pattern with all its places from one of them."""
    images = [
        tuple(image) for image in zip(*(_images(square, side) for square in squares), strict=True)
    ]
    places: dict[frozenset[int], tuple[int, ...]] = {}
    permutations = []  # of the first place's squares, by the symmetries that map it to itself
    for image in [tuple(squares), *images]:
        area = frozenset(image)
        places.setdefault(area, image)
        if area == frozenset(squares):
            permutations.append([squares.index(square) for square in image])
    contents = np.arange(3 ** len(squares))
    digits = contents[:, None] // 3 ** np.arange(len(squares)) % 3
    powers = 3 ** np.arange(len(squares))
    least = np.min([digits[:, order] @ powers for order in permutations], axis=0)
    kinds, classes = np.unique(least, return_inverse=True)
    return Pattern(name, tuple(places.values()), classes.astype(np.int32), len(kinds))


def _images(square: int, side: int) -> list[int]:
    """Return the images of a square under the eight symmetries."""
    return [bits(mask)[0] for mask, _ in symmetric_forms(1 << square, 0, side)]


def board_of(side: int) -> int:
    """Return the mask of a board's squares."""
    return next(rules.board for rules in RULESETS.values() if rules.side == side)
