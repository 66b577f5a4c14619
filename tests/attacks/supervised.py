"""A supervisor in a process of its own, with the proxy of an agent that does something."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import closing
from typing import Any

from processes import await_

from othello_lab import Decision, Limits, RandomAgent
from othello_lab.agents.agent import Files
from othello_lab.core.game import PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.forked import Channel, ChildSignals, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans
from othello_lab.core.system.shared_memory import shared
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.conditions import CLOSED, PROCESS, GameConditions, Isolation

START = Position.start()
OPEN, ALONE, WITH_CHILDREN = "open", "closed", "closed, with children"
MODES: dict[str, dict[str, Any]] = {
    OPEN: {"kind": PROCESS},
    ALONE: {"kind": CLOSED},
    WITH_CHILDREN: {"kind": CLOSED, "children": ["it"]},
}
Work = Callable[[AgentProxy], object]


class Tries(RandomAgent):
    """Does something before each move; ``begun`` becomes 1 before."""

    def __init__(self, what: Callable[[], object], files: Files | None = None) -> None:
        self._what, self._files = what, files or Files()
        self.begun = shared(ctypes.c_int)

    def files(self) -> Files:
        return self._files

    def decide(self, position: Position, limits: Limits) -> Decision:
        self.begun.value = 1
        self._what()
        return Decision(position.moves[0])


def conditions(agent: Any, mode: str = ALONE, **settings: Any) -> GameConditions:
    isolation = Isolation(**{**MODES[mode], **settings.pop("isolation", {})})
    rules, limits = ruleset("standard"), settings.pop("limits", Limits())
    hang = settings.pop("hang", 60.0)
    return GameConditions(
        ["it"], [agent], rules, limits, 10.0, hang, 30, isolation=isolation, **settings
    )


def _supervise(link: Channel, chosen: GameConditions, work: Work) -> None:
    """Begin a game with the agent, work with its proxy, and send the result, or its failure."""
    adopt_orphans()
    proxy = AgentProxy(chosen, 0, ChildSignals(), lambda: None)
    try:
        proxy.begin_game(Color.BLACK, START, 1)
        link.send(str(proxy.number).encode())
        link.receive()
        link.send(repr(work(proxy)).encode())
    except PlayerFailure as fault:
        link.send(f"{fault.reason}: {fault.detail}".encode())
    finally:
        proxy.kill()


def judged(
    chosen: GameConditions,
    work: Work = lambda proxy: proxy.decide(START, Limits()).move,
    meanwhile: Callable[[int, int], None] | None = None,
) -> str:
    """The answer of a supervisor that works with the agent's proxy, or the agent's failure.

    meanwhile: called, once the agent has begun, with the numbers of its and its supervisor's
    process.
    """
    with closing(ForkedProcess(_supervise, chosen, work)) as process:
        player = process.receive().decode()
        if not player.isdecimal():
            return player
        process.send(b"work")
        if meanwhile:
            await_(lambda: chosen.agents[0].begun.value)
            meanwhile(int(player), process.number)
        answer = process.receive_within(120)
        assert answer is not None
        process.has_ended(20)
        return answer.decode()
