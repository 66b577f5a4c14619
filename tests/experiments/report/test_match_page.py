"""The page of a match of two agents: judged moves, colours, phases."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from othello_lab import match
from othello_lab.agents.config import ConfigError
from othello_lab.agents.evaluation.helpers import CORNERS, count
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import parse_square
from othello_lab.core.position import Position
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.result import RunResult
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.disagreements import Judge, disagreements


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    place = str(tmp_path_factory.mktemp("match"))
    asked = "judging.disagreements=8", "judging.depth=4", "executor=serial"
    return match("iago", "disc_count", *asked, games=12, depth=2, results=place)


@pytest.mark.integration
def test_positions_are_met_by_both_with_these_moves(played: RunResult) -> None:
    with Record.open(played.folder) as record:
        found = disagreements(record, 8, 1, 4)
        names = record.agents()["name"].tolist()
    moves = played.moves
    assert 0 < len(found) <= 8
    assert found["gap"].abs().is_monotonic_decreasing
    for row in found.to_dict("records"):
        assert row["first"] != row["second"]
        position = Position.from_obf(row["position"])
        for place, name in zip(("first", "second"), names, strict=True):
            made = moves[(moves["game"] == row[f"{place}_game"]) & (moves["move"] == row[place])]
            assert made["agent"].tolist() == [name]
            assert parse_square(row[place]) in position.moves


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
def test_the_page_has_names_and_tables_of_the_two(played: RunResult) -> None:
    text = (played.folder / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# iago against disc_count")
    for heading in ("Where they disagree most", "By colour", "By phase of the game"):
        assert f"## {heading}" in text
    assert "against perfect play" in text
    assert played.findings[0].startswith("iago leads")
    block = text.partition("## By colour")[2].partition("##")[0]
    rows = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("| ")]
    counts = {(row[0], row[1]): list(map(int, row[2:5])) for row in rows[1:]}
    assert len(counts) == 4
    assert all(sum(found) == 6 for found in counts.values())
    iago = zip(counts["iago", "Black"], counts["iago", "White"], strict=True)
    table = played.summary.set_index("agent")
    assert [*map(sum, iago)] == table.loc["iago", ["wins", "draws", "losses"]].tolist()


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
    record: Any = SimpleNamespace(run=lambda: {"ruleset": rules}, agents=lambda: range(agents))
    assert disagreements(record, 8, 1, 4).empty  # no position is read
