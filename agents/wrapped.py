"""An agent with another one inside."""

from __future__ import annotations

from othello_lab.agents.agent import Agent, Files, Limits
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.compile import Announce


class Wrapped(Agent):
    """An agent that is in all things like the agent inside, but for what a subclass changes."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.version, self.selective = agent.version, agent.selective
        self.from_start, self.from_outside = agent.from_start, agent.from_outside
        self.watches_clock, self.reproducible = agent.watches_clock, agent.reproducible

    def boards(self) -> frozenset[int]:
        return self.agent.boards()

    def prepare(self, announce: Announce | None = None) -> None:
        self.agent.prepare(announce)

    def check_limits(self, limits: Limits) -> None:
        self.agent.check_limits(limits)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self.agent.begin_game(color, start, seed)

    def observe(self, move: int, position: Position) -> None:
        self.agent.observe(move, position)

    def files(self) -> Files:
        return self.agent.files()

    def forbid_children(self) -> None:
        self.agent.forbid_children()

    def close(self) -> None:
        self.agent.close()
