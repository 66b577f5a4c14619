"""Composites: sums of features by stage of the game, and the refusal of bad ones."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from othello_lab import AlphaBeta, Position
from othello_lab.agents.config import ConfigError, choices, load, load_evaluation
from othello_lab.agents.evaluation import FEATURES, FINAL_UNIT, Composite, DiscCount, Mobility
from othello_lab.experiments.config import read

RandomGame = Callable[[str, int], list[Position]]


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    found = []
    for seed in range(5):
        rng = random.Random(seed)
        position = Position.start()
        while not position.is_over:
            found.append(position)
            position = position.play(rng.choice(position.moves or (64,)))
    return found


# ------------------------------------------------------------------ sums


@pytest.mark.parametrize("name", FEATURES)
def test_one_feature_with_weight_one_is_that_feature(name: str, positions: list[Position]) -> None:
    composite, feature = Composite({name: 1}), FEATURES[name]()
    tripled = Composite({name: -3})
    for position in positions[::3]:
        assert composite(position) == composite.plain(position) == feature(position)
        assert tripled(position) == -3 * feature(position)


def test_a_composite_is_the_weighted_sum(positions: list[Position]) -> None:
    rng = random.Random(2)
    for _ in range(12):
        # Quarters, so that the sums are exact and ties to be rounded occur.
        weights = {name: rng.randint(-40, 40) / 4 for name in rng.sample(sorted(FEATURES), 6)}
        composite = Composite(weights)
        for position in positions[::7]:
            total = sum(Fraction(w) * FEATURES[n]()(position) for n, w in weights.items())
            assert composite(position) == round(total), f"{weights}\n{position}"


def test_halves_are_rounded_to_even(positions: list[Position]) -> None:
    composite, seen = Composite({"disc_count": 0.5}), set()
    for position in positions:
        discs = DiscCount()(position)
        value = composite(position)
        assert value == composite.plain(position)
        if discs % 2:
            assert value % 2 == 0
            assert abs(2 * value - discs) == 1
            seen.add(discs % 4)
    assert seen == {1, 3}


def test_weight_0_is_as_if_it_were_not_there(positions: list[Position]) -> None:
    zeros = dict.fromkeys(FEATURES, 0.0)
    one, other = Composite({"mobility": 8, "corners": 25}), Composite({"mobility": 8})
    for position in positions:
        assert Composite.__call__(one, position) == one.plain(position)
    switched = Composite(zeros | {"mobility": 8})
    assert set(switched.features) == {"mobility"}
    for position in positions:
        assert switched(position) == other(position)
        assert switched.parts(position) == other.parts(position)


def test_values_are_clipped_below_a_finished_game(positions: list[Position]) -> None:
    huge = Composite({"iago": 1e9, "mobility": -1e9})
    for position in positions[1:]:
        value = huge(position)
        assert value == huge.plain(position)
        assert abs(value) < FINAL_UNIT
    assert Composite({"disc_count": 1e9})(Position(15, 0)) == FINAL_UNIT - 1
    assert Composite({"disc_count": 1e9})(Position(0, 15)) == 1 - FINAL_UNIT


def test_parts_are_the_terms(positions: list[Position]) -> None:
    weights = {"mobility": 8, "corners": 25, "parity": -0.25}
    composite = Composite(weights)
    for position in positions[::9]:
        parts = composite.parts(position)
        assert len(parts) == 3
        for name, weight in weights.items():
            feature = FEATURES[name]()(position)
            assert parts[f"{name}: {feature:+} x {weight:g}"] == weight * feature
        assert composite(position) == round(sum(parts.values()))


# ------------------------------------------------------------------ stages

STAGES: list[dict[str, Any]] = [
    {"empties": [0, 9], "weights": {"disc_count": 100, "mobility": 0}},
    {"empties": [10, 10], "weights": {"mobility": 1000}},
    {"empties": [11, 60]},
]


def with_empties(empties: int) -> Position:
    """Discs everywhere but on the last squares; X has all but c1."""
    discs = (1 << 64 - empties) - 1
    return Position(discs & ~4, 4)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_stages_change_with_the_empties(order: list[int]) -> None:
    composite = Composite({"mobility": 7}, [STAGES[i] for i in order])
    mobility, discs = Mobility(), DiscCount()
    for empties in range(61):
        position = with_empties(empties)
        if empties <= 9:
            expected = 100 * discs(position)
        else:
            expected = (1000 if empties == 10 else 7) * mobility(position)
        assert composite(position) == composite.plain(position) == expected, empties
        assert round(sum(composite.parts(position).values())) == expected


def test_sixty_one_stages() -> None:
    stages = [{"empties": [n, n], "weights": {"disc_count": n + 1}} for n in range(61)]
    composite = Composite(stages=stages)
    for empties in range(61):
        position = with_empties(empties)
        assert composite(position) == (empties + 1) * (64 - empties - 2)


def test_a_stage_may_have_nothing_to_say() -> None:
    stages = [{"empties": [0, 30]}, {"empties": [31, 60], "weights": {"disc_count": 2}}]
    composite = Composite(stages=stages)
    assert composite(with_empties(31)) == 2 * 31
    assert composite(with_empties(30)) == composite.plain(with_empties(30)) == 0
    assert composite.parts(with_empties(30)) == {}


def nearly_empty() -> None:
    stages = [{"empties": [0, 20], "weights": {"disc_count": 9}}, {"empties": [21, 60]}]
    composite = Composite({"disc_count": 3}, stages)
    for discs in range(4):
        position = Position((1 << discs) - 1, 0)
        assert composite(position) == composite.plain(position) == 3 * discs, discs


def test_boards_with_fewer_discs_than_at_the_start() -> None:
    """In a process of its own: reading past the stages would end it."""
    process = multiprocessing.get_context("fork").Process(target=nearly_empty)
    process.start()
    process.join(timeout=120)
    assert process.exitcode == 0


# ------------------------------------------------------------------ copies


def test_a_copy_has_its_own_features(positions: list[Position]) -> None:
    composite = Composite({"iago": 0.5, "stable_discs": 12, "mobility_ratio": 1}, STAGES)
    values = [composite(position) for position in positions]
    decision = AlphaBeta(3, composite).search(positions[10])
    for clone in (copy.deepcopy(composite), pickle.loads(pickle.dumps(composite))):
        del composite
        composite = clone
        assert [composite(position) for position in positions] == values
        assert AlphaBeta(3, composite).search(positions[10]) == decision


def test_two_composites_do_not_get_in_each_others_way() -> None:
    one, two = Composite({"disc_count": 1}), Composite({"disc_count": 10, "corners": 0.5})
    position = Position(0b1111, 0)
    assert [one(position), two(position), one(position)] == [4, 40, 4]


# ------------------------------------------------------------------ in YAML and on the command line


def test_every_feature_can_be_swept_from_the_command_line() -> None:
    weights = load("evaluation", "composite")["weights"]
    assert set(weights) == set(FEATURES)
    for name in FEATURES:
        words = ["agents=ab_mirror", "evaluation=composite", f"evaluation.weights.{name}=4.5"]
        agent = read(words).agents["left"]
        assert agent.evaluation.stages[0][name] == 4.5  # type: ignore[attr-defined]


def test_features_are_the_evaluations_there_are() -> None:
    targets = {name: load("evaluation", name)["_target_"] for name in choices("evaluation")}
    made_of_others = (
        "othello_lab.agents.evaluation.Composite",
        "othello_lab.agents.evaluation.FunctionEvaluation",
    )
    by_hand = {
        name
        for name, target in targets.items()
        if target.startswith("othello_lab.agents.evaluation.") and target not in made_of_others
    }
    assert set(FEATURES) == by_hand
    start = Position.from_transcript("f5d6c3d3c4")
    for name, make in FEATURES.items():
        assert load_evaluation(name)(start) == make()(start), name


def test_weights_from_the_command_line_change_values() -> None:
    position = Position.from_transcript("f5d6c3d3c4f4")
    for weight in (0, 4, 8):
        plan = read(
            ["agents=ab_mirror", "evaluation=composite", f"evaluation.weights.iago={weight}"]
        )
        evaluation = plan.agents["right"].evaluation  # type: ignore[attr-defined]
        base = Composite({"mobility": 8, "corners": 25, "stable_discs": 12})
        assert evaluation(position) == base(position) + weight * FEATURES["iago"]()(position)


def test_stages_from_the_command_line() -> None:
    words = [
        "agents=ab_mirror",
        "evaluation=composite",
        "evaluation.stages=[{empties: [0, 20], weights: {disc_count: 5, mobility: 0}},"
        "{empties: [21, 60]}]",
    ]
    evaluation = read(words).agents["left"].evaluation  # type: ignore[attr-defined]
    assert evaluation.stages[0] == evaluation.stages[1] | {"disc_count": 5, "mobility": 0}


# ------------------------------------------------------------------ bad input

GOOD = {"mobility": 1}

BAD: list[tuple[Any, Any, str]] = [
    ({"mobilty": 3}, None, r"weights: unknown feature 'mobilty'; .*corners.*mean 'mobility'\?"),
    ({"composite": 3}, None, "unknown feature 'composite'"),
    ({3: 3}, None, "unknown feature '3'"),
    ({"mobility": float("nan")}, None, r"weights\.mobility=nan: a number from"),
    ({"mobility": float("inf")}, None, r"weights\.mobility=inf: a number from"),
    ({"corners": float("-inf")}, None, r"weights\.corners=-inf: a number from"),
    ({"corners": "8"}, None, r"weights\.corners='8': a number from"),
    ({"corners": None}, None, r"weights\.corners=null: a number from"),
    ({"corners": True}, None, r"weights\.corners=True: a number from"),
    ({"corners": [1]}, None, r"weights\.corners=\[1\]: a number from"),
    ({"corners": 10**400}, None, r"weights\.corners=10{5,}: a number from"),
    ({"corners": -1.7e308}, None, r"weights\.corners=-1.7e\+308: a number from"),
    ({}, None, "at least one weight that is not 0"),
    (None, None, "at least one weight that is not 0"),
    (dict.fromkeys(FEATURES, 0), None, "at least one weight that is not 0"),
    ([1, 2], None, r"weights"),
    ("mobility", None, r"weights"),
    (GOOD, [{"empties": [0, 60], "weights": {"mobility": 0}}], "at least one weight"),
    (GOOD, [{"empties": [0, 60], "weights": {"mobilty": 0}}], r"stages\[0\]\.weights: unknown"),
    (GOOD, [{"empties": [0, 60], "weights": {"mobility": "x"}}], r"stages\[0\]\.weights\.mob"),
    (GOOD, [{"empties": [0, 60], "weights": [1]}], r"stages\[0\]\.weights"),
    (GOOD, [{"empties": [0, 60], "wieghts": {}}], r"stages\[0\]: unknown key 'wieghts'"),
    (GOOD, [{"empties": [0, 60], 4: {}}], r"stages\[0\]: unknown key '4'"),
    (GOOD, [{"empties": [0, 60], "x": {}, 4: {}}], r"stages\[0\]: unknown key"),
    (GOOD, [{"empties": [0, 20]}, {"empties": [20, 60]}], r"stages\[0\] and \[1\] overlap at 20 e"),
    (GOOD, [{"empties": [9, 60]}, {"empties": [0, 9]}], r"stages\[0\] and \[1\] overlap at 9 emp"),
    (GOOD, [{"empties": [0, 60]}, {"empties": [5, 5]}], r"overlap at 5 empties"),
    (GOOD, [{"empties": [0, 20]}, {"empties": [22, 60]}], "no stage covers 21 empties"),
    (GOOD, [{"empties": [1, 60]}], "no stage covers 0 empties"),
    (GOOD, [{"empties": [0, 59]}], "no stage covers 60 empties"),
    (GOOD, [{"empties": [20, 0]}], r"stages\[0\]\.empties=\[20, 0\]"),
    (GOOD, [{"empties": [-1, 60]}], r"stages\[0\]\.empties=\[-1, 60\]"),
    (GOOD, [{"empties": [0, 61]}], r"stages\[0\]\.empties=\[0, 61\]"),
    (GOOD, [{"empties": [0]}], r"stages\[0\]\.empties=\[0\]"),
    (GOOD, [{"empties": [0, 60.0]}], r"stages\[0\]\.empties=\[0, 60\.0\]"),
    (GOOD, [{"empties": [False, 60]}], r"stages\[0\]\.empties=\[False, 60\]"),
    (GOOD, [{"empties": "0-60"}], r"stages\[0\]\.empties=0-60"),
    (GOOD, [{"empties": 60}], r"stages\[0\]\.empties=60"),
    (GOOD, [{"weights": {"corners": 1}}], r"stages\[0\]\.empties=None"),
    (GOOD, [None], r"stages\[0\]"),
    (GOOD, ["0-60"], r"stages\[0\]"),
    (GOOD, [[0, 60]], r"stages\[0\]"),
    (GOOD, 7, r"stages"),
    (GOOD, {"empties": [0, 60]}, r"stages"),
]


@pytest.mark.parametrize(("weights", "stages", "complaint"), BAD)
def test_bad_composites_are_refused(weights: Any, stages: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refusal:
        Composite(weights, stages)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("+evaluation.weights.mobilty=4", r"unknown feature 'mobilty'.*'mobility'"),
        ("evaluation.weights.mobilty=4", r"weights\.mobilty"),
        ("evaluation.weights.mobility=nan", r"weights\.mobility=nan: a number from"),
        ("evaluation.weights.mobility=inf", r"weights\.mobility=inf: a number from"),
        ("evaluation.weights.mobility=many", r"weights\.mobility=many: a number from"),
        ("evaluation.weights.mobility=null", r"weights\.mobility=null: a number from"),
        ("evaluation.weights=null", r"at least one weight that is not 0"),
        ("evaluation.weights=8", r"weights"),
        ("evaluation.stages=[{empties:[0,30]}]", r"no stage covers 31 empties"),
        ("evaluation.stages=[{empties:[0,30]},{empties:[30,60]}]", r"overlap at 30 empties"),
        ("evaluation.stages=8", r"stages"),
        ("ruleset=mini6", r"8x8.*mini6"),
    ],
)
def test_bad_settings_get_one_line_that_names_them(words: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as refusal:
        read(["agents=ab_mirror", "evaluation=composite", *words.split()])
    message = str(refusal.value)
    assert "\n" not in message
    assert not re.search(r"Traceback|object at 0x|TypeError|AttributeError", message)
