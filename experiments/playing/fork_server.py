"""Fork servers: they fork workers for a driver that has threads, and so cannot fork itself.

The driver forks a fork server while it has a single thread. A fork server forks another one, which
serves the driver, and waits: whoever kills one leaves another. The upper one forks the next if the
lower one is killed; the lower one takes the place of an upper one that was killed. They share one
socket, so the driver cannot tell them apart. Workers end with the fork server that has forked them.

A fork server ends a worker that was stopped for long, or whose player does not answer.
"""

from __future__ import annotations

import contextlib
import logging
import math
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
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from othello_lab.core.system import processes
from othello_lab.core.system.forked import ChildSignals, fork
from othello_lab.core.system.shared_memory import keep_from_children, shared
from othello_lab.experiments.playing.batch import GameMonitor
from othello_lab.experiments.record.log import SendRecords, log_only_to

log = logging.getLogger("lab.pool")

END_SECONDS = 2.0
"""How long workers may take to end, all together, once they have nothing to do; then they are
killed."""
STOPPED_SECONDS = 10
"""A worker or fork server that was stopped (SIGSTOP) for so long is killed, and replaced."""
_LOOK_SECONDS = 0.5  # from one look at the processes to the next
_MORE_SECONDS = 2.0  # that servers have to end beyond those of their workers
BROKEN = "no worker can be started any more"

BEGUN, LOG, RESULT, ERROR = b"b", b"l", b"r", b"e"
"""The kinds of messages from a worker."""
_NUMBER = struct.Struct("<q")
"""A request: the number in a worker's name."""

Start = Callable[[GameMonitor], Any]
"""Begins a worker; its result, the place, is the first argument of all tasks, and has ``end()``."""


def message_of(kind: bytes, content: object) -> bytes:
    """Return a message of a worker."""
    return kind + ForkingPickler.dumps(content)


def read_message(message: bytes) -> tuple[bytes, Any]:
    """Return the kind and content of a worker's message."""
    return message[:1], pickle.loads(memoryview(message)[1:])


# ---------------------------------------------------------------------- in the driver


class ForkServer:
    """The servers, as their driver has them: a source of workers, see
    :class:`~experiments.playing.pool.WorkerSource`."""

    def __init__(self, control: socket.socket, number: int) -> None:
        """number: of the first process, a child of this one."""
        self._control, self._number = control, number
        self._names = count(1)
        self.joined: deque[Connection] = deque()

    def fileno(self) -> int:
        return self._control.fileno()

    def add_worker(self) -> None:
        """Ask for a worker, which joins at once. If none is started, its connection has ended."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            try:
                name = _NUMBER.pack(next(self._names))
                socket.send_fds(self._control, [name], [theirs.fileno()])
            except OSError:
                raise BrokenExecutor(BROKEN) from None
            self.joined.append(Connection(ours.detach()))

    def hear(self) -> None:
        with contextlib.suppress(ConnectionError):
            if news := self._control.recv(1 << 12):
                log.warning(news.decode().strip())
                return
        raise BrokenExecutor(BROKEN)

    def end(self) -> None:
        with contextlib.suppress(OSError):  # they may be gone already
            self._control.shutdown(socket.SHUT_WR)
        until = time.monotonic() + END_SECONDS + _MORE_SECONDS
        with contextlib.suppress(BrokenExecutor):
            while (left := until - time.monotonic()) > 0:
                if select.select([self], [], [], left)[0]:
                    self.hear()
            processes.end_descendants([self._number])
            processes.send_signal(self._number, signal.SIGKILL)
        self._control.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._number, 0)


def fork_server(workers: int, start: Start, hang_seconds: float = math.inf) -> ForkServer:
    """Fork a fork server with so many workers from this process, which has a single thread.

    start: begins a worker. hang_seconds: after this time without an answer a player that a worker
    has called counts as hung; the worker is killed.
    """
    ours, theirs = socket.socketpair()

    def live() -> None:
        ours.close()
        _ForkServerProcess(theirs, start, hang_seconds).live(above=-1)

    with contextlib.ExitStack() as failure:
        failure.callback(ours.close)
        with theirs:
            try:
                number = fork(live)
            except OSError as error:
                why = f"no process can be started: {error.strerror}"
                raise OSError(error.errno, why) from None
        server = ForkServer(ours, number)
        failure.callback(server.end)
        for _ in range(workers):
            server.add_worker()
        failure.pop_all()
    return server


def start_fork_server(prepare: Callable[[], tuple[Start, float]]) -> ForkServer:
    """Start a fork server as a Python of its own. prepare: called there; returns ``start`` and
    ``hang_seconds`` as for :func:`fork_server`. Raises what that raises, and EOFError if the
    process dies."""
    ours, theirs = socket.socketpair()
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from othello_lab.experiments.playing.fork_server import fresh_fork_server\n"
        f"fresh_fork_server({theirs.fileno()})"
    )
    with contextlib.ExitStack() as failure, theirs:
        failure.callback(ours.close)
        process = subprocess.Popen([sys.executable, "-c", code], pass_fds=[theirs.fileno()])
        failure.pop_all()
    process.returncode = 0  # nobody is to ask: ForkServer.end waits for it
    server = ForkServer(ours, process.pid)
    try:
        with _messenger(ours) as messenger:
            messenger.send(prepare)
            problem = messenger.recv()
        if problem is not None:
            raise problem
    except BaseException as error:
        server.end()
        if isinstance(error, ConnectionError):
            raise EOFError from None
        raise
    return server


def _messenger(control: socket.socket) -> Connection:
    """Return a connection for the first messages: the socket itself stays open."""
    return Connection(os.dup(control.fileno()))


# ---------------------------------------------------------------------- in the fork server


def fresh_fork_server(descriptor: int) -> None:
    """The main function of a fork server that was started rather than forked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver to handle
    control = socket.socket(fileno=descriptor)
    with _messenger(control) as messenger:
        prepare = messenger.recv()
        try:
            start, hang_seconds = prepare()
        except Exception as error:
            messenger.send(_sendable(error))
            return
        messenger.send(None)
    _ForkServerProcess(control, start, hang_seconds).live(above=-1)


