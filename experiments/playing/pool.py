"""Workers that may die at any moment and are replaced: processes of this machine, or of others.

``concurrent.futures.ProcessPoolExecutor`` gives up when one of its workers is killed. Here each
worker has a socket of its own, and nothing is shared between workers: a killed one leaves no lock
taken.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections import deque
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, Protocol

from othello_lab.experiments.playing import fork_server
from othello_lab.experiments.playing.tasks import Answer, TaskFunction, WorkerDied, Workers

_FAILED_STARTS = 10
"""So many workers in a row that die before they have begun mean that none ever will."""
_LOOK_SECONDS = 1.0
_AHEAD = 1 << 16
"""Bytes of a task that a worker may be sent while it has another one. Its socket holds more, so the
driver never waits for a worker that waits for the driver."""


class WorkerSource(Protocol):
    """Starts workers. joined: connections to new ones."""

    joined: deque[Connection]

    def fileno(self) -> int:
        """Readable when there is something to hear."""
        ...

    def hear(self) -> None:
        """Take note of news. Raises BrokenExecutor if no worker can be started any more."""
        ...

    def add_worker(self) -> None:
        """Start a worker in the place of one that has ended. Raises as :meth:`hear`."""
        ...

    def end(self) -> None:
        """Let workers end, at the latest after END_SECONDS."""
        ...


@dataclass(eq=False)
class _Worker:
    """A worker. tasks: sent to it, by number; the first is under way, and a second one may wait."""

    line: Connection
    has_begun: bool = False
    tasks: dict[int, memoryview] = field(default_factory=dict)

    def fileno(self) -> int:
        return self.line.fileno()


class WorkerPool(Workers):
    """The workers of a source.

    If a worker dies, the answer to the task under way is WorkerDied. The loggers of this process
    handle the workers' log records.
    """

    def __init__(self, source: WorkerSource, task_seconds: float = 0.2) -> None:
        self.task_seconds = task_seconds
        self._source = source
        self._workers: list[_Worker] = []
        self._waiting: deque[tuple[int, memoryview]] = deque()
        self._given = count()
        self._failed_starts = 0
        self._admit()

    def _admit(self) -> None:
        while self._source.joined:
            self._workers.append(_Worker(self._source.joined.popleft()))
        self.number = max(1, len(self._workers))

    @property
    def room(self) -> int:
        tasks = len(self._waiting) + sum(len(worker.tasks) for worker in self._workers)
        return 2 * self.number - tasks

    def give(self, function: TaskFunction, argument: Any) -> int:
        number = next(self._given)
        self._waiting.append((number, ForkingPickler.dumps((function, argument))))
        self._send()
        return number

    def answers(self) -> list[Answer]:
        answers, sources = [], list[Any]([*self._workers, self._source])
        for ready in wait(sources, _LOOK_SECONDS):
            if isinstance(ready, _Worker):
                answers += self._hear(ready)
            else:
                self._source.hear()
        self._admit()
        self._send()
        return answers

    def close(self) -> None:
        """End the workers after the tasks they have, at the latest after END_SECONDS."""
        for worker in self._workers:
            with contextlib.suppress(OSError):  # it may be dead
                worker.line.send_bytes(b"")
        until = time.monotonic() + fork_server.END_SECONDS
        living: list[Any] = [*self._workers]
        while living and (left := until - time.monotonic()) > 0:
            for ready in wait(living, left):
                if self._message(ready) is None:  # type: ignore[arg-type]
                    living.remove(ready)
        for worker in self._workers:
            worker.line.close()
        self._source.end()

    def _send(self) -> None:
        """Send tasks to workers that have none, and then to those that have one."""
        while self._waiting and (ready := [worker for worker in self._workers if worker.has_begun]):
            worker = min(ready, key=lambda worker: len(worker.tasks))
            number, message = self._waiting[0]
            if len(worker.tasks) > 1 or (worker.tasks and len(message) > _AHEAD):
                return
            worker.tasks[number] = message
            self._waiting.popleft()
            with contextlib.suppress(OSError):  # a dead worker is noticed when it is listened to
                worker.line.send_bytes(message)

    def _message(self, worker: _Worker) -> tuple[bytes, Any] | None:
        """Return a worker's next message, its log records handled; None if the worker has ended."""
        try:
            kind, content = fork_server.read_message(worker.line.recv_bytes())
        except Exception:
            return None
        if kind == fork_server.LOG:
            logging.getLogger(content.name).handle(content)
        return kind, content

    def _hear(self, worker: _Worker) -> list[Answer]:
        message = self._message(worker)
        if message is None:
            return self._bury(worker)
        kind, content = message
        if kind == fork_server.BEGUN:
            worker.has_begun, self._failed_starts = True, 0
        elif kind != fork_server.LOG:
            number = next(iter(worker.tasks))
            del worker.tasks[number]
            return [
                Answer(number, content)
                if kind == fork_server.RESULT
                else Answer(number, error=content)
            ]
        return []

    def _bury(self, worker: _Worker) -> list[Answer]:
        """A worker is dead: the task under way fails, a new worker takes its place."""
        worker.line.close()
        self._workers.remove(worker)
        self._failed_starts += not worker.has_begun
        if self._failed_starts >= _FAILED_STARTS:
            raise BrokenExecutor(fork_server.BROKEN)
        under_way, others = [*worker.tasks][:1], [*worker.tasks.items()][1:]
        self._waiting.extendleft(others)
        self._source.add_worker()
        died = WorkerDied("the worker process died")
        return [Answer(number, error=died) for number in under_way]
