"""``list``, ``show``, ``report``, ``compare``: what is under ``results/``, from records alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from runs import DUEL, changed, line_of, played
from shared import copied

from othello_lab import AlphaBeta, GreedyAgent, SquareWeights
from othello_lab.experiments.jobs.run import run_match
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.results.compare import POOLED, compare
from othello_lab.experiments.results.listing import look_into, places_below


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the same duel with seeds 1 and 2, one by other rules, and the first once again."""
    results = tmp_path_factory.mktemp("results")
    for name, words in {
        "one": ["seed=1", "games=20"],
        "two": ["seed=2", "games=12"],
        "other": ["ruleset=mini6", "games=4"],
    }.items():
        played(results, *DUEL, f"name={name}", "searches.positions=1", *words)
    copied(at(results, "one"), results / "again")
    return results


def at(shelf: Path, name: str) -> Path:
    (folder,) = (shelf / name).iterdir()
    return folder


def data(*words: object) -> Any:
    """What a command prints as JSON."""
    return json.loads(line_of(*words, "--json"))


def test_all_runs_are_listed(shelf: Path) -> None:
    rows = data("list", shelf)
    assert sorted(row["name"] for row in rows) == ["one", "one", "other", "two"]
    (two,) = (row for row in rows if row["name"] == "two")
    assert (two["kind"], two["agents"], two["games"], two["state"]) == ("run", 2, 12, "complete")
    with Record.open(at(shelf, "two")) as record:
        points = dict.fromkeys(("greedy", "random"), 0.0)
        for game in record.games().itertuples():
            points[game.black] += game.black_points
            points[game.white] += 1 - game.black_points
    best = max(points, key=lambda name: points[name])
    assert (two["leader"], two["score"]) == (best, pytest.approx(100 * points[best] / 12))
    printed = line_of("list", shelf)
    assert best in printed and "complete" in printed


def test_the_list_is_filtered(recorded_duel: Path, tmp_path: Path) -> None:
    for name, config in (
        ("plain", "'$.name', 'plain'"),
        ("tagged", """'$.name', 'tagged', '$.note', 'an old idea', '$.tags', json('["b", "a"]')"""),
    ):
        folder = copied(recorded_duel, tmp_path / name)
        changed(folder, f"update job set name = '{name}', config = json_set(config, {config})")
    for words, names in {
        ("agents=alphabeta,random",): {"plain", "tagged"},
        ("tags=a",): {"tagged"},
        ("tags=b,a",): {"tagged"},
        ("tags=other",): set(),
        ("agents=iago",): set(),
        ("name=plain",): {"plain"},
    }.items():
        assert {row["name"] for row in data("list", tmp_path, *words)} == names, words
    assert "an old idea (b, a)" in line_of("list", tmp_path)
    assert "an old idea (b, a)" in line_of("show", folder)
    assert "agents=" in line_of("list", tmp_path, "agent=iago", code=2)


def test_what_cannot_be_read_is_told_in_the_list(recorded_duel: Path, tmp_path: Path) -> None:
    names = ("damaged", "older", "stopped")
    sources = {name: copied(recorded_duel, tmp_path / name) for name in names}
    (sources["damaged"] / FILE).write_text("no database")
    changed(sources["older"], "update job set format = 3")
    changed(sources["stopped"], "update job set complete = 0")
    sources["begun"] = tmp_path / "begun" / "x"
    sources["begun"].mkdir(parents=True)
    Record.create(sources["begun"] / FILE).close()
    states = {name: look_into(folder).state for name, folder in sources.items()}
    assert "is damaged" in states["damaged"]
    assert "older version" in states["older"]
    assert (states["stopped"], states["begun"]) == ("stopped", "not begun")
    with locked(sources["stopped"]):
        assert look_into(sources["stopped"]).state == "being played"
    assert sorted(places_below(tmp_path)) == sorted(sources.values())


def reported_anew(folder: Path) -> None:
    (page := folder / "report.html").unlink()
    line_of("report", folder)
    assert page.is_file()


@pytest.mark.integration
def test_a_sweep_is_listed_shown_and_reported_as_one(recorded_sweep: Path, tmp_path: Path) -> None:
    folder = copied(recorded_sweep, tmp_path)
    (row,) = data("list", tmp_path)
    assert (row["kind"], row["games"], row["state"]) == ("sweep", 8, "sweep, 2 finished")
    assert "depth=2" in line_of("show", folder)
    assert len(data("show", folder)["runs"]) == 4
    reported_anew(folder)


