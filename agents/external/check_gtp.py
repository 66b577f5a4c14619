"""Named checks that a program speaks the Go Text Protocol as Othello engines should.

Each check records the lines sent and the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from othello_lab.agents.agent import Limits
from othello_lab.agents.checking import Check, NotApplicable, Violation
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
        _accepts_passes(self)
        with suppress(PlayerFailure):
            self.engine.set_board(INNER)
        more = f"; it resigned {counted(resigned, 'game')} of 2" if resigned else ""
        return f"{self.engine.dialect}{more}"


# ------------------------------------------------------------------ about itself


def _starts(case: GtpEngineUnderTest) -> None:
    with suppress(GtpRefusal):
        case.ask("protocol_version")


def _version(case: GtpEngineUnderTest) -> None:
    answer = case.must("protocol_version")
    if not re.fullmatch(r"2(\.\d+)?", answer):
        raise Violation(f"the version is '{answer}'; 2 is expected")


def _name(case: GtpEngineUnderTest) -> None:
    for command in ("name", "version"):
        if not case.must(command):
            raise Violation(f"it has no {command}")


def _lists(case: GtpEngineUnderTest) -> None:
    known = case.must("list_commands").lower().split()
    if missing := [name for name in NEEDED if name not in known]:
        raise Violation(f"not listed: {', '.join(missing)}")


def _knows(case: GtpEngineUnderTest) -> None:
    case.needs("known_command")
    for name, known in (("genmove", "true"), ("no_such_command", "false")):
        if (answer := case.must(f"known_command {name}")) != known:
            raise Violation(f"'{answer}' for {name}; {known} is expected")


def _unknown(case: GtpEngineUnderTest) -> None:
    case.refuses("no_such_command", "there is no such command")
    with suppress(GtpRefusal):
        case.ask("name")  # the engine still answers


def _numbers(case: GtpEngineUnderTest) -> None:
    """Check that an answer carries its command's number, needed to match the two."""
    for number, command in ((4711, "protocol_version"), (4712, "no_such_command")):
        first = _raw(case, f"{number} {command}")
        if not re.match(rf"[=?]{number}\b", first):
            raise Violation(f"answered '{first}'; ={number} or ?{number} is expected")


def _blank(case: GtpEngineUnderTest) -> None:
    expected = _raw(case, "protocol_version")
    if _raw(case, "", "# nothing", "protocol_version") != expected or _says_more(case):
        case.end()  # its further answers would pass for those to the next commands
        raise Violation("it has answered an empty line or a comment")


def _says_more(case: GtpEngineUnderTest) -> bool:
    """Return True if the engine soon prints a line that nothing has asked for."""
    case.program.read_output(_STRAY_SECONDS)
    return case.program.receive_now() is not None


def _raw(case: GtpEngineUnderTest, *lines: str) -> str:
    """Send these lines unchanged and return the first line of the answer."""
    for line in lines:
        case.program.send(line, case.patience)
    answers = [case.program.receive(case.patience)]
    while answers[-1].strip():
        answers.append(case.program.receive(case.patience))
    for line in lines[:-1]:
        case.note(line, "(nothing)")
    case.note(lines[-1], answers[0])
    return answers[0]


# ------------------------------------------------------------------ the board


def _sizes(case: GtpEngineUnderTest) -> None:
    case.needs("boardsize")
    case.must("boardsize 8")
    case.refuses("boardsize 99", "no board is that large")
    case.must("boardsize 8")


def _game(case: GtpEngineUnderTest) -> None:
    case.needs("set_game")
    for name in GAMES:
        with suppress(GtpRefusal):
            case.ask(f"set_game {name}")
            return
    raise Violation(f"it knows neither {' nor '.join(GAMES)}")


def _letters(case: GtpEngineUnderTest) -> None:
    case.lead()
    for command in ("play b D3", "play W c5", "play B f6", "play white F5", "play Black e6"):
        case.must(command)


def _illegal(case: GtpEngineUnderTest) -> None:
    case.lead()
    board = case.board()
    case.refuses(case.play(Color.BLACK, "a1"), "a1 traps nothing")
    case.refuses(case.play(Color.BLACK, "d4"), "d4 is occupied")
    case.board(board)
    case.must(case.play(Color.BLACK, "d3"))


def _nonsense(case: GtpEngineUnderTest) -> None:
    case.lead()
    case.refuses(case.play(Color.BLACK, "z9"), "there is no such square")
    case.refuses("play green d3", "there is no such color")
    case.refuses("play black", "the square is missing")
    case.must(case.play(Color.BLACK, "d3"))


def _turn(case: GtpEngineUnderTest) -> None:
    for before, square in (("", "e3"), ("", "d3"), ("d3", "f5"), ("d3", "c5")):
        position = case.lead(moves_of(before))  # one square is a legal move of White's, the other
        turn = position.to_move.value.capitalize()  # of Black's
        case.refuses(case.play(position.to_move.other, square), f"it is {turn}'s turn")


def _clears(case: GtpEngineUnderTest) -> None:
    case.lead()
    board = case.board()
    case.lead(moves_of("d3c5f6f5e6e3"))
    position = case.lead()
    case.board(board)
    case.tell(position, 26)
    case.move(position.play(26))


def _shows(case: GtpEngineUnderTest) -> None:
    case.needs("showboard")
    case.lead()
    first = case.must("showboard")
    case.must(case.play(Color.BLACK, "d3"))
    if case.must("showboard") == first:
        raise Violation("the board looks the same after a move")


