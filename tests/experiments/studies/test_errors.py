"""What agents lose in late positions."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from runs import made

from othello_lab import PASS, Position
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.rules import ruleset
from othello_lab.experiments import studies
from othello_lab.experiments.config import read
from othello_lab.experiments.report.late_moves import ALL, costliest, error_profile, judged
from othello_lab.experiments.studies.errors import FEW_OPENINGS, Errors
from othello_lab.experiments.studies.figures.errors import error_figures


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small study that plays its own games."""
    words = "study errors agents=duel agent@first=random agent@second=alphabeta depth=1 games=6"
    more = "second.endgame=6 study.empties=6 figures=false executor=serial"
    return made(tmp_path_factory.mktemp("errors"), *f"{words} {more}".split())[1]


def best_score(position: Position) -> int:
    """By looking at everything, without the solver."""
    if position.is_over:
        return position.disc_difference
    return max(-best_score(position.play(move)) for move in position.moves or (PASS,))


@pytest.mark.integration
def test_losses_are_those_of_perfect_play(folder: Path) -> None:
    moves = studies.load(folder)["moves"]
    assert len(moves) > 20
    for row in moves[moves["empties"] <= 5].head(15).to_dict("records"):
        position = Position.from_obf(row["position"])
        got = -best_score(position.play(row["move"]))
        score = best_score(position)
        assert (row["score"], row["loss"], row["is_best"]) == (score, score - got, got == score)
    errors = studies.load(folder)["errors"].set_index(["agent", "empties"])
    assert errors.loc[("alphabeta", "all"), "loss"] == 0  # it solves what is left
    assert errors.loc[("random", "all"), "loss"] > 0


def test_it_is_said_in_words_and_a_figure(folder: Path) -> None:
    told = (folder / "report.md").read_text()
    assert "alphabeta made the best" in told and "All moves come from 3 openings" in told
    assert (folder / "games" / "record.sqlite").is_file()
    profile = studies.load(folder)["errors"]
    costly = costliest(studies.load(folder)["moves"], 2)
    figure, drawn = error_figures(profile, costly, ruleset("standard"), "some moves")
    assert drawn.name == "costly_moves" and len(drawn.chart.axes) == 2
    assert "95 % intervals" in figure.caption
    left, right = figure.chart.axes
    assert {line.get_label() for line in left.lines} == {"alphabeta", "random"}
    for axes, measure, scale in ((left, "loss", 1), (right, "best_share", 100)):
        for line, band in zip(axes.lines, axes.collections, strict=True):
            rows = profile[(profile["agent"] == line.get_label()) & (profile["empties"] != "all")]
            assert sorted(line.get_ydata()) == sorted(scale * rows[measure])
            edges = band.get_paths()[0].vertices[:, 1]
            assert edges.min() == scale * rows[f"{measure}_low"].min()
            assert edges.max() == scale * rows[f"{measure}_high"].max()


@pytest.mark.integration
def test_a_run_is_judged_with_its_own_agents(recorded_duel: Path, tmp_path: Path) -> None:
    words = [f"study.run={recorded_duel}", "study.empties=3", "study.positions=5"]
    _, folder = made(tmp_path, "study", "errors", *words, "executor=serial", "figures=false")
    assert "**alphabeta**" in (folder / "report.md").read_text()


def test_a_turning_move_changes_the_outcome() -> None:
    solver = EndgameSolver(1)
    position = Position.start("mini4")  # which Black loses by 10, whatever the first move is
    about = judged(position, position.moves[0], solver)
    assert (about["score"], about["loss"], about["turning"]) == (-10, 0, False)


MOVES = pd.DataFrame(
    [("a", 3, 0, True, False), ("a", 2, 4, False, True), ("b", 2, 2, False, False)],
    columns=["opening", "empties", "loss", "is_best", "turning"],
)


def test_profile_has_shares_that_stay_within_0_and_1() -> None:
    found = error_profile(MOVES.assign(agent="one")).set_index("empties")
    assert found.loc[ALL, ["moves", "openings", "loss"]].tolist() == [3, 2, 2]
    assert found.loc[2, ["moves", "loss", "best_share", "turning_share"]].tolist() == [2, 3, 0, 0.5]
    shares = found.loc[[ALL, 2], [name for name in found if "share" in name]].to_numpy()
    assert ((shares >= 0) & (shares <= 1)).all()


@pytest.mark.parametrize(("step", "overlap"), [(0, True), (5, False)])
@pytest.mark.parametrize("openings", [FEW_OPENINGS - 1, FEW_OPENINGS])
def test_the_most_costly_agent_is_sure_if_the_intervals_are_apart(
    step: int, overlap: bool, openings: int
) -> None:
    """Each opening costs bob as much more than ann as the step says; the first one a disc."""
    rows = [
        (name, f"{opening}", 2, opening % 3 + dear * (step or opening == 0), False, False)
        for dear, name in enumerate(("ann", "bob"))
        for opening in range(openings)
    ]
    moves = pd.DataFrame(rows, columns=["agent", *MOVES.columns])
    moves = moves.assign(game=1, move="a1", best="a2", score=0, position="")
    plan = read(["agents=duel", "agent@first=random", "agent@second=greedy"])
    said = Errors().conclude(plan, {"moves": moves}).findings
    assert said[1].startswith("bob lost most")
    assert ("overlap" in said[1]) == overlap
    assert len(said) == 3 + (openings < FEW_OPENINGS)
