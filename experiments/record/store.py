"""The record of a job: one SQLite file, written by the driver alone, readable while it grows.

The tables are the row types below. A column is a field, and the text below it says its meaning.
Games enter in batches, the two games of a pair in one transaction. The turns of a game are one
blob (:mod:`experiments.record.turns`), because that is written several times as fast as sixty rows.
"""

from __future__ import annotations

import json
import marshal
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

from othello_lab.core.game import FAIR_ENDS, LATE_BY_WALL, is_int64
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.system.foreign_text import storable
from othello_lab.core.system.settings import one_line
from othello_lab.experiments.record import sqlite_file
from othello_lab.experiments.record.folder import write_table
from othello_lab.experiments.record.turns import (
    COUNTS,
    LAYOUTS_TEXT,
    MOVE_COLUMNS,
    READ,
    Turns,
    TurnsRow,
)

if TYPE_CHECKING:
    import pandas as pd  # loaded when a table is read, since a run starts sooner without it

FORMAT = 9
"""Version of the tables; changes when their meaning does."""

FILE = "record.sqlite"
"""The record's name in the folder of its job."""

RUN = "run"
"""The kind of job that plays the games of one line-up."""


Tables = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by the name of their table; their values can be written as JSON."""


class JobRow(NamedTuple):
    """The job: one row."""

    kind: str
    """`run`, `sweep`, `study`, `training` or `self-play`."""
    name: str
    """Name of the experiment."""
    format: int
    """Version of these tables."""
    ruleset: str
    """Name of the rules."""
    seed: int
    """Source of all randomness."""
    config: str
    """All settings, as JSON."""
    command: str
    """The command as it was typed."""
    versions: str
    """Versions of the lab, Python and libraries, as JSON."""
    machine: str
    """The machine, as JSON."""
    started: str
    """Date and time of its start."""
    wall_seconds: float | None
    """Seconds that it took in all; empty until it ends."""
    complete: bool = False
    """1 if all of it is done: of a run, if all scheduled games are there, or the sequential test
    has decided."""
    pieces: int | None = None
    """Number of pieces in all; empty for a run."""
    layouts: str = LAYOUTS_TEXT
    """The layouts of the turns of games: for each, its columns and their numpy types, as JSON."""


class SessionRow(NamedTuple):
    """A time when something was added: the job itself, then each `resume` and `extend`."""

    session: int
    """Number from 1."""
    command: str
    """The command as it was typed."""
    versions: str
    """Versions of the lab, Python and libraries, as JSON."""
    machine: str
    """The machine, as JSON."""
    started: str
    """Date and time of its start."""


class AgentRow(NamedTuple):
    """An agent of the line-up."""

    agent: int
    """Number from 0."""
    name: str
    """Name in the line-up."""
    config: str
    """Its settings, as JSON."""
    version: int
    """Version of its behaviour."""
    reproducible: bool
    """0 if its moves do not follow from the seed alone, as those of a search under a time limit."""
    selective: bool
    """1 if it leaves moves out on probability."""

    @classmethod
    def of(cls, agent: int, name: str, config: Mapping[str, Any], *facts: Any) -> AgentRow:
        """The row of an agent with these settings; facts: the last three fields."""
        return cls(agent, name, json.dumps(config), *facts)


class OpeningRow(NamedTuple):
    """An opening of the run; ``Opening.read`` reads its text."""

    number: int
    """Place in the order of the run, from 0."""
    text: str
    """Its moves or position, as `opening` in the games."""


class PieceRow(NamedTuple):
    """A piece of the job that was done, or failed. Of a run, whose pieces are its pairs of games,
    only those that were not played."""

    piece: int
    """Number from 0; of a pair, in the schedule."""
    failure: str
    """The reason of a failure, in a line; empty otherwise."""


class ResultRow(NamedTuple):
    """A row of one of the tables that the pieces of a job give."""

    piece: int
    """Number of the piece."""
    table_name: str
    """Name of the table."""
    number: int
    """Place among the piece's rows of this table, from 0."""
    row: str
    """The row, as JSON."""


