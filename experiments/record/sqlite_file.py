"""The SQLite file of a record, opened for reading or for writing."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from othello_lab.core.system.files import check_file, open_file
from othello_lab.experiments.record.folder import sync

log = logging.getLogger("lab.record")

Tell = Callable[[str], object]
"""Receives one line that the user should know."""

TOLD_SECONDS = 2.0
"""A lock of another program is told of after so long."""
AGAIN_SECONDS = 60.0
"""While it lasts it is told of again each time after so long."""
LOCKED = "is locked by another program; wait for its end, and try again"
"""Why a file could not be read; its path stands before."""
_TRY_SECONDS = 0.2  # of a try; Ctrl-C is heeded between two
_READ_SECONDS = 5.0
_SYNCHRONOUS = "pragma synchronous = full"  # what is committed is on disk, whatever happens then
# Bytes. A game may fill more than a page of the usual 4 KiB, which costs the writer a third more.
_PAGES = "pragma page_size = 16384"
_LOOK = "select count(*) from sqlite_master"
# Who only reads cannot finish what a writer was killed in; see www.sqlite.org/rescode.html.
_HALF_CHANGED = (
    sqlite3.SQLITE_READONLY_ROLLBACK,
    sqlite3.SQLITE_READONLY_RECOVERY,
    sqlite3.SQLITE_READONLY_CANTINIT,
    sqlite3.SQLITE_READONLY_CANTLOCK,
)
_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")  # www.sqlite.org/fileformat.html


def is_locked(error: BaseException) -> bool:
    """Return True for the error of a file that another program holds on to."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL)


def why_unreadable(error: BaseException) -> str:
    """Return why a file cannot be read whatever it holds, to follow its path; "" for an error of
    its content."""
    if is_locked(error):
        return LOCKED
    code = getattr(error, "sqlite_errorcode", None) or 0
    of_system = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)
    return f"cannot be read: {error}" if code & 0xFF in of_system else ""


class WritingConnection(sqlite3.Connection):
    """A connection of the only program that writes to a file. It waits as long as another program
    holds a lock on it, and tells of that; Ctrl-C ends the wait.

    path: of the file. tell: gets the line.
    """

    path: Path
    tell: Tell

    def cursor(self, *_: Any) -> sqlite3.Cursor:  # type: ignore[override]
        """Return a cursor that waits, for pandas too."""
        return super().cursor(_WaitingCursor)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """Run a statement, as soon as the file is free."""
        return self.cursor().execute(*arguments)


class _WaitingCursor(sqlite3.Cursor):
    def execute(self, *arguments: Any) -> Self:
        began, lines = time.monotonic(), 0
        while True:
            try:
                return super().execute(*arguments)
            except sqlite3.OperationalError as error:
                if not is_locked(error):
                    raise
            waited = time.monotonic() - began
            if waited > TOLD_SECONDS + lines * AGAIN_SECONDS:
                lines += 1
                since = f", for {waited:.0f} s by now" if lines > 1 else ""
                connection = self.connection
                assert isinstance(connection, WritingConnection)
                connection.tell(
                    f"waiting for {connection.path}: another program has locked it{since}; end "
                    "that program, or stop with Ctrl-C"
                )
            time.sleep(_TRY_SECONDS / 4)


def _opened(path: Path, tell: Tell | None) -> WritingConnection:
    connection = sqlite3.connect(
        path, timeout=_TRY_SECONDS, isolation_level=None, factory=WritingConnection
    )
    connection.path, connection.tell = path, tell or log.warning
    return connection


_Connection = TypeVar("_Connection", bound=sqlite3.Connection)


@contextmanager
def ready(connection: _Connection) -> Iterator[_Connection]:
    """Close a connection that cannot be made ready in the block."""
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def create(path: Path, schema: str, tell: Tell | None = None) -> WritingConnection:
    """Make a file with these tables, and return a connection that writes to it; FileExistsError.

    tell: gets a line while somebody else has locked the file; by default the log.
    """
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists; a record is never overwritten")
    with ready(_opened(path, tell)) as connection:
        connection.execute(_PAGES)  # fixed from here on
        connection.execute("pragma journal_mode = wal")
        connection.execute(_SYNCHRONOUS)
        with transaction(connection):
            for statement in filter(str.strip, schema.split(";")):
                connection.execute(statement)
        sync(path.parent)
    return connection


def append(path: Path, tell: Tell | None = None) -> WritingConnection:
    """Return a connection that adds to a file; sqlite3.Error. tell: as for :func:`create`."""
    _check_files(path, follow=False)
    with ready(_opened(path, tell)) as connection:
        _try(connection, "pragma journal_mode = wal")  # or it goes without
        # Without it, a change may only be written once nobody reads the file.
        connection.execute("pragma cache_spill = off")
        connection.execute(_SYNCHRONOUS)
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is written within it is kept together, or not at all."""
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk may have ended the transaction already
            connection.rollback()
        raise


def fold(connection: sqlite3.Connection) -> None:
    """Fold the write-ahead log in, so that one file is left, readable from anywhere. While somebody
    reads it that cannot be, and need not."""
    _try(connection, "pragma journal_mode = delete")


def _try(connection: sqlite3.Connection, statement: str) -> None:
    """Run a statement, unless somebody else uses the file; without waiting."""
    with suppress(sqlite3.OperationalError):
        sqlite3.Connection.cursor(connection).execute(statement)


def read(path: Path, cut_short: bool = False) -> sqlite3.Connection:
    """Return a connection that reads a file, and cannot write to it; sqlite3.Error. cut_short: True
    to read a file without its end, too.

    If a program was killed while it changed the kind of journal, its change is taken back first.
    """
    _check_files(path)
    try:
        return _read(path, cut_short)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode not in _HALF_CHANGED:
            raise
    with closing(sqlite3.connect(path, timeout=_READ_SECONDS)) as connection:
        connection.execute(_LOOK)
    return _read(path, cut_short)


def _check_files(path: Path, follow: bool = True) -> None:
    """Raise UnreadableFile if the file, or one of those that SQLite keeps beside it, is none, and
    sqlite3.DatabaseError if a journal names another file, which SQLite would delete, whatever it
    is. The lab writes no such journal; somebody else's folder may have one.

    follow: False to refuse a link to a file, too. SQLite opens them by their paths, those beside
    never through a link. Closing them here would lose the locks that this process has on them.
    """
    check_file(path, follow)
    for beside in ("-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            check_file(f"{path.resolve()}{beside}", follow=False)
    with suppress(FileNotFoundError), open_file(f"{path}-journal", None) as journal:
        journal.seek(max(0, journal.seek(0, os.SEEK_END) - len(_SUPER_JOURNAL)))
        if journal.read() == _SUPER_JOURNAL:
            raise sqlite3.DatabaseError("its journal names another file")


def _read(path: Path, cut_short: bool) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode=ro"
    opened = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_READ_SECONDS)
    with ready(opened) as connection:
        if cut_short:  # with this SQLite does not refuse a file for its length
            connection.execute("pragma writable_schema = on")
        connection.execute(_LOOK)
    return connection
