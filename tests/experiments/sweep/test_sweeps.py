"""Sweeps: what is run, what is kept, and that one failure, or Ctrl-C, does not end it all."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from othello_lab.__main__ import main
from othello_lab.agents.config import ConfigError
from othello_lab.experiments import command_line
from othello_lab.experiments.jobs import run as runs
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.report import report
from othello_lab.experiments.sweep import (
    composing,
    load,
    reporting,
    results,
    sweep_session,
    watching,
)
from othello_lab.experiments.sweep import folder as folders
from othello_lab.experiments.sweep.figures import (
    MOST_LINES,
    SweepFacts,
    heat_chart,
    setting_figures,
)
from othello_lab.experiments.sweep.folder import State, Sweep


@pytest.fixture(autouse=True)
def _runs_without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of single runs take most of the time, and are not what is tested here."""
    monkeypatch.setattr(report, "_draw", lambda *args: [])


QUICK = ["agents=ab_mirror", "games=4", "executor=serial"]


def folder_of(results: Path) -> Path:
    (found,) = {path.parent for path in results.rglob(folders.SWEEP)}
    return found


# ---------------------------------------------------------------------- how a sweep goes on


@pytest.mark.parametrize(
    ("state", "begun", "words", "called"),
    [
        (State.WAITING, False, ("games=4",), "run"),
        (State.STOPPED, True, ("games=4",), "resume None"),
        (State.FINISHED, True, ("games=4",), ""),
        (State.FINISHED, True, ("games=8",), "resume 8"),
        (State.STOPPED, True, ("games=8",), "resume 8"),
        (State.FAILED, False, ("games=4",), "run"),
        (State.FAILED, True, ("games=4",), "resume None"),
    ],
)
def test_a_combination_goes_on_by_its_state(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: State,
    begun: bool,
    words: tuple[str, ...],
    called: str,
) -> None:
    calls: list[str] = []

    def done(call: str) -> SimpleNamespace:
        calls.append(call)
        return SimpleNamespace(interrupted=False, complete=True)

    games = int(words[0].partition("=")[2])
    settings = SimpleNamespace(games=games)
    monkeypatch.setattr(sweep_session, "read", lambda *_: SimpleNamespace(settings=settings))
    monkeypatch.setattr(sweep_session, "has_begun", lambda folder: begun)
    monkeypatch.setattr(runs, "run", lambda *_, **__: done("run"))
    monkeypatch.setattr(runs, "resume", lambda *_, games, **__: done(f"resume {games}"))
    before = folders.Combination(0, tmp_path / "0", ("games=4",), state)
    asked = Sweep(tmp_path, [], [], [list(words)])
    sweep_session._play(asked, before, words, Console(quiet=True))
    assert calls == ([called] if called else [])
    if called:
        note = folders.read_combination(tmp_path / "0")
        assert note.settings == words


@pytest.mark.parametrize(("interrupted", "complete"), [(True, True), (True, False), (False, False)])
def test_a_combination_that_is_cut_short_ends_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: bool, complete: bool
) -> None:
    settings = SimpleNamespace(games=4)
    monkeypatch.setattr(sweep_session, "read", lambda *_: SimpleNamespace(settings=settings))
    result = SimpleNamespace(interrupted=interrupted, complete=complete)
    monkeypatch.setattr(runs, "run", lambda *_, **__: result)
    asked = Sweep(tmp_path, [], [], [["games=4"]])
    before = folders.Combination(0, tmp_path / "0", ("games=4",))
    with pytest.raises(KeyboardInterrupt):
        sweep_session._play(asked, before, ["games=4"], Console(quiet=True))


def test_all_but_finished_combinations_are_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Sweep(tmp_path, ["depth=1,2"], [], [["depth=1"]] * len(State))
    known = [
        folders.Combination(number, tmp_path / str(number), (), state)
        for number, state in enumerate(State)
    ]
    monkeypatch.setattr(Sweep, "combinations", lambda self: known)
    played: list[int] = []
    monkeypatch.setattr(sweep_session, "_attempt", lambda _, number, *rest: played.append(number))
    sweep_session._run_all(asked, Console(quiet=True))
    assert played == [n for n, state in enumerate(State) if state is not State.FINISHED]


# ---------------------------------------------------------------------- what is run


