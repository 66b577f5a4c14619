"""The list of a run's findings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from othello_lab import MCTS, Limits
from othello_lab.experiments.report import findings
from othello_lab.experiments.report.moves import RecordedMoves
from othello_lab.experiments.report.tables import limits_in_words


def test_every_kind_of_finding_is_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [name for name in vars(findings) if name.startswith(("_about_", "_one_strategy"))]
    kinds += ["match_findings", "repeated", "about_forfeits"]
    assert len(kinds) >= 10
    for kind in kinds:
        monkeypatch.setattr(findings, kind, lambda *_, kind=kind: [kind])
    monkeypatch.setattr(findings, "lead", lambda facts: ["the lead"])
    facts: Any = SimpleNamespace(record=None, plan=None, matches=None)
    found = findings.findings(facts)
    assert found.lead == ["the lead"]
    told = [remark.partition(" ")[0] for remark in found.remarks]
    assert sorted(told) == sorted(kinds)


def _unused(limits: Limits, spent: float, waited: float = 0.0) -> str:
    """Sentences on a run in which every move of the middle game took this long, in seconds."""
    count = 4
    nanoseconds, zeros = np.full(count, 1e9 * spent), np.zeros(count)
    moves = RecordedMoves(
        agent=np.zeros(count, dtype=np.int64),
        black=np.ones(count, dtype=bool),
        ply=np.arange(30, 30 + count),
        nanoseconds=nanoseconds,
        waited_nanoseconds=np.full(count, 1e9 * waited),
        cpu_nanoseconds=nanoseconds / 2,
        nodes=zeros,
        value=zeros,
        games=1,
        recorded=1,
    )
    agents = {"mcts": MCTS(2000)}
    facts: Any = SimpleNamespace(plan=SimpleNamespace(agents=agents, limits=limits), moves=moves)
    return " ".join(findings._about_unused_time(facts))


def test_searches_that_end_long_before_the_limit_on_time_are_told() -> None:
    told = _unused(Limits(seconds=0.05), spent=0.0075)
    assert "mcts used 15 % of its time" in told
    assert "(playouts 2,000)" in told
    assert _unused(Limits(seconds=0.05), spent=0.03) == ""
    assert "mcts used 30 % of its time" in _unused(Limits(cpu_seconds=0.05), spent=0.03)
    assert "mcts used 0 % of its time" in _unused(Limits(seconds=0.05), spent=0)


def test_time_that_an_agent_waited_for_a_processor_is_not_unused() -> None:
    assert _unused(Limits(seconds=0.05), spent=0.015, waited=0.035) == ""
    assert "used 20 %" in _unused(Limits(seconds=0.05), spent=0.005, waited=0.025)


@pytest.mark.parametrize("limits", [Limits(), Limits(clock=1), Limits(nodes=9, seconds=0.05)])
def test_where_the_run_limits_more_than_time_no_time_is_unused(limits: Limits) -> None:
    assert _unused(limits, spent=0.001) == ""


def test_limits_in_words() -> None:
    said = [
        *limits_in_words(Limits(nodes=2000, cpu_seconds=0.005)),
        *limits_in_words(Limits(seconds=0.05)),
        *limits_in_words(Limits(clock=10, depth=4)),
    ]
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in said] == [
        "at most 2,000 nodes a move",
        "5 ms of processor time a move",
        "50 ms a move",
        "10 s a game",
        "depth at most 4",
    ]
    assert limits_in_words(Limits()) == []