class GameRow(NamedTuple):
    """A finished game. The columns from `black_moves` on are totals of each side's decisions
    (:data:`TOTALS`), so that nobody has to read all moves for them."""

    game: int
    """Number in the schedule, from 0."""
    pair: int
    """Number of its pair, from 0. The two games of a pair share the opening, colours swapped; in a
    class tournament each pair is a single game."""
    black: int
    """The agent with Black, by its number; in DataFrames and exports by its name."""
    white: int
    """The agent with White."""
    result: str
    """`black`, `white` or `draw`."""
    black_points: float
    """1, 0.5 or 0."""
    disc_difference: int | None
    """Black's discs minus White's, empty squares to the winner; empty for an unfinished game."""
    black_discs: int
    """Black's discs on the last board."""
    white_discs: int
    """White's discs on the last board."""
    end_reason: str
    """`finished`, `resigned`, or the kind of forfeit, such as `illegal move` or `time exceeded`."""
    opening: str
    """The moves before the first question, as squares, without passes but for one at the end,
    written `--`; or the position where the game began, as an OBF line."""
    seed: int
    """Source of Black's random numbers; White's is `seed + 1`."""
    transcript: str
    """All moves as squares, without passes. It begins with the opening's moves."""
    detail: str = ""
    """The reason of a forfeit, in a line, with the place in your file; empty otherwise."""
    black_moves: int = 0
    """Number of Black's decisions, without forced passes."""
    black_nodes: int = 0
    """Nodes of all Black's decisions. In DataFrames missing for agents that count no nodes."""
    black_evaluations: int = 0
    """Evaluations of all Black's decisions. In DataFrames missing for agents that count no
    nodes."""
    black_nanoseconds: int = 0
    """Wall time of all Black's decisions."""
    black_cpu_nanoseconds: int = 0
    """The part of that time in which Black's process had the processor."""
    black_late: int = 0
    """Black's moves that stand although they were late by the wall clock."""
    black_waited_nanoseconds: int = 0
    """The part of the wall time that Black could not use (see `waited_nanoseconds` of moves)."""
    white_moves: int = 0
    """The same of White."""
    white_nodes: int = 0
    white_evaluations: int = 0
    white_nanoseconds: int = 0
    white_cpu_nanoseconds: int = 0
    white_late: int = 0
    white_waited_nanoseconds: int = 0
    black_outside_nanoseconds: int = 0
    """Processor time that Black's processes used outside of Black's own moves. Measured where time
    is limited."""
    white_outside_nanoseconds: int = 0
    """The same of White."""

    def points_of(self, agent: int) -> float:
        """0, 0.5 or 1 point for one of its two agents, by number."""
        return self.black_points if agent == self.black else 1 - self.black_points

    @property
    def forfeited_by(self) -> int | None:
        """The agent that lost by a fault of its own, by number; None if there was no fault."""
        if self.end_reason in FAIR_ENDS:
            return None
        return self.white if self.result == "black" else self.black

    @property
    def begun(self) -> bool:
        """True if it was finished, or the agent that failed had made a move."""
        failed = self.forfeited_by
        moves = self.black_moves if failed == self.black else self.white_moves
        return failed is None or moves > 0

    @property
    def identity(self) -> str:
        """Text that distinguishes it from other games of the same agents."""
        return identity(self.opening, self.transcript)


TABLES: Mapping[str, Any] = {
    "job": JobRow,
    "sessions": SessionRow,
    "agents": AgentRow,
    "openings": OpeningRow,
    "pieces": PieceRow,
    "rows": ResultRow,
    "games": GameRow,
}
"""The rows of the tables, but for the moves."""

SKIPPED, STARVED_PAIRS = "skipped", "starved"
"""What can be done again: pairs that were skipped, or pieces that failed, and pairs with a starved
side."""

LEAST_TIME = 0.7
"""A side is starved that stood ready, but had a processor for less than this share of its time."""
_ENOUGH_TIME = 100_000_000  # nanoseconds of a side in a game; shares of less say nothing


def starved_side(color: str) -> str:
    """Return the condition in SQL that a side of a game was starved."""
    wall, waited = f"{color}_nanoseconds", f"{color}_waited_nanoseconds"
    return f"({wall} >= {_ENOUGH_TIME} and {waited} > {1 - LEAST_TIME:.2f} * {wall})"


def identity(opening: str, transcript: str) -> str:
    """Return a text that distinguishes a game from others of the same agents: its moves, and its
    start unless the moves imply it."""
    return transcript if transcript.startswith(opening) else opening + transcript


