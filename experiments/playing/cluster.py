"""Workers on other machines: a Dask cluster, as the driver sees it. The workers'
side is in :mod:`experiments.playing.cluster_worker`.

The driver chooses the worker of each task, and gives it one for each of its threads. So it knows
the tasks lost with a worker, keeps tasks from workers of other games, and can take back tasks that
have not begun. Dask notices lost workers; the driver hands their tasks out again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.experiments.playing.cluster_worker import Assignment, Lease, work
from othello_lab.experiments.playing.conditions import GameConditions, RemoteConditions
from othello_lab.experiments.playing.tasks import Answer, TaskFunction, WorkerDied, Workers

log = logging.getLogger("lab.cluster")

CONNECT_SECONDS = 10.0
"""A scheduler that has not answered for so long is not there."""
_LOOK_SECONDS = 1.0  # from one look at who has joined or left to the next


@dataclass(eq=False, frozen=True)
class _SentTask:
    """A task, by its number."""

    number: int
    function: TaskFunction
    argument: Any


@dataclass(eq=False)
class _Member:
    """A worker of the cluster.

    seats: how many tasks it works on at a time; tasks: those it has. key, lease: of its Lease, as
    a Dask future. ready: it has the lease. seen: it has had a task.
    """

    address: str
    name: str
    seats: int
    key: str
    lease: Any
    ready: bool = False
    seen: bool = False
    tasks: set[_SentTask] = field(default_factory=set)

    @property
    def where(self) -> str:
        """Its name in messages."""
        plain = self.name in ("", self.address)
        return f"worker {self.address}" if plain else f"worker {self.name} at {self.address}"

    @property
    def alive(self) -> bool:
        """True if the worker has its lease, as far as Dask knows."""
        return bool(self.lease.status == "finished")

    @property
    def room(self) -> int:
        """Tasks that it can be given now."""
        return self.seats - len(self.tasks) if self.ready and self.alive else 0

    def release(self) -> None:
        """Let go of the lease, and so of the worker's processes."""
        with contextlib.suppress(Exception):  # there may be nobody left to tell
            self.lease.release()


