"""Numbers are written in compiled code as Python writes them.

The text of whole games is compared with the judge's in ``tests/experiments/playing/test_batch.py``.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from othello_lab.core import recorded_games
from othello_lab.core.recorded_games import put_number

_LIMITS = [sign * 10**power + more for sign in (-1, 1) for power in range(19) for more in (-1, 0)]


@given(st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-2000, 2000)))
def test_any_number_is_written(number: int) -> None:
    check_written(number)


def test_numbers_of_every_length_are_written() -> None:
    for number in [*_LIMITS, -(1 << 63), (1 << 63) - 1]:
        check_written(number)


def check_written(number: int) -> None:
    room = np.full(40, ord("x"), dtype=np.uint8)
    words, begin = np.intp(recorded_games._NUMBERS.ctypes.data), np.intp(room.ctypes.data)
    end = put_number(words, begin, np.int64(number)) - begin
    assert room[:end].tobytes().decode() == f",{number}"
    assert set(room[end + 7 :]) == {ord("x")}, "no more than seven bytes behind it are changed"
