"""Workers on other machines: a Dask cluster, as the driver sees it. The workers' side is in
:mod:`experiments.playing.cluster_worker`.

A thread looks for workers of the cluster. Another one for each place there passes the driver's
tasks on, and the answers back: to the driver it is a worker like those of this machine. So the
driver knows the task that is lost with a worker, and keeps tasks from workers of other games.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.playing.cluster_worker import Assignment, Lease, work
from othello_lab.experiments.playing.conditions import GameConditions, RemoteConditions
from othello_lab.experiments.playing.fork_server import BEGUN, message_of
from othello_lab.experiments.playing.pool import WorkerPool
from othello_lab.experiments.playing.tasks import WorkerDied

log = logging.getLogger("lab.cluster")

CONNECT_SECONDS = 10.0
"""A scheduler that has not answered for so long is not there."""
_TASK_SECONDS = 1.0  # Dask's part of a task costs the driver and the scheduler milliseconds
_LOOK_SECONDS = 1.0  # from one look at who has joined or left to the next


INVITED, READY, REFUSED, LOST = range(4)
"""States of a worker of the cluster: LOST is to be forgotten, and invited anew if it is there."""


@dataclass(eq=False)
class _Member:
    """A worker of the cluster.

    seats: how many tasks it works on at a time. key, lease: of its Lease, as a Dask future. lines:
    to the driver, one for each seat.
    """

    address: str
    name: str
    seats: int
    key: str
    lease: Any
    state: int = INVITED
    has_played: bool = False
    lines: set[Connection] = field(default_factory=set)

    @property
    def where(self) -> str:
        plain = self.name in ("", self.address)
        return f"worker {self.address}" if plain else f"worker {self.name} at {self.address}"

    def release(self) -> None:
        """Let go of the lease, and so of the worker's processes; hang up all lines."""
        with contextlib.suppress(Exception):  # there may be nobody left to tell
            self.lease.release()
        for line in [*self.lines]:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(line.fileno())) as end:
                end.shutdown(socket.SHUT_RDWR)  # which wakes a thread that waits at it


