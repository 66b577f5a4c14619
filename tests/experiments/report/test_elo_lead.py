"""The finding that a report begins with says what the numbers say, and no more."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from othello_lab import AlphaBeta, DiscCount, GreedyAgent, Minimax, RandomAgent, SquareWeights
from othello_lab.experiments.jobs.run import run_match
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.report.elo_lead import _many_forfeits, _strategies, lead
from othello_lab.experiments.report.question import Question
from othello_lab.experiments.report.strategies import strategies
from othello_lab.experiments.report.tables import share_text


def told(folder: Path, agents: dict[str, Any], **how: Any) -> tuple[list[str], Any, Path]:
    """The lead of a run, its standings by agent, and its folder."""
    quiet: dict[str, Any] = {"workers": 0, "figures": False, "quiet": True}
    done = run_match(agents, results=folder, **quiet, **how)
    with facts_of(done.folder, Console(quiet=True)) as facts:
        return lead(facts), done.standings.set_index("agent"), done.folder


def test_the_same_moves_for_less(tmp_path: Path) -> None:
    agents = {"minimax": Minimax(3, DiscCount()), "pruned": AlphaBeta(3, DiscCount())}
    (said, times), standings, _ = told(tmp_path, agents, games=6)
    assert "Time of a move (median)" in times
    found = re.match(r"pruned visited ([\d.]+) % of minimax's nodes at equal strength: ", said)
    nodes = standings["nodes_per_move"]
    assert found is not None
    assert float(found[1]) == pytest.approx(100 * nodes["pruned"] / nodes["minimax"], abs=0.01)
    assert "50.0 % of 6 games, the same moves in all 3 pairs" in said


def test_names_that_read_as_words_are_quoted(tmp_path: Path) -> None:
    agents = {"none": Minimax(2, DiscCount()), "static": AlphaBeta(2, DiscCount())}
    (said, _), _, _ = told(tmp_path, agents, games=2)
    assert said.startswith("'static' visited ") and " % of the nodes of 'none' at" in said


def test_a_decided_lead_has_its_interval(tmp_path: Path) -> None:
    agents = {"squares": AlphaBeta(2, SquareWeights()), "discs": AlphaBeta(1, DiscCount())}
    (said, *_), standings, _ = told(tmp_path, agents, games=60)
    found = re.fullmatch(r"squares leads discs by (\d+) \[(\d+), (\d+)\] Elo, in 60 games\.", said)
    assert found is not None
    value, low, high = map(int, found.groups())
    assert value == pytest.approx(standings.loc["squares", "elo"] * 2, abs=1)
    assert 0 < low < value < high


def test_what_is_not_decided_takes_more_games(tmp_path: Path) -> None:
    agents = {"one": GreedyAgent(), "other": RandomAgent()}
    for seed in range(1, 30):
        (said, *_), _, _ = told(tmp_path, agents, games=24, seed=seed)
        if found := re.search(r"undecided\. If that is the difference, some ([\d,]+) games", said):
            break
    else:
        pytest.fail("24 games always decided it")
    assert int(found[1].replace(",", "")) > 24
    assert "a pairing instead of 24 show it with a probability of 90 %" in said


def test_a_match_with_all_games_won_has_no_elo(tmp_path: Path) -> None:
    agents = {"strong": AlphaBeta(3, SquareWeights()), "random": RandomAgent()}
    (said, *_), _, _ = told(tmp_path, agents, games=2)
    assert said == "strong leads random: it won all 2 games, too few for an Elo."


def facts_with(*ends: tuple[int, int, str, str, int]) -> Any:
    plan = SimpleNamespace(schedule=SimpleNamespace(both_colours=True))
    return SimpleNamespace(plan=plan, ends=ends, names=["bot", "champion"])


def test_many_forfeits_come_first() -> None:
    games = (0, 1, "white", "finished", 8)
    (said,) = _many_forfeits(
        facts_with(
            games,
            (0, 1, "black", "never answered", 2),
            (1, 0, "white", "never answered", 1),
            (0, 1, "white", "illegal move", 1),
        )
    )
    assert said.startswith("4 of 12 games ended by a forfeit, 3 of them by champion (never answer")
    assert not list(_many_forfeits(facts_with((0, 1, "white", "finished", 90), *[games])))
    assert not list(_many_forfeits(facts_with(games, (1, 0, "black", "finished", 1))))


def test_few_openings_promise_nothing(tmp_path: Path) -> None:
    agents = {"one": RandomAgent(), "other": RandomAgent()}
    for seed in range(1, 30):
        (said, *_), _, _ = told(tmp_path, agents, games=8, seed=seed)
        if "undecided" in said:
            break
    assert "4 openings are too few to name the better one" in said


def test_nobody_leads_by_nothing(tmp_path: Path) -> None:
    """Each of two agents takes all of one opening: the rating of both is 0."""
    agents = {"one": RandomAgent(), "other": RandomAgent()}
    for seed in range(1, 60):
        (said, *_), _, _ = told(tmp_path, agents, games=4, seed=seed)
        if said.startswith("Between"):
            break
    assert re.match(r"Between \w+ and \w+ there are 0 \[-\d+, \d+\] Elo: undecided\. 2 ", said)


@pytest.mark.integration
def test_searches_with_the_same_values_are_led_by_their_nodes(tmp_path: Path) -> None:
    agents = {
        "minimax": Minimax(3, SquareWeights()),
        "sorted": AlphaBeta(3, SquareWeights(), ordering="mobility"),
        "table": AlphaBeta(3, SquareWeights(), ordering="tt+static", table_mb=1),
    }
    (first, order, why, times), standings, folder = told(tmp_path, agents, games=12)
    with facts_of(folder, Console(quiet=True)) as facts:
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
    with facts_of(folder, Console(quiet=True)) as facts:
        assert facts.question is Question.RANKS
    assert re.match(r"All ranks: \S+ [>≈] \S+ [>≈] \S+\.", ranks)


def test_a_difference_has_one_interval(tmp_path: Path) -> None:
    """The sentence, the table of matches and the ratings agree, also after another anchor."""
    agents = {"discs": AlphaBeta(1, DiscCount()), "squares": AlphaBeta(1, SquareWeights())}
    (said, *_), standings, folder = told(tmp_path, agents, games=40)
    with facts_of(folder, Console(quiet=True)) as facts:
        (row,) = facts.matches.itertuples()
    ends = [2 * standings.loc["squares", name] for name in ("elo", "low", "high")]
    assert [-row.elo, -row.elo_high, -row.elo_low] == pytest.approx(ends)
    value, low, high = (f"{end:z.0f}" for end in ends)
    assert f"squares leads discs by {value} [{low}, {high}] Elo, in 40 games." == said


@pytest.mark.integration
def test_split_pairs_and_single_games(tmp_path: Path) -> None:
    agents = {"a": GreedyAgent(), "b": GreedyAgent(), "c": GreedyAgent()}
    (said, *_), _, _ = told(tmp_path, agents, games=4)
    assert said.startswith("Every pair was split")
    agents = {"a": AlphaBeta(2, SquareWeights()), "b": RandomAgent(), "c": GreedyAgent()}
    (said, *_), standings, _ = told(tmp_path, agents, games=2, schedule="class")
    assert said.startswith(f"{standings.index[0]} wins the knockout: the final against ")
    (said, *_), standings, _ = told(tmp_path, agents, games=2, schedule="swiss")
    assert said.startswith(f"{standings.index[0]} is first of 3 (points ")


def test_strategies_are_known_from_ratings(tmp_path: Path) -> None:
    agents = {
        "minimax": Minimax(2, DiscCount()),
        "random": RandomAgent(),
        "pruned": AlphaBeta(2, DiscCount()),
        "squares": AlphaBeta(2, SquareWeights()),
    }
    (first, *rest), _, folder = told(tmp_path, agents, games=10)
    assert " lead" in first
    assert "at equal strength" in " ".join(rest)
    with facts_of(folder, Console(quiet=True)) as facts:
        assert _strategies(4, facts.parts).tolist() == strategies(facts.record).tolist()
