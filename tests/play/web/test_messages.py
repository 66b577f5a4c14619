"""Plain data in messages of a page."""

from __future__ import annotations

from typing import Any

import pytest

from othello_lab.play.web.messages import PlainData


def nested(depth: int) -> dict[str, Any]:
    """An object in an object, this many in all."""
    return {"inner": nested(depth - 1)} if depth > 1 else {}


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [
        (nested(4), nested(5)),
        ({"list": [[[]]]}, {"list": [[[[]]]]}),
        ({str(number): 0 for number in range(40)}, {str(number): 0 for number in range(41)}),
        ({"list": [0] * 100}, {"list": [0] * 101}),
        ({"number": 1 << 53}, {"number": (1 << 53) + 1}),
        ({"number": 0.5}, {"number": float("inf")}),
        ({"none": None, "switch": True, "text": "a"}, {"number": float("nan")}),
        ({}, {"thing": object()}),
        ({"list": []}, []),
    ],
)
def test_plain_data_has_bounds(allowed: object, refused: object) -> None:
    assert PlainData().allows(allowed)
    assert not PlainData().allows(refused)
