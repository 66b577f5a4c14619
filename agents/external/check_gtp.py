"""Named checks that a program speaks the Go Text Protocol as Othello engines should.

Each check records the lines sent and the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from othello_lab.agents.agent import Limits
from othello_lab.agents.checking import Check, NotApplicable, Violation, checks_of, named_check
from othello_lab.agents.external.checking import (
    INNER,
    EngineUnderTest,
    line_to_a_pass,
    moves_of,
    random_game,
)
from othello_lab.agents.external.gtp_connection import (
    BOARD_SETTERS,
    GAMES,
    PASS_WORDS,
    RESIGN,
    GtpConnection,
    GtpRefusal,
)
from othello_lab.core.game import PlayerFailure
from othello_lab.core.notation import PASS, IllegalMove, parse_square, square_name
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

    timed: True to tell the time in games.
    """

    timed: bool = False

    def greet(self) -> None:
        self.engine = GtpConnection(self.program, self.patience, self.note)
        self.engine.greet()

    def ask(self, command: str) -> str:
        """Send a command and return the answer; raises GtpRefusal."""
        return self.engine.ask(command, self.think if "genmove" in command else self.patience)

    def must(self, command: str) -> str:
        """Return the answer to a command that an engine has to obey; raises Violation."""
        try:
            return self.ask(command)
        except GtpRefusal as error:
            raise Violation(f"refused '{command}': {error}") from None

    def refuses(self, command: str, why: str) -> None:
        """Send a command that an engine has to refuse by ``?``. why: the reason, for the error."""
        try:
            answer = self.ask(command)
        except GtpRefusal:
            return
        raise Violation(f"answered '= {answer}' to '{command}': {why}")

    def play(self, color: Color, square: str) -> str:
        """Return the command that plays a square, in the engine's forms."""
        return f"play {self.engine.color(color)} {self.engine.square(square)}"

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

    def board(self, before: str | None = None) -> str:
        """Return the board that the engine shows; raises Violation unless as before."""
        board = ""
        with suppress(GtpRefusal):
            board = self.ask("showboard") if self.knows("showboard") else ""
        if before not in (None, board):
            raise Violation(f"the board was to be as before, but is\n{board}")
        return board

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
            raise Violation(f"generated {error}, at\n{position}") from None
        return move

    def take_turn(self, position: Position) -> int:
        if self.timed:
            limits, first = Limits(seconds=self.think), position.discs < 6
            self.engine.tell_time(position.to_move, limits, first)
        return self.move(position)

    def play_as_in_run(self) -> str:
        """As the base says; a resignation ends a game. The engine also has to set a board."""
        self.engine.set_game()
        self.timed, resigned = True, 0
        for color in Color:
            try:
                self.play_game(self.lead(), color)
            except Resignation:
                resigned += 1
        self._accepts_passes.run(self)
        with suppress(PlayerFailure):
            self.engine.set_board(INNER)
        more = f"; it resigned {counted(resigned, 'game')} of 2" if resigned else ""
        return f"{self.engine.dialect}{more}"

    # ------------------------------------------------------------------ about itself

    @named_check("starts", "It starts, and answers", needed=True)
    def _starts(self) -> None:
        with suppress(GtpRefusal):
            self.ask("protocol_version")

    @named_check("version", "It speaks version 2 of the protocol")
    def _version(self) -> None:
        answer = self.must("protocol_version")
        if not re.fullmatch(r"2(\.\d+)?", answer):
            raise Violation(f"the version is '{answer}'; 2 is expected")

    @named_check("name", "It has a name and a version")
    def _name(self) -> None:
        for command in ("name", "version"):
            if not self.must(command):
                raise Violation(f"it has no {command}")

    @named_check("list", f"list_commands lists {', '.join(NEEDED)}")
    def _lists(self) -> None:
        known = self.must("list_commands").lower().split()
        if missing := [name for name in NEEDED if name not in known]:
            raise Violation(f"not listed: {', '.join(missing)}")

    @named_check("known", "known_command tells a known command from an unknown one")
    def _knows(self) -> None:
        self.needs("known_command")
        for name, known in (("genmove", "true"), ("no_such_command", "false")):
            if (answer := self.must(f"known_command {name}")) != known:
                raise Violation(f"'{answer}' for {name}; {known} is expected")

    @named_check("unknown", "It refuses an unknown command, and goes on")
    def _unknown(self) -> None:
        self.refuses("no_such_command", "there is no such command")
        with suppress(GtpRefusal):
            self.ask("name")  # the engine still answers

    @named_check("numbers", "A command's number comes back with the answer")
    def _numbers(self) -> None:
        """Check that an answer carries its command's number, needed to match the two."""
        for number, command in ((4711, "protocol_version"), (4712, "no_such_command")):
            first = self._raw(f"{number} {command}")
            if not re.match(rf"[=?]{number}\b", first):
                raise Violation(f"answered '{first}'; ={number} or ?{number} is expected")

    @named_check("blank", "It leaves empty lines and comments alone")
    def _blank(self) -> None:
        expected = self._raw("protocol_version")
        if self._raw("", "# nothing", "protocol_version") != expected or self._says_more():
            self.end()  # its further answers would pass for those to the next commands
            raise Violation("it has answered an empty line or a comment")

    def _says_more(self) -> bool:
        """Return True if the engine soon prints a line that nothing has asked for."""
        self.program.read_output(_STRAY_SECONDS)
        return self.program.receive_now() is not None

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

    # ------------------------------------------------------------------ the board

    @named_check("sizes", "boardsize 8 is accepted, 99 is not")
    def _sizes(self) -> None:
        self.needs("boardsize")
        self.must("boardsize 8")
        self.refuses("boardsize 99", "no board is that large")
        self.must("boardsize 8")

    @named_check("game", "set_game knows Othello or Reversi")
    def _game(self) -> None:
        self.needs("set_game")
        for name in GAMES:
            with suppress(GtpRefusal):
                self.ask(f"set_game {name}")
                return
        raise Violation(f"it knows neither {' nor '.join(GAMES)}")

    _turns = Check("play", "Black begins, White answers", lambda case: case.lead(moves_of("d3c5")))

    @named_check("letters", "Colors in short and in full, and squares, in either case")
    def _letters(self) -> None:
        self.lead()
        for command in ("play b D3", "play W c5", "play B f6", "play white F5", "play Black e6"):
            self.must(command)

    @named_check("illegal", "An illegal move is refused, and nothing changes")
    def _illegal(self) -> None:
        self.lead()
        board = self.board()
        self.refuses(self.play(Color.BLACK, "a1"), "a1 traps nothing")
        self.refuses(self.play(Color.BLACK, "d4"), "d4 is occupied")
        self.board(board)
        self.must(self.play(Color.BLACK, "d3"))

    @named_check("nonsense", "A move with a wrong or missing square or color is refused")
    def _nonsense(self) -> None:
        self.lead()
        self.refuses(self.play(Color.BLACK, "z9"), "there is no such square")
        self.refuses("play green d3", "there is no such color")
        self.refuses("play black", "the square is missing")
        self.must(self.play(Color.BLACK, "d3"))

    @named_check("turn", "A move of the wrong color is refused")
    def _turn(self) -> None:
        for before, square in (("", "e3"), ("", "d3"), ("d3", "f5"), ("d3", "c5")):
            # One square is a legal move of White's, the other of Black's.
            position = self.lead(moves_of(before))
            turn = position.to_move.value.capitalize()
            self.refuses(self.play(position.to_move.other, square), f"it is {turn}'s turn")

    @named_check("clear", "clear_board goes back to the start")
    def _clears(self) -> None:
        self.lead()
        board = self.board()
        self.lead(moves_of("d3c5f6f5e6e3"))
        position = self.lead()
        self.board(board)
        self.tell(position, 26)
        self.move(position.play(26))

    @named_check("show", "showboard shows the board")
    def _shows(self) -> None:
        self.needs("showboard")
        self.lead()
        first = self.must("showboard")
        self.must(self.play(Color.BLACK, "d3"))
        if self.must("showboard") == first:
            raise Violation("the board looks the same after a move")

    @named_check("undo", "undo takes back moves, and no more than there are")
    def _undoes(self) -> None:
        self.needs("undo")
        position = self.lead()
        board = self.board()
        self.lead(moves_of("d3c5"))
        self.must("undo")
        self.must("undo")
        self.board(board)
        self.refuses("undo", "there is no move to take back")
        self.tell(position, 26)
        self.move(position.play(26))

    @named_check("set", "A board can be set")
    def _sets(self) -> None:
        names = self.engine.dialect.known or BOARD_SETTERS
        if not any(name.endswith(BOARD_SETTERS) and self.knows(name) for name in names):
            raise NotApplicable(f"it has no command that ends with {' or '.join(BOARD_SETTERS)}")
        self.lead()
        self.engine.set_board(INNER)
        self.move(INNER)

    # ------------------------------------------------------------------ moves

    @named_check("genmove", "It generates a legal move for Black")
    def _generates(self) -> None:
        self.moves_after("")

    @named_check("white", "It generates a legal move for White")
    def _generates_for_white(self) -> None:
        self.moves_after("d3")

    @named_check("keeps", "genmove makes the move on its board")
    def _keeps(self) -> None:
        position = self.lead()
        move = self.move(position)
        self.refuses(self.play(Color.BLACK, square_name(move)), "genmove has made the move already")
        position = position.play(move)
        self.tell(position, position.moves[0])

    @named_check("reg", "reg_genmove does not make the move")
    def _only_says(self) -> None:
        self.needs("reg_genmove")
        position = self.lead()
        move = self.move(position, "reg_genmove")
        self.tell(position, move)  # reg_genmove must not have made it

    @named_check("pass", "It generates a pass where it has to")
    def _passes(self) -> None:
        position = self.lead(line_to_a_pass())
        answer = self.generate(position)
        if answer.lower() not in ("pass", "pa", "--"):
            raise Violation(f"generated '{answer}' where only a pass is legal, at\n{position}")
        after = position.play(PASS)
        self.tell(after, after.moves[0])

    @named_check("passes", "It accepts a pass, or passes by itself")
    def _accepts_passes(self) -> None:
        after = self.accepts_pass()
        self.tell(after, after.moves[0])

    @named_check("no pass", "It refuses a pass while there are moves")
    def _no_false_pass(self) -> None:
        self.lead()
        word = self.engine.dialect.pass_word or PASS_WORDS[0]
        self.refuses(f"play {self.engine.color(Color.BLACK)} {word}", "Black has moves")

    @named_check("whole game", "It plays a whole game, only legal moves")
    def _plays(self) -> None:
        with suppress(Resignation):
            self.play_game(self.lead(), Color.WHITE)

    @named_check("moves", f"It accepts all moves of {_RANDOM_GAMES} random games")
    def _knows_all_moves(self) -> None:
        """Send whole random games; a board with wrongly turned discs soon refuses a legal move."""
        for seed in range(_RANDOM_GAMES):
            self.lead(random_game(seed))

    @named_check("score", "final_score names the winner")
    def _scores(self) -> None:
        self.needs("final_score")
        position = self.lead(random_game(2))
        answer = self.must("final_score")
        if not re.fullmatch(r"0|Draw|[BW]\+\d+(\.\d+)?", answer, re.IGNORECASE):
            raise Violation(f"'{answer}'; 0, B+6 or W+6 is expected")
        difference = position.disc_difference
        winner = position.to_move if difference > 0 else position.to_move.other
        if answer[0].upper() not in (winner.value[0].upper() if difference else "0D"):
            raise Violation(f"'{answer}' at\n{position}")

    @named_check("time", "It accepts time limits")
    def _time(self) -> None:
        self.needs("time_settings", "time_left")
        position = self.lead()
        self.must("time_settings 60 0 0")
        self.must(f"time_left {self.engine.color(Color.BLACK)} 30 0")
        self.move(position)

    @named_check("two games", "A second game after the first")
    def _two_games(self) -> None:
        for transcript in ("d3c5f6f5e6e3", "f5d6c3d3c4f4"):
            self.moves_after(transcript)

    @named_check("quit", "quit ends it")
    def _quits(self) -> None:
        self.must("quit")
        self.has_to_end()


CHECKS = checks_of(GtpEngineUnderTest)
