"""A Dask worker's part in a run: the processes in which it plays.

A Dask worker never runs an agent itself, as agents may hang or crash. For each run it has a fresh
nursery (:mod:`experiments.playing.nursery`), and a process for each of its threads. Agents are
built there from their settings; versions are compared with the driver's before. The nursery belongs
to a :class:`Lease`, a Dask actor that lives as long as the driver holds on to it: it
ends with the run, with the driver however that ends, and with the Dask worker.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import queue
import sys
import weakref
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from othello_lab.agents.config import ConfigError
from othello_lab.experiments.playing.conditions import RemoteConditions
from othello_lab.experiments.playing.nursery import Nursery, Start, start_nursery
from othello_lab.experiments.playing.tasks import TaskFunction, WorkerDied, start_worker
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
            [os.path.abspath(place) for place in sys.path],
        )


class _Process:
    """A process that works on one task after another. records: of what it has logged."""

    def __init__(self, nursery: Nursery) -> None:
        try:
            self._line = nursery.ask_worker(next(_names))
        except OSError as error:
            raise BrokenExecutor("no process can be started any more") from error
        self._has_begun = False
        self.records: list[logging.LogRecord] = []

    def answer(self, function: TaskFunction, argument: Any) -> Any:
        """Do a task. Raises the exception of the function, WorkerDied, and BrokenExecutor if the
        process could not begin."""
        with contextlib.suppress(OSError):  # its death is noticed below
            self._line.send((function, argument))
        while True:
            try:
                kind, content = self._line.recv()
            except Exception:  # it ended, or broke off
                died = WorkerDied if self._has_begun else BrokenExecutor
                raise died("the worker process died") from None
            if kind == "log":
                self.records.append(content)
            elif kind == "error":
                raise content
            elif kind == "result":
                return content
            self._has_begun = True


_names = count(1)
_leases: dict[str, tuple[Nursery, queue.SimpleQueue[_Process]]] = {}
"""In a Dask worker: the nursery of each lease, and those of its processes that have no task."""


class Lease:
    """As long as this object lives, there are processes for a run."""

    def __init__(self, key: str, assignment: Assignment) -> None:
        """key: the lease's name in tasks; no two leases have the same.

        Raises ConfigError if the worker cannot play the driver's plan.
        """
        from distributed import get_worker  # takes half a second; not for those without Dask

        try:
            nursery = start_nursery(partial(_prepare, assignment))
        except EOFError:
            raise ConfigError("its processes cannot begin; its own log may say why") from None
        free: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        _leases[key] = nursery, free
        weakref.finalize(self, _end, key)
        for _ in range(get_worker().state.nthreads):
            free.put(_Process(nursery))


def _end(key: str) -> None:
    nursery, _ = _leases.pop(key)
    nursery.end()


def work(
    lease: object, key: str, function: TaskFunction, argument: Any
) -> tuple[Any, list[logging.LogRecord]]:
    """Do a task in a process of a lease; return its result and the log records since the last one.

    lease: not used here; the task fails together with it.
    """
    nursery, free = _leases[key]
    process = free.get()
    try:
        result = process.answer(function, argument)
    except WorkerDied:
        process = _Process(nursery)
        raise
    finally:
        free.put(process)
    records, process.records = process.records, []
    return result, records


# ---------------------------------------------------------------------- in its fresh processes


def _prepare(assignment: Assignment) -> tuple[Start, float]:
    """Return the way to begin a worker, and the patience with its players; ConfigError if any
    version is not the driver's."""
    if Path(assignment.folder).is_dir():
        os.chdir(assignment.folder)
    sys.path += [place for place in assignment.path if place not in sys.path]
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
    return partial(start_worker, conditions), conditions.hang_seconds
