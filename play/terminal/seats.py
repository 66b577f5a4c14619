"""The players at the board."""

from __future__ import annotations

from othello_lab.core.rules import Color
from othello_lab.play.config import PlayerSettings


class Seats:
    """The player of each colour, for the next move and from then on.

    pruned: of two searches with and without pruning that are compared, the one with it.
    """

    def __init__(self, players: dict[Color, PlayerSettings]) -> None:
        self.lasting = dict(players)
        self.once: dict[Color, PlayerSettings] = {}
        self.pruned: dict[Color, PlayerSettings] = {}
        self.compared_once: set[Color] = set()

    def of(self, color: Color) -> PlayerSettings:
        """Return the player of this colour's next move."""
        return self.once.get(color, self.lasting[color])

    def put(self, color: Color, player: PlayerSettings, once: bool) -> None:
        """Let a player have this colour."""
        if once:
            self.once[color] = player
        else:
            self.lasting[color] = player
            self.once.pop(color, None)

    def compare(self, color: Color, pruned: PlayerSettings, once: bool) -> None:
        """Compare the decision of this colour's agent with another one's."""
        self.pruned[color] = pruned
        (self.compared_once.add if once else self.compared_once.discard)(color)

    def moved(self, color: Color) -> None:
        """Note a move of this colour: settings for one move are over."""
        self.once.pop(color, None)
        if color in self.compared_once:
            self.compare_no_more(color)

    def compare_no_more(self, color: Color) -> None:
        """Compare no more."""
        self.pruned.pop(color, None)
        self.compared_once.discard(color)

    def change_colours(self) -> None:
        """The players change places."""
        for players in (self.lasting, self.once, self.pruned):
            turned = {color.other: player for color, player in players.items()}
            players.clear()
            players.update(turned)
        self.compared_once = {color.other for color in self.compared_once}

    @property
    def humans(self) -> list[Color]:
        """The colours that people have."""
        return [color for color in Color if self.lasting[color].is_human]
