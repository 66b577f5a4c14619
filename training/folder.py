"""The folder of a self-play: its mark, and its description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.experiments.jobs.kinds import KINDS

FILE = KINDS["selfplay"].file
"""What a self-play says of itself, in its folder."""
_NEEDED = {"name", "started", "config", "versions", "complete"}


def is_selfplay(folder: Path | str) -> bool:
    """Return True if a folder is that of a self-play."""
    return (Path(folder) / FILE).is_file()


def about_of(folder: Path) -> dict[str, Any]:
    """Return the description of a self-play in its folder. Raises ConfigError."""
    path = folder / FILE
    try:
        about = read_yaml(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({one_line(error)})") from error
    if not isinstance(about, dict) or not set(about) >= _NEEDED:
        raise ConfigError(f"{path}: {', '.join(sorted(_NEEDED))} are expected in it")
    return about
