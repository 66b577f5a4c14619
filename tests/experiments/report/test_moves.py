"""Moves read of a record, what becomes of them in figures, and what searches cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from handmade import handmade

from othello_lab import PVS, AlphaBeta, Limits, Minimax, Position, SquareWeights
from othello_lab.agents.evaluation import DiscCount
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.experiments.jobs.result import RunResult
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.record.store import GameRow, PlayedGame, Record
from othello_lab.experiments.record.turns import MoveRow, written
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures import course as figures
from othello_lab.experiments.report.figures.course import course, values
from othello_lab.experiments.report.figures.searches import depth_chart
from othello_lab.experiments.report.moves import RecordedMoves, quantiles_by, recorded_moves
from othello_lab.experiments.report.searches import (
    COUNTS,
    MEASURES,
    compare_searches,
    count_nodes,
    game_costs,
    search_costs,
    searched_positions,
)

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
    result = ("black", 1.0, 2, 33, 31, "finished", "f5", 0, "f5d6")
    with handmade(tmp_path / "record.sqlite", AGENTS) as made:
        made.write_games(
            PlayedGame(
                GameRow(game, game // 2, game % 2, 1 - game % 2, *result),
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
    distinct, counts, ends = quantiles_by(groups, numbers, (0.1, 0.5, 1))
    for group, count, row in zip(distinct, counts, ends, strict=True):
        group_values = numbers[groups == group]
        assert count == len(group_values)
        expected = np.quantile(group_values, (0.1, 0.5, 1), method="inverted_cdf")
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
    assert [figure.title for figure in drawn] == [f"Values over the game{part}" for part in places]
    assert [figure.name for figure in drawn] == ["values", "values_2"][: len(places)]


def test_agents_with_too_few_moves_are_told() -> None:
    """At no ply has the last agent five moves, as the others have."""
    moves = decided(np.array([0] * 6 + [1] * 5 + [2] * 4))
    (figure,) = figures.course_figures(facts_with(moves, ["often", "too", "seldom"]))
    assert "fewer than 5 moves" in figure.caption and ": seldom." in figure.caption
    assert set(figure.data["agent"]) == {"often", "too"}
    (figure,) = figures.course_figures(facts_with(decided(np.arange(10) % 2), ["often", "too"]))
    assert "fewer" not in figure.caption


def test_a_ply_beyond_all_games_is_left_out() -> None:
    moves = replace(decided(np.zeros(2, dtype=int)), ply=np.array([255, 256]))
    for table in (course(moves, AGENTS), values(moves, AGENTS)):
        assert table["ply"].tolist() == [255] and table["agent"].tolist() == ["ann"]


# ------------------------------------------------------------------ what searches cost


RandomGame = Callable[[str, int], list[Position]]


@pytest.mark.parametrize(("budget", "deepest"), [(10**9, 5), (380, 4), (370, 3), (4, 0)])
def test_a_depth_that_would_probably_cost_too_much_is_left_out(budget: int, deepest: int) -> None:
    """Minimax enters 5, 17, 73 and 317 nodes from the start: 95 up to depth 3, and from the growth
    of 5 to 73 over two plies 279 are expected of depth 4."""
    table = count_nodes([Position.start()], 5, DiscCount(), budget)
    minimax = table[table["algorithm"] == "minimax"]
    assert minimax["depth"].tolist() == list(range(1, deepest + 1))
    assert minimax["nodes"].tolist()[:4] == [5, 17, 73, 317][:deepest]


@pytest.fixture(scope="module")
def result(recorded_searches: Path) -> RunResult:
    """Alpha-beta against minimax, both two plies deep."""
    return RunResult(recorded_searches, pd.DataFrame(), complete=True)


def test_all_positions_of_the_games_are_each_taken_once(result: RunResult) -> None:
    seen, games, moves = set(), result.games, result.moves
    for game in games.itertuples():
        position = Position.from_transcript(game.opening)
        for move in moves[moves["game"] == game.game].itertuples():
            if not pd.isna(move.depth):
                seen.add(position)
            position = position.play(int(move.square))
    with Record.open(result.folder) as record:
        every, few = searched_positions(record, "all", 1), searched_positions(record, 5, 1)
        assert few == searched_positions(record, 5, 1)
        assert few != searched_positions(record, 5, 2)
    assert len(every) == len(seen)
    assert {position for _, position in every} == seen
    assert len(few) == 5
    assert {opening for opening, _ in every} == set(games["opening"])


def test_counts_are_those_of_the_searches(random_game: RandomGame) -> None:
    positions = [(f"{seed}", random_game("standard", seed)[20]) for seed in (1, 1, 2)]
    agents = {"minimax": Minimax(2, SquareWeights()), "alphabeta": AlphaBeta(2, SquareWeights())}
    costs = search_costs(positions, agents, [1, 2])
    assert len(costs) == 2 * 2 * 2 and set(COUNTS) <= set(costs)
    table = compare_searches(costs, "minimax", seed=1).set_index(["agent", "depth"])
    for (name, depth), row in table.iterrows():
        nodes, base = (
            [agents[searcher].search(position, depth).stats.nodes for _, position in positions]
            for searcher in (name, "minimax")
        )
        assert row["nodes"] == pytest.approx(np.mean(nodes))
        assert row["nodes_ratio"] == pytest.approx(sum(nodes) / sum(base))
        assert row["nodes_low"] <= row["nodes_ratio"] <= row["nodes_high"]
        assert (row["positions"], row["openings"]) == (3, 2)
    assert table.loc[("alphabeta", 2), "nodes_ratio"] < 1
    assert "nodes_ratio" not in compare_searches(costs)
    for baseline, label in (("minimax", "nodes, minimax = 1"), (None, "nodes a")):
        chart = depth_chart(compare_searches(costs, baseline), baseline)
        assert chart.axes[0].get_ylabel().startswith(label)
    assert set(search_costs(positions, agents)["depth"]) == {2}


@pytest.mark.integration
def test_intervals_of_ratios_hold_the_truth() -> None:
    """Openings drawn with a known ratio of totals, 0.5: intervals hold it in 95 % of samples."""
    rng = np.random.default_rng(5)
    held = 0
    columns: dict[str, Any] = {"depth": 1, "selective": False, "positions": 1}
    columns |= dict.fromkeys(COUNTS, 0) | {"opening": [str(i) for i in range(40)]}
    for trial in range(60):
        base = rng.gamma(2, 100, 40)
        nodes = base * rng.gamma(4, 0.125, 40)
        frame = pd.concat(
            pd.DataFrame(columns | {"agent": name} | dict.fromkeys(MEASURES, values))
            for name, values in (("base", base), ("own", nodes))
        )
        row = compare_searches(frame, "base", trial).set_index("agent").loc["own"]
        held += row["nodes_low"] <= 0.5 <= row["nodes_high"]
    assert 52 <= held <= 60


@pytest.mark.parametrize(
    ("limits", "is_shown"), [(Limits(), True), (Limits(nodes=99), False), (Limits(depth=1), False)]
)
def test_searches_are_compared_where_their_depth_alone_settles_what_they_cost(
    recorded_searches: Path, limits: Limits, is_shown: bool
) -> None:
    with facts_of(recorded_searches) as facts:
        two = {
            "alphabeta": AlphaBeta(2, SquareWeights(), ordering="static"),
            "pvs": PVS(2, SquareWeights()),
        }
        plan = replace(facts.plan, limits=limits, agents=two)
        costs = RunFacts(facts.record, plan).costs
    assert (costs is not None) == is_shown


def test_single_games_are_the_first_plies_of_one_game_an_opening(result: RunResult) -> None:
    agents = {"alphabeta": AlphaBeta(2, SquareWeights())}
    with Record.open(result.folder) as record:
        costs = game_costs(record, agents, 3)
    games, moves = result.games, result.moves
    assert set(costs["opening"]) == set(games["opening"])
    for opening, group in costs.groupby("opening"):
        first = games.loc[games["opening"] == opening, "game"].iloc[0]
        position, nodes = Position.from_transcript(str(opening)), 0
        for move in moves.loc[moves["game"] == first, "square"].head(3):
            nodes += agents["alphabeta"].search(position).stats.nodes
            position = position.play(int(move))
        assert group["nodes"].tolist() == [nodes]
