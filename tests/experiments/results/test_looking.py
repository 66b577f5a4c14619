"""``list``, ``show``, ``report``, ``compare``: what is under ``results/``, from records alone."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from othello_lab.__main__ import main
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run, run_match
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.results.compare import POOLED, compare
from othello_lab.experiments.results.listing import look_into, places_below

DUEL = ("agents=duel", "agent@first=greedy", "agent@second=random")


def play(results: Path, *words: str) -> Path:
    more = [f"results={results}", "executor=serial", "figures=false", "searches.positions=1"]
    return run(read([*more, *words]), "test", Console(quiet=True)).folder


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the same duel with seeds 1, 2 and 1 again, and one by other rules."""
    results = tmp_path_factory.mktemp("results")
    for name, words in {
        "one": ["seed=1", "games=20"],
        "two": ["seed=2", "games=12"],
        "again": ["seed=1", "games=20"],
        "other": ["ruleset=mini6", "games=4"],
    }.items():
        play(results, *DUEL, f"name={name}", *words)
    return results


def at(shelf: Path, name: str) -> Path:
    (folder,) = (shelf / name).iterdir()
    return folder


Ask = Callable[..., Any]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """``ask("list", folder)``: what a command prints; of a refused one the one line."""

    def asked(*words: object, code: int = 0) -> Any:
        capsys.readouterr()
        assert main([str(word) for word in words]) == code
        out, err = capsys.readouterr()
        if code:
            assert not out
            assert err.count("\n") == 1
            return err
        return json.loads(out) if "--json" in words else out

    return asked


# ---------------------------------------------------------------------- list


def test_all_runs_are_listed(shelf: Path, ask: Ask) -> None:
    found = {each["name"]: each for each in ask("list", shelf, "--json")}
    assert set(found) == {"one", "two", "again", "other"}
    one = found["one"]
    assert (one["kind"], one["agents"], one["games"], one["state"]) == ("run", 2, 20, "complete")
    with Record.open(at(shelf, "one")) as record:
        points = dict.fromkeys(("greedy", "random"), 0.0)
        for game in record.games().itertuples():
            points[game.black] += game.black_points
            points[game.white] += 1 - game.black_points
    best = max(points, key=lambda name: points[name])
    assert (one["leader"], one["score"]) == (best, pytest.approx(100 * points[best] / 20))
    printed = ask("list", shelf)
    assert best in printed
    assert "complete" in printed


@pytest.mark.integration
def test_the_list_is_filtered(tmp_path: Path, ask: Ask) -> None:
    play(tmp_path, *DUEL, "name=tagged", "games=2", "tags=[draft,thesis]", "note=an old idea")
    play(tmp_path, *DUEL, "name=plain", "games=4")

    def names(*words: str) -> list[str]:
        return [each["name"] for each in ask("list", tmp_path, "--json", *words)]

    assert names() == names("agents=greedy,random") and len(names()) == 2
    assert names("tags=thesis") == names("tags=draft,thesis") == ["tagged"]
    assert names("tags=other") == names("agents=iago") == []
    assert names("name=plain") == ["plain"]
    assert "an old idea (draft, thesis)" in " ".join(ask("list", tmp_path).split())
    assert "an old idea (draft, thesis)" in ask("show", at(tmp_path, "tagged"))
    assert "agents=" in ask("list", tmp_path, "agent=iago", code=2)


def test_what_cannot_be_read_is_told_in_the_list(shelf: Path, tmp_path: Path) -> None:
    sources = {name: tmp_path / name / "x" for name in ("damaged", "older", "stopped", "begun")}
    for name, folder in sources.items():
        folder.parent.mkdir()
        if name == "begun":
            folder.mkdir()
            Record.create(folder / FILE).close()
        else:
            shutil.copytree(at(shelf, "one"), folder)
    (sources["damaged"] / FILE).write_text("no database")
    for name, change in (("older", "format = 3"), ("stopped", "complete = 0")):
        with closing(sqlite3.connect(sources[name] / FILE)) as file, file:
            file.execute(f"update run set {change}")
    states = {name: look_into(folder).state for name, folder in sources.items()}
    assert "is damaged" in states["damaged"]
    assert "older version" in states["older"]
    assert (states["stopped"], states["begun"]) == ("stopped", "not begun")
    with locked(sources["stopped"]):
        assert look_into(sources["stopped"]).state == "being played"
    assert sorted(places_below(tmp_path)) == sorted(sources.values())


@pytest.mark.integration
def test_a_sweep_is_listed_shown_and_reported_as_one(tmp_path: Path, ask: Ask) -> None:
    words = [f"results={tmp_path}", "agents=ab_vs_minimax", "games=2", "depth=1,2"]
    main(["run", "-m", "executor=serial", "figures=false", *words])
    (found,) = ask("list", tmp_path, "--json")
    assert (found["kind"], found["games"], found["state"]) == ("sweep", 4, "sweep, 2 finished")
    assert "depth=2" in ask("show", found["folder"])
    assert len(ask("show", found["folder"], "--json")["runs"]) == 4
    (page := Path(found["folder"], "report.html")).unlink()
    ask("report", found["folder"])
    assert page.is_file()


