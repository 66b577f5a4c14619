"""The layout of the scratch memory of searches."""

from __future__ import annotations

from othello_lab.agents.search.context import ScratchLayout


def test_words_are_handed_out_once() -> None:
    layout = ScratchLayout(behind=5)
    assert [layout.word(), layout.block(3), layout.word()] == [5, 6, 9]
    assert layout.size == 10
