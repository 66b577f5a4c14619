"""Playing pairs, and working on pieces of a study: over an executor of tasks, or here."""

from __future__ import annotations

import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from othello_lab.agents.config import one_line
from othello_lab.experiments.pairing.schedule import Pair, PairDraw, PickledPairs
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.pool import WorkerDied
from othello_lab.experiments.playing.supervisor import play_pairs, work_on
from othello_lab.experiments.playing.tasks import Job, LocalContext, Task, TaskResult, worked_on
from othello_lab.experiments.record.game_block import GameBlock
from othello_lab.experiments.record.store import PlayedGame

_LARGEST_TASK = 2048  # pairs, of which each task is a transaction of the record
MOST_DEATHS = 3
"""A pair that so many workers died of, while it was all they had to play, is skipped."""


class PairResult(NamedTuple):
    """The result of a pair.

    number: of the pair, in the schedule. games: its two games; none if it was skipped because
    workers died of it.
    """

    number: int
    games: list[PlayedGame]


def by_pair(games: Iterable[PlayedGame]) -> list[PairResult]:
    """Return games as the results of their pairs. The games of a pair follow each other."""
    pairs = groupby(games, key=lambda played: played.game.pair)
    return [PairResult(number, list(played)) for number, played in pairs]


PairResults = PairResult | GameBlock
"""The result of a pair, or the games of several pairs that were played together."""


def results_of(games: Sequence[PlayedGame]) -> list[PairResults]:
    """Return whole pairs of games as results: a block as it is, others pair by pair."""
    return [games] if isinstance(games, GameBlock) else [*by_pair(games)]


def pairs_of(results: Iterable[PairResults]) -> Iterator[PairResult]:
    """Yield the results of single pairs."""
    for result in results:
        yield from by_pair(result) if isinstance(result, GameBlock) else [result]


Play = Callable[[PairDraw], Iterator[list[PairResults]]]
"""Plays what is drawn; yields results in batches, in no fixed order."""


class TaskRunner(Protocol):
    """Plays the games of a run, or works on the tasks of a study, until asked to stop."""

    def __call__(self, draw: PairDraw) -> Iterator[list[PairResults]]:
        """Play the drawn pairs; see :data:`Play`."""
        ...

    def work(self, job: Job, pieces: Sequence[Task]) -> Iterator[list[TaskResult]]:
        """Work on tasks; yield their results in batches, in no fixed order."""
        ...


class TaskFailed(Exception):
    """A worker could not do its task, for a reason that is not an agent's."""


@dataclass(frozen=True)
class LocalRunner:
    """A crew that is this process: pair after pair, each move by the judge, as Ctrl-C cannot break
    into a game in compiled code."""

    conditions: GameConditions

    def __call__(self, draw: PairDraw) -> Iterator[list[PairResults]]:
        conditions = replace(self.conditions, compiled_games=False)
        watch = GameMonitor(GameMonitor.Memory())
        while not conditions.stopping and (pairs := draw.take(1)):
            for played in play_all(conditions, pairs[0], watch):
                yield results_of(played)

    def work(self, job: Job, pieces: Sequence[Task]) -> Iterator[list[TaskResult]]:
        desk = LocalContext(self.conditions)
        return (done for piece in pieces if (done := worked_on(job, desk, [piece])))


@dataclass
class WorkerSlots:
    """An executor with the number of tasks it works on at a time (which may change), the task for
    some pairs, and the exceptions that mean the death of a worker.

    task_seconds: the length of a task: long enough that handing it out costs little, short enough
    that all workers end at about the same time.
    """

    executor: Executor
    number: int
    task: Callable[[PickledPairs], list[bytes]] = play_pairs
    died: tuple[type[Exception], ...] = (WorkerDied,)
    task_seconds: float = 0.2


@dataclass(frozen=True)
class WorkerRunner:
    """A crew of workers. stop: asked now and then, as :func:`play_over` does."""

    workers: WorkerSlots
    stop: Callable[[], bool]

    def __call__(self, draw: PairDraw) -> Iterator[list[PairResults]]:
        return play_over(self.workers, draw, self.stop)

    def work(self, job: Job, pieces: Sequence[Task]) -> Iterator[list[TaskResult]]:
        waiting = deque(pieces)
        order = _TaskSource(
            lambda most: [waiting.popleft() for _ in range(min(most, len(waiting)))],
            lambda piece: piece.number,
            list,
            partial(work_on, job),
            lambda results: results,
            lambda number: TaskResult(number, {}, f"the worker died {MOST_DEATHS} times"),
        )
        return _done(self.workers, order, self.stop)


