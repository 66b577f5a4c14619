"""Worker processes that may die at any moment: an executor that replaces them.

``concurrent.futures.ProcessPoolExecutor`` gives up when one of its workers is killed, and a program
with threads cannot fork new ones without the risk that a lock is copied while a thread holds it. So
the driver forks a *nursery* while it has a single thread; the nursery only forks workers on
request, and a second nursery, so that one is there when the other is killed. Each worker has a
socket of its own to the driver, and nothing is shared between workers: a killed worker leaves no
lock taken.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection, wait
from typing import Any

from othello_lab.core.system.processes import is_ending, is_stopped
from othello_lab.experiments.playing.nursery import (
    END_SECONDS,
    Initializer,
    Nursery,
    Prepare,
    fork_nursery,
    start_nursery,
)

log = logging.getLogger("lab.pool")

_FAILED_STARTS = 10
"""So many workers and nurseries in a row that die before a worker has begun, or done a task, mean
that none ever will."""
_NURSERIES = 2  # that live at a time
_MOST_LOST = 3
"""A task whose nursery was killed so often is no longer handed out by the pool itself."""

_BROKEN = "no worker can be started any more"

STOPPED_SECONDS = 10
"""A worker or nursery that was stopped (SIGSTOP) for so long is killed, and replaced."""
_LOOK_SECONDS = 1.0  # from one look at the processes to the next


class WorkerDied(Exception):
    """The worker that had the task was killed, or crashed; the task may be handed out again."""


@dataclass(eq=False)
class SubmittedTask:
    """A task of an executor. lost: how many nurseries were killed while a worker had it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: Future[Any] = field(default_factory=Future)
    lost: int = 0


