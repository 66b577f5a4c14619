"""Executors: games in this process, in processes of this machine, or on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Annotated

from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.processes import available_cores, quota_note
from othello_lab.core.system.scratch import remove_abandoned
from othello_lab.core.system.settings import Nameable, Whole, checked
from othello_lab.core.system.shared_memory import STOP_AT_ONCE, why_no_locks
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.fork_server import fork_server
from othello_lab.experiments.playing.match import TaskRunner
from othello_lab.experiments.playing.pool import WorkerPool
from othello_lab.experiments.playing.tasks import (
    ThisProcess,
    WorkerContext,
    Workers,
    start_worker,
)
from othello_lab.experiments.playing.trial import try_agents

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
    def workers_for(self, conditions: GameConditions, say: Say) -> AbstractContextManager[Workers]:
        """Return the workers that play under these conditions; see :meth:`ready`."""

    @contextmanager
    def ready(
        self, conditions: GameConditions, say: Say, trial: bool = False
    ) -> Iterator[TaskRunner]:
        """Yield a TaskRunner for these conditions.

        Enter it before anything is written, and while this process has a single thread: it may be
        forked. Raises ConfigError if the games cannot be played here. At its end everything that is
        still under way is dropped. trial: see :func:`~experiments.playing.trial.try_agents`.
        """
        try:
            with self.workers_for(conditions, say) as workers:
                try:
                    runner = TaskRunner(workers, lambda: conditions.stopping)
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

    def workers_for(self, conditions: GameConditions, say: Say) -> Workers:
        if conditions.apart:
            return Processes(workers=1).workers_for(conditions, say)
        return ThisProcess(WorkerContext(conditions))


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

    def workers_for(self, conditions: GameConditions, say: Say) -> Workers:
        if self._note:
            say(f"workers: {self.text}")
        start = partial(start_worker, conditions)
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

    def workers_for(self, conditions: GameConditions, say: Say) -> AbstractContextManager[Workers]:
        # Dask takes half a second to import.
        from othello_lab.experiments.playing.cluster import reach

        return reach(conditions, self.address, self.workers, say)
