"""The game of Othello: boards as bit masks, positions, rulesets, notation, and one game between
two players. This package imports nothing else of the lab."""

from core.game import GameRecord, play_game
from core.notation import IllegalMove, NotationError
from core.position import PASS, Position
from core.rules import RULESETS, Color, Ruleset, ruleset

__all__ = [
    "PASS",
    "RULESETS",
    "Color",
    "GameRecord",
    "IllegalMove",
    "NotationError",
    "Position",
    "Ruleset",
    "play_game",
    "ruleset",
]
