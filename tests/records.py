"""What tests ask of the records of runs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from experiments.record.store import COUNTS

MOVES = f"game, ply, agent, square, value, depth, {', '.join(COUNTS)}"


def runs_in(folder: Path) -> list[Path]:
    """The folders of runs below a folder."""
    return sorted(path.parent for path in folder.rglob("games.sqlite"))


def query(run: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(run / "games.sqlite", timeout=30)) as connection:
        return connection.execute(sql).fetchall()


def content(run: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All of a record that does not depend on time or on how often the run was interrupted."""
    return {
        "games": query(run, "select * from games order by game"),
        "moves": query(run, f"select {MOVES} from moves order by game, ply"),
        "agents": query(run, "select * from agents order by agent"),
        "openings": query(run, "select * from openings order by number"),
        "skipped": query(run, "select * from skipped"),
    }


def games_in(folder: Path) -> int:
    """How many games the first run below a folder has by now; 0 if it has not begun."""
    try:
        return int(query(runs_in(folder)[0], "select count(*) from games")[0][0])
    except (IndexError, sqlite3.OperationalError):
        return 0
