"""Othello engines that speak the Go Text Protocol (GTP 2).

Engines differ in their words for a pass, in the command that sets a board, and in their use of time
limits. The agent asks each engine for its commands and tries the forms in turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from othello_lab.agents.agent import Decision, Limits
from othello_lab.agents.external.program import PATIENCE, Command, Program
from othello_lab.agents.external.program_agent import ProgramAgent
from othello_lab.core.game import GARBAGE
from othello_lab.core.notation import PASS, parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.settings import Each, Number, Switch, Text, Whole, checked

GAMES = ("Othello", "Reversi")
"""Names of the game in engines that play several games."""
PASS_WORDS = ("pass", "PA")
BOARD_SETTERS = ("setboard", "setup_board")
"""Endings of a command that sets the board, such as ``grhino-setup_board``. The command takes the
64 squares in the order of OBF, and the side to move."""
_MOST_LINES = 1000  # of an answer


class GtpRefusal(ValueError):
    """An answer with ``?``: the engine does not know the command or cannot do it."""


class GtpConnection:
    """A GTP dialogue with a program that has started."""

    def __init__(self, program: Program, patience: float) -> None:
        self.program, self.patience = program, patience
        self._number = 0  # of the last command

    def ask(self, command: str, patience: float | None = -1.0) -> str:
        """Send a command and return the answer without ``=`` and number.

        patience: seconds, None for no limit; by default the connection's own. Raises GtpRefusal
        with the engine's reason, and PlayerFailure if the engine breaks the protocol.
        """
        while (said := self.program.receive_now()) is not None:
            if said.strip():
                self.program.fail(GARBAGE, f"said '{said:.200}' without being asked")
        self._number += 1
        self.program.send(f"{self._number} {command}", self.patience)
        wait = self.patience if patience == -1.0 else patience
        while not (line := self.program.receive(wait)).strip():
            pass
        success, text = self._first(command, line)
        lines = [text]
        while line := self.program.receive(self.patience).rstrip():
            lines.append(line)
            if len(lines) > _MOST_LINES:
                self.program.fail(GARBAGE, f"answered more than {_MOST_LINES} lines to '{command}'")
        answer = "\n".join(lines).strip()
        if not success:
            raise GtpRefusal(answer)
        return answer

    def _first(self, command: str, line: str) -> tuple[bool, str]:
        """Split the first line of an answer into success (true for ``=``) and text."""
        if line[0] not in "=?":
            detail = f"answered '{line:.200}' to '{command}'; = or ? is needed"
            self.program.fail(GARBAGE, detail)
        digits = len(line[1:]) - len(line[1:].lstrip("0123456789"))
        number, text = line[1 : 1 + digits], line[1 + digits :]
        if number and int(number) != self._number:
            detail = f"answered '{line:.200}' to '{command}', which has the number {self._number}"
            self.program.fail(GARBAGE, detail)
        return line[0] == "=", text.strip()


class GtpAgent(ProgramAgent):
    """An Othello engine that speaks GTP."""

    @checked
    def __init__(
        self,
        command: Command,
        settings: Annotated[Sequence[str], Each(Text(r"\S[^\n]*", "a GTP command"))] = (),
        time: Annotated[bool, Switch()] = True,
        patience: Annotated[float, Number(above=0)] = PATIENCE,
        boards: Annotated[Sequence[int], Each(Whole(4, 8, even=True))] = (8,),
    ) -> None:
        """
        settings: GTP commands sent after the engine's start. time: true to send time limits to an
        engine that accepts them. The others as in :class:`ProgramAgent`.
        """
        super().__init__(command, patience, boards)
        self.settings, self.time = settings, time
        self._engine = GtpConnection(self._program, patience)

    # ------------------------------------------------------------------ the game

    def _greet(self) -> None:
        self._engine = GtpConnection(self._program, self.patience)
        self._passes: str | None = None  # the engine's word for a pass; None: not yet known
        self._known = set(self._must("list_commands").split())
        if "set_game" in self._known:
            self._set_game()
        for setting in self.settings:
            self._must(setting)

    def _set_game(self) -> None:
        for name in GAMES:
            try:
                self._engine.ask(f"set_game {name}")
                return
            except GtpRefusal as error:
                refusal = error
        self._program.fail(GARBAGE, f"plays no Othello: '{refusal}'")

    def _begin(self, color: Color, start: Position, seed: int) -> None:
        self._start = start
        self._moves: list[tuple[Color, int]] = []
        self._own_move: int | None = None  # on the engine's board already, not yet observed
        self._sent_time = False
        self._set_up()

    def _set_up(self) -> None:
        """Set the engine's board to the start of the game and replay the moves made since."""
        start = self._start
        self._must(f"boardsize {start.ruleset.side}")
        self._must("clear_board")
        usual = Position.start("standard")
        self._swapped = False
        if (start.mover, start.opponent) == (usual.mover, usual.opponent):
            # If White begins, as in ruleset wpi, the engine plays with exchanged colours.
            self._swapped = start.to_move is Color.WHITE
        elif start != Position.start(start.ruleset):
            self._set_board(start)
        for color, move in self._moves:
            self._play(color, move)

    def _set_board(self, start: Position) -> None:
        setter = next((name for name in sorted(self._known) if name.endswith(BOARD_SETTERS)), None)
        if setter is None:
            detail = "has no command that sets a board, and the game does not begin at the start"
            self._program.fail(GARBAGE, detail)
        self._must(f"{setter} {start.to_obf()[:-2]} {start.to_move.value}")

    def observe(self, move: int, position: Position) -> None:
        color = position.to_move.other
        own_move, self._own_move = self._own_move, None
        self._moves.append((color, move))
        if own_move is None:
            self._play(color, move)
        elif own_move != move:  # a process that replaced a killed one has chosen another move
            self._set_up()

    def decide(self, position: Position, limits: Limits) -> Decision:
        color = self._name(position.to_move)
        self._tell_time(color, limits)
        answer = self._must(f"genmove {color}", None)
        if answer.lower() == "resign":
            self._program.fail(GARBAGE, "resigned")
        with self._blaming(GARBAGE, answer):
            self._own_move = parse_square(answer, position.ruleset.side)
        return Decision(self._own_move)

    # ------------------------------------------------------------------ commands

    def _must(self, command: str, patience: float | None = -1.0) -> str:
        """Return the answer to a command; a refusal raises PlayerFailure."""
        try:
            return self._engine.ask(command, patience)
        except GtpRefusal as error:
            self._program.fail(GARBAGE, f"refused '{command}': {error!s:.200}")

    def _name(self, color: Color) -> str:
        return (color.other if self._swapped else color).value

    def _play(self, color: Color, move: int) -> None:
        if move == PASS:
            self._pass(color)
        else:
            self._must(f"play {self._name(color)} {square_name(move)}")

    def _pass(self, color: Color) -> None:
        """Send a pass in the first form that the engine accepts.

        An engine that accepts none passes by itself.
        """
        words = PASS_WORDS if self._passes is None else [self._passes] if self._passes else []
        for word in words:
            try:
                self._engine.ask(f"play {self._name(color)} {word}")
                self._passes = word
                return
            except GtpRefusal:
                pass
        self._passes = ""

    def _tell_time(self, color: str, limits: Limits) -> None:
        """Send time limits in whole seconds, as GTP needs: rounded down, at least 1."""
        if not self.time or not limits.timed:
            return
        seconds = limits.clock if limits.seconds is None else limits.seconds
        whole = max(1, math.floor(seconds or 0))
        by_move = limits.seconds is not None
        if "time_settings" in self._known and not self._sent_time:
            self._must(f"time_settings 0 {whole} 1" if by_move else f"time_settings {whole} 0 0")
            self._sent_time = True
        if "time_left" in self._known:
            self._must(f"time_left {color} {whole} {1 if by_move else 0}")
