"""The network: its kernel beside the reading twin, its vectors, and weights that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from boards import strewn
from hypothesis import given
from refusals import refused

from othello_lab import Position
from othello_lab.agents.learned import NetworkEvaluation
from othello_lab.agents.learned import network as model
from othello_lab.agents.learned.simd import dot, lanes_at, plus, plus_product, shift_and_clip
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.core.system.compile import kernel

STAGES = 3


def drawn(seed: int = 1) -> dict[str, np.ndarray]:
    """Weights for which sums are as often within 0..1 as beyond."""
    rng = np.random.default_rng(seed)

    def numbers(most: int, *shape: int, kind: Any = np.int32) -> np.ndarray:
        return rng.integers(-most, most, shape).astype(kind)

    return {
        model.STAGES: (np.arange(65) * STAGES // 65).astype(np.uint8),
        model.INPUTS: numbers(120, 4, 64, model.FIRST, kind=np.int16),
        model.EMPTIES: numbers(2000, 65, model.FIRST, kind=np.int16),
        model.HIDDEN: numbers(300, STAGES, model.SECOND, model.FIRST, kind=np.int16),
        model.HIDDEN_BIAS: numbers(30_000, STAGES, model.SECOND),
        model.OUTPUT: numbers(9_000, STAGES, model.SECOND),
        model.OUTPUT_BIAS: numbers(900_000, STAGES),
    }


def weights(**changed: np.ndarray) -> LearnedWeights:
    return LearnedWeights(model.KIND, model.VERSION, model.UNIT, drawn() | changed)


@pytest.fixture(scope="module")
def evaluation() -> NetworkEvaluation:
    return NetworkEvaluation(weights())


@given(position=strewn())
def test_the_kernel_says_what_the_twin_says(
    evaluation: NetworkEvaluation, position: Position
) -> None:
    assert evaluation(position) == evaluation.plain(position)


def test_values_differ_and_keep_within_their_range(evaluation: NetworkEvaluation) -> None:
    rng = np.random.default_rng(3)
    filled, own = rng.integers(0, 1 << 64, (2, 2000), dtype=np.uint64)
    values = evaluation.values(filled & own, filled & ~own)
    assert len(set(values.tolist())) > 500
    assert np.abs(values).max() <= model.LARGEST


def test_what_reaches_the_end_of_the_range_is_clipped() -> None:
    for bias, value in ((2**31 - 2**26, model.LARGEST), (2**26 - 2**31, -model.LARGEST)):
        changed = {model.OUTPUT_BIAS: np.full(STAGES, bias, dtype=np.int32)}
        network = NetworkEvaluation(weights(**changed))
        assert network(Position.start()) == network.plain(Position.start()) == value


# What drawn() makes of the start and of two later positions; a change of them is a change of what
# all weights mean, and needs another VERSION.
PINS = {"": 1125, "f5d6c3d3c4": 675, "f5f6e6d6e7f8g6e3c6f7d3b6d8h5f3c5b7d2a7g5": 956}


def test_what_weights_mean_is_fixed(evaluation: NetworkEvaluation) -> None:
    found = {moves: evaluation(Position.from_transcript(moves)) for moves in PINS}
    assert (model.VERSION, found) == (1, PINS)


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
    addresses = [np.intp(each.ctypes.data) for each in (total, inputs, paired)]
    assert layers(*addresses) == sums @ total


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({model.INPUTS: np.zeros((4, 64, 32), np.int16)}, "inputs (4, 64, 32)"),
        ({model.HIDDEN: np.zeros((2, 16, 64), np.int16)}, "hidden (2, 16, 64)"),
        ({model.STAGES: np.zeros(60, np.uint8)}, "stages (60,)"),
        ({model.STAGES: np.full(65, -1, np.int8)}, "stages: -1"),
        ({model.OUTPUT: np.full((3, 16), np.nan)}, "output float64;"),
        ({model.INPUTS: np.full((4, 64, 64), 600)}, "inputs: int16"),
        ({model.HIDDEN: np.full((3, 16, 64), 40_000)}, "hidden: 40,000; int16"),
        ({model.HIDDEN_BIAS: np.full((3, 16), 1 << 31)}, "hidden: int32"),
        ({model.OUTPUT: np.full((3, 16), 1 << 20)}, "output: int32"),
    ],
)
def test_weights_that_do_not_fit_are_refused(changed: dict[str, np.ndarray], words: str) -> None:
    with refused(*words.split()):
        NetworkEvaluation(weights(**changed))
