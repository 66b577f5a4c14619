"""What an agent would advise, held to what it plays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from othello_lab.agents.config import load
from othello_lab.core.game import Limits
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.config import PlayerSettings, player
from othello_lab.play.game import GameState
from othello_lab.play.hints import hints

FILL = {"depth": 3, "evaluation": load("evaluation", "square_weights")}


@pytest.fixture
def thinkers() -> Iterator[AgentProcesses]:
    with AgentProcesses(ruleset("standard"), Limits(), 60.0, print) as thinkers:
        yield thinkers


def agent(name: str, **settings: object) -> PlayerSettings:
    return player(name, load("agent", name) | settings, FILL)


@pytest.mark.parametrize(
    "who",
    [
        agent("maximizer"),
        agent("greedy"),
        agent("alphabeta"),
        agent("alphabeta", depth=1),
        agent("alphabeta", depth=1, endgame=8),
    ],
    ids=["maximizer", "greedy", "depth 3", "depth 1", "solver"],
)
def test_the_best_hint_is_what_the_agent_plays(
    who: PlayerSettings, thinkers: AgentProcesses, random_game: Callable[[str, int], list[Position]]
) -> None:
    game = random_game("standard", 3)
    for position in (game[0], game[21], game[40], game[-7], game[-4]):
        if not position.moves:
            continue
        (best,) = hints(thinkers, who, GameState(position), 1)
        every = hints(thinkers, who, GameState(position), 64)
        assert [each.value for each in every][:1] == [best.value]
        assert {each.move for each in every} == set(position.moves)
        assert best.move in {each.move for each in every if each.value == best.value}


def test_after_a_forced_pass_the_plies_still_count(
    thinkers: AgentProcesses, random_game: Callable[[str, int], list[Position]]
) -> None:
    games = (random_game("standard", seed) for seed in range(50))
    before = next(
        position
        for game in games
        for position, after in itertools.pairwise(game)
        if after.must_pass and len(position.moves) > 1
    )
    for depth in (1, 2, 3):
        who = agent("alphabeta", depth=depth)
        (best,) = hints(thinkers, who, GameState(before), 1)
        every = hints(thinkers, who, GameState(before), 64)
        assert every[0].value == best.value
