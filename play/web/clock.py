"""The clock of people at the board: so much time for each move, or for each game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from othello_lab.core.rules import Color
from othello_lab.core.system.settings import Choice, Number

MOVE, GAME = PERIODS = ("move", "game")


@dataclass
class PersonClock:
    """Seconds that a person has for each move, or for each game. Agents have limits of their own.

    used: seconds used so far, by colour. running: the colour whose time runs, since a moment of the
    server's clock.
    """

    per: Annotated[str, Choice(*PERIODS)]
    seconds: Annotated[float, Number(low=1, high=86_400)]
    used: dict[Color, float] = field(default_factory=lambda: dict.fromkeys(Color, 0.0))
    running: Color | None = None
    _since: float = 0.0

    def run(self, color: Color | None, now: float) -> None:
        """Let the time of a colour run, and no other's; None stops it."""
        if self.running is not None:
            self.used[self.running] += now - self._since
        self.running, self._since = color, now

    def moved(self, color: Color, now: float) -> None:
        """Note a move of a colour."""
        self.run(None, now)
        if self.per == MOVE:
            self.used[color] = 0.0

    def left(self, color: Color, now: float) -> float:
        """Return the seconds that a colour has left, 0 or more."""
        used = self.used[color] + (now - self._since if color is self.running else 0.0)
        return max(0.0, self.seconds - used)

    def anew(self) -> PersonClock:
        """Return the clock of another game."""
        return PersonClock(self.per, self.seconds)

    @property
    def data(self) -> dict[str, Any]:
        """Return the data for the disk."""
        used = {color.value: self.used[color] for color in Color}
        return {"per": self.per, "seconds": self.seconds, "used": used}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> PersonClock:
        """Return the clock that was kept; raises KeyError, TypeError and ValueError."""
        used = {color: float(data["used"][color.value]) for color in Color}
        return cls(str(data["per"]), float(data["seconds"]), used)

    def shown(self, now: float) -> dict[str, Any]:
        """Return what a page shows."""
        return {
            "per": self.per,
            "left": {color.value: self.left(color, now) for color in Color},
            "running": self.running and self.running.value,
        }
