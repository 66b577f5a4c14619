"""Opening a record that may be damaged, or somebody else's: one clear line instead of a surprise.

:mod:`experiments.results.verify` checks that its content is true.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.record import sqlite_file
from othello_lab.experiments.record.store import FILE, FORMAT, RUN, Record, made_by_schema
from othello_lab.experiments.record.turns import LAYOUTS_TEXT

_NAMES = {"integer": "a whole number", "real": "a number", "text": "text", "blob": "bytes"}
_GAMES = 1 << 14  # whose turns are read at a time
DAMAGES = (
    sqlite3.Error,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)
"""What may be raised by whatever works with a record that does not hold what it should."""

LONGEST = 400
"""So many characters of such an error are told: SQLite's can hold the text of a whole table."""


OLD = {
    "games.sqlite": RUN,
    "study.sqlite": "study",
    "training.sqlite": "training",
    "selfplay.yaml": "self-play",
    "sweep.yaml": "sweep",
}
"""What version 0.2 had for a record, and the kinds of its jobs."""


@contextmanager
def damage_told(folder: Path) -> Iterator[None]:
    """Turn errors from the content of a record into a ConfigError of one line."""
    try:
        yield
    except ConfigError:
        raise
    except DAMAGES as error:
        if why := sqlite_file.why_unreadable(error):
            raise ConfigError(f"{folder / FILE} {why}") from error
        name = "" if isinstance(error, sqlite3.Error | ValueError) else type(error).__name__ + " "
        raise ConfigError(
            f"{folder / FILE} is damaged, or no record of the lab: {name}"
            f"{one_line(error)[:LONGEST]}{way_out(folder, error)}"
        ) from error


def way_out(folder: Path, error: Exception) -> str:
    """Return a sentence on saving the readable part of a damaged record; "" for other errors."""
    if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.OperationalError):
        return ""
    command = f"othello-lab recover {shlex.quote(str(folder))}"
    return f". What can be read goes into a new folder with: {command}"


def kind_in(folder: Path | str) -> str:
    """Return the kind of job in a folder; a run where there is no record, or none that says so."""
    folder = Path(folder)
    if not (folder / FILE).is_file():
        return next((kind for name, kind in OLD.items() if (folder / name).is_file()), RUN)
    with suppress(*DAMAGES), Record.open(folder) as record:
        return str(record.head()["kind"]) if record.format() == FORMAT else RUN
    return RUN


def not_begun(folder: Path) -> bool:
    """Return True if the record in a folder does not describe its job yet; ConfigError."""
    with damage_told(folder), _opened(folder) as record:
        return record.format() is None


def has_begun(folder: Path) -> bool:
    """Return True if a folder has a record that describes its job; ConfigError."""
    return (folder / FILE).exists() and not not_begun(folder)


def _opened(folder: Path, kind: str = RUN) -> Record:
    if folder.is_file() and folder.name != FILE:
        raise ConfigError(f"{folder} is a file, not the folder of a {kind}")
    try:
        return Record.open(folder)
    except FileNotFoundError:
        if old := next((name for name in OLD if (folder / name).is_file()), None):
            raise ConfigError(
                f"{folder} is a {OLD[old]} of version 0.2 of the lab, which reads its {old}"
            ) from None
        raise ConfigError(f"{folder} is no {kind}: there is no {FILE} in it") from None


@contextmanager
def reading(folder: Path, kind: str = RUN) -> Iterator[Record]:
    """The record in a folder, open for reading. ConfigError where there is none, where it is of
    another kind of job or version, or where anything that is read of it meanwhile turns out to be
    damaged."""
    with damage_told(folder), _opened(folder, kind) as record:
        version = record.format()
        if version is None:
            raise ConfigError(
                f"{folder}: the {kind} was stopped before it had begun; start it again"
            )
        if version != FORMAT:
            age = "a newer" if version > FORMAT else "an older"
            raise ConfigError(
                f"{folder} was written by {age} version of the lab (record format {version}; this "
                f"one reads format {FORMAT})"
            )
        if (there := record.head()["kind"]) != kind:
            raise ConfigError(f"{folder} is no {kind}: its record is of a {there}")
        yield record


def damages(record: Record) -> Iterator[str]:
    """Yield the defects of a record as a database, each in a line: the file, the types, rows that
    belong to nothing. Reads all of it. May raise sqlite3.Error."""
    for (said,) in record.rows("pragma integrity_check(20)"):
        if said != "ok":
            yield one_line(ValueError(said))
    if len(record.rows("select * from job")) != 1:
        yield "table job: one row is needed"
    for table in made_by_schema():
        yield from _wrong_types(record, table)
    if record.rows("select 1 from job where layouts != ?", [LAYOUTS_TEXT]):
        yield "table job: layouts are others than those of this format"
    yield from _wrong_turns(record, [game for (game,) in record.rows("select game from turns")])
    known = "(select agent from agents)"
    for column in ("black", "white"):
        sql = f"select game, {column} from games where {column} not in {known} limit 1"
        for game, agent in record.rows(sql):
            yield f"game {game}: games.{column} is {agent!r}, which is no agent's number"
    alone = "select game from turns where game not in (select game from games) limit 1"
    for (game,) in record.rows(alone):
        yield f"game {game}: it has moves, but is not among the games"


def _wrong_types(record: Record, table: str) -> Iterator[str]:
    for _, column, declared, needed, _, key in record.rows(f"pragma table_info({table})"):
        kind = declared.lower()
        wrong = f"typeof({column}) != '{kind}'"
        if not (needed or key):
            wrong += f" and {column} is not null"
        count, one = record.rows(f"select count(*), min({column}) from {table} where {wrong}")[0]
        if count:
            shown = one if isinstance(one, int | float | None) else repr(one)[:40]
            yield f"table {table}: {column} is {shown}, not {_NAMES[kind]} ({count:,} rows)"


def _wrong_turns(record: Record, games: Sequence[int]) -> Iterator[str]:
    """Yield those of some games whose turns cannot be read."""
    if len(games) <= _GAMES:
        try:
            record.turns(games)
            return
        except ValueError as error:
            if len(games) == 1:
                yield one_line(error)
                return
    half = len(games) // 2
    yield from _wrong_turns(record, games[:half])
    yield from _wrong_turns(record, games[half:])