@pytest.mark.integration
def test_a_study_is_listed_and_reported(recorded_study: Path, tmp_path: Path) -> None:
    folder = copied(recorded_study, tmp_path)
    (row,) = data("list", tmp_path)
    assert (row["kind"], row["name"]) == ("study", "pruning")
    assert row["state"] == "study pruning, complete"
    for words in (["show", folder], ["compare", folder, tmp_path]):
        assert "is a study" in line_of(*words, code=2)
    shown = data("show", folder)
    assert (shown["kind"], shown["name"], shown["state"]) == ("study", "pruning", "complete")
    assert any(shown["tables"].values())
    reported_anew(folder)
    changed(folder, "update job set complete = 0")
    assert "not complete" in line_of("report", folder, code=2)


def test_folders_without_runs(tmp_path: Path) -> None:
    assert "no run is here yet" in line_of("list", tmp_path)
    assert "no such folder" in line_of("list", tmp_path / "nowhere", code=2)
    (text := tmp_path / "text.txt").write_text("no record", encoding="utf-8")
    for command in ("list", "show", "report", "verify"):
        assert "is a file" in line_of(command, text, code=2)
    for command in ("show", "report"):
        assert "is no run" in line_of(command, tmp_path, code=2)


@pytest.mark.integration
def test_a_run_is_shown_and_reported_from_its_record_alone(shelf: Path, tmp_path: Path) -> None:
    """The same report again, though everything but the record is gone."""
    one, folder = at(shelf, "one"), tmp_path / "moved"
    folder.mkdir()
    shutil.copy(one / FILE, folder)
    shown = data("show", folder)
    assert [path.name for path in folder.iterdir()] == [FILE]
    assert shown["games"] == 20
    assert {row["agent"] for row in shown["standings"]} == {"greedy", "random"}
    assert shown["findings"][0] in line_of("show", folder)
    line_of("report", folder)
    before = (one / "report.md").read_text(encoding="utf-8")
    after = (folder / "report.md").read_text(encoding="utf-8")
    assert after.replace(str(folder), str(one)) == before
    assert not (folder / "elo.svg").exists()
    line_of("report", folder, "--figures=files")
    assert (folder / "elo.svg").exists()
    assert 'id="figure-elo"' in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.integration
def test_a_report_runs_no_code_from_outside(tmp_path: Path) -> None:
    """An agent of somebody's is not needed any more, and not run though it is there."""
    outside = tmp_path / "mine.py"
    outside.write_text("from othello_lab import GreedyAgent\nclass Mine(GreedyAgent):\n    pass\n")
    words = ["agents=duel", f"agent@first={outside}:Mine", "agent@second=random", "games=4"]
    folder = played(tmp_path, *words, "isolation=none").folder
    outside.write_text("raise SystemExit('it was run')\n")
    line_of("report", folder)
    assert "Mine" in (folder / "report.md").read_text(encoding="utf-8")
    outside.unlink()
    assert "Mine" in line_of("show", folder)


@pytest.mark.integration
def test_objects_of_a_program_are_reported_too(tmp_path: Path) -> None:
    agents = {"ab": AlphaBeta(1, SquareWeights()), "greedy": GreedyAgent()}
    how: dict[str, Any] = {"workers": 0, "figures": False, "quiet": True}
    folder = run_match(agents, games=4, results=tmp_path, **how).folder
    line_of("report", folder)
    assert "AlphaBeta" in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("column", ["schedule", "openings", "executor"])
def test_what_is_from_outside_is_shown_by_its_name(
    column: str, recorded_duel: Path, tmp_path: Path
) -> None:
    folder = copied(recorded_duel, tmp_path)
    shown = line_of("show", folder)
    foreign = f"""json_set(config, '$.{column}', json('{{"_target_": "mine.py:Rounds"}}'))"""
    changed(folder, f"update job set config = {foreign}")
    assert line_of("show", folder) == shown
    line_of("report", folder)
    assert "mine.py:Rounds" in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("games", [0, 1])
def test_a_run_without_a_finished_pair(games: int, recorded_duel: Path, tmp_path: Path) -> None:
    """With one game of a pair there is something to tell; with none there is not."""
    folder = copied(recorded_duel, tmp_path)
    changed(
        folder,
        f"delete from games where game >= {games}",
        f"delete from turns where game >= {games}",
        "update job set complete = 0",
    )
    for command in ("show", "report", *(["verify"] * (not games))):
        shown = line_of(command, folder, code=0 if games else 2)
        assert games or "no game" in shown
    if games:
        text = (folder / "report.md").read_text(encoding="utf-8")
        assert "\n1 game of 8 (stopped early) from 1 opening" in text
        assert "> " not in text[: text.index("## Standings")]  # there is no finding


