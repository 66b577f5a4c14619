"""What the tests of the board share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from othello_lab.agents.agent import Decision, Limits
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.game import GameState


@dataclass
class Question:
    """A question for a move, and its answer."""

    color: Color
    seed: int
    limits: Limits | None
    decision: Decision
    seconds: float


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    """All that agents were asked, in order."""
    found: list[Question] = []
    ask = AgentProcesses.ask

    def noted(
        processes: AgentProcesses,
        player: Any,
        game: Any,
        seed: int,
        limits: Any = None,
        use: str = "",
    ) -> tuple[Decision, float]:
        color = game.position.to_move
        decision, seconds = ask(processes, player, game, seed, limits, use)
        found.append(Question(color, seed, limits, decision, seconds))
        return decision, seconds

    monkeypatch.setattr(AgentProcesses, "ask", noted)
    return found


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
