"""A Dask worker's part in a run: the processes in which it plays.

A Dask worker never runs an agent itself, as agents may hang or crash. For each run it keeps a pool
of fresh processes (:class:`~experiments.playing.pool.WorkerPool`), one for each of its threads.
Agents are built there from their settings; versions are compared with the driver's before. The pool
belongs to a :class:`Lease`, a Dask actor that lives as long as the driver holds on to it: it
ends with the run, with the driver however that ends, and with the Dask worker.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from othello_lab.agents.config import ConfigError
from othello_lab.experiments.playing.conditions import GameConditions, RemoteConditions
from othello_lab.experiments.playing.pool import WorkerDied, WorkerPool
from othello_lab.experiments.playing.supervisor import start_worker
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


_pools: dict[str, tuple[WorkerPool, deque[logging.LogRecord]]] = {}
"""In a Dask worker: the pool of each lease, and what its processes have logged."""


class Lease:
    """As long as this object lives, there is a pool of processes for a run."""

    def __init__(self, key: str, assignment: Assignment) -> None:
        """key: the pool's name in tasks; no two leases have the same.

        Raises ConfigError if the worker cannot play the driver's plan.
        """
        from distributed import get_worker  # takes half a second; not for those without Dask

        records: deque[logging.LogRecord] = deque()
        pool = WorkerPool(
            get_worker().state.nthreads,
            _begin,
            (assignment,),
            fresh=True,
            prepare=_prepare,
            handle=records.append,
        )
        try:
            pool.submit(_ready).result()
        except (BrokenExecutor, WorkerDied) as error:
            pool.kill()
            raise ConfigError(f"{error}; its own log may say why") from error
        except BaseException:
            pool.kill()
            raise
        _pools[key] = pool, records
        weakref.finalize(self, _end, key)


def _end(key: str) -> None:
    pool, _ = _pools.pop(key)
    pool.kill()


def work(
    lease: object, key: str, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Any, list[logging.LogRecord]]:
    """Run a task in the pool of a lease; return its result and the log records since the last one.

    lease: not used here; the task fails together with it.
    """
    pool, records = _pools[key]
    result = pool.submit(function, *arguments).result()
    return result, [records.popleft() for _ in range(len(records))]


# ---------------------------------------------------------------------- in its fresh processes


def _prepare(assignment: Assignment) -> tuple[GameConditions | Exception]:
    """Return the conditions, if all versions are the driver's; otherwise the reason against it."""
    try:
        if Path(assignment.folder).is_dir():
            os.chdir(assignment.folder)
        sys.path += [place for place in assignment.path if place not in sys.path]
        importlib.invalidate_caches()
        return (_made(assignment),)
    except Exception as error:
        return (error,)


def _made(assignment: Assignment) -> GameConditions:
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
    return conditions


_failure: Exception | None = None


def _begin(conditions: GameConditions | Exception) -> Callable[[], None] | None:
    global _failure
    if isinstance(conditions, Exception):
        _failure = conditions
        return None
    return start_worker(conditions)


def _ready() -> None:
    if _failure is not None:
        raise _failure