class WorkerPool(Executor):
    """Processes that each run ``initializer(*initargs)`` and then the submitted tasks. The
    initializer may return a function; it runs at the worker's orderly end.

    The task of a worker that dies gets :class:`WorkerDied` as its exception, and another worker
    takes the dead one's place. If a nursery is killed, so are its workers; their tasks go to those
    of the other nursery. If both are killed at once, all tasks get BrokenExecutor, unless
    ``fresh``. The loggers of this process handle the workers' log records.

    fresh: True for a nursery that is a fresh Python process and gets initializer and arguments
    pickled, rather than a fork of this one; needed if this process has threads already.

    prepare: called with ``initargs`` in a fresh nursery, once; its result is the initializer's
    arguments, shared by all workers.

    handle: gets the workers' log records, instead of the loggers of this process.
    """

    def __init__(
        self,
        workers: int,
        initializer: Initializer,
        initargs: tuple[Any, ...] = (),
        *,
        fresh: bool = False,
        prepare: Prepare | None = None,
        handle: Callable[[logging.LogRecord], object] | None = None,
    ) -> None:
        assert fresh or not prepare, "a fork has all prepared before it"
        self._handle = handle or (lambda record: logging.getLogger(record.name).handle(record))
        self._waiting: deque[SubmittedTask] = deque()
        self._starting: set[Connection] = set()
        self._running: dict[Connection, SubmittedTask | None] = {}  # by worker; None: idle
        self._nursery_of: dict[Connection, Nursery] = {}
        self._stopped: dict[Connection | Nursery, int] = {}  # in how many looks in a row
        self._numbers: dict[Connection, int] = {}  # of the processes
        self._names = count(1)
        self._failed_starts = 0
        self._has_begun = False  # any worker
        self._broken = False
        self._closing = False
        self._dropping = False
        self._lock = threading.Lock()
        self._bell, self._listener = multiprocessing.Pipe()
        self._start_again: Callable[[], Nursery] | None = None
        if fresh:
            self._start_again = lambda: start_nursery(initializer, initargs, prepare)
            self._nurseries = [self._start_again()]
        else:
            self._nurseries = _forked_pair(initializer, initargs)
        # Each but the first is the child of the one before it; the last one forks the workers. So
        # the one before becomes the parent of all that a killed one leaves.
        self._add_nurseries()
        for _ in range(workers):
            self._add_worker()
        self._thread: threading.Thread | None = None
        self._begins = threading.Lock()
        self._managed = threading.Event()  # by the thread; otherwise whoever shuts down ends it all
        self._left = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand out a task: a function that can be pickled, called with ``args`` in a worker."""
        assert not kwargs, "tasks take positional arguments"
        task = SubmittedTask(function, args)
        with self._lock:
            if self._closing:
                raise RuntimeError("the pool is shut down")
            if self._broken:
                raise BrokenExecutor(_BROKEN)
            self._waiting.append(task)
            if self._thread is None:
                # A daemon, as its end must not depend on what workers do.
                self._thread = threading.Thread(target=self._manage, name="pool", daemon=True)
                self._thread.start()  # which Ctrl-C may cut short
                self._managed.wait()
        self._ring()
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers after the tasks that were submitted, or with ``cancel_futures`` after
        those under way."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            if cancel_futures:
                for task in self._waiting:
                    task.future.cancel()
        with self._begins:
            self._left = not self._managed.is_set()
        if self._left:
            self._end()
            return
        self._ring()
        if wait and self._thread is not None:
            self._thread.join()

    def kill(self) -> None:
        """End the workers within END_SECONDS: tasks under way get BrokenExecutor."""
        self._dropping = True
        self.shutdown(wait=False, cancel_futures=True)
        self._ring()

    # ------------------------------------------------------------------ the managing thread

    def _ring(self) -> None:
        with contextlib.suppress(OSError):
            self._bell.send(None)

    def _manage(self) -> None:
        with self._begins:
            if self._left:
                return
            self._managed.set()
        looked = time.monotonic()
        try:
            while not self._broken:
                self._hand_out()
                idle = not any(self._running.values()) and not self._waiting
                if self._closing and (idle or self._dropping):
                    return
                controls = {nursery.control: nursery for nursery in self._nurseries}
                # Nurseries last: if a worker is seen to have ended with its nursery, both are.
                workers = [*self._starting, *self._running]
                found = wait([*workers, self._listener, *controls], _LOOK_SECONDS)
                if not found or time.monotonic() - looked >= _LOOK_SECONDS:
                    looked = time.monotonic()
                    self._end_stopped()
                    self._add_nurseries()
                # Nurseries first: the tasks of workers that ended with theirs are not at fault.
                for ready in sorted(found, key=lambda each: each not in controls):
                    if self._broken:
                        break
                    if ready is self._listener:
                        self._listener.recv()
                    elif isinstance(ready, socket.socket):
                        self._hear_nursery(controls[ready])
                    elif isinstance(ready, Connection):
                        self._hear(ready)
        finally:
            self._break()
            self._end()

    def _end_stopped(self) -> None:
        """Kill workers and nurseries that have been stopped for long. It is looks that are counted,
        not seconds: when all of us are stopped, nobody looks."""
        numbers: list[tuple[Connection | Nursery, int]] = [*self._numbers.items()]
        numbers += [(nursery, nursery.number) for nursery in self._nurseries if nursery.number]
        for process, number in numbers:
            looks = self._stopped.get(process, 0) + 1 if is_stopped(number) else 0
            self._stopped[process] = looks
            if looks * _LOOK_SECONDS > STOPPED_SECONDS:
                log.warning("a worker that was stopped for %d s is killed", STOPPED_SECONDS)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)

    def _end(self) -> None:
        """End the workers, handle their last log records, then end the nursery."""
        workers = [*self._starting, *self._running]
        for worker in workers:
            with contextlib.suppress(OSError):  # it may be dead
                worker.send(None)
        until = time.monotonic() + END_SECONDS
        living = set(workers)
        while living and (left := until - time.monotonic()) > 0:
            for ready in wait(living, left):
                assert isinstance(ready, Connection)
                try:
                    kind, content = ready.recv()
                except Exception:  # it ended
                    living.remove(ready)
                    continue
                if kind == "log":
                    self._handle(content)
        for worker in workers:
            worker.close()
        # Whoever still lives is killed by the nurseries.
        for nursery in self._nurseries:
            nursery.begin_to_end()
        for nursery in self._nurseries:
            nursery.end()

    def _hand_out(self) -> None:
        for worker, task in list(self._running.items()):
            if task is not None:
                continue
            task = self._next_task()
            if task is None:
                return
            self._running[worker] = task
            with contextlib.suppress(OSError):  # a dead worker is noticed when it is listened to
                worker.send((task.function, task.arguments))

    def _next_task(self) -> SubmittedTask | None:
        """The first waiting task that nobody has cancelled."""
        while True:
            with self._lock:
                task = self._waiting.popleft() if self._waiting else None
            # One that was lost runs already.
            if task is None or task.lost or task.future.set_running_or_notify_cancel():
                return task

    def _hear(self, worker: Connection) -> None:
        if worker not in self._nursery_of:
            return  # its nursery has just ended
        try:
            kind, content = worker.recv()
        except Exception:  # it ended, or broke off, or sent what cannot be read
            self._bury(worker)
            return
        if kind == "log":
            self._handle(content)
            return
        self._failed_starts = 0
        if kind == "begun":
            self._starting.remove(worker)
            self._running[worker] = None
            self._has_begun = True
            return
        task = self._running[worker]
        assert task is not None
        self._running[worker] = None
        if kind == "result":
            task.future.set_result(content)
        else:
            task.future.set_exception(content)

    def _hear_nursery(self, nursery: Nursery) -> None:
        """It tells the number of the next process that it was asked for, or is no more."""
        try:
            started, number = nursery.hear()
        except EOFError:
            self._bury_nursery(nursery)
            return
        if number and isinstance(started, Connection) and started in self._nursery_of:
            self._numbers[started] = number

    def _bury(self, worker: Connection) -> None:
        """A worker is dead: its task fails, a new worker takes its place. If its nursery ends, too,
        that is the reason, though a process just forked may still hold the nursery's line open."""
        nursery = self._nursery_of[worker]
        if nursery.number and is_ending(nursery.number):
            self._bury_nursery(nursery)
            return
        self._failed_starts += worker in self._starting
        if (task := self._forget(worker)) is not None:
            task.future.set_exception(WorkerDied("the worker process died"))
        self._replace(1)

    def _bury_nursery(self, nursery: Nursery) -> None:
        """A nursery is dead, or could not be started: its workers end, and others get their
        tasks."""
        self._nurseries.remove(nursery)
        self._stopped.pop(nursery, None)
        nursery.close()
        workers = [worker for worker, its in self._nursery_of.items() if its is nursery]
        for task in map(self._forget, workers):
            if task is None:
                continue
            task.lost += 1
            if task.lost < _MOST_LOST:
                self._waiting.appendleft(task)
            else:
                task.future.set_exception(WorkerDied("the process that starts workers died"))
        if nursery.number:
            log.warning("the process that starts workers was killed; another one goes on")
            self._failed_starts += 1
        self._replace(len(workers), nurseries=bool(nursery.number))

    def _replace(self, workers: int, nurseries: bool = False) -> None:
        """Start workers in the place of dead ones, and nurseries if asked to. Nobody asks at once
        again for a nursery that could not be started; the next look does."""
        try:
            if self._failed_starts >= _FAILED_STARTS:
                raise OSError(_BROKEN)
            if not self._nurseries:
                if self._start_again is None or not self._has_begun:
                    raise OSError(_BROKEN)
                self._nurseries.append(self._start_again())
            if nurseries:
                self._add_nurseries()
            for _ in range(workers):
                self._add_worker()
        except OSError:
            self._break()

    def _forget(self, worker: Connection) -> SubmittedTask | None:
        """Drop a worker that is dead, or ends by itself; return its task."""
        worker.close()
        del self._nursery_of[worker]
        self._numbers.pop(worker, None)
        self._stopped.pop(worker, None)
        self._starting.discard(worker)
        return self._running.pop(worker, None)

    def _break(self) -> None:
        with self._lock:
            self._broken = True
            tasks = [*self._waiting, *(task for task in self._running.values() if task)]
            self._waiting.clear()
        for task in tasks:
            if not task.future.done():
                task.future.set_exception(BrokenExecutor(_BROKEN))

    def _add_nurseries(self) -> None:
        while len(self._nurseries) < _NURSERIES:
            self._nurseries.append(self._nurseries[-1].ask_nursery())

    def _add_worker(self) -> None:
        nursery = self._nurseries[-1]
        worker = nursery.ask_worker(next(self._names))
        self._starting.add(worker)
        self._nursery_of[worker] = nursery


def _forked_pair(initializer: Initializer, initargs: tuple[Any, ...]) -> list[Nursery]:
    """Fork a nursery, and wait until it has another one: later this process has threads."""
    for _ in range(_FAILED_STARTS):
        first = fork_nursery(initializer, initargs)
        second = first.ask_nursery()
        try:
            first.hear()
        except EOFError:  # it was killed
            first.close()
            second.close()
            continue
        return [first, second]
    raise OSError(_BROKEN)
