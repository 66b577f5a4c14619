"""The levels: ten opponents for people, from random moves to the champion, each with its Elo.

A level is an agent's YAML in ``conf/level``. ``conf/agents/levels.yaml`` lists all of them, the
weakest first. ``othello-lab play levels --measure`` writes their Elo to ``conf/levels.yaml``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from othello_lab.agents.conf_folder import conf_folder
from othello_lab.agents.config import ConfigError, choices
from othello_lab.play.config import LEVEL

MEASURED = "levels.yaml"


@dataclass(frozen=True)
class Level:
    """An opponent. about: its way to play. elo: on a scale where random moves have 0, with the 95 %
    interval from low to high, all rounded."""

    name: str
    about: str
    elo: int
    low: int
    high: int

    @property
    def interval(self) -> str:
        return f"[{self.low}, {self.high}]"


def levels(folder: Path | None = None) -> list[Level]:
    """Return the levels, the weakest first. folder: in place of ``conf/``. Raises ConfigError."""
    about = choices(LEVEL)
    path = (folder or conf_folder()) / MEASURED
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        measured = [
            Level(name, about[name], *(int(elo[key]) for key in ("elo", "low", "high")))
            for name, elo in found["levels"].items()
        ]
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path}: no measured levels ({error})") from error
    return sorted(measured, key=lambda level: level.elo)


def write_levels(rows: Sequence[dict[str, Any]], games: int, path: Path) -> None:
    """Write the measured Elo. rows: agent, elo, low and high of each, the weakest first. games: the
    least number of games of a level. Raises ConfigError if the file cannot be written."""
    if not all(math.isfinite(row[key]) for row in rows for key in ("elo", "low", "high")):
        raise ConfigError("too few games for the Elo of every level; give games=N")
    zero = rows[0]["elo"]
    found = {
        row["agent"]: {key: round(row[key] - zero) for key in ("elo", "low", "high")}
        for row in rows
    }
    text = (
        "# Elo of the levels in conf/level; random moves have 0. low, high: the 95 % interval.\n"
        "# Written by: othello-lab play levels --measure\n"
    )
    text += yaml.safe_dump({"games": games, "levels": found}, sort_keys=False)
    partial = path.with_suffix(".partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error
