"""What the commands share that look at results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from othello_lab.agents.config import ConfigError
from othello_lab.experiments.record.folder import is_locked
from othello_lab.experiments.studies.record import kind_of
from othello_lab.experiments.sweep.folder import is_sweep
from othello_lab.training.folder import refuse_selfplay

if TYPE_CHECKING:
    import pandas as pd


def state_of(folder: Path, complete: bool) -> str:
    """What has become of a run that has begun."""
    if is_locked(folder):
        return "being played"
    return "complete" if complete else "stopped"


def check_single(folder: Path) -> None:
    """Raise ConfigError where a folder is a sweep's or a study's, which have runs in them, or holds
    positions."""
    refuse_selfplay(folder)
    if is_sweep(folder):
        raise ConfigError(f"{folder} is a sweep, no single run; its runs are the folders in it")
    if kind := kind_of(folder):
        raise ConfigError(
            f"{folder} is a {kind.word}, no single run; what it played is in folders in it"
        )


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain data, nan as None."""
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=15))
    return rows


def print_json(data: Any) -> None:
    """Print data for a program to read."""
    print(json.dumps(data, indent=2, ensure_ascii=True, allow_nan=False))
