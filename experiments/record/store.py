"""The record of a run: one SQLite file, written by the driver alone, readable while it grows.

Tables (``results/README.md`` explains every column): ``run`` one row; ``agents``; ``openings``;
``games``; ``moves``. Games enter in batches, the two games of a pair in one transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.game import SearchStats

if TYPE_CHECKING:
    import pandas as pd  # loaded when a table is read, since a run starts sooner without it

FORMAT = 3
"""Version of the tables; changes when their meaning does."""

_PATIENCE = 30.0  # seconds to wait while another program writes or holds on to the file

COUNTS = tuple(field.name for field in fields(SearchStats))
"""The columns of ``moves`` that say what a decision cost, as :class:`core.game.SearchStats` has
them."""

_SCHEMA = f"""
create table run (
    name text not null, format integer not null, ruleset text not null, seed integer not null,
    config text not null, command text not null, versions text not null, machine text not null,
    started text not null, wall_seconds real, complete integer not null default 0
);
create table agents (
    agent integer primary key, name text not null unique, config text not null,
    version integer not null, reproducible integer not null, selective integer not null
);
create table openings (number integer primary key, text text not null);
create table sessions (
    session integer primary key, command text not null, versions text not null,
    machine text not null, started text not null
);
create table skipped (pair integer primary key, reason text not null);
create table games (
    game integer primary key, pair integer not null, black integer not null,
    white integer not null, result text not null, black_points real not null,
    disc_difference integer, black_discs integer not null, white_discs integer not null,
    end_reason text not null, opening text not null, seed integer not null,
    transcript text not null
);
create table moves (
    game integer not null, ply integer not null, agent integer not null, square integer not null,
    value real, depth integer, {", ".join(f"{name} integer" for name in COUNTS)},
    microseconds integer, cpu_microseconds integer,
    primary key (game, ply)
) without rowid;
"""
TABLES = ("run", "agents", "openings", "sessions", "skipped", "games", "moves")


@dataclass(frozen=True, slots=True)
class GameRow:
    """A finished game as it enters the record: the row of ``games``, and its rows of ``moves``."""

    game: tuple[Any, ...]
    moves: list[tuple[Any, ...]]

    @property
    def number(self) -> int:
        """The game's number in the schedule."""
        return int(self.game[0])

    def points_of(self, agent: int) -> float:
        """0, 0.5 or 1 point for one of its two agents, by number."""
        black, points = self.game[2], float(self.game[5])
        return points if agent == black else 1 - points

    @property
    def transcript(self) -> str:
        """What identifies it: where it began, unless that is in its moves, and the moves."""
        opening, moves = str(self.game[10]), str(self.game[12])
        return moves if moves.startswith(opening) else opening + moves

    @property
    def end_reason(self) -> str:
        """How it ended."""
        return str(self.game[9])