def play_over(
    workers: WorkerSlots, draw: PairDraw, stop: Callable[[], bool] = lambda: False
) -> Iterator[list[PairResults]]:
    """Play pairs over an executor; yield their results in batches, in no fixed order.

    Only a few tasks are under way at a time, each of as many pairs as take about ``task_seconds``,
    so memory does not grow with the length of the run. The pairs of a task are played again one by
    one if its worker died; nobody knows the pair at fault among several, so that death counts for
    none of them. A pair is skipped when three workers have died that had nothing else to play.

    stop: once it returns True nothing new is handed out. (Workers drop or finish their tasks as the
    stop signal says.)
    """
    order = _TaskSource[Pair, PairResults](
        draw.take,
        lambda pair: pair[0].pair,
        PickledPairs,
        workers.task,
        _read,
        lambda number: PairResult(number, []),
    )
    return _done(workers, order, stop)


def _read(answer: list[bytes]) -> list[PairResults]:
    """Return the results that a worker has sent."""
    parts = [part for pickled in answer for part in pickle.loads(pickled)]
    return [result for part in parts for result in results_of(part)]


Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class _TaskSource(Generic[Item, Result]):
    """The work for workers: pairs of games, or tasks of a study.

    take: hands out at most this many that are not begun. number: of one. packed: makes what is sent
    to a worker from a list of them. task: a worker's function for that. results: makes results from
    the value that the task returned. lost: makes the result of one that MOST_DEATHS workers died
    of.
    """

    take: Callable[[int], list[Item]]
    number: Callable[[Item], int]
    packed: Callable[[list[Item]], Any]
    task: Callable[[Any], Any]
    results: Callable[[Any], list[Result]]
    lost: Callable[[int], Result]


def _done(
    workers: WorkerSlots, order: _TaskSource[Item, Result], stop: Callable[[], bool]
) -> Iterator[list[Result]]:
    tasks = _RunningTasks(workers, order, stop)
    tasks.hand_out()
    while tasks.running:
        finished, _ = wait(tasks.running, return_when=FIRST_COMPLETED)
        results = tasks.collect(finished)
        tasks.hand_out()
        if results:
            yield results
            tasks.hand_out()  # what became of them may have led to further ones


class _RunningTasks(Generic[Item, Result]):
    """The tasks under way."""

    def __init__(
        self, workers: WorkerSlots, order: _TaskSource[Item, Result], stop: Callable[[], bool]
    ) -> None:
        self.running: dict[Future[Any], list[Item]] = {}
        self._workers, self._order, self._stop = workers, order, stop
        self._again: deque[Item] = deque()
        self._deaths: Counter[int] = Counter()
        self._size = 1  # items in a task
        self._since, self._finished = time.perf_counter(), 0

    def hand_out(self) -> None:
        """Give the workers something to do, and something to do next."""
        while len(self.running) < 2 * self._workers.number and not self._stop():
            items = [self._again.popleft()] if self._again else self._order.take(self._size)
            if not items:
                return
            task = self._workers.executor.submit(self._order.task, self._order.packed(items))
            self.running[task] = items

    def collect(self, finished: Iterable[Future[Any]]) -> list[Result]:
        """Return the results of finished tasks."""
        if self._stop():
            for task in [task for task in self.running if task.cancel()]:
                del self.running[task]
        results = []
        for task in finished:
            items = self.running.pop(task, [])
            if not task.cancelled():
                results += self._results(task, items)
        if self._finished:
            seconds = (time.perf_counter() - self._since) * self._workers.number / self._finished
            self._size = max(1, min(_LARGEST_TASK, round(self._workers.task_seconds / seconds)))
        return results

    def _results(self, task: Future[Any], items: list[Item]) -> list[Result]:
        error = task.exception()
        if isinstance(error, self._workers.died):
            return self._died_of(items)
        if error is not None:
            raise error if isinstance(error, BrokenExecutor) else TaskFailed(one_line(error))
        self._finished += len(items)
        return self._order.results(task.result())

    def _died_of(self, items: list[Item]) -> list[Result]:
        """A worker died that had these: they are done again, or given up."""
        if len(items) == 1:
            number = self._order.number(items[0])
            self._deaths[number] += 1
            if self._deaths[number] == MOST_DEATHS:
                return [self._order.lost(number)]
        self._again += items
        return []
