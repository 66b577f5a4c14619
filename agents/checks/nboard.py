"""Named checks that a program speaks the NBoard protocol.

Each check records the lines sent and the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from othello_lab.agents.checks.check import NotApplicable, Violation
from othello_lab.agents.checks.engine import (
    INNER,
    EngineUnderTest,
    checks_in,
    line_to_a_pass,
    moves_of,
)
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
    keeps_its_move = False

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

    def command(self, line: str, position: Position) -> None:
        """Do what a line of a script says.

        ``ping``, ``quiet``: see the methods. ``game``: the engine plays White to the end.
        ``blank``: an empty line. Anything else is a line that needs no answer.
        """
        if line in ("ping", "quiet"):
            getattr(self, line)()
        elif line == "game":
            self.play_game(position, Color.WHITE)
        elif line.startswith("ping"):
            self.until(line, line.replace("ping", "pong") + "$", self.patience)
        else:
            self.say(line.removeprefix("blank"))

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
            raise Violation(f"'{answer}': {error}", position) from None
        return move

    def play_as_in_run(self) -> str:
        """As the base says, from a set board."""
        self.ping()  # a program that speaks something else is not waited for as long as for a move
        for color in Color:
            self.play_game(self.set_game(INNER), color)
        return f"depth={_DEPTH}, or another depth; openings of any kind"

    def check_name(self) -> None:
        self.end()
        self.exchanges = []
        self.begin()
        said = [line for line in self.ping() if re.match(r"set myname\b", line)]
        if not said:
            raise NotApplicable("it does not give its name (optional)")
        if not said[-1].removeprefix("set myname").strip():
            raise Violation(f"'{said[-1]}': the name is missing")

    def check_move(self, words: Iterable[str] = _LINE) -> None:
        position = self.lead()
        for word in words:
            self.say(f"move {word}")
            position = position.play(word[:2])
        self.move(position)

    def check_notes(self) -> None:
        self.check_move([f"{word.upper()}/1.50/0.25" for word in _LINE])

    def check_board(self) -> None:
        self.move(self.set_game(INNER))

    def check_passes(self) -> None:
        self.follow(["start pass", "move pass", "go"])
        self.move(self.lead([*line_to_a_pass(), PASS]))

    def check_value(self) -> None:
        self.lead(_ONE_MOVE)
        answer = self.go()[-1]
        if read_answer(answer, 8)[1] is None:
            if len(re.split(r"[/\s]+", answer.removeprefix(ANSWER).strip())) > 1:
                raise Violation(f"'{answer}': a finite number is expected after the move")
            raise NotApplicable(f"'{answer}' has no value (optional)")

    def check_nodes(self) -> None:
        self.lead(_ONE_MOVE)
        said = [line for line in self.go() if line.startswith("nodestats")]
        if not said:
            raise NotApplicable("it does not count nodes (optional)")
        if not re.fullmatch(r"nodestats\s+[\d.]+(e[+-]?\d+)?(\s+[\d.]+(e[+-]?\d+)?)?", said[-1]):
            raise Violation(f"'{said[-1]}': a count and seconds are expected")

    def check_hint(self) -> None:
        position = self.lead(_ONE_MOVE)
        hint = "(search|book) "
        answers = self.until("hint 1", hint, self.patience)  # a ping would end the search
        for words in (line.split() for line in (*answers, *self.quiet()) if re.match(hint, line)):
            if parse_square(words[1][:2]) not in position.moves:
                raise Violation(f"'{' '.join(words)}' begins with no legal move", position)

    def check_depth(self) -> None:
        try:
            self.follow(["set depth 1", "start", "go", "set depth 3", "start", "go"])
        finally:
            with suppress(PlayerFailure):
                self.say(f"set depth {_DEPTH}")

    def check_learn(self) -> None:
        self.lead(_ONE_MOVE)
        self.program.send("learn", self.patience)
        if not any(line.startswith("learn") for line in self.quiet()):
            raise NotApplicable("it does not answer learned (optional)")

    def check_quit(self) -> None:
        self.say("quit")
        self.has_to_end()


NBoardEngineUnderTest.checks = checks_in("""
starts: It starts, and answers a ping
    ping
pings: Each ping is answered, and nothing else
    quiet; quiet; quiet
number: Any number comes back
    ping 987654
unknown: It ignores unknown commands and settings
    no_such_command 1 2 3; set no_such_setting 4; quiet
blank: It ignores empty lines
    blank; quiet
name: It says its name
go: It answers go with a legal move for Black
    start; go
white: It answers go with a legal move for White
    start d3; go
game: set game plays the moves in it
    start d3c3b3; go
stays: go does not make the move
    start; go; go
move: It accepts moves
notes: A move may come with value and time
board: set game accepts any board
again: Another set game takes the place of the first
    start d3; start f5f6; go
value: A move comes with its value
nodes: nodestats has sane numbers
hint: hint names a legal move
depth: set depth may come at any time
pass: It answers go with a pass where it has to
    start pass; go
passes: It accepts passes
whole game: It plays a whole game, only legal moves
    start; game
learn: learn is answered
quit: quit ends it
""")
