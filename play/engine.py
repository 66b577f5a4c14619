"""The common part of the commands that make an agent an engine for others."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from othello_lab.agents.config import ConfigError
from othello_lab.core.system.escaping import visible
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
        table = read(seated, folders)
    except ConfigError as error:
        raise ConfigError(re.sub(rf"\b{_SEAT}\b(?=[.=@]| is )", "agent", str(error))) from None
    player = next(each for color, each in table.players.items() if color.value == _SEAT)
    if player.is_human:
        raise ConfigError("agent=human: an agent is needed")
    said = {word.partition("=")[0].lstrip("+") for word in words}
    if player.agent and player.agent.get("playouts") and "agent.playouts" not in said:
        player = replace(player, timed=player.agent | {"playouts": None})
    return table, player


def run_engine(
    name: str,
    protocol: str,
    words: Sequence[str],
    serve: Callable[[GameSetup, PlayerSettings, AgentProcesses], None],
) -> int:
    """Make the agent, and let a protocol serve it; returns the exit code. Raises ConfigError."""
    if {"-h", "--help"} & set(words):
        print(USAGE.format(name=name, protocol=protocol), end="")
        return 0
    rest, options = config_folders(words)
    folders = [options["config-dir"]] if "config-dir" in options else []
    table, player = read_engine(rest, folders)

    def say(line: str) -> None:
        print(visible(line), file=sys.stderr, flush=True)

    with AgentProcesses(table.rules, table.limits, table.settings.limits.hang, say) as thinkers:
        thinkers.of(player)  # before anybody waits for it
        serve(table, player, thinkers)
    return 0
