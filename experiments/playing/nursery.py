"""Nurseries: processes that fork workers for a driver that has threads, and so cannot fork itself.

A nursery has a single thread. It forks workers on request, and further nurseries, which do the
same: whoever kills one leaves another. Each has a socket of its own to the driver, by which it
notices the driver's end, and the driver its.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from othello_lab.core.system.processes import (
    adopt_orphans,
    descendants,
    die_with_parent,
    end_descendants,
    is_ending,
    reap,
)
from othello_lab.experiments.record.log import SendRecords, log_only_to

log = logging.getLogger("lab.pool")

END_SECONDS = 2.0
"""How long workers may take to end, all together, once they have nothing to do; then they are
killed."""
_NURSERY_SECONDS = 1.0  # that a nursery has beyond those of its workers

_NUMBER = struct.Struct("<q")
"""A request: the number in a worker's name, 0 for a nursery. An answer: the number of the process,
0 for none."""

Initializer = Callable[..., Callable[[], None] | None]
Prepare = Callable[..., tuple[Any, ...]]


# ---------------------------------------------------------------------- in the driver


class Nursery:
    """A nursery, as its driver has it.

    control: the socket to it. number: of its process; 0 until that is known, which it is once the
    process lives. reap: called when it has ended.
    """

    def __init__(
        self, control: socket.socket, number: int = 0, reap: Callable[[], object] | None = None
    ) -> None:
        self.control, self.number, self._reap = control, number, reap
        self._asked: deque[Connection | Nursery] = deque()

    def ask_worker(self, name: int) -> Connection:
        """Ask for a worker at the other end of a new connection. If none is started, the connection
        has ended. name: the number in the worker's name."""
        worker = Connection(self._ask(name).detach())
        self._asked.append(worker)
        return worker

    def ask_nursery(self) -> Nursery:
        """Ask for another nursery. If none is started, its control has ended."""
        nursery = Nursery(self._ask(0))
        self._asked.append(nursery)
        return nursery

    def _ask(self, name: int) -> socket.socket:
        ours, theirs = socket.socketpair()
        # If this one has ended, the new socket ends with this block.
        with theirs, contextlib.suppress(OSError):
            socket.send_fds(self.control, [_NUMBER.pack(name)], [theirs.fileno()])
        return ours

    def hear(self) -> tuple[Connection | Nursery, int]:
        """Return the next of those it was asked for, and the number of its process, 0 for none;
        EOFError if the nursery has ended."""
        try:
            (number,) = _NUMBER.unpack(self.control.recv(_NUMBER.size))
        except (OSError, struct.error):
            raise EOFError from None
        started = self._asked.popleft()
        if isinstance(started, Nursery):
            started.number = number
        return started, number

    def begin_to_end(self) -> None:
        """Tell it to end, with all that is below it."""
        with contextlib.suppress(OSError):  # it may be gone already
            self.control.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """Wait for its end, which is soon; otherwise kill it."""
        until = time.monotonic() + END_SECONDS + 2 * _NURSERY_SECONDS
        with contextlib.suppress(EOFError):
            while (left := until - time.monotonic()) > 0:
                if select.select([self.control], [], [], left)[0]:
                    self.hear()
            if self.number:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.number, signal.SIGKILL)
        self.close()

    def close(self) -> None:
        """Let go of one that has ended."""
        self.control.close()
        if self._reap is not None:
            self._reap()


def fork_nursery(initializer: Initializer, initargs: tuple[Any, ...]) -> Nursery:
    """Fork a nursery from this process, which has a single thread."""
    ours, theirs = socket.socketpair()
    # Ctrl-C must not find the driver's handler in the nursery, nor in what it forks.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        number = os.fork()
        if number == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                ours.close()
                _live(theirs, initializer, initargs)
            finally:
                os._exit(0)
    except BaseException as error:
        ours.close()
        if isinstance(error, OSError):
            why = f"no process can be started: {error.strerror}"
            raise OSError(error.errno, why) from None
        raise
    finally:
        theirs.close()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def reap_it() -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(number, 0)

    return Nursery(ours, number, reap_it)


