"""The rulesets: the first colour, the board, and the names of its rows.

In all of them a legal move must flip, passing is allowed only when no move exists, the game ends
when neither side can move, and most discs win, the empty squares going to the winner.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from othello_lab.core.system.settings import unknown_choice


class Color(Enum):
    """A player's colour."""

    BLACK = "black"
    WHITE = "white"

    __hash__ = object.__hash__  # Enum's own, by the name, is slow, and dicts by colour are many

    @property
    def other(self) -> Color:
        return Color.WHITE if self is Color.BLACK else Color.BLACK


@dataclass(frozen=True)
class Ruleset:
    """One variant of the game.

    name: its name in configurations and records. side: squares along one edge, 8, 6 or 4; the board
    is the corner a1 of the 8x8 masks. begins: the colour that moves first. first_row_on_top: True
    if row 1 is drawn at the top (otherwise at the bottom). source: of the rules.

    Squares carry their names' numbers in every ruleset (a1 = 0). All starting positions are the
    same pair of masks, because boards are turned upside down and colours exchanged at once: the
    first player has the discs on e4 and d5 (on smaller boards the corresponding two).
    """

    name: str
    side: int
    begins: Color
    first_row_on_top: bool
    source: str

    @cached_property
    def board(self) -> int:
        """Mask of the squares of the board."""
        return sum(((1 << self.side) - 1) << (8 * row) for row in range(self.side))

    @property
    def squares(self) -> int:
        """Number of squares of the board: 64, 36 or 16."""
        return self.side * self.side

    @cached_property
    def start(self) -> tuple[int, int]:
        """Masks (mover, opponent) of the starting position."""
        low = self.side // 2 - 1
        high = low + 1
        mover = 1 << (8 * low + high) | 1 << (8 * high + low)
        opponent = 1 << (8 * low + low) | 1 << (8 * high + high)
        return mover, opponent


RULESETS: dict[str, Ruleset] = {
    rules.name: rules
    for rules in (
        Ruleset("standard", 8, Color.BLACK, True, "rules sheet of the World Othello Federation"),
        Ruleset("wpi", 8, Color.WHITE, False, "the file-protocol tournament"),
        Ruleset("mini6", 6, Color.BLACK, True, "as standard, on 6x6 squares"),
        Ruleset("mini4", 4, Color.BLACK, True, "as standard, on 4x4 squares"),
    )
}


def ruleset(name: str | Ruleset) -> Ruleset:
    """The ruleset called ``name``.

    Raises ValueError, listing the choices, where there is none of that name.
    """
    if isinstance(name, Ruleset):
        return name
    if name in RULESETS:
        return RULESETS[name]
    raise ValueError(unknown_choice("ruleset", name, RULESETS))
