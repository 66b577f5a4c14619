"""Agents around another: one with limits of its own, and one of whose moves a share is random."""

from __future__ import annotations

import numpy as np
import pytest
from boards import random_game

from othello_lab import MCTS, AlphaBeta, DiscCount, GreedyAgent, Limits
from othello_lab.agents.agent import compiled_player
from othello_lab.agents.limited import Limited
from othello_lab.agents.noisy import Noisy
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset

STANDARD = ruleset("standard")
START = Position.start(STANDARD)


def deepening() -> AlphaBeta:
    return AlphaBeta(20, DiscCount(), iterative=True)


# ------------------------------------------------------------------ limits


def test_it_spends_no_more_than_its_own_nodes() -> None:
    for own, given, most in ((200, None, 200), (200, 50, 50), (50, 200, 50)):
        agent = Limited(deepening(), nodes=own)
        agent.begin_game(Color.BLACK, START, 1)
        decision = agent.decide(START, Limits(nodes=given))
        assert most // 4 < decision.stats.nodes < most + 10
        alone = deepening().decide(START, Limits(nodes=most))
        assert (decision.move, decision.value) == (alone.move, alone.value)


@pytest.mark.parametrize(("nodes", "seconds"), [(0, None), (None, 0), (None, -1.0)])
def test_limits_that_are_none_are_refused(nodes: int | None, seconds: float | None) -> None:
    with pytest.raises(ValueError, match="is needed"):
        Limited(deepening(), nodes=nodes, seconds=seconds)


def test_they_tell_of_the_agent_what_a_run_has_to_know() -> None:
    assert Limited(deepening()).reproducible
    assert not Limited(deepening(), seconds=0.1).reproducible
    assert not Limited(MCTS(playouts=None, seconds=0.1)).reproducible
    assert compiled_player(Limited(GreedyAgent()), STANDARD, Limits()) is not None
    assert compiled_player(Limited(GreedyAgent(), seconds=1), STANDARD, Limits()) is None
    assert compiled_player(Noisy(GreedyAgent(), 0.1), STANDARD, Limits()) is not None
    slow = Noisy(MCTS(playouts=10), 0.1)
    assert compiled_player(slow, STANDARD, Limits()) is None
    assert slow.reproducible and slow.boards() == slow.agent.boards()


# ------------------------------------------------------------------ noise


@pytest.mark.parametrize(("share", "least", "most"), [(0.25, 0.12, 0.3), (0.0, 0, 0)])
def test_a_share_of_its_moves_is_random_until_a_ply(
    share: float, least: float, most: float
) -> None:
    agents = Noisy(GreedyAgent(), share, 40), GreedyAgent()
    early, late = [], []
    for seed in range(30):
        for agent in agents:
            agent.begin_game(Color.BLACK, START, seed)
        for position in random_game("standard", seed):
            if position.moves:
                one, other = (agent.decide(position, Limits()).move for agent in agents)
                if position.discs >= 44:
                    late.append(one != other)
                elif len(position.moves) > 4:
                    early.append(one != other)
    assert least <= np.mean(early) <= most and not any(late)
    with pytest.raises(ValueError, match=r"share=1\.5"):
        Noisy(GreedyAgent(), 1.5)
