"""Named checks that a program speaks the Go Text Protocol as Othello engines should.

Each check records the lines sent and the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from othello_lab.agents.agent import Limits
from othello_lab.agents.checks.check import Check, NotApplicable, Violation
from othello_lab.agents.checks.engine import INNER, EngineUnderTest, checks_in, random_game
from othello_lab.agents.external.gtp_connection import (
    BOARD_SETTERS,
    GAMES,
    PASS_WORDS,
    RESIGN,
    GtpConnection,
    GtpRefusal,
)
from othello_lab.core.game import PlayerFailure
from othello_lab.core.notation import IllegalMove, parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import counted

NEEDED = ("list_commands", "boardsize", "clear_board", "play", "genmove", "quit")
"""Commands that every engine should list."""
_RANDOM_GAMES = 20
_STRAY_SECONDS = 0.2


class Resignation(NotApplicable):
    """The engine has resigned, which it may at any move."""


@dataclass
class GtpEngineUnderTest(EngineUnderTest):
    """A GTP engine under examination, addressed in the forms that it understands.

    timed: True to tell the time in games. shown: the first board shown in the present check.
    """

    timed: bool = False
    shown: str | None = None

    def run(self, check: Check) -> str | None:
        self.shown = None
        return super().run(check)

    def greet(self) -> None:
        self.engine = GtpConnection(self.program, self.patience, self.note)
        self.engine.greet()

    def ask(self, command: str) -> str:
        """Send a command and return the answer; raises GtpRefusal."""
        return self.engine.ask(command, self.think if "genmove" in command else self.patience)

    def demand(self, command: str, refusal: str = "") -> str:
        """Return the answer to a command that an engine has to obey.

        refusal: the reason why it has to refuse the command by ``?`` instead. Raises Violation.
        """
        try:
            answer = self.ask(command)
        except GtpRefusal as error:
            if refusal:
                return ""
            raise Violation(f"refused '{command}': {error}") from None
        if refusal:
            raise Violation(f"answered '= {answer}' to '{command}': {refusal}")
        return answer

    def play(self, color: Color, square: str) -> str:
        """Return the command that plays a square or ``pass``, in the engine's forms."""
        passes = self.engine.dialect.pass_word or PASS_WORDS[0]
        word = passes if square == "pass" else self.engine.square(square)
        return f"play {self.engine.color(color)} {word}"

    def needs(self, *commands: str) -> None:
        """Raise NotApplicable unless the engine lists all these commands, or says it knows them."""
        for command in commands:
            if not self.knows(command):
                raise NotApplicable(f"it has no {command}")

    def knows(self, command: str) -> bool:
        """Return True if the engine lists a command, or lists none and says that it knows it."""
        if known := self.engine.dialect.known:
            return command in known
        with suppress(GtpRefusal):
            return self.ask(f"known_command {command}").lower() == "true"
        return False

    def board(self) -> None:
        """Raise Violation unless the engine shows the same board as before in this check.

        Without showboard nothing is compared.
        """
        board = ""
        with suppress(GtpRefusal):
            board = self.ask("showboard") if self.knows("showboard") else ""
        if self.shown not in (None, board):
            raise Violation(f"the board was to be as before, but is\n{board}")
        self.shown = board

    def command(self, line: str, position: Position) -> None:
        """Do what a line of a script says.

        ``B d3``: Black plays d3, in the engine's forms. ``board``: see :meth:`board`; ``changed``:
        it shows another one. ``needs``: optional commands. ``reg_genmove`` names a move. ``any``: a
        command that may be refused. Anything else is a command; ``COMMAND ? reason``: it has to be
        refused; ``COMMAND = regex``: the answer has to match.
        """
        line, _, reason = line.partition(" ? ")
        line, _, expected = line.partition(" = ")
        word, *words = line.split()
        if word == "board":
            self.board()
        elif word == "changed":
            if self.demand("showboard") == self.shown:
                raise Violation("the board looks the same after a move")
        elif word == "needs":
            self.needs(*words)
        elif word == "reg_genmove":
            self.move(position, word)
        elif word == "any":
            with suppress(GtpRefusal):
                self.ask(" ".join(words))
        else:
            color = {"B": Color.BLACK, "W": Color.WHITE}.get(word)
            command = self.play(color, words[0]) if color else line
            command = command.replace("BLACK", self.engine.color(Color.BLACK))
            answer = self.demand(command, reason)
            if expected and not answer:
                raise Violation(f"it has no {command}")
            if expected and not re.fullmatch(expected, answer, re.DOTALL):
                raise Violation(f"answered '= {answer}' to '{command}'; '{expected}' is expected")

    def lead(self, moves: Iterable[int] = ()) -> Position:
        self.engine.clear(8)
        position = Position.start()
        for move in moves:
            self.tell(position, move)
            position = position.play(move)
        return position

    def tell(self, position: Position, move: int) -> None:
        """Send a move; raises Violation if the engine refuses it.

        A pass is left out for an engine that accepts no word for it.
        """
        try:
            self.engine.try_play(position.to_move, move)
        except GtpRefusal as error:
            command = self.play(position.to_move, square_name(move))
            raise Violation(
                f"refused '{command}': {error}, though it is legal. So a move before has changed "
                f"its board wrongly; it should be\n{position}"
            ) from None

    def generate(self, position: Position, command: str = "genmove") -> str:
        """Return the engine's answer to genmove; raises Violation and Resignation."""
        try:
            answer = self.engine.generate(position.to_move, self.think, command)
        except GtpRefusal as error:
            color = self.engine.color(position.to_move)
            raise Violation(f"refused '{command} {color}': {error}") from None
        if answer.lower() == RESIGN:
            raise Resignation(f"it resigns, at\n{position}")
        return answer

    def move(self, position: Position, command: str = "genmove") -> int:
        answer = self.generate(position, command)
        try:
            move = parse_square(answer)
            position.play(move)
        except IllegalMove as error:
            raise Violation(f"generated {error}", position) from None
        return move

    def take_turn(self, position: Position) -> int:
        if self.timed:
            limits, first = Limits(seconds=self.think), position.discs < 6
            self.engine.tell_time(position.to_move, limits, first)
        return super().take_turn(position)

    def play_as_in_run(self) -> str:
        """As the base says; a resignation ends a game. The engine also has to set a board."""
        self.engine.set_game()
        self.timed, resigned = True, 0
        for color in Color:
            try:
                self.play_game(self.lead(), color)
            except Resignation:
                resigned += 1
        self.follow(["start pass", "move pass", "reply"])
        with suppress(PlayerFailure):
            self.engine.set_board(INNER)
        more = f"; it resigned {counted(resigned, 'game')} of 2" if resigned else ""
        return f"{self.engine.dialect}{more}"

    def check_list(self) -> None:
        known = self.demand("list_commands").lower().split()
        if missing := [name for name in NEEDED if name not in known]:
            raise Violation(f"not listed: {', '.join(missing)}")

    def check_numbers(self) -> None:
        """Check that an answer carries its command's number, needed to match the two."""
        for number, command in ((4711, "protocol_version"), (4712, "no_such_command")):
            first = self._raw(f"{number} {command}")
            if not re.match(rf"[=?]{number}\b", first):
                raise Violation(f"answered '{first}'; ={number} or ?{number} is expected")

    def check_blank(self) -> None:
        expected = self._raw("protocol_version")
        answer = self._raw("", "# nothing", "protocol_version")
        self.program.read_output(_STRAY_SECONDS)
        if answer != expected or self.program.receive_now() is not None:
            self.end()  # its further answers would pass for those to the next commands
            raise Violation("it has answered an empty line or a comment")

    def _raw(self, *lines: str) -> str:
        """Send these lines unchanged and return the first line of the answer."""
        for line in lines:
            self.program.send(line, self.patience)
        answers = [self.program.receive(self.patience)]
        while answers[-1].strip():
            answers.append(self.program.receive(self.patience))
        for line in lines[:-1]:
            self.note(line, "(nothing)")
        self.note(lines[-1], answers[0])
        return answers[0]

    def check_game(self) -> None:
        self.needs("set_game")
        for name in GAMES:
            with suppress(GtpRefusal):
                self.ask(f"set_game {name}")
                return
        raise Violation(f"it knows neither {' nor '.join(GAMES)}")

    def check_set(self) -> None:
        names = self.engine.dialect.known or BOARD_SETTERS
        if not any(name.endswith(BOARD_SETTERS) and self.knows(name) for name in names):
            raise NotApplicable(f"it has no command that ends with {' or '.join(BOARD_SETTERS)}")
        self.lead()
        self.engine.set_board(INNER)
        self.move(INNER)

    def check_keeps(self) -> None:
        position = self.lead()
        move = self.move(position)
        again = self.play(Color.BLACK, square_name(move))
        self.demand(again, "genmove has made the move already")
        position = position.play(move)
        self.tell(position, position.moves[0])

    def check_whole_game(self) -> None:
        with suppress(Resignation):
            self.play_game(self.lead(), Color.WHITE)

    def check_moves(self) -> None:
        """Send whole random games; a board with wrongly turned discs soon refuses a legal move."""
        for seed in range(_RANDOM_GAMES):
            self.lead(random_game(seed))

    def check_score(self) -> None:
        self.needs("final_score")
        position = self.lead(random_game(2))
        answer = self.demand("final_score")
        if not re.fullmatch(r"0|Draw|[BW]\+\d+(\.\d+)?", answer, re.IGNORECASE):
            raise Violation(f"'{answer}'; 0, B+6 or W+6 is expected")
        difference = position.disc_difference
        winner = position.to_move if difference > 0 else position.to_move.other
        if answer[0].upper() not in (winner.value[0].upper() if difference else "0D"):
            raise Violation(f"'{answer}'", position)

    def check_quit(self) -> None:
        self.demand("quit")
        self.has_to_end()


