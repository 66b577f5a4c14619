"""Plain data in messages of a page."""

from __future__ import annotations

from typing import Any

import pytest

from othello_lab.play.web.messages import PlainData


def nested(depth: int) -> dict[str, Any]:
    """An object in an object, this many in all."""
    return {"inner": nested(depth - 1)} if depth > 1 else {}


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        (nested(4), True),
        (nested(5), False),
        ({"list": [[[]]]}, True),
        ({"list": [[[[]]]]}, False),
        ({str(number): 0 for number in range(40)}, True),
        ({str(number): 0 for number in range(41)}, False),
        ({"list": [0] * 100}, True),
        ({"list": [0] * 101}, False),
        ({"number": 1 << 53}, True),
        ({"number": (1 << 53) + 1}, False),
        ({"number": float("inf")}, False),
        ({"number": float("nan")}, False),
        ({"none": None, "switch": True, "text": "a"}, True),
        ({"thing": object()}, False),
        ([], False),
    ],
)
def test_plain_data_has_bounds(value: object, allowed: bool) -> None:
    assert PlainData().allows(value) is allowed
