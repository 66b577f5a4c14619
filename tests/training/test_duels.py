"""Matches in compiled code: the same games as those of the judge."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab import MCTS, AlphaBeta, GreedyAgent, RandomAgent
from othello_lab.agents.agent import Agent
from othello_lab.agents.evaluation import Iago
from othello_lab.core.game import play_game
from othello_lab.core.rules import RULESETS, Color
from othello_lab.core.whole_games import prepare_games
from othello_lab.experiments.pairing import BalancedOpenings, RandomOpenings
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.training.duels import duel, points, starts_of

STANDARD = RULESETS["standard"]


def judged(one: Agent, other: Agent, opening: Opening) -> list[float]:
    """The differences of the two games, played by the judge."""
    found = []
    for color in Color:
        record = play_game({color: one, color.other: other}, opening.reach("standard"))
        difference = record.final.disc_difference
        found.append(difference if record.final.to_move is color else -difference)
    return found


def test_a_duel_is_what_the_judge_would_see() -> None:
    openings = [
        *BalancedOpenings().find(12, STANDARD, 5),
        *RandomOpenings(plies=7).find(8, STANDARD, 5),
    ]
    starts, one, other = starts_of(openings, STANDARD), AlphaBeta(2, Iago()), GreedyAgent()
    for agent in (one, other):
        agent.prepare()
    prepare_games()
    found = duel(one, other, starts, STANDARD)
    assert found.tolist() == [judged(one, other, opening) for opening in openings]
    assert np.array_equal(duel(other, one, starts, STANDARD)[:, ::-1], -found)


def test_points_are_those_of_both_games() -> None:
    differences = np.array([[2.0, 64.0], [0.0, -2.0], [-1.0, 1.0], [0.0, 0.0]])
    assert points(differences).tolist() == [1.0, 0.25, 0.5, 0.5]


def test_chance_follows_from_the_seed() -> None:
    starts = starts_of(BalancedOpenings().find(300, STANDARD, 1), STANDARD)
    one, two = RandomAgent(), RandomAgent()
    for agent in (one, two):
        agent.prepare()
    found = [duel(one, two, starts, STANDARD, *seed) for seed in ((), (0,), (1,))]
    assert np.array_equal(found[0], found[1]) and not np.array_equal(found[0], found[2])
    assert abs(points(found[0]).mean() - 0.5) < 4 * 0.5 / np.sqrt(600)


def test_agents_that_decide_in_python_are_refused() -> None:
    with pytest.raises(ValueError, match="MCTS"):
        duel(MCTS(playouts=1), GreedyAgent(), starts_of([Opening()], STANDARD), STANDARD)
