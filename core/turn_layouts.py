"""The turns of a game as numbers: in memory a row of int64 each, in a record in narrow columns.

A record keeps a game's turns as the bytes of a numpy array in one of :data:`LAYOUTS`. All games use
the same short list of layouts, from narrow to wide, and each game the first that holds its numbers.
So a game of random players takes 15 bytes a turn, and no number is ever too large: nobody can say
before a run how long its slowest move will take.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from othello_lab.core.game import SearchStats

COUNTER_NAMES = tuple(field.name for field in fields(SearchStats))
COLUMNS = (
    *("square", "flags", "nanoseconds", "cpu_nanoseconds", "value", "waited_nanoseconds", "depth"),
    *COUNTER_NAMES,
)
"""The numbers of a turn, in the order that :mod:`core.whole_games` has them."""

DECIDED, VALUED, FLOAT, DEEP, LATE, WHITE = 1, 2, 4, 8, 16, 64
"""Bits of ``flags``. DECIDED: an agent decided; the other turns have only a square. VALUED: it has
a value. FLOAT: the value is the bits of a float64. DEEP: it has a depth. LATE: times how late it
was. WHITE: it was White's turn."""


def _widths() -> list[list[int]]:
    rows = []
    # The bytes of value and times; how many counters, from the first on, and the bytes of each.
    parts = ((4, 0, 0), (4, 4, 1), (4, 6, 2), (8, 0, 0))
    for wide, counters, bytes_each in (*parts, (4, 6, 4), (8, 6, 4), (4, 10, 4), (8, 10, 4)):
        widths = {"square": 1, "flags": 1, "depth": 1}
        widths |= dict.fromkeys(("nanoseconds", "cpu_nanoseconds", "value"), wide)
        widths |= dict.fromkeys(COUNTER_NAMES[:counters], bytes_each)
        widths["waited_nanoseconds"] = wide if counters == len(COUNTER_NAMES) else 0
        rows.append([widths.get(name, 0) for name in COLUMNS])
    return [*rows, [1, 1] + [8] * (len(COLUMNS) - 2)]


WIDTHS = np.array(_widths())
"""The bytes of each column in each layout, 0 where there is none; int64, shape (layouts, columns).
"""
LAYOUTS = tuple(
    np.dtype([(name, f"<i{width}") for name, width in zip(COLUMNS, row, strict=True) if width])
    for row in WIDTHS.tolist()
)
"""The layouts, of signed numbers. A column that a layout lacks is 0 in all turns of the game. The
last one has room for any numbers."""


def pack(turns: NDArray[np.int64]) -> tuple[int, bytes]:
    """Return the number of the first layout that holds some turns, and the turns in it.

    turns: int64, shape (turns, columns).
    """
    # The bits of each column, those of negative numbers turned; the sign needs one more.
    bits = np.bitwise_or.reduce(turns ^ (turns >> 63), axis=0)
    room = np.maximum(8 * WIDTHS - 1, 0)
    number = int(np.argmin((bits >> room).any(axis=1)))
    packed = np.empty(len(turns), LAYOUTS[number])
    for column in np.flatnonzero(WIDTHS[number]):
        packed[COLUMNS[column]] = turns[:, column]
    return number, packed.tobytes()
