"""What the tests of the board share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.game import GameState


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[SimpleNamespace]:
    """All that agents were asked, in order: color, seed and limits, with decision and seconds."""
    requests: list[SimpleNamespace] = []
    ask = AgentProcesses.ask

    def noted(
        self: AgentProcesses, player: Any, game: Any, seed: int, limits: Any = None, use: str = ""
    ) -> Any:
        request_ = SimpleNamespace(color=game.position.to_move, seed=seed, limits=limits)
        request_.decision, request_.seconds = answer = ask(self, player, game, seed, limits, use)
        requests.append(request_)
        return answer

    monkeypatch.setattr(AgentProcesses, "ask", noted)
    return requests


@pytest.fixture
def played() -> Callable[[Sequence[Position]], GameState]:
    """``played(positions)``: the game that goes through these positions."""

    def make(positions: Sequence[Position]) -> GameState:
        game = GameState(positions[0])
        for after in positions[1:]:
            now = game.position
            game.play(next(m for m in (now.moves or (PASS,)) if now.play(m) == after), "x")
        return game

    return make
