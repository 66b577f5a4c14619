"""Agents from outside the lab are tried before a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from chosen import mostly_nightly
from runs import line_of

from othello_lab import run_match
from othello_lab.__main__ import main
from othello_lab.core.game import DIED, GARBAGE, HUNG, ILLEGAL, RAISED
from othello_lab.core.rules import RULESETS
from othello_lab.experiments.config import read
from othello_lab.experiments.playing import executors
from othello_lab.experiments.playing.executors import lines

FAILING = {
    "Raises": f"{RAISED}: RuntimeError: a bug in a student's agent (misbehaving.py, line",
    "Illegal": ILLEGAL,
    "Garbage": GARBAGE,
    "Hangs": HUNG,
    "Dies": DIED,
}
"""Agents that fail from their first move on, and what is said of each."""


def words(folder: Path, name: str, *more: str) -> list[str]:
    duel = ["agents=duel", f"agent@first=misbehaving:{name}", "agent@second=greedy", "games=2"]
    return [*duel, "limits.hang=0.3", f"results={folder}", "figures=false", *more]


@pytest.mark.integration
@pytest.mark.parametrize("name", mostly_nightly(FAILING, ["Raises", "Dies"]))
def test_one_that_fails_everywhere_stops_the_run(name: str, tmp_path: Path) -> None:
    after = "first.after=0"
    said = line_of("run", *words(tmp_path, name, after), code=2)
    assert f"agent '{name}' fails in all of 10 positions: {FAILING[name]}" in said
    assert not list(tmp_path.iterdir()), "nothing is begun"


@pytest.mark.integration
def test_unless_told_not_to(tmp_path: Path) -> None:
    assert main(["run", *words(tmp_path, "Raises", "first.after=0", "trial=false")]) == 0
    from misbehaving import Raises

    agents = {"mine": Raises(after=0)}
    with pytest.raises(ValueError, match="'mine' fails in all of 10 positions"):
        run_match(agents | {"same": Raises(after=0)}, games=2, quiet=True, results=tmp_path)


def test_one_that_fails_now_and_then_plays(tmp_path: Path) -> None:
    plan = read(words(tmp_path, "Raises", "first.after=3"))
    with plan.executor.ready(plan.conditions(), print, trial=True):
        pass


@pytest.mark.integration
def test_one_that_is_slow_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "SECONDS", 0.5)
    plan = read(words(tmp_path, "Hangs", "first.after=0", "limits.hang=300"))
    with plan.executor.ready(plan.conditions(), print, trial=True):
        pass


@pytest.mark.integration
def test_a_plan_is_refused_too(tmp_path: Path) -> None:
    assert "fails in all" in line_of(
        "plan", "elo=60", *words(tmp_path, "Illegal", "first.after=0"), code=2
    )


@pytest.mark.parametrize("name", RULESETS)
def test_the_positions(name: str) -> None:
    ways = lines(RULESETS[name])
    assert len(ways) == executors.POSITIONS
    assert all(line[-1][1].moves for line in ways)
    lengths = [len(line) for line in ways]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == 1
