"""An agent with limits of its own beside the run's."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from othello_lab.agents.agent import Agent, Decision, Limits, Wrapped, compiled_player
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.settings import Number, Whole, checked
from othello_lab.core.whole_games import CompiledPlayer


class Limited(Wrapped):
    """Another agent within these limits, wherever they are stricter than the game's.

    So an agent can meet itself with more nodes or more time.
    """

    @checked
    def __init__(
        self,
        agent: Agent,
        nodes: Annotated[int | None, Whole(1)] = None,
        seconds: Annotated[float | None, Number(above=0)] = None,
        cpu_seconds: Annotated[float | None, Number(above=0)] = None,
    ) -> None:
        """
        agent: the agent that decides. nodes: positions that a search may enter, a move. seconds:
        wall time, a move; or cpu_seconds: processor time. None: only the game's limits.

        Raises ValueError for an agent that cannot play within them.
        """
        super().__init__(agent)
        self.nodes, self.seconds = nodes, seconds
        self.cpu_seconds = cpu_seconds
        agent.check_limits(Limits(nodes=nodes, seconds=seconds, cpu_seconds=cpu_seconds))
        self.reproducible = agent.reproducible and not (
            (seconds or cpu_seconds) and agent.watches_clock
        )

    def _within(self, limits: Limits) -> Limits:
        """Return the stricter of these limits and the own ones, with one time for the move."""
        of_both = [number for number in (self.nodes, limits.nodes) if number is not None]
        within = replace(limits, nodes=min(of_both, default=None))
        least = self.cpu_seconds if self.seconds is None else self.seconds
        if least is None:
            return within
        seconds = least if limits.allowed is None else min(least, limits.allowed)
        if self.seconds is None or limits.cpu_seconds is not None:
            return replace(within, seconds=None, clock=None, cpu_seconds=seconds)
        return replace(within, seconds=seconds, clock=None)

    def check_limits(self, limits: Limits) -> None:
        self.agent.check_limits(self._within(limits))

    def compiled_player(self, rules: Ruleset, limits: Limits) -> CompiledPlayer | None:
        return compiled_player(self.agent, rules, self._within(limits))

    def decide(self, position: Position, limits: Limits) -> Decision:
        return self.agent.decide(position, self._within(limits))