def _fingerprint(opening: str, transcript: str) -> int:
    """Return a game's identity as a number; of a million games two share one by 1 in 30 million."""
    return hash(identity(opening, transcript))


TOTALS = tuple(
    name.removeprefix("white_")
    for name in GameRow._fields
    if name.startswith("white_") and name not in ("white_discs", "white_outside_nanoseconds")
)
"""What ``games`` has of each side's decisions, as ``black_nodes`` and ``white_nodes``: how many,
what they cost in all, how many stand although they were late by the wall clock, and the time in all
that the side could not use."""


def seat_totals(turns: Iterable[Any], agents: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sums of all TOTALS for each of a game's agents, by number. turns: MoveRows."""
    totals = {agent: [0] * len(TOTALS) for agent in agents}
    for turn in turns:
        if turn.nodes is not None:
            counts = turn.nodes, turn.evaluations, turn.nanoseconds, turn.cpu_nanoseconds
            late = turn.late == LATE_BY_WALL
            for column, amount in enumerate((1, *counts, late, turn.waited_nanoseconds)):
                totals[turn.agent][column] += amount
    return [tuple(totals[agent]) for agent in agents]


class PlayedGame(NamedTuple):
    """A finished game as it enters the record. turns: None where the run does not record them."""

    game: GameRow
    turns: TurnsRow | None

    def moves(self) -> list[Any]:
        """Return its MoveRows; none where they are not recorded."""
        return Turns([(*self.turns, self.game.black, self.game.white)]).rows() if self.turns else []


def misfit(row: Any) -> str | None:
    """Return the first column of a row with an unwritable value: of another type than its table
    declares, a number of more than 64 bits, or a text that is too long. None if all can be
    written."""
    for (name, kind), value in zip(_kinds(type(row)), row, strict=True):  # type: ignore[arg-type]
        large = type(value) is int and not is_int64(value)
        if large or not _fits(value, kind) or (type(value) is str and len(value) > _LONGEST_TEXT):
            return name
    return None


@cache
def _kinds(row: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(get_type_hints(row).items())


_LONGEST_TEXT = 1 << 17
"""Characters of a value. Agents may answer anything."""

UNWRITABLE = (
    OverflowError,
    TypeError,
    UnicodeError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    sqlite3.DataError,
    sqlite3.IntegrityError,
)
"""Errors of a row that cannot be written, whatever the state of the disk."""


def _fits(value: Any, kind: Any) -> bool:
    kinds = get_args(kind) or (kind,)
    whole = type(value) is int and (float in kinds or (bool in kinds and value in (0, 1)))
    return type(value) in kinds or whole


def _declared(row: Any, key: str = "") -> str:
    """Return the columns of a table in SQL; ``key`` is its primary key, if it has one."""
    names = {int: "integer", bool: "integer", float: "real", str: "text", bytes: "blob"}
    columns = []
    for name, kind in get_type_hints(row).items():
        kinds = [part for part in get_args(kind) or (kind,) if part is not NoneType]
        need = "" if NoneType in get_args(kind) else " not null"
        default = row._field_defaults.get(name)
        need += f" default '{default}'" if default and kind is str else ""
        columns.append(f"{name} {names[kinds[0]]}{need}")
    return ", ".join([*columns, *[f"primary key ({key})"] * bool(key)])


_SCHEMA = f"""
create table job ({_declared(JobRow)});
create table sessions ({_declared(SessionRow, "session")});
create table agents ({_declared(AgentRow, "agent")}, unique (name));
create table openings ({_declared(OpeningRow, "number")});
create table pieces ({_declared(PieceRow, "piece")});
create table rows ({_declared(ResultRow, "piece, table_name, number")}) without rowid;
create table games ({_declared(GameRow, "game")});
create table turns ({_declared(TurnsRow, "game")});
"""

_WHOLE = "select pair from games group by pair having count(*) = {}"
_SETTLED = f"{_WHOLE} union select piece from pieces"


_LONGEST = 1 << 26  # bytes of a value; a record may be somebody else's, and say anything


@cache
def made_by_schema() -> dict[str, str]:
    """Return SQLite's own description of each table as the lab makes it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return dict(connection.execute("select name, sql from sqlite_master where type = 'table'"))


def _as_json(row: Mapping[str, Any]) -> str:
    text = json.dumps({storable(k): _storable(v) for k, v in row.items()}, allow_nan=False)
    if len(text) > _LONGEST:
        raise ValueError("a row is too long")
    return text


def _storable(value: Any) -> Any:
    """Return a value that can be written: text from outside the lab may hold anything."""
    return storable(value) if isinstance(value, str) else value


def _check_tables(connection: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError unless the tables are the lab's: a view may never end."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    connection.execute("pragma trusted_schema = off")
    tables: dict[str, str] = {}
    for kind, name, sql in connection.execute("select type, lower(name), sql from sqlite_master"):
        plain = kind == "table" and str(sql).upper().startswith("CREATE TABLE")
        if kind == "trigger" or (name in made_by_schema() and not plain):
            raise sqlite3.DatabaseError(f"this is no record of the lab: its {name} is no table")
        tables[name] = sql
    if "job" not in tables:
        return  # not begun
    row = connection.execute("select format from job limit 1").fetchone()
    if row is None or row[0] != FORMAT:
        return  # which is the reader's to refuse
    for name, sql in made_by_schema().items():
        if tables.get(name) != sql:
            raise sqlite3.DatabaseError(f"this is no record of the lab: its {name} is another one")


CHANGED = "Others have changed this record: it is not what the run wrote, so do not rely on it."
_MARK = 1
"""In the file's ``user_version``: others have changed it. 0: no sum is kept, else a short one."""
_GAMES = "select games.*, first, layout, turns from games left join turns using (game)"
_PIECES, _ROWS = "select * from pieces", "select * from rows"
_SUMMED = [f"select {', '.join(JobRow._fields[:-4])} from job", _GAMES, _PIECES, _ROWS]
_SUMMED += [f"select * from {name}" for name in ("sessions", "agents", "openings")]


def _sum(rows: Iterable[tuple[Any, ...]]) -> int:
    """Return the sum of the digests of rows, whatever their order."""
    digests = (sha256(marshal.dumps(row, 0)).digest() for row in rows)
    return sum(int.from_bytes(digest, "little") for digest in digests)


def _short(number: int) -> int:
    return number % ((1 << 31) - 3) + 2


class Record(AbstractContextManager["Record"]):
    """The record of a job. Use :meth:`create` for a new one, :meth:`open` to read one.

    path: of its file.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self.path = connection, path
        self._cached: dict[str, str] = {}
        self._sum: int | None = None
        self._connection.create_function("fingerprint", 2, _fingerprint, deterministic=True)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __exit__(self, *exception: object) -> None:
        self.close()

    @classmethod
    def create(cls, path: Path, tell: sqlite_file.Tell | None = None) -> Record:
        """A new record (the file, or in this folder); raises FileExistsError if there is one. tell:
        gets a line while another program has locked the file; by default the log."""
        path = path / FILE if path.is_dir() else path
        return cls(sqlite_file.create(path, _SCHEMA, tell), path)

    @classmethod
    def open(cls, path: Path | str, cut_short: bool = False) -> Record:
        """An existing record (the file, or the folder of the job), for reading. cut_short: True to
        read what is left of a file without its end, too."""
        path, given = Path(path), path
        if path.is_dir():
            path = path / FILE
        if not path.is_file():
            raise FileNotFoundError(f"{given}: no record of a job there")
        with sqlite_file.ready(sqlite_file.read(path, cut_short)) as connection:
            _check_tables(connection)
        return cls(connection, path)

    @classmethod
    def append(cls, path: Path, tell: sqlite_file.Tell | None = None) -> Record:
        """An existing record, for adding to it. tell: as for :meth:`create`."""
        with cls.open(path) as record:
            path = record.path
        with sqlite_file.ready(sqlite_file.append(path, tell)) as connection:
            _check_tables(connection)
        return cls(connection, path)

    def transaction(self) -> AbstractContextManager[None]:
        """All that is written within it is kept together, or not at all."""
        return sqlite_file.transaction(self._connection)

    def write_row(self, table: str, values: Mapping[str, Any]) -> None:
        """Fill the one row of ``job``, or note in ``sessions`` a session that goes on from
        now; dictionaries are stored as JSON."""
        row = {k: json.dumps(v) if isinstance(v, dict) else _storable(v) for k, v in values.items()}
        marks = ", ".join("?" * len(row))
        sql = f"insert into {table} ({', '.join(row)}) values ({marks})"
        self._connection.execute(sql, tuple(row.values()))

    def write_agents(self, rows: Iterable[AgentRow]) -> None:
        """Fill ``agents``."""
        self._insert_all("agents", AgentRow, rows)

    def write_openings(self, texts: Iterable[str]) -> None:
        """Fill ``openings`` with the chosen ones in their order (see ``Opening.text``)."""
        self._connection.execute("delete from openings")
        self._insert_all("openings", OpeningRow, enumerate(texts))

    def write_games(self, games: Iterable[PlayedGame]) -> None:
        """Add finished games."""
        games = list(games)
        self._insert_all("games", GameRow, (played.game for played in games))
        turns = (played.turns for played in games if played.turns is not None)
        self._insert_all("turns", TurnsRow, turns)

    def copy_game(self, other: Record, game: GameRow) -> None:
        """Add a game of another record, with its turns as they are there."""
        turns = other.rows("select * from turns where game = ?", [game.game])
        self._insert_all("games", GameRow, [game])
        self._insert_all("turns", TurnsRow, turns)

    def drop_pairs(self, first: int) -> None:
        """Delete the games of all pairs from this one on."""
        self._drop(f"select game from games where pair >= {first:d}")

    def _drop(self, which: str) -> None:
        games = [(game,) for (game,) in self.rows(which)]
        for table in ("turns", "games"):
            self._connection.executemany(f"delete from {table} where game = ?", games)

    def write_values(self, table: str, query: str, values: Iterable[tuple[Any, ...]]) -> None:
        """Add rows to a table.

        query: the SQL that makes a row, with a ``?`` for each value given. values: of each row, of
        the types that the table declares, texts of ASCII letters.
        """
        self._connection.executemany(f"insert into {table} {query}", values)

    def write_pieces(self, pieces: Iterable[tuple[int, Tables, str]]) -> None:
        """Add pieces that were done, each with its number, its rows by table, and why it failed if
        it did. Rows that cannot be written are a failure."""
        for piece, tables, failure in pieces:
            rows: list[ResultRow] = []
            try:
                for table, entries in tables.items():
                    texts = enumerate(map(_as_json, entries))
                    rows += [ResultRow(piece, table, number, row) for number, row in texts]
            except (TypeError, ValueError, AttributeError, RecursionError) as error:
                rows, failure = [], f"its results cannot be recorded: {one_line(error):.400}"
            self._insert_all("pieces", PieceRow, [PieceRow(piece, failure)])
            self._insert_all("rows", ResultRow, rows)

    def add_pieces(self, pieces: Sequence[tuple[int, Tables, str]]) -> None:
        """Add pieces, as :meth:`write_pieces` does, in a transaction of their own."""
        with self.transaction():
            self.write_pieces(pieces)
            self.count_in([], [number for number, *_ in pieces])

    def drop_rows(self, table: str) -> None:
        """Delete the rows of a table of the pieces, of which something else was made."""
        if self._sum is not None:
            self._sum -= _sum(self.select(f"{_ROWS} where table_name = ?", [table]))
        self._connection.execute("delete from rows where table_name = ?", [table])
        self._keep()
        self._connection.execute("vacuum")

    def expect(self, pieces: int) -> None:
        """Note how many pieces there are in all."""
        self._connection.execute("update job set pieces = ?", [pieces])

    def _insert_all(self, table: str, row: Any, rows: Iterable[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" * len(row._fields))
        storable_rows = (tuple(map(_storable, row_values)) for row_values in rows)
        self._connection.executemany(f"insert into {table} values ({marks})", storable_rows)

    def continue_with(
        self, config: Mapping[str, Any], games_each: int = 2, retry: Collection[str] = ()
    ) -> None:
        """Replace the job's configuration; there is something to come. Games without the other one
        of their pair, of two (``games_each``), are deleted, to be played again.

        retry: SKIPPED, STARVED_PAIRS or both, to be done again too.
        """
        again = [f"select game from games where pair not in ({_WHOLE.format(games_each)})"]
        if STARVED_PAIRS in retry:
            starved = f"select pair from games where {starved_side('black')} or "
            starved += starved_side("white")
            again.append(f"select game from games where pair in ({starved})")
        for which in again:
            self._drop(which)
        if SKIPPED in retry:
            self._connection.execute("delete from pieces where failure != ''")
        self._connection.execute("update job set complete = 0, config = ?", (json.dumps(config),))

    def keep_sum(self, of_others: bool) -> None:
        """From now on keep the sum of all rows in the file, to notice changes by others. of_others:
        True if there were such changes before."""
        self._sum = None if of_others else self._total()
        self._keep()

    def count_in(self, games: Sequence[int], pieces: Sequence[int]) -> None:
        """Add games and pieces that were just written, as the file has them, to the sum."""
        if self._sum is not None:
            places = [(f"{_GAMES} where game", games)]
            places += [(f"{rows} where piece", pieces) for rows in (_PIECES, _ROWS)]
            for rows, these in places:
                which = f"{rows} in (select value from json_each(?))"
                self._sum += _sum(self.select(which, [json.dumps(these)]))
            self._keep()

    def _keep(self) -> None:
        number = _MARK if self._sum is None else _short(self._sum)
        self._connection.execute(f"pragma user_version = {number}")

    def _total(self) -> int:
        return sum(_sum(self.select(rows)) for rows in _SUMMED)

    def was_changed(self, read: bool = False) -> bool:
        """Return True if the run has noticed a change by others; if all rows are to be ``read``,
        also if they have another sum than was kept last."""
        ((stored,),) = self.rows("pragma user_version")
        return stored == _MARK or bool(read and stored and stored != _short(self._total()))

    def finish(self, wall_seconds: float, complete: bool) -> None:
        """Note the additional seconds of the job, and if the file has other rows than were written.
        complete: True if all of it is done."""
        if self._sum is not None:
            with Record.open(self.path) as record:
                if record._total() != self._sum:
                    self._sum = None
                    self._keep()
        spent = "wall_seconds = coalesce(wall_seconds, 0) + ?"
        values = wall_seconds, int(complete)
        self._connection.execute(f"update job set {spent}, complete = ?", values)
        sqlite_file.fold(self._connection)

    def format(self) -> int | None:
        """The version of the tables that it was written with; None if its writing never got as far
        as to say so. Raises sqlite3.Error if the file is no database."""
        if not self.rows("select name from sqlite_master where name = 'job'"):
            return None
        rows = self.rows("select format from job")
        return int(rows[0][0]) if rows else None

    def head(self) -> dict[str, Any]:
        """The row about the job, its JSON decoded; ValueError if it holds something else."""
        row = dict(zip(JobRow._fields, self.rows("select * from job")[0], strict=True))
        for key in ("config", "versions", "machine"):
            row[key] = json.loads(row[key])
            if not isinstance(row[key], dict):
                raise ValueError(f"job.{key} is no mapping")
        return row

    def query(self, sql: str, parameters: Iterable[Any] = ()) -> pd.DataFrame:
        """The result of an SQL query as a DataFrame."""
        import pandas as pd

        try:
            return pd.read_sql_query(sql, self._connection, params=list(parameters))
        except pd.errors.DatabaseError as error:
            raise error.__cause__ or error from None

    def rows(self, sql: str, parameters: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the result of an SQL query as tuples, without pandas."""
        return self._connection.execute(sql, tuple(parameters)).fetchall()

    def cached_table(self, sql: str) -> str:
        """Return the name of a temporary table with the result of an SQL query that several others
        begin with. Nothing may be added to the record meanwhile."""
        if sql not in self._cached:
            name = f"kept_{len(self._cached)}"
            self._connection.execute(f"create temp table {name} as {sql}")
            self._cached[sql] = name
        return self._cached[sql]

    def select(self, sql: str, parameters: Iterable[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The same, one by one as they are read."""
        yield from self._connection.execute(sql, tuple(parameters))

    def settled(self, games_each: int = 2) -> set[int]:
        """The pairs that were played, all their games (1 or 2), or skipped, by number."""
        return {pair for (pair,) in self._connection.execute(_SETTLED.format(games_each))}

    def count_settled(self, games_each: int = 2) -> int:
        """Return the number of these pairs."""
        ((number,),) = self.rows(f"select count(*) from ({_SETTLED.format(games_each)})")
        return int(number)

    def pairs(self, games_each: int = 2) -> Iterator[tuple[int, list[GameRow]]]:
        """The number and the games of each pair that was played or skipped, in the order of the
        schedule; of a skipped one no games."""
        games = map(GameRow._make, self._connection.execute("select * from games order by game"))
        played = {pair: list(rows) for pair, rows in groupby(games, key=lambda row: row.pair)}
        for pair in sorted(self.settled(games_each)):
            yield pair, played.get(pair, [])

    def count_games(self, forfeited: bool = False) -> int:
        """Return the number of games, or of forfeited ones."""
        only = f"where end_reason not in {FAIR_ENDS}" if forfeited else ""
        row = self._connection.execute(f"select count(*) from games {only}")
        return int(row.fetchone()[0])

    def results(self) -> list[tuple[int, int, str, int]]:
        """Return the count of each result: Black and White, by number, the result, and the number
        of games."""
        sides = "black, white, result"
        return self.rows(f"select {sides}, count(*) from games group by {sides}")

    def pieces(self) -> dict[int, str]:
        """The pieces that are done, by number, each with its failure (empty: none); of a run the
        pairs that were not played."""
        return dict(self.rows("select * from pieces order by piece"))

    def tables(self) -> dict[str, pd.DataFrame]:
        """All rows of the pieces, by table, in the order of the pieces; the column ``piece`` has
        the piece's number."""
        import pandas as pd

        tables: dict[str, list[dict[str, Any]]] = {}
        sql = "select piece, table_name, row from rows order by piece, table_name, number"
        for piece, table, row in self.select(sql):
            tables.setdefault(table, []).append({"piece": piece, **json.loads(row)})
        return {table: pd.DataFrame(rows) for table, rows in tables.items()}

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
        """One row a game, in schedule order; ``black`` and ``white`` by name. Counts of an agent
        that counts no nodes are missing."""
        names = {"black": "b.name as black", "white": "w.name as white"}
        table = self.query(
            f"""select {", ".join(names.get(column, column) for column in GameRow._fields)}
               from games join agents b on b.agent = black join agents w on w.agent = white
               order by game"""
        )
        # Whole numbers also where some are missing: pandas alone would make floats of them.
        whole = [name for name, kind in get_type_hints(GameRow).items() if int in get_args(kind)]
        table, uncounted = table.astype(dict.fromkeys(whole, "Int64")), self._agents_without_nodes()
        for color in ("black", "white"):
            counts = [f"{color}_nodes", f"{color}_evaluations"]
            table.loc[table[color].isin(uncounted), counts] = None
        return table

    def _agents_without_nodes(self) -> list[str]:
        """Return the agents that have counted no node in any game."""
        rows = self._connection.execute(
            """select name from agents where
               (select coalesce(sum(black_nodes), 0) from games where black = agent)
               + (select coalesce(sum(white_nodes), 0) from games where white = agent) = 0"""
        )
        return [name for (name,) in rows]

    def turns(self, games: Sequence[int]) -> Turns:
        """The turns of some games, in the order of these games' numbers; none where the run does
        not record them. ValueError if they cannot be read."""
        these = f"{READ} where game in (select value from json_each(?)) order by game"
        return Turns(self.select(these, [json.dumps(list(games))]))

    def moves(self) -> pd.DataFrame:
        """One row a move made by an agent, ``agent`` by name; passes have square 64. ``move``
        is the square's name, of a pass ``--``. Counts of an agent that counts no nodes are
        missing."""
        import pandas as pd

        turns = Turns(self.select(f"{READ} order by game"))
        table = pd.DataFrame({name: turns.column(name) for name in MOVE_COLUMNS[:4]})
        table["move"] = table["square"].map({n: square_name(n) for n in range(PASS + 1)})
        table["value"] = pd.Series(turns.objects("value").tolist())
        for name in MOVE_COLUMNS[5:]:
            table[name] = pd.arrays.IntegerArray(turns.column(name), ~turns.known(name))
        table["agent"] = table["agent"].map(dict(self.rows("select agent, name from agents")))
        table.loc[table["agent"].isin(self._agents_without_nodes()), list(COUNTS)] = None
        return table

    def export(self, folder: Path, kinds: Iterable[str]) -> list[str]:
        """Write agents, games and moves as ``csv`` and/or ``parquet``; the names of the files."""
        written = []
        for name in ("agents", "games", "moves"):
            table = getattr(self, name)()
            for kind in kinds:
                written.append(f"{name}.{kind}")
                write_table(table, folder / written[-1])
        return written
