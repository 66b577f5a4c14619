"""Plain data in messages of a page."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from othello_lab.play.web.messages import (
    AskMessage,
    MessageError,
    PlainData,
    check_question,
    read,
)


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
STRANGE = [
    *(None, True, -1, 1 << 60, 1e308, "", "x" * 60, "\udce9", "a\x00b", [], {}, [[]], {"a": 1}),
    *({"name": "human"}, {"per": "move"}, float("nan"), ["A" * 22], "standard", "f5"),
]


def changed(value: Any, rng: random.Random) -> Any:
    """A copy with something changed, taken away, added, or put in another's place."""
    if rng.random() < 0.15:
        return rng.choice(STRANGE)
    if isinstance(value, dict) and value:
        found = dict(value)
        key = rng.choice(list(found))
        match rng.randrange(4):
            case 0:
                del found[key]
            case 1:
                found[rng.choice(["type", "name", "ply", "ref", "nothing", "\u2028"])] = found[key]
            case _:
                found[key] = changed(found[key], rng)
        return found
    if isinstance(value, list):
        return [changed(each, rng) for each in value] * rng.randrange(3)
    return rng.choice(STRANGE)


@pytest.mark.integration
def test_a_hundred_thousand_strange_messages_are_read_or_refused_in_a_line() -> None:
    rng = random.Random(7)
    counts: Counter[str] = Counter()
    for _ in range(100_000):
        message: Any = rng.choice(MESSAGES)
        for _ in range(rng.randrange(1, 4)):
            message = changed(message, rng)
        text = json.dumps(message)
        if rng.random() < 0.1:
            place = rng.randrange(len(text))
            text = text[:place] + rng.choice('{}[]",:\\0e-') + text[place + rng.randrange(3) :]
        said = outcome_of(text)
        counts["refused" if said else "read"] += 1
        assert "\n" not in said
    assert min(counts["read"], counts["refused"]) > 1000, counts


def outcome_of(text: str) -> str:
    """Return what the page is told about a message; "" if it is read."""
    try:
        message, _ = read(text)
        if isinstance(message, AskMessage):
            check_question(message)
    except MessageError as error:
        return str(error)
    return ""
