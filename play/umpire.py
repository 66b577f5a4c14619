"""The umpire of games between two programs that speak the file protocol.

The judge is that of all games, :func:`core.game.play_game`. Each program plays as the agent
:class:`agents.external.WpiAgent`, in a process of its own below this one. The umpire has a process
for itself, so that it can end all below it, even after the printing process has been killed.
"""

from __future__ import annotations

import json
import logging
import os
import random
import select
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from othello_lab.agents.external.mailbox import FileNameError, mailbox_files
from othello_lab.agents.external.program import LAST_OUTPUT
from othello_lab.agents.external.wpi import EXIT_SECONDS, WpiAgent
from othello_lab.core.game import FINISHED, ILLEGAL, GameRecord, Limits, Ply, play_game
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.forked import Channel, ChildSignals
from othello_lab.core.system.processes import adopt_orphans, descendants, end_descendants
from othello_lab.core.system.scratch import ScratchFolder
from othello_lab.core.system.settings import Number, Switch, Text, Whole
from othello_lab.core.wpi import LONGEST, move_text
from othello_lab.experiments.playing.agent_proxy import AgentProxy
from othello_lab.experiments.playing.conditions import CLOSED, GameConditions, Isolation
from othello_lab.experiments.record.log import OUTPUT
from othello_lab.play.game import GameState
from othello_lab.play.game_files import game_text

RULES = ruleset("wpi")
START_SECONDS = 10.0
_GRACE = 0.02  # seconds, as in runs
_MORE_SECONDS = 5.0  # until an agent that stands for a program counts as hung
_CLOSE_SECONDS = 1.0
_LOOK_SECONDS = 0.05
_NAMES = Text(r"(?!([\w-]+),\1$)[\w-]+,[\w-]+", "two different words (names=anna,bert)")


@dataclass
class RefereeConfig:
    """The settings of the referee, see :data:`play.referee.USAGE`."""

    games: Annotated[int, Whole(1)] = 1
    limit: Annotated[float, Number(above=0)] = 60.0
    seed: Annotated[int | None, Whole(0)] = None
    names: Annotated[str | None, _NAMES] = None
    folder: Annotated[str | None, Text(r".+", "a folder")] = None
    output: Annotated[bool, Switch()] = False
    processes: Annotated[int, Whole(0)] = 64
    memory_mb: Annotated[int | None, Whole(1)] = None
    isolation: Isolation = field(default_factory=lambda: Isolation(CLOSED))
    ponder: Annotated[bool, Switch()] = False

    @property
    def patience(self) -> float:
        """Seconds in which a program has to take its colour, with its start."""
        return max(self.limit, START_SECONDS)


@dataclass(frozen=True)
class ExternalMatch:
    """Two programs that are to play. names: their names in all output. files: names of their
    files."""

    settings: RefereeConfig
    commands: tuple[str, str]
    names: tuple[str, str]
    files: tuple[str, str]


def umpire(link: Channel, contest: ExternalMatch) -> None:
    """The main function of a process: play all games, and send their events."""
    adopt_orphans()
    logging.getLogger().addHandler(logging.NullHandler())
    umpire = _Umpire(link, contest)
    if contest.settings.output:
        logging.getLogger(OUTPUT).addHandler(_OutputPrinter(umpire))
        logging.getLogger(OUTPUT).setLevel(logging.INFO)
    try:
        umpire.play_all()
        umpire.send("end", "")
    except _UserStopped:
        pass
    finally:
        end_descendants([os.getpid()])


class _UserStopped(KeyboardInterrupt):
    """Nobody wants to know any more."""


