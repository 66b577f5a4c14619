"""Lines of play in compiled code are those that positions play."""

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
from othello_lab.core.rules import RULESETS


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
    found = follow_line(*begin.masks, board, np.array(line, dtype=np.uint8))
    assert found == (position.mover, position.opponent, made)
