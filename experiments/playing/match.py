"""Playing a schedule of pairs: over an executor, or in this process."""

from __future__ import annotations

import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice

from agents.config import one_line
from experiments.pairing.schedule import Pair
from experiments.playing.player import PlayedPair, Table, play, play_pairs
from experiments.playing.pool import WorkerDied
from experiments.record.store import GameRow

_TASK_SECONDS = 0.2  # long enough that handing out work costs little, short enough to be even
_LARGEST_TASK = 64
MOST_DEATHS = 3
"""A pair during which so many workers died is skipped."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """What became of a pair.

    number: of the pair, in the schedule. rows: its two games; empty if it was skipped because
    workers died of it.
    """

    number: int
    rows: list[GameRow]


class TaskFailed(Exception):
    """A worker could not do what it was asked to, for a reason that is not an agent's."""


def never() -> bool:
    """Nobody has asked to stop."""
    return False


def play_serially(
    table: Table, pairs: Iterator[Pair], stop: Callable[[], bool] = never
) -> Iterator[list[PairResult]]:
    """Play pair after pair in this process until ``stop``."""
    for pair in pairs:
        if stop():
            return
        yield [PairResult(pair[0].pair, [play(table, game) for game in pair])]


@dataclass
class Workers:
    """Who plays: an executor, how many tasks it works on at a time (which may change), what a task
    does with a list of pairs, and the exceptions by which it says that a worker died."""

    executor: Executor
    number: int
    task: Callable[[list[Pair]], list[PlayedPair]] = play_pairs
    died: tuple[type[Exception], ...] = (WorkerDied,)


def play_over(
    workers: Workers, pairs: Iterator[Pair], stop: Callable[[], bool] = never
) -> Iterator[list[PairResult]]:
    """Play pairs over an executor; yields what became of them in batches, in no fixed order.

    Only a few tasks are under way at a time, each of as many pairs as take about a fifth of a
    second, so memory does not grow with the length of the run. The pairs of a task whose worker
    died are played again, one by one; a pair that was under way when three workers died is
    skipped.

    stop: asked now and then; once it says True nothing new is handed out. (What the workers have
        already got they drop or finish as the table's stop signal says.)
    """
    size = 1
    running: dict[Future[list[PlayedPair]], list[Pair]] = {}
    again: deque[Pair] = deque()
    deaths: Counter[int] = Counter()

    def submit() -> None:
        while len(running) < 2 * workers.number and not stop():
            chunk = [again.popleft()] if again else list(islice(pairs, size))
            if not chunk:
                return
            running[workers.executor.submit(workers.task, chunk)] = chunk

    submit()
    since, done = time.perf_counter(), 0
    while running:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        if stop():
            for future in [future for future in running if future.cancel()]:
                running.pop(future)
        results = []
        for future in finished:
            chunk = running.pop(future, [])
            if future.cancelled():
                continue
            error = future.exception()
            if isinstance(error, workers.died):
                deaths.update(pair[0].pair for pair in chunk)
                for pair in chunk:
                    if deaths[pair[0].pair] < MOST_DEATHS:
                        again.append(pair)
                    else:
                        results.append(PairResult(pair[0].pair, []))
                continue
            if error is not None:
                raise error if isinstance(error, BrokenExecutor) else TaskFailed(one_line(error))
            done += len(chunk)
            for number, rows in future.result():
                results.append(PairResult(number, [pickle.loads(row) for row in rows]))
        if done:
            seconds_per_pair = (time.perf_counter() - since) * workers.number / done
            size = max(1, min(_LARGEST_TASK, round(_TASK_SECONDS / seconds_per_pair)))
        submit()
        if results:
            yield results
