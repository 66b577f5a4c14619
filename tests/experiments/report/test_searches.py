"""What searches cost on positions of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from othello_lab import PVS, AlphaBeta, Limits, Minimax, Position, SquareWeights
from othello_lab.agents.evaluation import DiscCount
from othello_lab.experiments.jobs.result import RunResult
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.figures.searches import depth_chart
from othello_lab.experiments.report.searches import (
    COUNTS,
    MEASURES,
    compare_searches,
    count_nodes,
    game_costs,
    search_costs,
    searched_positions,
)

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
    about: dict[str, Any] = {"depth": 1, "selective": False, "positions": 1}
    about |= dict.fromkeys(COUNTS, 0) | {"opening": [str(i) for i in range(40)]}
    for trial in range(60):
        base = rng.gamma(2, 100, 40)
        own = base * rng.gamma(4, 0.125, 40)
        frame = pd.concat(
            pd.DataFrame(about | {"agent": name} | dict.fromkeys(MEASURES, values))
            for name, values in (("base", base), ("own", own))
        )
        row = compare_searches(frame, "base", trial).set_index("agent").loc["own"]
        held += row["nodes_low"] <= 0.5 <= row["nodes_high"]
    assert 52 <= held <= 60


@pytest.mark.parametrize(
    ("limits", "told"), [(Limits(), True), (Limits(nodes=99), False), (Limits(depth=1), False)]
)
def test_searches_are_compared_where_their_depth_alone_settles_what_they_cost(
    recorded_searches: Path, limits: Limits, told: bool
) -> None:
    with facts_of(recorded_searches) as facts:
        two = {
            "alphabeta": AlphaBeta(2, SquareWeights(), ordering="static"),
            "pvs": PVS(2, SquareWeights()),
        }
        plan = replace(facts.plan, limits=limits, agents=two)
        costs = RunFacts(facts.record, plan).costs
    assert (costs is not None) == told


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
