"""Workers on other machines: an executor over a Dask cluster, as the driver sees it. The workers'
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
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.experiments.playing.cluster_worker import Assignment, Lease, work
from othello_lab.experiments.playing.conditions import GameConditions, RemoteConditions
from othello_lab.experiments.playing.match import WorkerSlots
from othello_lab.experiments.playing.pool import SubmittedTask, WorkerDied

log = logging.getLogger("lab.cluster")

CONNECT_SECONDS = 10.0
"""A scheduler that has not answered for so long is not there."""
_TASK_SECONDS = 1.0  # Dask's part of a task costs the driver and the scheduler milliseconds
_LOOK_SECONDS = 1.0  # from one look at who has joined or left to the next


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
    tasks: set[SubmittedTask] = field(default_factory=set)

    @property
    def where(self) -> str:
        """Its name in messages."""
        plain = self.name in ("", self.address)
        return f"worker {self.address}" if plain else f"worker {self.name} at {self.address}"

    @property
    def alive(self) -> bool:
        """True if the worker has its lease, as far as Dask knows."""
        return bool(self.lease.status == "finished")

    def release(self) -> None:
        """Let go of the lease, and so of the worker's processes."""
        with contextlib.suppress(Exception):  # there may be nobody left to tell
            self.lease.release()


