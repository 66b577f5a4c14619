"""A supervisor in a process of its own, with the proxy of an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from othello_lab import Limits
from othello_lab.core.game import PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans
from othello_lab.experiments.playing.agent_proxy import AgentProxy, ChildSignals
from othello_lab.experiments.playing.conditions import GameConditions

START = Position.start()


def conditions(agent: Any, limits: Limits | None = None, **about: Any) -> GameConditions:
    rules = ruleset("standard")
    return GameConditions(["it"], [agent], rules, limits or Limits(), 10.0, 60.0, 30, **about)


def supervise(
    link: Channel, chosen: GameConditions, work: Callable[[AgentProxy, Channel], object]
) -> None:
    """Begin a game with the agent, work with its proxy, and send the result, or its failure."""
    adopt_orphans()
    proxy = AgentProxy(chosen, 0, ChildSignals(), lambda: None)
    try:
        proxy.begin_game(Color.BLACK, START, 1)
        link.send(repr(work(proxy, link)).encode())
    except PlayerFailure as fault:
        link.send(f"{fault.reason}: {fault.detail}".encode())
    finally:
        proxy.kill()


def supervisor(
    chosen: GameConditions, work: Callable[[AgentProxy, Channel], object]
) -> ForkedProcess:
    return ForkedProcess(supervise, chosen, work)
