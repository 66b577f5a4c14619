"""The turns of games as a record keeps them."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from othello_lab.core.turn_layouts import COLUMNS, DECIDED, FLOAT, LAYOUTS, VALUED, pack
from othello_lab.experiments.record.turns import COUNTS, MoveRow, Turns, written

INT64 = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-200, 200)
COSTS = ("nanoseconds", "cpu_nanoseconds", "waited_nanoseconds", *COUNTS)


@st.composite
def turns(draw: st.DrawFn) -> list[Any]:
    """The MoveRows of a game of the agents 3 (Black) and 5, with any numbers."""
    first, rows = draw(st.integers(1, 60)), []
    for ply in range(first, first + draw(st.integers(0, 5))):
        about = ply, draw(st.sampled_from([3, 5])), draw(st.integers(0, 64))
        if draw(st.booleans()):
            rows.append(MoveRow(9, *about))
            continue
        floats = st.floats(allow_nan=False, allow_infinity=False)
        value, depth = draw(st.none() | floats | INT64), draw(st.none() | INT64)
        costs = {name: draw(INT64) for name in COSTS}
        rows.append(MoveRow(9, *about, value, depth, late=draw(st.integers(0, 2)), **costs))
    return rows


@given(turns(), turns())
def test_turns_are_read_as_they_were_written(one: list[Any], other: list[Any]) -> None:
    made = [written(9, 3, one), written(9, 3, other)]
    again = Turns((*row, 3, 5) for row in made).rows()
    assert again == one + other
    assert [list(map(type, row)) for row in again] == [list(map(type, row)) for row in one + other]


def test_a_game_takes_the_first_layout_that_holds_it() -> None:
    turns = np.zeros((2, len(COLUMNS)), dtype=np.int64)
    sizes = [len(pack(turns)[1])]
    more = {"nodes": 127, "leaves": -128, "cutoffs": 1, "made": 1 << 15}
    more |= {"nanoseconds": 1 << 31, "playouts": 1, "table_returns": -(1 << 31) - 1}
    for column, number in more.items():
        turns[1, COLUMNS.index(column)] = number
        layout, content = pack(turns)
        assert np.frombuffer(content, LAYOUTS[layout])[column][1] == number
        sizes.append(len(content))
    assert sizes == [2 * size for size in (15, 19, 19, 27, 39, 51, 75, 122)]


NAN, INFINITE = struct.unpack("<qq", struct.pack("<dd", math.nan, math.inf))
WRONG = [{"square": 65}, {"square": -1}, {"flags": -1}]
WRONG += [{"flags": DECIDED | VALUED | FLOAT, "value": bits} for bits in (NAN, INFINITE)]


@pytest.mark.parametrize("numbers", WRONG)
def test_turns_that_nobody_has_written_are_refused(numbers: dict[str, int]) -> None:
    turn = np.array([tuple(numbers.get(name, 0) for name in COLUMNS)], LAYOUTS[-1])
    with pytest.raises(ValueError, match="game 0: its turns cannot be read"):
        Turns([(0, 1, len(LAYOUTS) - 1, turn.tobytes(), 3, 5)])
