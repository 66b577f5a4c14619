"""Tasks, and the place where they are worked on: a process of any executor.

The lab's own agents play whole games there, the judge beside them. They are tested, and nobody's
time is limited there, so no protection is lost; and asking them from another process would take
longer than most of them think. Agents from outside have a process each
(:mod:`experiments.playing.agent_proxy`), with the judge out of their reach.

If the process breaks down after all, or hangs, another one takes its place, and plays the pair
again with each agent in a process of its own. That shows the agent at fault.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import math
import os
import pickle
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Generic, NamedTuple, Self, TypeVar

from othello_lab.core.game import FAIR_ENDS, Decision, valid_answer
from othello_lab.core.position import Position
from othello_lab.core.system.forked import ChildSignals
from othello_lab.core.system.processes import adopt_orphans, end_descendants, reap
from othello_lab.core.system.scratch import remove_abandoned
from othello_lab.core.system.settings import one_line
from othello_lab.core.system.shared_memory import STOP_AT_ONCE, keep_from_children
from othello_lab.experiments.pairing.schedule import Pair, PairQueue, PickledPairs, ScheduledGame
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.game import close_all, play
from othello_lab.experiments.record.game_block import GameBlock
from othello_lab.experiments.record.log import name_game
from othello_lab.experiments.record.store import PlayedGame, Tables

log = logging.getLogger("lab.games")

MOST_SEATED = 16
"""So many agents may keep their processes, for a worker."""
CLOSE_SECONDS = 1.5
"""How long the agents of a worker may take to close, all together; then they are killed."""


class Task(NamedTuple):
    """A small part of a study. content: its input, which can be pickled."""

    number: int
    content: Any


class TaskResult(NamedTuple):
    """The result of a task. failure: in a line, the reason of a result without rows; empty
    otherwise."""

    number: int
    tables: Tables
    failure: str = ""


class RunInterrupted(KeyboardInterrupt):
    """The run is to end at once."""


class WorkerContext:
    """The place where tasks are worked on.

    conditions: the line-up (:attr:`GameConditions.line_up`), rules and limits. until: by the
    monotonic clock, when to give up waiting for an agent, by TimeoutError.
    """

    def __init__(self, conditions: GameConditions, monitor: GameMonitor | None = None) -> None:
        """monitor: shared with those who watch over this process; None: nobody does."""
        self.conditions = conditions
        self._monitor = monitor
        self._children: ChildSignals | None = None
        self._seats: dict[int, AgentProxy] = {}  # who has not played for longest stands first
        self._ending = False
        self.until = math.inf

    def play(self, pairs: PickledPairs, apart: bool) -> Iterator[Sequence[PlayedGame]]:
        """Play pairs until somebody asks to stop; yields whole pairs as they end. apart: True if
        the lab's own agents have processes of their own, too."""
        kept_apart = self.conditions.apart
        single = [pair for pair in pairs if apart or kept_apart & {pair[0].black, pair[0].white}]
        left_out = {pair[0].pair for pair in single}
        games = [game for pair in pairs if pair[0].pair not in left_out for game in pair]
        # Ctrl-C cannot break into a game in compiled code: where nobody watches, moves are judged.
        compiled = self.conditions.compiled_games and self._monitor is not None
        conditions = replace(self.conditions, compiled_games=compiled)
        yield from play_all(conditions, games, self._monitor or GameMonitor(GameMonitor.Memory()))
        for pair in single:
            if self.conditions.stopping:
                return
            yield [self._play_apart(game) for game in pair]

    def _play_apart(self, game: ScheduledGame) -> PlayedGame:
        players = {number: self.seat(number) for number in (game.black, game.white)}
        self._make_room()
        played = play(self.conditions, game, players)
        if played.game.end_reason not in FAIR_ENDS:
            # Whoever lost it like that begins anew, and so do those that it may have harmed.
            players[game.white if played.game.result == "black" else game.black].kill()
            self._end_strays()
        return played

    def decide(self, number: int, position: Position, seed: int) -> Decision:
        """Return the decision of the agent of this number, as in a game that begins at this
        position.

        Agents from outside decide in processes of their own. Raises
        :class:`core.game.PlayerFailure`, or the agent's own exception, or ValueError for an
        unreadable answer.
        """
        limits = self.conditions.limits
        if number not in self.conditions.apart:
            agent = self.conditions.agents[number]
            agent.begin_game(position.to_move, position, seed)
            return valid_answer(agent.decide(position, limits))
        seat = self.seat(number)
        self._make_room()
        seat.begin_game(position.to_move, position, seed)
        return seat.decide(position, limits)

    def seat(self, number: int) -> AgentProxy:
        """Return the proxy of an agent that is to play next."""
        self._children = self._children or ChildSignals()
        seat = self._seats.pop(number, None) or AgentProxy(
            self.conditions, number, self._children, self._check, self._end_strays
        )
        self._seats[number] = seat
        return seat

    def _seated(self) -> list[AgentProxy]:
        return [seat for seat in self._seats.values() if seat.number is not None]

    def _make_room(self) -> None:
        """Let agents go that have not played for longest, so that MOST_SEATED have processes."""
        seated = self._seated()
        for seat in seated[: max(0, len(seated) - MOST_SEATED)]:
            seat.begin_to_close()
            seat.closed_within(CLOSE_SECONDS)
            seat.kill()

    def _check(self) -> None:
        if self.conditions.stop.value == STOP_AT_ONCE and not self._ending:
            raise RunInterrupted
        if time.monotonic() > self.until:
            raise TimeoutError

    def _end_strays(self) -> None:
        known = [seat.number for seat in self._seated() if seat.number is not None]
        end_descendants([os.getpid()], known)
        reap(known)

    def end(self) -> None:
        """Let the agents close, and end their processes, at the latest after CLOSE_SECONDS."""
        self._ending = True
        seated, until = self._seated(), time.monotonic() + CLOSE_SECONDS
        for seat in seated:
            seat.begin_to_close()
        line_up = enumerate(self.conditions.line_up.items())
        close_all({name: agent for n, (name, agent) in line_up if n not in self.conditions.apart})
        slow = [seat for seat in seated if not seat.closed_within(until - time.monotonic())]
        if slow:
            log.warning("agents were killed that had not closed after %g s", CLOSE_SECONDS)
        for seat in seated:
            seat.kill()
        if self._monitor is not None:
            self._end_strays()
            remove_abandoned()