def test_a_study_is_listed_and_reported(tmp_path: Path, ask: Ask) -> None:
    words = [f"results={tmp_path}", "agents=duel", "agent@first=greedy", "agent@second=weighted"]
    words += ["executor=serial", "figures=false", "games=2", "study.positions=4"]
    assert main(["study", "errors", *words]) == 0
    (found,) = ask("list", tmp_path, "--json")
    assert (found["kind"], found["name"]) == ("study", "errors")
    assert found["state"] == "study errors, complete"
    assert "is a study" in ask("show", found["folder"], code=2)
    data = ask("show", found["folder"], "--json")
    assert (data["kind"], data["name"], data["state"]) == ("study", "errors", "complete")
    assert any(data["tables"].values())
    assert "is a study, no single run" in ask("verify", found["folder"], code=2)
    (page := Path(found["folder"], "report.html")).unlink()
    ask("report", found["folder"])
    assert page.is_file()
    with closing(sqlite3.connect(Path(found["folder"], "study.sqlite"))) as file, file:
        file.execute("update study set complete = 0")
    assert "not complete" in ask("report", found["folder"], code=2)
    assert "is a study, no single run" in ask("compare", found["folder"], tmp_path, code=2)


def test_folders_without_runs(tmp_path: Path, ask: Ask) -> None:
    assert "no run is here yet" in ask("list", tmp_path)
    assert "no such folder" in ask("list", tmp_path / "nowhere", code=2)
    (text := tmp_path / "text.txt").write_text("no record", encoding="utf-8")
    for command in ("list", "show", "report", "verify"):
        assert "is a file" in ask(command, text, code=2)
    for command in ("show", "report"):
        assert "is no run" in ask(command, tmp_path, code=2)
    assert "is no run" in ask("compare", tmp_path, tmp_path / "other", code=2)


# ---------------------------------------------------------------------- show and report


@pytest.mark.integration
def test_a_run_is_shown_and_reported_from_its_record_alone(
    shelf: Path, tmp_path: Path, ask: Ask
) -> None:
    """The same report again, though everything but the record is gone."""
    folder = tmp_path / "moved"
    folder.mkdir()
    shutil.copy(at(shelf, "one") / FILE, folder)
    shown = ask("show", folder, "--json")
    assert [path.name for path in folder.iterdir()] == [FILE]
    assert shown["games"] == 20
    assert {row["agent"] for row in shown["standings"]} == {"greedy", "random"}
    assert shown["findings"]
    assert shown["findings"][0] in " ".join(ask("show", folder).split())
    ask("report", folder)
    before = (at(shelf, "one") / "report.md").read_text(encoding="utf-8")
    after = (folder / "report.md").read_text(encoding="utf-8")
    assert after.replace(str(folder), str(at(shelf, "one"))) == before
    assert not (folder / "elo.svg").exists()
    ask("report", folder, "--figures=files")
    assert (folder / "elo.svg").exists()
    assert 'id="figure-elo"' in (folder / "report.html").read_text(encoding="utf-8")


def test_a_report_runs_no_code_from_outside(tmp_path: Path, ask: Ask) -> None:
    """An agent of somebody's is not needed any more, and not run though it is there."""
    outside = tmp_path / "mine.py"
    outside.write_text("from othello_lab import GreedyAgent\nclass Mine(GreedyAgent):\n    pass\n")
    words = ["agents=duel", f"agent@first={outside}:Mine", "agent@second=random", "games=4"]
    folder = play(tmp_path, *words, "isolation=none")
    outside.write_text("raise SystemExit('it was run')\n")
    ask("report", folder)
    assert "Mine" in (folder / "report.md").read_text(encoding="utf-8")
    outside.unlink()
    assert "Mine" in ask("show", folder)


def test_objects_of_a_program_are_reported_too(tmp_path: Path, ask: Ask) -> None:
    from othello_lab import AlphaBeta, GreedyAgent, SquareWeights

    agents = {"ab": AlphaBeta(1, SquareWeights()), "greedy": GreedyAgent()}
    folder = run_match(
        agents, games=4, results=tmp_path, workers=0, figures=False, quiet=True
    ).folder
    ask("report", folder)
    assert "AlphaBeta" in (folder / "report.md").read_text(encoding="utf-8")


def test_a_schedule_from_outside_is_asked_for(shelf: Path, tmp_path: Path, ask: Ask) -> None:
    folder = tmp_path / "foreign"
    shutil.copytree(at(shelf, "one"), folder)
    with closing(sqlite3.connect(folder / FILE)) as file, file:
        config = json.loads(file.execute("select config from run").fetchone()[0])
        config["schedule"] = {"_target_": "mine.py:Rounds"}
        file.execute("update run set config = ?", [json.dumps(config)])
    for command in ("show", "report"):
        assert "--trust" in ask(command, folder, code=2)