@contextmanager
def _closed_if_that_fails(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


class Record:
    """An open record. Use :meth:`create` for a new run, :meth:`open` to read one."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def create(cls, path: Path) -> Record:
        """A new record at ``path``; raises FileExistsError if there is one."""
        if path.exists():
            raise FileExistsError(f"{path} exists; a record is never overwritten")
        connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
        with _closed_if_that_fails(connection):
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = normal")
            connection.executescript(_SCHEMA)
        return cls(connection, path)

    @classmethod
    def open(cls, path: Path | str) -> Record:
        """An existing record (the file, or the folder of the run), for reading."""
        path = Path(path)
        if path.is_dir():
            path = path / "games.sqlite"
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no record of a run there")
        uri = f"{path.resolve().as_uri()}?mode=ro"
        return cls(sqlite3.connect(uri, uri=True, isolation_level=None), path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @classmethod
    def append(cls, path: Path) -> Record:
        """An existing record, for adding to it."""
        with cls.open(path) as record:
            path = record.path
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        with _closed_if_that_fails(connection):
            with suppress(sqlite3.OperationalError):  # somebody reads it: it goes without
                connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma busy_timeout = {1000 * _PATIENCE:.0f}")
            connection.execute("pragma synchronous = normal")
        return cls(connection, path)

    # ------------------------------------------------------------------ writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within it is kept together, or not at all."""
        self._connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk may have ended the transaction already
                self._connection.execute("rollback")
            raise
        self._connection.execute("commit")

    def write_run(self, values: Mapping[str, Any]) -> None:
        """Fill the one row of ``run``; dictionaries are stored as JSON."""
        self._insert("run", values)

    def write_session(self, values: Mapping[str, Any]) -> None:
        """Note that games are added from now on, and what by."""
        self._insert("sessions", values)

    def _insert(self, table: str, values: Mapping[str, Any]) -> None:
        row = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in values.items()}
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        self._connection.execute(
            f"insert into {table} ({names}) values ({marks})", tuple(row.values())
        )

    def write_agents(
        self, rows: Iterable[tuple[int, str, dict[str, Any], int, bool, bool]]
    ) -> None:
        """Fill ``agents``: number, name, settings, version, whether reproducible, selective."""
        self._connection.executemany(
            "insert into agents values (?, ?, ?, ?, ?, ?)",
            [(n, name, json.dumps(conf), *rest) for n, name, conf, *rest in rows],
        )

    def write_openings(self, texts: Iterable[str]) -> None:
        """Fill ``openings`` with the chosen ones in their order (see ``Opening.text``)."""
        self._connection.execute("delete from openings")
        self._connection.executemany("insert into openings values (?, ?)", enumerate(texts))

    def go_on(self, config: dict[str, Any]) -> None:
        """Replace the run's configuration; there are games to come."""
        self._connection.execute("update run set complete = 0, config = ?", (json.dumps(config),))

    def write_games(self, rows: Iterable[GameRow]) -> None:
        """Add finished games."""
        rows = list(rows)
        self._connection.executemany(
            f"insert into games values ({', '.join('?' * 13)})", [row.game for row in rows]
        )
        self._connection.executemany(
            f"insert into moves values ({', '.join('?' * (len(COUNTS) + 8))})",
            [move for row in rows for move in row.moves],
        )

    def write_skipped(self, pair: int, reason: str) -> None:
        """Note that a pair will not be played."""
        self._connection.execute("insert into skipped values (?, ?)", (pair, reason))

    def finish(self, wall_seconds: float, complete: bool) -> None:
        """Note how much longer the run took, and whether all that was scheduled is there."""
        self._connection.execute(
            "update run set wall_seconds = coalesce(wall_seconds, 0) + ?, complete = ?",
            (wall_seconds, int(complete)),
        )
        # Fold the write-ahead log in, so that one file, readable from anywhere, is left. While
        # somebody else is reading that cannot be, and need not.
        with suppress(sqlite3.OperationalError):
            self._connection.execute("pragma journal_mode = delete")

    # ------------------------------------------------------------------ reading

    def query(self, sql: str, parameters: Iterable[Any] = ()) -> pd.DataFrame:
        """The result of an SQL query as a DataFrame."""
        import pandas as pd

        try:
            return pd.read_sql_query(sql, self._connection, params=list(parameters))
        except pd.errors.DatabaseError as error:
            raise error.__cause__ or error from None

    def run(self) -> dict[str, Any]:
        """The row of ``run``, its JSON decoded."""
        row = self.query("select * from run").iloc[0].to_dict()
        for key in ("config", "versions", "machine"):
            row[key] = json.loads(row[key])
        return {str(key): value for key, value in row.items()}

    def format(self) -> int | None:
        """The version of the tables that it was written with; None if its writing never got as far
        as to say so. Raises sqlite3.Error if the file is no database."""
        there = "select count(*) from sqlite_master where name = 'run'"
        if not self._connection.execute(there).fetchone()[0]:
            return None
        row = self._connection.execute("select format from run").fetchone()
        return None if row is None else int(row[0])

    def settled(self) -> set[int]:
        """The pairs that were played or skipped, by number."""
        rows = self._connection.execute("select pair from games union select pair from skipped")
        return {pair for (pair,) in rows}

    def transcripts_of_pairs(self) -> Iterator[tuple[str, ...]]:
        """What identifies the games of each pair, in the order of the schedule; see
        :attr:`GameRow.transcript`."""
        rows = self._connection.execute("select * from games order by game")
        for one, other in zip(rows, rows, strict=True):
            yield GameRow(one, []).transcript, GameRow(other, []).transcript

    def skipped(self) -> pd.DataFrame:
        """One row a pair that was not played: pair, reason."""
        return self.query("select * from skipped order by pair")

    def sessions(self) -> pd.DataFrame:
        """One row for each time that games were added: session, command, started, and versions and
        machine as JSON."""
        return self.query("select * from sessions order by session")

    def agents(self) -> pd.DataFrame:
        """One row an agent, by number."""
        return self.query("select * from agents order by agent")

    def openings(self) -> list[str]:
        """The chosen openings in their order, to be read with ``Opening.read``."""
        rows = self._connection.execute("select text from openings order by number")
        return [text for (text,) in rows]

    def games(self) -> pd.DataFrame:
        """One row a game, in schedule order; ``black`` and ``white`` by name."""
        return self.query(
            """select game, pair, b.name as black, w.name as white, result, black_points,
               disc_difference, black_discs, white_discs, end_reason, opening, seed, transcript
               from games join agents b on b.agent = black join agents w on w.agent = white
               order by game"""
        )

    def moves(self) -> pd.DataFrame:
        """One row a move made by an agent, ``agent`` by name; passes have square 64."""
        return self.query(
            f"""select game, ply, name as agent, square, value, depth, {", ".join(COUNTS)},
               microseconds, cpu_microseconds
               from moves join agents using (agent) order by game, ply"""
        )

    def export(self, folder: Path, kinds: Iterable[str]) -> list[Path]:
        """Write agents, games and moves as ``csv`` and/or ``parquet``; returns the files."""
        written = []
        for name in ("agents", "games", "moves"):
            table: pd.DataFrame = getattr(self, name)()
            for kind in kinds:
                path = folder / f"{name}.{kind}"
                if kind == "csv":
                    table.to_csv(path, index=False)
                else:
                    table.to_parquet(path, index=False)
                written.append(path)
        return written
