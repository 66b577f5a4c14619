"""Named checks that a program speaks the file protocol, as the referee judges it.

The program plays closed, in a scratch folder, through :class:`agents.external.wpi.WpiAgent`: as in
``play referee``.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from othello_lab.agents.agent import Agent, Decision, Files, Limits
from othello_lab.agents.external.checking import (
    EngineCheck,
    EngineFinding,
    Exchange,
    NotApplicable,
    ProtocolViolation,
    findings,
)
from othello_lab.agents.external.program import Command
from othello_lab.agents.external.wpi import EXIT_SECONDS, Name, WpiAgent
from othello_lab.core.game import FINISHED, PlayerFailure, play_game
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.confinement import Box, ConfinedProcess, Confinement
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.forked import Channel
from othello_lab.core.system.settings import Nameable, Number, check_settings
from othello_lab.core.wpi import color_letter, move_text

RULES = ruleset("wpi")
START_SECONDS = 10.0
"""Seconds for a program to start and to take its colour, if its limit is less."""
_GRACE = 0.02  # seconds, as in runs
_PAUSE = 1.0  # seconds that the opponent thinks before its first move
_MOST_GAMES = 20
_MOST_BYTES = 1 << 24  # of a finding


@dataclass
class FileProgramUnderTest:
    """A program under examination.

    agent: plays through the program. limit: seconds for a move. total: see :class:`FileCheck`.
    slowest: seconds of its slowest move. passes: the number of passes that it made, and
    that it was told of, in all finished games. games, finished: the number of games begun and
    played to their end. stays: True if it went on after one. sent: the last text for it.
    """

    agent: WpiAgent
    limit: float
    total: float
    exchanges: list[Exchange] = field(default_factory=list)
    slowest: float = 0.0
    passes: dict[str, int] = field(default_factory=lambda: {"made": 0, "told": 0})
    games: int = 0
    finished: int = 0
    stays: bool = False
    sent: str = ""
    began: float = field(default_factory=time.monotonic)

    def begin(self) -> None:
        self.exchanges = []

    def end(self) -> None:
        self.agent.close()

    def start(self, color: Color) -> Position:
        """Start the program and let it take its colour; return the start of the game."""
        start = Position.start(RULES)
        self.sent = color_letter(color, RULES)
        with self._noted():
            self.agent.begin_game(color, start, 1)
        if color is not RULES.begins:
            self._note("(nothing yet)")
        return start

    def move(self, position: Position) -> Position:
        """Return the position after the program's move; raises PlayerFailure."""
        with self._noted():
            move = self.agent.decide(position, Limits(seconds=self.limit)).move
        self._note(move_text(move, position.to_move, RULES))
        after = position.play(move)
        self.agent.observe(move, after)
        return after

    def tell(self, move: int, position: Position) -> Position:
        """Make the opponent's move, tell the program of it, and return the position after it."""
        after = position.play(move)
        self.agent.observe(move, after)
        self.sent = move_text(move, position.to_move, RULES)
        return after

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Note a failure as the program's answer."""
        try:
            yield
        except PlayerFailure as fault:
            self._note(f"({fault.reason})")
            raise

    def _note(self, answer: str) -> None:
        self.exchanges.append(Exchange(f"{self.agent.name}.in: {self.sent}", answer))

    def whole_game(self, color: Color, opponent: Agent) -> None:
        """Play a whole game; raises ProtocolViolation if the program loses it by a fault."""
        self.exchanges, self.sent = [], color_letter(color, RULES)
        self.games += 1
        record = play_game(
            {color: self.agent, color.other: opponent},
            Position.start(RULES),
            limits=Limits(seconds=self.limit),
            grace=_GRACE,
            seeds={color: 1, color.other: self.games},
        )
        for ply in record.plies:
            text = move_text(ply.move, ply.color, RULES)
            if ply.color is color:
                self._note(text)
                self.slowest = max(self.slowest, ply.nanoseconds / 1e9)
            else:
                self.sent = text
        if record.end_reason != FINISHED:
            self._note(f"({record.end_reason})")
            raise ProtocolViolation(
                f"{record.end_reason}: {record.detail.strip()}, at\n{record.final}"
            )
        for ply in record.plies:
            if ply.move == PASS:
                self.passes["made" if ply.color is color else "told"] += 1
        self.finished += 1
        self.stays = self.stays or not self.agent.ended_within(EXIT_SECONDS)


class _Narrow(Agent):
    """Leaves its opponent as few moves as it can, so that it has to pass."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(min(_shuffled(self, position), key=lambda move: _moves(position, move)))


class _Narrowed(Agent):
    """Turns as many discs as it can, and so has often to pass itself."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(max(_shuffled(self, position), key=lambda move: _turned(position, move)))


def _shuffled(agent: Agent, position: Position) -> list[int]:
    return [int(move) for move in agent.rng.permutation(position.moves)]


def _moves(position: Position, move: int) -> int:
    """Return the number of moves that the opponent has after a move."""
    return len(position.play(move).moves)


