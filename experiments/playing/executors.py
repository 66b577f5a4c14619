"""Where games are played: in this process, by processes of this machine, or by a cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agents.config import ConfigError, one_line
from core.compile import Announce
from core.position import prepare_rules
from experiments.config import Plan, limits_of
from experiments.playing.match import Workers
from experiments.playing.player import Table, close_all, start_worker
from experiments.playing.pool import WorkerPool

if TYPE_CHECKING:
    from experiments.playing.cluster import Cluster


def prepare(plan: Plan, announce: Announce | None = None) -> None:
    """Load or compile all kernels of a run, before processes fork; ConfigError."""
    prepare_rules(announce)
    for name, agent in plan.agents.items():
        try:
            agent.prepare(announce)
        except ValueError as error:
            raise ConfigError(f"agent '{name}': {one_line(error)}") from error


def table_of(plan: Plan, stop: Any) -> Table:
    """What all games of a run have in common. stop: see :class:`Table`."""
    return Table(
        list(plan.agents),
        list(plan.agents.values()),
        plan.rules,
        limits_of(plan.settings),
        plan.settings.limits.grace,
        plan.settings.limits.hang,
        stop,
    )


@contextmanager
def reached(plan: Plan, say: Callable[[str], None]) -> Iterator[Cluster | None]:
    """The cluster that plays a run, its workers ready; None where no cluster does.

    Raises ConfigError where it cannot be reached, or one of its workers cannot play this run; so
    enter this before anything is written.
    """
    if plan.settings.executor.kind != "dask":
        yield None
        return
    from experiments.playing.cluster import reach

    with reach(plan, say) as cluster:
        yield cluster


@contextmanager
def workers_for(plan: Plan, table: Table, cluster: Cluster | None) -> Iterator[Workers | None]:
    """The workers of a run, None for this process itself. For a pool of processes, enter this
    while the process has no other thread: they are forked from it, agents, kernels and all."""
    if cluster is not None:
        cluster.obey(table.stop)
        with cluster:
            yield cluster.workers
        return
    if plan.settings.executor.kind == "serial":
        try:
            yield None
        finally:
            close_all(plan.agents)
        return
    level = logging.getLevelName(plan.settings.log_level.upper())
    with WorkerPool(plan.workers, start_worker, (table, level)) as pool:
        yield Workers(pool, plan.workers)
