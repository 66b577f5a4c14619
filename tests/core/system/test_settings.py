"""What a setting may be is declared once, checked by one mechanism, and refused in one style."""

from __future__ import annotations

import math
import pydoc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from refusals import refused

from othello_lab.core.system.settings import (
    Choice,
    Constraint,
    Each,
    Meanings,
    Number,
    SettingError,
    Switch,
    Text,
    Whole,
    called,
    check_settings,
    checked,
    constraints,
    documented,
    summary,
)

if TYPE_CHECKING:
    from decimal import Decimal

NAN, INF = math.nan, math.inf


CASES: list[tuple[Constraint, list[Any], list[Any]]] = [
    (Whole(), [0, 1, 10**30], [-1, 0.0, True, "0", NAN]),
    (Whole(1, 64), [1, 64], [0, 65, 2.0, False]),
    (Whole(2, even=True), [2, 4], [0, 3, 2.0]),
    (Whole(1, word="all"), [1, "all"], [0, "some"]),
    (Number(low=0), [0, 0.0, 1e300], [-1e-300, INF, NAN, True, "1", 10**400]),
    (Number(above=0, below=1), [0.5], [0, 1, 0.0, 1.0]),
    (Number(0, 10), [0, 10], [-0.1, 10.1]),
    (Choice("win", "discs"), ["win"], ["Win", "", 3]),
    (Switch(), [True, False], [0, 1, "true"]),
    (Each(Whole(1)), [[], [1, 2], (3,)], [[1, 0], 3, "12"]),
    (Text(r"[a-z]+", "small letters"), ["a"], ["", "a1", "a\n", 3]),
]


@pytest.mark.parametrize(
    ("constraint", "allowed", "refused"), CASES, ids=[type(case[0]).__name__ for case in CASES]
)
def test_what_is_allowed(constraint: Constraint, allowed: list[Any], refused: list[Any]) -> None:
    assert all(constraint.allows(value) for value in allowed)
    assert not any(constraint.allows(value) for value in refused)


def test_the_range_of_a_number_is_told() -> None:
    for number, needed in (
        (Number(), "a number"),
        (Number(0, 10), "a number from 0 to 10"),
        (Number(low=0), "a number of 0 or more"),
        (Number(high=10), "a number of at most 10"),
        (Number(above=0, below=1), "a number of more than 0 and less than 1"),
        (Number(low=0, below=1), "a number of 0 or more and less than 1"),
    ):
        assert number.needed == needed


@dataclass
class Inner:
    seconds: Annotated[float | None, Number(above=0)] = None


@dataclass
class Outer:
    games: Annotated[int, Whole(2, even=True, why="two a pair")] = 2
    export: Annotated[list[str], Each(Choice("csv", "parquet"))] = field(default_factory=list)
    free: Any = None
    limits: Inner = field(default_factory=Inner)
    exact: Decimal | None = None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"games": 3}, "games=3: even 2 two"),
        ({"games": "4"}, "games='4': even"),
        ({"games": None}, "games=null: even"),
        ({"export": ["csv", "parket"]}, "export 'parket'; csv, 'parquet'"),
        ({"export": 3}, "export=3: list csv, parquet"),
        ({"limits": Inner(0.0)}, "limits.seconds=0.0: 0, null,"),
    ],
)
def test_the_first_bad_setting_is_named(settings: dict[str, Any], words: str) -> None:
    with refused(*words.split(), error=SettingError):
        check_settings(Outer(**settings))


def test_arguments_are_checked_before_anything_happens() -> None:
    happened = []

    class Agent:
        @checked
        def __init__(self, depth: Annotated[int, Whole(1)], *, trace: bool = False) -> None:
            """Of the agent."""
            happened.append((depth, trace))

    Agent(3, trace=True)
    for arguments, error in (((0,), SettingError), (("x",), SettingError), ((), TypeError)):
        with refused("depth", error=error):
            Agent(*arguments)
    assert happened == [(3, True)]
    assert Agent.__init__.__doc__ == "Of the agent."


def test_settings_of_a_class_are_those_of_its_bases_too() -> None:
    @dataclass
    class Special(Outer):
        depth: Annotated[int, Whole(1)] = 1

    assert set(constraints(Special)) == {"games", "export", "depth"}
    check_settings(Special(4, ["csv"], object(), Inner(0.5)))
    with refused("games=1", error=SettingError):
        check_settings(Special(games=1))


class Called:
    def __init__(self, depth: int, name: str = "x", *more: int, lost: int = 3, **rest: int) -> None:
        self.depth, self.name = depth, name


def test_the_call_that_makes_an_object_again() -> None:
    assert called(Called(3)) == "Called(depth=3, lost=...)"
    assert called(Called(3, "y's"), {"lost": 4}) == """Called(depth=3, name="y's", lost=4)"""


def test_help_tells_what_settings_may_be() -> None:
    from othello_lab import AlphaBeta, Minimax

    told = " ".join(str(AlphaBeta.__doc__).split())
    for expected in (
        "depth: a whole number from 1 to 64 Plies to look ahead",
        "step: a whole number of 1 or more (default 1) Plies",
        "table_mb: a whole number of MB, 1 or more, or None (default None)",
        "ordering: str (default 'none')",
    ):
        assert expected in told
    assert "ordering" not in str(Minimax.__doc__)
    assert summary(AlphaBeta).startswith("Alpha-beta pruning: ") and "depth:" not in summary(
        AlphaBeta
    )
    shown = pydoc.render_doc(Minimax, renderer=pydoc.plaintext).replace(" |  ", "")
    assert "evaluation: Evaluation\n    The heuristic at the leaves." in shown


def test_what_is_declared_of_a_setting_can_be_had() -> None:
    from othello_lab import AlphaBeta, RandomAgent

    told = documented(AlphaBeta)
    assert list(told)[:2] == ["depth", "evaluation"]
    assert told["etc"].default is False and told["etc"].note(Meanings) is None
    assert told["evaluation"].text == "The heuristic at the leaves."
    meanings = told["ordering"].note(Meanings)
    assert meanings is not None
    assert list(meanings("killer+static")) == ["killer", "static"]
    assert documented(RandomAgent) == {}
