"""Executors: games in this process, in processes of this machine, or on a cluster."""

from __future__ import annotations

import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Annotated

import numpy as np

from othello_lab.agents.external_agent import is_outside
from othello_lab.core.game import ILLEGAL, RESIGNED, PlayerFailure
from othello_lab.core.notation import PASS, IllegalMove
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.processes import available_cores, quota_note
from othello_lab.core.system.scratch import remove_abandoned
from othello_lab.core.system.settings import ConfigError, Nameable, Whole, checked
from othello_lab.core.system.shared_memory import STOP_AT_ONCE, why_no_locks
from othello_lab.experiments.playing import tasks
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.conditions import NONE, GameConditions
from othello_lab.experiments.playing.fork_server import fork_server
from othello_lab.experiments.playing.game import in_a_line
from othello_lab.experiments.playing.pool import WorkerPool
from othello_lab.experiments.record.store import Tables

Say = Callable[[str], None]
"""Receives one line that the user should know."""


class Executor(Nameable, ABC):
    """The place of a run's games: an object named by ``_target_`` in ``conf/executor``.

    workers: processes of this machine that play at a time; 0 for none but this one.
    """

    workers: int = 0

    @property
    @abstractmethod
    def text(self) -> str:
        """A description in a few words."""

    @abstractmethod
    def workers_for(
        self, conditions: GameConditions, say: Say
    ) -> AbstractContextManager[tasks.Workers]:
        """Return the workers that play under these conditions; see :meth:`ready`."""

    @contextmanager
    def ready(
        self, conditions: GameConditions, say: Say, trial: bool = False
    ) -> Iterator[tasks.TaskRunner]:
        """Yield a TaskRunner for these conditions.

        Enter it before anything is written, and while this process has a single thread: it may be
        forked. Raises ConfigError if the games cannot be played here. At its end everything that is
        still under way is dropped. trial: see :func:`~experiments.playing.executors.try_agents`.
        """
        try:
            with self.workers_for(conditions, say) as workers:
                try:
                    runner = tasks.TaskRunner(workers, lambda: conditions.stopping)
                    if trial:
                        try_agents(runner, conditions)
                    yield runner
                finally:
                    conditions.stop.value = STOP_AT_ONCE
        finally:
            remove_abandoned()  # scratch folders, by workers that were killed while they did


class Serial(Executor):
    """One game after another in this process, each move by the judge, for debugging; an agent that
    hangs is not stopped. Where agents are to play in processes of their own (see ``isolation``),
    one worker judges."""

    text = "none (serial)"

    def workers_for(self, conditions: GameConditions, say: Say) -> tasks.Workers:
        if conditions.apart:
            return Processes(workers=1).workers_for(conditions, say)
        return tasks.ThisProcess(tasks.WorkerContext(conditions))


class Processes(Executor):
    """A pool of processes on this machine."""

    @checked
    def __init__(self, workers: Annotated[int | None, Whole(1)] = None) -> None:
        """workers: number of processes; None: one for each core."""
        self.workers = workers or available_cores()
        self._note = "" if workers else quota_note()

    @property
    def text(self) -> str:
        return f"{self.workers} ({self._note})" if self._note else f"{self.workers}"

    def workers_for(self, conditions: GameConditions, say: Say) -> tasks.Workers:
        if self._note:
            say(f"workers: {self.text}")
        start = partial(tasks.start_worker, conditions)
        return WorkerPool(fork_server(self.workers, start, conditions.hang_seconds))


class Dask(Executor):
    """A Dask cluster: workers of this machine, or of others."""

    @checked
    def __init__(
        self, address: str | None = None, workers: Annotated[int | None, Whole(1)] = None
    ) -> None:
        """address: a running scheduler, ``tcp://host:port``; None: a cluster of this machine, for
        this run. workers: workers of a cluster of this machine; None: one for each core."""
        needs("executor=dask", "distributed", "dask")
        if address is not None and workers is not None:
            raise ValueError(
                f"executor.workers={workers}: a cluster has the workers it has; without "
                "executor.address they are started here"
            )
        if address is None and (problem := why_no_locks()):
            raise ValueError(f"a cluster needs locks: {problem}; executor=processes needs none")
        self.address = address
        self.workers = 0 if address is not None else workers or available_cores()

    @property
    def text(self) -> str:
        if self.address is not None:
            return f"those of the Dask cluster at {self.address}"
        return f"{self.workers} (Dask)"

    def workers_for(
        self, conditions: GameConditions, say: Say
    ) -> AbstractContextManager[tasks.Workers]:
        # Dask takes half a second to import.
        from othello_lab.experiments.playing.cluster import reach

        return reach(conditions, self.address, self.workers, say)


POSITIONS = 10
SECONDS = 10.0
"""An agent that has not answered by then is slow, or hangs: the run will tell."""

Line = list[tuple[int, Position]]
"""Moves from the start, each with the position that it leads to."""


def try_agents(runner: tasks.TaskRunner, conditions: GameConditions) -> None:
    """Let all agents from outside the lab play; ConfigError for the first one that fails in all
    positions, with its last failure. No agent is tried if agents share the judge's process, a mode
    for debugging."""
    if conditions.isolation.kind == NONE:
        return
    outside = [number for number, agent in enumerate(conditions.agents) if is_outside(agent)]
    results = chain.from_iterable(runner.work(_try, [tasks.Task(n, n) for n in outside]))
    for number, tables, failure in sorted(results, key=attrgetter("number")):
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


def _try(context: tasks.WorkerContext, number: int) -> Tables:
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


def _failure(context: tasks.WorkerContext, player: AgentProxy, line: Line) -> str:
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
