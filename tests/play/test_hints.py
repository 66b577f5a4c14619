"""What an agent would advise, held to what it plays."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from othello_lab.agents.config import load
from othello_lab.core.game import Limits
from othello_lab.core.position import Position
from othello_lab.core.rules import ruleset
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.config import player
from othello_lab.play.game import GameState
from othello_lab.play.hints import hints

FILL = {"depth": 3, "evaluation": load("evaluation", "square_weights")}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("maximizer", {}),
        ("greedy", {}),
        ("alphabeta", {}),
        ("alphabeta", {"depth": 2}),
        ("alphabeta", {"depth": 1, "endgame": 8}),
    ],
)
def test_the_best_hint_is_what_the_agent_plays(
    name: str, settings: dict[str, int], random_game: Callable[[str, int], list[Position]]
) -> None:
    who = player(name, load("agent", name) | settings, FILL)
    game = random_game("standard", 3)
    games = itertools.chain.from_iterable(random_game("standard", seed) for seed in range(50))
    before = next(  # after a forced pass the plies still count
        position
        for position, after in itertools.pairwise(games)
        if after.must_pass and len(position.moves) > 1
    )
    with AgentProcesses(ruleset("standard"), Limits(), 60.0, print) as thinkers:
        for position in (game[0], game[21], game[40], game[-7], game[-4], before):
            if not position.moves:
                continue
            (best,) = hints(thinkers, who, GameState(position), 1)
            every = hints(thinkers, who, GameState(position), 64)
            assert {each.move for each in every} == set(position.moves)
            assert every[0].value == best.value
            assert best.move in {each.move for each in every if each.value == best.value}
