"""The record of a run: one SQLite file, written by the driver alone, readable while it grows.

The tables are the row types below, a column a field (``results/README.md`` explains every column).
Games enter in batches, the two games of a pair in one transaction. The turns of a game are one
text, because that is written several times as fast as sixty rows; a view shows them as rows.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import fields
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, get_args, get_type_hints

from othello_lab.core.game import FINISHED, LATE_BY_WALL, SearchStats
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.system.foreign_text import storable
from othello_lab.experiments.record.folder import sync

if TYPE_CHECKING:
    import pandas as pd  # loaded when a table is read, since a run starts sooner without it

FORMAT = 7
"""Version of the tables; changes when their meaning does."""

FILE = "games.sqlite"
"""The record's name in the folder of its run."""

_PATIENCE = 30.0  # seconds to wait while another program writes or holds on to the file
_SYNCHRONOUS = "pragma synchronous = full"  # what is committed is on disk, whatever happens then


# ---------------------------------------------------------------------- the tables


class AgentRow(NamedTuple):
    """An agent of the line-up. config: its settings as JSON."""

    agent: int
    name: str
    config: str
    version: int
    reproducible: bool
    selective: bool

    @classmethod
    def of(cls, agent: int, name: str, config: Mapping[str, Any], *about: Any) -> AgentRow:
        """The row of an agent with these settings; about: the last three fields."""
        return cls(agent, name, json.dumps(config), *about)


class OpeningRow(NamedTuple):
    """An opening of the run, in its order; ``text`` is to be read with ``Opening.read``."""

    number: int
    text: str


class SkippedRow(NamedTuple):
    """A pair of games that was not played."""

    pair: int
    reason: str


class GameRow(NamedTuple):
    """A finished game. detail: the reason of a forfeit, in a line. The rest are totals of each
    side's decisions (:data:`TOTALS`), so that nobody has to read all moves for them."""

    game: int
    pair: int
    black: int
    white: int
    result: str
    black_points: float
    disc_difference: int | None
    black_discs: int
    white_discs: int
    end_reason: str
    opening: str
    seed: int
    transcript: str
    detail: str = ""
    black_moves: int = 0
    black_nodes: int = 0
    black_evaluations: int = 0
    black_nanoseconds: int = 0
    black_cpu_nanoseconds: int = 0
    black_late: int = 0
    white_moves: int = 0
    white_nodes: int = 0
    white_evaluations: int = 0
    white_nanoseconds: int = 0
    white_cpu_nanoseconds: int = 0
    white_late: int = 0

    def points_of(self, agent: int) -> float:
        """0, 0.5 or 1 point for one of its two agents, by number."""
        return self.black_points if agent == self.black else 1 - self.black_points

    @property
    def forfeited_by(self) -> int | None:
        """The agent that lost by a fault of its own, by number; None if the game was played to its
        end."""
        if self.end_reason == FINISHED:
            return None
        return self.white if self.result == "black" else self.black

    @property
    def begun(self) -> bool:
        """True if a move was made after the opening."""
        return len(self.identity) > len(self.opening)

    @property
    def identity(self) -> str:
        """Text that distinguishes it from other games of the same agents."""
        return identity(self.opening, self.transcript)


def identity(opening: str, transcript: str) -> str:
    """Return a text that distinguishes a game from others of the same agents: its moves, and its
    start unless the moves imply it."""
    return transcript if transcript.startswith(opening) else opening + transcript


def _fingerprint(opening: str, transcript: str) -> int:
    """Return a game's identity as a number, cheaper to sort and keep than its text. Of a million
    different games any two share it with a probability of 1 in 30 million."""
    return hash(identity(opening, transcript))


COUNTS = tuple(field.name for field in fields(SearchStats))
"""The columns of ``moves`` that say what a decision cost, as :class:`core.game.SearchStats` has
them."""

TIMES = ("nanoseconds", "cpu_nanoseconds", "waited_nanoseconds", "late")
"""The columns of ``moves`` that say how long it took, as :class:`core.game.Ply` has them."""