def start_nursery(
    initializer: Initializer, initargs: tuple[Any, ...], prepare: Prepare | None
) -> Nursery:
    """Start a nursery as a Python of its own, and send it its arguments."""
    ours, theirs = socket.socketpair()
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from othello_lab.experiments.playing.nursery import fresh_nursery\n"
        f"fresh_nursery({theirs.fileno()})"
    )
    with theirs:
        try:
            process = subprocess.Popen([sys.executable, "-c", code], pass_fds=[theirs.fileno()])
        except BaseException:
            ours.close()
            raise
    # A connection only for this message: the socket itself stays open.
    messenger = Connection(os.dup(ours.fileno()))
    with contextlib.suppress(OSError):  # it has ended, as will be heard
        messenger.send((initializer, initargs, prepare))
    messenger.close()
    return Nursery(ours, process.pid, process.wait)


# ---------------------------------------------------------------------- in the nursery


def fresh_nursery(descriptor: int) -> None:
    """The main function of a nursery that was started rather than forked."""
    messenger = Connection(os.dup(descriptor))
    initializer, initargs, prepare = messenger.recv()
    messenger.close()
    if prepare is not None:
        initargs = prepare(*initargs)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver to handle
    _live(socket.socket(fileno=descriptor), initializer, initargs)


def _live(control: socket.socket, initializer: Initializer, initargs: tuple[Any, ...]) -> None:
    """Fork a worker or a nursery for each socket that arrives, until the driver closes its end."""
    own, workers, nurseries = _begin(), set[int](), set[int]()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, _NUMBER.size, 1)
        if not message:
            _end_all(own, workers, nurseries)
            reap()
            return
        (name,) = _NUMBER.unpack(message)
        # Nobody asks how a worker ended, but the time that it took is to be known above.
        reap()
        # Processes left by a worker or a nursery that was killed belong to this process now; or
        # soon, as the driver sees it end when its files are closed, and that comes first.
        living = {number for number in descendants([own]) if not is_ending(number)}
        workers &= living
        nurseries &= living
        end_descendants([own], workers | nurseries)
        try:
            child = os.fork()
        except OSError:
            child = -1  # the driver takes it for one that died early
        if child == 0:
            control.close()
            if name == 0:
                control = socket.socket(fileno=descriptors[0])
                own, workers, nurseries = _begin(), set(), set()
                continue
            _run_worker(own, name, Connection(descriptors[0]), initializer, initargs)
        if child > 0:
            (workers if name else nurseries).add(child)
        with contextlib.suppress(OSError):  # the driver is gone, as will be seen at once
            control.send(_NUMBER.pack(max(0, child)))
        os.close(descriptors[0])


def _begin() -> int:
    """Make this process a nursery; return its number. A signal to all processes of a terminal or a
    job is for the driver to handle."""
    os.setsid()
    adopt_orphans()
    return os.getpid()


def _end_all(nursery: int, workers: set[int], nurseries: set[int]) -> None:
    """Let the workers end all below them after the end of the driver, and check that all do. The
    nurseries below this one do the same."""
    for worker in workers & set(descendants([nursery])):
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGTERM)
    until = time.monotonic() + END_SECONDS + (_NURSERY_SECONDS if nurseries else 0)
    awaited = workers | nurseries
    while awaited & set(descendants([nursery])) and time.monotonic() < until:
        time.sleep(0.02)
    end_descendants([nursery])


# ---------------------------------------------------------------------- worker


def _run_worker(
    parent: int, name: int, driver: Connection, initializer: Initializer, initargs: tuple[Any, ...]
) -> None:
    """Be a worker until the end of this process."""
    try:
        signal.signal(signal.SIGTERM, _stop_working)
        die_with_parent(parent, signal.SIGTERM)
        multiprocessing.current_process().name = f"worker-{name}"
        _work(driver, initializer, initargs)
    finally:
        end_descendants([os.getpid()])
        os._exit(0)


def _stop_working(number: int, frame: object) -> None:
    """Ends a worker from wherever it is; not an exception that a game could be lost by."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


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
