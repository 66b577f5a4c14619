"""Agents around another: one with limits of its own, and one of whose moves a share is random."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab import MCTS, AlphaBeta, DiscCount, GreedyAgent, Limits, RandomAgent, SquareWeights
from othello_lab.agents.agent import Agent, compiled_player
from othello_lab.agents.limited import Limited
from othello_lab.agents.noisy import Noisy
from othello_lab.core import whole_games as layout
from othello_lab.core.game import play_game
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset

STANDARD = ruleset("standard")
START = Position.start(STANDARD)
GAMES = 6


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
    slow = Noisy(MCTS(playouts=10), 0.1)
    assert compiled_player(slow, STANDARD, Limits()) is None
    assert slow.reproducible and slow.boards() == slow.agent.boards()


# ------------------------------------------------------------------ noise


def in_compiled_code(agents: tuple[Agent, Agent]) -> list[list[int]]:
    black, white = (compiled_player(agent, STANDARD, Limits()) for agent in agents)
    assert black is not None and white is not None
    table = np.zeros((GAMES, layout.GAME), dtype=np.int64)
    start = np.array(STANDARD.start, dtype=np.uint64).view(np.int64)
    table[:, : layout.OPPONENT + 1] = start
    table[:, layout.BLACK_SEED] = 2 * np.arange(GAMES)
    table[:, layout.WHITE_SEED] = 2 * np.arange(GAMES) + 1
    watch = np.zeros(layout.WATCH, dtype=np.int64)
    played, turns = layout.play((black, white), table, STANDARD.board, watch.ctypes.data)
    assert played == GAMES
    squares = np.split(turns[:, layout.SQUARE], table[:-1, layout.END])
    return [line.tolist() for line in squares]


def judged(agents: tuple[Agent, Agent]) -> list[list[int]]:
    players = dict(zip(Color, agents, strict=True))
    seeds = [{Color.BLACK: 2 * game, Color.WHITE: 2 * game + 1} for game in range(GAMES)]
    return [[ply.move for ply in play_game(players, seeds=each).plies] for each in seeds]


@pytest.mark.parametrize(
    ("inner", "share", "plies"),
    [(RandomAgent(), 0.5, None), (GreedyAgent(), 0.3, 20), (AlphaBeta(2, SquareWeights()), 1.0, 7)],
)
def test_it_plays_in_compiled_code_what_the_judge_sees(
    inner: Agent, share: float, plies: int | None
) -> None:
    noisy = Noisy(inner, share, plies), RandomAgent()
    noisy[0].prepare()
    assert in_compiled_code(noisy) == judged(noisy)


def test_a_share_of_its_moves_is_random_until_a_ply() -> None:
    greedy = GreedyAgent()
    noisy = Noisy(GreedyAgent(), 0.25, 40)
    position, rng = START, np.random.default_rng(1)
    others, late = [], 0
    for seed in range(30):
        noisy.begin_game(Color.BLACK, position, seed)
        greedy.begin_game(Color.BLACK, position, seed)
        while not position.is_over:
            if position.moves:
                one, other = (each.decide(position, Limits()).move for each in (noisy, greedy))
                if position.discs < 44 and len(position.moves) > 4:
                    others.append(one != other)
                late += position.discs >= 44 and one != other
            position = position.play(int(rng.choice(position.moves)) if position.moves else "--")
        position = START
    assert 0.12 < np.mean(others) < 0.3 and not late


def test_without_noise_it_is_the_agent() -> None:
    alone, noisy = GreedyAgent(), Noisy(GreedyAgent(), 0.0)
    assert in_compiled_code((noisy, noisy)) == in_compiled_code((alone, alone))
    with pytest.raises(ValueError, match=r"share=1\.5"):
        Noisy(GreedyAgent(), 1.5)
