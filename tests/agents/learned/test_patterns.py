"""The pattern evaluation: its geometry, its kernel beside the reading twin, its weights."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numba
import numpy as np
import pytest
from boards import random_patterns, strewn
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from othello_lab.agents.evaluation.evaluation import SIGNATURE
from othello_lab.agents.learned import PatternEvaluation, lookup
from othello_lab.agents.learned.geometry import LANES, geometry
from othello_lab.core.bitboard import bits, symmetric_forms
from othello_lab.core.position import Position

RULES = {4: "mini4", 6: "mini6", 8: "standard"}
positions = st.sampled_from(sorted(RULES.values())).flatmap(strewn)


@pytest.fixture(scope="module")
def evaluations() -> dict[int, PatternEvaluation]:
    return {side: PatternEvaluation(random_patterns(side, 3)) for side in RULES}


@given(position=positions)
def test_the_kernel_says_what_the_twin_says(
    evaluations: dict[int, PatternEvaluation], position: Position
) -> None:
    evaluation = evaluations[position.ruleset.side]
    assert evaluation(position) == evaluation.plain(position)


def test_weights_are_the_same_fetched_together_or_one_by_one(
    evaluations: dict[int, PatternEvaluation], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = evaluations[8]
    monkeypatch.setattr(lookup, "GATHERS", False)
    one_by_one = numba.cfunc(SIGNATURE, error_model="numpy")(PatternEvaluation.kernel)
    rng = np.random.default_rng(1)
    masks = rng.integers(0, 2**64, (2, 2000), dtype=np.uint64)
    movers, opponents = masks[0] & masks[1], masks[0] & ~masks[1]
    for mover, opponent, value in zip(
        movers, opponents, evaluation.values(movers, opponents), strict=True
    ):
        parameters = evaluation.parameters.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
        assert one_by_one.ctypes(mover, opponent, parameters) == value


@given(position=positions)
def test_symmetric_positions_are_worth_the_same(
    evaluations: dict[int, PatternEvaluation], position: Position
) -> None:
    rules = position.ruleset
    forms = list(symmetric_forms(position.mover, position.opponent, rules.side))
    movers, opponents = (np.array(masks, dtype=np.uint64) for masks in zip(*forms, strict=True))
    assert len(set(evaluations[rules.side].values(movers, opponents).tolist())) == 1


def test_every_symmetry_brings_each_place_to_a_place_of_its_pattern() -> None:
    for side in RULES:
        shapes = geometry(side)
        assert len(shapes.places) <= LANES
        for pattern in shapes.patterns:
            squares = {frozenset(squares_of) for squares_of in pattern.places}
            for squares_of in squares:
                mask = sum(1 << square for square in squares_of)
                for image, _ in symmetric_forms(mask, 0, side):
                    assert frozenset(bits(image)) in squares


def test_the_classes_of_8x8_are_those_that_share_no_symmetry() -> None:
    # 3 ** 10 contents of an edge with X-squares, of which 3 ** 5 are their own mirror images.
    number = {pattern.name: pattern.number for pattern in geometry(8).patterns}
    assert number["edge and X-squares"] == (3**10 + 3**5) // 2
    assert number["corner 3x3"] == (3**9 + 3**6) // 2
    assert number["corner 2x5"] == 3**10
    assert number["diagonal of 4"] == (3**4 + 3**2) // 2
    assert geometry(8).classes == sum(number.values())


def test_features_are_the_classes_that_the_twin_looks_up() -> None:
    shapes = geometry(8)
    position = Position.from_transcript("f5d6c3d3c4f4f6f3")
    result = shapes.features(*(np.array([mask], dtype=np.uint64) for mask in position.masks))[0]
    digit = dict.fromkeys(bits(position.mover), 1) | dict.fromkeys(bits(position.opponent), 2)
    for (number, squares_of), column in zip(shapes.places, result, strict=True):
        content = sum(digit.get(square, 0) * 3**n for n, square in enumerate(squares_of))
        assert column == shapes.first[number] + shapes.patterns[number].classes[content]


def test_weights_of_another_shape_are_refused() -> None:
    weights = replace(random_patterns(6, 3), about={"side": 8})
    with refused("contents", "(3, 73890)", "(3, 113877)"):
        PatternEvaluation(weights)
