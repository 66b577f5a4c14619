"""The trial before a run: every agent from outside the lab has to make a legal move.

The run's own workers ask each of them for moves in positions of a game until one answer is legal.
An agent that fails in all of them would only lose all of its games.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from othello_lab.agents.config import ConfigError
from othello_lab.agents.external_agent import is_outside
from othello_lab.core.game import ILLEGAL, RESIGNED, PlayerFailure
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.conditions import NONE, GameConditions
from othello_lab.experiments.playing.game import in_a_line
from othello_lab.experiments.playing.match import TaskRunner
from othello_lab.experiments.playing.tasks import Task, WorkerContext
from othello_lab.experiments.record.store import Tables

POSITIONS = 10
SECONDS = 10.0
"""An agent that has not answered by then is slow, or hangs: the run will tell."""

Line = list[tuple[int, Position]]
"""Moves from the start, each with the position that it leads to."""


def try_agents(runner: TaskRunner, conditions: GameConditions) -> None:
    """Let all agents from outside the lab play; ConfigError for the first one that fails in all
    positions, with its last failure. No agent is tried if agents share the judge's process, a mode
    for debugging."""
    if conditions.isolation.kind == NONE:
        return
    outside = [number for number, agent in enumerate(conditions.agents) if is_outside(agent)]
    results = [
        result for some in runner.work(_try, [Task(n, n) for n in outside]) for result in some
    ]
    for number, tables, failure in sorted(results, key=lambda result: result.number):
        if flaw := failure or tables["trial"][0]["flaw"]:
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


def _try(context: WorkerContext, number: int) -> Tables:
    """Return an agent's last failure, in a line; "" if it has answered, or was slow."""
    player, flaw = context.seat(number), ""
    with _silent():
        try:
            for line in lines(context.conditions.rules):
                if not (flaw := _failure(context, player, line)):
                    break
        except TimeoutError:
            flaw = ""
        context.until = math.inf
        player.kill()  # so that it begins the run anew
    return {"trial": [{"flaw": flaw}]}


@contextmanager
def _silent() -> Iterator[None]:
    """Log nothing: what an agent says here it will say in the run."""
    root = logging.getLogger()
    before, root.handlers = root.handlers, [logging.NullHandler()]
    try:
        yield
    finally:
        root.handlers = before


def _failure(context: WorkerContext, player: AgentProxy, line: Line) -> str:
    """Return the agent's failure at the end of a line of moves; "" if there is none."""
    position, rules = line[-1][1], context.conditions.rules
    try:
        try:
            player.begin_game(position.to_move, Position.start(rules), 1)
        finally:  # the time to make it, and to prepare, is not counted
            context.until = min(context.until, time.monotonic() + SECONDS)
        if player.observes:
            for made, after in line:
                player.observe(made, after)
        move = player.decide(position, context.conditions.limits).move
        if type(move) is not int:
            raise IllegalMove(f"{move!r:.100} is no square")
        position.play(move)
    except PlayerFailure as fault:
        if fault.reason == RESIGNED:
            return ""
        player.kill()  # it begins anew, as after a forfeit
        return ": ".join(filter(None, (fault.reason, in_a_line(fault.detail))))
    except IllegalMove as error:
        return f"{ILLEGAL}: {error}"
    return ""
