"""A visit: one person's game in the browser, its players, and its pace.

It is kept on disk, so that it goes on after the page or the server was closed.
"""

from __future__ import annotations

import contextlib
import copy
import json
import re
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from othello_lab.core.game import Decision
from othello_lab.core.notation import PASS, IllegalMove, parse_square
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.files import read_bytes, write_file
from othello_lab.core.system.settings import ConfigError
from othello_lab.play.config import HUMAN, GameSetup, PlayerSettings
from othello_lab.play.game import GameState
from othello_lab.play.game_files import described
from othello_lab.play.series import Series
from othello_lab.play.web.clock import PersonClock
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
    seconds between their moves; steps: moves that they make although they do not. series: None for
    a single game. clock: None for unlimited time. halted: an agent was stopped or has broken down,
    and somebody has to decide; trouble: the reason.
    """

    number: str
    game: GameState
    players: dict[Color, PlayerSettings]
    seed: int
    playing: bool = True
    delay: float = _SLOW
    steps: int = 0
    series: Series | None = None
    clock: PersonClock | None = None
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
        """A person's move; raises ActionRefused, and the board stays."""
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
        """Take back the last decision of a person, or of anyone where none plays; ActionRefused."""
        late = self.game.late
        if not self.game.take_back(self.humans if len(self.humans) == 1 else Color):
            raise ActionRefused("there is nothing to take back")
        self._taken_back(late)

    def back_to(self, moves: int, ply: int) -> None:
        """Keep only this number of moves; ActionRefused."""
        self._expect(ply)
        if moves > ply:
            raise ActionRefused(f"there are only {ply} moves")
        late = self.game.late
        del self.game.turns[moves:]
        self.game.reopen()
        self._taken_back(late)

    def _taken_back(self, late: bool) -> None:
        """Agents wait, so that one can look, or put others in their place. late: True if the time
        was up; the game goes on without a clock."""
        if late:
            self.clock = None
        self._moved()
        self.steps = 0
        self.playing = False

    def resign(self) -> None:
        """A person gives up; ActionRefused."""
        if self.game.is_over:
            raise ActionRefused("the game is over")
        if not self.humans:
            raise ActionRefused("agents do not resign")
        humans = self.humans
        self.game.give_up(humans[0] if len(humans) == 1 else self.game.position.to_move)

    def seat(self, players: Mapping[Color, PlayerSettings]) -> None:
        """Others play on."""
        self.players = dict(players)
        self._moved()

    def stop(self, trouble: str) -> None:
        """The agent does not move."""
        self.halted, self.trouble, self.steps = True, trouble, 0

    def go(self) -> None:
        """Let the agent think again; ActionRefused."""
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

    @property
    def series_so_far(self) -> Series | None:
        """The series, with this game if it is over."""
        if self.series is None or not self.game.is_over:
            return self.series
        series = copy.deepcopy(self.series)
        series.add(self.game)
        return series

    def begin_next(self) -> None:
        """The next game of the series, with the colours changed; ActionRefused."""
        series = self.series_so_far
        if series is None:
            raise ActionRefused("there is no series; New game begins one")
        if not self.game.is_over:
            raise ActionRefused("the game is not over")
        if series.winner is not None:
            raise ActionRefused("the series is won; New game begins another one")
        series.change_colours()
        self.series = series
        players = {color.other: player for color, player in self.players.items()}
        self.begin(GameState(Position.start(self.game.start.ruleset)), players, self.playing)
        self.clock = self.clock and self.clock.anew()

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
            "series": self.series and asdict(self.series) | {"first": self.series.first.value},
            "clock": self.clock and self.clock.data,
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
                series=_series_from(data.get("series")),
                clock=PersonClock.read(data["clock"]) if data.get("clock") else None,
                halted=bool(data["halted"]),
                trouble=str(data["trouble"]),
            )
        except (AttributeError, KeyError, OverflowError, TypeError) as error:
            raise ValueError(f"no visit: {error}") from error


def _series_from(data: Mapping[str, Any] | None) -> Series | None:
    return Series(**{**data, "first": Color(data["first"])}) if data else None


@dataclass
class Visits:
    """All visits that were kept, in a folder that is only its owner's."""

    setup: GameSetup
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        self.folder = Path(self.setup.settings.web.folder)
        try:
            self.folder.mkdir(0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.folder).close()
        except OSError as error:
            raise ConfigError(f"web.folder={self.folder}: {error.strerror}") from None

    def new(self) -> Visit:
        """A visit that has just begun."""
        self.make_room()
        start = Position.start(self.setup.rules)
        settings = self.setup.settings
        return Visit(
            new_number(),
            GameState(start),
            dict(self.setup.players),
            settings.seed,
            playing=not settings.pause,
        )

    def find(self, number: str) -> Visit | None:
        """The visit of this number, if it was kept and can be read."""
        return find_visit(self.folder, number)

    def keep(self, visit: Visit) -> None:
        """Write it, whole or not at all; ConfigError if it cannot be."""
        path = _path(self.folder, visit.number)
        try:
            write_file(path, json.dumps(visit.data), mode=0o600)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error

    def make_room(self) -> None:
        """Only the latest visits stay."""
        files = sorted(self.folder.glob("*.json"), key=_changed)
        for path in files[: max(0, len(files) - self.setup.settings.web.kept + 1)]:
            with contextlib.suppress(OSError):
                path.unlink()


def new_number() -> str:
    """Return a name that nobody can guess."""
    return secrets.token_urlsafe(16)


def find_visit(folder: Path, number: str) -> Visit | None:
    """Return a visit that was kept in a folder, if it can be read."""
    if not _NUMBER.fullmatch(number):
        return None
    try:
        return Visit.read(number, json.loads(read_bytes(_path(folder, number))))
    except (OSError, ValueError, RecursionError):
        return None


def time_of_visit(folder: Path, number: str) -> float:
    """Return the time at which a visit was kept last, in seconds since 1970."""
    return _changed(_path(folder, number))


def _path(folder: Path, number: str) -> Path:
    return folder / f"{number}.json"


def _changed(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0