TOTALS = tuple(
    name.removeprefix("white_")
    for name in GameRow._fields
    if name.startswith("white_") and name != "white_discs"
)
"""What ``games`` has of each side's decisions, as ``black_nodes`` and ``white_nodes``: how many,
what they cost in all, and how many stand although they were late by the wall clock."""

MOVE_COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("game", "ply", "agent", "square"), int),
    "value": float | None,
    "depth": int | None,
    **dict.fromkeys((*TIMES[:2], *COUNTS, *TIMES[2:]), int | None),
}
_made: Any = namedtuple  # mypy wants its fields written out; they are those of SearchStats
MoveRow = _made("MoveRow", MOVE_COLUMNS, defaults=[None] * (len(MOVE_COLUMNS) - 4))
"""One turn of a game. Of a forced pass, which is nobody's decision, only the first four are set."""

TURN = [name for name in MOVE_COLUMNS if name != "game"]
"""The columns of a turn in the text of a game."""
FIRST_COUNT = TURN.index(COUNTS[0])
"""Where what was counted begins."""
PASS_WIDTH = TURN.index("value")
"""So many columns are there of a turn that nobody decided."""


def written(turns: Sequence[Any]) -> str:
    """The turns of a game as ``turns`` keeps them: JSON, a list of MoveRows without the number of
    the game, a forced pass cut to the columns that it has. The last columns, from the nodes on, are
    left out where they are 0 all through the game.

    turns: MoveRows.
    """
    end = len(MOVE_COLUMNS)
    while end > FIRST_COUNT + 2 and not any(turn[end - 1] for turn in turns):
        end -= 1
    rows = [turn[1 : 1 + PASS_WIDTH if turn.nodes is None else end] for turn in turns]
    return json.dumps(rows, separators=(",", ":"), allow_nan=False)


def read_turns(game: int, text: str) -> list[Any]:
    """Return the MoveRows of a game from the text of :func:`written`; ValueError for any other
    text."""
    try:
        if len(text) > _LONGEST_TEXT:
            raise ValueError(f"{len(text):,} characters")
        strict: dict[str, Any] = {}
        if _LARGE.search(text):  # asking about every number would take three times as long
            strict = {"parse_int": _int64, "parse_float": _finite}
        rows = json.loads(text, parse_constant=_refuse, **strict)
        if type(rows) is not list:
            raise ValueError("no list")
        return [_read_turn(game, row) for row in rows]
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"game {game}: its turns cannot be read: {error}") from None


_LONGEST_TEXT = 1 << 17
"""Characters. A game has no more than 120 turns, which are 64 KiB if every count is as long as can
be; a record may be somebody else's, and say anything."""


_LARGE = re.compile(r"\d{19}|[eE]")  # only what has this may be too large


