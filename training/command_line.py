"""Commands that make positions and learn from them."""

from __future__ import annotations

from othello_lab.core.system.cli import Command
from othello_lab.core.system.console import command_of

COMMANDS: dict[str, Command] = {
    "selfplay": command_of("training.commands", "selfplay_command"),
    "positions": command_of("training.commands", "positions_command"),
    "train": command_of("training.commands", "train_command"),
}
