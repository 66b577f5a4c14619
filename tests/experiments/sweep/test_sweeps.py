"""Sweeps: what is run, what is kept, and that one failure, or Ctrl-C, does not end it all."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from runs import line_of, made
from shared import copied

from othello_lab.__main__ import main
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs import run as runs
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.report.figures.drawing import draw_figures
from othello_lab.experiments.sweep import composing, load, results
from othello_lab.experiments.sweep.figures import (
    MOST_LINES,
    setting_figures,
    sweep_chart,
)
from othello_lab.experiments.sweep.kind import SweepKind

Patch = pytest.MonkeyPatch

QUICK = ["agents=ab_mirror", "games=4", "executor=serial", "figures=none"]


def test_crossed_and_zipped_keys() -> None:
    combinations = composing.expand(
        ["a=zip(1,2,3)", "group@first=x,y", "c=range(0,4,2)", "+b=zip(p,[q,r],null)"]
    )
    zipped = (("1", "p"), ("2", "[q,r]"), ("3", "null"))
    assert combinations == [
        [f"group@first={first}", f"c={c}", f"a={a}", f"+b={b}"]
        for first in "xy"
        for c in (0, 2)
        for a, b in zipped
    ]
    assert composing.expand(["depth=3"]) == [["depth=3"]]
    assert composing.expand(["depth=1,2", "seed=4", "depth=3"]) == [["seed=4", "depth=3"]]
    assert composing.expand(["depth=zip(range(1,3))"]) == [["depth=1"], ["depth=2"]]


def test_short_names_stay_distinct() -> None:
    keys = ["agents.a.depth", "agents.b.depth", "limits.depth", "depth", "evaluation.weights.cold"]
    short = composing.short_names(keys)
    assert list(short.values()) == ["a.depth", "b.depth", "limits.depth", "depth", "cold"]


def test_keys_that_vary_together_are_one() -> None:
    table = pd.DataFrame(
        {"run": range(4), "a": [1, 2, 1, 2], "b": ["x", "y", "x", "y"], "c": [1, 1, 2, 2]}
    )
    assert results.grouped(table, "abc") == {"a, b": ["a", "b"], "c": ["c"]}


@pytest.mark.integration
def test_one_table_and_one_report(tmp_path: Path) -> None:
    words = ["agents.left.depth=zip(1,2)", "agents.right.depth=zip(2,3)", "games=zip(2,4)"]
    words += [*QUICK[:1], *QUICK[2:], "export=zip([parquet],[csv])"]
    said, folder = made(tmp_path, "run", "-m", *words)
    assert "export=[csv]" in said  # brackets are no markup
    assert " games=4" in said and "games_per_pairing" not in said  # as it is typed
    table = load(folder)
    assert len(table) == 2 * 2
    assert table["agents.left.depth"].dtype.kind == "i"
    left = table[table["agent"] == "left"]
    assert left["agents.left.depth"].tolist() == [1, 2]
    assert left["agents.right.depth"].tolist() == [2, 3]
    assert left["games_per_pairing"].tolist() == left["games"].tolist() == [2, 4]
    assert table["complete"].all()
    assert "varies games" in line_of("extend", folder, "games=8", code=2)
    columns = ["run", "score"]
    pd.testing.assert_frame_equal(pd.read_csv(folder / "sweep.csv")[columns], table[columns])
    assert len(pd.read_parquet(folder / "sweep.parquet")) == len(table)
    page, text = ((folder / f"report.{ending}").read_text() for ending in ("html", "md"))
    assert " above " in text.split("\n\n")[2]
    assert text.split("\n\n")[2].startswith("> ")
    for number in range(2):
        assert f'href="{number}/report.html"' in page and f"({number}/report.md)" in text
        with Record.open(folder / str(number)) as record:
            assert f"games={2 + 2 * number}" in record.head()["command"]


@pytest.mark.integration
def test_one_or_two_settings_are_drawn_and_three_are_a_table_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    runs_of = itertools.product((1, 2, 3), ("iago", "mobility"), (False, True))
    rows = [
        (i, a, b, c, agent, elo, elo - 30, elo + 30, ">" if i == 3 else "", i == 4, 10.0**a)
        for i, (a, b, c) in enumerate(runs_of)
        for agent, elo in zip(("one", "two"), rng.normal(0, 50, 2), strict=True)
    ]
    columns = ["run", *"abc", "agent", "elo", "low", "high", "bound", "split", "nodes_per_move"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.assign(games=40, reference="", question="match")

    def names(table: pd.DataFrame, keys: str) -> list[str]:
        figures = setting_figures(table, {key: [key] for key in keys})
        drawn = draw_figures(figures, tmp_path, files=False)
        for word in (
            ("one", "two", "iago" if "b" in keys else "3", f">{keys[:1]}<") if drawn else ()
        ):
            assert word in drawn[0].svg
        return [figure.name for figure in drawn]

    assert names(table, "a") == ["elo", "nodes_per_move"]
    assert names(table, "bc") == ["elo", "nodes_per_move"]
    assert names(table, "abc") == names(table, "") == []
    assert names(table.assign(split=True, elo=0.0), "a") == ["nodes_share", "nodes_per_move"]


TWO_AGENTS = ["agents=duel", "agent@first=alphabeta", "agent@second=alphabeta", *QUICK[2:]]


BOTH_RATED = ["first.evaluation=square_weights", "second.evaluation=mobility", "depth=1,2"]
ONE_UNBEATEN = ["agent@second=random", "first.evaluation=iago", "first.depth=1,3"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "reference"), [(BOTH_RATED, "mobility"), (ONE_UNBEATEN, "random")]
)
def test_elo_in_a_sweep_is_the_difference_that_each_run_reports(
    words: list[str], reference: str, tmp_path: Path
) -> None:
    _, folder = made(tmp_path, "run", "-m", *TWO_AGENTS, *words, "games=20")
    table = load(folder)
    assert set(table["reference"]) == {reference}
    text = " ".join((folder / "report.md").read_text(encoding="utf-8").split())
    compared = table[table["agent"] != reference]
    for row, depth in zip(compared.itertuples(), (1, words[-1][-1]), strict=True):
        report = (folder / str(row.run) / "report.md").read_text(encoding="utf-8")
        lead, sign = f"{row.elo:.0f} [{row.low:.0f}, {row.high:.0f}]", "+"
        if row.bound:
            lead, sign = f"{row.elo:.0f}", "more than +"
        assert f"by {sign[:-1]}{lead} Elo" in report
        assert f"{sign}{lead} at depth = {depth}" in text
        assert f"above {reference}, Elo: " in text
    assert (">" in set(compared["bound"])) is (reference == "random")


def test_no_line_leads_to_a_bound() -> None:
    elo = {"elo": [50.0, 300.0], "low": [40.0, 300.0], "high": [60.0, 300.0], "bound": ["", ">"]}
    shared = {"agent": "a", "games": 4, "split": False, "reference": "b"}
    table = pd.DataFrame({"run": [0, 1], "depth": [1, 2], **elo, **shared})
    (bars,) = sweep_chart(table, "elo", "depth").axes[0].containers
    assert np.isnan(bars.lines[0].get_ydata()).tolist() == [False, True]


@pytest.mark.parametrize("other", [None, "ordered"])
def test_many_agents_are_rows_of_a_heat_map(other: str | None) -> None:
    grid = itertools.product((1, 2), (False, True), range(MOST_LINES + 1))
    rows = [
        (2 * depth + ordered, f"agent {n}", depth, ordered, 10.0 * n + depth, 10.0**depth * (n > 0))
        for depth, ordered, n in grid
        if other or not ordered
    ]
    columns = ["run", "agent", "depth", "ordered", "elo", "nodes_per_move"]
    table = pd.DataFrame(rows, columns=columns).assign(games=40, low=-5.0, high=200.0, bound="")
    table = table.assign(split=False, reference="", question="ranks")
    varied = {name: [name] for name in ("depth", other) if name}
    elo, nodes = setting_figures(table, varied)
    best = f"agent {MOST_LINES}"
    shown = [label.get_text() for label in elo.chart.axes[0].get_yticklabels()]
    assert len(shown) == MOST_LINES + 1 and shown[0] == best and "Bars" not in elo.caption
    assert [text.get_text() for text in elo.chart.axes[0].texts][:2] == ["+81", "+82"]
    titles = [axes.get_title() for axes in elo.chart.axes if axes.get_xlabel() == "depth"]
    assert titles == (["ordered = False", "ordered = True"] if other else [""])
    shown = [label.get_text() for label in nodes.chart.axes[0].get_yticklabels()]
    assert len(shown) == MOST_LINES and "agent 0" not in shown  # it counts none
    few = table[table["agent"] != best]
    elo, nodes = setting_figures(few, varied)
    assert "Bars" in elo.caption
    lines = {line.get_label(): line for line in nodes.chart.axes[0].get_lines()}
    for name in few.loc[few["nodes_per_move"] > 0, "agent"]:
        drawn = lines[name].get_xdata().tolist(), lines[name].get_ydata().tolist()
        assert drawn == ([1, 2], [10, 100])
    grown = elo.chart.axes[-1].containers if not other else ()
    assert [bars.lines[0].get_ydata().tolist() for bars in grown] == [
        [10 * number + 1, 10 * number + 2] for number in range(len(grown))
    ]


@pytest.mark.integration
def test_failures_and_ctrl_c_end_in_a_report_and_resume_does_the_rest(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    whole, trouble = runs.run, {2: RuntimeError("no such luck"), 3: KeyboardInterrupt()}

    def troubled(plan: Any, *rest: Any, **options: Any) -> Any:
        if plan.settings.depth in trouble:
            raise trouble[plan.settings.depth]
        return whole(plan, *rest, **options)

    monkeypatch.setattr(runs, "run", troubled)
    said, folder = made(tmp_path, "run", "-m", *QUICK, "depth=1,2,3", code=130)
    assert "failed run 1: depth=2: RuntimeError: no such luck" in said
    assert "1 finished, 1 failed, 1 waiting" in line_of("watch", folder)
    assert load(folder)["depth"].tolist() == [1, 1]
    text = (folder / "report.md").read_text()
    assert "1 of 3 finished" in text and "run 1: depth=2: RuntimeError: no such luck" in text
    assert "Traceback" in (folder / "log.txt").read_text()
    first = (folder / "0" / FILE).stat().st_mtime_ns

    for solved, code, depths in ((3, 1, [1, 1, 3, 3]), (2, 0, [1, 1, 2, 2, 3, 3])):
        trouble.pop(solved)
        line_of("resume", folder, code=code)
        assert load(folder)["depth"].tolist() == depths
    assert "no such luck" not in (folder / "report.md").read_text()
    assert (folder / "0" / FILE).stat().st_mtime_ns == first, "it was played again"


@pytest.mark.integration
def test_games_are_added_to_all_runs_of_a_sweep(
    recorded_sweep: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    folder = copied(recorded_sweep, tmp_path)
    assert "only grow" in line_of("extend", folder, "games=2", code=2)
    assert main(["extend", str(folder), "games=4"]) == 0, "these are no fewer"

    resume, interrupted = runs.resume, []

    def stopped(*arguments: Any, **more: Any) -> Any:
        """Ctrl-C comes right after the first one."""
        result = resume(*arguments, **more)
        if not interrupted:
            interrupted.append(result)
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(runs, "resume", stopped)
    assert "othello-lab resume" in line_of("extend", folder, "games=8", code=130)
    assert load(folder)["complete"].tolist() == [True, True, False, False]
    assert main(["resume", str(folder)]) == 0
    assert load(folder)["games"].tolist() == [8] * 4
    printed = line_of("watch", folder)
    assert "2 finished" in printed and "depth=2 finished 8 of 8" in printed


@pytest.mark.integration
def test_a_run_that_was_killed_early_is_put_aside_and_played_with_todays_games(
    recorded_sweep: Path, tmp_path: Path
) -> None:
    folder = copied(recorded_sweep, tmp_path)
    (folder / "1" / FILE).write_bytes(b"")
    assert main(["extend", str(folder), "games=6"]) == 0
    assert load(folder)["games"].tolist() == [6] * 4 and (folder / "1-stopped" / FILE).exists()
    with Record.open(folder / "1") as record:
        command = record.head()["command"]
        assert command.endswith(" games=6") and "games=4" not in command


@pytest.mark.integration
def test_a_sweep_that_is_being_played_is_watched(tmp_path: Path, monkeypatch: Patch) -> None:
    seen: list[str] = []
    whole = runs.run

    def watched(plan: Any, command: str, console: Console, folder: Path, **more: Any) -> Any:
        result = whole(plan, command, console, folder, **more)
        wide = Console(width=100)
        with locked(folder), wide.capture() as shown:
            screen, ended = SweepKind().look(folder.parent, wide)
            wide.print(screen)
        assert not ended
        seen.append(" ".join(shown.get().split()))
        return result

    monkeypatch.setattr(runs, "run", watched)
    assert main(["run", "-m", *QUICK, "depth=1,2", f"results={tmp_path}"]) == 0
    assert "1 playing, 1 waiting" in seen[0]
    assert "1 finished, 1 playing" in seen[1]
    assert "0 depth=1 finished 4 of 4 1 depth=2 playing 4 of 4" in seen[1]
    assert "ab_mirror: 4 of 4 games" in seen[1]


def test_folders_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no sweep"):
        load(tmp_path)
    (old := tmp_path / "old").mkdir()
    (old / "sweep.yaml").write_text("command: run -m depth=1,2")
    for command in ("resume", "show", "watch"):
        assert "a sweep of version 0.2" in line_of(command, old, code=2)
    assert "a sweep of version 0.2" in line_of("list", tmp_path)
