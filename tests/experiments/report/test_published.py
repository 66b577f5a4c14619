"""Experiments that repeat what was published: their YAMLs, their counts, and what stands beside."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from othello_lab import AlphaBeta, Maximizer, Minimax, Position, SquareWeights
from othello_lab.agents.config import ConfigError, choices
from othello_lab.agents.evaluation import Mobility
from othello_lab.core.notation import square_name
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import RunResult, run
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.figures.searches import depth_chart
from othello_lab.experiments.report.searches import (
    COUNTS,
    MEASURES,
    compare_searches,
    game_costs,
    search_costs,
    searched_positions,
)

RandomGame = Callable[[str, int], list[Position]]


def play(folder: Path, *overrides: str) -> RunResult:
    return run(
        read([f"results={folder}", "executor=serial", "figures=false", *overrides]),
        "test",
        Console(quiet=True),
    )


# ---------------------------------------------------------------------- the YAMLs


# That of a class needs programs: see test_submissions.py.
@pytest.mark.parametrize("name", sorted(set(choices("experiment")) - {"class"}))
def test_every_experiment_can_be_run(name: str) -> None:
    if name == "class":
        pytest.skip("has its own tests, with a folder")
    plan = read([f"experiment={name}"])
    assert plan.settings.name == name
    assert len(plan.agents) >= 2
    published = plan.settings.published
    assert published is not None or name.startswith(("champion", "learned", "rhino", "tune"))
    if published is not None:
        for one, row in published.points.items():
            for other, points in row.items():
                back = published.points.get(other, {}).get(one, published.games - points)
                assert points + back == published.games, (one, other)


def test_the_command_line_comes_after_the_experiment() -> None:
    settings = read(["experiment=paip_4ply", "depth=2", "openings.plies=6", "games=2"]).settings
    assert (settings.depth, settings.openings["plies"], settings.games) == (2, 6, 2)
    assert settings.agents["weighted"]["depth"] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("experiment=paip_2ply", "unknown experiment 'paip_2ply'; choose from .*paip_1ply"),
        (
            "searches.positions=0",
            "searches.positions=0: a whole number of 1 or more",
        ),
        ("searches.positions=many", "searches.positions=many"),
        (
            "searches.baseline=nobody",
            "unknown searches.baseline 'nobody'; choose from alphabeta, minimax",
        ),
        ("searches.depths=[3,65]", "searches.depths=65: a whole number from 1 to 64"),
        ("searches.depths=3", "searches.depths"),
        ("+published.games=3", "published.*source"),
        ("experiment=paip_1ply +published.points.random.nobody=3", "in published 'nobody'"),
        ("experiment=paip_1ply published.points.random.mobility=11", r"random\.mobility=11"),
        ("experiment=paip_1ply published.points.random=3", r"published\.points\.random"),
    ],
)
def test_bad_settings_are_named(words: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        read(words.split())
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------------- PAIP's mobility


def test_a_maximizer_of_own_mobility_does_as_in_paip(random_game: RandomGame) -> None:
    """The move after which the same player would have most moves, the first of equals."""
    agent = Maximizer(Mobility("own"))

    def moves_of_the_one_who_moved(after: Position) -> int:
        swapped = Position(after.opponent, after.mover, after.to_move.other)
        return len(swapped.moves)

    looked_at = 0
    for seed in range(4):
        for position in random_game("standard", seed):
            after = {move: position.play(move) for move in position.moves}
            if not after or any(each.is_over for each in after.values()):
                continue
            best = max(after, key=lambda move: moves_of_the_one_who_moved(after[move]))
            assert agent.search(position).move == best, f"\n{position}"
            looked_at += 1
    assert looked_at > 100


# ---------------------------------------------------------------------- counting


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    words = ["experiment=paip_ordering", "depth=3", "games=4"]
    return play(tmp_path_factory.mktemp("results"), *words)


def test_all_positions_of_the_games_are_each_taken_once(result: RunResult) -> None:
    seen = set()
    for game in result.games.itertuples():
        position = Position.from_transcript(game.opening)
        moves = result.moves[result.moves["game"] == game.game]
        for move in moves.itertuples():
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
    assert {opening for opening, _ in every} == set(result.games["opening"])


def test_counts_are_those_of_the_searches(random_game: RandomGame) -> None:
    positions = [(f"{seed}", random_game("standard", seed)[20]) for seed in (1, 1, 2)]
    agents = {"minimax": Minimax(2, SquareWeights()), "alphabeta": AlphaBeta(2, SquareWeights())}
    costs = search_costs(positions, agents, [1, 2])
    assert len(costs) == 2 * 2 * 2
    table = compare_searches(costs, "minimax", seed=1).set_index(["agent", "depth"])
    for (name, depth), row in table.iterrows():
        nodes = [agents[name].search(position, depth).stats.nodes for _, position in positions]
        base = [agents["minimax"].search(p, depth).stats.nodes for _, p in positions]
        assert row["nodes"] == pytest.approx(np.mean(nodes))
        assert row["nodes_ratio"] == pytest.approx(sum(nodes) / sum(base))
        assert row["nodes_low"] <= row["nodes_ratio"] <= row["nodes_high"]
        assert (row["positions"], row["openings"]) == (3, 2)
    assert table.loc[("alphabeta", 2), "nodes_ratio"] < 1
    assert "nodes_ratio" not in compare_searches(costs)
    for baseline in ("minimax", None):
        chart = depth_chart(compare_searches(costs, baseline), baseline)
        assert (
            chart.axes[0].get_ylabel().startswith("nodes, minimax = 1" if baseline else "nodes a")
        )
    assert COUNTS[:4] == ("nodes", "made", "evaluations", "leaves")
    assert COUNTS[4:] == ("cutoffs", "first_move_cutoffs", "table_returns")
    own = search_costs(positions, agents)
    assert set(own["depth"]) == {2}


@pytest.mark.integration
def test_intervals_of_ratios_hold_the_truth() -> None:
    """Openings drawn with a known ratio of totals, 0.5: intervals hold it in 95 % of samples."""
    rng = np.random.default_rng(5)
    held = 0
    for trial in range(60):
        base = rng.gamma(2, 100, 40)
        own = base * rng.gamma(4, 0.125, 40)
        frame = pd.concat(
            pd.DataFrame(
                dict.fromkeys(COUNTS, 0)
                | {
                    "agent": name,
                    "depth": 1,
                    "selective": False,
                    "positions": 1,
                    "opening": [str(i) for i in range(40)],
                    **dict.fromkeys(MEASURES, values),
                }
            )
            for name, values in (("base", base), ("own", own))
        )
        row = compare_searches(frame, "base", trial).set_index("agent").loc["own"]
        held += row["nodes_low"] <= 0.5 <= row["nodes_high"]
    assert 52 <= held <= 60


@pytest.mark.parametrize(
    ("limit", "told"),
    [([], True), (["limits.nodes=99"], False), (["limits.depth=1"], False)],
)
def test_searches_are_compared_where_their_depth_alone_settles_what_they_cost(
    tmp_path: Path, limit: list[str], told: bool
) -> None:
    words = ["agents=duel", "agent@first=pvs", "agent@second=mtdf", "depth=2"]
    done = play(tmp_path, *words, "games=2", "searches.positions=5", *limit)
    assert (done.folder / "searches.csv").exists() == told


# ---------------------------------------------------------------------- beside the original


def test_paips_table_of_orderings_comes_out_to_the_last_digit() -> None:
    plan = read(["experiment=paip_ordering"])
    assert plan.settings.published is not None
    game = plan.settings.published.game
    assert game is not None
    plies = game.plies()
    assert "".join(square_name(move) for _, move in plies) == "f6c6g4d2f1a3c2c1d1f5d6h4g3e2b6"
    means = []
    for measure in (game.made, game.evaluations):
        for name, counts in measure.items():
            agent = plan.agents[name]
            assert isinstance(agent, AlphaBeta)
            found = [agent.search(position) for position, _ in plies]
            which = "made" if measure is game.made else "evaluations"
            assert [getattr(each.stats, which) for each in found] == counts, (name, which)
            assert [each.move for each in found] == [move for _, move in plies]
            means.append(round(sum(counts) / len(counts)))
    assert means == [24743, 20003, 15627, 18777, 20004, 11737]  # as in the book


def test_single_games_are_the_first_plies_of_one_game_an_opening(result: RunResult) -> None:
    agents = {"alphabeta": AlphaBeta(2, SquareWeights())}
    with Record.open(result.folder) as record:
        costs = game_costs(record, agents, 3)
    assert set(costs["opening"]) == set(result.games["opening"])
    for opening, group in costs.groupby("opening"):
        game = result.games[result.games["opening"] == opening].iloc[0]
        moves = result.moves[result.moves["game"] == game["game"]]["square"].tolist()
        position, nodes = Position.from_transcript(str(opening)), 0
        for move in moves[:3]:
            nodes += agents["alphabeta"].search(position).stats.nodes
            position = position.play(int(move))
        assert group["nodes"].tolist() == [nodes]


def test_the_report_shows_both(result: RunResult) -> None:
    text = (result.folder / "report.md").read_text(encoding="utf-8")
    page = (result.folder / "report.html").read_text(encoding="utf-8")
    assert "section 18.9" in text
    assert "Beside the original" in page
    plan = read(["experiment=paip_ordering", "depth=3"])
    searchers = {n: agent for n, agent in plan.agents.items() if isinstance(agent, AlphaBeta)}
    with Record.open(result.folder) as record:
        costs = compare_searches(game_costs(record, searchers, 15), "none", 1).set_index("agent")
    row = costs.loc["static"]
    ours = f"{row['made_ratio']:.2f} [{row['made_low']:.2f}, {row['made_high']:.2f}]"
    assert f"| static, boards made | {ours} | 0.63 | " in text
    assert re.search(r"0.63 or (more|less) in \d of 2 \|", text)
    right = '<td style="text-align:right">'
    cells = ["<td>static, boards made</td>", f"{right}{ours}</td>", f"{right}0.63</td>"]
    assert "\n".join(cells) in page
    assert "| none, boards made | 1.00 | 1.00 | - | - | - |" in text
    # The original searched six plies.
    assert "0 of 90 counts are equal" in text
    assert "| 1 | f6 | " in text
    assert "| 13,912 |" in text


def test_the_series_of_18_8_is_the_books(tmp_path: Path) -> None:
    done = play(tmp_path, "experiment=paip_series")
    scores = []
    for game in done.games.itertuples():
        first = game.black == "modified_weighted"
        scores.append(game.disc_difference if first else -game.disc_difference)
    assert scores == [-28, 40]
    text = (done.folder / "report.md").read_text(encoding="utf-8")
    assert "-28 40 -28 40" in text


@pytest.mark.integration
def test_points_beside_points(tmp_path: Path) -> None:
    done = play(tmp_path, "experiment=paip_1ply", "games=6")
    text = (done.folder / "report.md").read_text(encoding="utf-8")
    row = done.standings.set_index("agent").loc["weighted"]
    line = next(each for each in text.splitlines() if each.startswith("| weighted, score in all"))
    assert f"{100 * row['score']:.1f} % [" in line
    assert re.search(r"\| 28 of 40 \| 28 or (fewer|more) in [\d.]+ % of cases \|$", line)
    assert sum(" against " in each for each in text.splitlines() if each[0:1] == "|") == 10
    assert re.search(r"10 pairings together: .* rates, [\d.]+ % have points as .* \(p = 0", text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("published.game.moves=f6c6", "published.game.made.none: 2 numbers are needed"),
        ("published.game.moves=a1", "published.game: move 1 of the transcript"),
        ("published.game.position=nothing", "published.game"),
        ("+published.game.made.nobody=[1]", "search in published.game.made 'nobody'"),
    ],
)
def test_a_game_that_is_none_is_refused(words: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(["experiment=paip_ordering", words])
