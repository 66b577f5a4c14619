"""Blocks of games are, and are recorded as, the games that they hold."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from othello_lab import GreedyAgent, Limits, RandomAgent
from othello_lab.core.rules import RULESETS
from othello_lab.experiments.pairing import RoundRobin
from othello_lab.experiments.pairing.openings import Opening, RandomOpenings
from othello_lab.experiments.pairing.schedule import PairDraw
from othello_lab.experiments.playing.batch import GameMonitor, play_all
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.record.game_block import GameBlock, count_forfeits, count_results
from othello_lab.experiments.record.store import PlayedGame, Record

RULES = RULESETS["standard"]


def blocks(record_moves: bool = True) -> list[GameBlock]:
    """Three blocks, with openings of all kinds."""
    agents = [RandomAgent(), GreedyAgent()]
    about = {"grace": 0.0, "hang_seconds": 60.0, "log_level": 30, "record_moves": record_moves}
    made = GameConditions(["a", "b"], agents, RULES, Limits(), **about)  # type: ignore[arg-type]
    made.prepare()
    board = Opening.read(f"{'-XO' + 'OX' + 57 * '-' + 'XO':-<64} O", RULES)
    openings = [*RandomOpenings(plies=5).choose(20, RULES, 1), board, Opening()]
    pairs = PairDraw(RoundRobin(), ["a", "b"], openings, seed=7).take(100)
    found = []
    for some in (pairs[:9], pairs[9:21], pairs[21:]):
        games = [game for pair in some for game in pair]
        (block,) = play_all(made, games, GameMonitor(GameMonitor.Memory()))
        assert isinstance(block, GameBlock)
        found.append(block)
    assert any(block.openings for block in found)
    return found


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
    found = blocks(record_moves)
    whole = rows_of(tmp_path / "whole", *found)
    assert whole == rows_of(tmp_path / "apart", *(list(block) for block in found))
    assert [len(table) for table in whole] == [44, 44 * record_moves]


def test_a_block_is_a_sequence_of_its_games() -> None:
    for block in blocks():
        games = list(block)
        assert list(pickle.loads(pickle.dumps(block))) == games
        assert block[1] == games[1] and block[-2:] == games[-2:]
        assert sorted(count_results(block)) == sorted(count_results(games))
        assert count_forfeits(block) == count_forfeits(games) == 0
