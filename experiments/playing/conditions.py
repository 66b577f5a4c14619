"""The conditions that all games of a run share, and the signal that stops workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from othello_lab.agents.agent import Agent, Files, compiled_player
from othello_lab.agents.external_agent import is_outside
from othello_lab.core.game import Limits, is_int64
from othello_lab.core.lines import prepare_lines
from othello_lab.core.position import prepare_rules
from othello_lab.core.recorded_games import prepare_recorded_games
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.confinement import Box, Confinement
from othello_lab.core.system.promises import broken
from othello_lab.core.system.settings import (
    Choice,
    ConfigError,
    Each,
    Switch,
    Text,
    one_line,
    unknown_choice,
)
from othello_lab.core.system.shared_memory import GO_ON, stop_signal

_LATE_SECONDS = 0.5
_OPENED = ("reads", "writes", "children", "network")

ISOLATION = AUTO, PROCESS, CLOSED, NONE = "auto", "process", "closed", "none"
"""The kinds of isolation, see :class:`Isolation`."""

ISOLATES_LESS = "This system does not keep these promises on closed agents:"


@dataclass
class Isolation:
    """The isolation of agents; ``docs/security.md`` has its promises."""

    kind: Annotated[str, Choice(*ISOLATION)] = AUTO
    """auto: agents from outside the lab, and all agents where time or memory is limited, play in
    processes of their own, with the judge out of their reach; programs of a folder of submissions
    are closed. process: all agents play so, and none is closed. closed: all play so, and those from
    outside reach no file and no network but what is opened for them. none: nobody is kept apart,
    for debugging."""
    reads: Annotated[list[str], Each(Text(r".+", "a file or folder"))] = field(default_factory=list)
    """Files and folders that closed agents may read, beside their own."""
    writes: Annotated[list[str], Each(Text(r".+", "a file or folder"))] = field(
        default_factory=list
    )
    """Files and folders that closed agents may change."""
    children: list[str] = field(default_factory=list)
    """Names of closed agents that may start processes: their time and memory are watched, not
    bounded."""
    network: Annotated[bool, Switch()] = False
    """Closed agents may use the network."""

    def check(self, names: Iterable[str]) -> None:
        """Raise ConfigError for missing files, for agents that are not among these names, and for
        settings without effect."""
        for name in self.children:
            if name not in names:
                raise ConfigError(f"isolation.children: {unknown_choice('agent', name, names)}")
        for name in ("reads", "writes"):
            for path in getattr(self, name):
                if not Path(path).expanduser().exists():
                    raise ConfigError(f"isolation.{name}: {path} is not there")
        opened = [name for name in _OPENED if getattr(self, name)]
        if opened and self.kind in (PROCESS, NONE):
            raise ConfigError(
                f"isolation.{opened[0]}: with isolation={self.kind} all files and the network are "
                f"open; {CLOSED} or {AUTO}"
            )

    def box(self, name: str, private: Sequence[str]) -> Box:
        """Return the box of a closed agent. private: files and folders that stay closed."""
        reads, writes = (
            tuple(os.path.abspath(os.path.expanduser(path)) for path in paths)
            for paths in (self.reads, self.writes)
        )
        return Box(reads, writes, tuple(private), name in self.children, self.network)

    def closes(self, agent: Agent) -> bool:
        """Return True if an agent's process is closed."""
        return (self.kind == CLOSED and is_outside(agent)) or (self.kind == AUTO and agent.closed)


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
    processes: the most that a player may have below its own. isolation: see :class:`Isolation`.
    compiled_games: True if agents that can play whole games in compiled code do so
    (:mod:`core.whole_games`). record_moves: True to record every move, False for the totals of each
    game alone. elsewhere: None if an agent is an object of this program, because it cannot be made
    again. ponder: True if agents may think in their opponents' time, where time is limited.
    private: files and folders that no closed agent may see, such as the run's record.
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
    isolation: Isolation = field(default_factory=Isolation)
    compiled_games: bool = True
    record_moves: bool = True
    elsewhere: RemoteConditions | None = None
    ponder: bool = False
    private: Sequence[str] = ()
    stop: Any = field(default_factory=stop_signal)

    @property
    def line_up(self) -> dict[str, Agent]:
        """The agents by name."""
        return dict(zip(self.names, self.agents, strict=True))

    @cached_property
    def apart(self) -> frozenset[int]:
        """The agents that play in a process of their own, asked by a judge outside it, see
        :class:`Isolation`. Where time or memory is limited all do, as these are charged to a
        process."""
        everybody = frozenset(range(len(self.agents)))
        kind = self.isolation.kind
        if kind == NONE:
            return frozenset()
        if kind in (PROCESS, CLOSED) or self.limits.timed or self.memory_mb is not None:
            return everybody
        return frozenset(number for number in everybody if is_outside(self.agents[number]))

    def confinement(self, number: int) -> Confinement:
        """Return the bounds of the process of the agent with this number."""
        agent = self.agents[number]
        name, closed = self.names[number], self.isolation.closes(agent)
        box = self.isolation.box(name, self.private) if closed else None
        return Confinement(self.memory_mb, box).opening(agent.files() if box else Files())

    def patience(self, limits: Limits) -> float:
        """Seconds after which a player that has not decided within these limits is killed."""
        seconds = limits.allowed
        return self.hang_seconds if seconds is None else seconds + self.grace + _LATE_SECONDS

    def lacks(self) -> list[str]:
        """Return the promises of isolation that this system cannot keep, if they matter here."""
        closed = any(map(self.isolation.closes, self.agents))
        return broken() if closed else []

    @property
    def stopping(self) -> bool:
        """True if nothing new is to be begun."""
        return bool(self.stop.value != GO_ON)

    def prepare(self, announce: Announce | None = None) -> None:
        """Load or compile all kernels, before processes fork; ConfigError."""
        prepare_rules(announce)
        prepare_lines(announce)
        if self.compiled_games and not self.limits.timed:
            prepare_recorded_games(announce)
        for name, agent in self.line_up.items():
            try:
                agent.prepare(announce)
                if not is_int64(agent.version):
                    raise ValueError(f"version is {agent.version!r:.100}; a whole number is needed")
            except ValueError as error:
                raise ConfigError(f"agent '{name}': {one_line(error)}") from error
            if self.compiled_games:
                compiled_player(agent, self.rules, self.limits)  # which loads what it needs
