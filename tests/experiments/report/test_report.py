"""What a report says beyond the standings: matches, repeated games, sequential tests."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from misbehaving import Resigns
from rich.console import Console
from runs import printed
from shared import copied

from othello_lab import Decision, GreedyAgent, Limits, Position, RandomAgent, run_match
from othello_lab.__main__ import main
from othello_lab.core.game import RESIGNED
from othello_lab.core.system.cli import DISTRIBUTION
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import RunResult, run
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.pairing.match_of_two import SequentialMatch
from othello_lab.experiments.record.provenance import COMMIT, PACKAGES
from othello_lab.experiments.report import progress
from othello_lab.experiments.report.citing import bibtex, pinned
from othello_lab.experiments.report.figures.drawing import axis_time
from othello_lab.experiments.report.findings import FEW, repeated
from othello_lab.experiments.report.progress import Tally, progress_bar
from othello_lab.experiments.report.tables import (
    COLUMNS,
    described,
    matches_table,
    result_table,
    standings_tables,
    time_text,
)
from othello_lab.experiments.results.listing import list_command
from othello_lab.experiments.statistics.sequential import Sprt

Capture = pytest.CaptureFixture[str]


@pytest.mark.integration
def test_two_agents_without_chance_and_one_opening(tmp_path: Path) -> None:
    """Ten pairs, of which nine are the first again: one pair is what is known."""
    words = ["agents=duel", "agent@first=weighted", "agent@second=greedy", "games=20"]
    words += ["openings=start", "openings.repeats=true", "executor=serial", "figures=none"]
    console = Console(record=True, width=120, file=StringIO())
    result = run(read([f"results={tmp_path}", *words]), "test", console)
    printed = " ".join(console.export_text().split())
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    (row,) = pd.read_csv(result.folder / "matches.csv").itertuples()
    assert (row.games, row.distinct_games, row.all_pairs, row.pairs) == (20, 2, 10, 1)
    assert all("only 1 of their 10 pairs" in text for text in (printed, report))
    assert "| distinct games | 2," in report
    assert "| independent results | 1 opening, with up to 1 distinct pair" in report
    assert "no interval can be given" in report or row.bound or row.split
    assert ("*Every pair split*" in report) == ("| every pair split |" in report)


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    agents = dict(zip(NAMES, (GreedyAgent(), RandomAgent()), strict=True))
    results = tmp_path_factory.mktemp("results")
    return run_match(agents, games=4, results=results, workers=0, figures=False, quiet=True)


NAMES = ["a|b <i>*x*</i>", "[bold]_y_ `"]


def test_agents_may_have_any_names(named: RunResult) -> None:
    page = (named.folder / "report.html").read_text(encoding="utf-8")
    for name in map(html.escape, NAMES):
        assert page.count(f"<td>{name}</td>") == 6  # standings, colours, costs, counts, a match
        assert f"<strong>{name}</strong>" in page
    shown = named._repr_html_()
    assert html.escape(NAMES[0]) in shown and str(named.folder) in shown
    (row,) = named.matches.itertuples()
    assert ({row.agent, row.opponent}, row.games) == (set(NAMES), 4)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_what_a_narrow_terminal_leaves_out_is_said(width: int, named: RunResult) -> None:
    console = Console(record=True, width=width, file=StringIO())
    (shown,) = standings_tables(named.standings, console)
    console.print(shown)
    printed = " ".join(console.export_text().split())
    headings = [str(column.header) for column in shown.columns]
    there = {heading.replace("\n/", "/").replace("\n", " ") for heading in headings}
    assert {"agent", "score %", "Elo [95 %]"} <= there
    missing = printed.partition("no room here for ")[2].removesuffix(": see the report")
    assert set(missing.split(", ")) - {""} == set(COLUMNS) - there
    assert bool(missing) == (width < 200)
    assert width < 200 or all(name in printed for name in NAMES)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_table_breaks_a_number(width: int, named: RunResult) -> None:
    console = Console(record=True, width=width, file=StringIO())
    counts = [f"{10**digits:,}" for digits in range(9)]
    wide = ResultTable("wide", ["agent", *(f"count {n}" for n in range(9))], [["a name", *counts]])
    tables = [*standings_tables(named.standings, console), matches_table(named.matches)]
    for table in (*tables, result_table(wide)):
        console.print(table)
    printed = console.export_text()
    for table in tables:
        for column in (column for column in table.columns if column.justify == "right"):
            assert all(f" {cell} " in printed for cell in column.cells)
    assert all(f" {count} " in printed for count in counts)
    assert max(map(len, printed.splitlines())) <= width


@pytest.mark.integration
def test_a_narrow_terminal_shows_the_dates_of_folders_whole(recorded_duel: Path) -> None:
    console = Console(record=True, width=80, file=StringIO())
    assert list_command([str(recorded_duel.parent.parent)], console) == 0
    assert f" {recorded_duel.name} " in console.export_text()


class Slips(RandomAgent):
    """Fails in every game."""

    def decide(self, position: Position, limits: Limits) -> Decision:
        if position.empties < 50:
            raise TypeError("[red]no such move[/red]\nof mine\x1b[2J")
        return super().decide(position, limits)


def test_forfeits_are_told_with_their_last_line(tmp_path: Path, capsys: Capture) -> None:
    agents = {"greedy": GreedyAgent(), "slips": Slips()}
    quick: dict[str, Any] = {"workers": 0, "isolation": "none", "figures": False}
    done = run_match(agents, games=4, results=tmp_path, quiet=False, **quick)
    (detail,) = set(done.games["detail"])
    assert re.fullmatch(r"of mine\x1b\[2J \(test_report\.py, line \d+\)", detail)
    printed = " ".join(capsys.readouterr().out.split())
    assert "slips forfeited 4 games" in printed and detail.replace("\x1b", r"\x1b") in printed
    assert "of mine" in (done.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.integration
def test_a_resignation_is_a_loss_and_no_forfeit(tmp_path: Path, capsys: Capture) -> None:
    agents = {"greedy": GreedyAgent(), "meek": Resigns(after=5)}
    quick: dict[str, Any] = {"workers": 0, "isolation": "none", "figures": False}
    done = run_match(agents, games=8, results=tmp_path, quiet=False, **quick)
    assert set(done.games["end_reason"]) == {RESIGNED}
    assert not done.standings["forfeits"].any()
    report = (done.folder / "report.md").read_text(encoding="utf-8")
    for text in (capsys.readouterr().out, report):
        assert "greedy leads meek" in text
        assert "forfeited 8" not in text and "not measure strength" not in text
    assert re.search(r"resigned \| *meek *\| *8", report)
    assert main(["verify", str(done.folder)]) == 0


def repetitions(**columns: list[int]) -> pd.DataFrame:
    rows = len(columns["pairs"])
    names = {"agent": [f"a{n}" for n in range(rows)], "opponent": [f"b{n}" for n in range(rows)]}
    return pd.DataFrame(names | columns)


def test_repeated_pairs_are_told_and_why() -> None:
    assert not list(repeated(repetitions(all_pairs=[50], pairs=[50], openings=[50])))
    (out_of_openings,) = repeated(repetitions(all_pairs=[50], pairs=[10], openings=[10]))
    assert "without chance" in out_of_openings and "b0 only 10 of their 50" in out_of_openings
    (by_chance,) = repeated(repetitions(all_pairs=[50], pairs=[45], openings=[10]))
    assert "a0 and b0 only 45 of their 50 pairs" in by_chance and "without" not in by_chance
    many = FEW + 1
    table = repetitions(all_pairs=[50] * many, pairs=[10, 20, 20, 20], openings=[10] * many)
    (folded,) = repeated(table)
    for words in (f"In {many} pairings", "only 70 of their 200 pairs", "In 1 pairing both"):
        assert words in folded


def test_the_outcome_of_a_sequential_test_is_told() -> None:
    test, counts = Sprt(0, 10), [30, 90, 300, 120, 60]
    accepted = test.outcome(counts)
    for words in ("H1", "600 pairs", f"{test.llr(counts):+.2f}", "-2.94 and +2.94"):
        assert words in accepted
    undecided = test.outcome([0, 0, 1, 0, 0])
    assert "no decision" in undecided and "1 pair;" in undecided
    outcome = SequentialMatch(0, 10).outcome(["ann", "bob"], *[np.array([[[0] * 5, counts]])] * 2)
    assert accepted in outcome and "ann above bob" in outcome and "+25 [11, 39]" in outcome


def test_agents_are_described_by_what_sets_them_apart() -> None:
    settings = read(["agents=search_family", "agents.minimax.compiled=false"]).settings.agents
    texts = described(settings)
    assert texts["minimax"] == "Minimax, depth 4, evaluation SquareWeights, compiled False"
    assert texts["ab_none"].endswith("evaluation SquareWeights, ordering none, compiled True")
    assert "table_mb 16, etc True, iterative True" in texts["mtdf_table"]
    assert "endgame" not in "".join(texts.values())  # everybody has it as it is by default
    weights = read(["agents=heuristics"]).settings.agents
    assert "weights corners 25 mobility 8 stable_discs 12" in described(weights)["composite"]
    learned = read(["agents=learned"]).settings.agents
    assert described(learned)["tuned"] == "AlphaBeta, depth 4, evaluation Composite, 15 stages"
    program = {"mine": {"object": "__main__.Mine", "depth": 3, "trace": None}}
    assert described(program) == {"mine": "Mine, depth 3"}


def nodes_text(nodes: float) -> str:
    return COLUMNS["nodes/s"](SimpleNamespace(nodes_per_second=nodes))


FEW_DIGITS = {
    nodes_text: {math.nan: "-", 0: "-", 999: "999", 1000: "1 k", 1_250_000: "1.2 M"},
    axis_time: {0.05: "50 ns", 1: "1 µs", 2500: "2.5 ms", 3e6: "3 s"},
    time_text: {math.nan: "-", 0: "< 1 µs", 7: "7 µs", 999: "999 µs", 1250: "1.25 ms"}
    | {999_999: "1 s", 61e6: "61 s", 1234e6: "1,234 s"},
}


@pytest.mark.parametrize("write", FEW_DIGITS)
def test_numbers_are_written_in_few_digits(write: Callable[[float], str]) -> None:
    for number, text in FEW_DIGITS[write].items():
        assert write(number).replace("\N{NO-BREAK SPACE}", " ") == text


def test_wins_draws_and_losses_are_counted() -> None:
    tally = Tally(["ann", "bob", "[b]eve"])
    tally.tell([(0, 1, "black", 2), (1, 0, "black", 1), (2, 0, "draw", 1), (1, 2, "white", 3)])
    console = Console(width=80, file=StringIO())
    with console.capture() as shown:
        console.print(tally.table())
    rows = [line.split() for line in shown.get().splitlines() if len(line.split()) > 2]
    assert rows == [
        ["agent", "games", "wins", "draws", "losses", "%"],
        ["[b]eve", "4", "3", "1", "0", "87.5"],
        ["ann", "4", "2", "1", "1", "62.5"],
        ["bob", "6", "1", "0", "5", "16.7"],
    ]


@pytest.mark.parametrize("terminal", [True, False])
def test_standings_are_shown_while_a_run_lasts(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally, stopping = Tally(["ann", "bob"]), list[bool]()
    console = Console(width=100, file=StringIO(), force_terminal=terminal)
    with progress_bar(console, tally, lambda: bool(stopping)) as bar:

        def shown() -> bool:
            with console.capture() as text:
                console.print(bar.get_renderable())
            return "losses" in text.get()

        bar.add_task("run", total=10, before=0, note="", warnings=[])
        assert not shown(), "not at once"
        monkeypatch.setattr(progress, "STANDINGS_AFTER", -1.0)
        assert not shown(), "there is no game yet"
        tally.tell([(0, 1, "black", 1)])
        assert shown() is terminal
        stopping.append(True)
        assert not shown()
    assert not shown(), "the report's table comes in its place"


def printed_tables(folder: Path) -> tuple[str, list[Any]]:
    """What ``report`` prints for a paper, and the rows of its tables, as cells."""
    text = printed("report", folder, "--latex", "--bibtex")
    tables = []
    for form, content in re.findall(
        r"\\begin{tabular}{([lr]+)}\n(.*?)\\end{tabular}", text, re.DOTALL
    ):
        assert [content.count(rule) for rule in ("toprule", "midrule", "bottomrule")] == [1, 1, 1]
        lines = [line for line in content.splitlines() if line.endswith("\\\\")]
        assert {line.count(" & ") for line in lines} == {len(form) - 1}
        assert not any(re.search(r"(?<!\\)[%_#]", line) for line in lines)
        tables.append([line.split(" & ") for line in lines])
    return text, tables


def test_tables_and_reference_of_a_run(recorded_duel: Path) -> None:
    before = (recorded_duel / "report.md").read_bytes()
    text, tables = printed_tables(recorded_duel)
    assert (recorded_duel / "report.md").read_bytes() == before
    assert len(tables) == 2
    for said in ("| distinct games | 8,", "| independent results | 4 openings"):
        assert said in before.decode()
    assert "superiority" not in before.decode()  # of two, LOS says it
    assert "duel: 8 games from 4 openings, standard" in text and "seed 1" in text
    source, versions = re.findall(
        r"^git checkout ([0-9a-f]{40}|v[\d.]+)  # .*\npip install \. (.*)  # Python 3",
        before.decode(),
        re.M,
    )[0]
    assert (Path(__file__).parents[3] / ".git").exists() is not source.startswith("v")
    assert {word.partition("==")[0] for word in versions.split()} == {*PACKAGES} - {DISTRIBUTION}
    assert ", code " in before.decode()


def test_a_foreign_record_puts_no_command_into_the_report() -> None:
    commands = pinned({DISTRIBUTION: "0; touch a", COMMIT: "$(touch b)", "numpy": "2`touch c`"})
    assert "touch" not in commands


def test_a_reference_has_no_sign_that_latex_reads() -> None:
    head = {"name": "50%_a", "command": "lab run a={x}#~", "seed": 3, "versions": {}}
    text = bibtex({**head, "started": "2026-01-31T12:00:00"})
    assert r"50\%\_a" in text
    assert r"a=\{x\}\#\textasciitilde{}" in text
    assert "year = {2026}" in text


@pytest.mark.integration
def test_table_and_reference_of_a_sweep(recorded_sweep: Path, tmp_path: Path) -> None:
    folder = copied(recorded_sweep, tmp_path)
    text, ((heads, *rows),) = printed_tables(folder)
    assert heads[:3] == ["depth", "agent", r"Elo [95 \%]"]
    assert [row[0] for row in rows] == ["1", "1", "2", "2"]
    assert "seed 1, code " in text and "depth=1,2" in text
    assert main(["report", str(folder), "--figures", "files"]) == 0
    assert (folder / "nodes_per_move.png").exists()
    assert (folder / "report.html").read_text().count("<figure ") == 2
