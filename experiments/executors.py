"""Where games are played: in this process, or by workers of an executor."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from experiments.config import Plan
from experiments.match import Workers
from experiments.player import Table, start_worker
from experiments.pool import WorkerPool


@contextmanager
def workers_for(plan: Plan, table: Table) -> Iterator[Workers | None]:
    """The workers of a run, None for this process itself. For a pool of processes, enter this
    while the process has no other thread: they are forked from it, agents, kernels and all."""
    if plan.settings.executor.kind == "serial":
        yield None
        return
    level = logging.getLevelName(plan.settings.log_level.upper())
    with WorkerPool(plan.workers, start_worker, (table, level)) as pool:
        yield Workers(pool, plan.workers)
