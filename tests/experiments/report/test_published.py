"""Experiments that repeat what was published: their YAMLs, and their numbers beside the run's."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import played

from othello_lab import AlphaBeta
from othello_lab.agents.composing import choices
from othello_lab.core.notation import square_name
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import RunResult

HEAD = "| | this run [95 %] | original | so large a gap by chance |"


def play(folder: Path, *overrides: str) -> tuple[RunResult, dict[str, list[str]]]:
    """Play a run: its result, and the rows of its table beside the original, by their names."""
    done = played(folder, *overrides)
    text = (done.folder / "report.md").read_text(encoding="utf-8")
    assert "Beside the original" in (done.folder / "report.html").read_text(encoding="utf-8")
    lines = text[text.index("## Beside the original") :].split("\n\n")[1].splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return done, {name: rest for name, *rest in cells[1:]} if lines[0] == HEAD else {}


def percent(cell: str) -> float:
    return float(cell.removeprefix("< ").removesuffix(" %"))


# That of a class needs programs: see test_submissions.py.
@pytest.mark.integration
@pytest.mark.parametrize("name", sorted(set(choices("experiment")) - {"class"}))
def test_every_experiment_can_be_run(name: str) -> None:
    plan = read([f"experiment={name}"])
    assert plan.settings.name == name and len(plan.agents) >= 2
    published = plan.settings.published
    if published is None:
        assert name.startswith(("champion", "learned", "rhino", "tune"))
        return
    for one, row in published.points.items():
        for other, points in row.items():
            back = published.points.get(other, {}).get(one, published.games - points)
            assert points + back == published.games, (one, other)


def test_the_command_line_comes_after_the_experiment() -> None:
    settings = read(["experiment=paip_4ply", "depth=2", "openings.plies=6", "games=2"]).settings
    assert (settings.depth, settings.openings["plies"], settings.games) == (2, 6, 2)
    assert settings.agents["weighted"]["depth"] == 2


def test_paips_table_of_orderings_comes_out_to_the_last_digit() -> None:
    plan = read(["experiment=paip_ordering"])
    assert plan.settings.published is not None
    game = plan.settings.published.game
    assert game is not None
    plies = game.plies()
    assert "".join(square_name(move) for _, move in plies) == "f6c6g4d2f1a3c2c1d1f5d6h4g3e2b6"
    means = []
    for which, measure in (("made", game.made), ("evaluations", game.evaluations)):
        for name, counts in measure.items():
            agent = plan.agents[name]
            assert isinstance(agent, AlphaBeta)
            decisions = [agent.search(position) for position, _ in plies]
            assert [getattr(made.stats, which) for made in decisions] == counts, (name, which)
            assert [decision.move for decision in decisions] == [move for _, move in plies]
            means.append(round(sum(counts) / len(counts)))
    assert means == [24743, 20003, 15627, 18777, 20004, 11737]  # as in the book


@pytest.mark.integration
def test_searches_and_the_plies_of_a_game_stand_beside_the_original(tmp_path: Path) -> None:
    done, rows = play(tmp_path, "experiment=paip_ordering", "depth=3", "games=8")
    measures, orders = ("made", "evaluations"), ("sorted", "static")
    names = [f"{order}, {measure}, none = 1" for measure in measures for order in orders]
    assert list(rows) == names
    assert [row[1] for row in rows.values()] == ["0.81", "0.63", "1.07", "0.63"]
    assert all(percent(row[2]) >= 19.9 for row in rows.values()), "one of five games, at least"
    text = (done.folder / "report.md").read_text(encoding="utf-8")
    assert text.count("0 of 45 counts are equal") == 2, "the original searched six plies"
    assert "| f6 | " in text and "| 13,912 |" in text


def test_the_series_of_18_8_is_the_books(tmp_path: Path) -> None:
    done, _ = play(tmp_path, "experiment=paip_series")
    games = done.games
    first = games["black"] == "modified_weighted"
    assert games["disc_difference"].where(first, -games["disc_difference"]).tolist() == [-28, 40]
    assert "-28 40 -28 40" in (done.folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("games", "points", "least", "most"), [(10, 6.5, 60, 100), (10, 0, 0, 0.3), (9, 9, 0.1, 5)]
)
@pytest.mark.integration
def test_the_probability_of_a_gap(
    tmp_path: Path, games: int, points: float, least: float, most: float
) -> None:
    """Greedy makes about two thirds of the points; nine of nine are three deviations more."""
    line_up = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=200"]
    table = f"points: {{greedy: {{random: {points}}}}}"
    published = f"+published={{source: A book, games: {games}, {table}}}"
    done, rows = play(tmp_path, *line_up, published)
    ours, original, chance = rows["greedy against random"]
    share = 100 * done.standings.set_index("agent").loc["greedy", "score"]
    assert ours.startswith(f"{share:.1f} % [") and ours.endswith("of 200 games")
    assert original == f"{points:g} of {games}"
    assert least <= percent(chance) <= most


@pytest.mark.integration
def test_points_of_all_pairings_stand_beside_the_original(tmp_path: Path) -> None:
    done, rows = play(tmp_path, "experiment=paip_1ply", "games=6")
    score = done.standings.set_index("agent").loc["weighted", "score"]
    ours, original, _ = rows["weighted against all"]
    assert ours.startswith(f"{100 * score:.1f} % [") and original == "28 of 40"
    assert len(rows) == 5 + 10 + 1
    assert 0 < percent(rows["10 pairings together"][-1]) <= 100