def _undoes(case: GtpEngineUnderTest) -> None:
    case.needs("undo")
    position = case.lead()
    board = case.board()
    case.lead(moves_of("d3c5"))
    case.must("undo")
    case.must("undo")
    case.board(board)
    case.refuses("undo", "there is no move to take back")
    case.tell(position, 26)
    case.move(position.play(26))


def _sets(case: GtpEngineUnderTest) -> None:
    names = case.engine.dialect.known or BOARD_SETTERS
    if not any(name.endswith(BOARD_SETTERS) and case.knows(name) for name in names):
        raise NotApplicable(f"it has no command that ends with {' or '.join(BOARD_SETTERS)}")
    case.lead()
    case.engine.set_board(INNER)
    case.move(INNER)


# ------------------------------------------------------------------ moves


def _keeps(case: GtpEngineUnderTest) -> None:
    position = case.lead()
    move = case.move(position)
    case.refuses(case.play(Color.BLACK, square_name(move)), "genmove has made the move already")
    position = position.play(move)
    case.tell(position, position.moves[0])


def _only_says(case: GtpEngineUnderTest) -> None:
    case.needs("reg_genmove")
    position = case.lead()
    move = case.move(position, "reg_genmove")
    case.tell(position, move)  # reg_genmove must not have made it


def _passes(case: GtpEngineUnderTest) -> None:
    position = case.lead(line_to_a_pass())
    answer = case.generate(position)
    if answer.lower() not in ("pass", "pa", "--"):
        raise Violation(f"generated '{answer}' where only a pass is legal, at\n{position}")
    after = position.play(PASS)
    case.tell(after, after.moves[0])


def _accepts_passes(case: GtpEngineUnderTest) -> None:
    after = case.accepts_pass()
    case.tell(after, after.moves[0])


def _no_false_pass(case: GtpEngineUnderTest) -> None:
    case.lead()
    word = case.engine.dialect.pass_word or PASS_WORDS[0]
    case.refuses(f"play {case.engine.color(Color.BLACK)} {word}", "Black has moves")


def _plays(case: GtpEngineUnderTest) -> None:
    with suppress(Resignation):
        case.play_game(case.lead(), Color.WHITE)


def _knows_all_moves(case: GtpEngineUnderTest) -> None:
    """Send whole random games; a board with wrongly turned discs soon refuses a legal move."""
    for seed in range(_RANDOM_GAMES):
        case.lead(random_game(seed))


def _scores(case: GtpEngineUnderTest) -> None:
    case.needs("final_score")
    position = case.lead(random_game(2))
    answer = case.must("final_score")
    if not re.fullmatch(r"0|Draw|[BW]\+\d+(\.\d+)?", answer, re.IGNORECASE):
        raise Violation(f"'{answer}'; 0, B+6 or W+6 is expected")
    difference = position.disc_difference
    winner = position.to_move if difference > 0 else position.to_move.other
    if answer[0].upper() not in (winner.value[0].upper() if difference else "0D"):
        raise Violation(f"'{answer}' at\n{position}")


def _time(case: GtpEngineUnderTest) -> None:
    case.needs("time_settings", "time_left")
    position = case.lead()
    case.must("time_settings 60 0 0")
    case.must(f"time_left {case.engine.color(Color.BLACK)} 30 0")
    case.move(position)


def _two_games(case: GtpEngineUnderTest) -> None:
    for transcript in ("d3c5f6f5e6e3", "f5d6c3d3c4f4"):
        case.moves_after(transcript)


def _quits(case: GtpEngineUnderTest) -> None:
    case.must("quit")
    case.has_to_end()


CHECKS = (
    Check("starts", "It starts, and answers", _starts, needed=True),
    Check("version", "It speaks version 2 of the protocol", _version),
    Check("name", "It has a name and a version", _name),
    Check("list", f"list_commands lists {', '.join(NEEDED)}", _lists),
    Check("known", "known_command tells a known command from an unknown one", _knows),
    Check("unknown", "It refuses an unknown command, and goes on", _unknown),
    Check("numbers", "A command's number comes back with the answer", _numbers),
    Check("blank", "It leaves empty lines and comments alone", _blank),
    Check("sizes", "boardsize 8 is accepted, 99 is not", _sizes),
    Check("game", "set_game knows Othello or Reversi", _game),
    Check("play", "Black begins, White answers", lambda case: case.lead(moves_of("d3c5"))),
    Check("letters", "Colors in short and in full, and squares, in either case", _letters),
    Check("illegal", "An illegal move is refused, and nothing changes", _illegal),
    Check("nonsense", "A move with a wrong or missing square or color is refused", _nonsense),
    Check("turn", "A move of the wrong color is refused", _turn),
    Check("clear", "clear_board goes back to the start", _clears),
    Check("show", "showboard shows the board", _shows),
    Check("undo", "undo takes back moves, and no more than there are", _undoes),
    Check("set", "A board can be set", _sets),
    Check("genmove", "It generates a legal move for Black", lambda case: case.moves_after("")),
    Check("white", "It generates a legal move for White", lambda case: case.moves_after("d3")),
    Check("keeps", "genmove makes the move on its board", _keeps),
    Check("reg", "reg_genmove does not make the move", _only_says),
    Check("pass", "It generates a pass where it has to", _passes),
    Check("passes", "It accepts a pass, or passes by itself", _accepts_passes),
    Check("no pass", "It refuses a pass while there are moves", _no_false_pass),
    Check("whole game", "It plays a whole game, only legal moves", _plays),
    Check("moves", f"It accepts all moves of {_RANDOM_GAMES} random games", _knows_all_moves),
    Check("score", "final_score names the winner", _scores),
    Check("time", "It accepts time limits", _time),
    Check("two games", "A second game after the first", _two_games),
    Check("quit", "quit ends it", _quits),
)