def test_a_run_without_a_finished_pair(shelf: Path, tmp_path: Path, ask: Ask) -> None:
    """With one game of a pair there is something to tell; with none there is not."""
    for keep, code in ((1, 0), (0, 2)):
        folder = tmp_path / str(keep)
        shutil.copytree(at(shelf, "one"), folder)
        with closing(sqlite3.connect(folder / FILE)) as file, file:
            file.execute("delete from games where game >= ?", [keep])
            file.execute("delete from turns where game >= ?", [keep])
            file.execute("update run set complete = 0")
        for command in ("show", "report", *(["verify"] * (not keep))):
            told = ask(command, folder, code=code)
        if code:
            assert "no game of this run has ended" in told
        else:
            text = (folder / "report.md").read_text(encoding="utf-8")
            assert "\n1 game of 20 (stopped early) from 1 opening" in text
            assert "> " not in text[: text.index("## Standings")]  # there is no finding


# ---------------------------------------------------------------------- compare


def test_runs_of_one_experiment_are_pooled(shelf: Path, ask: Ask) -> None:
    one, two = at(shelf, "one"), at(shelf, "two")
    found = compare([one, two])
    assert set(found.settings) == {"seed", "games"}
    assert found.pooled is not None
    assert found.games == (32, 32)
    whole = found.pooled.set_index("agent")
    parts = [each.among.set_index("agent") for each in found.runs]
    for column in ("games", "wins", "draws", "losses"):
        assert whole.loc["greedy", column] == sum(part.loc["greedy", column] for part in parts)
    # More openings make a narrower interval around a rating between the two.
    width = (whole["high"] - whole["low"])["greedy"]
    assert all(width < (part["high"] - part["low"])["greedy"] for part in parts)
    told = ask("compare", one, two)
    assert POOLED in told.split()
    assert "Pooled, as they are one experiment" in " ".join(told.split())


def test_a_run_is_rated_as_in_its_own_report(shelf: Path, ask: Ask) -> None:
    """The bootstrap is of the same seed."""
    two, one = at(shelf, "two"), at(shelf, "one")
    shown = {row["agent"]: row for row in ask("show", two, "--json")["standings"]}
    found = compare([two, one]).runs[0].among.set_index("agent")
    for column in ("elo", "low", "high"):
        assert found.loc["greedy", column] == shown["greedy"][column]


def test_games_that_several_runs_have_count_once(shelf: Path) -> None:
    one, again = at(shelf, "one"), at(shelf, "again")
    found = compare([one, again])
    assert found.games == (40, 20)
    assert found.pooled is not None
    alone = found.runs[0].among.set_index("agent")
    both = found.pooled.set_index("agent")
    for column in ("games", "wins", "score", "elo", "low", "high"):
        assert both[column].tolist() == alone.loc[both.index, column].tolist()


def test_other_conditions_are_told_and_not_pooled(shelf: Path, ask: Ask) -> None:
    told = " ".join(ask("compare", at(shelf, "one"), at(shelf, "other")).split())
    assert "Not pooled: they differ in ruleset.name" in told
    assert "mini6" in told
    data = ask("compare", at(shelf, "one"), at(shelf, "other"), "--json")
    assert data["pooled"] is None
    assert [run["label"] for run in data["runs"]] == ["A", "B"]
    assert data["settings"]["ruleset.name"] == ["standard", "mini6"]


def test_agents_of_one_name_need_not_be_the_same(shelf: Path, tmp_path: Path, ask: Ask) -> None:
    words = ["agents=duel", "agent@first=weighted", "agent@second=random", "games=4"]
    other = play(tmp_path, *words)
    told = " ".join(ask("compare", at(shelf, "one"), other).split())
    assert "fewer than two agents of the same name" in told
    assert "other agents greedy weighted" in told  # and not their settings against dashes
    assert "agents.weighted" not in told
    named = {"greedy": "weighted", "random": "random"}
    with closing(sqlite3.connect(other / FILE)) as file, file:
        for name, was in named.items():
            file.execute("update agents set name = ? where name = ?", [name, was])
        config = json.loads(file.execute("select config from run").fetchone()[0])
        config["agents"] = {name: config["agents"][was] for name, was in named.items()}
        file.execute("update run set config = ?", [json.dumps(config)])
    data = ask("compare", at(shelf, "one"), other, "--json")
    assert data["shared"] == ["greedy", "random"]
    assert "agents.greedy._target_" in data["settings"]
    assert data["pooled"] is None


def test_several_runs_give_one_report(shelf: Path, tmp_path: Path, ask: Ask) -> None:
    one, two, page = at(shelf, "one"), at(shelf, "two"), tmp_path / "both"
    assert str(page) in ask("report", one, two, "--output", page)
    text = (page / "report.md").read_text(encoding="utf-8")
    assert "Pooled, as they are one experiment" in text
    for row in ask("compare", one, two, "--json")["pooled"]:
        assert f"| {row['agent']} | {POOLED} | {row['games']} |" in text
    assert 'href="' in (page / "report.html").read_text(encoding="utf-8")
    assert "is a run itself" in ask("report", one, two, "--output", one, code=2)
    assert "named twice" in ask("compare", one, one, code=2)
    assert "two runs or more" in ask("compare", one, code=2)
    assert "--output is for" in ask("report", one, "--output", page, code=2)
