"""Checks of programs in a closed process: the file protocol, and all kinds of submissions.

A program of the file protocol plays in a scratch folder through
:class:`agents.external.wpi.WpiAgent`, as in ``play referee``, and is judged as there.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.checks.agent import AgentUnderTest
from othello_lab.agents.checks.check import (
    FAILED,
    Check,
    Finding,
    Interrupted,
    NotApplicable,
    Send,
    Violation,
    items_apart,
)
from othello_lab.agents.checks.engine import ProgramUnderTest, checks_in
from othello_lab.agents.external.program import Command, explained
from othello_lab.agents.external.submission import FILE, PROGRAMS, PYTHON, UNCLEAR, Submission
from othello_lab.agents.external.wpi import EXIT_SECONDS, Name, WpiAgent
from othello_lab.core.game import FINISHED, PlayerFailure, play_game
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.confinement import Box, Confinement
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import Choice, Nameable, Number, check_settings
from othello_lab.core.wpi import color_letter, move_text

RULES = ruleset("wpi")
START_SECONDS = 10.0
"""Seconds for a program to start and to take its colour, if its limit is less."""
_GRACE = 0.02  # seconds, as in runs
_PAUSE = 1.0  # seconds that the opponent thinks before its first move
_MOST_GAMES = 20


class _Greedy(Agent):
    """Prefers the position of the least value after its move, one of several by chance."""

    def __init__(self, value: Callable[[Position], int]) -> None:
        self._value = value

    def decide(self, position: Position, limits: Limits) -> Decision:
        moves = map(int, self.rng.permutation(position.moves))
        return Decision(min(moves, key=lambda move: self._value(position.play(move))))


_NARROW = partial(_Greedy, lambda after: len(after.moves))
"""An opponent that leaves the program few moves, so that it has to pass."""
_NARROWED = partial(_Greedy, lambda after: -after.opponent.bit_count())
"""An opponent that turns as many discs as it can, and so has often to pass itself."""


@dataclass
class FileProgramUnderTest(ProgramUnderTest):
    """A program under examination.

    agent: plays through the program. limit: seconds for a move. total: see :class:`ProgramCheck`.
    slowest: seconds of its slowest move. passes: the number of passes that it made, and that it was
    told of, in all finished games. games, finished: the number of games begun and played to their
    end. stays: True if it went on after one. sent: the last text for it.
    """

    agent: WpiAgent
    limit: float
    total: float
    color: Color = Color.WHITE
    slowest: float = 0.0
    passes: dict[str, int] = field(default_factory=lambda: {"made": 0, "told": 0})
    games: int = 0
    finished: int = 0
    stays: bool = False
    sent: str = ""
    began: float = field(default_factory=time.monotonic)

    start = Position.start(RULES)

    def end(self) -> None:
        self.agent.close()

    def run(self, check: Check) -> str:
        super().run(check)
        return f"its slowest move took {self.slowest:.2f} s of {self.limit:g}"

    def command(self, line: str, position: Position) -> None:
        """Do what a line of a script says: ``white``, ``black``, its colour, or ``wait``."""
        if line == "wait":
            time.sleep(_PAUSE)
        else:
            self.color = Color(line)

    def lead(self, moves: Iterable[int] = ()) -> Position:
        """Start the program and let it take its colour; return the start of the game."""
        self.sent = color_letter(self.color, RULES)
        with self._noted():
            self.agent.begin_game(self.color, self.start, 1)
        if self.color is not RULES.begins:
            self._answered("(nothing yet)")
        return self.start

    def move(self, position: Position) -> int:
        with self._noted():
            move = self.agent.decide(position, Limits(seconds=self.limit)).move
        self._answered(move_text(move, position.to_move, RULES))
        self.agent.observe(move, position.play(move))
        return move

    def tell(self, position: Position, move: int) -> None:
        self.agent.observe(move, position.play(move))
        self.sent = move_text(move, position.to_move, RULES)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Note a failure as the program's answer."""
        try:
            yield
        except PlayerFailure as fault:
            self._answered(f"({fault.reason})")
            raise

    def _answered(self, answer: str) -> None:
        self.note(f"{self.agent.name}.in: {self.sent}", answer)

    def whole_game(self, color: Color, opponent: Agent) -> None:
        """Play a whole game; raises Violation if the program loses it by a fault."""
        self.exchanges, self.sent = [], color_letter(color, RULES)
        self.games += 1
        record = play_game(
            {color: self.agent, color.other: opponent},
            self.start,
            limits=Limits(seconds=self.limit),
            grace=_GRACE,
            seeds={color: 1, color.other: self.games},
        )
        for ply in record.plies:
            text = move_text(ply.move, ply.color, RULES)
            if ply.color is color:
                self._answered(text)
                self.slowest = max(self.slowest, ply.nanoseconds / 1e9)
            else:
                self.sent = text
        if record.end_reason != FINISHED:
            self._answered(f"({record.end_reason})")
            raise Violation(f"{record.end_reason}: {record.detail.strip()}", record.final)
        for ply in record.plies:
            self.passes["made" if ply.color is color else "told"] += ply.move == PASS
        self.finished += 1
        self.stays = self.stays or not self.agent.ended_within(EXIT_SECONDS)

    def play_until_pass(self, passes: str, opponent: Callable[[], Agent]) -> None:
        """Play games until there was a pass. passes: ``made`` by the program, or ``told`` to it."""
        while not self.passes[passes]:
            over = time.monotonic() - self.began > self.total
            if over or self.games >= _MOST_GAMES:
                raise NotApplicable(f"no such pass in {counted(self.games, 'game')}")
            self.whole_game((Color.WHITE, Color.BLACK)[self.games % 2], opponent())

    def check_games(self) -> None:
        self.whole_game(Color.WHITE, _NARROW())
        self.whole_game(Color.BLACK, _NARROWED())

    def check_pass(self) -> None:
        self.play_until_pass("made", _NARROW)

    def check_passes(self) -> None:
        self.play_until_pass("told", _NARROWED)

    def check_ends(self) -> None:
        if not self.finished:
            raise NotApplicable("no game was played to its end")
        if self.stays:
            after = f"{EXIT_SECONDS:g} s after the last move"
            raise Violation(f"it is still there {after}; the referee ends it then")


