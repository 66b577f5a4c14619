"""What a report says beyond the standings: matches, repeated games, sequential tests."""

from __future__ import annotations

import html
import math
import sqlite3
from contextlib import closing
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from records import edit_moves
from rich.console import Console

from othello_lab import Decision, GreedyAgent, Limits, Position, RandomAgent, run_match
from othello_lab.agents.config import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import RunResult, run
from othello_lab.experiments.pairing.sprt import SequentialMatch
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.findings import FEW, _about_late_moves, _about_time, repeated
from othello_lab.experiments.report.tables import (
    COLUMNS,
    MATCH_COLUMNS,
    _per_second,
    described,
    match_columns,
    standings_tables,
)
from othello_lab.experiments.statistics.sequential import Sprt

SOURCE = Path(__file__).read_text(encoding="utf-8").splitlines()


def play(folder: Path, *overrides: str) -> tuple[RunResult, str, str]:
    """A run, what it printed and its report.md."""
    console = Console(record=True, width=120, file=StringIO())
    plan = read([f"results={folder}", "executor=serial", "figures=false", *overrides])
    result = run(plan, "test", console)
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    page = (result.folder / "report.html").read_text(encoding="utf-8")
    assert page.count('<h2 id="match-by-match">') == 1
    return result, console.export_text(), report


DUEL = ("agents=duel", "agent@first=greedy", "agent@second=random")


@pytest.mark.integration
def test_a_duel_shows_its_match_on_the_terminal_and_in_the_report(tmp_path: Path) -> None:
    result, printed, report = play(tmp_path, *DUEL, "games=40")
    (row,) = result.matches.itertuples()
    assert len(pd.read_csv(result.folder / "matches.csv")) == 1
    standings = result.standings.set_index("agent")
    assert (row.first, row.wins) == ("greedy", standings.loc["greedy", "wins"])
    assert row.wins + row.draws + row.losses == 40
    shown = match_columns(result.matches)
    assert set(MATCH_COLUMNS) - set(shown) == {"nElo [95 %]", "pairs", "ends"}
    for name, cell in shown.items():
        assert name in report
        assert f" {cell(row)} " in report
    assert "greedy -" in printed
    assert MATCH_COLUMNS["nElo [95 %]"](row) in printed
    assert "| distinct games | 40, move for move" in report
    assert "| independent results | 20 openings, shared by all pairings" in report
    assert "superiority" not in report  # of two, LOS says it
    assert "very pair split" not in report


@pytest.mark.integration
def test_many_agents_get_no_matches_on_the_terminal(tmp_path: Path) -> None:
    words = ("agents=classics", "games=4", "agents.alphabeta_5.depth=2", "rating.anchor=greedy")
    result, printed, report = play(tmp_path, *words)
    assert "as the first sees it" not in printed
    assert len(pd.read_csv(result.folder / "matches.csv")) == 15
    assert result.standings.set_index("agent").loc["greedy", "elo"] == 0
    assert "Elo is relative to greedy" in report
    assert "0 (anchor)" in report


@pytest.mark.integration
def test_blacks_advantage_is_told_on_request(tmp_path: Path) -> None:
    _, printed, report = play(tmp_path, *DUEL, "games=40", "rating.colour_advantage=true")
    assert "Black's advantage: " in printed
    assert "Black's advantage: " in report


def test_an_anchor_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match=r"unknown rating.anchor 'randm'; choose from greedy"):
        read([*DUEL, "rating.anchor=randm"])


def test_two_agents_without_chance_and_one_opening(tmp_path: Path) -> None:
    """Ten pairs, of which nine are the first again: one pair is what is known."""
    words = ("agents=duel", "agent@first=weighted", "agent@second=greedy", "games=20")
    result, printed, report = play(tmp_path, *words, "openings=start", "openings.repeats=true")
    (row,) = pd.read_csv(result.folder / "matches.csv").itertuples()
    assert (row.games, row.distinct_games, row.all_pairs, row.pairs) == (20, 2, 10, 1)
    told = "from the one opening only 1 of their 10 pairs are distinct"
    assert told in " ".join(printed.split())
    assert told in report
    assert "| distinct games | 2, move for move" in report
    assert "| independent results | 1 opening, with up to 1 distinct pair of a pairing" in report
    assert "so no interval can be given" in report or row.bound or row.split
    assert ("*Every pair split*" in report) == ("| every pair split |" in report)


