"""The agent of docs/kaggle.py in Kaggle's Othello, and asked as that asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from othello_lab import PASS, Color, Position
from othello_lab.agents.loading import load_module
from othello_lab.core.notation import square_name

FILE = Path(__file__).parents[1] / "docs" / "kaggle.py"


def observation(position: Position, plies: list[int]) -> dict[str, Any]:
    """What the environment says of a game, as far as the agent looks at it."""
    words = ["pass" if ply == PASS else square_name(ply) for ply in plies]
    text = json.dumps({"move_history": words, "must_pass": position.must_pass})
    return {"observationString": text, "playerId": int(position.to_move is Color.WHITE)}


def test_it_plays_whole_games(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load_module(str(FILE))
    monkeypatch.setattr(module, "SECONDS", 0.01)
    assert module.agent({"step": 0}, {}) == {"submission": -1}
    rng = np.random.default_rng(3)
    for color in Color:
        position, plies = Position.start(), []
        while not position.is_over:
            if position.to_move is color:
                answer = module.agent(observation(position, plies), {})
                assert set(answer) == {"submission"} and type(answer["submission"]) is int
                plies.append(answer["submission"])
            else:
                plies.append(int(rng.choice(position.moves or (PASS,))))
            position = position.play(plies[-1])
        assert position.disc_difference * (1 if position.to_move is color else -1) > 0


def test_it_passes_where_it_has_to() -> None:
    rng, module = np.random.default_rng(3), load_module(str(FILE))
    position, plies = Position.start(), []
    while not position.must_pass:
        if position.is_over:
            position, plies = Position.start(), []
        plies.append(int(rng.choice(position.moves)))
        position = position.play(plies[-1])
    assert module.agent(observation(position, plies), {}) == {"submission": PASS}


@pytest.mark.nightly
def test_it_wins_in_kaggles_environment() -> None:
    environments = pytest.importorskip("kaggle_environments", reason="needs kaggle-environments")
    settings = {"strictMode": True, "includeLegalActions": True}
    for line_up, winner in (([str(FILE), "random"], 0), (["random", str(FILE)], 1)):
        environment = environments.make("open_spiel_othello", configuration=settings)
        environment.run(line_up)
        states = environment.steps[-1]
        assert [state.status for state in states] == ["DONE", "DONE"]
        assert states[winner].reward == 1
        assert len(environment.steps) > 20