def start_worker(conditions: GameConditions, monitor: GameMonitor) -> WorkerContext:
    """Begin a worker process."""
    # What was there before the fork stays: no need for the garbage collector to go through it,
    # and copy it, again and again.
    gc.freeze()
    root = logging.getLogger()
    root.setLevel(conditions.log_level)
    for handler in root.handlers:
        handler.addFilter(name_game)
    monitor.heed(conditions.stop)
    keep_from_children(conditions.stop)
    adopt_orphans()
    return WorkerContext(conditions, monitor)


TaskFunction = Callable[..., Any]
"""Does a task; called with the place and the task's argument, in any process. It can be pickled,
and so can its argument and result."""


def play_pairs(context: WorkerContext, pairs: PickledPairs, apart: bool = False) -> bytes:
    """Play pairs; return sequences of PlayedGames, pickled together. They are fewer than asked for
    if the run is stopped meanwhile, but always whole pairs."""
    played: list[Sequence[PlayedGame]] = []
    with contextlib.suppress(RunInterrupted):
        played.extend(context.play(pairs, apart))
    return pickle.dumps(played, pickle.HIGHEST_PROTOCOL)


Job = Callable[[WorkerContext, Any], Tables]
"""What is done with the content of a piece; it can be pickled."""


def work_on(job: Job, context: WorkerContext, pieces: Sequence[Task]) -> list[TaskResult]:
    """Return the results of pieces of a study; fewer if it is to stop meanwhile."""
    done: list[TaskResult] = []
    with contextlib.suppress(RunInterrupted):
        for piece in pieces:
            if context.conditions.stopping:
                break
            try:
                done.append(TaskResult(piece.number, job(context, piece.content)))
            except Exception as error:
                logging.getLogger("lab.studies").exception("piece %d failed", piece.number)
                why = f"{type(error).__name__}: {one_line(error)}"
                done.append(TaskResult(piece.number, {}, why))
    return done


class WorkerDied(Exception):
    """The worker that had the task was killed, or crashed; the task may be handed out again."""


class Answer(NamedTuple):
    """The end of a task. number: that of :meth:`Workers.give`. error: WorkerDied, or an exception
    that the function has raised; there is no value then."""

    number: int
    value: Any = None
    error: BaseException | None = None


class Workers(ABC):
    """Places where tasks are worked on, used in a ``with``.

    number: tasks that are worked on at a time; it may change. task_seconds: the length of a task:
    long enough that handing it out costs little, short enough that all workers end at about the
    same time; 0 for the shortest.
    """

    number: int
    task_seconds: float = 0.2

    @property
    @abstractmethod
    def room(self) -> int:
        """Tasks that may be given now."""

    @abstractmethod
    def give(self, function: TaskFunction, argument: Any) -> int:
        """Give a task, where there is room; return its number."""

    @abstractmethod
    def answers(self) -> list[Answer]:
        """Wait a second at most, and return the answers that have come. Raises BrokenExecutor if
        none will ever come."""

    @abstractmethod
    def close(self) -> None:
        """Drop all that is still under way."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class ThisProcess(Workers):
    """This process, which does one task after another while it is waited for."""

    number, task_seconds = 1, 0.0

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._task: tuple[TaskFunction, Any] | None = None

    @property
    def room(self) -> int:
        return int(self._task is None)

    def give(self, function: TaskFunction, argument: Any) -> int:
        self._task = function, argument
        return 0

    def answers(self) -> list[Answer]:
        assert self._task is not None
        (function, argument), self._task = self._task, None
        return [Answer(0, function(self._context, argument))]

    def close(self) -> None:
        self._context.end()


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

    take: hands out at most this many items. task: makes a worker's function and its argument of
    them; its second argument is True for one that a worker has died of. read: makes results of the
    function's value. lost: makes that of an item of which MOST_DEATHS workers died.
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