GtpEngineUnderTest.checks = checks_in(rf"""
starts: It starts, and answers
    any protocol_version
version: It speaks version 2 of the protocol
    protocol_version = 2(\.\d+)?
name: It has a name and a version
    name = .+
    version = .+
list: list_commands lists {", ".join(NEEDED)}
known: known_command tells a known command from an unknown one
    needs known_command
    known_command genmove = true
    known_command no_such_command = false
unknown: It refuses an unknown command, and goes on
    no_such_command ? there is no such command
    any name
numbers: A command's number comes back with the answer
blank: It leaves empty lines and comments alone
sizes: boardsize 8 is accepted, 99 is not
    needs boardsize
    boardsize 8; boardsize 99 ? no board is that large
    boardsize 8
game: set_game knows Othello or Reversi
play: Black begins, White answers
    start d3c5
letters: Colors in short and in full, and squares, in either case
    start; play b D3; play W c5; play B f6; play white F5; play Black e6
illegal: An illegal move is refused, and nothing changes
    start; board
    B a1 ? a1 traps nothing
    B d4 ? d4 is occupied
    board; B d3
nonsense: A move with a wrong or missing square or color is refused
    start; B z9 ? there is no such square
    play green d3 ? there is no such color
    play black ? the square is missing
    B d3
turn: A move of the wrong color is refused
    start; W e3 ? it is Black's turn
    start; W d3 ? it is Black's turn
    start d3; B f5 ? it is White's turn
    start d3; B c5 ? it is White's turn
clear: clear_board goes back to the start
    start; board; start d3c5f6f5e6e3
    start; board; move c4; go
show: showboard shows the board
    needs showboard
    start; board; B d3; changed
undo: undo takes back moves, and no more than there are
    needs undo
    start; board; start d3c5; undo; undo; board
    undo ? there is no move to take back
    move c4; go
set: A board can be set
genmove: It generates a legal move for Black
    start; go
white: It generates a legal move for White
    start d3; go
keeps: genmove makes the move on its board
reg: reg_genmove does not make the move
    needs reg_genmove
    start; reg_genmove BLACK; reply
pass: It generates a pass where it has to
    start pass; go; reply
passes: It accepts a pass, or passes by itself
    start pass; move pass; reply
no pass: It refuses a pass while there are moves
    start; B pass ? Black has moves
whole game: It plays a whole game, only legal moves
moves: It accepts all moves of {_RANDOM_GAMES} random games
score: final_score names the winner
time: It accepts time limits
    needs time_settings time_left
    start; time_settings 60 0 0; time_left BLACK 30 0; go
two games: A second game after the first
    start d3c5f6f5e6e3; go; start f5d6c3d3c4f4; go
quit: quit ends it
""")
