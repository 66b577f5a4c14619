"""A Dask worker's part in a run: the processes in which it plays.

A Dask worker never runs an agent itself, as agents may hang or crash. For each run it has a fresh
fork server (:mod:`experiments.playing.fork_server`), and a process for each of its threads. Agents
are built there from their settings; versions are compared with the driver's before. The fork server
belongs to a :class:`Lease`, a Dask actor that lives as long as the driver holds on to it: it ends
with the run, with the driver however that ends, and with the Dask worker."""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import os
import queue
import sys
import weakref
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.playing import fork_server
from othello_lab.experiments.playing.batch import GameMonitor
from othello_lab.experiments.playing.conditions import RemoteConditions
from othello_lab.experiments.playing.tasks import WorkerContext, WorkerDied, start_worker
from othello_lab.experiments.record.provenance import COMMIT, differences, versions


@dataclass(frozen=True)
class Assignment:
    """All that a worker needs to know to play in a run.

    elsewhere: its way of making the conditions. versions: the driver's
    (:mod:`experiments.record.provenance`). folder, path: the driver's current folder and its
    ``sys.path``; files of the user's may be there, if the worker sees the same folders.
    """

    elsewhere: RemoteConditions
    versions: Mapping[str, str]
    folder: str
    path: list[str]

    @classmethod
    def of(cls, elsewhere: RemoteConditions) -> Assignment:
        """The assignment of this process's run."""
        return cls(
            elsewhere,
            versions(elsewhere.config["agents"]),
            os.getcwd(),
            [os.path.abspath(folder) for folder in sys.path],
        )


_leases: dict[str, tuple[fork_server.ForkServer, queue.SimpleQueue[Connection]]] = {}
"""In a Dask worker: the fork server of each lease, and its processes that have no task."""


class Lease:
    """As long as this object lives, there are processes for a run."""

    def __init__(self, key: str, assignment: Assignment) -> None:
        """key: the lease's name in tasks; no two leases have the same.

        Raises ConfigError if the worker cannot play the driver's plan.
        """
        from distributed import get_worker  # takes half a second; not for those without Dask

        worker = get_worker()
        try:
            server = fork_server.start_fork_server(partial(_prepare, assignment, str(worker.name)))
            _leases[key] = server, queue.SimpleQueue()
            weakref.finalize(self, _end, key)
            for _ in range(worker.state.nthreads):
                _add_process(key)
        except (BrokenExecutor, EOFError) as error:
            raise ConfigError("no process begins there; its own log may say why") from error


def _add_process(key: str) -> None:
    """Start a process, and wait until it has begun; BrokenExecutor."""
    server, free = _leases[key]
    server.add_worker()
    line = server.joined.pop()
    kind = fork_server.LOG
    while kind != fork_server.BEGUN:
        try:
            kind, content = fork_server.read_message(line.recv_bytes())
        except (EOFError, OSError):
            raise BrokenExecutor("a process could not begin") from None
        if kind == fork_server.LOG:
            logging.getLogger(content.name).handle(content)
    free.put(line)


def _end(key: str) -> None:
    server, _ = _leases.pop(key)
    server.end()


def work(lease: object, key: str, task: bytes) -> list[bytes]:
    """Pass a task to a process of a lease; return its messages, of which the last is the answer.
    Raises WorkerDied.

    lease: not used here; the task fails together with it.
    """
    _, free = _leases[key]
    line, messages = free.get(), list[bytes]()
    try:
        line.send_bytes(task)
        while not messages or messages[-1][:1] == fork_server.LOG:
            messages.append(line.recv_bytes())
    except (EOFError, OSError):
        _add_process(key)
        raise WorkerDied("the worker process died") from None
    free.put(line)
    return messages


# ---------------------------------------------------------------------- in its fresh processes


def _prepare(assignment: Assignment, name: str) -> tuple[fork_server.Start, float]:
    """Return the way to begin a worker, and the patience with its players; ConfigError."""
    if Path(assignment.folder).is_dir():
        os.chdir(assignment.folder)
    sys.path += [folder for folder in assignment.path if folder not in sys.path]
    importlib.invalidate_caches()
    config = assignment.elsewhere.config
    here = versions(config["agents"])
    missing = [name for name in assignment.versions if name not in here and name != COMMIT]
    if missing:
        raise ConfigError(
            f"{', '.join(missing)} is missing there; put it into a folder that is the same on all "
            "machines, and start the run from there"
        )
    changed = differences(assignment.versions, here)
    if changed:
        raise ConfigError(f"other versions than the driver has: {'; '.join(changed)}")
    conditions = assignment.elsewhere.make(config)
    conditions.prepare()

    def start(monitor: GameMonitor) -> WorkerContext:
        process = multiprocessing.current_process()
        process.name = f"{name} {process.name}"
        return start_worker(conditions, monitor)

    return start, conditions.hang_seconds