class _Umpire:
    def __init__(self, link: Channel, contest: ExternalMatch) -> None:
        self._link, self._contest = link, contest
        self._children = ChildSignals()
        self._shown = 0  # plies of this game
        seed = contest.settings.seed
        self._seed = random.SystemRandom().randrange(1 << 31) if seed is None else seed

    # ------------------------------------------------------------------ the line

    def send(self, kind: str, text: str) -> None:
        try:
            self._link.send(json.dumps([kind, text]).encode())
        except OSError:
            raise _UserStopped from None

    def say(self, *lines: str) -> None:
        self.send("say", "\n".join(lines))

    def check(self) -> None:
        """Raise _UserStopped if nobody listens any more."""
        if select.select([self._link], [], [], 0)[0]:
            raise _UserStopped

    # ------------------------------------------------------------------ games

    def play_all(self) -> None:
        names, games = self._contest.names, self._contest.settings.games
        first = random.Random(self._seed).randrange(2)
        points = [0.0, 0.0]
        self.say(f"{names[0]} - {names[1]}; colours drawn with seed={self._seed}")
        for number in range(games):
            white = (first + number) % 2
            winner = self._play(number, {Color.WHITE: white, Color.BLACK: 1 - white})
            for program in (0, 1):
                points[program] += 0.5 if winner is None else float(winner == program)
        if games > 1:
            self.say("", f"{games} games: {names[0]} {points[0]:g}, {names[1]} {points[1]:g}")

    def _play(self, number: int, seats: Mapping[Color, int]) -> int | None:
        """Play a game; return the winner, None for a draw. seats: the program of each colour."""
        names = {color: self._contest.names[who] for color, who in seats.items()}
        start = Position.start(RULES)
        self.say("", f"Game {number + 1}: White {names[Color.WHITE]}, Black {names[Color.BLACK]}")
        self.say("", str(start))
        self._shown = 0
        with self._seated() as (proxies, folders):
            record = play_game(
                {color: proxies[who] for color, who in seats.items()},
                start,
                limits=self._limits,
                grace=_GRACE,
                before_call=lambda position, _, plies: self._show(position, plies, names),
            )
            commands = {color: self._contest.commands[who] for color, who in seats.items()}
            ending = verdict(record, names, commands)
            self.say("", ending)
            if record.end_reason == ILLEGAL and record.winner is not None:
                winner = seats[record.winner]
                self._hand_on(folders[1 - winner], folders[winner], winner)
            self._wait_for_their_end(proxies)
        self.send("game", transcript(record, names, ending))
        return None if record.winner is None else seats[record.winner]

    @property
    def _limits(self) -> Limits:
        return Limits(seconds=self._contest.settings.limit)

    @contextmanager
    def _seated(self) -> Iterator[tuple[list[AgentProxy], list[str]]]:
        """Yield proxies of the programs, and their folder; all is gone afterwards."""
        settings, contest = self._contest.settings, self._contest
        scratches = [] if settings.folder is not None else [ScratchFolder(), ScratchFolder()]
        folders = [str(scratch.path) for scratch in scratches] or [str(settings.folder)] * 2
        agents = [
            WpiAgent(command, name, folder, settings.patience)
            for command, name, folder in zip(contest.commands, contest.files, folders, strict=True)
        ]
        patience = settings.patience + _MORE_SECONDS
        conditions = GameConditions(
            contest.names,
            agents,
            RULES,
            self._limits,
            _GRACE,
            patience,
            logging.INFO,
            patience,
            settings.memory_mb,
            settings.processes,
            settings.isolation,
            ponder=settings.ponder,
            private=[os.path.abspath("results")],
        )
        proxies = [AgentProxy(conditions, who, self._children, self.check) for who in (0, 1)]
        try:
            yield proxies, folders
        finally:
            for proxy in proxies:
                proxy.kill()
            end_descendants([os.getpid()])
            for scratch in scratches:
                scratch.remove()

    def _show(self, position: Position, plies: Sequence[Ply], names: Mapping[Color, str]) -> None:
        """Show the last ply, and where it has led, if that has not been shown."""
        if len(plies) > self._shown:
            self._shown = len(plies)
            ply = plies[-1]
            who = f"{ply.color.value.capitalize()} ({names[ply.color]})"
            made = move_text(ply.move, ply.color, RULES)
            self.say("", f"{len(plies)}. {who} {made}  {ply.nanoseconds / 1e9:.2f} s")
            self.say(str(position))

    def _hand_on(self, loser: str, winner: str, who: int) -> None:
        """Let the opponent see an illegal move unchanged."""
        files = self._contest.files
        try:
            text = mailbox_files(Path(loser), files[1 - who])[1].read()
            if text:
                mailbox_files(Path(winner), files[who])[0].write(text[:LONGEST].rstrip())
        except (FileNameError, OSError):
            pass  # there is nothing to see

    def _wait_for_their_end(self, proxies: Sequence[AgentProxy]) -> None:
        """The programs have a moment to end by themselves."""
        until = time.monotonic() + EXIT_SECONDS
        numbers = [proxy.number for proxy in proxies if proxy.number is not None]
        for proxy in proxies:
            proxy.go_on()
        while descendants(numbers) and time.monotonic() < until:
            self.check()
            time.sleep(_LOOK_SECONDS)
        for proxy in proxies:
            proxy.begin_to_close()
        for proxy in proxies:
            proxy.closed_within(_CLOSE_SECONDS)


class _OutputPrinter(logging.Handler):
    """Log handler that prints the programs' output."""

    def __init__(self, umpire: _Umpire) -> None:
        super().__init__()
        self._umpire = umpire

    def emit(self, record: logging.LogRecord) -> None:
        self._umpire.say(f"  {record.getMessage()}")


# ---------------------------------------------------------------------- how it ended


def verdict(record: GameRecord, names: Mapping[Color, str], commands: Mapping[Color, str]) -> str:
    """Return the winner and the reason, in a line; and the last output of a program that has
    failed."""

    def named(color: Color) -> str:
        return f"{color.value.capitalize()} ({names[color]})"

    final = record.final
    score = f"Black {final.black.bit_count()}, White {final.white.bit_count()}"
    if record.winner is None:
        return f"The game is over: a draw. {score}."
    if record.end_reason == FINISHED:
        return f"The game is over: {named(record.winner)} wins. {score}."
    loser, said = record.winner.other, record.detail.partition(LAST_OUTPUT)
    what = said[0].strip().removeprefix(f"'{commands[loser]}' ")
    reason = f"{record.end_reason}: {what}"
    last = "".join(f"\n  {names[loser]}: {line}" for line in said[2].splitlines())
    return f"{named(loser)} loses: {reason}. {named(record.winner)} wins.{last}"


def transcript(record: GameRecord, names: Mapping[Color, str], ending: str) -> str:
    """The game as a text that can be read again, with the verdict at its end."""
    game = GameState(Position.start(RULES))
    for ply in record.plies:
        game.play(ply.move, names[ply.color])
    text = game_text(game, names)
    return text if record.end_reason == FINISHED else f"{text}\n{ending}\n"
