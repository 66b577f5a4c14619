"""Playing pairs: over an executor of tasks, or in this process."""

from __future__ import annotations

import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import NamedTuple

from agents.config import one_line
from experiments.pairing.schedule import Draw, Pair
from experiments.playing.batch import Watch, play_all
from experiments.playing.conditions import Conditions
from experiments.playing.guardian import play_pairs
from experiments.playing.pool import WorkerDied
from experiments.record.store import PlayedGame

_TASK_SECONDS = 0.2  # long enough that handing out work costs little, short enough to be even
_LARGEST_TASK = 1024
MOST_DEATHS = 3
"""A pair that so many workers died of, while it was all they had to play, is skipped."""


class PairResult(NamedTuple):
    """What became of a pair.

    number: of the pair, in the schedule. games: its two games; none if it was skipped because
    workers died of it.
    """

    number: int
    games: list[PlayedGame]


def by_pair(games: Iterable[PlayedGame]) -> list[PairResult]:
    """Games as the results of their pairs, whose games follow each other."""
    pairs = groupby(games, key=lambda played: played.game.pair)
    return [PairResult(number, list(played)) for number, played in pairs]


Play = Callable[[Draw], Iterator[list[PairResult]]]
"""Plays what is drawn; yields what became of it in batches, in no fixed order."""


class TaskFailed(Exception):
    """A worker could not do what it was asked to, for a reason that is not an agent's."""


def never() -> bool:
    """Nobody has asked to stop."""
    return False


def play_serially(
    conditions: Conditions, draw: Draw, stop: Callable[[], bool] = never
) -> Iterator[list[PairResult]]:
    """Play pair after pair in this process until ``stop``, each move by the judge: Ctrl-C cannot
    break into a game in compiled code."""
    conditions = replace(conditions, compiled_games=False)
    watch = Watch(Watch.Memory())
    while not stop() and (pairs := draw.take(1)):
        for played in play_all(conditions, pairs[0], watch):
            yield by_pair(played)


@dataclass
class Workers:
    """Who plays: an executor, how many tasks it works on at a time (which may change), what a task
    does with a list of pairs, and the exceptions by which it says that a worker died."""

    executor: Executor
    number: int
    task: Callable[[list[Pair]], list[bytes]] = play_pairs
    died: tuple[type[Exception], ...] = (WorkerDied,)


def play_over(
    workers: Workers, draw: Draw, stop: Callable[[], bool] = never
) -> Iterator[list[PairResult]]:
    """Play pairs over an executor; yields what became of them in batches, in no fixed order.

    Only a few tasks are under way at a time, each of as many pairs as take about a fifth of a
    second, so memory does not grow with the length of the run. The pairs of a task whose worker
    died are played again, one by one; which of several it died of nobody knows, so that counts
    for none of them. A pair is skipped when three workers have died that had nothing else to play.

    stop: asked now and then; once it says True nothing new is handed out. (What the workers have
    already got they drop or finish as the stop signal says.)
    """
    tasks = _Tasks(workers, draw, stop)
    tasks.hand_out()
    while tasks.running:
        finished, _ = wait(tasks.running, return_when=FIRST_COMPLETED)
        results = tasks.collect(finished)
        tasks.hand_out()
        if results:
            yield results
            tasks.hand_out()  # what became of them may have led to further pairs


class _Tasks:
    """The tasks under way."""

    def __init__(self, workers: Workers, draw: Draw, stop: Callable[[], bool]) -> None:
        self.running: dict[Future[list[bytes]], list[Pair]] = {}
        self._workers, self._draw, self._stop = workers, draw, stop
        self._again: deque[Pair] = deque()
        self._deaths: Counter[int] = Counter()
        self._size = 1  # pairs in a task
        self._since, self._done = time.perf_counter(), 0

    def hand_out(self) -> None:
        """Give the workers something to do, and something to do next."""
        while len(self.running) < 2 * self._workers.number and not self._stop():
            pairs = [self._again.popleft()] if self._again else self._draw.take(self._size)
            if not pairs:
                return
            task = self._workers.executor.submit(self._workers.task, pairs)
            self.running[task] = pairs

    def collect(self, finished: Iterable[Future[list[bytes]]]) -> list[PairResult]:
        """What became of the pairs of finished tasks."""
        if self._stop():
            for task in [task for task in self.running if task.cancel()]:
                del self.running[task]
        results = []
        for task in finished:
            pairs = self.running.pop(task, [])
            if not task.cancelled():
                results += self._results(task, pairs)
        if self._done:
            seconds = (time.perf_counter() - self._since) * self._workers.number / self._done
            self._size = max(1, min(_LARGEST_TASK, round(_TASK_SECONDS / seconds)))
        return results

    def _results(self, task: Future[list[bytes]], pairs: list[Pair]) -> list[PairResult]:
        error = task.exception()
        if isinstance(error, self._workers.died):
            return self._died_of(pairs)
        if error is not None:
            raise error if isinstance(error, BrokenExecutor) else TaskFailed(one_line(error))
        self._done += len(pairs)
        return by_pair(chain.from_iterable(map(pickle.loads, task.result())))

    def _died_of(self, pairs: list[Pair]) -> list[PairResult]:
        """A worker died that had these pairs: they are played again, or skipped."""
        if len(pairs) == 1:
            number = pairs[0][0].pair
            self._deaths[number] += 1
            if self._deaths[number] == MOST_DEATHS:
                return [PairResult(number, [])]
        self._again += pairs
        return []
