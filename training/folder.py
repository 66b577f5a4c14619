"""The folder of a self-play: its mark, and its description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.experiments.jobs.kinds import KINDS

FILE = KINDS["selfplay"].file
"""What a self-play says of itself, in its folder."""
_NEEDED = {"name": str, "started": str, "config": dict, "versions": dict, "complete": bool}
_COUNTED = {"games": int, "positions_of_games": int, "seconds": float, "left_out": dict}


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
    if not isinstance(about, dict) or not set(about) >= set(_NEEDED):
        raise ConfigError(f"{path}: {', '.join(sorted(_NEEDED))} are expected in it")
    told = {name: (about.get(name, kind()), kind) for name, kind in (_NEEDED | _COUNTED).items()}
    if isinstance(about.get("left_out"), dict):
        told |= {f"left_out.{why}": (number, int) for why, number in about["left_out"].items()}
    for name, (value, kind) in told.items():
        if not isinstance(value, kind):
            raise ConfigError(f"{path}: {name}={value!r:.60} is no {kind.__name__}")
    return about
