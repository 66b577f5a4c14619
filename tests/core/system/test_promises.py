"""The promises of isolation: told as they hold here, each with its tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runs import told

from othello_lab import GreedyAgent, RandomAgent
from othello_lab.core.game import Limits
from othello_lab.core.rules import ruleset
from othello_lab.core.system import call_filter, landlock, promises
from othello_lab.experiments.playing.conditions import CLOSED, NONE, GameConditions, Isolation

ROOT = Path(__file__).parents[3]


class Own(RandomAgent):
    """An agent from outside."""


@pytest.fixture
def old_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without Landlock and filters."""
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(call_filter, "available", lambda: False)


def conditions(agent: object, kind: str) -> GameConditions:
    rules = ruleset("standard")
    isolation = Isolation(kind)
    return GameConditions(["it"], [agent], rules, Limits(), 0.0, 1.0, 30, isolation=isolation)


def test_a_system_that_lacks_something_is_told(old_kernel: None) -> None:
    lacking = conditions(Own(), "auto").lacks()
    assert any("signals and traces no other process (needs Landlock 6" in each for each in lacking)
    assert not any("network" in each for each in lacking)  # which nobody was to be kept from
    assert any("network" in each for each in conditions(Own(), CLOSED).lacks())
    assert conditions(GreedyAgent(), CLOSED).lacks() == []
    assert conditions(Own(), NONE).lacks() == []


@pytest.mark.integration
def test_a_run_says_it_at_its_start_and_in_its_report(old_kernel: None, tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=random", "first._target_=misbehaving.Closes"]
    words += [f"+first.folder={tmp_path / 'notes'}", "agent@second=random", "games=2"]
    words += ["ruleset=mini4", "figures=none", "executor.workers=1", f"results={tmp_path}"]
    (tmp_path / "notes").mkdir()
    said = told("run", *words)
    promise = "it takes no time by priorities"
    assert said.index(promise) < said.index("2/2 games")
    (report,) = tmp_path.rglob("report.md")
    assert promise in " ".join(report.read_text(encoding="utf-8").split())


def test_the_command_tells_all_promises() -> None:
    text = told("agents", "isolation", code=not all(each.holds for each in promises.promises()))
    for word in ("Landlock", "seccomp", "cgroup v2", "user namespaces", "closed agents"):
        assert word in text
    assert text.count("yes") + text.count("NO") >= len(promises.promises())


def test_the_command_fails_where_one_does_not_hold(old_kernel: None) -> None:
    assert "NO" in told("agents", "isolation", code=1)


def test_the_page_names_a_test_for_each_promise() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = page[page.index("### Promises") : page.index("### Time of others")]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "`tests/" in line]
    assert len(rows) >= len(promises.promises())
    for path in re.findall(r"`(tests/[^`]+)`", table):
        assert (ROOT / path).is_file(), path
