"""The conditions that all games of a run share, and the signal that stops workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from othello_lab.agents.agent import Agent, compiled_player
from othello_lab.agents.config import ConfigError, one_line
from othello_lab.agents.external_agent import is_outside
from othello_lab.core.game import Limits
from othello_lab.core.lines import prepare_lines
from othello_lab.core.position import prepare_rules
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.json_tables import prepare_text
from othello_lab.core.system.shared_memory import GO_ON, stop_signal
from othello_lab.core.whole_games import prepare_games

_LATE_SECONDS = 0.5

ISOLATION = AUTO, PROCESS, NONE = "auto", "process", "none"
"""Which agents play in processes of their own, see :attr:`GameConditions.apart`."""


@dataclass(frozen=True)
class RemoteConditions:
    """Instructions for a process that is no fork of this one to make the same conditions.

    make: a function that can be imported there; called with ``config``, plain data, it returns the
    GameConditions.
    """

    make: Callable[[Mapping[str, Any]], GameConditions]
    config: Mapping[str, Any]


@dataclass(frozen=True)
class GameConditions:
    """The conditions that all games of a run share.

    names, agents: the line-up. stop: a number shared with all workers (see :func:`stop_signal`).
    hang_seconds: after this time without an answer a player counts as hung. If a time limit is set,
    it counts as hung half a second after limit and grace, so that a late answer is judged as late.
    log_level: lowest level of agents' log records that is kept. prepare_seconds: the longest time
    for ``begin_game``. memory_mb: MiB that a player's process may take beyond its first size.
    processes: the most that a player may have below its own. isolation: see :attr:`apart`.
    compiled_games: True if agents that can play whole games in compiled code do so
    (:mod:`core.whole_games`). record_moves: True to record every move, False for the totals of each
    game alone. elsewhere: None if an agent is an object of this program, because it cannot be made
    again.
    """

    names: Sequence[str]
    agents: Sequence[Agent]
    rules: Ruleset
    limits: Limits
    grace: float
    hang_seconds: float
    log_level: int
    prepare_seconds: float = 10.0
    memory_mb: int | None = None
    processes: int = 64
    isolation: str = AUTO
    compiled_games: bool = True
    record_moves: bool = True
    elsewhere: RemoteConditions | None = None
    stop: Any = field(default_factory=stop_signal)

    @property
    def line_up(self) -> dict[str, Agent]:
        """The agents by name."""
        return dict(zip(self.names, self.agents, strict=True))

    @cached_property
    def apart(self) -> frozenset[int]:
        """The agents that play in a process of their own, asked by a judge outside it: with
        isolation PROCESS all, with NONE nobody. With AUTO those from outside the lab; all where
        time or memory is limited, as these are charged to a process."""
        everybody = frozenset(range(len(self.agents)))
        if self.isolation == NONE:
            return frozenset()
        if self.isolation == PROCESS or self.limits.timed or self.memory_mb is not None:
            return everybody
        return frozenset(number for number in everybody if is_outside(self.agents[number]))

    @property
    def at_home(self) -> dict[int, str]:
        """The names of the other agents, by number."""
        return {number: name for number, name in enumerate(self.names) if number not in self.apart}

    def patience(self, limits: Limits) -> float:
        """Seconds after which a player that has not decided within these limits is killed."""
        seconds = limits.clock if limits.seconds is None else limits.seconds
        return self.hang_seconds if seconds is None else seconds + self.grace + _LATE_SECONDS

    @property
    def stopping(self) -> bool:
        """True if nothing new is to be begun."""
        return bool(self.stop.value != GO_ON)

    def prepare(self, announce: Announce | None = None) -> None:
        """Load or compile all kernels, before processes fork; ConfigError."""
        prepare_rules(announce)
        prepare_lines(announce)
        if self.compiled_games and not self.limits.timed:
            prepare_games(announce)
            prepare_text(announce)
        for name, agent in self.line_up.items():
            try:
                agent.prepare(announce)
            except ValueError as error:
                raise ConfigError(f"agent '{name}': {one_line(error)}") from error
            if self.compiled_games:
                compiled_player(agent, self.rules, self.limits)  # which loads what it needs
