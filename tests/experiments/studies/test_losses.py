"""Where two agents of a run lose their games, and what agents lose in late positions."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from handmade import handmade
from runs import made

from othello_lab import PASS, Position
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import FINAL_UNIT, Evaluation
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import parse_square
from othello_lab.core.rules import ruleset
from othello_lab.experiments import studies
from othello_lab.experiments.config import read
from othello_lab.experiments.report.late_moves import ALL, costliest, error_profile, judged
from othello_lab.experiments.studies.errors import FEW_OPENINGS, Errors
from othello_lab.experiments.studies.figures.errors import error_figures
from othello_lab.experiments.studies.figures.losses import loss_chart, loss_figures
from othello_lab.experiments.studies.loss_profile import difference_profile, loss_profile
from othello_lab.experiments.studies.losses import Losses
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.experiments.studies.study_session import pieces_of

DEPTH, EXACT = 4, 5
QUICK = [f"study.depth={DEPTH}", f"study.exact={EXACT}", "executor=serial", "figures=false"]


@pytest.fixture(scope="module")
def losses(recorded_duel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def perfect(position: Position) -> int:
    """Return the score by looking at everything, without the solver."""
    return minimax(position, 64, load_evaluation("disc_count")) // FINAL_UNIT


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
def test_losses_are_those_of_a_slow_search(losses: Path) -> None:
    moves, evaluation = studies.load(losses)["moves"], load_evaluation("patterns")
    assert len(moves) > 200 and (moves["loss"] >= 0).all() and moves["loss"].sum() > 0
    assert (moves["exact"] == (moves["empties"] <= EXACT)).all()
    searched = moves[~moves["exact"]]
    some = pd.concat([searched.iloc[::120], searched.tail(3), moves[moves["exact"]].head(4)])
    for row in some.to_dict("records"):
        position = Position.from_obf(row["position"])
        values = {move: discs_after(position, move, evaluation) for move in position.moves}
        best, played = max(values.values()), values[parse_square(row["move"])]
        said = f"{row['move']} in\n{position}"
        assert row["score"] == pytest.approx(best), said
        assert row["loss"] == pytest.approx(best - played), said
        assert row["is_best"] == (played == best), said


@pytest.mark.integration
def test_report_says_who_loses_where(losses: Path) -> None:
    report = (losses / "report.md").read_text()
    assert "In 8 games random gives away" in report and "All moves come from 4 openings" in report
    tables = studies.load(losses)
    whole = tables["losses"].query("result == 'all' and plies == 'all'").set_index("agent")
    moves = tables["moves"]
    for agent, row in whole.iterrows():
        of_agent = moves[moves["agent"] == agent]
        assert row["loss_move"] == pytest.approx(of_agent["loss"].mean())
        assert row["loss_game"] == pytest.approx(of_agent["loss"].sum() / 8)
        assert row["loss_game_low"] <= row["loss_game"] <= row["loss_game_high"]
    gap = tables["differences"].set_index("plies").loc["all", "difference"]
    bands = tables["differences"].query("plies != 'all'")
    assert ("alphabeta loses most" in report) == (bands["difference_low"] > 0).any()
    assert ("random loses most" in report) == (bands["difference_high"] < 0).any()
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
    profile = loss_profile(moves, ["ann", "bob"], 8).set_index(["agent", "result", "plies"])
    assert profile.loc[("ann", ALL, ALL), ["moves", "games", "loss_game"]].tolist() == [2, 3, 1]
    assert profile.loc[("ann", "won", "8-15"), ["loss_move", "depth"]].tolist() == [1.5, 6]
    assert profile.loc[("bob", "lost", ALL), ["moves", "games", "loss_game"]].tolist() == [1, 2, 2]
    gaps = difference_profile(moves, ["ann", "bob"], 8).set_index("plies")["difference"]
    assert gaps.tolist() == pytest.approx([-1 / 3, -1, -4 / 3])


@pytest.mark.parametrize(("agents", "said"), [("abc", "two agents"), ("ab", "record=all")])
def test_a_run_that_cannot_be_judged_is_refused(tmp_path: Path, agents: str, said: str) -> None:
    refused = pytest.raises(ValueError, match=f"^study losses: .*{said}")
    with handmade(tmp_path / "record.sqlite", agents), refused:
        pieces_of(StudyPlan("losses", Losses(), {}, None), tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small study that plays its own games."""
    words = "study errors agents=duel agent@first=random agent@second=alphabeta depth=1 games=6"
    more = "second.endgame=6 study.empties=6 figures=false executor=serial"
    return made(tmp_path_factory.mktemp("errors"), *f"{words} {more}".split())[1]


@pytest.mark.integration
def test_losses_are_those_of_perfect_play(folder: Path) -> None:
    moves = studies.load(folder)["moves"]
    assert len(moves) > 20
    for row in moves[moves["empties"] <= 5].head(15).to_dict("records"):
        position = Position.from_obf(row["position"])
        got = -perfect(position.play(row["move"]))
        score = perfect(position)
        assert (row["score"], row["loss"], row["is_best"]) == (score, score - got, got == score)
    errors = studies.load(folder)["errors"].set_index(["agent", "empties"])
    assert errors.loc[("alphabeta", "all"), "loss"] == 0  # it solves what is left
    assert errors.loc[("random", "all"), "loss"] > 0


def test_it_is_said_in_words_and_a_figure(folder: Path) -> None:
    report = (folder / "report.md").read_text()
    assert "alphabeta made the best" in report and "All moves come from 3 openings" in report
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
    row = judged(position, position.moves[0], solver)
    assert (row["score"], row["loss"], row["turning"]) == (-10, 0, False)


MOVES = pd.DataFrame(
    [("a", 3, 0, True, False), ("a", 2, 4, False, True), ("b", 2, 2, False, False)],
    columns=["opening", "empties", "loss", "is_best", "turning"],
)


def test_profile_has_shares_that_stay_within_0_and_1() -> None:
    profile = error_profile(MOVES.assign(agent="one")).set_index("empties")
    assert profile.loc[ALL, ["moves", "openings", "loss"]].tolist() == [3, 2, 2]
    assert profile.loc[2, ["moves", "loss", "best_share", "turning_share"]].tolist() == [
        2,
        3,
        0,
        0.5,
    ]
    shares = profile.loc[[ALL, 2], [name for name in profile if "share" in name]].to_numpy()
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
