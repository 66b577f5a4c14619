"""An agent with limits of its own beside the run's."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from othello_lab.agents.agent import Agent, Decision, Limits, compiled_player
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.settings import Number, Whole, checked
from othello_lab.core.whole_games import CompiledPlayer


class Limited(Agent):
    """Another agent within these limits, wherever they are stricter than the game's.

    So an agent can meet itself with more nodes or more time.
    """

    @checked
    def __init__(
        self,
        agent: Agent,
        nodes: Annotated[int | None, Whole(1)] = None,
        seconds: Annotated[float | None, Number(above=0)] = None,
    ) -> None:
        """
        agent: the agent that decides. nodes: positions that a search may enter, a move. seconds:
        wall time, a move. None: only the game's limits.

        Raises ValueError for an agent that cannot play within them.
        """
        self.agent, self.nodes, self.seconds = agent, nodes, seconds
        agent.check_limits(Limits(nodes=nodes, seconds=seconds))
        self.version, self.selective = agent.version, agent.selective
        self.from_start, self.from_outside = agent.from_start, agent.from_outside
        self.watches_clock = agent.watches_clock
        self.reproducible = agent.reproducible and not (seconds and agent.watches_clock)

    def _within(self, limits: Limits) -> Limits:
        stricter: dict[str, Any] = {}
        for name, own in (("nodes", self.nodes), ("seconds", self.seconds)):
            of_both = [limit for limit in (own, getattr(limits, name)) if limit is not None]
            stricter[name] = min(of_both, default=None)
        if limits.clock is not None and stricter["seconds"] is not None:
            stricter["seconds"] = min(stricter["seconds"], limits.clock)
            stricter["clock"] = None
        return replace(limits, **stricter)

    def boards(self) -> frozenset[int]:
        return self.agent.boards()

    def prepare(self, announce: Announce | None = None) -> None:
        self.agent.prepare(announce)

    def check_limits(self, limits: Limits) -> None:
        self.agent.check_limits(self._within(limits))

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self.agent.begin_game(color, start, seed)

    def observe(self, move: int, position: Position) -> None:
        self.agent.observe(move, position)

    def close(self) -> None:
        self.agent.close()

    def compiled_player(self, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
        return compiled_player(self.agent, rules, self._within(limits))

    def decide(self, position: Position, limits: Limits) -> Decision:
        return self.agent.decide(position, self._within(limits))
