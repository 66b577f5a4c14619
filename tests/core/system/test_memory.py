"""Memory in large pages."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab.core.system.memory import in_large_pages


@pytest.mark.parametrize("rows", [3, 300_000])
def test_a_copy_in_large_pages_holds_the_same_numbers(rows: int) -> None:
    numbers = np.arange(3 * rows, dtype=np.int32).reshape(rows, 3)
    copy = in_large_pages(numbers)
    assert copy.dtype == numbers.dtype
    assert np.array_equal(copy, numbers)
    copy[0] = 7
    assert copy[0].tolist() == [7, 7, 7]