def test_agents_may_have_any_names(tmp_path: Path) -> None:
    names = ["a|b <i>*x*</i>", "[bold]_y_ `"]
    agents = dict(zip(names, (GreedyAgent(), RandomAgent()), strict=True))
    done = run_match(agents, games=4, results=tmp_path, workers=0, figures=False, quiet=True)
    console = Console(record=True, width=120, file=StringIO())
    for shown in standings_tables(done.standings, console):
        console.print(shown)
    printed = console.export_text()
    page = (done.folder / "report.html").read_text(encoding="utf-8")
    for name in names:
        assert name in printed
        assert (
            page.count(f"<td>{html.escape(name)}</td>") == 6
        )  # standings, colours, costs, counts, a match
        assert f"<strong>{html.escape(name)}</strong>" in page


@pytest.mark.parametrize("width", [60, 80, 200])
def test_what_a_narrow_terminal_leaves_out_is_said(width: int, tmp_path: Path) -> None:
    agents = {"greedy": GreedyAgent(), "random": RandomAgent()}
    done = run_match(agents, games=4, results=tmp_path, workers=0, figures=False, quiet=True)
    console = Console(record=True, width=width, file=StringIO())
    (shown,) = standings_tables(done.standings, console)
    console.print(shown)
    printed = " ".join(console.export_text().split())
    headings = [str(column.header) for column in shown.columns]
    there = {each.replace("\n/", "/").replace("\n", " ") for each in headings}
    assert {"agent", "score %", "Elo [95 %]"} <= there
    told = printed.partition("no room here for ")[2].removesuffix(": see the report")
    assert set(told.split(", ")) - {""} == set(COLUMNS) - there
    assert bool(told) == (width < 200)