def _turned(position: Position, move: int) -> int:
    """Return the number of the mover's discs after a move."""
    return position.play(move).opponent.bit_count()


def _starts(case: FileProgramUnderTest) -> None:
    case.start(Color.WHITE)


def _as_white(case: FileProgramUnderTest) -> None:
    position = case.start(Color.WHITE)
    for _ in range(2):
        position = case.move(position)
        position = case.tell(position.moves[0], position)
    case.move(position)


def _as_black(case: FileProgramUnderTest) -> None:
    position = case.start(Color.BLACK)
    time.sleep(_PAUSE)
    for _ in range(2):
        position = case.tell(position.moves[0], position)
        position = case.move(position)


def _whole_games(case: FileProgramUnderTest) -> None:
    for color in (Color.WHITE, Color.BLACK):
        case.whole_game(color, _Narrow() if color is Color.WHITE else _Narrowed())


def _play_until(case: FileProgramUnderTest, passes: str, opponent: Callable[[], Agent]) -> None:
    """Play games until there was such a pass."""
    while not case.passes[passes]:
        over = time.monotonic() - case.began > case.total
        if over or case.games >= _MOST_GAMES:
            raise NotApplicable(f"no such pass in {counted(case.games, 'game')}")
        case.whole_game((Color.WHITE, Color.BLACK)[case.games % 2], opponent())


def _passes(case: FileProgramUnderTest) -> None:
    _play_until(case, "made", _Narrow)


def _takes_passes(case: FileProgramUnderTest) -> None:
    _play_until(case, "told", _Narrowed)


def _ends(case: FileProgramUnderTest) -> None:
    if not case.finished:
        raise NotApplicable("no game was played to its end")
    if case.stays:
        raise ProtocolViolation(
            f"it is still there {EXIT_SECONDS:g} s after the last move; the referee ends it then"
        )


CHECKS = (
    EngineCheck("starts", "It starts, reads its colour and deletes the file", _starts, needed=True),
    EngineCheck("white", "As White it writes a move at once, and answers", _as_white),
    EngineCheck("black", "As Black it waits for White's move, and answers", _as_black),
    EngineCheck("games", "It plays whole games with both colours", _whole_games),
    EngineCheck("pass", "It passes where it cannot move", _passes),
    EngineCheck("passes", "It goes on after its opponent's pass", _takes_passes),
    EngineCheck("ends", f"It ends within {EXIT_SECONDS:g} s after a game", _ends),
)


@dataclass(frozen=True)
class FileCheck(Nameable):
    """A program to check, and the limits of the check."""

    command: Command
    """The program and its arguments."""
    name: Name = None
    """Name of its files; by default that of the program."""
    limit: Annotated[float, Number(above=0)] = 60.0
    """Seconds for a move."""
    total: Annotated[float, Number(low=0)] = 60.0
    """Seconds after which no further game begins that is played to see a pass."""

    def __post_init__(self) -> None:
        check_settings(self)

    def run(self) -> Iterator[EngineFinding | float]:
        """Run the checks in a closed process; yield each finding, then the seconds of the slowest
        move.

        Raises ValueError if there is no such program, or if its files have no name.
        """
        agent = WpiAgent(self.command, self.name, patience=max(self.limit, START_SECONDS))
        agent.prepare()
        case = FileProgramUnderTest(agent, self.limit, self.total)
        yield from closed_checks(agent.files(), _run_checks, case)


def closed_checks(
    files: Files, main: Callable[..., None], *arguments: Any
) -> Iterator[EngineFinding | float]:
    """Run ``main(link, *arguments)`` in a closed process that sends findings and then a number;
    yield each. Raises ValueError if the process ends before that."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        process = ConfinedProcess(
            main,
            *arguments,
            confinement=Confinement(box=Box(private=(os.path.abspath("results"),))).opening(files),
            output=nowhere,
            most=_MOST_BYTES,
        )
    finally:
        os.close(nowhere)
    with closing(process):
        while isinstance(message := _received(process), dict):
            exchanges = tuple(Exchange(**each) for each in message.pop("exchanges"))
            yield EngineFinding(**message, exchanges=exchanges)
        yield float(message)


def _received(process: ConfinedProcess) -> Any:
    try:
        return json.loads(process.receive())
    except EOFError:
        raise ValueError(
            f"the process that runs the checks has ended (exit code {process.exit_code()})"
        ) from None


def send_findings(link: Channel, found: Iterator[EngineFinding]) -> None:
    """Send each finding out of a closed process."""
    logging.getLogger().addHandler(logging.NullHandler())
    for finding in found:
        link.send(json.dumps(asdict(finding)).encode())


def _run_checks(link: Channel, case: FileProgramUnderTest) -> None:
    """Run the checks as the main function of a process; send the slowest move last."""
    send_findings(link, findings(case, CHECKS))
    link.send(json.dumps(case.slowest).encode())