class Cluster(Executor):
    """The workers of a Dask cluster, present and joining ones, as an executor.

    Tasks run in fresh processes on the workers. A task gets WorkerDied if its worker is lost or its
    process died; without the scheduler all tasks get BrokenExecutor. A worker that cannot play as
    the driver does never gets one.

    all_ready: done once there are workers, and all that are there are ready to play; ConfigError if
    one of them cannot.
    """

    def __init__(
        self,
        client: Any,
        elsewhere: RemoteConditions,
        stopping: Callable[[], bool],
        say: Callable[[str], None],
    ) -> None:
        """client: a Dask client. stopping: returns True when nothing more is to be handed out. say:
        prints lines for the user during the wait."""
        # Its number follows the size of the cluster.
        self.workers = WorkerSlots(self, 1, task_seconds=_TASK_SECONDS)
        self._client = client
        self._assignment = Assignment.of(elsewhere)
        self._say = say
        self._stopping = stopping
        self._members: dict[str, _Member] = {}
        self._refused: set[str] = set()
        self.all_ready: Future[None] = Future()
        self._waiting: deque[SubmittedTask] = deque()
        self._open: set[SubmittedTask] = set()  # waiting, or given to a worker
        self._lock = threading.Lock()
        self._events: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._broken = ""
        self._alone = False
        self._thread = threading.Thread(target=self._manage, name="cluster", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand out a task: a function that can be pickled, called with ``args`` in a worker."""
        assert not kwargs, "tasks take positional arguments"
        task = SubmittedTask(function, args)
        with self._lock:
            if self._broken:
                raise BrokenExecutor(self._broken)
            self._open.add(task)
        self._events.put(lambda: self._waiting.append(task))
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the workers go at once."""
        self._events.put(None)
        if wait:
            self._thread.join(CONNECT_SECONDS)

    # ------------------------------------------------------------------ the managing thread

    def _manage(self) -> None:
        """Handle events, look at the cluster from time to time, keep the workers busy."""
        looked = 0.0
        try:
            while not self._broken:
                if time.monotonic() - looked >= _LOOK_SECONDS:
                    self._look_for_workers()
                    looked = time.monotonic()
                self._hand_out()
                with contextlib.suppress(queue.Empty):
                    event = self._events.get(timeout=_LOOK_SECONDS)
                    if event is None:
                        return
                    event()
        except Exception as error:
            log.exception("the cluster cannot be used any more")
            self._broken = f"the cluster cannot be used any more: {one_line(error)}"
        finally:
            for member in self._members.values():
                member.release()
            self._break()

    def _look_for_workers(self) -> None:
        """Invite workers that have joined, forget lost ones."""
        if self._client.status == "closed":
            self._broken = "the scheduler does not answer any more"
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
        self._count_workers()

    def _count_workers(self) -> None:
        ready = [member for member in self._members.values() if member.ready]
        self.workers.number = max(1, sum(member.seats for member in ready))
        if ready and len(ready) == len(self._members) and not self.all_ready.done():
            self.all_ready.set_result(None)
        alone = not self._members
        if alone and not self._alone:
            self._say("no workers are there; waiting for some to join (Ctrl-C ends)")
        self._alone = alone

    def _invite(self, address: str, name: str, seats: int) -> None:
        key = uuid.uuid4().hex
        lease = self._send(address, Lease, key, self._assignment, actor=True)
        member = self._members[address] = _Member(address, name, seats, key, lease)
        lease.add_done_callback(lambda _: self._events.put(lambda: self._welcome(member)))

    def _welcome(self, member: _Member) -> None:
        """The worker has answered the invitation."""
        if self._members.get(member.address) is not member:
            return
        if member.alive:
            member.ready = True
        elif member.lease.status == "error":
            error = member.lease.exception()
            if not isinstance(error, _killed_worker()):
                self._refuse(member, error)
            self._dismiss(member)
        else:
            self._dismiss(member)
        self._count_workers()

    def _refuse(self, member: _Member, error: BaseException) -> None:
        message = f"{member.where} cannot play: {_explained(error)}"
        self._refused.add(member.address)
        if self.all_ready.done():
            log.error(message)
            self._say(message)
        else:
            self.all_ready.set_exception(ConfigError(message))

    def _dismiss(self, member: _Member) -> None:
        if self._members.get(member.address) is member:
            del self._members[member.address]
            if member.ready:
                log.warning("%s is gone", member.where)
        for task in member.tasks:
            self._open.discard(task)
            task.future.set_exception(WorkerDied(f"{member.where} was lost"))
        member.tasks.clear()
        member.release()

    def _hand_out(self) -> None:
        if self._stopping():
            self._take_back()
        while self._waiting:
            free = [m for m in self._members.values() if m.ready and len(m.tasks) < m.seats]
            free = [member for member in free if member.alive]
            if not free:
                return
            task = self._waiting.popleft()
            if not (task.future.running() or task.future.set_running_or_notify_cancel()):
                self._open.discard(task)
                continue
            self._give(task, min(free, key=lambda member: len(member.tasks) / member.seats))

    def _take_back(self) -> None:
        """Cancel tasks that no worker has got yet."""
        while self._waiting:
            task = self._waiting.popleft()
            self._open.discard(task)
            task.future.cancel()
            task.future.set_running_or_notify_cancel()

    def _give(self, task: SubmittedTask, member: _Member) -> None:
        if not member.seen:  # not before: there was no log yet
            log.info("%s plays, %d games at a time", member.where, member.seats)
            member.seen = True
        member.tasks.add(task)
        given = self._send(
            member.address, work, member.lease, member.key, task.function, task.arguments
        )
        # Not Client.get_executor(): a future of its never ends if the worker is lost after the
        # task, but before it has passed the result on.
        gathering = self._client.gather(given, asynchronous=True)
        future = asyncio.run_coroutine_threadsafe(gathering, self._client.loop.asyncio_loop)
        future.add_done_callback(
            lambda future: self._events.put(lambda: self._take(task, member, future))
        )

    def _send(self, address: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Dask's future of a call on this worker and no other."""
        return self._client.submit(
            function, *args, workers=[address], allow_other_workers=False, pure=False, **kwargs
        )

    def _take(self, task: SubmittedTask, member: _Member, future: Future[Any]) -> None:
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
        self._open.discard(task)
        if error is None:
            result, records = future.result()
            for record in records:
                record.processName = f"{member.name} {record.processName}"
                logging.getLogger(record.name).handle(record)
            task.future.set_result(result)
        else:
            task.future.set_exception(error)

    def _break(self) -> None:
        """Nothing is played any more."""
        with self._lock:
            self._broken = self._broken or "the cluster is shut down"
        for task in self._open:
            if task.future.running() or task.future.set_running_or_notify_cancel():
                task.future.set_exception(BrokenExecutor(self._broken))
        if not self.all_ready.done():
            self.all_ready.set_exception(ConfigError(self._broken))


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
) -> Iterator[WorkerSlots]:
    """Yield the workers of the cluster at an address, ready to play; without an address those of a
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
        cluster = Cluster(client, conditions.elsewhere, lambda: conditions.stopping, say)
        stack.callback(cluster.shutdown)
        say(f"the workers of {address or 'this machine'} get ready")
        cluster.all_ready.result()
        yield cluster.workers