FileProgramUnderTest.checks = checks_in(f"""
starts: It starts, reads its colour and deletes the file
    white; start
white: As White it writes a move at once, and answers
    white; start; go; reply; go; reply; go
black: As Black it waits for White's move, and answers
    black; start; wait; reply; go; reply; go
games: It plays whole games with both colours
pass: It passes where it cannot move
passes: It goes on after its opponent's pass
ends: It ends within {EXIT_SECONDS:g} s after a game
""")


@dataclass(frozen=True)
class ProgramCheck(Nameable):
    """Limits of the check of a program, which plays in a closed process."""

    limit: Annotated[float, Number(above=0)] = 60.0
    """Seconds for a move by the file protocol."""
    total: Annotated[float, Number(low=0)] = 60.0
    """Seconds after which no further game of the file protocol begins that is played to see a
    pass."""
    children: bool = False
    """It may start other programs, as ``isolation.children`` allows it."""

    def __post_init__(self) -> None:
        check_settings(self)

    def findings(self, agent: Agent) -> Iterator[Finding]:
        """Run the checks in a closed process that may read the agent's files; yield each finding.

        A program of the file protocol plays as with the referee; all others are held to the
        contract of agents. Raises ValueError if the process ends before the last finding.
        """
        if isinstance(agent, Submission) and agent.protocol == UNCLEAR:
            yield _no_start(agent.problem)
            return
        prepare_rules(None)
        box = Box(private=(os.path.abspath("results"),))
        confinement = Confinement(box=box).opening(agent.files())
        try:
            for finding in items_apart(self._inside, agent, confinement=confinement):
                yield Finding(**finding)
        except Interrupted as reason:
            raise ValueError(f"the checks have not been completed: {reason}") from None

    def _inside(self, send: Send, agent: Agent) -> None:
        """Send the findings, in the closed process."""
        logging.getLogger().addHandler(logging.NullHandler())
        if not self.children:
            agent.forbid_children()
        path = getattr(agent, "path", None)
        name = agent.name if isinstance(agent, WpiAgent) else Path(str(path)).stem
        for finding in self._findings(agent):
            send(asdict(replace(finding, detail=explained(finding.detail, name, path))))

    def _findings(self, agent: Agent) -> Iterator[Finding]:
        # The code of a submission in Python runs in the processes of the checks alone.
        if isinstance(agent, Submission) and agent.protocol != PYTHON:
            try:
                agent = agent.make()
            except PlayerFailure as fault:
                return iter([_no_start(fault.detail)])
        if isinstance(agent, WpiAgent):
            return FileProgramUnderTest(agent, self.limit, self.total).findings()
        return AgentUnderTest(agent).findings()


def _no_start(reason: str) -> Finding:
    """Return the finding about a program that plays in no way."""
    return Finding("start", "It can be recognised, compiled and started", FAILED, reason)


@dataclass(frozen=True, kw_only=True)
class FileCheck(ProgramCheck):
    """A program of the file protocol to check."""

    command: Command
    """The program and its arguments."""
    name: Name = None
    """Name of its files; by default that of the program."""

    def run(self) -> Iterator[Finding]:
        """Run the checks and yield each finding.

        Raises ValueError if there is no such program, or if its files have no name.
        """
        agent = WpiAgent(self.command, self.name, patience=max(self.limit, START_SECONDS))
        agent.prepare()
        return self.findings(agent)


@dataclass(frozen=True)
class SubmissionCheck(ProgramCheck):
    """Settings of the check of programs handed in."""

    limit: Annotated[float, Number(above=0)] = 10.0
    total: Annotated[float, Number(low=0)] = 20.0
    protocol: Annotated[str, Choice(*PROGRAMS)] = FILE
    """Of programs without a YAML."""
