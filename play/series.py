"""Several games of the same two players, colours changing, and their score."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import ConfigError
from othello_lab.play.config import SeriesConfig
from othello_lab.play.game import GameState


@dataclass
class Series:
    """The score of a series. The first player began with Black; ``first`` is the colour it has now.

    games: won games that win the series. points: sum of winning margins that wins it; a
    resignation counts the whole board. Without both it goes on for ever.
    """

    games: int | None = None
    points: int | None = None
    first: Color = Color.BLACK
    wins: list[int] = field(default_factory=lambda: [0, 0])
    margins: list[int] = field(default_factory=lambda: [0, 0])
    draws: int = 0

    @classmethod
    def of(cls, settings: SeriesConfig) -> Series | None:
        """Return the series of the settings; None for a single game."""
        if settings.games is None and settings.points is None:
            return None
        return cls(settings.games, settings.points)

    @classmethod
    def parse(cls, word: str) -> Series:
        """``games=5`` or ``points=100``; ConfigError."""
        if not (match := re.fullmatch(r"(games|points)=([1-9]\d{0,5})", word)):
            raise ConfigError(f"series {word}: games=N or points=N is needed")
        number = int(match[2])
        return cls(games=number) if match[1] == "games" else cls(points=number)

    def add(self, game: GameState) -> None:
        """Count a game that is over."""
        if game.winner is None:
            self.draws += 1
        else:
            number = 0 if game.winner is self.first else 1
            self.wins[number] += 1
            self.margins[number] += game.margin

    def change_colours(self) -> None:
        """The first player has the other colour from now on."""
        self.first = self.first.other

    def names(self, players: Mapping[Color, str]) -> tuple[str, str]:
        """Return the first and the second player of the series. They keep their names when the
        colours change. players: those who have the colours now."""
        first, second = players[self.first], players[self.first.other]
        return (f"{first} 1", f"{second} 2") if first == second else (first, second)

    @property
    def winner(self) -> int | None:
        """The player that has won it, 0 or 1."""
        counted, needed = (
            (self.wins, self.games) if self.points is None else (self.margins, self.points)
        )
        for number in (0, 1):
            if needed is not None and counted[number] >= needed:
                return number
        return None

    def score(self, names: tuple[str, str]) -> str:
        """The score so far; names: the first player's, then the second's."""
        one, two = names
        draws = f", {self.draws} drawn" if self.draws else ""
        text = (
            f"{one} {self.wins[0]}, {two} {self.wins[1]} games{draws}; "
            f"points {self.margins[0]} : {self.margins[1]}"
        )
        if (winner := self.winner) is not None:
            return f"{text}. {names[winner]} wins the series."
        if self.points is None:
            goal = counted(self.games or 0, "game")
        else:
            goal = counted(self.points, "point")
        return f"{text} (first to {goal})"
