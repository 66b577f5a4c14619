"""What searches cost on positions of a run."""

from __future__ import annotations

import pytest

from othello_lab import Position
from othello_lab.agents.evaluation import DiscCount
from othello_lab.experiments.report import searches


@pytest.mark.parametrize(("budget", "deepest"), [(10**9, 5), (380, 4), (370, 3), (4, 0)])
def test_a_depth_that_would_probably_cost_too_much_is_left_out(budget: int, deepest: int) -> None:
    """Minimax enters 5, 17, 73 and 317 nodes from the start: 95 up to depth 3, and from the growth
    of 5 to 73 over two plies 279 are expected of depth 4."""
    table = searches.count_nodes([Position.start()], 5, DiscCount(), budget)
    minimax = table[table["algorithm"] == "minimax"]
    assert minimax["depth"].tolist() == list(range(1, deepest + 1))
    assert minimax["nodes"].tolist()[:4] == [5, 17, 73, 317][:deepest]
