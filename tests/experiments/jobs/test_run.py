"""Whole runs: the same games on any number of workers, and nothing an agent does stops them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from records import content, query
from runs import DUEL, follow_games, line_of, played

from othello_lab import PASS, AlphaBeta, GreedyAgent, Minimax, RandomAgent, SquareWeights, run_match
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.record.store import Record


@pytest.mark.integration
def test_the_same_games_with_any_number_of_workers(tmp_path: Path) -> None:
    """Minimax, alpha-beta and random: searches and random numbers alike."""
    words = ["agents=classics", "games=2", "agents.alphabeta_5.depth=3"]
    hands = ["executor.workers=2", "executor.workers=7", "executor=serial"]
    runs = [played(tmp_path, *words, "seed=5", executor) for executor in hands]
    first = content(runs[0].folder)
    assert len(first["games"]) == 2 * 15
    assert all(content(other.folder) == first for other in runs)
    assert len({result.folder for result in runs}) == 3
    different = played(tmp_path, *words, "seed=6")
    assert not runs[0].games["transcript"].equals(different.games["transcript"])


@pytest.mark.integration
def test_the_record_can_be_replayed(tmp_path: Path) -> None:
    words = "agents=ab_mirror games=4 depth=1 agents.left.depth=2 ruleset=wpi"
    result = played(tmp_path, *words.split())
    games, moves = result.games, result.moves
    assert (games.dtypes["disc_difference"], moves.dtypes["nodes"]) == ("Int64", "Int64")
    follow_games(result, "wpi")
    assert (moves["nodes"].isna() == (moves["square"] == PASS)).all()
    with Record.open(result.folder) as record:
        agents = record.agents()
    assert [json.loads(config)["depth"] for config in agents["config"]] == [2, 1]
    assert agents["reproducible"].tolist() == [1, 1]


@pytest.mark.integration
def test_no_figure_shows_that_everybody_is_equal(tmp_path: Path) -> None:
    result = played(tmp_path, "agents=ab_vs_minimax", "games=4", "depth=2", "figures=files")
    assert {path.stem for path in result.folder.glob("*.png")} == {
        "colours", "discs", "times", "course", "values", "pruning"
    }  # fmt: skip


@pytest.mark.integration
def test_a_run_leaves_what_results_readme_says(tmp_path: Path) -> None:
    words = "agents=ab_mirror +agents.third._target_=othello_lab.RandomAgent games=4 depth=2"
    result = played(tmp_path, *words.split(), "export=[csv,parquet]", "figures=files")
    names = {path.name for path in result.folder.iterdir()}
    figures = {
        f"{name}.{kind}"
        for name in ("elo", "win_rates", "superiority", "colours", "pairs", "openings", "discs",
                     "cost", "times", "course", "values", "pruning")
        for kind in ("png", "svg")
    }  # fmt: skip
    exports = {f"{t}.{kind}" for t in ("agents", "games", "moves") for kind in ("csv", "parquet")}
    others = {"report.html", "report.md", "config.yaml", "log.txt", "record.sqlite"}
    tables = "matches", "standings", "pruning", "win_rates", "colours", "openings", "course"
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
        head = record.head()
    assert (head["complete"], head["seed"]) == (1, 1)
    assert head["config"]["agents"]["left"]["depth"] == 2


TROUBLE = {
    "Raises": ("raised an exception", "a bug in a student's agent"),
    "Exits": ("raised an exception", "SystemExit: 3"),
    "Illegal": ("illegal move", "square occupied"),
    "Garbage": ("no valid answer", "d3, I think"),
    "Hangs": ("never answered", "no answer for 0.5 s"),
    "Dies": ("process died", "exit code 7"),
}


@pytest.mark.integration
def test_a_misbehaving_agent_loses_its_games_and_nothing_else(tmp_path: Path) -> None:
    extra = [f"+agents.{name.lower()}._target_=misbehaving.{name}" for name in TROUBLE]
    words = ["agents=ab_mirror", "depth=1", "games=2", "limits.hang=0.5", "executor.workers=2"]
    result = played(tmp_path, *words, *extra)
    games = result.games
    assert result.complete
    assert len(games) == 2 * 8 * 7 // 2
    log = (result.folder / "log.txt").read_text(encoding="utf-8")
    honest = ["left", "right"]
    for name, (reason, detail) in TROUBLE.items():
        agent = name.lower()
        # Against the two well-behaved agents the blame is clear.
        against = games[
            ((games["black"] == agent) & games["white"].isin(honest))
            | ((games["white"] == agent) & games["black"].isin(honest))
        ]
        assert len(against) == 4
        assert set(against["end_reason"]) == {reason}, name
        assert set(against.apply(lambda game: game[game["result"]], axis=1)) == set(honest)
        assert against["disc_difference"].isna().all()
        assert detail in log
        assert all(detail in why for why in against["detail"]), name
        forfeits = result.standings.set_index("agent")["forfeits"]
        assert forfeits[agent] >= 4 and not forfeits[honest].any()
    mirror = games[games["black"].isin(honest) & games["white"].isin(honest)]
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


SLOW = "second._target_=misbehaving.Slow +second.after=24"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("first._target_=misbehaving.Crashes +first.flag=FLAG", "process died"),
        ("first._target_=misbehaving.Floods", "never answered"),
        (f"{SLOW} limits.seconds=0.05", "time exceeded"),
        (f"{SLOW} limits.seconds=5", "finished"),
    ],
)
def test_trouble_after_a_kill_and_amid_much_talk_is_found_and_who_is_late_loses(
    words: str, end: str, tmp_path: Path
) -> None:
    words = words.replace("FLAG", str(tmp_path / "killed"))
    limits = ["games=2", "executor.workers=1", "limits.hang=1"]
    result = played(tmp_path, *DUEL, *limits, *words.split())
    assert set(result.games["end_reason"]) == {end}


def test_alpha_beta_against_minimax_is_the_classic_lesson(recorded_searches: Path) -> None:
    rows = json.loads(line_of("show", recorded_searches, "--json"))["standings"]
    standings = {row["agent"]: row for row in rows}
    assert [row["score"] for row in rows] == [0.5, 0.5]
    assert all(row["split"] for row in rows)
    nodes = {name: row["nodes_per_move"] for name, row in standings.items()}
    assert nodes["alphabeta"] < 0.8 * nodes["minimax"]
    totals = dict(
        query(
            recorded_searches,
            "select name, sum(nodes) from moves join agents using (agent) group by name",
        )
    )
    share = f"{100 * totals['alphabeta'] / totals['minimax']:.2f} % of minimax's"
    ((counted,),) = query(recorded_searches, "select count(*) from moves where depth is not null")
    report = (recorded_searches / "report.md").read_text(encoding="utf-8")
    assert share in report
    assert f"the same {counted // 2:,} positions" in report


PROGRAM: dict[str, Any] = {"workers": 0, "quiet": True, "figures": False}


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
    named = run_match(["weighted", "random"], games=2, results=tmp_path, **PROGRAM)
    assert set(named.games["black"]) == {"weighted", "random"}


@pytest.mark.integration
def test_run_match_chooses_openings_and_schedule(tmp_path: Path) -> None:
    line_up = {name: RandomAgent() for name in "abc"}
    result = run_match(
        line_up,
        games=4,
        openings={"kind": "all", "plies": 2},
        schedule={"kind": "gauntlet", "champion": "b"},
        export=["csv"],
        results=tmp_path,
        **PROGRAM,
    )
    games = result.games
    assert len(games) == 8 and ((games["black"] == "b") | (games["white"] == "b")).all()
    assert set(games["opening"].str.len()) == {4}
    assert (result.folder / "games.csv").exists()
    pair = {name: line_up[name] for name in "ab"}
    words: dict[str, Any] = {"openings": "balanced", "schedule": "sprt", "results": tmp_path}
    assert 2 <= len(run_match(pair, games=40, **words, **PROGRAM).games) <= 40


TWO = {"a": RandomAgent(), "b": RandomAgent()}


@pytest.mark.parametrize(
    ("agents", "settings", "complaint"),
    [
        (TWO, {"openings": "balance"}, "'balance'.*balanced"),
        (TWO, {"openings": {"kind": "start", "ply": 3}}, "openings.*'ply'"),
        (TWO, {"openings": {"kind": "random", "plies": -1}}, r"openings\.plies=-1"),
        (TWO, {"schedule": {"kind": "sprt", "elo1": -3}}, "elo0 must be below elo1"),
        (TWO, {"games": 3}, "even number"),
        ({"alone": RandomAgent()}, {}, "at least two"),
        (["randm", "greedy"], {}, "'randm'.*'random'"),
        (TWO | {"b": 5}, {}, r"no othello_lab\.Agent"),
    ],
)
def test_run_match_refuses_what_it_cannot_play(
    agents: Any, settings: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        run_match(agents, results=tmp_path, **settings, **PROGRAM)
    assert not list(tmp_path.iterdir())


def test_the_record_is_never_overwritten(tmp_path: Path) -> None:
    Record.create(tmp_path / "record.sqlite").close()
    with pytest.raises(FileExistsError):
        Record.create(tmp_path / "record.sqlite")
    with pytest.raises(FileNotFoundError, match="no record"):
        Record.open(tmp_path / "elsewhere")


@pytest.mark.nightly
def test_null_check_random_against_random(tmp_path: Path) -> None:
    """Of twenty 95 % intervals between equals, 16 to 20 contain 0."""
    contain = 0
    for seed in range(20):
        result = run_match(TWO, games=100, seed=seed, results=tmp_path, **PROGRAM)
        row = result.standings.iloc[0]
        contain += row["low"] <= 0 <= row["high"]
    assert contain >= 16


@pytest.mark.integration
def test_without_moves_a_run_has_its_report(tmp_path: Path) -> None:
    words = ["agents=ab_vs_minimax", "games=4", "record=games", "figures=report"]
    result = played(tmp_path, *words)
    assert result.complete and len(result.moves) == 0
    assert result.standings["nodes_per_move"].max() > 0
    assert (result.folder / "report.html").is_file()


def test_counting_what_searches_cost_needs_moves() -> None:
    with pytest.raises(ConfigError, match=r"record=games: searches\.\*"):
        read(["record=games", "searches.positions=all"])
