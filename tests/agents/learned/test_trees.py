"""Trees and their features: kernels beside the reading twins, and weights that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from boards import strewn
from hypothesis import given
from refusals import refused

from othello_lab import Position
from othello_lab.agents.learned import TreeEvaluation
from othello_lab.agents.learned import trees as model
from othello_lab.agents.learned.features import NAMES, features, plain_features
from othello_lab.agents.learned.forest import LEAVES
from othello_lab.agents.learned.weights import LearnedWeights

STAGES, TREES = 2, 33
"""One tree more than are looked at side by side."""


def drawn() -> dict[str, np.ndarray]:
    """Trees whose questions are about what random positions have."""
    rng = np.random.default_rng(4)
    filled, own = rng.integers(0, 1 << 64, (2, 500), dtype=np.uint64)
    found = features(filled & own, filled & ~own)
    feature = rng.integers(0, len(NAMES), (STAGES, TREES, model.QUESTIONS))
    return {
        model.STAGES: (np.arange(65) * STAGES // 65).astype(np.uint8),
        model.STARTS: np.array([-70, 35], dtype=np.int32),
        model.FEATURE: feature.astype(np.uint8),
        model.THRESHOLD: found[rng.integers(0, len(found), feature.shape), feature],
        model.LEAF: rng.integers(-200, 200, (STAGES, TREES, LEAVES)).astype(np.int32),
    }


def weights(**changed: np.ndarray) -> LearnedWeights:
    return LearnedWeights(model.KIND, model.VERSION, model.UNIT, drawn() | changed)


@pytest.fixture(scope="module")
def evaluation() -> TreeEvaluation:
    return TreeEvaluation(weights())


@given(position=strewn())
def test_the_kernel_says_what_the_twin_says(evaluation: TreeEvaluation, position: Position) -> None:
    assert evaluation(position) == evaluation.plain(position)


@given(position=strewn())
def test_features_are_those_of_their_twins(position: Position) -> None:
    found = features(*(np.array([mask]) for mask in position.masks))[0]
    assert dict(zip(NAMES, found.tolist(), strict=True)) == plain_features(position)
    assert list(plain_features(position)) == list(NAMES)


def test_x_and_c_squares_count_beside_empty_corners_only() -> None:
    # b2 X, g1 O; a8 is taken, so that b8 does not count.
    position = Position(1 << 9 | 1 << 56 | 1 << 57, 1 << 6)
    found = plain_features(position)
    assert (found["x_squares"], found["c_squares"]) == (-1, 1)
    assert (found["corners"], found["empties"], found["odd_empties"]) == (1, 60, 0)


def test_a_question_sends_what_is_equal_to_the_left() -> None:
    """Every tree asks for empty squares <= 30 first, and then nothing that is not always so."""
    feature = np.full((STAGES, TREES, model.QUESTIONS), NAMES.index("empties"), np.uint8)
    threshold = np.full(feature.shape, model.MOST_THRESHOLD - 1, np.int32)
    threshold[..., 0] = 30
    leaf = np.zeros((STAGES, TREES, LEAVES), np.int32)
    leaf[..., 0], leaf[..., LEAVES // 2] = 1, 100
    asked = {model.FEATURE: feature, model.THRESHOLD: threshold, model.LEAF: leaf}
    trees = TreeEvaluation(weights(**asked, **{model.STARTS: np.zeros(STAGES, np.int32)}))
    for empties, value in ((29, 1), (30, 1), (31, 100)):
        position = Position((1 << 64 - empties) - 1, 0)
        assert trees(position) == trees.plain(position) == TREES * value


# What drawn() makes of three positions: see test_network.
PINS = {"": 847, "f5d6c3d3c4": 643, "f5f6e6d6e7f8g6e3c6f7d3b6d8h5f3c5b7d2a7g5": 287}


def test_what_weights_mean_is_fixed(evaluation: TreeEvaluation) -> None:
    found = {moves: evaluation(Position.from_transcript(moves)) for moves in PINS}
    assert (model.VERSION, found) == (1, PINS)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({model.FEATURE: np.zeros((2, 5), np.uint8)}, "feature (2, 5)"),
        ({model.FEATURE: np.zeros((2, 0, 31), np.uint8)}, "threshold (2, 33, 31)"),
        ({model.LEAF: np.zeros((2, 33, 31), np.int32)}, "leaf (2, 33, 31)"),
        ({model.STARTS: np.zeros(3, np.int32)}, "starts (3,)"),
        ({model.LEAF: np.full((2, 33, 32), np.inf)}, "leaf float64;"),
        ({model.FEATURE: np.full((2, 33, 31), 18)}, "features 0 17"),
        ({model.FEATURE: np.full((2, 33, 31), -1)}, "features 0 17"),
        ({model.THRESHOLD: np.full((2, 33, 31), 1 << 30)}, "threshold: 33,554,432"),
        (
            {
                model.FEATURE: np.full((2, 33, 31), NAMES.index("edge_stability")),
                model.THRESHOLD: np.arange(2 * 33 * 31).reshape(2, 33, 31),
            },
            "threshold: 1023 edge_stability 255",
        ),
        ({model.LEAF: np.full((2, 33, 32), 1 << 27)}, "leaf: int32"),
    ],
)
def test_weights_that_do_not_fit_are_refused(changed: dict[str, np.ndarray], words: str) -> None:
    with refused(*words.split()):
        TreeEvaluation(weights(**changed))
