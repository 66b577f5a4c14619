"""Programs under examination, and the games that checks play with engines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from operator import methodcaller
from typing import Any

import numpy as np

from othello_lab.agents.checks.check import Check, Subject, Violation
from othello_lab.agents.external.program import Program
from othello_lab.core.game import PlayerFailure
from othello_lab.core.notation import PASS, parse_square, split_transcript
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

INNER = Position.start().follow(("f5", "d6", "c3", "d3", "c4"))[0]
"""A position to set up."""


@dataclass
class ProgramUnderTest(Subject):
    """A program under examination."""

    start = Position.start()
    """The position in which its games begin."""
    keeps_its_move = True
    """True if the program makes the move that it chooses on its own board."""

    def note(self, sent: str, answered: str) -> None:
        """Note a line sent to the program, and its answer."""
        answers = answered.splitlines() or [""]
        self.exchanges.append("\n".join([f"> {sent}", *(f"< {line}" for line in answers)]))

    def begin(self) -> None:
        """Start the program unless it runs; raises PlayerFailure."""

    def run(self, check: Check) -> str | None:
        """A program that hangs or dies is started again for the next check."""
        self.attempt(check.run)
        return None

    def attempt(self, play: Callable[[Any], Any]) -> Any:
        """Return the result of ``play(self)``; raises Violation if the program hangs or dies."""
        try:
            self.begin()
            return play(self)
        except PlayerFailure as fault:
            self.end()
            raise Violation(f"{fault.reason}: {fault.detail}") from None

    def lead(self, moves: Iterable[int] = ()) -> Position:
        """Begin a game, send these moves, and return the position reached."""
        raise NotImplementedError

    def tell(self, position: Position, move: int) -> None:
        """Send a move of the opponent's."""
        raise NotImplementedError

    def move(self, position: Position) -> int:
        """Return the move that the engine chooses; raises Violation if it is illegal."""
        raise NotImplementedError

    def command(self, line: str, position: Position) -> None:
        """Do what a line of a script says in a position; see :func:`checks_in`."""
        raise NotImplementedError

    def follow(self, script: Sequence[str]) -> None:
        """Do what the lines of a script say; see :func:`checks_in`."""
        positions = [self.start]
        for line in script:
            word, _, rest = line.partition(" ")
            if word == "start":
                moves = line_to_a_pass() if rest == "pass" else moves_of(rest)
                self.lead(moves)
                positions = [*accumulate(moves, Position.play, initial=self.start)]
            elif line == "go":
                move = self.move(positions[-1])
                positions += [positions[-1].play(move)] if self.keeps_its_move else []
            elif word in ("move", "reply"):
                move = parse_square(rest) if rest else positions[-1].moves[0]
                self.tell(positions[-1], move)
                positions.append(positions[-1].play(move))
            else:
                self.command(line, positions[-1])
                positions = positions[:-1] if line == "undo" else positions


@dataclass
class EngineUnderTest(ProgramUnderTest):
    """An engine under examination.

    patience: seconds for an answer. think: seconds for a move.
    """

    program: Program
    patience: float
    think: float

    def begin(self) -> None:
        if not self.program.is_running:
            self.program.start()
            self.greet()

    def end(self) -> None:
        self.program.kill()

    def greet(self) -> None:
        """Prepare a program that has just started; raises PlayerFailure."""
        raise NotImplementedError

    def has_to_end(self) -> None:
        """Raise Violation if the program does not end now."""
        if not self.program.ended_within(self.patience):
            raise Violation(f"it is still there {self.patience:g} s after quit")

    def take_turn(self, position: Position) -> int:
        """Return the engine's move in a game, which is made on its board, too."""
        move = self.move(position)
        if not self.keeps_its_move:
            self.tell(position, move)
        return move

    def play_game(self, position: Position, color: Color) -> None:
        """Play a game from this position, which the engine has, to the end.

        color: the engine's. The moves of the other side are random.
        """
        rng = np.random.default_rng(1)
        while not position.is_over:
            if position.moves and position.to_move is color:
                move = self.take_turn(position)
            else:
                move = int(rng.choice(position.moves or (PASS,)))
                self.tell(position, move)
            position = position.play(move)

    def play_as_in_run(self) -> str:
        """Play whole games with both colours and return the settings; raises Violation."""
        raise NotImplementedError

    def verdict(self) -> tuple[bool, str]:
        """Start the program anew and play with it as a run would.

        Returns True and the settings that the engine plays with, or False and the reason.
        """
        self.end()
        try:
            return True, self.attempt(type(self).play_as_in_run)
        except (Violation, ValueError) as error:
            return False, str(error)
        finally:
            self.end()


def checks_in(table: str) -> tuple[Check, ...]:
    """Return the checks of a table: of each a line ``name: sentence``, then its script.

    Lines of a script: ``start d3c5``, a new game with these moves (``start pass``: up to a position
    without a move); ``move c4``, a move; ``reply``, the first legal one; ``go``, the engine chooses
    one. All others are the protocol's, see ``command`` of its class. Semicolons part lines, too. A
    check without a script is the method ``check_NAME``. The first check is needed by all others.
    """
    checks: list[Check] = []
    for block in re.split(r"\n(?=\S)", table.strip()):
        title, *lines = block.splitlines()
        name, _, sentence = title.partition(": ")
        run: Callable[[Any], None] = methodcaller(f"check_{name.replace(' ', '_')}")
        if lines:
            run = methodcaller("follow", re.split(r"[;\n] *", "\n".join(map(str.strip, lines))))
        checks.append(Check(name, sentence, run, needed=not checks))
    return tuple(checks)


def moves_of(transcript: str) -> tuple[int, ...]:
    """Return the moves of a transcript from the start, such as ``d3c5``."""
    return Position.start().follow(split_transcript(transcript))[1]


def random_game(seed: int) -> list[int]:
    """Return the moves of a random game, passes included."""
    position, rng, moves = Position.start(), np.random.default_rng(seed), []
    while not position.is_over:
        moves.append(int(rng.choice(position.moves or (PASS,))))
        position = position.play(moves[-1])
    return moves


def line_to_a_pass() -> list[int]:
    """Return the moves from the start to a position without a move."""
    moves = next(game for game in map(random_game, count()) if PASS in game)
    return moves[: moves.index(PASS)]
