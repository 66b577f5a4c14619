"""What tests ask of the records of runs."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from othello_lab.experiments.record.reading import kind_in
from othello_lab.experiments.record.store import (
    FILE,
    RUN,
    TOTALS,
    GameRow,
    PlayedGame,
    Record,
    seat_totals,
)
from othello_lab.experiments.record.turns import COUNTS, MOVE_COLUMNS, READ, MoveRow, Turns, written

GAMES = ", ".join(name for name in GameRow._fields if not name.endswith(("nanoseconds", "late")))
MOVES = f"game, ply, agent, square, value, depth, {', '.join(COUNTS)}"


def jobs_in(folder: Path) -> list[Path]:
    """The folders of jobs below a folder."""
    return sorted(path.parent for path in folder.rglob(FILE))


def runs_in(folder: Path) -> list[Path]:
    """The folders of runs below a folder."""
    return [job for job in jobs_in(folder) if kind_in(job) == RUN]


def query(run: Path, sql: str) -> list[tuple[Any, ...]]:
    """Ask a record by SQL, in which ``moves`` may be asked like a table."""
    with closing(sqlite3.connect(run / FILE, timeout=30)) as connection:
        if re.search(r"\bmoves\b", sql):
            add_moves(connection)
        return connection.execute(sql).fetchall()


def add_moves(connection: sqlite3.Connection) -> None:
    """Add a temporary table ``moves``, a row a MoveRow."""
    connection.execute(f"create temp table moves ({', '.join(MOVE_COLUMNS)})")
    marks = ", ".join("?" * len(MOVE_COLUMNS))
    rows = Turns(connection.execute(READ)).rows()
    connection.executemany(f"insert into moves values ({marks})", rows)


def content(run: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All of a record that does not depend on time or on how often the run was interrupted."""
    return {
        "games": query(run, f"select {GAMES} from games order by game"),
        "moves": query(run, f"select {MOVES} from moves order by game, ply"),
        "agents": query(run, "select * from agents order by agent"),
        "openings": query(run, "select * from openings order by number"),
        "skipped": query(run, "select * from pieces"),
    }


def games_in(folder: Path, table: str = "games") -> int:
    """How many rows of a table the first job below a folder has; 0 if it has not begun."""
    try:
        return int(query(jobs_in(folder)[0], f"select count(*) from {table}")[0][0])
    except (IndexError, sqlite3.OperationalError):
        return 0


def after_games(least: int, act: Callable[[], object]) -> Callable[[], None]:
    """Return what lets the runs of this process do something within themselves, once, as soon as
    they are about to have written so many games."""

    def prepare() -> None:
        write, count = Record.write_games, 0

        def written(record: Record, games: Iterable[PlayedGame]) -> None:
            nonlocal count
            games = list(games)
            write(record, games)
            before, count = count, count + len(games)
            if before < least <= count:
                act()

        Record.write_games = written  # type: ignore[method-assign]

    return prepare


def edit(connection: sqlite3.Connection, *statements: str) -> None:
    """Change a record by SQL, in which ``moves`` may be changed like a table. The run's sum of its
    rows is left out, so that others find the change."""
    connection.execute("pragma user_version = 0")
    of_moves = [sql for sql in statements if re.match(r"(update|delete from) moves\b", sql)]
    for statement in statements:
        if statement not in of_moves:
            connection.executescript(statement)
    if of_moves:
        edit_moves(connection, *of_moves)


def edit_moves(connection: sqlite3.Connection, *statements: str) -> None:
    """Change the turns of a record by SQL on a table ``moves``; the games' totals follow."""
    add_moves(connection)
    for statement in statements:
        connection.execute(statement)
    turns = defaultdict(list)
    for row in map(MoveRow._make, connection.execute("select * from moves order by game, ply")):
        turns[row.game].append(row)
    connection.execute("drop table moves")
    connection.execute("delete from turns")
    black = dict(connection.execute("select game, black from games"))
    connection.executemany(
        "insert into turns values (?, ?, ?, ?)",
        [written(game, black.get(game, 0), rows) for game, rows in turns.items()],
    )
    columns = [f"{side}_{name} = ?" for side in ("black", "white") for name in TOTALS]
    change = f"update games set {', '.join(columns)} where game = ?"
    for game, *seats in connection.execute("select game, black, white from games").fetchall():
        try:
            black, white = seat_totals(turns[game], seats)
        except (KeyError, TypeError):  # what tests write there is not always what can be added up
            continue
        connection.execute(change, (*black, *white, game))
