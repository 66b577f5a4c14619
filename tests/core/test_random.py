"""Random numbers in compiled code are numpy's."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from boards import played_out
from hypothesis import given
from hypothesis import strategies as st

from othello_lab.core.lines import LineDrawer, follow_line
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.random import WORDS, draw_below, seed_generator, spawned_words, state_of
from othello_lab.core.rules import RULESETS

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
    result = spawned_words(seed, key, numbers, count)
    assert result.tolist() == [words.tolist() for words in expected]


def test_other_generators_are_refused() -> None:
    with pytest.raises(ValueError, match="a PCG64 is needed, not a MT19937"):
        state_of(np.random.Generator(np.random.MT19937(1)))


# ------------------------------------------------------------------ lines of play


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("plies", [0, 1, 8, 13, 30])
def test_lines_are_drawn_as_numpy_draws_their_moves(rules: str, plies: int) -> None:
    rng = np.random.default_rng(7)
    moves, ends = LineDrawer(np.random.default_rng(7), RULESETS[rules], plies).draw(40)
    for line, (mover, opponent, over) in zip(moves.tolist(), ends.tolist(), strict=True):
        position, made = Position.start(rules), 0
        while made < plies and not position.is_over:
            legal = position.moves or (PASS,)
            assert line[made] == legal[int(rng.integers(len(legal)))]
            position = position.play(line[made])
            made += 1
        assert (position.mover, position.opponent, position.is_over) == (mover, opponent, over)


@given(
    seed=st.integers(0, 1000),
    number=st.integers(0, 59),
    wrong=st.one_of(st.none(), st.integers(0, 255)),
)
def test_a_line_is_followed_up_to_its_first_illegal_move(
    seed: int, number: int, wrong: int | None
) -> None:
    line = [move for _, move in played_out("standard", seed)][:number]
    line += [] if wrong is None else [wrong]
    position, made = Position.start(), 0
    with suppress(IllegalMove):
        for move in line:
            position = position.play(move)
            made += 1
    begin, board = Position.start(), np.uint64(RULESETS["standard"].board)
    result = follow_line(*begin.masks, board, np.array(line, dtype=np.uint8))
    assert result == (position.mover, position.opponent, made)
