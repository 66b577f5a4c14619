"""The common part of the commands that make an agent an engine for others."""

from __future__ import annotations

import os
import re
import select
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TextIO

from othello_lab.core.system.escaping import visible
from othello_lab.core.system.settings import ConfigError
from othello_lab.play.agent_process import AgentProcesses
from othello_lab.play.config import GameSetup, PlayerSettings, config_folders, read

USAGE = """\
usage: othello-lab play {name} agent=NAME [key=value ...]

Any agent of the lab as an engine that speaks {protocol},
on its standard input and output; what it has to tell people goes to its error
stream.

  othello-lab play {name} agent=alphabeta agent.depth=5
  othello-lab play {name} agent=pvs agent.depth=60 agent.iterative=true
  othello-lab play {name} agent=mcts limits.seconds=1

Under a limit on time (limits.seconds, or the controller's) mcts uses all of it,
unless agent.playouts is set. Other settings: depth and evaluation, where the
agent leaves them open, limits.depth, limits.nodes, limits.seconds, seed,
ruleset; --config-dir DIR.
othello-lab agents list explains the agents and evaluations.
"""
_URGENT = {"gtp": r"\s*(\d+\s+)?quit\b", "nboard": r"\s*(quit|ping)\b"}
_SEAT = "white"  # where conf/play.yaml has an agent
_OTHERS = ("black", _SEAT, "hint")


def read_engine(words: Sequence[str], folders: Sequence[str]) -> tuple[GameSetup, PlayerSettings]:
    """Return the settings of a command line, and the agent that is to play; raises ConfigError.

    Under a limit on time an agent that counts its playouts thinks as long as it may, unless the
    command line sets their number.
    """
    for word in words:
        if re.match(rf"[+~]*({'|'.join(_OTHERS)})\b", word) or "=" not in word:
            raise ConfigError(f"{word}: agent=NAME, agent.SETTING=VALUE or key=value is needed")
    seated = [re.sub(r"^(\+?)(evaluation@)?agent\b", rf"\1\2{_SEAT}", word) for word in words]
    if not any(word.startswith("agent=") for word in words):
        raise ConfigError("agent=NAME is needed")
    try:
        setup = read(seated, folders)
    except ConfigError as error:
        raise ConfigError(re.sub(rf"\b{_SEAT}\b(?=[.=@]| is )", "agent", str(error))) from None
    player = next(who for color, who in setup.players.items() if color.value == _SEAT)
    if player.is_human:
        raise ConfigError("agent=human: an agent is needed")
    said = {word.partition("=")[0].lstrip("+") for word in words}
    if player.agent and player.agent.get("playouts") and "agent.playouts" not in said:
        player = replace(player, timed=player.agent | {"playouts": None})
    return setup, player


class Commands:
    """The lines of a controller. While an agent thinks they are read ahead, unless they come from
    a file.

    urgent: a regex of the lines that end the thinking, as the end of the input does.
    """

    def __init__(self, source: TextIO | None, urgent: str) -> None:
        self._source, self._urgent = source or (), re.compile(urgent)
        self._part, self._has_ended = b"", False
        self._lines: deque[str] = deque()
        try:
            self._descriptor = source.fileno() if source else -1
            self._is_live = not stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        except (OSError, ValueError):  # nothing of the system
            self._has_ended, self._is_live = True, False

    def __iter__(self) -> Iterator[str]:
        if self._has_ended:
            yield from self._source
        while self._lines or not self._has_ended:
            if self._lines:
                yield self._lines.popleft()
            else:
                self._read()

    def interrupt(self) -> bool:
        """Return True if the agent is to stop thinking."""
        if not self._is_live:
            return False
        if not self._has_ended and select.select([self._descriptor], [], [], 0)[0]:
            self._read()
        return self._has_ended or any(map(self._urgent.match, self._lines))

    def _read(self) -> None:
        """Wait for input, and read it."""
        read = os.read(self._descriptor, 1 << 16)
        *lines, self._part = (self._part + read).split(b"\n")
        self._has_ended = not read
        if self._has_ended and self._part:
            lines = [self._part]
        self._lines += [line.decode(errors="replace") for line in lines]


class EngineServer(Protocol):
    """Answers a controller's lines about one game of an agent. quitting: True once it is to end."""

    quitting: bool

    def answer(self, line: str) -> str | None:
        """Return what is still to be written as the answer to a line; None for nothing."""
        ...


def serve(server: EngineServer, lines: Iterable[str], output: TextIO) -> None:
    """Answer lines until one of them ends it, or there are no more."""
    for line in lines:
        output.write(server.answer(line) or "")
        output.flush()
        if server.quitting:
            return


def announce(line: str) -> None:
    """Print a line for people."""
    print(visible(line), file=sys.stderr, flush=True)


def run_engine(
    name: str,
    protocol: str,
    words: Sequence[str],
    server: Callable[[GameSetup, PlayerSettings, AgentProcesses, TextIO], EngineServer],
) -> int:
    """Make the agent, and let it be served; returns the exit code. server: makes that of the
    protocol, which may write to the output itself. Raises ConfigError."""
    if {"-h", "--help"} & set(words):
        print(USAGE.format(name=name, protocol=protocol), end="")
        return 0
    rest, folders, _ = config_folders(words)
    setup, player = read_engine(rest, folders)

    commands, hang = Commands(sys.stdin, _URGENT[name]), setup.settings.limits.hang
    processes = AgentProcesses(
        setup.rules, setup.limits, hang, announce, interrupt=commands.interrupt
    )
    with processes as thinkers:
        thinkers.of(player)  # before anybody waits for it
        serve(server(setup, player, thinkers, sys.stdout), commands, sys.stdout)
    return 0
