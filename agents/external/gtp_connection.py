"""A dialogue in the Go Text Protocol (GTP 2), in the forms that an engine understands.

Engines differ in the numbers of commands, in their words for colours, squares and a pass, and in
the optional commands. The connection asks an engine for its commands, and tries the forms in turn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from othello_lab.agents.agent import Limits
from othello_lab.agents.external.program import Program
from othello_lab.core.game import DIED, GARBAGE, HUNG, PlayerFailure
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

GAMES = ("Othello", "Reversi")
"""Names of the game in engines that play several games."""
PASS_WORDS = ("pass", "PA", "PASS")
RESIGN = "resign"
"""Answer to genmove, in any case, of an engine that gives up the game."""
BOARD_SETTERS = ("setboard", "setup_board")
"""Endings of a command that sets the board, such as ``grhino-setup_board``. The command takes the
64 squares in the order of OBF, and the side to move."""
_MOST_LINES = 1000  # of an answer
_COLORS = (("black", "white"), ("b", "w"), ("B", "W"), ("BLACK", "WHITE"))


class GtpRefusal(ValueError):
    """An answer with ``?``: the engine does not know the command or cannot do it."""


@dataclass
class GtpDialect:
    """The forms that an engine understands.

    numbered: commands have numbers, which come back with the answers; spaced: after a blank, as in
    Edax's ``= 2 f5``. upper: names of commands are in upper case. known: the commands listed, in
    lower case; None if the engine lists none. colors: the words for Black and White. capitals:
    squares are in upper case, D3. pass_word: "" for an engine that passes by itself. setter: the
    command that sets the board, "" for none. clocks: the commands accepted that tell the time.

    None in colors, capitals, pass_word and setter: not yet known.
    """

    numbered: bool = True
    upper: bool = False
    known: frozenset[str] | None = None
    colors: tuple[str, str] | None = None
    capitals: bool | None = None
    pass_word: str | None = None
    setter: str | None = None
    clocks: tuple[str, ...] = ()
    spaced: bool = False

    def __str__(self) -> str:
        forms = ["numbered commands" if self.numbered else "commands without numbers"]
        if self.numbered and self.spaced:
            forms.append("answers as = 2 d3")
        if self.upper:
            forms.append("commands in upper case")
        if self.known is None:
            forms.append("commands found by trying")
        if self.colors is not None:
            forms.append(f"colours {' and '.join(self.colors)}")
        if self.capitals is not None:
            forms.append(f"squares as {'D3' if self.capitals else 'd3'}")
        if self.pass_word is not None:
            forms.append(
                f"a pass as {self.pass_word}" if self.pass_word else "passes made by itself"
            )
        if self.setter is not None:
            moves = "boards by the moves from the start, as no command sets one"
            forms.append(f"boards set by {self.setter}" if self.setter else moves)
        forms.append(f"time by {' and '.join(self.clocks)}" if self.clocks else "no time limits")
        return "; ".join(forms)


class GtpConnection:
    """A GTP dialogue with a program that has started."""

    def __init__(
        self,
        program: Program,
        patience: float,
        note: Callable[[str, str], None] = lambda command, answer: None,
    ) -> None:
        """``note``: called with each command and its answer, ``= text`` or ``? text``."""
        self.program, self.patience, self.note = program, patience, note
        self.dialect = GtpDialect()
        self._number = 0  # of the last command
        self._echoed = False  # the last answer began with this number
        self._refused: set[str] = set()  # names of optional commands

    def ask(self, command: str, patience: float | None = -1.0) -> str:
        """Send a command and return the answer without ``=`` and number.

        patience: seconds, None for no limit; by default the connection's own. Raises GtpRefusal
        with the engine's reason, and PlayerFailure if the engine breaks the protocol.
        """
        try:
            success, answer = self._exchange(command, patience)
        except PlayerFailure as fault:
            self.note(command, f"({fault.reason})")
            raise
        self.note(command, f"{'=' if success else '?'} {answer}")
        if not success:
            raise GtpRefusal(answer)
        return answer

    def must(self, command: str) -> str:
        """Return the answer to a command; a refusal raises PlayerFailure."""
        try:
            return self.ask(command)
        except GtpRefusal as error:
            self.program.fail(GARBAGE, f"refused '{command}': {error!s:.200}")

    def _exchange(self, command: str, patience: float | None) -> tuple[bool, str]:
        """Send a command and return its success and the answer; raises PlayerFailure."""
        while (said := self.program.receive_now()) is not None:
            if said.strip():
                self.program.fail(GARBAGE, f"said '{said:.200}' without being asked")
        name, blank, arguments = command.partition(" ")
        sent = f"{name.upper() if self.dialect.upper else name}{blank}{arguments}"
        if self.dialect.numbered:
            self._number += 1
            sent = f"{self._number} {sent}"
        self.program.send(sent, self.patience)
        wait = self.patience if patience == -1.0 else patience
        while not (line := self.program.receive(wait)).strip():
            pass
        success, text = self._first(command, line.strip())
        lines = [text]
        while line := self.program.receive(self.patience).rstrip():
            lines.append(line)
            if len(lines) > _MOST_LINES:
                self.program.fail(GARBAGE, f"answered more than {_MOST_LINES} lines to '{command}'")
        return success, "\n".join(lines).strip()

    def _first(self, command: str, line: str) -> tuple[bool, str]:
        """Split the first line of an answer into success (true for ``=``) and text."""
        if line[0] not in "=?":
            detail = f"answered '{line:.200}' to '{command}'; = or ? is needed"
            self.program.fail(GARBAGE, detail)
        answer, self._echoed = line[1:], False
        success, text = line[0] == "=", answer.strip()
        is_glued = answer == text
        number = re.match("[0-9]+" if is_glued else r"[0-9]+(?!\S)", text)
        if number is None or not self.dialect.numbered:
            return success, text
        is_own, rest = number[0].lstrip("0") == str(self._number), text[number.end() :].strip()
        if is_own and success and rest and not is_glued:  # "= 2" alone may be the version
            self.dialect.spaced = True
        if not (is_glued or self.dialect.spaced):
            return success, text
        if is_own:
            self._echoed = True
            return success, rest
        if success:  # Edax gives some refusals the number 1
            wanted = f"which has the number {self._number}"
            self.program.fail(GARBAGE, f"answered '{line:.200}' to '{command}', {wanted}")
        return success, text

    # ------------------------------------------------------------------ the forms of commands

    def greet(self) -> None:
        """Find out how the engine takes commands, and which ones.

        An engine that ends or says nothing at a command with a number is started again and gets
        commands without. Raises PlayerFailure.
        """
        try:
            self._try_forms((True, False))
        except PlayerFailure as fault:
            if fault.reason not in (DIED, HUNG) or not self.dialect.numbered:
                raise
            self.program.start()
            self._try_forms((False,))

    def _try_forms(self, numbers: Sequence[bool]) -> None:
        """Take the first form of commands that the engine obeys. numbers: with them, without."""
        for self.dialect.numbered, self.dialect.upper in product(numbers, (False, True)):
            if self._obeys():
                return
        self.dialect.upper = False

    def _obeys(self) -> bool:
        """Return True if the engine lists its commands, or tells its version, in this form."""
        for command in ("list_commands", "protocol_version"):
            try:
                answer = self.ask(command)
            except GtpRefusal:
                continue
            if self.dialect.numbered and not self._echoed:
                return False
            if command == "list_commands":
                self.dialect.known = frozenset(answer.lower().split())
            return True
        return False

    def lacks(self, name: str) -> bool:
        """Return True if the engine lists its commands without this one, or has refused it."""
        known = self.dialect.known
        return name in self._refused or (known is not None and name not in known)

    def offer(self, command: str) -> bool:
        """Send an optional command; return True if the engine has obeyed.

        A command that it lacks is not sent.
        """
        name = command.partition(" ")[0]
        if self.lacks(name):
            return False
        try:
            self.ask(command)
        except GtpRefusal:
            self._refused.add(name)
            return False
        return True

    def set_game(self) -> None:
        """Choose the game, in an engine that plays several; raises PlayerFailure."""
        if self.lacks("set_game"):
            return
        for name in GAMES:
            try:
                self.ask(f"set_game {name}")
                return
            except GtpRefusal as error:
                refusal = error
        if self.dialect.known is not None:
            self.program.fail(GARBAGE, f"plays no Othello: '{refusal}'")

    # ------------------------------------------------------------------ the board

    def clear(self, side: int) -> None:
        """Empty the board for a new game; raises PlayerFailure."""
        size = f"boardsize {side}"
        if self.dialect.known is None or (side == 8 and self.lacks("boardsize")):
            self.offer(size)
        else:
            self.must(size)
        self.must("clear_board")

    def set_board(self, start: Position) -> None:
        """Set a position, in the first form that the engine accepts; raises PlayerFailure."""
        if self.dialect.setter is None:
            names = BOARD_SETTERS if self.dialect.known is None else sorted(self.dialect.known)
            setters = [name for name in names if name.endswith(BOARD_SETTERS)]
        else:
            setters = [self.dialect.setter] if self.dialect.setter else []
        squares, _, letter = start.to_obf().partition(" ")
        movers = [*(colors[start.to_move is Color.WHITE] for colors in self._colors()), letter]
        for name, board, mover in product(setters, (squares, squares.replace("-", ".")), movers):
            with suppress(GtpRefusal):
                self.ask(f"{name} {board} {mover}")
                self.dialect.setter = name
                return
        self.dialect.setter = ""
        detail = "obeys no command that sets a board, and the game does not begin at the start"
        self.program.fail(GARBAGE, detail)

    # ------------------------------------------------------------------ moves

    def play(self, color: Color, move: int) -> None:
        """Send a move.

        A pass is left out for an engine that accepts no word for it. Raises PlayerFailure.
        """
        try:
            self.try_play(color, move)
        except GtpRefusal as error:
            command = f"play {self.color(color)} {self.square(square_name(move))}"
            self.program.fail(GARBAGE, f"refused '{command}': {error!s:.200}")

    def try_play(self, color: Color, move: int) -> None:
        """As :meth:`play`, but raises GtpRefusal if the engine refuses the move in all forms."""
        if move == PASS:
            self._pass(color)
            return
        refusal = None
        cases = (False, True) if self.dialect.capitals is None else (self.dialect.capitals,)
        for colors, capitals in product(self._colors(), cases):
            square = square_name(move).upper() if capitals else square_name(move)
            try:
                self.ask(f"play {colors[color is Color.WHITE]} {square}")
            except GtpRefusal as error:
                refusal = refusal or error
            else:
                self.dialect.colors, self.dialect.capitals = colors, capitals
                return
        assert refusal is not None
        raise refusal

    def _pass(self, color: Color) -> None:
        """Send a pass in the first form that the engine accepts."""
        known = self.dialect.pass_word
        for word in PASS_WORDS if known is None else [known] if known else []:
            try:
                self.ask(f"play {self.color(color)} {word}")
            except GtpRefusal:
                continue
            self.dialect.pass_word = word
            return
        self.dialect.pass_word = ""

    def generate(
        self, color: Color, patience: float | None = -1.0, command: str = "genmove"
    ) -> str:
        """Return the engine's answer to genmove; raises GtpRefusal and PlayerFailure."""
        refusal = None
        for colors in self._colors():
            try:
                answer = self.ask(f"{command} {colors[color is Color.WHITE]}", patience)
            except GtpRefusal as error:
                refusal = refusal or error
            else:
                self.dialect.colors = colors
                return answer
        assert refusal is not None
        raise refusal

    def color(self, color: Color) -> str:
        """Return the engine's word for a colour."""
        return next(self._colors())[color is Color.WHITE]

    def square(self, name: str) -> str:
        """Return a square's name in the engine's case."""
        return name.upper() if self.dialect.capitals else name

    def _colors(self) -> Iterator[tuple[str, str]]:
        """Yield the words for Black and White to try."""
        return iter(_COLORS if self.dialect.colors is None else [self.dialect.colors])

    # ------------------------------------------------------------------ time

    def tell_time(self, color: Color, limits: Limits, first: bool) -> None:
        """Send time limits in whole seconds, as GTP needs: rounded down, at least 1.

        first: True at the first move of a game. What an engine refuses is not sent again.
        """
        whole = max(1, math.floor(limits.allowed or 0))
        by_move = limits.per_move is not None
        commands = [f"time_left {self.color(color)} {whole} {1 if by_move else 0}"]
        if first:
            settings = f"time_settings 0 {whole} 1" if by_move else f"time_settings {whole} 0 0"
            commands.insert(0, settings)
        for command in commands:
            name = command.partition(" ")[0]
            others = tuple(clock for clock in self.dialect.clocks if clock != name)
            self.dialect.clocks = (*others, name) if self.offer(command) else others
