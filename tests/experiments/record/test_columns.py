"""The columns of a record have declared meanings."""

from __future__ import annotations

from pathlib import Path

import pytest

from othello_lab.core.game import SearchStats
from othello_lab.core.system.settings import documented
from othello_lab.experiments.record.store import TABLES, Record
from othello_lab.experiments.record.turns import MOVE_COLUMNS, MOVE_MEANINGS


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record.create(tmp_path / "record.sqlite")


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_declared_with_its_meaning(record: Record, table: str) -> None:
    with record:
        assert list(record.query(f"select * from {table}")) == list(TABLES[table]._fields)
    silent = [name for name, column in documented(TABLES[table]).items() if not column.about]
    assert all(name.startswith("white_") for name in silent)  # "The same of White" is above them


def test_columns_of_moves_have_meanings() -> None:
    assert set(MOVE_COLUMNS) == {*MOVE_MEANINGS, *documented(SearchStats)}
