"""The network and the trees: their kernels beside the reading twins, what their weights mean, and
weights that are refused."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from boards import strewn
from hypothesis import given
from refusals import refused

from othello_lab import Position
from othello_lab.agents.learned import NetworkEvaluation, TreeEvaluation, forest, network, trees
from othello_lab.agents.learned.features import NAMES, features, plain_features
from othello_lab.agents.learned.forest import LEAVES
from othello_lab.agents.learned.simd import dot, lanes_at, plus, plus_product, shift_and_clip
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.bitboard import VECTORISED
from othello_lab.core.system.compile import kernel

STAGES = {network: 3, trees: 2}
TREES = 33
"""One tree more than are looked at side by side."""


def drawn_network() -> dict[str, np.ndarray]:
    """Weights for which sums are as often within 0..1 as beyond."""
    rng, stages = np.random.default_rng(1), STAGES[network]

    def numbers(most: int, *shape: int, kind: Any = np.int32) -> np.ndarray:
        return rng.integers(-most, most, shape).astype(kind)

    return {
        network.STAGES: (np.arange(65) * stages // 65).astype(np.uint8),
        network.INPUTS: numbers(120, 4, 64, network.FIRST, kind=np.int16),
        network.EMPTIES: numbers(2000, 65, network.FIRST, kind=np.int16),
        network.HIDDEN: numbers(300, stages, network.SECOND, network.FIRST, kind=np.int16),
        network.HIDDEN_BIAS: numbers(30_000, stages, network.SECOND),
        network.OUTPUT: numbers(9_000, stages, network.SECOND),
        network.OUTPUT_BIAS: numbers(900_000, stages),
    }


def drawn_trees() -> dict[str, np.ndarray]:
    """Trees whose questions are about what random positions have."""
    rng, stages = np.random.default_rng(4), STAGES[trees]
    filled, mine = rng.integers(0, 1 << 64, (2, 500), dtype=np.uint64)
    result = features(filled & mine, filled & ~mine)
    feature = rng.integers(0, len(NAMES), (stages, TREES, trees.QUESTIONS))
    return {
        trees.STAGES: (np.arange(65) * stages // 65).astype(np.uint8),
        trees.STARTS: np.array([-70, 35], dtype=np.int32),
        trees.FEATURE: feature.astype(np.uint8),
        trees.THRESHOLD: result[rng.integers(0, len(result), feature.shape), feature],
        trees.LEAF: rng.integers(-200, 200, (stages, TREES, LEAVES)).astype(np.int32),
    }


def weights(model: ModuleType, **changed: np.ndarray) -> LearnedWeights:
    drawn = drawn_network() if model is network else drawn_trees()
    return LearnedWeights(model.KIND, model.VERSION, model.UNIT, drawn | changed)


KINDS = {network: NetworkEvaluation, trees: TreeEvaluation}
EVALUATIONS: dict[ModuleType, Any] = {m: kind(weights(m)) for m, kind in KINDS.items()}
models = pytest.mark.parametrize("model", KINDS, ids=["network", "trees"])


@models
@given(position=strewn())
def test_the_kernel_says_what_the_twin_says(model: ModuleType, position: Position) -> None:
    assert EVALUATIONS[model](position) == EVALUATIONS[model].plain(position)


LATE = "f5f6e6d6e7f8g6e3c6f7d3b6d8h5f3c5b7d2a7g5"
PINS = {
    network: {"": 1125, "f5d6c3d3c4": 675, LATE: 956},
    trees: {"": 847, "f5d6c3d3c4": 643, LATE: 287},
}
"""What made-up weights make of the start and of two later positions; a change of them is a change
of what all weights mean, and needs another VERSION."""


@models
def test_what_weights_mean_is_fixed(model: ModuleType) -> None:
    result = {moves: EVALUATIONS[model](Position.from_transcript(moves)) for moves in PINS[model]}
    assert (model.VERSION, result) == (1, PINS[model])


@pytest.mark.parametrize(
    ("model", "changed", "words"),
    [
        (network, {network.INPUTS: np.zeros((4, 64, 32), np.int16)}, "inputs (4, 64, 32)"),
        (network, {network.HIDDEN: np.zeros((2, 16, 64), np.int16)}, "hidden (2, 16, 64)"),
        (network, {network.STAGES: np.zeros(60, np.uint8)}, "stages (60,)"),
        (network, {network.STAGES: np.full(65, -1, np.int8)}, "stages: -1"),
        (network, {network.OUTPUT: np.full((3, 16), np.nan)}, "output float64;"),
        (network, {network.INPUTS: np.full((4, 64, 64), 600)}, "inputs: int16"),
        (network, {network.HIDDEN: np.full((3, 16, 64), 40_000)}, "hidden: 40,000; int16"),
        (network, {network.HIDDEN_BIAS: np.full((3, 16), 1 << 31)}, "hidden: int32"),
        (network, {network.OUTPUT: np.full((3, 16), 1 << 20)}, "output: int32"),
        (trees, {trees.FEATURE: np.zeros((2, 5), np.uint8)}, "feature (2, 5)"),
        (trees, {trees.FEATURE: np.zeros((2, 0, 31), np.uint8)}, "threshold (2, 33, 31)"),
        (trees, {trees.LEAF: np.zeros((2, 33, 31), np.int32)}, "leaf (2, 33, 31)"),
        (trees, {trees.STARTS: np.zeros(3, np.int32)}, "starts (3,)"),
        (trees, {trees.LEAF: np.full((2, 33, 32), np.inf)}, "leaf float64;"),
        (trees, {trees.FEATURE: np.full((2, 33, 31), 18)}, "features 0 17"),
        (trees, {trees.FEATURE: np.full((2, 33, 31), -1)}, "features 0 17"),
        (trees, {trees.THRESHOLD: np.full((2, 33, 31), 1 << 30)}, "threshold: 33,554,432"),
        (
            trees,
            {
                trees.FEATURE: np.full((2, 33, 31), NAMES.index("edge_stability")),
                trees.THRESHOLD: np.arange(2 * 33 * 31).reshape(2, 33, 31),
            },
            "threshold: 1023 edge_stability 255",
        ),
        (trees, {trees.LEAF: np.full((2, 33, 32), 1 << 27)}, "leaf: int32"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    model: ModuleType, changed: dict[str, np.ndarray], words: str
) -> None:
    with refused(*words.split()):
        KINDS[model](weights(model, **changed))


# ------------------------------------------------------------------ the network


def test_values_differ_and_keep_within_their_range() -> None:
    rng = np.random.default_rng(3)
    filled, mine = rng.integers(0, 1 << 64, (2, 2000), dtype=np.uint64)
    values = EVALUATIONS[network].values(filled & mine, filled & ~mine)
    assert len(set(values.tolist())) > 500
    assert np.abs(values).max() <= network.LARGEST


def test_what_reaches_the_end_of_the_range_is_clipped() -> None:
    for bias, value in ((2**31 - 2**26, network.LARGEST), (2**26 - 2**31, -network.LARGEST)):
        changed = {network.OUTPUT_BIAS: np.full(STAGES[network], bias, dtype=np.int32)}
        evaluation = NetworkEvaluation(weights(network, **changed))
        start = Position.start()
        assert evaluation(start) == evaluation.plain(start) == value


@kernel
def layers(total: Any, inputs: Any, weights: Any) -> int:
    """4 sums of 6 inputs: no number of them that processors have instructions for."""
    first = shift_and_clip(plus(lanes_at(16, 6, inputs), lanes_at(16, 6, inputs)), 1, 1000)
    sums = plus_product(lanes_at(32, 4, total), first, weights)
    return dot(sums, lanes_at(32, 4, total))


def test_vectors_of_any_length_are_added_up() -> None:
    rng = np.random.default_rng(2)
    total = rng.integers(-999, 999, 4).astype(np.int32)
    inputs = rng.integers(-2000, 2000, 6).astype(np.int16)
    matrix = rng.integers(-999, 999, (4, 6)).astype(np.int16)
    paired = np.ascontiguousarray(matrix.reshape(4, 3, 2).transpose(1, 0, 2))
    sums = total + matrix.astype(int) @ np.clip(inputs, 0, 1000)
    addresses = [np.intp(array.ctypes.data) for array in (total, inputs, paired)]
    assert layers(*addresses) == sums @ total


# ------------------------------------------------------------------ the trees


@given(position=strewn())
def test_features_are_those_of_their_twins(position: Position) -> None:
    result = features(*(np.array([mask]) for mask in position.masks))[0]
    assert dict(zip(NAMES, result.tolist(), strict=True)) == plain_features(position)
    assert list(plain_features(position)) == list(NAMES)


FORMS: dict[str, Any] = {"plain": forest.plain_sum_of_leaves}
if VECTORISED:
    FORMS["vector"] = forest.vector_sum_of_leaves


def walked(numbers: np.ndarray, questions: np.ndarray, leaves: np.ndarray) -> int:
    """Return the sum of the leaves that the questions lead to."""
    total = 0
    for (places, bounds), answers in zip(questions.tolist(), leaves.tolist(), strict=True):
        question = 0
        while question < forest.LEAVES - 1:
            question = 2 * question + 1 + (numbers[places[question]] > bounds[question])
        total += answers[question - (forest.LEAVES - 1)]
    return total


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", [1, 3, 128])
def test_the_sum_is_that_of_a_walk_through_each_tree(form: str, width: int) -> None:
    # Numbers of a narrow range are often equal to a bound.
    rng = np.random.default_rng(width)
    for _ in range(200):
        numbers = rng.integers(-width, width, forest.LEAVES, dtype=np.int32)
        questions = np.zeros((forest.TOGETHER, 2, forest.LEAVES), dtype=np.int8)
        questions[:, 0] = rng.integers(0, forest.LEAVES, questions[:, 0].shape)
        questions[:, 1] = rng.integers(-width, width, questions[:, 1].shape)
        leaves = rng.integers(-(1 << 20), 1 << 20, (forest.TOGETHER, forest.LEAVES), dtype=np.int32)
        addresses = (np.intp(array.ctypes.data) for array in (numbers, questions, leaves))
        assert FORMS[form](*addresses) == walked(numbers, questions, leaves)
