"""The trial before a run: every agent from outside the lab has to make a legal move.

The run's own judge asks each of them for moves in positions of a game, in a process of its own,
until one answer is legal. An agent that fails in all of them would only lose all of its games.
"""

from __future__ import annotations

import logging
import math
import os
import time
from contextlib import closing

import numpy as np

from othello_lab.agents.config import ConfigError
from othello_lab.agents.external_agent import START_SECONDS, is_outside
from othello_lab.core.game import ILLEGAL, RESIGNED, PlayerFailure
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.processes import adopt_orphans, end_descendants, end_with_parent
from othello_lab.core.system.shared_memory import keep_from_children
from othello_lab.experiments.playing.agent_proxy import AgentProxy, ChildSignals
from othello_lab.experiments.playing.conditions import NONE, GameConditions
from othello_lab.experiments.playing.game import in_a_line

POSITIONS = 10
SECONDS = 10.0
"""An agent that has not answered by then is slow, or hangs: the run will tell."""

Line = list[tuple[int, Position]]
"""Moves from the start, each with the position that it leads to."""


def try_agents(conditions: GameConditions) -> None:
    """Let all agents from outside the lab play; ConfigError for the first one that fails in all
    positions, with its last failure. No agent is tried if agents share the judge's process, a mode
    for debugging."""
    if conditions.isolation.kind == NONE:
        return
    for number, agent in enumerate(conditions.agents):
        if is_outside(agent) and (flaw := _flaw(conditions, number)):
            raise ConfigError(
                f"agent '{conditions.names[number]}' fails in all of {POSITIONS} positions: "
                f"{flaw} (trial=false plays all the same)"
            )


def lines(rules: Ruleset, count: int = POSITIONS) -> list[Line]:
    """The ways to ``count`` positions of a random game that have a legal move, always the same;
    those near its end first, where a search is quick."""
    rng = np.random.default_rng(0)
    line: Line = []
    position = Position.start(rules)
    while not position.is_over:
        move = int(rng.choice(position.moves or (PASS,)))
        position = position.play(move)
        line.append((move, position))
    usable = [length for length in range(1, len(line)) if line[length - 1][1].moves]
    chosen = np.linspace(len(usable) - 1, 0, count).round()
    return [line[: usable[int(index)]] for index in chosen]


def _flaw(conditions: GameConditions, number: int) -> str:
    """Return an agent's last failure, in a line; "" if it has answered, or was slow."""
    child = ForkedProcess(_try, conditions, number, os.getpid())
    with closing(child):
        try:
            return (child.receive_within(START_SECONDS + SECONDS) or b"").decode()
        except EOFError:
            return "the process that watches over it was killed"


def _try(link: Channel, conditions: GameConditions, number: int, parent: int) -> None:
    """The main function of a process that has an agent's own process tried."""
    adopt_orphans()
    end_with_parent(parent)
    keep_from_children(conditions.stop)
    logging.disable()  # what it says here it will say in the run
    trial = _TrialProcess(conditions, number)
    flaw = ""
    try:
        for line in lines(conditions.rules):
            flaw = trial.failure(line)
            if not flaw:
                break
    except _TimeIsUp:
        flaw = ""
    trial.player.kill()
    end_descendants([os.getpid()])
    link.send(flaw.encode())


class _TimeIsUp(Exception):
    """The agent has not answered so far."""


class _TrialProcess:
    def __init__(self, conditions: GameConditions, number: int) -> None:
        self.player = AgentProxy(conditions, number, ChildSignals(), self._check)
        self._conditions = conditions
        self._until = math.inf

    def _check(self) -> None:
        if time.monotonic() > self._until:
            raise _TimeIsUp

    def failure(self, line: Line) -> str:
        """Return the agent's failure at the end of a line of moves; "" if there is none."""
        position, rules = line[-1][1], self._conditions.rules
        try:
            try:
                self.player.begin_game(position.to_move, Position.start(rules), 1)
            finally:  # the time to make it, and to prepare, is not counted
                self._until = min(self._until, time.monotonic() + SECONDS)
            if self.player.observes:
                for made, after in line:
                    self.player.observe(made, after)
            move = self.player.decide(position, self._conditions.limits).move
            if type(move) is not int:
                raise IllegalMove(f"{move!r:.100} is no square")
            position.play(move)
        except PlayerFailure as fault:
            if fault.reason == RESIGNED:
                return ""
            self.player.kill()  # it begins anew, as after a forfeit
            return ": ".join(filter(None, (fault.reason, in_a_line(fault.detail))))
        except IllegalMove as error:
            return f"{ILLEGAL}: {error}"
        return ""
