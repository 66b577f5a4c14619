"""A record's file, after its writer was killed at a bad moment."""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from othello_lab.experiments.record import sqlite_file
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import Record


def cut_off(path: Path) -> None:
    """Leave a change half written, as a process does that is killed within it."""
    pid = os.fork()
    if pid == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("pragma journal_mode = delete")
        connection.execute("pragma cache_size = 1")  # so that pages are written before the end
        connection.execute("begin")
        connection.execute("create table other (text)")
        connection.executemany("insert into other values (?)", [("x" * 5000,)] * 50)
        os._exit(0)
    os.waitpid(pid, 0)
    assert path.with_name(f"{path.name}-journal").stat().st_size


def test_a_change_that_was_cut_off_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "record.sqlite"
    with closing(sqlite_file.create(path, "create table own (text);")) as connection:
        connection.execute("insert into own values ('kept')")
        sqlite_file.fold(connection)
    cut_off(path)
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    with closing(connection), pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("select * from own")
    with closing(sqlite_file.read(path)) as connection:
        assert connection.execute("select * from own").fetchall() == [("kept",)]
        tables = connection.execute("select name from sqlite_master").fetchall()
        assert tables == [("own",)]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("delete from own")


def test_records_go_on_after_it(tmp_path: Path) -> None:
    Record.create(tmp_path / "run.sqlite").close()
    cut_off(tmp_path / "run.sqlite")
    with Record.append(tmp_path / "run.sqlite") as record:
        assert record.format() is None


def test_a_study_that_was_killed_before_its_tables_has_not_begun(tmp_path: Path) -> None:
    (tmp_path / "record.sqlite").touch()
    with (
        pytest.raises(ValueError, match="stopped before it had begun; start it again"),
        reading(tmp_path, "study"),
    ):
        pass


def test_no_journal_deletes_another_file(tmp_path: Path) -> None:
    """In somebody else's folder a journal may name any file as one to be deleted after it."""
    path, other = tmp_path / "record.sqlite", tmp_path / "precious.txt"
    other.write_text("precious")

    def name_the_other_file() -> None:
        cut_off(path)
        name = str(other).encode()
        lengths = struct.pack(">II", len(name), sum(name))
        page = struct.pack(">I", (1 << 30) // 4096 + 1)
        record = page + name + lengths + bytes.fromhex("d9d505f920a163d7")
        journal = path.with_name("record.sqlite-journal")
        journal.write_bytes(journal.read_bytes().ljust(1 << 13, b"\0") + record)

    Record.create(path).close()
    name_the_other_file()
    with pytest.raises(sqlite3.DatabaseError, match="its journal names another file"):
        Record.open(path)
    with pytest.raises(sqlite3.DatabaseError, match="its journal names another file"):
        sqlite_file.append(path)
    assert other.exists()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("select * from sqlite_master")  # as SQLite itself does it
    assert not other.exists()
