"""Named checks that a program speaks the NBoard protocol.

Each check records the lines sent and the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from othello_lab.agents.external.checking import (
    EngineCheck,
    EngineUnderTest,
    Exchange,
    NotApplicable,
    ProtocolViolation,
    judged,
    line_to_a_pass,
)
from othello_lab.agents.external.nboard import ANSWER, read_answer
from othello_lab.core.game import PlayerFailure
from othello_lab.core.notation import PASS, IllegalMove, format_ggf, ggf_word, parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

_DEPTH = 2
_LINE = ("D3", "c3", "B3")
"""After these moves none of the moves from the start is legal."""
_OPENING = ("f5", "d6", "c3", "d3", "c4")


@dataclass
class NBoardEngineUnderTest(EngineUnderTest):
    """An NBoard engine under examination. pings: the number of pings sent."""

    pings: int = 0

    def greet(self) -> None:
        self.say("nboard 2")
        self.say(f"set depth {_DEPTH}")

    def say(self, line: str) -> None:
        """Send a line that needs no answer."""
        self.exchanges.append(Exchange(line, "(not to be answered)"))
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
            self.exchanges.append(Exchange(line, "\n".join(answers)))
        return answers

    def ping(self) -> list[str]:
        """Wait until the engine has done all its commands and return the lines it printed."""
        self.pings += 1
        return self.until(f"ping {self.pings}", rf"pong {self.pings}$", self.patience)

    def set_game(self, position: Position, moves: Iterable[int] = ()) -> Position:
        """Send a game that begins at a position and return the position after its moves."""
        plies, here = [], position
        for move in moves:
            plies.append((here.to_move, move))
            here = here.play(move)
        self.say(f"set game {format_ggf(position.to_obf(), plies, PC='lab', RE='?')}")
        return here

    def move(self, position: Position) -> int:
        """Return the move that the engine chooses; raises ProtocolViolation if it is illegal."""
        answer = self.until("go", ANSWER, self.think)[-1]
        try:
            move, _ = read_answer(answer, position.ruleset.side)
            position.play(move)
        except IllegalMove as error:
            raise ProtocolViolation(f"'{answer}': {error}, at\n{position}") from None
        return move

    def quiet(self) -> list[str]:
        """Return the lines up to a pong; raises ProtocolViolation for a move without ``go``."""
        lines = self.ping()
        if said := [line for line in lines if line.startswith(ANSWER)]:
            raise ProtocolViolation(f"'{said[0]}' without go")
        return lines


def _pings(case: NBoardEngineUnderTest) -> None:
    for _ in range(3):
        case.quiet()


def _other_numbers(case: NBoardEngineUnderTest) -> None:
    case.until("ping 987654", "pong 987654$", case.patience)


def _unknown(case: NBoardEngineUnderTest) -> None:
    case.say("no_such_command 1 2 3")
    case.say("set no_such_setting 4")
    case.quiet()


def _blank(case: NBoardEngineUnderTest) -> None:
    case.say("")
    case.quiet()


def _named(case: NBoardEngineUnderTest) -> None:
    case.program.kill()
    case.begin()
    said = [line for line in case.ping() if re.match(r"set myname\b", line)]
    if not said:
        raise NotApplicable("it does not give its name (optional)")
    if not said[-1].removeprefix("set myname").strip():
        raise ProtocolViolation(f"'{said[-1]}': the name is missing")


def _goes(case: NBoardEngineUnderTest) -> None:
    case.move(case.set_game(Position.start()))


def _as_white(case: NBoardEngineUnderTest) -> None:
    case.move(case.set_game(Position.start(), [19]))


def _plays_moves(case: NBoardEngineUnderTest) -> None:
    case.move(case.set_game(Position.start(), tuple(map(parse_square, _LINE))))


def _stays(case: NBoardEngineUnderTest) -> None:
    position = case.set_game(Position.start())
    case.move(position)
    case.move(position)  # the engine must not have made its move


def _accepts_moves(case: NBoardEngineUnderTest, words: Sequence[str] = _LINE) -> None:
    position = case.set_game(Position.start())
    for word in words:
        case.say(f"move {word}")
        position = position.play(word[:2])
    case.move(position)


def _accepts_notes(case: NBoardEngineUnderTest) -> None:
    _accepts_moves(case, [f"{word.upper()}/1.50/0.25" for word in _LINE])


def _sets_positions(case: NBoardEngineUnderTest) -> None:
    case.move(case.set_game(Position.start().follow(_OPENING)[0]))


def _sets_anew(case: NBoardEngineUnderTest) -> None:
    case.set_game(Position.start(), (19,))
    case.move(case.set_game(Position.start(), tuple(map(parse_square, ("f5", "f6")))))


def _values(case: NBoardEngineUnderTest) -> None:
    case.set_game(Position.start(), (19,))
    answer = case.until("go", ANSWER, case.think)[-1]
    if read_answer(answer, 8)[1] is None:
        if len(re.split(r"[/\s]+", answer.removeprefix(ANSWER).strip())) > 1:
            raise ProtocolViolation(f"'{answer}': a finite number is expected after the move")
        raise NotApplicable(f"'{answer}' has no value (optional)")


def _nodes(case: NBoardEngineUnderTest) -> None:
    case.set_game(Position.start(), (19,))
    said = [line for line in case.until("go", ANSWER, case.think) if line.startswith("nodestats")]
    if not said:
        raise NotApplicable("it does not count nodes (optional)")
    if not re.fullmatch(r"nodestats\s+[\d.]+(e[+-]?\d+)?(\s+[\d.]+(e[+-]?\d+)?)?", said[-1]):
        raise ProtocolViolation(f"'{said[-1]}': a count and seconds are expected")


def _hints(case: NBoardEngineUnderTest) -> None:
    position = case.set_game(Position.start(), (19,))
    answers = case.until("hint 1", "(search|book) ", case.patience)  # a ping would end the search
    said = [line.split() for line in (*answers, *case.quiet()) if re.match("(search|book) ", line)]
    for words in said:
        if parse_square(words[1][:2]) not in position.moves:
            raise ProtocolViolation(
                f"'{' '.join(words)}' begins with no legal move, at\n{position}"
            )


def _deeper(case: NBoardEngineUnderTest) -> None:
    try:
        for depth in (1, 3):
            case.say(f"set depth {depth}")
            case.move(case.set_game(Position.start()))
    finally:
        with suppress(PlayerFailure):
            case.say(f"set depth {_DEPTH}")


def _passes(case: NBoardEngineUnderTest) -> None:
    case.move(case.set_game(Position.start(), line_to_a_pass()))


def _accepts_passes(case: NBoardEngineUnderTest) -> None:
    moves = line_to_a_pass()
    position = case.set_game(Position.start(), moves)
    case.say(f"move {ggf_word(PASS)}")
    case.move(position.play(PASS))
    case.move(case.set_game(Position.start(), [*moves, PASS]))


def _whole_game(case: NBoardEngineUnderTest) -> None:
    _play_whole_game(case, Position.start(), Color.WHITE)


def _play_whole_game(case: NBoardEngineUnderTest, start: Position, color: Color) -> None:
    """Play a game from a position to its end; the engine has a color, the other side is random."""
    position, rng = case.set_game(start), np.random.default_rng(1)
    while not position.is_over:
        is_engine = position.moves and position.to_move is color
        move = case.move(position) if is_engine else int(rng.choice(position.moves or (PASS,)))
        case.say(f"move {ggf_word(move)}")
        position = position.play(move)


def _learns(case: NBoardEngineUnderTest) -> None:
    case.set_game(Position.start(), (19,))
    case.program.send("learn", case.patience)
    if not any(line.startswith("learn") for line in case.quiet()):
        raise NotApplicable("it does not answer learned (optional)")


def _quits(case: NBoardEngineUnderTest) -> None:
    case.say("quit")
    case.has_to_end()


CHECKS = (
    EngineCheck("starts", "It starts, and answers a ping", lambda case: case.ping(), needed=True),
    EngineCheck("pings", "Each ping is answered, and nothing else", _pings),
    EngineCheck("number", "Any number comes back", _other_numbers),
    EngineCheck("unknown", "It ignores unknown commands and settings", _unknown),
    EngineCheck("blank", "It ignores empty lines", _blank),
    EngineCheck("name", "It says its name", _named),
    EngineCheck("go", "It answers go with a legal move for Black", _goes),
    EngineCheck("white", "It answers go with a legal move for White", _as_white),
    EngineCheck("game", "set game plays the moves in it", _plays_moves),
    EngineCheck("stays", "go does not make the move", _stays),
    EngineCheck("move", "It accepts moves", _accepts_moves),
    EngineCheck("notes", "A move may come with value and time", _accepts_notes),
    EngineCheck("board", "set game accepts any board", _sets_positions),
    EngineCheck("again", "Another set game takes the place of the first", _sets_anew),
    EngineCheck("value", "A move comes with its value", _values),
    EngineCheck("nodes", "nodestats has sane numbers", _nodes),
    EngineCheck("hint", "hint names a legal move", _hints),
    EngineCheck("depth", "set depth may come at any time", _deeper),
    EngineCheck("pass", "It answers go with a pass where it has to", _passes),
    EngineCheck("passes", "It accepts passes", _accepts_passes),
    EngineCheck("whole game", "It plays a whole game, only legal moves", _whole_game),
    EngineCheck("learn", "learn is answered", _learns),
    EngineCheck("quit", "quit ends it", _quits),
)


def verdict(case: NBoardEngineUnderTest) -> tuple[bool, str]:
    """Play whole games with both colours from a set board, as a run would.

    Returns True and the settings that the engine plays with, or False and the reason.
    """

    def play() -> str:
        case.ping()  # a program that speaks something else is not waited for as long as for a move
        for color in Color:
            _play_whole_game(case, Position.start().follow(_OPENING)[0], color)
        return f"depth={_DEPTH}, or another depth; openings of any kind"

    return judged(case, play)