class Cluster(Workers):
    """The workers of a Dask cluster, present and joining ones.

    Tasks run in fresh processes on the workers. The answer is WorkerDied if the worker is lost or
    its process died. A worker that cannot play as the driver does never gets a task.
    """

    task_seconds = 1.0  # Dask's part of a task costs the driver and the scheduler milliseconds

    def __init__(
        self, client: Any, elsewhere: RemoteConditions, say: Callable[[str], None]
    ) -> None:
        """client: a Dask client. say: prints lines for the user during the wait."""
        self._client, self._say = client, say
        self.number = 1
        self._assignment = Assignment.of(elsewhere)
        self._members: dict[str, _Member] = {}
        self._refused: set[str] = set()
        self._waiting: deque[_SentTask] = deque()
        self._given = count()
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._answers: list[Answer] = []
        self._looked = 0.0
        self._plays = self._alone = False

    def wait_until_ready(self) -> None:
        """Wait until there are workers, and all that are there are ready to play; ConfigError if
        one of them cannot, or if the scheduler is lost."""
        while not (self._members and all(member.ready for member in self._members.values())):
            try:
                self.answers()
            except BrokenExecutor as error:
                raise ConfigError(str(error)) from error
        self._plays = True

    @property
    def room(self) -> int:
        return sum(member.room for member in self._members.values()) - len(self._waiting)

    def give(self, function: TaskFunction, argument: Any) -> int:
        task = _SentTask(next(self._given), function, argument)
        self._waiting.append(task)
        self._send_waiting()
        return task.number

    def answers(self) -> list[Answer]:
        try:
            if time.monotonic() - self._looked >= _LOOK_SECONDS:
                self._looked = time.monotonic()
                self._look_for_workers()
            self._send_waiting()
            with contextlib.suppress(queue.Empty):
                self._events.get(timeout=_LOOK_SECONDS)()
                while True:
                    self._events.get_nowait()()
        except (BrokenExecutor, ConfigError):
            raise
        except Exception as error:
            log.exception("the cluster cannot be used any more")
            why = f"the cluster cannot be used any more: {one_line(error)}"
            raise BrokenExecutor(why) from error
        self.number = max(1, sum(m.seats for m in self._members.values() if m.ready))
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Let the workers go at once."""
        for member in self._members.values():
            member.release()

    def _look_for_workers(self) -> None:
        """Invite workers that have joined, forget lost ones."""
        if self._client.status == "closed":
            raise BrokenExecutor("the scheduler does not answer any more")
        if self._client.status != "running":
            return
        found = self._client.scheduler_info(n_workers=-1)["workers"]
        for member in list(self._members.values()):
            if member.address not in found or (member.ready and not member.alive):
                self._dismiss(member)
        self._refused &= found.keys()
        for address, facts in found.items():
            if address not in self._members and address not in self._refused:
                self._invite(address, str(facts["name"]), facts["nthreads"])
        if not self._members and not self._alone:
            self._say("no workers are there; waiting for some to join (Ctrl-C ends)")
        self._alone = not self._members

    def _invite(self, address: str, name: str, seats: int) -> None:
        key = uuid.uuid4().hex
        lease = self._submit(address, Lease, key, self._assignment, actor=True)
        member = self._members[address] = _Member(address, name, seats, key, lease)
        lease.add_done_callback(lambda _: self._events.put(lambda: self._welcome(member)))

    def _welcome(self, member: _Member) -> None:
        """The worker has answered the invitation."""
        if self._members.get(member.address) is not member:
            return
        member.ready = member.alive
        if member.ready:
            return
        if member.lease.status == "error":
            error = member.lease.exception()
            if not isinstance(error, _killed_worker()):
                self._refuse(member, error)
        self._dismiss(member)

    def _refuse(self, member: _Member, error: BaseException) -> None:
        message = f"{member.where} cannot play: {_explained(error)}"
        self._refused.add(member.address)
        if not self._plays:
            raise ConfigError(message)
        log.error(message)
        self._say(message)

    def _dismiss(self, member: _Member) -> None:
        if self._members.get(member.address) is member:
            del self._members[member.address]
            if member.ready:
                log.warning("%s is gone", member.where)
        for task in member.tasks:
            self._answers.append(Answer(task.number, error=WorkerDied(f"{member.where} was lost")))
        member.tasks.clear()
        member.release()

    def _send_waiting(self) -> None:
        while self._waiting and (free := [m for m in self._members.values() if m.room]):
            member = min(free, key=lambda member: len(member.tasks) / member.seats)
            self._send(self._waiting.popleft(), member)

    def _send(self, task: _SentTask, member: _Member) -> None:
        if not member.seen:  # not before: there was no log yet
            log.info("%s plays, %d games at a time", member.where, member.seats)
            member.seen = True
        member.tasks.add(task)
        content = task.function, task.argument
        given = self._submit(member.address, work, member.lease, member.key, *content)
        # Not Client.get_executor(): a future of its never ends if the worker is lost after the
        # task, but before it has passed the result on.
        gathering = self._client.gather(given, asynchronous=True)
        future = asyncio.run_coroutine_threadsafe(gathering, self._client.loop.asyncio_loop)
        future.add_done_callback(
            lambda future: self._events.put(lambda: self._take(task, member, future))
        )

    def _submit(self, address: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Dask's future of a call on this worker and no other."""
        return self._client.submit(
            function, *args, workers=[address], allow_other_workers=False, pure=False, **kwargs
        )

    def _take(self, task: _SentTask, member: _Member, future: Future[Any]) -> None:
        """A task has ended, some way."""
        if task not in member.tasks:
            return  # it was lost with its worker
        if future.cancelled() or self._client.status != "running":
            # The scheduler is lost, for the moment or for good, which is not the task's fault.
            member.tasks.remove(task)
            self._waiting.appendleft(task)
            return
        error = future.exception()
        lost = isinstance(error, BrokenExecutor | _killed_worker()) or not member.alive
        if error is not None and lost:
            self._dismiss(member)
            return
        member.tasks.remove(task)
        value, records = (None, []) if error is not None else future.result()
        for record in records:
            record.processName = f"{member.name} {record.processName}"
            logging.getLogger(record.name).handle(record)
        self._answers.append(Answer(task.number, value, error))


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
) -> Iterator[Cluster]:
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
        cluster = stack.enter_context(Cluster(client, conditions.elsewhere, say))
        say(f"the workers of {address or 'this machine'} get ready")
        cluster.wait_until_ready()
        yield cluster
