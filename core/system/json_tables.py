"""Tables of whole numbers as JSON, written in compiled code."""

from __future__ import annotations

import numpy as np

from othello_lab.core.system.compile import Announce, Array, Int, kernel, prepare

NULL = np.int64(-(1 << 63))
"""The number that stands for ``null``."""

_LONGEST = 20  # characters of a number, without the comma
_OPEN, _CLOSE, _COMMA, _MINUS, _ZERO = (np.uint8(ord(letter)) for letter in "[],-0")
_WORD = np.frombuffer(b"null", dtype=np.uint8).copy()
_TEN = np.int64(10)


@kernel
def _put(room: Array, place: Int, number: Int) -> Int:
    """Write a number; where it ends."""
    if number == NULL:
        for letter in _WORD:
            room[place] = letter
            place += 1
        return place
    if number < 0:
        room[place] = _MINUS
        place += 1
        number = -number
    end, rest = place + 1, number
    while rest >= _TEN:
        rest //= _TEN
        end += 1
    for digit in range(end - 1, place - 1, -1):
        room[digit] = _ZERO + np.uint8(number % _TEN)
        number //= _TEN
    return end


@kernel
def _put_all(
    table: Array, widths: Array, begins: Array, ends: Array, room: Array, last: Array
) -> None:
    place = np.int64(0)
    for text in range(len(begins)):
        room[place] = _OPEN
        place += 1
        for row in range(begins[text], ends[text]):
            if row > begins[text]:
                room[place] = _COMMA
                place += 1
            room[place] = _OPEN
            place += 1
            for column in range(widths[row]):
                if column > 0:
                    room[place] = _COMMA
                    place += 1
                place = _put(room, place, table[row, column])
            room[place] = _CLOSE
            place += 1
        room[place] = _CLOSE
        place += 1
        last[text] = place


def json_rows(
    table: np.ndarray, widths: np.ndarray, begins: np.ndarray, ends: np.ndarray
) -> list[str]:
    """Consecutive rows of a table, as a JSON list of lists; one text for each ``begins[i]`` to
    ``ends[i]`` - 1.

    table: int64, shape (rows, columns). widths: how many numbers of each row are written, int64.
    """
    most = int(widths.sum()) * (_LONGEST + 1) + 3 * len(table) + 3 * len(begins)
    room = np.empty(most, dtype=np.uint8)
    last = np.zeros(len(begins), dtype=np.int64)
    _put_all(table, widths, begins, ends, room, last)
    whole, texts, begin = room[: last[-1] if len(last) else 0].tobytes().decode("ascii"), [], 0
    for end in last.tolist():
        texts.append(whole[begin:end])
        begin = end
    return texts


def prepare_text(announce: Announce | None = None) -> None:
    """Load or compile the kernels."""
    one = np.ones((1, 1), dtype=np.int64)
    prepare("tables as text", lambda: json_rows(one, one[0], one[0] - 1, one[0]), announce)