class _ForkServerProcess:
    def __init__(self, control: socket.socket, start: Start, hang_seconds: float) -> None:
        self._control, self._start, self._hang_seconds = control, start, hang_seconds
        # A signal to all processes of a terminal or a job is for the driver to handle.
        os.setsid()
        processes.adopt_orphans()
        processes.signal_at_parents_end(signal.SIGCHLD)
        self._signals = ChildSignals()
        self._workers: dict[int, GameMonitor] = {}  # by number of the process
        self._below = 0  # the fork server that serves the driver; 0: this one does
        self._stopped: Counter[int] = Counter()  # in how many looks in a row
        self._looked = time.monotonic()

    def live(self, above: int) -> None:
        """Serve until the driver ends, or wait for the server below. above: the upper one."""
        while True:
            if not self._below and os.getppid() != above:
                self._below = fork(partial(self._live_below, os.getpid()))
            sources: list[Any] = [self._signals, *([] if self._below else [self._control])]
            ready, _, _ = select.select(sources, [], [], _LOOK_SECONDS)
            if self._signals.heard() and not self._bury():
                break
            if time.monotonic() - self._looked >= _LOOK_SECONDS:
                self._looked = time.monotonic()
                self._look(above)
            if self._control in ready and not self._serve():
                break
        until = time.monotonic() + END_SECONDS
        while self._workers and time.monotonic() < until:
            select.select([self._signals], [], [], until - time.monotonic())
            self._signals.heard()
            self._bury()
        processes.end_descendants([os.getpid()])

    def _live_below(self, above: int) -> None:
        _ForkServerProcess(self._control, self._start, self._hang_seconds).live(above)

    def _serve(self) -> bool:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, _NUMBER.size, 1)
        except ConnectionError:  # it ended without hearing the last news
            return False
        if not message:
            return False
        memory, driver = shared(GameMonitor.Memory), Connection(descriptors[0])
        (name,) = _NUMBER.unpack(message)
        be_worker = partial(self._be_worker, os.getpid(), name, driver, memory)
        with contextlib.suppress(OSError):  # the driver takes it for one that died early
            self._workers[fork(be_worker)] = GameMonitor(memory)
        keep_from_children(memory)
        driver.close()
        return True

    def _bury(self) -> bool:
        """Bury ended processes and what they leave; False if the server below ended by itself."""
        ended: dict[int, int] = {}
        with contextlib.suppress(ChildProcessError):
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                ended.update([child])
        for number in ended:
            self._workers.pop(number, None)
            self._stopped.pop(number, None)
        goes_on = True
        if self._below in ended:
            goes_on = os.WIFSIGNALED(ended[self._below])
            self._below = 0
            if goes_on:
                self._tell("the process that starts workers was killed; another one goes on")
        if ended:
            processes.end_descendants([os.getpid()], {*self._workers, self._below} - {0})
        return goes_on

    def _look(self, above: int) -> None:
        """Kill those that have been stopped for long, or hang. It is looks that are counted, not
        seconds: when all of us are stopped, nobody looks."""
        others = {self._below, above if os.getppid() == above else 0} - {0}
        for number in {*self._workers, *others}:
            self._stopped[number] = self._stopped[number] + 1 if processes.is_stopped(number) else 0
            if self._stopped[number] * _LOOK_SECONDS > STOPPED_SECONDS:
                self._kill(number, f"a worker that was stopped for {STOPPED_SECONDS} s is killed")
        for number, monitor in self._workers.items():
            if monitor.called and time.monotonic() - monitor.called > self._hang_seconds:
                self._kill(number, f"no answer for {self._hang_seconds:g} s")

    def _kill(self, number: int, why: str) -> None:
        self._tell(why)
        processes.send_signal(number, signal.SIGKILL)

    def _tell(self, news: str) -> None:
        with contextlib.suppress(OSError):
            self._control.send(f"{news}\n".encode(), socket.MSG_DONTWAIT)

    def _be_worker(self, parent: int, name: int, driver: Connection, memory: Any) -> None:
        self._control.close()
        processes.die_with_parent(parent)
        keep_from_children(memory)
        multiprocessing.current_process().name = f"worker-{name}"
        try:
            with contextlib.suppress(EOFError, OSError):  # the driver is gone
                _work(driver, partial(self._start, GameMonitor(memory)))
        finally:
            processes.end_descendants([os.getpid()])


# ---------------------------------------------------------------------- worker


def _work(driver: Connection, start: Callable[[], Any]) -> None:
    # The driver notices a worker's death by the end of this connection, so children of the worker
    # must not hold it open.
    os.register_at_fork(after_in_child=driver.close)

    def send_record(record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError):  # the driver is gone, and with it the log
            driver.send_bytes(message_of(LOG, record))

    log_only_to(SendRecords(send_record))
    try:
        context = start()
    except Exception:
        log.exception("a worker could not begin")
        return
    driver.send_bytes(message_of(BEGUN, None))
    while task := driver.recv_bytes():
        function, argument = pickle.loads(task)
        try:
            answer = message_of(RESULT, function(context, argument))
        except Exception as error:
            answer = message_of(ERROR, _sendable(error))
        driver.send_bytes(answer)
    context.end()


def _sendable(error: Exception) -> Exception:
    """The exception, or one that tells of it if it cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