def test_runs_of_one_experiment_are_pooled(shelf: Path) -> None:
    one, two = at(shelf, "one"), at(shelf, "two")
    comparison = compare([one, two])
    assert set(comparison.settings) == {"seed", "games"}
    assert comparison.pooled is not None
    assert comparison.games == (32, 32)
    whole = comparison.pooled.set_index("agent")
    parts = [run.standings.set_index("agent") for run in comparison.runs]
    for column in ("games", "wins", "draws", "losses"):
        assert whole.loc["greedy", column] == sum(part.loc["greedy", column] for part in parts)
    # More openings make a narrower interval around a rating between the two.
    width = (whole["high"] - whole["low"])["greedy"]
    assert all(width < (part["high"] - part["low"])["greedy"] for part in parts)
    shown = line_of("compare", one, two)
    assert POOLED in shown.split() and "one experiment" in shown


def test_a_run_is_rated_as_in_its_own_report(shelf: Path) -> None:
    """The bootstrap is of the same seed."""
    two, one = at(shelf, "two"), at(shelf, "one")
    shown = {row["agent"]: row for row in data("show", two)["standings"]}
    rated = compare([two, one]).runs[0].standings.set_index("agent")
    for column in ("elo", "low", "high"):
        assert rated.loc["greedy", column] == shown["greedy"][column]


def test_games_that_several_runs_have_count_once(shelf: Path) -> None:
    one, again = at(shelf, "one"), at(shelf, "again")
    comparison = compare([one, again])
    assert comparison.games == (40, 20)
    assert comparison.pooled is not None
    alone = comparison.runs[0].standings.set_index("agent")
    both = comparison.pooled.set_index("agent")
    for column in ("games", "wins", "score", "elo", "low", "high"):
        assert both[column].tolist() == alone.loc[both.index, column].tolist()


def test_other_conditions_are_told_and_not_pooled(shelf: Path) -> None:
    runs = at(shelf, "one"), at(shelf, "other")
    shown = line_of("compare", *runs)
    assert "Not pooled: " in shown and "ruleset.name" in shown and "mini6" in shown
    compared = data("compare", *runs)
    assert compared["pooled"] is None
    assert [run["label"] for run in compared["runs"]] == ["A", "B"]
    assert compared["settings"]["ruleset.name"] == ["standard", "mini6"]


def test_agents_of_one_name_need_not_be_the_same(
    shelf: Path, recorded_duel: Path, tmp_path: Path
) -> None:
    one, other = at(shelf, "one"), copied(recorded_duel, tmp_path)
    shown = line_of("compare", one, other)
    assert "fewer than two agents of the same name" in shown
    assert "other agents greedy alphabeta" in shown  # and not their settings against dashes
    assert "agents.alphabeta" not in shown
    config = "replace(config, '\"alphabeta\":', '\"greedy\":')"
    changed(other, "update agents set name = 'greedy' where agent = 0")
    changed(other, f"update job set config = {config}")
    compared = data("compare", one, other)
    assert compared["shared"] == ["greedy", "random"]
    assert "agents.greedy._target_" in compared["settings"]
    assert compared["pooled"] is None


@pytest.mark.integration
def test_several_runs_give_one_report(shelf: Path, tmp_path: Path) -> None:
    one, two, page = at(shelf, "one"), at(shelf, "two"), tmp_path / "both"
    assert str(page) in line_of("report", one, two, "--output", page)
    text = (page / "report.md").read_text(encoding="utf-8")
    for row in data("compare", one, two)["pooled"]:
        assert f"| {row['agent']} | {POOLED} | {row['games']} |" in text
    assert 'href="' in (page / "report.html").read_text(encoding="utf-8")


def test_what_cannot_be_compared_is_refused(shelf: Path, tmp_path: Path) -> None:
    one, two = at(shelf, "one"), at(shelf, "two")
    for words, complaint in (
        (["report", one, two, "--output", one], "a run itself"),
        (["compare", one, one], "named twice"),
        (["compare", one], "two runs"),
        (["report", one, "--output", tmp_path], "--output"),
        (["compare", tmp_path, one], "is no run"),
    ):
        assert complaint in line_of(*words, code=2)