class Cluster:
    """The workers of a Dask cluster, present and joining ones: a source of workers, see
    :class:`~experiments.playing.pool.WorkerSource`. A worker that cannot play as the driver does
    never gets a task.

    all_ready: done once there are workers, and all that are there are ready to play; ConfigError if
    one of them cannot.
    """

    def __init__(
        self, client: Any, elsewhere: RemoteConditions, say: Callable[[str], None]
    ) -> None:
        """client: a Dask client. say: prints lines for the user during the wait."""
        self.joined: deque[Connection] = deque()
        self.all_ready: Future[None] = Future()
        self._client, self._say = client, say
        self._assignment = Assignment.of(elsewhere)
        self._members: dict[str, _Member] = {}
        self._alone = False
        self._broken = ""
        self._bell, self._listener = socket.socketpair()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._manage, name="cluster", daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        return self._listener.fileno()

    def hear(self) -> None:
        self._listener.recv(1 << 12)
        if self._broken:
            raise BrokenExecutor(self._broken)

    def add_worker(self) -> None:
        """Nothing is to be done: the thread of a place adds the next process there."""

    def end(self) -> None:
        self._ended.set()
        self._thread.join(CONNECT_SECONDS)
        self._bell.close()
        self._listener.close()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more
            self._bell.send(b"!")

    # ------------------------------------------------------------------ the managing thread

    def _manage(self) -> None:
        try:
            while not (self._broken or self._ended.is_set()):
                self._look_for_workers()
                self._ended.wait(_LOOK_SECONDS)
        except Exception as error:
            log.exception("the cluster cannot be used any more")
            self._broken = f"the cluster cannot be used any more: {one_line(error)}"
        for member in self._members.values():
            member.release()
        if not self.all_ready.done():
            self.all_ready.set_exception(ConfigError(self._broken or "the cluster is shut down"))
        self._ring()

    def _look_for_workers(self) -> None:
        if self._client.status == "closed":
            self._broken = "the scheduler does not answer any more"
        if self._client.status != "running":
            return
        present = self._client.scheduler_info(n_workers=-1)["workers"]
        for address, member in [*self._members.items()]:
            gone = member.state == READY and member.lease.status != "finished"
            if address not in present or member.state == LOST or gone:
                del self._members[address]
                member.release()
                if member.has_played:
                    log.warning("%s is gone", member.where)
        for address, facts in present.items():
            if address not in self._members:
                self._invite(address, str(facts["name"]), facts["nthreads"])
        states = {member.state for member in self._members.values()} - {REFUSED}
        if states == {READY} and not self.all_ready.done():
            self.all_ready.set_result(None)
        if not states and not self._alone:
            self._say("no workers are there; waiting for some to join (Ctrl-C ends)")
        self._alone = not states

    def _invite(self, address: str, name: str, seats: int) -> None:
        key = uuid.uuid4().hex
        lease = self._submit(address, Lease, key, self._assignment, actor=True)
        member = self._members[address] = _Member(address, name, seats, key, lease)
        threading.Thread(target=self._welcome, args=(member,), daemon=True).start()

    # ------------------------------------------------------------------ threads of members

    def _welcome(self, member: _Member) -> None:
        try:
            member.lease.result()
        except Exception as error:
            refused = member.lease.status == "error" and not isinstance(error, _killed_worker())
            member.state = REFUSED if refused else LOST
            if refused:
                self._tell_refusal(f"{member.where} cannot play: {_explained(error)}")
            return
        member.state = READY
        for _ in range(member.seats):
            self._add_line(member)

    def _tell_refusal(self, message: str) -> None:
        if self.all_ready.done():
            log.error(message)
            self._say(message)
        else:
            self.all_ready.set_exception(ConfigError(message))

    def _add_line(self, member: _Member) -> None:
        ours, theirs = multiprocessing.Pipe()
        member.lines.add(theirs)
        threading.Thread(target=self._pass_on, args=(member, theirs), daemon=True).start()
        self.joined.append(ours)
        self._ring()

    def _pass_on(self, member: _Member, line: Connection) -> None:
        """Pass tasks of the driver on to the worker, and its messages back."""
        try:
            line.send_bytes(message_of(BEGUN, None))
            while task := line.recv_bytes():
                if not member.has_played:  # not before: there was no log yet
                    log.info("%s plays, %d games at a time", member.where, member.seats)
                    member.has_played = True
                # Not Client.get_executor(): a future of its never ends if the worker is lost after
                # the task, but before it has passed the result on.
                call = self._submit(member.address, work, member.lease, member.key, task)
                for message in call.result():
                    line.send_bytes(message)
        except WorkerDied:
            self._add_line(member)  # to another process there
        except (EOFError, OSError):
            pass  # nobody is at the other end
        except Exception:
            member.state = LOST
        finally:
            member.lines.discard(line)
            line.close()

    def _submit(self, address: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._client.submit(
            function, *args, workers=[address], allow_other_workers=False, pure=False, **kwargs
        )


def _killed_worker() -> type[Exception]:
    from distributed import KilledWorker

    return KilledWorker


def _explained(error: BaseException) -> str:
    """Why a worker refused the lease, in a line."""
    if isinstance(error, ConfigError):
        return one_line(error)
    if isinstance(error, ImportError | AttributeError):
        return f"the lab is not installed there, or another version of it: {one_line(error)}"
    if "deserialization of the task graph" in str(error):
        return "the scheduler has no lab, or another version of it; install it there too"
    return f"{type(error).__name__}: {one_line(error)}"


# Ctrl-C in a terminal reaches all processes started from it; what it means, the driver decides.
_IGNORE_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


@contextmanager
def _dask_logs_here() -> Iterator[None]:
    """Send Dask's log to the lab's log, rather than between the lines of a terminal."""
    dasks = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [(logger, logger.handlers, logger.propagate) for logger in dasks]
    for logger in dasks:
        logger.handlers, logger.propagate = [], True
    try:
        yield
    finally:
        for logger, handlers, propagate in before:
            logger.handlers, logger.propagate = handlers, propagate


def _connected(target: Any) -> Any:
    """A client of a Dask cluster, or of the one at an address; ConfigError."""
    from distributed import Client

    until = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            return Client(target, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:  # the last for TLS without its settings
            # Also a connection that broke off at once, as a busy scheduler's may.
            if time.monotonic() >= until or not isinstance(error, OSError):
                raise ConfigError(
                    f"executor.address={target}: no scheduler answers there: {one_line(error)}"
                ) from error


@contextmanager
def reach(
    conditions: GameConditions, address: str | None, workers: int, say: Callable[[str], None]
) -> Iterator[WorkerPool]:
    """Yield the cluster at an address, its workers ready to play; without an address those of a
    new cluster of this machine, ``workers`` of them.

    say: prints lines for the user during the wait. Raises ConfigError if there is no scheduler, or
    a worker cannot play as this process would.
    """
    from distributed import LocalCluster

    if conditions.elsewhere is None:
        raise ConfigError(
            "the agents are objects of this program; executor=dask builds agents from their "
            "settings, on each worker"
        )
    with contextlib.ExitStack() as stack:
        stack.enter_context(_dask_logs_here())
        if address is None:
            local = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                memory_limit=0,
                dashboard_address="127.0.0.1:0",  # the usual port may be another cluster's
                preload=[_IGNORE_CTRL_C],
                silence_logs=logging.CRITICAL,  # workers may lose the scheduler at the end
            )
            stack.enter_context(local)
        client = stack.enter_context(_connected(address or local))
        cluster = Cluster(client, conditions.elsewhere, say)
        pool = stack.enter_context(WorkerPool(cluster, _TASK_SECONDS))
        say(f"the workers of {address or 'this machine'} get ready")
        cluster.all_ready.result()
        yield pool
