"""Agents that look at most one move ahead; and those around another: one with limits of its own,
and one of whose moves a share is random."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from boards import random_game

from othello_lab import (
    MCTS,
    RULESETS,
    AlphaBeta,
    Color,
    DiscCount,
    GreedyAgent,
    Limits,
    Maximizer,
    Position,
    RandomAgent,
    SquareWeights,
    play_game,
)
from othello_lab.agents.agent import compiled_player
from othello_lab.agents.evaluation import FINAL_UNIT, Evaluation, Mobility
from othello_lab.agents.limited import Limited
from othello_lab.agents.noisy import Noisy
from othello_lab.core.rules import ruleset

# ------------------------------------------------------------------ random moves


def random_moves(name: str, black: int, white: int = 1) -> str:
    """The moves of a game of two random agents with these seeds."""
    players = {color: RandomAgent() for color in Color}
    seeds = {Color.BLACK: black, Color.WHITE: white}
    return play_game(players, Position.start(name), seeds=seeds).transcript


@pytest.mark.parametrize("name", RULESETS)
def test_the_seeds_decide_the_moves(name: str) -> None:
    assert len({random_moves(name, seed) for seed in range(20)}) == 20
    assert len({random_moves(name, 1, seed) for seed in range(20)}) > 10


def test_global_random_generators_are_neither_read_nor_changed() -> None:
    games = []
    for seed in (5, 6):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        games.append(random_moves("standard", 1, 2))
        assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002
    assert games[0] == games[1]


def test_all_moves_are_equally_likely() -> None:
    position = Position.from_transcript("f5d6c3d3c4f4")
    agent = RandomAgent()
    agent.begin_game(Color.BLACK, position, 2024)
    draws = 200 * len(position.moves)
    seen = Counter(agent.decide(position, Limits()).move for _ in range(draws))
    assert set(seen) == set(position.moves)
    # Chi-square with some ten degrees of freedom passes 35 once in several thousand seeds; this
    # seed is always the same.
    assert sum((count - 200) ** 2 / 200 for count in seen.values()) < 35


# ------------------------------------------------------------------ one move ahead


@pytest.mark.parametrize(
    ("agent", "evaluation", "rules"),
    [
        (Maximizer(SquareWeights()), SquareWeights(), "standard"),
        (Maximizer(SquareWeights(), compiled=False), SquareWeights(), "standard"),
        *((GreedyAgent(), DiscCount(), rules) for rules in RULESETS),
    ],
)
def test_a_maximizer_takes_the_first_move_of_the_highest_value(
    agent: Maximizer, evaluation: Evaluation, rules: str
) -> None:
    """Ends of the game count by their result."""
    for seed in range(10):
        for position in random_game(rules, seed):
            values = []
            for move in position.moves:
                after = position.play(move)
                final = after.disc_difference * FINAL_UNIT
                values.append(-(final if after.is_over else evaluation.plain(after)))
            if values:
                decision = agent.decide(position, Limits(depth=5))
                first = position.moves[values.index(max(values))]
                result = decision.value, decision.pv, decision.move, decision.depth
                assert result == (max(values), (first,), first, 1), f"\n{position}"


def test_a_maximizer_of_own_mobility_does_as_in_paip() -> None:
    """The move after which the same player would have most moves, the first of equals."""
    agent = Maximizer(Mobility("own"))

    def moves_of_the_one_who_moved(after: Position) -> int:
        swapped = Position(after.opponent, after.mover, after.to_move.other)
        return len(swapped.moves)

    looked_at = 0
    for seed in range(4):
        for position in random_game("standard", seed):
            after = {move: position.play(move) for move in position.moves}
            if not after or any(position.is_over for position in after.values()):
                continue
            best = max(after, key=lambda move: moves_of_the_one_who_moved(after[move]))
            assert agent.search(position).move == best, f"\n{position}"
            looked_at += 1
    assert looked_at > 100


STANDARD = ruleset("standard")
START = Position.start(STANDARD)


def deepening() -> AlphaBeta:
    return AlphaBeta(20, DiscCount(), iterative=True)


# ------------------------------------------------------------------ limits


def test_it_spends_no_more_than_its_own_nodes() -> None:
    for limit, given, most in ((200, None, 200), (200, 50, 50), (50, 200, 50)):
        agent = Limited(deepening(), nodes=limit)
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
    early: list[bool] = []
    discs = set()  # where they differ
    for seed in range(30):
        for agent in agents:
            agent.begin_game(Color.BLACK, START, seed)
        for position in random_game("standard", seed):
            if position.moves:
                one, other = (agent.decide(position, Limits()).move for agent in agents)
                discs |= {position.discs} if one != other else set()
                if position.discs < 44 and len(position.moves) > 4:
                    early.append(one != other)
    assert least <= np.mean(early) <= most and max(discs, default=43) == 43
    with pytest.raises(ValueError, match=r"share=1\.5"):
        Noisy(GreedyAgent(), 1.5)