def test_crossed_and_zipped_keys() -> None:
    found = composing.expand(
        ["a=zip(1,2,3)", "group@first=x,y", "c=range(0,4,2)", "+b=zip(p,[q,r],null)"]
    )
    assert len(found) == 3 * 2 * 2
    assert found[:4] == [
        ["group@first=x", "c=0", "a=1", "+b=p"],
        ["group@first=x", "c=0", "a=2", "+b=[q,r]"],
        ["group@first=x", "c=0", "a=3", "+b=null"],
        ["group@first=x", "c=2", "a=1", "+b=p"],
    ]
    assert composing.expand(["depth=3"]) == [["depth=3"]]
    assert composing.expand(["depth=1,2", "seed=4", "depth=3"]) == [["seed=4", "depth=3"]]
    assert composing.expand(["depth=zip(range(1,3))"]) == [["depth=1"], ["depth=2"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a=zip(1,2)", "b=zip(1,2,3)"], "a has 2, b has 3"),
        (["a=zip(1,2)", "b=zip(1)"], "a has 2, b has 1"),
        (["a=interval(0,1)"], "values to choose from"),
        (["a=[1"], r"a=\[1"),
    ],
)
def test_combinations_that_make_no_sense(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        composing.expand(words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        "run -m agents.left.depth=zip(1,2) agents.right.depth=zip(1,2,3) agents=ab_mirror",
        "run -m depth=1,0",
        "run -m agents=ab_mirror,clasics",
        "run -m depth=1,2 hydra/launcher=basic",
        "run -m depth=1,2 results=/proc/nowhere",
        "run -m depth=interval(1,3)",
    ],
)
def test_nothing_is_written_when_a_combination_cannot_be_run(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_short_names_stay_distinct() -> None:
    keys = [
        "agents.a.depth",
        "agents.b.depth",
        "limits.depth",
        "depth",
        "evaluation.weights.corners",
    ]
    short = composing.short_names(keys)
    assert list(short.values()) == ["a.depth", "b.depth", "limits.depth", "depth", "corners"]


def test_keys_that_vary_together_are_one() -> None:
    table = pd.DataFrame(
        {"run": range(4), "a": [1, 2, 1, 2], "b": ["x", "y", "x", "y"], "c": [1, 1, 2, 2]}
    )
    assert results.grouped(table, ["a", "b", "c"]) == [["a", "b"], ["c"]]


# ---------------------------------------------------------------------- what comes out


@pytest.mark.integration
def test_one_table_and_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["agents.left.depth=zip(1,2)", "agents.right.depth=zip(2,3)", "games=zip(2,4)"]
    words += ["agents=ab_mirror", "executor=serial", f"results={tmp_path}", "figures=files"]
    words += ["export=zip([parquet],[csv])"]
    assert main(["run", "-m", *words]) == 0
    assert "export=[csv]" in capsys.readouterr().out  # brackets are no markup
    folder = folder_of(tmp_path)
    table = load(folder)
    assert len(table) == 2 * 2
    assert table["agents.left.depth"].dtype.kind == "i"
    left = table[table["agent"] == "left"]
    assert left["agents.left.depth"].tolist() == [1, 2]
    assert left["agents.right.depth"].tolist() == [2, 3]
    assert left["games_per_pairing"].tolist() == left["games"].tolist() == [2, 4]
    assert table["complete"].all()
    pd.testing.assert_frame_equal(
        pd.read_csv(folder / "sweep.csv")[["run", "score"]], table[["run", "score"]]
    )
    assert len(pd.read_parquet(folder / "sweep.parquet")) == len(table)
    page, text = ((folder / f"report.{ending}").read_text() for ending in ("html", "md"))
    assert page.count("<figure ") == 2
    assert " above " in text.split("\n\n")[2]
    assert text.split("\n\n")[2].startswith("> ")
    for number in range(2):
        assert f'href="{number}/report.html"' in page
        assert f"({number}/report.md)" in text
        with Record.open(folder / str(number)) as record:
            assert f"games={2 + 2 * number}" in record.run()["command"]
    assert (folder / "elo.png").exists()
    assert (folder / "nodes_per_move.png").exists()


@pytest.mark.integration
def test_one_or_two_settings_are_drawn_and_three_are_a_table_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    runs_of = itertools.product((1, 2, 3), ("iago", "mobility"), (False, True))
    table = pd.DataFrame(
        {
            "run": i,
            "a": a,
            "b": b,
            "c": c,
            "agent": agent,
            "games": 40,
            "elo": elo,
            "low": elo - 30,
            "high": elo + 30,
            "bound": ">" if i == 3 else "",
            "split": i == 4,
            "nodes_per_move": 10.0**a,
            "reference": "",
            "question": "match",
        }
        for i, (a, b, c) in enumerate(runs_of)
        for agent, elo in zip(("one", "two"), rng.normal(0, 50, 2), strict=True)
    )
    for keys in (["a"], ["b", "c"]):
        folder = tmp_path / "".join(keys)
        folder.mkdir()
        drawn = reporting._draw(table, keys, folder, files=True)
        maps = ["elo_map", "nodes_map"] if len(keys) == 2 else []
        assert [figure.name for figure in drawn] == ["elo", "nodes_per_move", *maps]
        text = (folder / "elo.svg").read_text(encoding="utf-8")
        for word in ("one", "two", "iago" if "b" in keys else "3", f">{keys[0]}<"):
            assert word in text
        assert ">12 runs, 40 games an agent<" in text
    assert reporting._draw(table, ["a", "b", "c"], tmp_path / "three", files=False) == []
    split = reporting._draw(
        table.assign(split=True, elo=0.0), ["a"], tmp_path / "split", files=False
    )
    assert [figure.name for figure in split] == ["nodes_share", "nodes_per_move"]
    assert reporting._draw(table, [], tmp_path / "none", files=False) == []


def test_the_finding_says_who_stands_highest_where() -> None:
    rows = [
        *((0, "strong", 20.0), (0, "weak", -20.0), (1, "strong", 90.0), (1, "weak", -90.0)),
        *((2, "weak", 5.0), (2, "strong", -5.0), (3, "strong", 0.0), (3, "weak", 0.0)),
    ]
    table = pd.DataFrame(rows, columns=["run", "agent", "elo"])
    table = table.assign(low=table["elo"] - 9, high=table["elo"] + 9, bound="", split=False, part=0)
    table = table.assign(reference="")
    values = {"depth": {0: 1, 1: 2, 2: 3, 3: 4}}
    assert list(reporting._leaders(table, values)) == [
        "strong stands highest in 2 of 4 runs: +20 [11, 29] Elo (depth=1) to "
        "+90 [81, 99] Elo (depth=2).",
        "weak stands highest in 1 of 4 runs: +5 [-4, 14] Elo (depth=3).",
    ]
    many = [(run, f"agent {agent}", -agent) for run in range(5) for agent in (run, 9)]
    table = pd.DataFrame(many, columns=["run", "agent", "elo"])
    table = table.assign(low=0.0, high=0.0, bound="", split=False, part=0, reference="")
    *_, last = reporting._leaders(table, {"depth": dict(enumerate(range(5)))})
    assert last == "2 further agents stand highest in 2 runs."


TWO_AGENTS = ["agents=duel", "agent@first=alphabeta", "agent@second=alphabeta", "executor=serial"]


@pytest.mark.integration
def test_elo_in_a_sweep_is_the_difference_that_each_run_reports(tmp_path: Path) -> None:
    words = ["first.evaluation=square_weights", "second.evaluation=mobility", "games=20"]
    assert main(["run", "-m", *TWO_AGENTS, *words, "depth=1,2", f"results={tmp_path}"]) == 0
    folder = folder_of(tmp_path)
    table = load(folder)
    assert set(table["reference"]) == {"mobility"}
    squares = table[table["agent"] == "square_weights"]
    text = (folder / "report.md").read_text(encoding="utf-8")
    for row in squares.itertuples():
        own = (folder / str(row.run) / "report.md").read_text(encoding="utf-8")
        lead = f"{row.elo:.0f} [{row.low:.0f}, {row.high:.0f}]"
        assert f"square_weights leads mobility by {lead} Elo" in own
        assert f"+{lead} at depth = {row.depth}" in text
    assert re.search(r"The change from 1 to 2: [+-]\d+ \[-?\d+, -?\d+\], \w", text)


@pytest.mark.integration
def test_the_share_of_nodes_is_the_trend_of_searches_with_the_same_values(tmp_path: Path) -> None:
    words = ["agents=ab_vs_minimax", "games=4", "executor=serial", f"results={tmp_path}"]
    assert main(["run", "-m", *words, "depth=1,3"]) == 0
    folder = folder_of(tmp_path)
    text = (folder / "report.md").read_text(encoding="utf-8")
    nodes = load(folder).pivot_table("nodes_per_move", "agent", "depth")
    share = f"{100 * nodes.loc['alphabeta', 3] / nodes.loc['minimax', 3]:.0f} %"
    said = f"alphabeta visits 100 % and {share} of the nodes of minimax at depth = 1 and 3"
    assert said in " ".join(text.split())
    assert text.index("Share of nodes by setting") < text.index("## Nodes by setting")


@pytest.mark.integration
def test_agents_of_a_swept_duel_keep_their_names(tmp_path: Path) -> None:
    words = ["games=4", "second.depth=2", "first.depth=1,2,3", "figures=none"]
    assert main(["run", "-m", *TWO_AGENTS, *words, f"results={tmp_path}"]) == 0
    table = load(folder_of(tmp_path))
    assert set(table["agent"]) == {"first", "second"}
    assert set(table["reference"]) <= {"second", ""}


def test_a_heat_map_has_a_cell_for_each_run() -> None:
    grid = itertools.product((2, 1), ("iago", "mobility"), ("one", "two", "three"))
    rows = [
        (run, agent, 40, depth, name, 100 * depth + run, ">" if run == 0 else "", 10.0**depth)
        for run, (depth, name, agent) in enumerate(grid)
        if (depth, name) != (1, "iago")
    ]
    columns = ["run", "agent", "games", "depth", "evaluation", "elo", "bound", "nodes_per_move"]
    table = pd.DataFrame(rows, columns=columns)
    figure = heat_chart(table, "elo", "depth", "evaluation")
    first = next(axes for axes in figure.axes if axes.get_title() == "one")
    assert [text.get_text() for text in first.texts] == ["> +200", "+109", "+203"]
    assert [label.get_text() for label in first.get_xticklabels()] == ["1", "2"]
    shown = first.collections[0].get_array().tolist()
    assert shown == [[None, 200], [109, 203]]
    nodes = heat_chart(table, "nodes_per_move", "depth", "evaluation")
    assert {"10", "100"} == {text.get_text() for axes in nodes.axes for text in axes.texts}


@pytest.mark.parametrize("other", [None, "ordered"])
def test_many_agents_are_rows_of_a_heat_map(other: str | None) -> None:
    grid = itertools.product((1, 2), (False, True), range(MOST_LINES + 1))
    table = pd.DataFrame(
        {
            "run": 2 * depth + ordered,
            "agent": f"agent {agent}",
            "games": 40,
            "depth": depth,
            "ordered": ordered,
            "elo": 10.0 * agent + depth,
            "low": -5.0,
            "high": 200.0,
            "bound": "",
            "split": False,
            "nodes_per_move": 10.0**depth * (agent > 0),
            "reference": "",
            "question": "ranks",
        }
        for depth, ordered, agent in grid
        if other or not ordered
    )
    varied = {name: [name] for name in ("depth", other) if name}
    elo, nodes = setting_figures(SweepFacts(table, varied))
    best = f"agent {MOST_LINES}"
    rows = [label.get_text() for label in elo.chart.axes[0].get_yticklabels()]
    assert len(rows) == MOST_LINES + 1 and rows[0] == best and "Bars" not in elo.caption
    assert [text.get_text() for text in elo.chart.axes[0].texts][:2] == ["+81", "+82"]
    titles = [axes.get_title() for axes in elo.chart.axes if axes.get_xlabel() == "depth"]
    assert titles == (["ordered = False", "ordered = True"] if other else [""])
    shown = [label.get_text() for label in nodes.chart.axes[0].get_yticklabels()]
    assert len(shown) == MOST_LINES and "agent 0" not in shown  # it counts none
    few = table[table["agent"] != best]
    assert "Bars" in next(setting_figures(SweepFacts(few, varied))).caption


@pytest.mark.integration
def test_a_combination_reads_nothing_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command line is parsed once, and each folder read twice, before its run and at the
    end, however many combinations there are."""
    counts: Counter[tuple[str, ...]] = Counter()

    def count(module: ModuleType, name: str) -> None:
        whole = getattr(module, name)

        def counted(*arguments: Any) -> Any:
            counts[name, *(each.name for each in arguments if isinstance(each, Path))] += 1
            return whole(*arguments)

        monkeypatch.setattr(module, name, counted)

    for module in (folders, sweep_session):
        count(module, "read_combination")
    for module in (folders, sweep_session):
        count(module, "varied")
    count(folders, "about")
    for module in (folders, command_line):
        count(module, "run_parser")
    monkeypatch.setattr(runs, "run", lambda *_, **__: 1 / 0)
    assert main(["run", "-m", *QUICK, "depth=range(1,4)", f"results={tmp_path}"]) == 1
    assert counts == {
        ("run_parser",): 1,
        ("varied",): 2,
        **{("read_combination", str(number)): 2 for number in range(3)},
    }


# ---------------------------------------------------------------------- going on


@pytest.mark.integration
def test_failures_and_ctrl_c_end_in_a_report_and_resume_does_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, trouble = runs.run, {2: RuntimeError("no such luck"), 3: KeyboardInterrupt()}

    def troubled(plan, *rest, **options):  # type: ignore[no-untyped-def]
        if plan.settings.depth in trouble:
            raise trouble[plan.settings.depth]
        return whole(plan, *rest, **options)

    monkeypatch.setattr(runs, "run", troubled)
    monkeypatch.setattr(reporting, "_draw", lambda *args: [])
    assert main(["run", "-m", *QUICK, "depth=1,2,3", f"results={tmp_path}"]) == 130
    assert "failed  1: depth=2: RuntimeError: no such luck" in capsys.readouterr().out
    folder = folder_of(tmp_path)
    assert folders.is_sweep(folder)
    assert not folders.is_sweep(folder / "0")
    assert [each.state for each in Sweep.read(folder).combinations()] == [
        State.FINISHED,
        State.FAILED,
        State.WAITING,
    ]
    assert load(folder)["depth"].tolist() == [1, 1]
    assert "RuntimeError" in (folder / "1" / folders.FAILURE).read_text()
    text = (folder / "report.md").read_text()
    assert "1 finished, 1 failed, 1 waiting" in text
    assert "no such luck" in text
    first = (folder / "0" / FILE).stat().st_mtime_ns

    trouble.pop(3)
    assert sweep_session.resume(folder, Console(quiet=True)) == 1
    assert load(folder)["depth"].tolist() == [1, 1, 3, 3]
    trouble.clear()
    assert sweep_session.resume(folder, Console(quiet=True)) == 0
    assert load(folder)["depth"].tolist() == [1, 1, 2, 2, 3, 3]
    assert "no such luck" not in (folder / "report.md").read_text()
    assert (folder / "0" / FILE).stat().st_mtime_ns == first, "it was played again"


@pytest.mark.integration
def test_games_are_added_to_all_runs_of_a_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "_draw", lambda *args: [])
    assert main(["run", "-m", *QUICK, "depth=1,2", f"results={tmp_path}"]) == 0
    folder = folder_of(tmp_path)
    for words, complaint in (
        (["games=2"], "has 4 games a pairing already; it can only grow"),
        (["games=8", "--workers", "2"], "options are for single runs"),
    ):
        assert main(["extend", str(folder), *words]) == 2
        assert complaint in capsys.readouterr().err

    resume, interrupted = runs.resume, []

    def stopped(*arguments: Any, **more: Any) -> Any:
        """The second one is stopped before it begins."""
        if interrupted or len(list(tmp_path.rglob(folders.COMBINATION))) < 2:
            return resume(*arguments, **more)
        result = resume(*arguments, **more)
        interrupted.append(result)
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "resume", stopped)
    assert main(["extend", str(folder), "games=8"]) == 130
    assert "othello-lab resume" in capsys.readouterr().out
    assert sweep_session.resume(folder, Console(quiet=True)) == 0
    assert load(folder)["games"].tolist() == [8] * 4
    assert [each.state for each in Sweep.read(folder).combinations()] == [State.FINISHED] * 2
    capsys.readouterr()
    assert main(["watch", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "2 finished" in printed
    assert "depth=2   finished  8 of 8" in printed


@pytest.mark.integration
def test_a_sweep_over_games_is_not_extended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "_draw", lambda *args: [])
    assert (
        main(["run", "-m", "agents=ab_mirror", "depth=1", "games=2,4", f"results={tmp_path}"]) == 0
    )
    assert main(["extend", str(folder_of(tmp_path)), "games=8"]) == 2
    assert "it varies games" in capsys.readouterr().err


@pytest.mark.integration
def test_a_sweep_that_is_being_played_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    attempt = sweep_session._attempt

    def watched(asked: Sweep, name: str, *arguments: Any) -> Any:
        found = attempt(asked, name, *arguments)
        console = Console(width=100)
        with locked(asked.folder / name), console.capture() as shown:
            screen, ended = watching.look_at_sweep(asked.folder, console)
            console.print(screen)
        assert not ended
        seen.append(" ".join(shown.get().split()))
        return found

    monkeypatch.setattr(reporting, "_draw", lambda *args: [])
    monkeypatch.setattr(sweep_session, "_attempt", watched)
    assert main(["run", "-m", *QUICK, "depth=1,2", f"results={tmp_path}"]) == 0
    assert "1 playing, 1 waiting" in seen[0]
    assert "1 finished, 1 playing" in seen[1]
    assert "0 depth=1 finished 4 of 4 1 depth=2 playing 4 of 4" in seen[1]
    assert "ab_mirror: 4 of 4 games" in seen[1]


def test_a_folder_that_is_no_sweep(tmp_path: Path) -> None:
    for ask in (load, lambda folder: sweep_session.resume(folder, Console(quiet=True))):
        with pytest.raises(ConfigError, match="no folder of a sweep"):
            ask(tmp_path)
