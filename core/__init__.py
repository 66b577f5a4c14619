"""The game of Othello: boards as bit masks, positions, rulesets, notation, and one game between
two players. This package imports nothing else of the lab."""

import os
import signal
import sys

_begun = [*sys.orig_argv, ""][1:]
if sys.argv[:1] == ["-m"]:  # so it stands there until Python has found the module
    _begun = _begun[_begun.index("-m") + 1 :] if "-m" in _begun else [""]
_commands = ("agents", "core", "experiments", "play", "othello-lab")
if (
    os.path.basename(_begun[0]) in _commands
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    # A command of the lab begins. Loading takes it a second, in which Ctrl-C ends it without a
    # word; then core.cli takes over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from core.game import GameRecord, play_game  # noqa: E402
from core.notation import IllegalMove, NotationError  # noqa: E402
from core.position import PASS, Position  # noqa: E402
from core.rules import RULESETS, Color, Ruleset, ruleset  # noqa: E402

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
