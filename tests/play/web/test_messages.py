"""Plain data in messages of a page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from othello_lab.play.web.messages import AskMessage, MessageError, PlainData, check_question, read


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


MESSAGES = [
    {"type": "hello", "visit": "A" * 22},
    {"type": "move", "move": "f5", "ply": 0, "ref": 1},
    {
        "type": "new",
        "rules": "standard",
        "black": {"name": "human", "settings": {}},
        "white": {"name": "own", "settings": {"depth": 3, "ordering": "none"}, "path": "a.py:B"},
        "text": "f5d6",
        "recorded": {"run": "a/b", "game": 3},
        "playing": True,
        "series": 5,
        "clock": {"per": "move", "seconds": 10},
    },
    {"type": "players", "black": None, "white": {"name": "greedy", "settings": {}}},
    {"type": "pace", "playing": True, "delay": 0.5},
    {"type": "back", "moves": 2, "ply": 4},
    {"type": "ask", "id": 3, "name": "mine", "options": {"visits": ["A" * 22], "ply": 3}},
    {"type": "ask", "id": 3, "name": "tree", "options": {"player": {"name": "x", "settings": {}}}},
    {"type": "ask", "id": 3, "name": "review", "options": {"first": 1, "last": 9}},
]
STRANGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=60),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.data(), st.sampled_from(MESSAGES), st.integers(0, 3))
@settings(max_examples=40)
def test_strange_messages_are_read_or_refused_in_a_line(
    data: st.DataObject, message: dict[str, Any], changes: int
) -> None:
    message = json.loads(json.dumps(message))
    for _ in range(changes):
        inner = [value for value in message.values() if isinstance(value, dict)]
        part = data.draw(st.sampled_from([message, *inner]))
        if part and data.draw(st.booleans()):
            del part[data.draw(st.sampled_from(list(part)))]
        part[data.draw(st.sampled_from([*part, "name", "ply", "ref"]))] = data.draw(STRANGE)
    text = json.dumps(message)
    if data.draw(st.booleans()) and changes:
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from('{}[]",:\\0e-')) + text[at:]
    said = ""
    try:
        read_message, _ = read(text)
        if isinstance(read_message, AskMessage):
            check_question(read_message)
    except MessageError as error:
        said = str(error)
    assert "\n" not in said
    assert not said or changes
