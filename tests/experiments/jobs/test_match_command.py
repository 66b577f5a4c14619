"""Matches in one line: ``othello-lab match A B``."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from othello_lab.agents.sides import Side, side_of
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import match_name
from othello_lab.experiments.jobs import two_sides
from othello_lab.experiments.jobs.match_command import match_command
from othello_lab.experiments.jobs.two_sides import MatchSide, planned, search_and_settings
from othello_lab.experiments.record.store import Record


def played(tmp_path: Path, *words: str) -> tuple[str, Record]:
    console = Console(file=io.StringIO(), width=120)
    cheap = ["figures=none", "judging.late=0", "judging.disagreements=0"]
    code = match_command([*words, f"results={tmp_path}", *cheap], console)
    (folder,) = tmp_path.glob("*/*/")
    assert code == 0
    return console.file.getvalue(), Record.open(folder)  # type: ignore[attr-defined]


@pytest.mark.integration
def test_a_match_ends_when_it_is_decided(tmp_path: Path) -> None:
    said, opened = played(tmp_path, "iago", "disc_count", "depth=1")
    with opened as record:
        assert record.run()["complete"]
        assert 100 <= record.count_games() < 8000
        assert record.run()["name"] == "iago_vs_disc_count"
        assert record.agents()["name"].tolist() == ["iago", "disc_count"]
        assert record.run()["config"]["agents"]["iago"]["depth"] == 1
    assert "iago is an evaluation" in said


def test_a_match_ends_when_its_time_is_over(tmp_path: Path) -> None:
    _, opened = played(tmp_path, "random", "random", "minutes=0.001", "executor=serial")
    with opened as record:
        assert not record.run()["complete"]
        assert 2 <= record.count_games() < 8000


def test_settings_of_a_match(tmp_path: Path) -> None:
    words = ["alphabeta", "mobility", "agent=pvs", "first.depth=2"]
    words += ["--config-dir", str(tmp_path), "nodes=500", "games=4"]
    _, opened = played(tmp_path, *words)
    with opened as record:
        config = record.run()["config"]
    assert config["agents"]["alphabeta"]["depth"] == 2
    assert config["agents"]["mobility"]["_target_"].endswith("PVS")
    assert (config["games"], config["minutes"], config["limits"]["nodes"]) == (4, None, 500)


@pytest.mark.integration
def test_a_search_by_time_has_a_limit(tmp_path: Path) -> None:
    """The champion at depth 18 takes longer for some moves than a game may wait."""
    said, opened = played(tmp_path, "random", "champion", "games=2")
    with opened as record:
        champion = record.run()["config"]["agents"]["champion"]
    assert champion["cpu_seconds"] == 0.1
    assert champion["agent"]["depth_by_time"]
    assert "champion has 0.1 s of processor time a move" in said
    (report,) = tmp_path.glob("*/*/report.md")
    assert "0.1 s of processor time" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [["seconds=0.01"], ["nodes=50"], ["second.depth=2"]])
def test_a_limit_that_is_set_stands(words: list[str]) -> None:
    sides = [MatchSide(side_of(word)) for word in ("random", "champion")]
    plan, added = planned(sides, search_and_settings(words)[1])
    assert "depth_by_time" in plan.settings.agents["champion"]
    assert not added


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["iago", "mobility", "until=never"], "until=decided"),
        (["iago", "mobility", "depth"], "key=value"),
        (["iago", "mobility", "first.deepth=3"], "deepth"),
        (["iago", "mobility", "minutes=0"], "minutes"),
        (["iago", "mobility", "second=0.05"], "seconds=... limits a move"),
    ],
)
def test_bad_words_are_refused(words: list[str], part: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=part):
        match_command([*words, f"results={tmp_path}"], Console(quiet=True))
    assert not list(tmp_path.iterdir())


def test_only_the_sides_are_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        match_command(["iago"], Console(quiet=True))
    assert capsys.readouterr().err.strip().endswith("required: SECOND")


def test_the_folder_of_a_match_has_no_blanks() -> None:
    assert match_name(["depth 3", "depth 6"]) == "depth_3_vs_depth_6"


STUDENT = """
from othello_lab import Agent, Decision

class Student(Agent):
    "Looks one ply ahead, whatever depth is asked for."

    def __init__(self, depth, evaluation):
        self.evaluation = evaluation

    def decide(self, position, limits):
        return Decision(min(position.moves, key=lambda m: self.evaluation(position.play(m))))
"""


def test_a_check_is_announced_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), width=120)

    def check(side: Side) -> list[str]:
        said = console.file.getvalue()  # type: ignore[attr-defined]
        assert "checking mine.py:Student" in said and "--no-check" in said
        return ["fine", "right"]

    monkeypatch.setattr(two_sides, "planned", lambda *_: (None, []))
    monkeypatch.setattr(two_sides, "run", lambda *_, **__: None)
    monkeypatch.setattr(two_sides, "check_side", check)
    student = Side("Student", "an agent", [], "mine.py:Student", is_agent=True)
    sides = [two_sides.MatchSide(side) for side in (student, Side("pvs", "an agent", []))]
    two_sides.play_sides(sides, [], "match", console)
    assert console.file.getvalue().splitlines()[1:] == ["fine", "right"]  # type: ignore[attr-defined]


@pytest.mark.integration
def test_a_class_is_checked_before_it_plays(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(STUDENT)
    words = [f"{tmp_path}/mine.py:Student", "alphabeta", "depth=2", "games=2"]
    said, opened = played(tmp_path / "results", *words)
    opened.close()
    (report,) = tmp_path.glob("results/*/*/report.md")
    for told in ("Student keeps to the contract", "does not search as minimax does"):
        assert told in " ".join(said.split())
        assert told in report.read_text(encoding="utf-8")
