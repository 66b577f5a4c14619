"""Commands that make positions and learn from them."""

from __future__ import annotations

from collections.abc import Sequence

from othello_lab.core.system.cli import Command
from othello_lab.core.system.console import make_console


def selfplay_command(arguments: Sequence[str]) -> int:
    """``selfplay``: make positions to learn from by playing games."""
    from othello_lab.training.selfplay_command import selfplay_command

    return selfplay_command(arguments, make_console())


def positions_command(arguments: Sequence[str]) -> int:
    """``positions``: make positions to learn from by reading games."""
    from othello_lab.training.selfplay_command import positions_command

    return positions_command(arguments, make_console())


def train_command(arguments: Sequence[str]) -> int:
    """``train``: learn an evaluation."""
    from othello_lab.training.train_command import train_command

    return train_command(arguments, make_console())


COMMANDS: dict[str, Command] = {
    "selfplay": selfplay_command,
    "positions": positions_command,
    "train": train_command,
}
