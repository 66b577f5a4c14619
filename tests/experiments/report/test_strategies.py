"""Which agents are one strategy, from games written by hand and from a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from records import handmade
from rich.console import Console

from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.record.store import GameRow, PlayedGame, Record
from othello_lab.experiments.report.standings import matches, pairs_by_opening, rated_parts
from othello_lab.experiments.report.strategies import strategies

Moves = tuple[int, int, str]  # Black, White, transcript


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with handmade(tmp_path / "games.sqlite", ["a0", "a1", "a2"]) as made:
        yield made


def add(record: Record, *games: Moves, opening: str = "f5", ends: Sequence[str] = ()) -> None:
    """Games of one opening, drawn; two of the same agents are a pair."""
    begun = record.count_games()
    pairs: dict[frozenset[int], int] = {}
    rows = []
    for number, (black, white, transcript) in enumerate(games):
        pair = pairs.setdefault(frozenset((black, white)), begun + number)
        end = ends[number] if ends else "finished"
        about = "draw", 0.5, 0, 32, 32, end, opening, 0, opening + transcript
        rows.append(PlayedGame(GameRow(begun + number, pair, black, white, *about), None))
    record.write_games(rows)


MUTUAL: list[Moves] = [(0, 1, "d6c3"), (1, 0, "d6c3")]
AGAINST_A_THIRD: list[Moves] = [(0, 2, "d6c3"), (2, 0, "f6f4"), (1, 2, "d6c3"), (2, 1, "f6f4")]


def test_two_that_play_the_same_game_with_either_colour(record: Record) -> None:
    add(record, *MUTUAL)
    add(record, (0, 1, "f6e6"), (1, 0, "f6e6"), opening="e6")
    assert strategies(record).tolist() == [0, 0, 1]  # nothing is known of the third
    add(record, (0, 1, "d6c3"), (1, 0, "d6c4"), opening="d3")
    assert strategies(record).tolist() == [0, 1, 2]


def test_two_that_play_alike_against_a_third(record: Record) -> None:
    add(record, *AGAINST_A_THIRD)
    assert strategies(record).tolist() == [0, 0, 1]


def test_who_chooses_differently_first_is_another_strategy(record: Record) -> None:
    """After the opening White is to move: in the first two games that is the third, which may play
    by chance, in the others each of the two."""
    add(record, *MUTUAL, (0, 2, "d6c3"), (1, 2, "f6e6"))
    assert strategies(record).tolist() == [0, 0, 1]
    add(record, *MUTUAL, (2, 0, "d6c3"), (2, 1, "f6e6"), opening="e6")
    assert strategies(record)[0] != strategies(record)[1]


def test_a_forfeit_after_the_same_moves_is_another_choice(record: Record) -> None:
    add(record, (0, 1, "d6"), (1, 0, "d6"), ends=["finished", "illegal move"])
    assert strategies(record).tolist() == [0, 1, 2]


def test_repeated_rounds_are_compared_round_by_round(record: Record) -> None:
    for moves in ("d6c3", "f6e6"):
        add(record, (0, 1, moves), (1, 0, moves))
    assert strategies(record).tolist() == [0, 0, 1]


def test_tables_count_a_strategy_once(record: Record) -> None:
    for opening in ("f5", "e6"):
        add(record, *MUTUAL, *AGAINST_A_THIRD, opening=opening)
    tables, times = pairs_by_opening(record, strategies(record))
    assert (tables.shape, times.tolist()) == ((1, 2, 2, 3, 3), [2])
    assert tables.sum() == 2  # one pair, from either side
    alone, often = pairs_by_opening(record)
    assert (alone.shape, alone.sum(), often.tolist()) == ((1, 3, 3, 3, 3), 6, [2])
    assert matches(record)["pairs"].tolist() == [2, 2, 2]
    ((members, ratings),) = rated_parts(record)
    assert members.tolist() == [0, 1, 2]
    assert ratings.strategy.tolist() == [0, 0, 1]
    assert ratings.superiority[0, 1] == 0.5


def test_of_a_run_from_one_opening_chance_makes_the_units(record: Record) -> None:
    for reply in ("d6", "f6", "f4"):
        add(record, (0, 1, reply), (1, 0, reply + "c3" * (reply == "d6")))
    add(record, (0, 1, "d6"), (1, 0, "d6c3"))
    tables, times = pairs_by_opening(record)
    assert (tables.sum(), times.tolist()) == (2, [3])  # the fourth repeats the first


@pytest.mark.integration
def test_alike_searches_from_two_openings_are_not_sure_of_their_order(tmp_path: Path) -> None:
    """Thirteen searches that differ little but in their cost: 312 games are two results."""
    words = ["agents=search_family", "depth=2", "games=4", "figures=false", "executor=serial"]
    result = run(read([*words, f"results={tmp_path}"]), "test", Console(quiet=True))
    with Record.open(result.folder) as record:
        ((members, ratings),) = rated_parts(record)
        plays = strategies(record)
        names = record.agents()["name"].tolist()
    assert len(members) == 13
    same = [names[n] for n in range(13) if plays[n] == plays[0]]
    assert {"minimax", "ab_none"} <= set(same)
    for group in set(plays.tolist()):
        inside = np.flatnonzero(plays == group)
        assert len(set(ratings.elo[inside])) == len(set(ratings.low[inside])) == 1
        among = ratings.superiority[np.ix_(inside, inside)]
        assert (among[~np.eye(len(inside), dtype=bool)] == 0.5).all()
    assert np.nanmax(ratings.superiority) < 0.95
    assert (ratings.high - ratings.low > 300).all()
    report = (result.folder / "report.md").read_text(encoding="utf-8").replace("\\_", "_")
    assert "| independent results | 2 openings" in report and "from 2 openings" in report
    assert f"{', '.join(same)} play the same moves." in report
