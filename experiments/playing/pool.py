"""Worker processes that may die at any moment: an executor that replaces them.

``concurrent.futures.ProcessPoolExecutor`` gives up when one of its workers is killed, and a program
with threads cannot fork new ones without the risk that a lock is copied while a thread holds it. So
the driver forks a *nursery* while it has a single thread; the nursery only forks workers on
request. Each worker has a socket of its own to the driver, and nothing is shared between workers: a
killed worker leaves no lock taken.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

from othello_lab.core.system.processes import (
    adopt_orphans,
    descendants,
    die_with_parent,
    end_descendants,
    is_stopped,
    reap,
)
from othello_lab.experiments.record.log import SendRecords, log_only_to

log = logging.getLogger("lab.pool")

END_SECONDS = 2.0
"""How long workers may take to end, all together, once they have nothing to do; then they are
killed."""
_FAILED_STARTS = 10
"""So many workers in a row that die before they have begun mean that none ever will."""

_BROKEN = "no worker can be started any more"
_NUMBER = struct.Struct("<q")  # of a process, 0 for none


Initializer = Callable[..., Callable[[], None] | None]


STOPPED_SECONDS = 10
"""A worker that was stopped (SIGSTOP) for so long is killed, and replaced."""
_LOOK_SECONDS = 1.0  # from one look at the workers to the next


class WorkerDied(Exception):
    """The worker that had the task was killed, or crashed; the task may be handed out again."""


@dataclass
class _PoolTask:
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: Future[Any] = field(default_factory=Future)


class WorkerPool(Executor):
    """Processes that each run ``initializer(*initargs)`` and then the submitted tasks. The
    initializer may return a function; it runs at the worker's orderly end.

    The task of a worker that dies gets :class:`WorkerDied` as its exception, and another worker
    takes the dead one's place. If the nursery itself is killed, all tasks get BrokenExecutor. The
    loggers of this process handle the workers' log records.

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
        prepare: Callable[..., tuple[Any, ...]] | None = None,
        handle: Callable[[logging.LogRecord], object] | None = None,
    ) -> None:
        assert fresh or not prepare, "a fork has all prepared before it"
        self._handle = handle or _log_here
        self._waiting: deque[_PoolTask] = deque()
        self._asked: deque[Connection] = deque()  # workers whose numbers the nursery is to tell
        self._starting: set[Connection] = set()
        self._running: dict[Connection, _PoolTask | None] = {}  # by worker; None: idle
        self._stopped: dict[Connection, int] = {}  # in how many looks in a row it was stopped
        self._numbers: dict[Connection, int] = {}  # of the processes
        self._failed_starts = 0
        self._broken = False
        self._closing = False
        self._dropping = False
        self._lock = threading.Lock()
        self._bell, self._listener = multiprocessing.Pipe()
        self._control, theirs = socket.socketpair()
        if fresh:
            self._end_nursery = _start_fresh(self._control, theirs, initializer, initargs, prepare)
        else:
            self._end_nursery = _start_fork(self._control, theirs, initializer, initargs)
        theirs.close()
        for _ in range(workers):
            self._add_worker()
        self._thread: threading.Thread | None = None

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand out a task: a function that can be pickled, called with ``args`` in a worker."""
        assert not kwargs, "tasks take positional arguments"
        task = _PoolTask(function, args)
        with self._lock:
            if self._closing:
                raise RuntimeError("the pool is shut down")
            if self._broken:
                raise BrokenExecutor(_BROKEN)
            self._waiting.append(task)
            if self._thread is None:
                # A daemon, as its end must not depend on what workers do.
                self._thread = threading.Thread(target=self._manage, name="pool", daemon=True)
                self._thread.start()
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
        if self._thread is None:
            self._end()
            return
        self._ring()
        if wait:
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
        looked = time.monotonic()
        try:
            while not self._broken:
                self._hand_out()
                idle = not any(self._running.values()) and not self._waiting
                if self._closing and (idle or self._dropping):
                    return
                workers = [*self._starting, *self._running]
                found = wait([*workers, self._listener, self._control], _LOOK_SECONDS)
                if not found or time.monotonic() - looked >= _LOOK_SECONDS:
                    looked = time.monotonic()
                    self._end_stopped()
                for ready in found:
                    if self._broken:
                        break
                    if ready is self._listener:
                        self._listener.recv()
                    elif ready is self._control:
                        self._hear_nursery()
                    elif isinstance(ready, Connection):
                        self._hear(ready)
        finally:
            self._break()
            self._end()

    def _end_stopped(self) -> None:
        """Kill workers that have been stopped for long. It is looks that are counted, not seconds:
        when all of us are stopped, nobody looks."""
        for worker, number in self._numbers.items():
            looks = self._stopped.get(worker, 0) + 1 if is_stopped(number) else 0
            self._stopped[worker] = looks
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
        # Whoever still lives is killed together with the nursery.
        with contextlib.suppress(OSError):  # the nursery may be gone already
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        self._end_nursery()

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

    def _next_task(self) -> _PoolTask | None:
        """The first waiting task that nobody has cancelled."""
        while True:
            with self._lock:
                task = self._waiting.popleft() if self._waiting else None
            if task is None or task.future.set_running_or_notify_cancel():
                return task

    def _hear(self, worker: Connection) -> None:
        try:
            kind, content = worker.recv()
        except Exception:  # it ended, or broke off, or sent what cannot be read
            self._bury(worker)
            return
        if kind == "log":
            self._handle(content)
            return
        if kind == "begun":
            self._starting.remove(worker)
            self._running[worker] = None
            self._failed_starts = 0
            return
        task = self._running[worker]
        assert task is not None
        self._running[worker] = None
        if kind == "result":
            task.future.set_result(content)
        else:
            task.future.set_exception(content)

    def _hear_nursery(self) -> None:
        """It tells the number of the next process that it was asked for, or is no more."""
        try:
            (number,) = _NUMBER.unpack(self._control.recv(_NUMBER.size))
        except (OSError, struct.error):
            self._break()
            return
        worker = self._asked.popleft()
        if number and (worker in self._starting or worker in self._running):
            self._numbers[worker] = number

    def _bury(self, worker: Connection) -> None:
        """A worker is dead: its task fails, a new worker takes its place."""
        worker.close()
        self._numbers.pop(worker, None)
        self._stopped.pop(worker, None)
        task = self._running.pop(worker, None)
        if worker in self._starting:
            self._starting.remove(worker)
            self._failed_starts += 1
        if task is not None:
            task.future.set_exception(WorkerDied("the worker process died"))
        if self._failed_starts >= _FAILED_STARTS:
            self._break()
            return
        try:
            self._add_worker()
        except OSError:
            self._break()

    def _break(self) -> None:
        with self._lock:
            self._broken = True
            tasks = [*self._waiting, *(task for task in self._running.values() if task)]
            self._waiting.clear()
        for task in tasks:
            if not task.future.done():
                task.future.set_exception(BrokenExecutor(_BROKEN))

    def _add_worker(self) -> None:
        """Ask the nursery for a worker at the other end of a new socket."""
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self._control, [b"w"], [theirs.fileno()])
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        worker = Connection(ours.detach())
        self._starting.add(worker)
        self._asked.append(worker)


def _log_here(record: logging.LogRecord) -> None:
    logging.getLogger(record.name).handle(record)


# ---------------------------------------------------------------------- nursery


def _start_fork(
    ours: socket.socket, theirs: socket.socket, initializer: Initializer, initargs: Any
) -> Callable[[], None]:
    """Fork the nursery from this process, which has a single thread; return a function that ends
    it."""
    # Ctrl-C must not find the driver's handler in the nursery, nor in what it forks.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    number = os.fork()
    if number == 0:
        try:
            # What is sent to all processes of a terminal or a job is for the driver to handle.
            os.setsid()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            ours.close()
            _nursery(theirs, initializer, initargs)
        finally:
            os._exit(0)

    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def end() -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(number, 0)

    return end


def _start_fresh(
    ours: socket.socket,
    theirs: socket.socket,
    initializer: Initializer,
    initargs: Any,
    prepare: Callable[..., tuple[Any, ...]] | None,
) -> Callable[[], None]:
    """Start the nursery as a Python of its own, and send it its arguments."""
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from othello_lab.experiments.playing.pool import fresh_nursery\n"
        f"fresh_nursery({theirs.fileno()})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], pass_fds=[theirs.fileno()])
    # A connection only for this message: the socket itself stays open.
    messenger = Connection(os.dup(ours.fileno()))
    messenger.send((initializer, initargs, prepare))
    messenger.close()
    return lambda: (process.wait(), None)[1]


def fresh_nursery(descriptor: int) -> None:
    """The main function of a nursery that was started rather than forked."""
    messenger = Connection(os.dup(descriptor))
    initializer, initargs, prepare = messenger.recv()
    messenger.close()
    if prepare is not None:
        initargs = prepare(*initargs)
    _nursery(socket.socket(fileno=descriptor), initializer, initargs)


def _nursery(control: socket.socket, initializer: Initializer, initargs: Any) -> None:
    """Fork a worker for each socket that arrives, until the driver closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver to handle
    adopt_orphans()
    parent, number = os.getpid(), 0
    workers: set[int] = set()
    while True:
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not word:
            _end_workers(parent, workers)
            reap()
            return
        number += 1
        # Nobody asks how a worker ended, but the time that it took is to be known above.
        reap()
        # What a worker that was killed has left behind is ours now.
        workers &= set(descendants([parent]))
        end_descendants([parent], workers)
        try:
            child = os.fork()
        except OSError:
            child = -1  # the driver takes it for a worker that died early
        if child == 0:
            try:
                control.close()
                signal.signal(signal.SIGTERM, _stop_working)
                die_with_parent(parent, signal.SIGTERM)
                multiprocessing.current_process().name = f"worker-{number}"
                _work(Connection(descriptors[0]), initializer, initargs)
            finally:
                end_descendants([os.getpid()])
                os._exit(0)
        if child > 0:
            workers.add(child)
        with contextlib.suppress(OSError):  # the driver is gone, as will be seen at once
            control.send(_NUMBER.pack(max(0, child)))
        os.close(descriptors[0])


