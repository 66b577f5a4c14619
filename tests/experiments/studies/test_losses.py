"""Where two agents of a run lose their games."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from handmade import handmade
from runs import made

from othello_lab import PASS, Position
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import FINAL_UNIT, Evaluation
from othello_lab.core.notation import parse_square
from othello_lab.experiments import studies
from othello_lab.experiments.report.late_moves import ALL
from othello_lab.experiments.studies.figures.losses import loss_chart, loss_figures
from othello_lab.experiments.studies.loss_profile import difference_profile, loss_profile
from othello_lab.experiments.studies.losses import Losses
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.experiments.studies.study_session import pieces_of

DEPTH, EXACT = 4, 5
QUICK = [f"study.depth={DEPTH}", f"study.exact={EXACT}", "executor=serial", "figures=false"]


@pytest.fixture(scope="module")
def folder(recorded_duel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study of alpha-beta's eight games against a random agent."""
    return study(tmp_path_factory.mktemp("losses"), f"study.run={recorded_duel}")


def study(results: Path, *words: str) -> Path:
    """Make a study that succeeds; return its folder."""
    return made(results, "study", "losses", *QUICK, *words)[1]


def minimax(position: Position, depth: int, evaluation: Evaluation) -> int:
    """Return the value by looking at everything, without the compiled search."""
    if position.is_over:
        return FINAL_UNIT * position.disc_difference
    if depth == 0:
        return evaluation.plain(position)
    moves = position.moves or (PASS,)
    return max(-minimax(position.play(move), depth - 1, evaluation) for move in moves)


def discs_after(position: Position, move: int, evaluation: Evaluation) -> float:
    """Return the value of a move in discs, the mean of both depths; at the end its exact value."""
    after = position.play(move)
    if position.empties <= EXACT:
        return -minimax(after, 60, evaluation) / FINAL_UNIT
    assert evaluation.per_disc is not None
    values = [-minimax(after, depth, evaluation) for depth in (DEPTH - 2, DEPTH - 1)]
    units = [FINAL_UNIT if abs(value) >= FINAL_UNIT else evaluation.per_disc for value in values]
    return sum(value / unit for value, unit in zip(values, units, strict=True)) / 2


@pytest.mark.integration
def test_losses_are_those_of_a_slow_search(folder: Path) -> None:
    moves, evaluation = studies.load(folder)["moves"], load_evaluation("patterns")
    assert len(moves) > 200 and (moves["loss"] >= 0).all() and moves["loss"].sum() > 0
    assert (moves["exact"] == (moves["empties"] <= EXACT)).all()
    searched = moves[~moves["exact"]]
    some = pd.concat([searched.iloc[::60], searched.tail(4), moves[moves["exact"]].head(6)])
    for row in some.to_dict("records"):
        position = Position.from_obf(row["position"])
        values = {move: discs_after(position, move, evaluation) for move in position.moves}
        best, played = max(values.values()), values[parse_square(row["move"])]
        said = f"{row['move']} in\n{position}"
        assert row["score"] == pytest.approx(best), said
        assert row["loss"] == pytest.approx(best - played), said
        assert row["is_best"] == (played == best), said


@pytest.mark.integration
def test_report_says_who_loses_where(folder: Path) -> None:
    told = (folder / "report.md").read_text()
    assert "In 8 games random gives away" in told and "All moves come from 4 openings" in told
    tables = studies.load(folder)
    whole = tables["losses"].query("result == 'all' and plies == 'all'").set_index("agent")
    moves = tables["moves"]
    for agent, row in whole.iterrows():
        own = moves[moves["agent"] == agent]
        assert row["loss_move"] == pytest.approx(own["loss"].mean())
        assert row["loss_game"] == pytest.approx(own["loss"].sum() / 8)
        assert row["loss_game_low"] <= row["loss_game"] <= row["loss_game_high"]
    gap = tables["differences"].set_index("plies").loc["all", "difference"]
    bands = tables["differences"].query("plies != 'all'")
    assert ("alphabeta loses most" in told) == (bands["difference_low"] > 0).any()
    assert ("random loses most" in told) == (bands["difference_high"] < 0).any()
    by_game = whole["loss_game"]
    assert gap == pytest.approx(by_game["alphabeta"] - by_game["random"])
    assert moves["microseconds"].notna().all()
    assert (moves.loc[moves["agent"] == "alphabeta", "depth"] == 1).all()
    figures = list(loss_figures(tables["losses"], "some", 56))
    assert figures[0].name == "losses_by_ply" and "95 % intervals" in figures[0].caption
    chart = loss_chart(tables["losses"].query("result == 'all' and plies != 'all'"), "some", 56)
    labels = [axes.get_ylabel() for axes in chart.axes]
    assert labels == ["discs given away a game", "mean time a move", "plies ahead (mean)"]


@pytest.mark.integration
def test_games_and_plies_are_chosen(recorded_duel: Path, tmp_path: Path) -> None:
    words = ["study.games=2", "study.first_ply=50", "study.last_ply=55", "study.band=3"]
    tables = studies.load(study(tmp_path, f"study.run={recorded_duel}", *words))
    assert tables["moves"]["game"].nunique() == 2
    assert tables["moves"]["ply"].between(50, 55).all()
    assert set(tables["differences"]["plies"]) <= {"48-50", "51-53", "54-56", ALL}


@pytest.mark.integration
def test_balanced_games_are_half_lost_by_each(tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=random", "agent@second=greedy", "games=20"]
    folder = study(tmp_path, *words, "study.balanced=true", "study.first_ply=57")
    moves = studies.load(folder)["moves"]
    profile = loss_profile(moves, list(dict.fromkeys(moves["agent"])), 8)
    games = profile[profile["plies"] == ALL].set_index(["result", "agent"])["games"]
    assert "drawn" not in games
    assert len(set(games["won"])) == 1 and games["won"].tolist() == games["lost"].tolist()


def test_profiles_count_games_without_moves() -> None:
    rows = [
        (0, "a", "ann", "won", 9, 1.0, 1.0, 5),
        (0, "a", "bob", "lost", 10, 4.0, 2.0, None),
        (1, "b", "ann", "won", 9, 2.0, 3.0, 7),
        (2, "c", "bob", "drawn", 20, 3.0, None, None),
    ]
    columns = "game opening agent result ply loss microseconds depth"
    moves = pd.DataFrame(rows, columns=columns.split())
    found = loss_profile(moves, ["ann", "bob"], 8).set_index(["agent", "result", "plies"])
    assert found.loc[("ann", ALL, ALL), ["moves", "games", "loss_game"]].tolist() == [2, 3, 1]
    assert found.loc[("ann", "won", "8-15"), ["loss_move", "depth"]].tolist() == [1.5, 6]
    assert found.loc[("bob", "lost", ALL), ["moves", "games", "loss_game"]].tolist() == [1, 2, 2]
    gaps = difference_profile(moves, ["ann", "bob"], 8).set_index("plies")["difference"]
    assert gaps.tolist() == pytest.approx([-1 / 3, -1, -4 / 3])


@pytest.mark.parametrize(("agents", "said"), [("abc", "two agents"), ("ab", "record=all")])
def test_a_run_that_cannot_be_judged_is_refused(tmp_path: Path, agents: str, said: str) -> None:
    refused = pytest.raises(ValueError, match=f"^study losses: .*{said}")
    with handmade(tmp_path / "record.sqlite", agents), refused:
        pieces_of(StudyPlan("losses", Losses(), {}, None), tmp_path)
