"""Composites: sums of features by stage of the game, and the refusal of bad ones."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from boards import played_out
from refusals import refused

from othello_lab import Position
from othello_lab.agents.composing import choices, load
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import FEATURES, FINAL_UNIT, Composite, DiscCount, Mobility


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    return [position for seed in range(5) for position, _ in played_out("standard", seed)]


@pytest.mark.integration
def test_a_composite_is_the_weighted_sum(positions: list[Position]) -> None:
    rng = random.Random(2)
    for number in range(12):
        # Quarters, so that the sums are exact and ties to be rounded (half to even) occur.
        names = rng.sample(sorted(FEATURES), 6) if number else ["disc_count"]
        weights = {name: rng.randint(-40, 40) / 4 if number else 0.5 for name in names}
        composite = Composite(weights)
        for position in positions[::7]:
            total = sum(Fraction(w) * FEATURES[n]()(position) for n, w in weights.items())
            found = composite(position), composite.plain(position)
            assert found == (round(total), round(total)), f"{weights}\n{position}"


def test_values_are_clipped_below_a_finished_game(positions: list[Position]) -> None:
    huge = Composite({"iago": 1e9, "mobility": -1e9})
    for position in positions[1:]:
        value = huge(position)
        assert value == huge.plain(position)
        assert abs(value) < FINAL_UNIT
    assert Composite({"disc_count": 1e9})(Position(15, 0)) == FINAL_UNIT - 1
    assert Composite({"disc_count": 1e9})(Position(0, 15)) == 1 - FINAL_UNIT


STAGES: list[dict[str, Any]] = [
    {"empties": [0, 9], "weights": {"disc_count": 100, "mobility": 0}},
    {"empties": [10, 10], "weights": {"mobility": 1000}},
    {"empties": [11, 60]},
]


def with_empties(empties: int) -> Position:
    """Discs everywhere but on the last squares; X has all but c1."""
    discs = (1 << 64 - empties) - 1
    return Position(discs & ~4, discs & 4)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_stages_change_with_the_empties(order: list[int]) -> None:
    composite = Composite({"mobility": 7}, [STAGES[i] for i in order])
    mobility, discs = Mobility(), DiscCount()
    for empties in range(65):  # with fewer discs than at the start too
        position = with_empties(empties)
        if empties <= 9:
            expected = 100 * discs(position)
        else:
            expected = (1000 if empties == 10 else 7) * mobility(position)
        assert composite(position) == composite.plain(position) == expected, empties
        assert round(sum(composite.parts(position).values())) == expected


def test_features_are_the_evaluations_there_are() -> None:
    targets = {name: load("evaluation", name)["_target_"] for name in choices("evaluation")}
    package = "othello_lab.agents.evaluation."
    made_of_others = package + "Composite", package + "FunctionEvaluation"
    by_hand = {n for n, t in targets.items() if t.startswith(package) and t not in made_of_others}
    assert set(FEATURES) == by_hand == set(load("evaluation", "composite")["weights"])
    start = Position.from_transcript("f5d6c3d3c4")
    for name, make in FEATURES.items():
        assert load_evaluation(name)(start) == make()(start), name


NO_WEIGHT = "at least one weight"
BAD_WEIGHTS: list[tuple[Any, str]] = [
    ({"mobilty": 3}, "weights: 'mobilty'; corners 'mobility'"),
    ({"composite": 3}, "'composite'"),
    ({"mobility": float("nan")}, "weights.mobility=nan:"),
    ({"corners": float("-inf")}, "weights.corners=-inf:"),
    ({"corners": "8"}, "weights.corners='8':"),
    ({"corners": None}, "weights.corners=null:"),
    ({"corners": [1]}, "weights.corners=[1]:"),
    ({"corners": 10**400}, "weights.corners=10000"),
    ({"corners": -1.7e308}, "weights.corners=-1.7e+308:"),
    ({}, NO_WEIGHT),
    (dict.fromkeys(FEATURES, 0), NO_WEIGHT),
    ("mobility", "weights"),
]
ALL = {"empties": [0, 60]}
BAD_STAGES: list[tuple[Any, str]] = [
    ([ALL | {"weights": {"mobility": 0}}], NO_WEIGHT),
    ([ALL | {"weights": {"mobilty": 0}}], "stages[0].weights: 'mobilty'"),
    ([ALL | {"weights": [1]}], "stages[0].weights"),
    ([ALL | {"wieghts": {}}], "stages[0]: 'wieghts'"),
    ([ALL | {"x": {}, 4: {}}], "stages[0]: key"),
    ([{"empties": [9, 60]}, {"empties": [0, 9]}], "stages[0] [1] overlap 9"),
    ([ALL, {"empties": [5, 5]}], "overlap 5"),
    ([{"empties": [0, 20]}, {"empties": [22, 60]}], "covers 21"),
    ([{"empties": [1, 60]}], "covers 0"),
    ([{"empties": [0, 59]}], "covers 60"),
    ([{"empties": [20, 0]}], "stages[0].empties=[20, 0]"),
    ([{"empties": [-1, 60]}], "stages[0].empties=[-1, 60]"),
    ([{"empties": [0, 61]}], "stages[0].empties=[0, 61]"),
    ([{"empties": [0]}], "stages[0].empties=[0]"),
    ([{"empties": [0, 60.0]}], "stages[0].empties=[0, 60.0]"),
    ([{"empties": "0-60"}], "stages[0].empties=0-60"),
    ([{"weights": {"corners": 1}}], "stages[0].empties=None"),
    (["0-60"], "stages[0]"),
    (ALL, "stages"),
]


@pytest.mark.parametrize(
    ("weights", "stages", "words"),
    [
        *((weights, None, words) for weights, words in BAD_WEIGHTS),
        *(({"mobility": 1}, stages, words) for stages, words in BAD_STAGES),
    ],
)
def test_bad_composites_are_refused(weights: Any, stages: Any, words: str) -> None:
    with refused(*words.split()):
        Composite(weights, stages)
