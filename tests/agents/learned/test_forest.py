"""Sums of trees' leaves: both forms of the kernel beside a walk through each tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from othello_lab.agents.learned import forest
from othello_lab.core.bitboard import VECTORISED

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
