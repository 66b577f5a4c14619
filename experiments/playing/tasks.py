"""Tasks, the parts of a study that need no other part, and their context: a worker of any executor,
or this process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from othello_lab.agents.config import one_line
from othello_lab.core.game import Decision, valid_answer
from othello_lab.core.position import Position
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.record.store import Tables

log = logging.getLogger("lab.studies")


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


class WorkerContext(Protocol):
    """The place where a task is worked on."""

    conditions: GameConditions
    """The line-up (:attr:`GameConditions.line_up`), rules and limits."""

    def decide(self, number: int, position: Position, seed: int) -> Decision:
        """Return the decision of the agent of this number, as in a game that begins at this
        position.

        Agents from outside decide in processes of their own. Raises
        :class:`core.game.PlayerFailure`, or the agent's own exception, or ValueError for an
        unreadable answer.
        """
        ...


Job = Callable[[WorkerContext, Any], Tables]
"""What is done with the content of a piece; it can be pickled."""


class LocalContext:
    """A context in this process, for the lab's own agents alone."""

    def __init__(self, conditions: GameConditions) -> None:
        self.conditions = conditions

    def decide(self, number: int, position: Position, seed: int) -> Decision:
        agent = self.conditions.agents[number]
        agent.begin_game(position.to_move, position, seed)
        return valid_answer(agent.decide(position, self.conditions.limits))


def worked_on(job: Job, workplace: WorkerContext, pieces: Iterable[Task]) -> list[TaskResult]:
    """Return the results of tasks; fewer if the study is to stop meanwhile."""
    done: list[TaskResult] = []
    for piece in pieces:
        if workplace.conditions.stopping:
            break
        try:
            done.append(TaskResult(piece.number, job(workplace, piece.content)))
        except Exception as error:
            log.exception("piece %d failed", piece.number)
            why = f"{type(error).__name__}: {one_line(error)}"
            done.append(TaskResult(piece.number, {}, why))
    return done
