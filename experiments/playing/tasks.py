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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

from othello_lab.agents.config import one_line
from othello_lab.core.game import FAIR_ENDS, Decision, valid_answer
from othello_lab.core.position import Position
from othello_lab.core.system.forked import ChildSignals
from othello_lab.core.system.processes import adopt_orphans, end_descendants, reap
from othello_lab.core.system.scratch import remove_abandoned
from othello_lab.core.system.shared_memory import STOP_AT_ONCE, keep_from_children
from othello_lab.experiments.pairing.schedule import PickledPairs, ScheduledGame
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.game import close_all, play
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


# ---------------------------------------------------------------------- functions of tasks

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


# ---------------------------------------------------------------------- who does them


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
