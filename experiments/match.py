"""Playing a schedule of pairs: over a pool of processes, or in this one."""

from __future__ import annotations

import multiprocessing
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from itertools import islice

from experiments.player import Table, play, play_pairs, start_worker
from experiments.schedule import Pair
from experiments.store import GameRow

_TASK_SECONDS = 0.2  # long enough that handing out work costs little, short enough to be even
_LARGEST_TASK = 64


def never() -> bool:
    """Nobody has asked to stop."""
    return False


def play_serially(
    table: Table, pairs: Iterator[Pair], stop: Callable[[], bool] = never
) -> Iterator[list[GameRow]]:
    """Play pair after pair in this process until ``stop``; yields the two games of each."""
    for pair in pairs:
        if stop():
            return
        yield [play(table, game) for game in pair]


def pool(table: Table, workers: int) -> Executor:
    """A pool of worker processes that know the table.

    The workers are forked from this process, so its agents and compiled kernels are there; create
    the pool before anything else starts a thread.
    """
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("fork"),
        initializer=start_worker,
        initargs=(table,),
    )


def play_in_pool(
    executor: Executor,
    workers: int,
    pairs: Iterator[Pair],
    started: Callable[[], None],
    stop: Callable[[], bool] = never,
) -> Iterator[list[GameRow]]:
    """Play pairs over an executor whose workers know the table; yields finished games in batches
    that hold whole pairs, in no fixed order.

    Only a few tasks are under way at a time, each of as many pairs as take about a fifth of a
    second, so memory does not grow with the length of the run.

    started: called once the first tasks are handed out, that is when all processes exist and
        threads may be started.
    stop: asked now and then; once it says True nothing new is handed out. (What the workers have
        already got they drop or finish as the table's stop signal says.)
    """
    size = 1
    running: dict[Future[list[bytes]], int] = {}  # each task and its number of pairs

    def submit() -> None:
        while len(running) < 2 * workers and not stop():
            chunk = list(islice(pairs, size))
            if not chunk:
                return
            running[executor.submit(play_pairs, chunk)] = len(chunk)

    submit()
    started()
    since, done = time.perf_counter(), 0
    while running:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        if stop():
            for task in [task for task in running if task.cancel()]:
                running.pop(task)
        done += sum(running.pop(task) for task in finished)
        seconds_per_pair = (time.perf_counter() - since) * workers / done
        size = max(1, min(_LARGEST_TASK, round(_TASK_SECONDS / seconds_per_pair)))
        submit()
        for task in finished:
            yield [pickle.loads(row) for row in task.result()]
