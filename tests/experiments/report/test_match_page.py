"""The page of a match of two agents, judged moves, colours and phases; the games in a page."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from othello_lab import AlphaBeta, DiscCount, GreedyAgent, Position, RandomAgent, match
from othello_lab.agents.evaluation.helpers import CORNERS, count
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import PASS, parse_square, split_transcript
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.result import RunResult
from othello_lab.experiments.jobs.run import run_match
from othello_lab.experiments.jobs.run_kind import facts_of
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.disagreements import Judge, disagreements
from othello_lab.experiments.report.games import MOST_PAIRS, game_sample


@pytest.fixture(scope="module")
def duel(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = str(tmp_path_factory.mktemp("match"))
    settings = "judging.disagreements=8", "judging.depth=4", "executor=serial"
    return match("iago", "disc_count", *settings, games=12, depth=2, results=folder)


@pytest.mark.integration
def test_positions_are_met_by_both_with_these_moves(duel: RunResult) -> None:
    with Record.open(duel.folder) as record:
        table = disagreements(record, 8, 1, 4)
        names = record.agents()["name"].tolist()
    moves = duel.moves
    assert 0 < len(table) <= 8
    assert table["gap"].abs().is_monotonic_decreasing
    for row in table.to_dict("records"):
        assert len({row[f"move of {name}"] for name in names}) == 2
        position = Position.from_obf(row["position"])
        for name in names:
            game, move = row[f"game of {name}"], row[f"move of {name}"]
            made = moves[(moves["game"] == game) & (moves["move"] == move)]
            assert made["agent"].tolist() == [name]
            assert parse_square(move) in position.moves


def test_a_judge_near_the_end_is_right() -> None:
    judge, solver = Judge(4), EndgameSolver(table_mb=1)
    board = "XXXXXXXXXOOOXXXXXOXOXXXXXOOXOXXXXOXOOXXXXOOXXXOX--OOOOXX---OO--- X;"
    position = Position.from_obf(board)
    assert position.moves
    for move in position.moves:
        after = position.play(move)
        if after.is_over:
            exact = -after.disc_difference
        elif after.must_pass:
            exact = solver.solve(after.play(64)).score
        else:
            exact = -solver.solve(after).score
        assert judge.value(position, move) == exact


@pytest.mark.integration
def test_the_page_has_names_and_tables_of_the_two(duel: RunResult) -> None:
    text = (duel.folder / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# iago against disc_count")
    for heading in ("Where they disagree most", "By colour", "By phase of the game"):
        assert f"## {heading}" in text
    assert "against perfect play" in text
    assert duel.findings[0].startswith("iago leads")
    block = text.partition("## By colour")[2].partition("##")[0]
    rows = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("| ")]
    counts = {(row[0], row[1]): list(map(int, row[2:5])) for row in rows[1:]}
    assert len(counts) == 4
    assert all(sum(numbers) == 6 for numbers in counts.values())
    iago = zip(counts["iago", "Black"], counts["iago", "White"], strict=True)
    table = duel.summary.set_index("agent")
    assert [*map(sum, iago)] == table.loc["iago", ["wins", "draws", "losses"]].tolist()


@pytest.mark.integration
def test_a_function_of_a_program_plays(tmp_path: Path) -> None:
    def corners(mover: int, opponent: int) -> int:
        return count(mover & CORNERS) - count(opponent & CORNERS)

    words = "judging.late=0", "judging.disagreements=0", "executor=serial"
    quick: dict[str, Any] = {"results": str(tmp_path), "figures": "none"}
    result = match(corners, "random", *words, games=4, depth=1, **quick)
    table = result.summary.set_index("agent")
    assert set(table.index) == {"corners", "random"}
    assert table.loc["corners", "nodes"] > 1
    assert pd.isna(table.loc["random", "nodes"])
    assert result.moves.loc[result.moves["agent"] == "random", "nodes"].isna().all()
    assert "discs_lost" not in table


def test_what_is_no_side_or_no_match_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no side of a match"):
        match(3, "iago", results=str(tmp_path))
    with pytest.raises(ConfigError, match="two agents"):
        read(["agents=classics", "judging.late=5"])


@pytest.mark.parametrize(("rules", "agents"), [("mini6", 2), ("standard", 1), ("standard", 3)])
def test_only_two_agents_on_the_usual_board_disagree(rules: str, agents: int) -> None:
    table = pd.DataFrame({"name": list("abc")[:agents]})
    record: Any = SimpleNamespace(head=lambda: {"ruleset": rules}, agents=lambda: table)
    assert disagreements(record, 8, 1, 4).empty  # no position is read


def played(folder: Path, agents: dict[str, Any], **how: Any) -> Path:
    quiet: dict[str, Any] = {"workers": 0, "figures": False, "quiet": True}
    return run_match(agents, results=folder, **quiet, **how).folder


@pytest.mark.integration
@pytest.mark.parametrize("rules", ["standard", "wpi", "mini4"])
def test_what_is_flipped_leads_to_the_same_boards(tmp_path: Path, rules: str) -> None:
    agents = {"greedy": GreedyAgent(), "random": RandomAgent(), "deep": AlphaBeta(2, DiscCount())}
    folder = played(tmp_path, agents, games=4, ruleset=rules)
    with facts_of(folder) as facts:
        sample = game_sample(facts)
    assert (sample.pairs, sample.all_pairs, sample.is_all) == (6, 6, True)
    seen = set()
    with Record.open(folder) as record:
        known = {row.game: row for row in record.games().itertuples()}
        for pairing in sample.data["pairings"]:
            for game in (game for pair in pairing["pairs"] for game in pair):
                seen.add(game["number"])
                row = known[game["number"]]
                names = [sample.data["agents"][game[color]] for color in ("black", "white")]
                assert names == [row.black, row.white]
                assert sorted(pairing["agents"]) == sorted((game["black"], game["white"]))
                check_plies(game, row, record, rules)
    assert seen == set(known)


def check_plies(game: dict[str, Any], row: Any, record: Record, rules: str) -> None:
    position = Position.start(rules)
    assert f"{game['board']} {game['turn']}" == position.to_obf()
    turns = {turn.ply: turn for turn in record.turns([game["number"]]).rows()}
    moves = position.follow(split_transcript(row.transcript))[1]
    assert [square for square, *_ in game["plies"]] == list(moves)
    for ply, (square, flipped, *decided) in enumerate(game["plies"], start=1):
        after = position.play(square)
        changed = (position.black ^ after.black) & (position.white ^ after.white)
        assert sum(1 << square for square in flipped) == changed
        assert bool(flipped) == (square != PASS)
        turn = turns.get(ply)
        stated = turn is not None and turn.nodes is not None
        assert decided[:3] == ([turn.value, turn.nodes, turn.depth] if stated else [])
        position = after


@pytest.mark.integration
def test_of_many_pairings_those_of_the_best(tmp_path: Path) -> None:
    folder = played(tmp_path, {f"random {n}": RandomAgent() for n in range(12)}, games=2)
    with facts_of(folder) as facts:
        sample, standing = game_sample(facts), facts.standings["agent"].tolist()
    assert (sample.pairs, sample.all_pairs, sample.most_shown) == (MOST_PAIRS, 66, 1)
    assert not sample.every_pairing
    names = sample.data["agents"]
    pairings = [pairing["agents"] for pairing in sample.data["pairings"]]
    there = {frozenset(names[agent] for agent in pairing) for pairing in pairings}
    best = standing[:11]  # 55 pairings; the last one meets five of them
    assert {frozenset((one, other)) for one in best for other in best if one != other} <= there
    assert len(there) == MOST_PAIRS
