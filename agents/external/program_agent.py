"""Common base of the agents that play through another program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from othello_lab.agents.agent import Agent, Files, Limits
from othello_lab.agents.external.program import PATIENCE, Command, Program, files_of, words_of
from othello_lab.core.game import PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.settings import Each, Number, Whole, called, checked

_CLOSE_SECONDS = 0.5


def refuse_counts(limits: Limits) -> None:
    """Raise ValueError for limits of depth or nodes, for agents that are not the lab's."""
    for name in ("depth", "nodes"):
        if getattr(limits, name) is not None:
            raise ValueError(
                f"limits.{name}={getattr(limits, name)}: another program knows no such limit; "
                "limit its time, or give it a setting of its own"
            )


class ProgramAgent(Agent):
    """An agent that plays through another program.

    The program starts at the first game, and again after a game lost by a fault. A protocol
    implements ``_begin`` and ``decide``, and ``observe`` if it sends moves.
    """

    from_outside = True
    reproducible = False
    farewell = "quit"
    """Line that makes the program end."""

    @checked
    def __init__(
        self,
        command: Command,
        patience: Annotated[float, Number(above=0)] = PATIENCE,
        boards: Annotated[Sequence[int], Each(Whole(4, 8, even=True))] = (8,),
    ) -> None:
        """
        command: the program and its arguments, run without a shell. patience: seconds for any
        answer but a move; moves have the time of the game's limits. boards: the sizes it plays on.
        """
        self.command, self.patience = command, patience
        self._sides = frozenset(boards)
        self._program = Program(command)

    def __repr__(self) -> str:
        return called(self, {"boards": (8,) if self._sides == {8} else tuple(sorted(self._sides))})

    def boards(self) -> frozenset[int]:
        return self._sides

    def prepare(self, announce: Announce | None = None) -> None:
        """Raise ValueError if there is no such program; nothing is started."""
        words_of(self.command)

    def check_limits(self, limits: Limits) -> None:
        refuse_counts(limits)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        if not self._program.is_running:
            self._program.start()
            self._greet()
        self._begin(color, start, seed)

    def _greet(self) -> None:
        """Prepare a program that has just started; raises PlayerFailure."""

    def _begin(self, color: Color, start: Position, seed: int) -> None:
        """Begin a new game in the running program; raises PlayerFailure."""
        raise NotImplementedError

    def files(self) -> Files:
        return Files(tuple(files_of(self.command)))

    def forbid_children(self) -> None:
        self._program.may_fork = False

    def forbid_echoes(self) -> None:
        """Keep the program's standard error for the reason of a failure alone."""
        self._program.echoes = False

    def close(self) -> None:
        self._program.close(self.farewell, _CLOSE_SECONDS)

    @contextmanager
    def _blaming(self, reason: str, answer: str) -> Iterator[None]:
        """Turn a ValueError into a fault of the program, caused by this answer."""
        try:
            yield
        except PlayerFailure:
            raise
        except ValueError as error:
            self._program.fail(reason, f"answered '{answer:.200}': {error}")
