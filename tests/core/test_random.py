"""Random numbers in compiled code are numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from othello_lab.core.random import WORDS, draw_below, seed_generator, spawned_words, state_of

LARGEST = (1 << 32) - 1
BOUNDS = st.lists(
    st.one_of(st.integers(1, 64), st.integers(1, LARGEST), st.sampled_from([1, 3 << 30, LARGEST])),
    max_size=40,
)


@given(seed=st.integers(0, (1 << 64) - 1), bounds=BOUNDS)
def test_numbers_are_those_of_default_rng(seed: int, bounds: list[int]) -> None:
    rng = np.random.default_rng(seed)
    generator = np.zeros(WORDS, dtype=np.int64)
    address = np.intp(generator.ctypes.data)
    seed_generator(address, np.uint64(seed))
    expected = [int(rng.integers(bound)) for bound in bounds]
    assert [draw_below(address, np.int64(bound)) for bound in bounds] == expected


@given(seed=st.integers(0, 1 << 40), drawn=st.integers(0, 5))
def test_a_generator_of_numpys_is_gone_on_with(seed: int, drawn: int) -> None:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, 2)))
    rng.integers(10, size=drawn)
    generator = state_of(rng)
    address = np.intp(generator.ctypes.data)
    expected = [int(rng.integers(60)) for _ in range(20)]
    assert [draw_below(address, np.int64(60)) for _ in range(20)] == expected


@given(
    seed=st.one_of(st.integers(0, 1 << 300), st.sampled_from([0, 1 << 32, 1 << 128])),
    key=st.integers(0, LARGEST),
    numbers=st.lists(st.integers(0, LARGEST), max_size=5),
    count=st.integers(1, 3),
)
def test_words_of_many_spawned_seeds_are_numpys(
    seed: int, key: int, numbers: list[int], count: int
) -> None:
    expected = [
        np.random.SeedSequence(seed, spawn_key=(key, number)).generate_state(count, np.uint64)
        for number in numbers
    ]
    found = spawned_words(seed, key, numbers, count)
    assert found.tolist() == [words.tolist() for words in expected]


def test_other_generators_are_refused() -> None:
    with pytest.raises(ValueError, match="a PCG64 is needed, not a MT19937"):
        state_of(np.random.Generator(np.random.MT19937(1)))
