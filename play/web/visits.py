"""A visit: one person's game in the browser, its players, and its pace.

It is kept on disk, so that it goes on after the page or the server was closed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from othello_lab.agents.config import ConfigError
from othello_lab.core.game import Decision
from othello_lab.core.notation import PASS, IllegalMove, parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.play.config import HUMAN, GameSetup, PlayerSettings
from othello_lab.play.game import GameState
from othello_lab.play.game_files import described
from othello_lab.play.web.game_data import game_data, game_from, player_data, player_from

_FORMAT = 1
_NUMBER = re.compile(r"[A-Za-z0-9_-]{22}")
_SLOW = 0.6  # seconds between the moves of two agents, unless somebody wants another pace


class ActionRefused(ValueError):
    """A message of a page is not possible now; one line gives the reason."""


@dataclass
class Visit:
    """A game, its players, and the pace of two agents.

    number: a name that nobody can guess. playing: True if two agents play on by themselves; delay:
    seconds between their moves; steps: moves that they make although they do not. halted: an agent
    was stopped or has broken down, and somebody has to decide; trouble: the reason.
    """

    number: str
    game: GameState
    players: dict[Color, PlayerSettings]
    seed: int
    playing: bool = True
    delay: float = _SLOW
    steps: int = 0
    halted: bool = False
    trouble: str = ""

    # ------------------------------------------------------------------ whose turn it is

    @property
    def to_move(self) -> PlayerSettings:
        """The player to move."""
        return self.players[self.game.position.to_move]

    @property
    def humans(self) -> list[Color]:
        """The colours that people have."""
        return [color for color in Color if self.players[color].is_human]

    @property
    def waits(self) -> bool:
        """True if nothing goes on by itself: a person's turn, the end, agents that are to wait, or
        one that was stopped or has broken down."""
        if self.game.is_over:
            return True
        if self.game.position.must_pass:
            return False
        if self.to_move.is_human or self.halted:
            return True
        return not self.humans and not self.playing and not self.steps

    @property
    def watched(self) -> bool:
        """True if two agents play."""
        return not self.humans

    # ------------------------------------------------------------------ what happens

    def play(self, move: str, ply: int) -> None:
        """A person's move; raises Refused, and the board stays."""
        self._expect(ply)
        if self.game.is_over:
            raise ActionRefused("the game is over")
        position = self.game.position
        if not self.to_move.is_human:
            raise ActionRefused(
                f"{position.to_move.value} is to move, and that is {self.to_move.name}"
            )
        try:
            self.game.play(parse_square(move, position.ruleset.side), HUMAN)
        except IllegalMove as error:
            raise ActionRefused(str(error)) from None
        self._moved()

    def play_decided(self, decision: Decision, seconds: float) -> None:
        """An agent's move; raises IllegalMove."""
        self.game.play(decision.move, described(self.to_move), decision, seconds)
        self.steps = max(0, self.steps - 1)
        self._moved()

    def force_pass(self) -> None:
        """The side to move has no move, and passes."""
        self.game.play(PASS, described(self.to_move))

    def _moved(self) -> None:
        self.halted, self.trouble = False, ""

    def _expect(self, ply: int) -> None:
        if ply != len(self.game.turns):
            raise ActionRefused("the game has gone on meanwhile; look again")

    def undo(self) -> None:
        """Take back the last decision of a person, or of anybody where none plays; Refused."""
        if not self.game.take_back(self.humans if len(self.humans) == 1 else Color):
            raise ActionRefused("there is nothing to take back")
        self._taken_back()

    def back_to(self, moves: int, ply: int) -> None:
        """Keep only this number of moves; ActionRefused."""
        self._expect(ply)
        if moves > ply:
            raise ActionRefused(f"there are only {ply} moves")
        del self.game.turns[moves:]
        self.game.resigned = None
        self._taken_back()

    def _taken_back(self) -> None:
        """Agents wait, so that one can look, or put others in their place."""
        self._moved()
        self.steps = 0
        self.playing = False

    def resign(self) -> None:
        """A person gives up; Refused."""
        if self.game.is_over:
            raise ActionRefused("the game is over")
        if not self.humans:
            raise ActionRefused("agents do not resign")
        humans = self.humans
        self.game.resigned = humans[0] if len(humans) == 1 else self.game.position.to_move

    def seat(self, players: Mapping[Color, PlayerSettings]) -> None:
        """Others play on."""
        self.players = dict(players)
        self._moved()

    def stop(self, trouble: str) -> None:
        """The agent does not move."""
        self.halted, self.trouble, self.steps = True, trouble, 0

    def go(self) -> None:
        """Let the agent think again; Refused."""
        if self.game.is_over or self.to_move.is_human:
            raise ActionRefused("no agent is to move")
        self._moved()
        if self.watched and not self.playing:
            self.steps = max(self.steps, 1)

    def begin(
        self, game: GameState, players: Mapping[Color, PlayerSettings], playing: bool
    ) -> None:
        """Another game."""
        self.game, self.players, self.playing, self.steps = game, dict(players), playing, 0
        self.seed += 1
        self._moved()

    # ------------------------------------------------------------------ as plain data

    @property
    def data(self) -> dict[str, Any]:
        """Return the data for the disk."""
        return {
            "format": _FORMAT,
            "game": game_data(self.game),
            "players": {color.value: player_data(self.players[color]) for color in Color},
            "seed": self.seed,
            "playing": self.playing,
            "delay": self.delay,
            "halted": self.halted,
            "trouble": self.trouble,
        }

    @classmethod
    def read(cls, number: str, data: Mapping[str, Any]) -> Visit:
        """The visit that was kept; raises ValueError."""
        if not isinstance(data, Mapping) or data.get("format") != _FORMAT:
            raise ValueError("no visit of this version of the lab")
        try:
            return cls(
                number,
                game_from(data["game"]),
                {color: player_from(data["players"][color.value]) for color in Color},
                int(data["seed"]),
                bool(data["playing"]),
                float(data["delay"]),
                halted=bool(data["halted"]),
                trouble=str(data["trouble"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"no visit: {error}") from error


@dataclass
class Visits:
    """All visits that were kept, in a folder that is only its owner's."""

    table: GameSetup
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        self.folder = Path(self.table.settings.web.folder)
        try:
            self.folder.mkdir(0o700, parents=True, exist_ok=True)
            probe = self.folder / f"probe.{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise ConfigError(f"web.folder={self.folder}: {error.strerror}") from None

    def new(self) -> Visit:
        """A visit that has just begun."""
        self._make_room()
        start = Position.start(self.table.rules)
        settings = self.table.settings
        return Visit(
            secrets.token_urlsafe(16),
            GameState(start),
            dict(self.table.players),
            settings.seed,
            playing=not settings.pause,
        )

    def find(self, number: str) -> Visit | None:
        """The visit of this number, if it was kept and can be read."""
        if not _NUMBER.fullmatch(number):
            return None
        try:
            return Visit.read(number, json.loads(self._path(number).read_bytes()))
        except (OSError, ValueError, RecursionError):
            return None

    def keep(self, visit: Visit) -> None:
        """Write it, whole or not at all; ConfigError if it cannot be."""
        path = self._path(visit.number)
        partial = path.with_suffix(".partial")
        try:
            with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(visit.data, file)
            partial.replace(path)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error

    def _path(self, number: str) -> Path:
        return self.folder / f"{number}.json"

    def _make_room(self) -> None:
        """Only the latest visits stay."""
        kept = sorted(self.folder.glob("*.json"), key=_changed)
        for path in kept[: max(0, len(kept) - self.table.settings.web.kept + 1)]:
            with contextlib.suppress(OSError):
                path.unlink()


def _changed(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0
