"""An agent with limits of its own."""

from __future__ import annotations

import pytest

from othello_lab import MCTS, AlphaBeta, DiscCount, GreedyAgent, Limits, Position
from othello_lab.agents.agent import compiled_player
from othello_lab.agents.contract import check
from othello_lab.agents.limited import Limited
from othello_lab.core.rules import Color, ruleset

STANDARD = ruleset("standard")
START = Position.start(STANDARD)


def deepening() -> AlphaBeta:
    return AlphaBeta(20, DiscCount(), iterative=True)


def test_it_spends_no_more_than_its_own_nodes() -> None:
    for own, given, most in ((200, None, 200), (200, 50, 50), (50, 200, 50)):
        agent = Limited(deepening(), nodes=own)
        agent.begin_game(Color.BLACK, START, 1)
        spent = agent.decide(START, Limits(nodes=given)).stats.nodes
        assert most // 4 < spent < most + 10


def test_it_plays_as_the_agent_does_with_these_limits() -> None:
    alone, limited = deepening(), Limited(deepening(), nodes=300)
    for agent in (alone, limited):
        agent.begin_game(Color.BLACK, START, 1)
    one, other = alone.decide(START, Limits(nodes=300)), limited.decide(START, Limits())
    assert (one.move, one.value, one.stats.nodes) == (other.move, other.value, other.stats.nodes)


def test_it_tells_of_the_agent_what_a_run_has_to_know() -> None:
    assert Limited(deepening()).reproducible
    assert not Limited(deepening(), seconds=0.1).reproducible
    assert not Limited(MCTS(playouts=None, seconds=0.1)).reproducible
    assert compiled_player(Limited(GreedyAgent()), STANDARD, Limits()) is not None
    assert compiled_player(Limited(GreedyAgent(), seconds=1), STANDARD, Limits()) is None


@pytest.mark.integration
def test_it_keeps_to_the_contract() -> None:
    assert check(Limited(AlphaBeta(2, DiscCount()), nodes=10_000)).holds


@pytest.mark.parametrize(("nodes", "seconds"), [(0, None), (None, 0), (None, -1.0)])
def test_limits_that_are_none_are_refused(nodes: int | None, seconds: float | None) -> None:
    with pytest.raises(ValueError, match="is needed"):
        Limited(deepening(), nodes=nodes, seconds=seconds)
