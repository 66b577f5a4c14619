"""The rules in plain Python: positions that know them agree with the kernels everywhere."""

from __future__ import annotations

import oracle
import pytest

from othello_lab import Position
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.plain_position import PlainPosition


@pytest.mark.parametrize("name", oracle.RULES)
def test_positions_by_plain_rules_agree_with_those_by_kernels(name: str) -> None:
    for seed in range(3):
        compiled, plain = Position.start(name), PlainPosition.start(name)
        for _, _, move in oracle.random_game(name, seed):
            assert PlainPosition.of(compiled) == plain
            assert plain.legal_mask == compiled.legal_mask, compiled
            assert (plain.must_pass, plain.is_over) == (compiled.must_pass, compiled.is_over)
            assert plain.other_side().legal_mask == compiled.other_side().legal_mask
            for square in set(range(PASS + 1)) - set(compiled.moves):
                if not (square == PASS and compiled.must_pass):
                    with pytest.raises(IllegalMove):
                        plain.play(square)
            if not compiled.is_over:
                move = PASS if move is None else move
                compiled, plain = compiled.play(move), plain.play(move)


def test_transcripts_and_lines_make_positions_by_plain_rules() -> None:
    position = PlainPosition.from_transcript("f5d6c3")
    assert isinstance(position, PlainPosition)
    assert isinstance(position.play("d3"), PlainPosition)
    line = position.to_obf()
    assert PlainPosition.from_obf(line) == position != Position.from_obf(line)
