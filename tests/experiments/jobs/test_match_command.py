"""Matches in one line: ``othello-lab match A B``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import students
from records import runs_in
from runs import line_of

from othello_lab.agents.sides import side_of
from othello_lab.experiments.config import match_name
from othello_lab.experiments.jobs.two_sides import MatchSide, planned, search_and_settings
from othello_lab.experiments.record.store import Record


def played(results: Path, *words: object) -> tuple[str, dict[str, Any], int]:
    """What a match prints, its run as recorded, and its number of games."""
    cheap = ["figures=none", "judging.late=0", "judging.disagreements=0", "executor=serial"]
    said = line_of("match", *words, f"results={results}", *cheap)
    with Record.open(*runs_in(results)) as record:
        return said, record.head(), record.count_games()


@pytest.mark.integration
def test_a_match_ends_when_it_is_decided(tmp_path: Path) -> None:
    words = ["iago", "disc_count", "depth=1", "--config-dir", tmp_path]
    said, head, games = played(tmp_path / "results", *words)
    assert head["complete"] and 100 <= games < 8000
    assert head["name"] == "iago_vs_disc_count"
    assert list(head["config"]["agents"]) == ["iago", "disc_count"]
    assert head["config"]["agents"]["iago"]["depth"] == 1
    assert "iago is an evaluation" in said


@pytest.mark.integration
def test_a_match_ends_when_its_time_is_over(tmp_path: Path) -> None:
    _, head, games = played(tmp_path, "random", "random", "minutes=0.001")
    assert not head["complete"] and 2 <= games < 8000


def planned_of(*words: str) -> tuple[Any, str]:
    """The settings of a match of these words, and what is told of them."""
    search, settings = search_and_settings(words[2:])
    plan, added = planned([MatchSide(side_of(word, search)) for word in words[:2]], settings)
    return plan.settings, " ".join(added)


def test_settings_of_a_match() -> None:
    words = ["alphabeta", "mobility", "agent=pvs", "first.depth=2", "nodes=500", "games=4"]
    settings, _ = planned_of(*words)
    assert settings.agents["alphabeta"]["depth"] == 2
    assert settings.agents["mobility"]["_target_"].endswith("PVS")
    assert (settings.games, settings.minutes, settings.limits.nodes) == (4, None, 500)
    assert planned_of("alphabeta", "mobility")[0].minutes > 0
    alike = planned_of("iago", "iago", "first.depth=2", "second.depth=4")[0].agents
    assert list(alike) == ["iago_d2", "iago_d4"]
    for word in ("first.deepth=3", "minutes=0"):
        assert word.partition("=")[0] in line_of("match", "random", "greedy", word, code=2)


@pytest.mark.parametrize(
    ("words", "usual"),
    [([], True), (["seconds=0.01"], False), (["nodes=50"], False), (["second.depth=2"], False)],
)
def test_a_search_by_time_has_a_limit(words: list[str], usual: bool) -> None:
    """The champion at depth 18 takes longer for some moves than a game may wait."""
    settings, added = planned_of("random", "champion", *words)
    champion = settings.agents["champion"]
    assert champion.get("cpu_seconds") == (0.1 if usual else None)
    assert champion.get("agent", champion)["depth_by_time"]
    assert ("champion" in added and "0.1 s" in added) == usual


def test_the_folder_of_a_match_has_no_blanks() -> None:
    assert match_name(["depth 3", "depth 6"]) == "depth_3_vs_depth_6"


@pytest.mark.integration
def test_a_class_is_checked_before_it_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("othello_lab.experiments.jobs.two_sides.SEARCH_SECONDS", 1.0)
    words = [f"{students.HERE}:{name}" for name in ("Student", "Cheats")]
    words += ["depth=2", "games=2", "trial=false"]
    said, _, _ = played(tmp_path / "results", *words)
    (report,) = tmp_path.glob("results/*/*/report.md")
    assert said.index("students.py:Student") < said.index("--no-check") < said.index("keeps to")
    for finding in ("Student keeps to the contract", "its search fails a check"):
        assert finding in said and finding in report.read_text(encoding="utf-8")
    named = re.findall(r"agents check \S*/students\.py:(\w+)\)", said)
    assert set(named) == {"Cheats"}  # whose contract is broken
