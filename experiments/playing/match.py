"""Playing pairs, and working on pieces of a study, over workers that may die."""

from __future__ import annotations

import logging
import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

from othello_lab.agents.config import one_line
from othello_lab.experiments.pairing.schedule import Pair, PairQueue, PickledPairs
from othello_lab.experiments.playing.tasks import (
    Answer,
    Job,
    Task,
    TaskFunction,
    TaskResult,
    WorkerDied,
    Workers,
    play_pairs,
    work_on,
)
from othello_lab.experiments.record.game_block import GameBlock
from othello_lab.experiments.record.store import PlayedGame

log = logging.getLogger("lab.games")

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


class TaskFailed(Exception):
    """A worker could not do its task, for a reason that is not an agent's."""


class TaskRunner:
    """Plays the games of a run, or works on the tasks of a study, until asked to stop.

    Only a few tasks are under way at a time, each of as many pairs or pieces as take about
    ``task_seconds`` of the workers, so memory does not grow with the length of the run. If a worker
    dies, what its task had is done again one by one; nobody knows the pair at fault among several,
    so that death counts for none of them. A pair is skipped when three workers have died that had
    nothing else to play.
    """

    def __init__(
        self, workers: Workers, stop: Callable[[], bool], play: TaskFunction = play_pairs
    ) -> None:
        """stop: once it returns True nothing new is handed out. (Workers drop or finish their tasks
        as the stop signal says.) play: a worker's function for PickledPairs."""
        self._workers, self._stop, self._play = workers, stop, play

    def __call__(self, draw: PairQueue) -> Iterator[list[PairResults]]:
        """Play what is drawn; yield results in batches, in no fixed order."""
        return self.play(draw.take)

    def play(self, take: Callable[[int], list[Pair]]) -> Iterator[list[PairResults]]:
        """Play pairs. take: hands out at most this many."""
        return _RunningTasks[Pair, PairResults](
            self._workers,
            self._stop,
            take,
            lambda pair: pair[0].pair,
            lambda pairs, again: (
                partial(self._play, apart=True) if again else self._play,
                PickledPairs(pairs),
            ),
            _read,
            lambda number: PairResult(number, []),
        ).results()

    def work(self, job: Job, pieces: Sequence[Task]) -> Iterator[list[TaskResult]]:
        """Work on tasks; yield their results in batches, in no fixed order."""
        waiting = deque(pieces)
        return _RunningTasks[Task, TaskResult](
            self._workers,
            self._stop,
            lambda most: [waiting.popleft() for _ in range(min(most, len(waiting)))],
            lambda piece: piece.number,
            lambda pieces, _: (partial(work_on, job), pieces),
            lambda results: results,
            lambda number: TaskResult(number, {}, f"the worker died {MOST_DEATHS} times"),
        ).results()


def _read(pickled: bytes) -> list[PairResults]:
    return [result for part in pickle.loads(pickled) for result in results_of(part)]


Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class _RunningTasks(Generic[Item, Result]):
    """The work under way: pairs of games, or tasks of a study.

    workers, stop: of the TaskRunner. take: hands out at most this many items that are not begun.
    number: of an item. task: makes a worker's function and its argument from a list of them; its
    second argument is True for a single one that a worker has died of. read: makes results from the
    value that the function returned. lost: makes the result of one that MOST_DEATHS workers died
    of.
    """

    workers: Workers
    stop: Callable[[], bool]
    take: Callable[[int], list[Item]]
    number: Callable[[Item], int]
    task: Callable[[list[Item], bool], tuple[TaskFunction, Any]]
    read: Callable[[Any], list[Result]]
    lost: Callable[[int], Result]

    def results(self) -> Iterator[list[Result]]:
        self._running: dict[int, list[Item]] = {}
        self._again: deque[Item] = deque()
        self._deaths: Counter[int] = Counter()
        self._size = 1  # items in a task
        self._since, self._finished = time.perf_counter(), 0
        while self._hand_out():
            if results := self._collect():
                self._hand_out()
                yield results

    def _hand_out(self) -> bool:
        """Give the workers something to do; return False if all is done for the moment."""
        while not self.stop():
            if not self.workers.room:
                return True
            items = [self._again.popleft()] if self._again else self.take(self._size)
            if not items:
                break
            again = len(items) == 1 and self._deaths[self.number(items[0])] > 0
            number = self.workers.give(*self.task(items, again))
            self._running[number] = items
        return bool(self._running)

    def _collect(self) -> list[Result]:
        results = []
        for answer in self.workers.answers():
            if (items := self._running.pop(answer.number, None)) is not None:
                results += self._results(answer, items)
        if self._finished:
            seconds = (time.perf_counter() - self._since) * self.workers.number / self._finished
            self._size = max(1, min(_LARGEST_TASK, round(self.workers.task_seconds / seconds)))
        return results

    def _results(self, answer: Answer, items: list[Item]) -> list[Result]:
        if isinstance(answer.error, WorkerDied):
            return self._died_of(items)
        if answer.error is not None:
            raise TaskFailed(one_line(answer.error))
        self._finished += len(items)
        return self.read(answer.value)

    def _died_of(self, items: list[Item]) -> list[Result]:
        """A worker died that had these: they are done again, or given up."""
        if len(items) == 1:
            number = self.number(items[0])
            self._deaths[number] += 1
            if self._deaths[number] == MOST_DEATHS:
                return [self.lost(number)]
            log.info("a worker died of pair or piece %d, which is done again", number)
        self._again += items
        return []
