"""What searches leave out of the tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from runs import line_of, made
from students import HERE

from othello_lab import Position
from othello_lab.experiments import studies
from othello_lab.experiments.studies.efficiency import (
    ALL,
    FLOOR,
    MINIMAX,
    compared,
    summary,
    unequal,
)

PARTS = ["executor=serial", "agents=duel", "agent@first=alphabeta", "agent@second=pvs"]
PARTS += ["second.ordering=static"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small study."""
    words = [*PARTS, "study.depths=[1,2,3]", "study.tree_depth=3", "study.positions=2"]
    return made(tmp_path_factory.mktemp("pruning"), "study", "pruning", *words)[1]


@pytest.mark.integration
def test_searches_stand_between_minimax_and_the_smallest_tree(folder: Path) -> None:
    tables = studies.load(folder)
    table = tables["searches"]
    assert (table["value"] == table["minimax_value"]).all()
    assert (table["smallest"] <= table["leaves"]).all()
    alphabeta = table[table["agent"] == "alphabeta"]  # PVS may look at leaves again
    assert (alphabeta["leaves"] <= alphabeta["minimax_leaves"]).all()
    # At one ply nothing can be left out, so there is nothing to be efficient at.
    assert table.loc[table["depth"] == 1, "efficiency"].isna().all()
    assert alphabeta.loc[alphabeta["depth"] == 3, "efficiency"].between(0, 1).all()
    assert {"nodes", "made", "evaluations", "leaves", "cutoffs", "first_move_cutoffs"} <= set(table)
    costs = tables["pruning"]
    whole = costs[(costs["phase"] == ALL) & (costs["depth"] == 3)].set_index("agent")
    assert list(whole.loc[[MINIMAX, FLOOR], "efficiency"]) == [0, 1]
    assert whole.loc[MINIMAX, "nodes_share"] == 1
    assert whole["positions"].eq(6).all()
    assert whole.loc[FLOOR, "ebf"] < whole.loc["pvs", "ebf"] < whole.loc[MINIMAX, "ebf"]
    report, page = ((folder / f"report.{ending}").read_text() for ending in ("md", "html"))
    assert "the fewest leaves" in report and "with an efficiency of" in report
    assert "All 36 searches" in report
    for name in ("tree_sizes", "efficiency", "branching"):
        assert f"(report.html#figure-{name})" in report and f'id="figure-{name}"' in page


@pytest.mark.integration
def test_the_tree_of_a_search_from_outside_is_refused(tmp_path: Path) -> None:
    words = ["agents=duel", f"agent@first={HERE}:Student", "agent@second=minimax"]
    said = line_of("study", "pruning", *words, f"results={tmp_path}", code=2)
    assert "Student" in said and "cannot be studied" in said and "run -m" in said


@pytest.mark.integration
def test_positions_come_from_the_games_of_a_run(recorded_duel: Path, tmp_path: Path) -> None:
    words = [*PARTS, "study.positions=3", "study.depths=[2]", f"study.run={recorded_duel}"]
    _, folder = made(tmp_path, "study", "pruning", *words, "figures=false")
    positions = studies.load(folder)["positions"]
    assert len(positions) == 9 and positions["position"].is_unique
    assert "ruleset=standard" in line_of(
        "study", "pruning", *words, "ruleset=mini6", "evaluation=disc_count", code=2
    )


def test_positions_may_be_those_of_a_file(tmp_path: Path) -> None:
    lines = ["-------------O---XXX-O-----OXO-----XO--------------------------- X", "f5d6c3"]
    (tmp_path / "suite.txt").write_text("\n".join(lines))
    words = f"openings=file openings.file={tmp_path}/suite.txt study.play_out=false"
    words += f" study.depths=[2] figures=false results={tmp_path}"
    result = studies.make("pruning", *PARTS, *words.split(), quiet=True)
    positions = studies.load(result.folder)["positions"]
    assert set(positions["position"]) == {lines[0], Position.from_transcript(lines[1]).to_obf()}


def frames(values: list[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two positions, one agent, with these values; minimax's is 5."""
    keys = {"opening": ["a", "b"], "phase": ["opening"] * 2, "depth": [2, 2], "piece": [0, 1]}
    counts = {"nodes": [100, 10], "leaves": [81, 9], "evaluations": 9, "cutoffs": [0, 4]}
    rest = {"first_move_cutoffs": 1, "table_returns": 0, "made": 0, "seconds": 0.1}
    shared = pd.DataFrame({**keys, **counts, **rest, "evaluation": "x", "selective": False})
    agent = shared.assign(agent="one", leaves=[9, 9], value=values, solved=False)
    return agent, shared.assign(agent=MINIMAX, value=5, smallest=[1, 9])


def test_efficiency_goes_by_logarithms_and_is_blank_where_nothing_can_be_left_out() -> None:
    searches, trees = frames([5, 5])
    table = compared(searches, trees)
    np.testing.assert_allclose(table["efficiency"], [0.5, np.nan])
    costs = summary(table, trees).set_index("agent")
    assert costs.loc["one", "efficiency"] == pytest.approx(0.5)
    assert costs.loc["one", "ebf"] == pytest.approx(3)
    assert costs.loc["one", "first_move_share"] == pytest.approx(2 / 4)
    assert unequal(table).empty


def test_one_slow_first_search_does_not_make_the_time() -> None:
    searches, trees = frames([5, 5])
    more = [searches.assign(piece=piece) for piece in (2, 4)]
    slow = pd.concat([searches.assign(seconds=[9.0, 0.1]), *more], ignore_index=True)
    costs = summary(compared(slow, trees), trees).set_index("agent")
    assert costs.loc["one", "seconds"] == 0.1


def test_a_wrong_value_is_found_unless_the_search_may_have_it() -> None:
    searches, trees = frames([5, 6])
    assert unequal(compared(searches, trees))["piece"].tolist() == [1]
    assert unequal(compared(searches.assign(selective=True), trees)).empty
    assert unequal(compared(searches.assign(solved=True), trees)).empty
    # Where minimax was too dear, the searches are compared with each other.
    both = pd.concat([searches, searches.assign(agent="two", value=5)])
    assert unequal(compared(both, trees.iloc[:0]))["agent"].tolist() == ["two"]
