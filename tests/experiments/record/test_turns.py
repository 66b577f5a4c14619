"""The turns of games as a record keeps them; blocks of games are recorded as their games are."""

from __future__ import annotations

import math
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from othello_lab import GreedyAgent, Limits, RandomAgent
from othello_lab.core.game import SearchStats
from othello_lab.core.rules import RULESETS
from othello_lab.core.system.settings import documented
from othello_lab.core.turn_layouts import COLUMNS, DECIDED, FLOAT, LAYOUTS, VALUED, pack
from othello_lab.experiments.pairing import RoundRobin
from othello_lab.experiments.pairing.openings import Opening, RandomOpenings
from othello_lab.experiments.pairing.schedule import PairQueue
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.record.game_block import GameBlock, count_forfeits, count_results
from othello_lab.experiments.record.store import TABLES, PlayedGame, Record
from othello_lab.experiments.record.turns import (
    COUNTS,
    MOVE_COLUMNS,
    MOVE_MEANINGS,
    MoveRow,
    Turns,
    written,
)

INT64 = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-200, 200)
COSTS = ("nanoseconds", "cpu_nanoseconds", "waited_nanoseconds", *COUNTS)


@st.composite
def turns(draw: st.DrawFn) -> list[Any]:
    """The MoveRows of a game of the agents 3 (Black) and 5, with any numbers."""
    first, rows = draw(st.integers(1, 60)), []
    for ply in range(first, first + draw(st.integers(0, 5))):
        fields = ply, draw(st.sampled_from([3, 5])), draw(st.integers(0, 64))
        if draw(st.booleans()):
            rows.append(MoveRow(9, *fields))
            continue
        floats = st.floats(allow_nan=False, allow_infinity=False)
        value, depth = draw(st.none() | floats | INT64), draw(st.none() | INT64)
        costs = {name: draw(INT64) for name in COSTS}
        rows.append(MoveRow(9, *fields, value, depth, late=draw(st.integers(0, 2)), **costs))
    return rows


@given(turns(), turns())
def test_turns_are_read_as_they_were_written(one: list[Any], other: list[Any]) -> None:
    made = [written(9, 3, one), written(9, 3, other)]
    again = Turns((*row, 3, 5) for row in made).rows()
    assert again == one + other
    assert [list(map(type, row)) for row in again] == [list(map(type, row)) for row in one + other]


def test_a_game_takes_the_first_layout_that_holds_it() -> None:
    turns = np.zeros((2, len(COLUMNS)), dtype=np.int64)
    sizes = [len(pack(turns)[1])]
    more = {"nodes": 127, "leaves": -128, "cutoffs": 1, "made": 1 << 15}
    more |= {"nanoseconds": 1 << 31, "playouts": 1, "table_returns": -(1 << 31) - 1}
    for column, number in more.items():
        turns[1, COLUMNS.index(column)] = number
        layout, content = pack(turns)
        assert np.frombuffer(content, LAYOUTS[layout])[column][1] == number
        sizes.append(len(content))
    assert sizes == [2 * size for size in (15, 19, 19, 27, 39, 51, 75, 122)]


NAN, INFINITE = struct.unpack("<qq", struct.pack("<dd", math.nan, math.inf))
WRONG = [{"square": 65}, {"square": -1}, {"flags": -1}]
WRONG += [{"flags": DECIDED | VALUED | FLOAT, "value": bits} for bits in (NAN, INFINITE)]


@pytest.mark.parametrize("numbers", WRONG)
def test_turns_that_nobody_has_written_are_refused(numbers: dict[str, int]) -> None:
    turn = np.array([tuple(numbers.get(name, 0) for name in COLUMNS)], LAYOUTS[-1])
    with pytest.raises(ValueError, match="game 0: its turns cannot be read"):
        Turns([(0, 1, len(LAYOUTS) - 1, turn.tobytes(), 3, 5)])


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_declared_with_its_meaning(tmp_path: Path, table: str) -> None:
    with Record.create(tmp_path / "record.sqlite") as record:
        assert list(record.query(f"select * from {table}")) == list(TABLES[table]._fields)
    silent = [name for name, column in documented(TABLES[table]).items() if not column.text]
    assert all(name.startswith("white_") for name in silent)  # "The same of White" is above them


def test_columns_of_moves_have_meanings() -> None:
    assert set(MOVE_COLUMNS) == {*MOVE_MEANINGS, *documented(SearchStats)}


RULES = RULESETS["standard"]


def blocks(record_moves: bool = True) -> list[GameBlock]:
    """Three blocks, with openings of all kinds."""
    agents = [RandomAgent(), GreedyAgent()]
    settings = {"grace": 0.0, "hang_seconds": 60.0, "log_level": 30, "record_moves": record_moves}
    made = GameConditions(["a", "b"], agents, RULES, Limits(), **settings)  # type: ignore[arg-type]
    made.prepare()
    board = Opening.read(f"{'-XO' + 'OX' + 57 * '-' + 'XO':-<64} O", RULES)
    openings = [*RandomOpenings(plies=5).choose(20, RULES, 1), board, Opening()]
    pairs = PairQueue(RoundRobin(), ["a", "b"], openings, seed=7).take(100)
    played_blocks = []
    for some in (pairs[:9], pairs[9:21], pairs[21:]):
        games = [game for pair in some for game in pair]
        (block,) = play_all(made, games, GameMonitor(GameMonitor.Memory()))
        assert isinstance(block, GameBlock)
        played_blocks.append(block)
    assert any(block.openings for block in played_blocks)
    return played_blocks


def rows_of(path: Path, *parts: GameBlock | list[PlayedGame]) -> list[list[tuple[object, ...]]]:
    """All rows of a new record of these games, with the types of their values."""
    with Record.create(path) as record:
        for games in parts:
            if isinstance(games, GameBlock):
                games.write(record)
            else:
                record.write_games(games)
        tables = [
            record.rows(f"select * from {table} order by game") for table in ("games", "turns")
        ]
    return [[tuple((type(value), value) for value in row) for row in table] for table in tables]


@pytest.mark.parametrize("record_moves", [True, False])
def test_a_block_is_recorded_as_its_games_are(tmp_path: Path, record_moves: bool) -> None:
    played_blocks = blocks(record_moves)
    whole = rows_of(tmp_path / "whole", *played_blocks)
    assert whole == rows_of(tmp_path / "apart", *(list(block) for block in played_blocks))
    assert [len(table) for table in whole] == [44, 44 * record_moves]


def test_a_block_is_a_sequence_of_its_games() -> None:
    for block in blocks():
        games = list(block)
        assert list(pickle.loads(pickle.dumps(block))) == games
        assert block[1] == games[1] and block[-2:] == games[-2:]
        assert sorted(count_results(block)) == sorted(count_results(games))
        assert count_forfeits(block) == count_forfeits(games) == 0
