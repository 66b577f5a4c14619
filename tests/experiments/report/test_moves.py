"""Moves read of a record, and what becomes of them in figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from handmade import handmade

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.experiments.record.store import GameRow, PlayedGame, Record
from othello_lab.experiments.record.turns import MoveRow, written
from othello_lab.experiments.report.figures import course as figures
from othello_lab.experiments.report.figures.course import course, values
from othello_lab.experiments.report.moves import RecordedMoves, quantiles_by, recorded_moves

AGENTS = ("ann", "bob")


def turns(game: int, black: int) -> list[Any]:
    """Four plies, the third a pass; ann (0) thinks 5 of every position, and in the end 2 discs."""
    seats = [black, 1 - black]
    rows = [MoveRow(game, 3, seats[1], 64)]
    for ply, last in ((1, False), (2, False), (4, True)):
        agent = seats[(ply - 1) % 2]
        value = None if agent else (2 * FINAL_UNIT if last else 5)
        times = {"nanoseconds": 1000 * ply, "waited_nanoseconds": 100, "nodes": 10 * ply}
        rows.append(MoveRow(game, ply, agent, 19, value, None, **times))
    return sorted(rows, key=lambda row: row.ply)


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    """Six games, ann having Black in those of even numbers, and one whose moves nobody wrote."""
    about = ("black", 1.0, 2, 33, 31, "finished", "f5", 0, "f5d6")
    with handmade(tmp_path / "record.sqlite", AGENTS) as made:
        made.write_games(
            PlayedGame(
                GameRow(game, game // 2, game % 2, 1 - game % 2, *about),
                written(game, game % 2, turns(game, game % 2)) if game < 6 else None,
            )
            for game in range(7)
        )
        yield made


def test_moves_are_those_that_somebody_decided(record: Record) -> None:
    moves = recorded_moves(record, 100)
    assert (moves.games, moves.recorded, moves.sampled) == (6, 6, False)
    assert len(moves.ply) == 18  # without passes
    assert moves.ply[:3].tolist() == [1, 2, 4]
    assert moves.agent[:6].tolist() == [0, 1, 1, 1, 0, 0]
    assert moves.black[:6].tolist() == [True, False, False] * 2
    assert moves.nanoseconds[:3].tolist() == [900, 1900, 3900]
    assert moves.nodes[:3].tolist() == [10, 20, 40]
    assert moves.value[0] == 5 and np.isnan(moves.value[1])
    some, again = recorded_moves(record, 4), recorded_moves(record, 4)
    assert (some.games, some.recorded, some.sampled) == (4, 6, True)
    assert some.agent.tolist() == again.agent.tolist()


def test_nothing_is_read_where_nothing_is_recorded(tmp_path: Path) -> None:
    with Record.create(tmp_path / "record.sqlite") as record:
        moves = recorded_moves(record, 10)
    assert (len(moves.ply), moves.ply.dtype, moves.games) == (0, np.int64, 0)
    assert course(moves, AGENTS).empty and values(moves, AGENTS).empty


def test_quantiles_are_values_of_their_group() -> None:
    rng = np.random.default_rng(1)
    groups, numbers = rng.integers(0, 5, 200), rng.normal(size=200)
    found, counts, ends = quantiles_by(groups, numbers, (0.1, 0.5, 1))
    for group, count, row in zip(found, counts, ends, strict=True):
        own = numbers[groups == group]
        assert count == len(own)
        expected = np.quantile(own, (0.1, 0.5, 1), method="inverted_cdf")
        assert row == pytest.approx(expected)


def test_the_course_of_a_game_is_by_agent_and_ply(record: Record) -> None:
    table = course(recorded_moves(record, 100), AGENTS)
    assert table["agent"].tolist() == ["ann"] * 3 + ["bob"] * 3
    assert table["ply"].tolist() == [1, 2, 4] * 2
    assert table["moves"].tolist() == [3] * 6
    assert table["microseconds"].tolist() == pytest.approx([0.9, 1.9, 3.9] * 2)


def test_values_are_blacks_and_end_before_the_game_is_decided(record: Record) -> None:
    table = values(recorded_moves(record, 100), AGENTS)
    assert table["agent"].tolist() == ["ann", "ann"]  # bob thinks nothing
    assert table[["side", "ply", "mean"]].to_numpy().tolist() == [
        ["Black", 1, 5.0],
        ["White", 2, -5.0],
    ]


def decided(agent: np.ndarray) -> RecordedMoves:
    """Moves of these agents, all at the first ply."""
    one = np.ones(len(agent))
    return RecordedMoves(agent, one > 0, one.astype(int), *[one] * 5, 5, 5)


def facts_with(moves: RecordedMoves, names: list[str]) -> Any:
    return SimpleNamespace(moves=moves, names=names, order=names, context="")


@pytest.mark.parametrize(
    ("agents", "places"), [(2, [""]), (5, [", 1 to 2", ", 3 to 5"])], ids=["one", "two"]
)
def test_no_figure_of_values_is_left_with_one_agent(
    agents: int, places: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "MOST_PANELS", 4)
    names = [f"agent {number}" for number in range(agents)]
    drawn = list(figures.values_figures(facts_with(decided(np.arange(agents)), names)))
    assert [figure.title for figure in drawn] == [f"Values over the game{each}" for each in places]
    assert [figure.name for figure in drawn] == ["values", "values_2"][: len(places)]


def test_agents_with_too_few_moves_are_told() -> None:
    """At no ply has the last agent five moves, as the others have."""
    moves = decided(np.array([0] * 6 + [1] * 5 + [2] * 4))
    (figure,) = figures.course_figures(facts_with(moves, ["often", "too", "seldom"]))
    assert "fewer than 5 moves" in figure.caption and ": seldom." in figure.caption
    assert set(figure.data["agent"]) == {"often", "too"}
    (told,) = figures.course_figures(facts_with(decided(np.arange(10) % 2), ["often", "too"]))
    assert "fewer" not in told.caption


def test_a_ply_beyond_all_games_is_left_out() -> None:
    moves = replace(decided(np.zeros(2, dtype=int)), ply=np.array([255, 256]))
    for table in (course(moves, AGENTS), values(moves, AGENTS)):
        assert table["ply"].tolist() == [255] and table["agent"].tolist() == ["ann"]
