"""Whole runs: the same games on any number of workers, and nothing an agent does stops them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chosen import mostly_nightly
from records import content
from rich.console import Console

from othello_lab import (
    PASS,
    AlphaBeta,
    GreedyAgent,
    Minimax,
    Position,
    RandomAgent,
    SquareWeights,
    run_match,
)
from othello_lab.agents.config import ConfigError
from othello_lab.core.notation import square_name
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import RunResult, run
from othello_lab.experiments.record.store import Record


def play(folder: Path, *overrides: str) -> RunResult:
    return run(
        read([f"results={folder}", "figures=false", *overrides]), "test", Console(quiet=True)
    )


def test_the_same_games_with_any_number_of_workers(tmp_path: Path) -> None:
    """Minimax, alpha-beta and random: searches and random numbers alike."""
    words = ["agents=classics", "games=2", "agents.alphabeta_5.depth=3", "seed=5"]
    runs = [play(tmp_path, *words, f"executor.workers={n}") for n in (2, 7)]
    runs.append(play(tmp_path, *words, "executor=serial"))
    first = content(runs[0].folder)
    assert len(first["games"]) == 2 * 15
    for other in runs[1:]:
        assert content(other.folder) == first
    assert len({result.folder for result in runs}) == 3
    different = play(tmp_path, *words[:3], "seed=6", "executor=serial")
    assert not runs[0].games["transcript"].equals(different.games["transcript"])


def test_the_record_can_be_replayed(tmp_path: Path) -> None:
    words = "agents=ab_mirror games=10 depth=2 ruleset=wpi executor=serial"
    result = play(tmp_path, *words.split())
    games, moves = result.games, result.moves
    assert (games.dtypes["disc_difference"], moves.dtypes["nodes"]) == ("Int64", "Int64")
    for game in games.itertuples():
        position = Position.from_transcript(game.opening, "wpi")
        for move in moves[moves["game"] == game.game].itertuples():
            name = game.black if position.to_move.value == "black" else game.white
            assert move.agent == name
            assert (move.square == PASS) == position.must_pass
            assert pd.isna(move.nodes) == (move.square == PASS)
            assert move.move == square_name(move.square)
            position = position.play(int(move.square))
        assert position == Position.from_transcript(game.transcript, "wpi")
        assert position.is_over
        assert game.black_discs == position.black.bit_count()
        assert game.white_discs == position.white.bit_count()
        mine = position.disc_difference
        assert game.disc_difference == (mine if position.to_move.value == "black" else -mine)
        points = {"black": 1.0, "draw": 0.5, "white": 0.0}
        assert game.black_points == points[game.result]
        assert np.sign(game.disc_difference) == np.sign(2 * game.black_points - 1)


@pytest.mark.integration
def test_no_figure_shows_that_everybody_is_equal(tmp_path: Path) -> None:
    result = play(tmp_path, "agents=ab_vs_minimax", "games=4", "depth=2", "figures=files")
    assert result.standings["split"].all()
    assert {path.stem for path in result.folder.glob("*.png")} == {
        "colours", "discs", "times", "course", "values", "pruning"
    }  # fmt: skip


@pytest.mark.integration
def test_a_run_leaves_what_results_readme_says(tmp_path: Path) -> None:
    words = "agents=ab_mirror +agents.third._target_=othello_lab.RandomAgent games=4 depth=2"
    result = play(tmp_path, *words.split(), "export=[csv,parquet]", "figures=files")
    names = {path.name for path in result.folder.iterdir()}
    figures = {
        f"{name}.{kind}"
        for name in ("elo", "win_rates", "superiority", "colours", "pairs", "openings", "discs",
                     "cost", "times", "course", "values", "pruning")
        for kind in ("png", "svg")
    }  # fmt: skip
    exports = {f"{t}.{kind}" for t in ("agents", "games", "moves") for kind in ("csv", "parquet")}
    others = {"report.html", "report.md", "config.yaml", "log.txt", "games.sqlite"}
    tables = "matches", "pruning", "win_rates", "colours", "openings", "course"
    others |= {f"{name}.csv" for name in tables}
    assert names == figures | exports | others
    for table in ("games", "moves"):
        stored = getattr(result, table)
        assert len(pd.read_csv(result.folder / f"{table}.csv")) == len(stored)
        parquet = pd.read_parquet(result.folder / f"{table}.parquet")
        pd.testing.assert_frame_equal(parquet, stored, check_dtype=False)
    html = (result.folder / "report.html").read_text(encoding="utf-8")
    assert html.count("<figure ") == len(figures) / 2
    assert "superiority.png" in (result.folder / "report.md").read_text(encoding="utf-8")
    assert "http" not in html.replace("http://www.w3.org", "")
    with Record.open(result.folder) as record:
        head = record.run()
    assert head["complete"] == 1
    assert head["seed"] == 1
    assert head["config"]["agents"]["left"]["depth"] == 2


@pytest.mark.integration
def test_two_runs_of_one_second_do_not_overwrite_each_other(tmp_path: Path) -> None:
    folders = {
        play(tmp_path, "agents=ab_mirror", "games=2", "depth=1", "executor=serial").folder
        for _ in range(3)
    }
    assert len(folders) == 3


TROUBLE = {
    "Raises": ("raised an exception", "a bug in a student's agent"),
    "Exits": ("raised an exception", "SystemExit: 3"),
    "Illegal": ("illegal move", "square occupied"),
    "Garbage": ("no valid answer", "d3, I think"),
    "Hangs": ("never answered", "no answer for 0.5 s"),
    "Dies": ("process died", "exit code 7"),
}


@pytest.mark.integration
@pytest.mark.parametrize("workers", [1, 2])
def test_a_misbehaving_agent_loses_its_games_and_nothing_else(tmp_path: Path, workers: int) -> None:
    extra = [f"+agents.{name.lower()}._target_=misbehaving.{name}" for name in TROUBLE]
    result = play(
        tmp_path,
        "agents=ab_mirror",
        "depth=1",
        "games=2",
        "limits.hang=0.5",
        f"executor.workers={workers}",
        *extra,
    )
    games = result.games
    assert result.complete
    assert len(games) == 2 * 8 * 7 // 2
    log = (result.folder / "log.txt").read_text(encoding="utf-8")
    for name, (reason, detail) in TROUBLE.items():
        agent = name.lower()
        # Against the two well-behaved agents the blame is clear.
        against = games[
            ((games["black"] == agent) & games["white"].isin(["left", "right"]))
            | ((games["white"] == agent) & games["black"].isin(["left", "right"]))
        ]
        assert len(against) == 4
        assert set(against["end_reason"]) == {reason}, name
        winners = against.apply(lambda game: game[game["result"]], axis=1)
        assert set(winners) == {"left", "right"}
        assert against["disc_difference"].isna().all()
        assert detail in log
        assert all(detail in told for told in against["detail"]), name
    mirror = games[games["black"].isin(["left", "right"]) & games["white"].isin(["left", "right"])]
    assert set(mirror["end_reason"]) == {"finished"}
    # A game cut short keeps its moves: three by the one who then hung.
    hung = games[games["end_reason"] == "never answered"].iloc[0]
    moves = result.moves
    assert (moves[moves["game"] == hung["game"]]["agent"] == "hangs").sum() == 3
    assert re.search(r"The position then:\n +a b c d e f g h\n +1 ", log)
    for line in log.splitlines():
        if " loses: " in line:
            assert " game " in line
            assert " game - " not in line


@pytest.mark.integration
def test_many_killed_players_in_a_row(tmp_path: Path) -> None:
    result = play(
        tmp_path,
        "agents=ab_mirror",
        "depth=1",
        "games=20",
        "~agents.right",
        "+agents.dies._target_=misbehaving.Dies",
    )
    assert set(result.games["end_reason"]) == {"process died"}
    assert result.standings["agent"].tolist() == ["left", "dies"]
    assert result.standings["forfeits"].tolist() == [0, 20]


@pytest.mark.integration
def test_trouble_after_a_kill_and_amid_much_talk_is_found(tmp_path: Path) -> None:
    words = "agents=duel agent@first=greedy agent@second=random games=2 executor.workers=1"
    crashes = f"first._target_=misbehaving.Crashes +first.flag={tmp_path / 'killed'}"
    for first, end in (
        (crashes, "process died"),
        ("first._target_=misbehaving.Floods", "never answered"),
    ):
        result = play(tmp_path, "limits.hang=1", *words.split(), *first.split())
        assert set(result.games["end_reason"]) == {end}


@pytest.mark.integration
def test_a_late_answer_loses_and_says_so(tmp_path: Path) -> None:
    words = "agents=ab_mirror depth=1 games=2 ~agents.right"
    words += " +agents.slow._target_=misbehaving.Slow +agents.slow.after=24"
    result = play(tmp_path, *words.split(), "limits.seconds=0.05")
    assert set(result.games["end_reason"]) == {"time exceeded"}
    patient = play(tmp_path, *words.split(), "limits.seconds=5")
    assert set(patient.games["end_reason"]) == {"finished"}


def test_alpha_beta_against_minimax_is_the_classic_lesson(tmp_path: Path) -> None:
    result = play(tmp_path, "agents=ab_vs_minimax", "games=10", "depth=3", "executor=serial")
    standings = result.standings.set_index("agent")
    assert standings["score"].tolist() == [0.5, 0.5]
    assert standings["split"].all()
    nodes = standings["nodes_per_move"]
    assert nodes["alphabeta"] < 0.6 * nodes["minimax"]
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    moves = result.moves.dropna(subset="depth")
    totals = moves.groupby("agent")["nodes"].sum()
    share = f"{100 * totals['alphabeta'] / totals['minimax']:.2f} % of minimax's"
    assert share in report
    assert f"the same {len(moves) // 2:,} positions" in report


@pytest.mark.integration
def test_run_match_plays_objects_and_names(tmp_path: Path) -> None:
    line_up = {
        "deep": AlphaBeta(3, SquareWeights()),
        "shallow": Minimax(1, SquareWeights()),
        "greedy": GreedyAgent(),
    }
    result = run_match(line_up, games=6, results=tmp_path, quiet=True, figures=False)
    assert len(result.games) == 18
    assert set(result.moves["agent"]) == set(line_up)
    named = run_match(
        ["weighted", "random"], games=2, results=tmp_path, quiet=True, workers=0, figures=False
    )
    assert set(named.games["black"]) == {"weighted", "random"}


@pytest.mark.integration
def test_run_match_chooses_openings_and_schedule(tmp_path: Path) -> None:
    line_up = {name: RandomAgent() for name in "abc"}
    settings: dict[str, Any] = {"workers": 0, "results": tmp_path, "quiet": True, "figures": False}
    result = run_match(
        line_up,
        games=4,
        openings={"kind": "all", "plies": 2},
        schedule={"kind": "gauntlet", "champion": "b"},
        export=["csv"],
        **settings,
    )
    games = result.games
    assert len(games) == 8 and ((games["black"] == "b") | (games["white"] == "b")).all()
    assert set(games["opening"].str.len()) == {4}
    assert (result.folder / "games.csv").exists()
    pair = {name: line_up[name] for name in "ab"}
    sprt = run_match(pair, games=40, openings="balanced", schedule="sprt", **settings)
    assert 2 <= len(sprt.games) <= 40
    for bad, complaint in (
        ({"openings": "balance"}, "unknown openings 'balance'.*balanced"),
        ({"openings": {"kind": "start", "ply": 3}}, "openings.*has no setting 'ply'"),
        ({"openings": {"kind": "random", "plies": "x"}}, "openings.plies"),
        (
            {"openings": {"kind": "random", "plies": -1}},
            "openings.plies=-1: a whole number of 0",
        ),
        ({"schedule": {"kind": "sprt", "elo1": -3}}, "elo0 must be below elo1"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            run_match(pair, **bad, **settings)


def test_run_match_refuses_what_it_cannot_play(tmp_path: Path) -> None:
    random = RandomAgent()
    with pytest.raises(ConfigError, match="at least two"):
        run_match({"alone": random}, results=tmp_path)
    with pytest.raises(ConfigError, match="even number"):
        run_match({"a": random, "b": random}, games=3, results=tmp_path)
    with pytest.raises(ConfigError, match=r"unknown agent 'randm'.*'random'"):
        run_match(["randm", "greedy"], results=tmp_path)
    with pytest.raises(ConfigError, match=r"no othello_lab\.Agent"):
        run_match({"a": random, "b": 5}, results=tmp_path)  # type: ignore[dict-item]
    assert not list(tmp_path.iterdir())


def test_the_record_is_never_overwritten(tmp_path: Path) -> None:
    Record.create(tmp_path / "games.sqlite").close()
    with pytest.raises(FileExistsError):
        Record.create(tmp_path / "games.sqlite")
    with pytest.raises(FileNotFoundError, match="no record"):
        Record.open(tmp_path / "elsewhere")


@pytest.mark.integration
def test_null_check_random_against_random(tmp_path: Path) -> None:
    """Of twenty 95 % intervals between equals, 16 to 20 contain 0."""
    contain = 0
    for seed in range(20):
        line_up = {"a": RandomAgent(), "b": RandomAgent()}
        result = run_match(
            line_up, games=100, seed=seed, workers=1, results=tmp_path, figures=False
        )
        row = result.standings.iloc[0]
        contain += row["low"] <= 0 <= row["high"]
    print(f"{contain} of 20 intervals contain 0")
    assert contain >= 16


def test_agents_table_keeps_settings(tmp_path: Path) -> None:
    words = "agents=ab_mirror games=2 depth=1 agents.left.depth=2 executor=serial"
    result = play(tmp_path, *words.split())
    with Record.open(result.folder) as record:
        agents = record.agents()
    settings = [json.loads(config) for config in agents["config"]]
    assert [setting["depth"] for setting in settings] == [2, 1]
    assert agents["reproducible"].tolist() == [1, 1]


@pytest.mark.parametrize(
    "line_up", mostly_nightly(["classics", "ab_vs_minimax"], ["ab_vs_minimax"])
)
def test_without_moves_a_run_has_its_report(tmp_path: Path, line_up: str) -> None:
    common = ["games=4", "record=games", f"results={tmp_path}", "executor.workers=1"]
    result = run(read([f"agents={line_up}", *common]), "test", Console(quiet=True))
    assert result.complete and len(result.moves) == 0
    assert result.standings["nodes_per_move"].max() > 0
    assert (result.folder / "report.html").is_file()


def test_counting_what_searches_cost_needs_moves() -> None:
    with pytest.raises(ConfigError, match=r"record=games: searches\.\* needs the moves"):
        read(["record=games", "searches.positions=all"])