class Slips(RandomAgent):
    """Fails in every game."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        if position.empties < 50:
            raise TypeError("[red]no such move[/red]\nof mine\x1b[2J")
        return super().decide(position, limits)


def test_forfeits_are_told_with_their_last_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = {"greedy": GreedyAgent(), "slips": Slips()}
    done = run_match(
        agents, games=4, results=tmp_path, workers=0, isolation="none", figures=False, quiet=False
    )
    (line,) = (
        number
        for number, text in enumerate(SOURCE, 1)
        if text.lstrip().startswith("raise TypeError")
    )
    place = f"(test_report.py, line {line})"
    assert set(done.games["detail"]) == {f"of mine\x1b[2J {place}"}
    told = f"slips forfeited 4 games: raised an exception, of mine\\x1b[2J {place} (see log.txt)."
    assert told in " ".join(capsys.readouterr().out.split())
    assert "of mine" in (done.folder / "report.html").read_text(encoding="utf-8")


def test_a_result_shows_in_a_notebook_and_knows_its_matches(tmp_path: Path) -> None:
    agents = {"<b>greedy</b>": GreedyAgent(), "random": RandomAgent()}
    done = run_match(agents, games=4, results=tmp_path, workers=0, figures=False, quiet=True)
    shown = done._repr_html_()
    assert "&lt;b&gt;greedy&lt;/b&gt;" in shown and str(done.folder) in shown
    (row,) = done.matches.itertuples()
    assert (row.first, row.second, row.games) == ("<b>greedy</b>", "random", 4)


def repetitions(**columns: list[int]) -> pd.DataFrame:
    rows = len(columns["pairs"])
    names = {"first": [f"a{n}" for n in range(rows)], "second": [f"b{n}" for n in range(rows)]}
    return pd.DataFrame(names | columns)


def test_repeated_pairs_are_told_and_why() -> None:
    assert not list(repeated(repetitions(all_pairs=[50], pairs=[50], openings=[50])))
    (out_of_openings,) = repeated(repetitions(all_pairs=[50], pairs=[10], openings=[10]))
    assert "a0 and b0 play without chance" in out_of_openings
    assert "only 10 of their 50 pairs" in out_of_openings
    (by_chance,) = repeated(repetitions(all_pairs=[50], pairs=[45], openings=[10]))
    assert by_chance.startswith("5 of the 50 pairs of a0 and b0 repeat an earlier one")
    many = FEW + 1
    table = repetitions(all_pairs=[50] * many, pairs=[10, 20, 20, 20], openings=[10] * many)
    (folded,) = repeated(table)
    assert f"In {many} pairings" in folded
    assert "only 70 of their 200 pairs are distinct" in folded
    assert "in 1 of them both agents play without chance" in folded


def test_the_outcome_of_a_sequential_test_is_told() -> None:
    test = Sprt(0, 10)
    accepted = test.outcome([30, 90, 300, 120, 60])
    assert "H1 was accepted after 600 pairs" in accepted
    assert f"LLR {test.llr([30, 90, 300, 120, 60]):+.2f}, bounds -2.94 and +2.94" in accepted
    undecided = test.outcome([0, 0, 1, 0, 0])
    assert "no decision after 1 pair;" in undecided
    told = SequentialMatch(0, 10).outcome(np.array([[[0] * 5, [30, 90, 300, 120, 60]]]))
    assert told.startswith(accepted) and "+25 [11, 39]" in told and "median-unbiased" in told


def test_agents_are_described_by_what_sets_them_apart() -> None:
    settings = read(["agents=search_family", "agents.minimax.compiled=false"]).settings.agents
    told = described(settings)
    assert told["minimax"] == "Minimax, depth 4, evaluation SquareWeights, compiled False"
    assert told["ab_none"].endswith("evaluation SquareWeights, ordering none, compiled True")
    assert "table_mb 16, etc True, iterative True" in told["mtdf_table"]
    assert "endgame" not in "".join(told.values())  # everybody has it as it is by default
    weights = read(["agents=heuristics"]).settings.agents
    assert "weights corners 25 mobility 8 stable_discs 12" in described(weights)["composite"]
    learned = read(["agents=learned"]).settings.agents
    assert described(learned)["tuned"] == "AlphaBeta, depth 4, evaluation Composite, 15 stages"
    program = {"mine": {"object": "__main__.Mine", "depth": 3, "trace": None}}
    assert described(program) == {"mine": "Mine, depth 3"}


# ---------------------------------------------------------------------- the clock


@pytest.mark.integration
@pytest.mark.parametrize(("share", "told"), [(0.5, True), (0.99, False), (None, False)])
def test_little_processor_time_for_much_thinking_is_told(
    tmp_path: Path, share: float | None, told: bool
) -> None:
    words = ["agents=duel", "agent@first=iterative", "agent@second=random", "games=2"]
    words += ["executor=serial", "figures=false", f"results={tmp_path}", "first.depth=1"]
    plan = read([*words, "limits.seconds=9"])
    folder = run(plan, "test", Console(quiet=True)).folder
    with closing(sqlite3.connect(folder / "games.sqlite")) as connection, connection:
        edit_moves(
            connection,
            f"update moves set nanoseconds = 1000, cpu_nanoseconds = {1000 * (share or 0):.0f}",
            "select 1" if share else "delete from moves",
        )
    with Record.open(folder) as record:
        said = [line for line in _about_time(record, plan) if "oversubscribed" in line]
    assert len(said) == told
    assert not told or "50 % of their thinking time" in said[0]


def test_moves_that_stand_though_late_by_the_wall_clock_are_counted(tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=2"]
    words += ["figures=false", f"results={tmp_path}", "isolation=none", "executor=serial"]
    plan = read([*words, "limits.seconds=9"])
    folder = run(plan, "test", Console(quiet=True)).folder
    with Record.open(folder) as record:
        assert list(_about_late_moves(record, plan)) == []
    with closing(sqlite3.connect(folder / "games.sqlite")) as connection, connection:
        late = "update moves set late = 1 where agent = 0 and ply < 20 and game = 0"
        edit_moves(connection, late)
    with Record.open(folder) as record:
        (said,) = _about_late_moves(record, plan)
        moves = record.query("select * from moves where late = 1")
    assert f": greedy {len(moves)}. They stand" in said
    assert "isolation=none" in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("nodes", "text"),
    [(math.nan, "-"), (0, "-"), (999, "999"), (1000, "1\u00a0k"), (1_250_000, "1.2\u00a0M")],
)
def test_nodes_a_second_in_few_digits(nodes: float, text: str) -> None:
    assert _per_second(nodes) == text