def _end_workers(nursery: int, workers: set[int]) -> None:
    """Let the workers end all below them after the end of the driver, and check that all do."""
    for worker in workers & set(descendants([nursery])):
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGTERM)
    until = time.monotonic() + END_SECONDS
    while workers & set(descendants([nursery])) and time.monotonic() < until:
        time.sleep(0.02)
    end_descendants([nursery])


def _stop_working(number: int, frame: object) -> None:
    """Ends a worker from wherever it is; not an exception that a game could be lost by."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


# ---------------------------------------------------------------------- worker


def _work(driver: Connection, initializer: Initializer, initargs: Any) -> None:
    # The driver notices a worker's death by the end of this connection, so children of the worker
    # must not hold it open.
    os.register_at_fork(after_in_child=driver.close)

    def send_record(record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError):  # the driver is gone, and with it the log
            driver.send(("log", record))

    log_only_to(SendRecords(send_record))
    try:
        end = initializer(*initargs)
    except Exception:
        log.exception("a worker could not begin")
        return
    driver.send(("begun", None))
    while True:
        try:
            task = driver.recv()
        except (EOFError, OSError):
            return
        if task is None:
            if end is not None:
                end()
            return
        function, arguments = task
        try:
            message = "result", function(*arguments)
            pickled = ForkingPickler.dumps(message)
        except Exception as error:
            pickled = ForkingPickler.dumps(("error", _sendable(error)))
        driver.send_bytes(pickled)


def _sendable(error: Exception) -> Exception:
    """The exception, or one that tells of it if it cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
