"""Named checks that a program speaks the NBoard protocol.

Each check records the lines sent and the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from othello_lab.agents.checking import Check, NotApplicable, Violation
from othello_lab.agents.external.checking import INNER, EngineUnderTest, line_to_a_pass, moves_of
from othello_lab.agents.external.nboard import ANSWER, read_answer
from othello_lab.core.game import PlayerFailure
from othello_lab.core.notation import PASS, IllegalMove, format_ggf, ggf_word, parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

_DEPTH = 2
_LINE = ("D3", "c3", "B3")
"""After these moves none of the moves from the start is legal."""
_ONE_MOVE = moves_of("d3")


@dataclass
class NBoardEngineUnderTest(EngineUnderTest):
    """An NBoard engine under examination. pings: the number of pings sent."""

    pings: int = 0

    def greet(self) -> None:
        self.say("nboard 2")
        self.say(f"set depth {_DEPTH}")

    def say(self, line: str) -> None:
        """Send a line that needs no answer."""
        self.note(line, "(not to be answered)")
        self.program.send(line, self.patience)

    def until(self, line: str, end: str, patience: float) -> list[str]:
        """Send a line and return all answers up to the first that matches the regex ``end``."""
        self.program.send(line, self.patience)
        answers: list[str] = []
        try:
            while not answers or not re.match(end, answers[-1]):
                answers.append(self.program.receive(patience).strip())
        except PlayerFailure as fault:
            answers.append(f"({fault.reason})")
            raise
        finally:
            self.note(line, "\n".join(answers))
        return answers

    def go(self) -> list[str]:
        """Return all lines that the engine says until it has chosen a move."""
        return self.until("go", ANSWER, self.think)

    def ping(self) -> list[str]:
        """Wait until the engine has done all its commands and return the lines it printed."""
        self.pings += 1
        return self.until(f"ping {self.pings}", rf"pong {self.pings}$", self.patience)

    def quiet(self) -> list[str]:
        """Return the lines up to a pong; raises Violation for a move without ``go``."""
        lines = self.ping()
        if said := [line for line in lines if line.startswith(ANSWER)]:
            raise Violation(f"'{said[0]}' without go")
        return lines

    def ignores(self, *lines: str) -> None:
        """Send lines that the engine has to ignore; raises Violation."""
        for line in lines:
            self.say(line)
        self.quiet()

    # ------------------------------------------------------------------ games

    def set_game(self, position: Position, moves: Iterable[int] = ()) -> Position:
        """Send a game that begins at a position and return the position after its moves."""
        plies, here = [], position
        for move in moves:
            plies.append((here.to_move, move))
            here = here.play(move)
        self.say(f"set game {format_ggf(position.to_obf(), plies, PC='lab', RE='?')}")
        return here

    def lead(self, moves: Iterable[int] = ()) -> Position:
        return self.set_game(Position.start(), moves)

    def tell(self, position: Position, move: int) -> None:
        self.say(f"move {ggf_word(move)}")

    def move(self, position: Position) -> int:
        answer = self.go()[-1]
        try:
            move, _ = read_answer(answer, position.ruleset.side)
            position.play(move)
        except IllegalMove as error:
            raise Violation(f"'{answer}': {error}, at\n{position}") from None
        return move

    def take_turn(self, position: Position) -> int:
        move = self.move(position)
        self.tell(position, move)
        return move

    def play_as_in_run(self) -> str:
        """As the base says, from a set board."""
        self.ping()  # a program that speaks something else is not waited for as long as for a move
        for color in Color:
            self.play_game(self.set_game(INNER), color)
        return f"depth={_DEPTH}, or another depth; openings of any kind"


def _pings(case: NBoardEngineUnderTest) -> None:
    for _ in range(3):
        case.quiet()


def _named(case: NBoardEngineUnderTest) -> None:
    case.end()
    case.exchanges = []
    case.begin()
    said = [line for line in case.ping() if re.match(r"set myname\b", line)]
    if not said:
        raise NotApplicable("it does not give its name (optional)")
    if not said[-1].removeprefix("set myname").strip():
        raise Violation(f"'{said[-1]}': the name is missing")


def _stays(case: NBoardEngineUnderTest) -> None:
    position = case.lead()
    case.move(position)
    case.move(position)  # the engine must not have made its move


def _accepts_moves(case: NBoardEngineUnderTest, words: Iterable[str] = _LINE) -> None:
    position = case.lead()
    for word in words:
        case.say(f"move {word}")
        position = position.play(word[:2])
    case.move(position)


def _accepts_notes(case: NBoardEngineUnderTest) -> None:
    _accepts_moves(case, [f"{word.upper()}/1.50/0.25" for word in _LINE])


def _sets_anew(case: NBoardEngineUnderTest) -> None:
    case.lead(_ONE_MOVE)
    case.moves_after("f5f6")


def _values(case: NBoardEngineUnderTest) -> None:
    case.lead(_ONE_MOVE)
    answer = case.go()[-1]
    if read_answer(answer, 8)[1] is None:
        if len(re.split(r"[/\s]+", answer.removeprefix(ANSWER).strip())) > 1:
            raise Violation(f"'{answer}': a finite number is expected after the move")
        raise NotApplicable(f"'{answer}' has no value (optional)")


def _nodes(case: NBoardEngineUnderTest) -> None:
    case.lead(_ONE_MOVE)
    said = [line for line in case.go() if line.startswith("nodestats")]
    if not said:
        raise NotApplicable("it does not count nodes (optional)")
    if not re.fullmatch(r"nodestats\s+[\d.]+(e[+-]?\d+)?(\s+[\d.]+(e[+-]?\d+)?)?", said[-1]):
        raise Violation(f"'{said[-1]}': a count and seconds are expected")


def _hints(case: NBoardEngineUnderTest) -> None:
    position = case.lead(_ONE_MOVE)
    answers = case.until("hint 1", "(search|book) ", case.patience)  # a ping would end the search
    said = [line.split() for line in (*answers, *case.quiet()) if re.match("(search|book) ", line)]
    for words in said:
        if parse_square(words[1][:2]) not in position.moves:
            raise Violation(f"'{' '.join(words)}' begins with no legal move, at\n{position}")


def _deeper(case: NBoardEngineUnderTest) -> None:
    try:
        for depth in (1, 3):
            case.say(f"set depth {depth}")
            case.moves_after("")
    finally:
        with suppress(PlayerFailure):
            case.say(f"set depth {_DEPTH}")


def _accepts_passes(case: NBoardEngineUnderTest) -> None:
    case.move(case.accepts_pass())
    case.move(case.lead([*line_to_a_pass(), PASS]))


def _learns(case: NBoardEngineUnderTest) -> None:
    case.lead(_ONE_MOVE)
    case.program.send("learn", case.patience)
    if not any(line.startswith("learn") for line in case.quiet()):
        raise NotApplicable("it does not answer learned (optional)")


def _quits(case: NBoardEngineUnderTest) -> None:
    case.say("quit")
    case.has_to_end()


CHECKS = (
    Check("starts", "It starts, and answers a ping", lambda case: case.ping(), needed=True),
    Check("pings", "Each ping is answered, and nothing else", _pings),
    Check(
        "number",
        "Any number comes back",
        lambda case: case.until("ping 987654", "pong 987654$", case.patience),
    ),
    Check(
        "unknown",
        "It ignores unknown commands and settings",
        lambda case: case.ignores("no_such_command 1 2 3", "set no_such_setting 4"),
    ),
    Check("blank", "It ignores empty lines", lambda case: case.ignores("")),
    Check("name", "It says its name", _named),
    Check("go", "It answers go with a legal move for Black", lambda case: case.moves_after("")),
    Check(
        "white", "It answers go with a legal move for White", lambda case: case.moves_after("d3")
    ),
    Check("game", "set game plays the moves in it", lambda case: case.moves_after("".join(_LINE))),
    Check("stays", "go does not make the move", _stays),
    Check("move", "It accepts moves", _accepts_moves),
    Check("notes", "A move may come with value and time", _accepts_notes),
    Check("board", "set game accepts any board", lambda case: case.move(case.set_game(INNER))),
    Check("again", "Another set game takes the place of the first", _sets_anew),
    Check("value", "A move comes with its value", _values),
    Check("nodes", "nodestats has sane numbers", _nodes),
    Check("hint", "hint names a legal move", _hints),
    Check("depth", "set depth may come at any time", _deeper),
    Check(
        "pass",
        "It answers go with a pass where it has to",
        lambda case: case.move(case.lead(line_to_a_pass())),
    ),
    Check("passes", "It accepts passes", _accepts_passes),
    Check(
        "whole game",
        "It plays a whole game, only legal moves",
        lambda case: case.play_game(case.lead(), Color.WHITE),
    ),
    Check("learn", "learn is answered", _learns),
    Check("quit", "quit ends it", _quits),
)
