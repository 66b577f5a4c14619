"""What all agents that stand for another program have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from othello_lab.agents.agent import Agent, Limits
from othello_lab.agents.external.program import PATIENCE, Command, Program, words_of
from othello_lab.core.game import PlayerFailure
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.settings import Each, Number, Whole, called, checked

_CLOSE_SECONDS = 0.5


def refuse_counts(limits: Limits) -> None:
    """Raise ValueError for limits that cannot be told to what is not the lab's."""
    for name in ("depth", "nodes"):
        if getattr(limits, name) is not None:
            raise ValueError(
                f"limits.{name}={getattr(limits, name)}: another program cannot be told; limit "
                "its time, or give it a setting of its own"
            )


class ProgramAgent(Agent):
    """Stands for another program, which is started for the first game, and again for the next one
    after a game that it has lost by a fault of its own.

    A protocol fills in ``_begin`` and ``decide``, and ``observe`` where it tells of moves.
    """

    from_outside = True
    reproducible = False
    farewell = "quit"
    """The line that asks the program to end."""

    @checked
    def __init__(
        self,
        command: Command,
        patience: Annotated[float, Number(above=0)] = PATIENCE,
        boards: Annotated[Sequence[int], Each(Whole(4, 8, even=True))] = (8,),
    ) -> None:
        """
        command: the program and its arguments; no shell is asked. patience: seconds for each answer
        that is no move; moves have the time of the game's limits. boards: the sizes it plays on.
        """
        self.command, self.patience = command, patience
        self._sides = frozenset(boards)
        self._program = Program(command)

    def __repr__(self) -> str:
        return called(self, {"boards": (8,) if self._sides == {8} else tuple(sorted(self._sides))})

    def boards(self) -> frozenset[int]:
        return self._sides

    def prepare(self, announce: Announce | None = None) -> None:
        """See whether there is such a program; it is not started. Raises ValueError."""
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
        """The program has just been started: find out what has to be known of it. Raises Fault."""

    def _begin(self, color: Color, start: Position, seed: int) -> None:
        """Tell the running program of a new game; raises Fault."""
        raise NotImplementedError

    def close(self) -> None:
        self._program.close(self.farewell, _CLOSE_SECONDS)

    @contextmanager
    def _blaming(self, reason: str, answer: str) -> Iterator[None]:
        """A ValueError in what is done here is the program's fault: it has answered this."""
        try:
            yield
        except PlayerFailure:
            raise
        except ValueError as error:
            self._program.fail(reason, f"answered '{answer:.200}': {error}")
