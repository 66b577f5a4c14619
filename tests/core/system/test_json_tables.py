"""Tables written in compiled code are what json writes."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from othello_lab.core.system.json_tables import NULL, json_rows

NUMBERS = st.one_of(
    st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-100, 100), st.just(int(NULL))
)


@given(
    table=st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=20),
    cuts=st.lists(st.integers(0, 20), max_size=4),
    widths=st.lists(st.integers(0, 3), min_size=20, max_size=20),
)
def test_rows_are_what_json_writes(
    table: list[list[int]], cuts: list[int], widths: list[int]
) -> None:
    ends = sorted({*(min(cut, len(table)) for cut in cuts), len(table)})
    begins = [0, *ends[:-1]]
    wide = np.array(widths[: len(table)], dtype=np.int64)
    found = json_rows(np.array(table, dtype=np.int64), wide, np.array(begins), np.array(ends))
    for text, begin, end in zip(found, begins, ends, strict=True):
        rows = [row[:width] for row, width in zip(table, widths, strict=False)][begin:end]
        plain = [[None if number == NULL else number for number in row] for row in rows]
        assert text == json.dumps(plain, separators=(",", ":"))
