"""The record of a study: one SQLite file, written by the driver alone, as that of a run is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.system.foreign_text import storable
from othello_lab.experiments.jobs.kinds import KINDS
from othello_lab.experiments.playing.tasks import TaskResult
from othello_lab.experiments.record import sqlite_file
from othello_lab.experiments.record.reading import LONGEST, damage_told

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RecordKind:
    """A kind of record like a study's.

    word: its name. group: of its YAMLs, and the part of a configuration with its own settings; also
    the command that makes one. file: the record's name in its folder. piece: the name of its parts.
    """

    word: str
    group: str
    file: str
    piece: str


STUDY = RecordKind("study", "study", KINDS["study"].file, "piece")
TRAINING = RecordKind("training", "train", KINDS["training"].file, "step")
SWEEP = RecordKind("sweep", "sweep", KINDS["sweep"].file, "run")
RECORD_KINDS = (STUDY, TRAINING, SWEEP)
FILE = STUDY.file
"""The record's name in the folder of a study."""
_LONGEST_ROW = 1 << 26  # characters
FORMAT = 1
"""Version of the tables; changes when their meaning does."""

_SCHEMA = f"""
create table study (
    name text not null, format integer not null, config text not null, command text not null,
    versions text not null, machine text not null, started text not null, wall_seconds real,
    complete integer not null default 0, pieces integer
);
{sqlite_file.SESSIONS}
create table pieces (piece integer primary key, failure text not null);
create table results (
    piece integer not null, "table" text not null, number integer not null, row text not null,
    primary key (piece, "table", number)
) without rowid;
"""


def record_kind(folder: Path | str) -> RecordKind | None:
    """Return the kind of record in a folder, of :data:`RECORD_KINDS`; None for anything else."""
    return next((kind for kind in RECORD_KINDS if (Path(folder) / kind.file).is_file()), None)


def _rows_of(result: TaskResult) -> tuple[list[tuple[int, str, int, str]], str]:
    """Return the rows of ``results`` for a task, and its failure."""
    try:
        rows = [
            (result.number, storable(table), number, _as_text(row))
            for table, entries in result.tables.items()
            for number, row in enumerate(entries)
        ]
        if any(len(row) > _LONGEST_ROW for *_, row in rows):
            raise ValueError("a row is too long")
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        return [], storable(f"its results cannot be recorded: {one_line(error)[:LONGEST]}")
    return rows, storable(result.failure)


def _as_text(row: Mapping[str, Any]) -> str:
    known = {
        storable(column): storable(value) if isinstance(value, str) else value
        for column, value in row.items()
    }
    return json.dumps(known, allow_nan=False)


def _check_tables(connection: sqlite3.Connection) -> None:
    """Raise ValueError if there is something else than the tables that the lab makes: a view in the
    place of one may never end, and a trigger may do anything."""
    connection.execute("pragma trusted_schema = off")
    found = dict(connection.execute("select name, type from sqlite_master where sql > ''"))
    ours = {"study", "sessions", "pieces", "results"}
    if set(found) not in (set(), ours) or set(found.values()) - {"table"}:
        raise ValueError("its tables are others")


class StudyRecord(sqlite_file.RecordFile):
    """The record of a study. kind: its kind of record."""

    table = "study"

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self.kind = next(kind for kind in RECORD_KINDS if kind.file == path.name)
        self._damage_told = partial(damage_told, path.parent, self.kind.word, path.name)

    @classmethod
    def create(
        cls, folder: Path, kind: RecordKind = STUDY, tell: sqlite_file.Tell | None = None
    ) -> StudyRecord:
        """A new record in this folder. tell: gets a line while another program has locked the file;
        by default the log."""
        path = folder / kind.file
        return cls(sqlite_file.create(path, _SCHEMA, tell), path)

    @classmethod
    def append(cls, folder: Path, tell: sqlite_file.Tell | None = None) -> StudyRecord:
        """An existing record, for adding to it. tell: as for :meth:`create`."""
        with cls.open(folder) as record:
            path = record.path
        return cls(sqlite_file.append(path, tell), path)

    @classmethod
    def open(cls, folder: Path | str) -> StudyRecord:
        """An existing record, for reading; ConfigError if it is none of the lab's."""
        kind = record_kind(folder) or STUDY
        path = Path(folder) / kind.file
        with damage_told(path.parent, kind.word, path.name):
            with sqlite_file.ready(sqlite_file.read(path)) as connection:
                _check_tables(connection)
            return cls(connection, path)

    # ------------------------------------------------------------------ writing

    def write_pieces(self, results: Iterable[TaskResult]) -> None:
        """Add the results of tasks, in one transaction. Results that cannot be written are a
        failure of their task."""
        with self.transaction():
            for result in results:
                rows, failure = _rows_of(result)
                self._connection.execute(
                    "insert into pieces values (?, ?)", (result.number, failure)
                )
                self._connection.executemany("insert into results values (?, ?, ?, ?)", rows)

    def go_on(self, config: Mapping[str, Any], retry_failed: bool) -> None:
        """The study is continued, with this configuration from now on; ``retry_failed``: pieces
        that failed are to be done again."""
        self._connection.execute("update study set complete = 0, config = ?", [json.dumps(config)])
        if retry_failed:
            self._connection.execute("delete from pieces where failure != ''")

    def expect(self, pieces: int) -> None:
        """Note how many pieces there are in all."""
        self._connection.execute("update study set pieces = ?", [pieces])

    # ------------------------------------------------------------------ reading

    def has_begun(self) -> bool:
        """Return True if it says what study it is."""
        with self._damage_told():
            return self.format() is not None

    def study(self) -> dict[str, Any]:
        """The row of ``study``, its JSON decoded. Raises ConfigError if it is no study of this
        version of the lab, or damaged."""
        with self._damage_told():
            version = self.format()
            if version is None:
                raise ConfigError(
                    f"{self.path.parent}: the {self.kind.word} was stopped before it had begun; "
                    "start it again"
                )
            if version != FORMAT:
                raise ConfigError(
                    f"{self.path.parent} was written by another version of the lab (study format "
                    f"{version}; this one reads format {FORMAT})"
                )
            return self.head()

    def done(self) -> dict[int, str]:
        """The pieces that are done, by number, each with its failure (empty: none)."""
        with self._damage_told():
            sql = "select piece, failure from pieces order by piece"
            return dict(self._connection.execute(sql).fetchall())

    def tables(self) -> dict[str, pd.DataFrame]:
        """All rows of the pieces, by table, in the order of the pieces; the column ``piece`` has
        the piece's number."""
        import pandas as pd

        found: dict[str, list[dict[str, Any]]] = {}
        with self._damage_told():
            sql = 'select piece, "table", row from results order by piece, "table", number'
            for piece, table, row in self._connection.execute(sql):
                found.setdefault(table, []).append({"piece": piece, **json.loads(row)})
        return {table: pd.DataFrame(rows) for table, rows in found.items()}