def _int64(digits: str) -> int:
    if len(digits) > 20 or not -(1 << 63) <= int(digits) < 1 << 63:
        raise ValueError(f"{digits:.20}... does not fit 64 bits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(number: str) -> NoReturn:
    raise ValueError(f"{number:.20} is no number")


def _read_turn(game: int, row: list[Any]) -> Any:
    if type(row) is not list:
        raise ValueError("a turn is no list")
    missing = len(TURN) - len(row)
    return MoveRow(game, *row, *[None if len(row) <= PASS_WIDTH else 0] * missing)


def seat_totals(turns: Iterable[Any], agents: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sums of all TOTALS for each of a game's agents, by number. turns: MoveRows."""
    found = {agent: [0] * len(TOTALS) for agent in agents}
    for turn in turns:
        if turn.nodes is not None:
            about = turn.nodes, turn.evaluations, turn.nanoseconds, turn.cpu_nanoseconds
            for place, amount in enumerate((1, *about, turn.late == LATE_BY_WALL)):
                found[turn.agent][place] += amount
    return [tuple(found[agent]) for agent in agents]


class PlayedGame(NamedTuple):
    """A finished game as it enters the record. turns: see :func:`written`; None where the run
    does not record them."""

    game: GameRow
    turns: str | None


MOVES = "moves"
"""The view of all turns of all games: a row a MoveRow."""


class TurnsRow(NamedTuple):
    """The turns of a game, see :func:`written`; the view ``moves`` shows them as MoveRows."""

    game: int
    turns: str


def columns_of(row: Any) -> dict[str, Any]:
    """The names and types of a row's columns."""
    return MOVE_COLUMNS if row is MoveRow else get_type_hints(row)


def _whole(table: pd.DataFrame, row: Any) -> pd.DataFrame:
    """Return a table with whole numbers as such also if some are missing. pandas alone would make
    floats of them."""
    kinds = columns_of(row)
    whole = [name for name in table if int in get_args(kinds.get(name)) and name != "value"]
    return table.astype(dict.fromkeys(whole, "Int64"))


def fits(row: Any) -> bool:
    """Return True if all values of a row are of the types that its table declares."""
    return all(map(_fits, row, columns_of(type(row)).values()))


def _fits(value: Any, kind: Any) -> bool:
    kinds = get_args(kind) or (kind,)
    whole = type(value) is int and (float in kinds or (bool in kinds and value in (0, 1)))
    return type(value) in kinds or whole


def _declared(row: Any, key: str) -> str:
    """Return the columns of a table in SQL; ``key`` is its primary key."""
    names = {int: "integer", bool: "integer", float: "real", str: "text"}
    columns = []
    for name, kind in get_type_hints(row).items():
        kinds = [each for each in get_args(kind) or (kind,) if each is not NoneType]
        need = "" if NoneType in get_args(kind) else " not null"
        columns.append(f"{name} {names[kinds[0]]}{need}")
    return ", ".join([*columns, f"primary key ({key})"])


def _shown() -> str:
    """Return the columns of the view ``moves`` in SQL."""
    columns = ["game"]
    for place, name in enumerate(TURN):
        said = f"json_extract(value, '$[{place}]')"
        if place > FIRST_COUNT:
            said = f"case when json_array_length(value) > {PASS_WIDTH} then coalesce({said}, 0) end"
        columns.append(f"{said} as {name}")
    return f"select {', '.join(columns)} from turns, json_each(turns.turns)"


_SHOWN = _shown()
_SCHEMA = f"""
create table run (
    name text not null, format integer not null, ruleset text not null, seed integer not null,
    config text not null, command text not null, versions text not null, machine text not null,
    started text not null, wall_seconds real, complete integer not null default 0
);
create table sessions (
    session integer primary key, command text not null, versions text not null,
    machine text not null, started text not null
);
create table agents ({_declared(AgentRow, "agent")}, unique (name));
create table openings ({_declared(OpeningRow, "number")});
create table skipped ({_declared(SkippedRow, "pair")});
create table games ({_declared(GameRow, "game")});
create table turns ({_declared(TurnsRow, "game")});
create view {MOVES} as {_SHOWN};
"""

_WHOLE = "select pair from games group by pair having count(*) = {}"


# ---------------------------------------------------------------------- the file


_LONGEST = 1 << 26  # bytes of a value; a record may be somebody else's, and say anything


@cache
def made_by_schema() -> dict[str, str]:
    """Return SQLite's own description of each table as the lab makes it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        kinds = "type in ('table', 'view')"
        return dict(connection.execute(f"select name, sql from sqlite_master where {kinds}"))


def _storable(value: Any) -> Any:
    """Return a value that can be written: text from outside the lab may hold anything."""
    return storable(value) if isinstance(value, str) else value


def _check_tables(connection: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError unless the tables are those the lab makes: a view in the place of
    one may never end, and a trigger may do anything."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    connection.execute("pragma trusted_schema = off")
    found: dict[str, str] = {}
    for kind, name, sql in connection.execute("select type, lower(name), sql from sqlite_master"):
        plain = kind == "table" and str(sql).upper().startswith("CREATE TABLE")
        if kind == "trigger" or (name in made_by_schema() and not (plain or name == MOVES)):
            raise sqlite3.DatabaseError(f"this is no record of the lab: its {name} is no table")
        found[name] = sql
    if "run" not in found:
        return  # not begun
    row = connection.execute("select format from run limit 1").fetchone()
    if row is None or row[0] != FORMAT:
        return  # which is the reader's to refuse
    for name, sql in made_by_schema().items():
        if found.get(name) != sql:
            raise sqlite3.DatabaseError(f"this is no record of the lab: its {name} is another one")


@contextmanager
def _kept(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Close a connection that could not be made ready."""
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


class Record:
    """An open record. Use :meth:`create` for a new run, :meth:`open` to read one."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._kept: dict[str, str] = {}
        self._connection.create_function("fingerprint", 2, _fingerprint, deterministic=True)
        # The view of a file calls functions that a file is not trusted with; one's own may.
        self._connection.execute(f"create temp view {MOVES} as {_SHOWN}")
        self.path = path

    @classmethod
    def create(cls, path: Path) -> Record:
        """A new record at ``path``; raises FileExistsError if there is one."""
        if path.exists():
            raise FileExistsError(f"{path} exists; a record is never overwritten")
        with _kept(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("pragma journal_mode = wal")
            connection.execute(_SYNCHRONOUS)
            connection.executescript(f"begin; {_SCHEMA} commit;")
        sync(path.parent)
        return cls(connection, path)

    @classmethod
    def open(cls, path: Path | str) -> Record:
        """An existing record (the file, or the folder of the run), for reading."""
        path = Path(path)
        if path.is_dir():
            path = path / FILE
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no record of a run there")
        uri = f"{path.resolve().as_uri()}?mode=ro"
        with _kept(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            _check_tables(connection)
        return cls(connection, path)

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
        with _kept(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
            with suppress(sqlite3.OperationalError):  # somebody reads it: it goes without
                connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma busy_timeout = {1000 * _PATIENCE:.0f}")
            _check_tables(connection)
            connection.execute(_SYNCHRONOUS)
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

    def write_row(self, table: str, values: Mapping[str, Any]) -> None:
        """Fill the one row of ``run``, or note in ``sessions`` a session that adds games from now
        on; dictionaries are stored as JSON."""
        row = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in values.items()}
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        self._connection.execute(
            f"insert into {table} ({names}) values ({marks})", tuple(map(_storable, row.values()))
        )

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
        turns = (TurnsRow(each.game.game, each.turns) for each in games if each.turns is not None)
        self._insert_all("turns", TurnsRow, turns)

    def write_skipped(self, pair: int, reason: str) -> None:
        """Note that a pair will not be played."""
        self._insert_all("skipped", SkippedRow, [SkippedRow(pair, reason)])

    def _insert_all(self, table: str, row: Any, rows: Iterable[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" * len(row._fields))
        storable_rows = (tuple(map(_storable, each)) for each in rows)
        self._connection.executemany(f"insert into {table} values ({marks})", storable_rows)

    def continue_with(self, config: dict[str, Any], games_each: int, retry_skipped: bool) -> None:
        """Replace the run's configuration; there are games to come. Those without the other one of
        their pair, of two (``games_each``), are deleted, to be played again; with ``retry_skipped``
        skipped pairs are to be played too."""
        half = f"select game from games where pair not in ({_WHOLE.format(games_each)})"
        for table in ("turns", "games"):
            self._connection.execute(f"delete from {table} where game in ({half})")
        if retry_skipped:
            self._connection.execute("delete from skipped")
        self._connection.execute("update run set complete = 0, config = ?", (json.dumps(config),))

    def finish(self, wall_seconds: float, complete: bool) -> None:
        """Note the additional seconds of the run. complete: True if all scheduled games are
        there."""
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

    def rows(self, sql: str, parameters: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the result of an SQL query as tuples, without pandas."""
        return self._connection.execute(sql, tuple(parameters)).fetchall()

    def kept(self, sql: str) -> str:
        """Return the name of a temporary table with the result of an SQL query that several others
        begin with. Nothing may be added to the record meanwhile."""
        if sql not in self._kept:
            name = f"kept_{len(self._kept)}"
            self._connection.execute(f"create temp table {name} as {sql}")
            self._kept[sql] = name
        return self._kept[sql]

    def each(self, sql: str, parameters: Iterable[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The same, one by one as they are read."""
        yield from self._connection.execute(sql, tuple(parameters))

    def run(self) -> dict[str, Any]:
        """The row of ``run``, its JSON decoded; ValueError if it holds something else."""
        row = self.query("select * from run").iloc[0].to_dict()
        for key in ("config", "versions", "machine"):
            row[key] = json.loads(row[key])
            if not isinstance(row[key], dict):
                raise ValueError(f"run.{key} is no mapping")
        return {str(key): value for key, value in row.items()}

    def format(self) -> int | None:
        """The version of the tables that it was written with; None if its writing never got as far
        as to say so. Raises sqlite3.Error if the file is no database."""
        if not self.rows("select name from sqlite_master where name = 'run'"):
            return None
        row = self._connection.execute("select format from run").fetchone()
        return None if row is None else int(row[0])

    def settled(self, games_each: int = 2) -> set[int]:
        """The pairs that were played, all their games (1 or 2), or skipped, by number."""
        whole = _WHOLE.format(games_each)
        rows = self._connection.execute(f"{whole} union select pair from skipped")
        return {pair for (pair,) in rows}

    def pairs(self, games_each: int = 2) -> Iterator[tuple[int, list[GameRow]]]:
        """The number and the games of each pair that was played or skipped, in the order of the
        schedule; of a skipped one no games."""
        games = map(GameRow._make, self._connection.execute("select * from games order by game"))
        played = {pair: list(rows) for pair, rows in groupby(games, key=lambda row: row.pair)}
        for pair in sorted(self.settled(games_each)):
            yield pair, played.get(pair, [])

    def count_games(self, forfeited: bool = False) -> int:
        """Return the number of games, or of forfeited ones."""
        only = "where end_reason != ?" if forfeited else "where ? is not null"
        row = self._connection.execute(f"select count(*) from games {only}", [FINISHED])
        return int(row.fetchone()[0])

    def results(self) -> list[tuple[int, int, str, int]]:
        """Return the count of each result: Black and White, by number, the result, and the number
        of games."""
        return self.rows(
            "select black, white, result, count(*) from games group by black, white, result"
        )

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
        """One row a game, in schedule order; ``black`` and ``white`` by name. Counts of an agent
        that counts no nodes are missing."""
        names = {"black": "b.name as black", "white": "w.name as white"}
        table = self.query(
            f"""select {", ".join(names.get(column, column) for column in GameRow._fields)}
               from games join agents b on b.agent = black join agents w on w.agent = white
               order by game"""
        )
        table, uncounted = _whole(table, GameRow), self._agents_without_nodes()
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

    def turns(self, game: int) -> list[Any]:
        """The MoveRows of a game in order; none where the run does not record them. ValueError if
        they cannot be read."""
        rows = self._connection.execute("select turns from turns where game = ?", [game])
        found = rows.fetchone()
        return [] if found is None else read_turns(game, found[0])

    def moves(self) -> pd.DataFrame:
        """One row a move made by an agent, ``agent`` by name; passes have square 64. ``move``
        is the square's name, of a pass ``--``. Counts of an agent that counts no nodes are
        missing."""
        import pandas as pd

        names = dict(self._connection.execute("select agent, name from agents"))
        rows = self._connection.execute("select game, turns from turns order by game")
        turns = chain.from_iterable(read_turns(game, text) for game, text in rows)
        table = pd.DataFrame(turns, columns=list(MOVE_COLUMNS))
        table["agent"] = table["agent"].map(names)
        squares = {square: square_name(square) for square in range(PASS + 1)}
        after = table.columns.get_loc("square") + 1
        table.insert(after, "move", table["square"].map(squares))
        table = _whole(table, MoveRow)
        table.loc[table["agent"].isin(self._agents_without_nodes()), list(COUNTS)] = None
        return table

    def export(self, folder: Path, kinds: Iterable[str]) -> list[str]:
        """Write agents, games and moves as ``csv`` and/or ``parquet``; the names of the files."""
        written = []
        for name in ("agents", "games", "moves"):
            table = getattr(self, name)()
            for kind in kinds:
                written.append(f"{name}.{kind}")
                getattr(table, f"to_{kind}")(folder / written[-1], index=False)
        return written
