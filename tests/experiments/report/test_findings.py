"""What a run's findings say: its lead, and remarks on the time that agents had and used."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from records import query
from runs import changed, played
from shared import copied

from othello_lab import (
    AlphaBeta,
    DiscCount,
    GreedyAgent,
    Limits,
    Minimax,
    RandomAgent,
    SquareWeights,
)
from othello_lab.experiments.jobs.run import run_match
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.report.elo_lead import lead
from othello_lab.experiments.report.facts import RunFacts
from othello_lab.experiments.report.findings import findings
from othello_lab.experiments.report.question import Question
from othello_lab.experiments.report.tables import limits_in_words, share_text


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = ["agents=duel", "agent@first=iterative", "agent@second=random", "first.depth=1"]
    words += ["games=2", "isolation=none", "limits.seconds=9"]
    return played(tmp_path_factory.mktemp("results"), *words).folder


def remarks(folder: Path, edit: str, limits: Limits | None = None) -> str:
    """Return all remarks on a run, after an edit of its moves and with other limits."""
    with facts_of(changed(folder, edit)) as facts:
        plan = replace(facts.plan, limits=limits) if limits else facts.plan
        return "\n".join(findings(RunFacts(facts.record, plan)).remarks)


MILLISECONDS = "update moves set nanoseconds = 1e6 * {}, waited_nanoseconds = 1e6 * {}, late = 0"


@pytest.mark.parametrize(
    ("limits", "spent", "waited", "share"),
    [
        (Limits(seconds=0.05), 7.5, 0, "15 %"),
        (Limits(seconds=0.05), 30, 0, ""),
        (Limits(seconds=0.05), 0, 0, "0 %"),
        (Limits(cpu_seconds=0.05), 30, 0, "30 %"),
        # What it waited for a processor is not unused.
        (Limits(seconds=0.05), 15, 35, ""),
        (Limits(seconds=0.05), 5, 25, "20 %"),
        # More than the time of a move is limited.
        (Limits(), 1, 0, ""),
        (Limits(clock=1), 1, 0, ""),
        (Limits(nodes=9, seconds=0.05), 1, 0, ""),
    ],
    ids=str,
)
def test_searches_that_end_long_before_the_limit_on_time_are_told(
    timed: Path, tmp_path: Path, limits: Limits, spent: float, waited: float, share: str
) -> None:
    edit = MILLISECONDS.format(spent + waited, waited)
    told = remarks(copied(timed, tmp_path), f"{edit}, cpu_nanoseconds = 5e5 * {spent}", limits)
    assert f"iterative used {share}" in told if share else "iterative used" not in told
    assert "(depth 1)" in told or not share


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ("update moves set nanoseconds = 1000, cpu_nanoseconds = 500", "50 % of"),
        ("update moves set nanoseconds = 1000, cpu_nanoseconds = 990", ""),
        ("delete from moves", ""),
    ],
)
def test_little_processor_time_for_much_thinking_is_told(
    timed: Path, tmp_path: Path, edit: str, told: str
) -> None:
    found = remarks(copied(timed, tmp_path), edit)
    assert ("oversubscribed" in found) == bool(told) and told in found
    assert "isolation=none" in found


@pytest.mark.parametrize(("plies", "moves"), [(20, "iterative"), (0, "")])
def test_moves_that_stand_though_late_by_the_wall_clock_are_counted(
    timed: Path, tmp_path: Path, plies: int, moves: str
) -> None:
    folder = copied(timed, tmp_path)
    late = f"update moves set late = (agent = 0 and ply < {plies} and game = 0)"
    found = remarks(folder, late)
    ((count,),) = query(folder, "select count(*) from moves where late = 1")
    assert (f": iterative {count}." in found) == bool(moves) == bool(count)


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


def told(folder: Path, agents: dict[str, Any], **how: Any) -> tuple[list[str], Any, Path]:
    """The lead of a run, its standings by agent, and its folder."""
    quiet: dict[str, Any] = {"workers": 0, "figures": False, "quiet": True}
    done = run_match(agents, results=folder, **quiet, **how)
    with facts_of(done.folder) as facts:
        return lead(facts), done.standings.set_index("agent"), done.folder


def test_the_same_moves_for_less(tmp_path: Path) -> None:
    """Names that read as words are quoted."""
    agents = {"none": Minimax(3, DiscCount()), "static": AlphaBeta(3, DiscCount())}
    (said, times), standings, _ = told(tmp_path, agents, games=6)
    assert "median" in times and "50.0 % of 6 games" in said and "all 3 pairs" in said
    found = re.match(r"'static' visited ([\d.]+) % of the nodes of 'none' at", said)
    nodes = standings["nodes_per_move"]
    assert found is not None
    assert float(found[1]) == pytest.approx(100 * nodes["static"] / nodes["none"], abs=0.01)


FEW = [(0, 1, "white", "finished", 8), (1, 0, "black", "finished", 1)]
FORFEITS = [
    (0, 1, "black", "never answered", 2),
    (1, 0, "white", "never answered", 1),
    (0, 1, "white", "illegal move", 1),
]


@pytest.mark.parametrize(
    ("ends", "forfeits"),
    [
        ([*FEW[:1], *FORFEITS], ["4 of 12 games", "3 of them by random (never answered)"]),
        ([*FEW, *FORFEITS[1:]], ["2 of 11 games", "by"]),
        ([*FEW, FORFEITS[2]], []),  # a tenth
        (FEW, []),
    ],
)
def test_many_forfeits_come_first(
    recorded_duel: Path, monkeypatch: pytest.MonkeyPatch, ends: list[Any], forfeits: list[str]
) -> None:
    monkeypatch.setattr(RunFacts, "ends", ends)
    with facts_of(recorded_duel) as facts:
        first = lead(facts)[0]
    assert ("forfeit" in first) == bool(forfeits)
    assert all(words in first for words in forfeits)


@pytest.mark.integration
def test_searches_with_the_same_values_are_led_by_their_nodes(tmp_path: Path) -> None:
    agents = {
        "minimax": Minimax(3, SquareWeights()),
        "sorted": AlphaBeta(3, SquareWeights(), ordering="mobility"),
        "table": AlphaBeta(3, SquareWeights(), ordering="tt+static", table_mb=1),
    }
    (first, order, why, times), standings, folder = told(tmp_path, agents, games=12)
    with facts_of(folder) as facts:
        assert facts.question is Question.COST
    nodes = standings["nodes_per_move"]
    cheapest = nodes.idxmin()
    assert first.startswith(f"{cheapest if cheapest != 'sorted' else repr(cheapest)} visits")
    share = nodes[cheapest] / nodes["minimax"]
    assert f"in their own games: {share_text(share)} of those of minimax" in first
    assert order.index("table") != order.index("minimax 100 %") > 0
    assert "same values" in why and "median" in times
    shallow = agents | {"table": AlphaBeta(2, SquareWeights())}
    (_, ranks), _, folder = told(tmp_path / "shallow", shallow, games=20)
    with facts_of(folder) as facts:
        assert facts.question is Question.RANKS
    assert re.match(r"All ranks: \S+ [>≈] \S+ [>≈] \S+\.", ranks)


@pytest.mark.integration
def test_split_pairs_and_single_games(tmp_path: Path) -> None:
    agents: dict[str, Any] = {name: GreedyAgent() for name in "abc"}
    (said, *_), _, _ = told(tmp_path, agents, games=4)
    assert "pair was split" in said
    agents |= {"a": AlphaBeta(2, SquareWeights()), "b": RandomAgent()}
    for schedule, words in (("class", "wins the knockout"), ("swiss", "is first of 3 (points ")):
        (said, *_), standings, _ = told(tmp_path, agents, games=2, schedule=schedule)
        assert said.startswith(f"{standings.index[0]} {words}")


@pytest.mark.integration
def test_strategies_are_known_from_ratings(tmp_path: Path) -> None:
    agents = {
        "minimax": Minimax(2, DiscCount()),
        "random": RandomAgent(),
        "pruned": AlphaBeta(2, DiscCount()),
        "squares": AlphaBeta(2, SquareWeights()),
    }
    (first, ranks, *rest), _, _ = told(tmp_path, agents, games=10)
    assert " lead" in first and "minimax = pruned" in ranks
    assert "at equal strength" in " ".join(rest)
