"""Folders of somebody else that are resumed or watched: nothing of theirs runs unasked."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from processes import Command, await_
from records import games_in, runs_in
from rich.console import Console

from othello_lab.__main__ import main
from othello_lab.agents.config import ConfigError
from othello_lab.experiments.config import built_from, read, typed
from othello_lab.experiments.jobs.run import resume, run
from othello_lab.experiments.playing.trust import check_trusted
from othello_lab.experiments.record.provenance import versions
from othello_lab.experiments.report.tables import described

QUIET = Console(quiet=True)
WORDS = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=2", "figures=false"]
COMMAND = f"{sys.executable} evil.py"
EVIL = """
from pathlib import Path
import othello_lab, othello_lab.experiments.pairing
from othello_lab.agents.evaluation import heuristic

Path({marker!r}).touch()


class Agent(othello_lab.RandomAgent):
    pass


class Schedule(othello_lab.experiments.pairing.RoundRobin):
    pass


@heuristic
def flat(mover, opponent):
    return 0
"""


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What exists once ``evil.py``, or the package ``evilpack``, has run."""
    found = tmp_path / "it_ran"
    code = EVIL.format(marker=str(found))
    (tmp_path / "evil.py").write_text(code)
    (tmp_path / "evilpack").mkdir()
    (tmp_path / "evilpack" / "__init__.py").write_text(code)
    (tmp_path / "evilpack" / "inside.py").write_text("from evilpack import *")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield found
    for name in [name for name in sys.modules if name.startswith("evil")]:
        del sys.modules[name]


Change = Callable[[dict[str, Any]], None]
ForeignRun = Callable[[Path, Change], Path]


@pytest.fixture(scope="module")
def own_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = [*WORDS, f"results={tmp_path_factory.mktemp('own')}", "executor=serial"]
    return run(read(words), "test", QUIET).folder


@pytest.fixture
def foreign_run(own_run: Path) -> ForeignRun:
    """``foreign_run(folder, change)``: a run that was stopped, as far as its record says, and has
    settings that are changed."""

    def make(folder: Path, change: Change) -> Path:
        made = folder / "duel"
        shutil.copytree(own_run, made)
        with closing(sqlite3.connect(made / "games.sqlite", isolation_level=None)) as connection:
            config = json.loads(connection.execute("select config from run").fetchone()[0])
            change(config)
            # Whoever writes a record writes the right hashes into it.
            row = json.dumps(config), json.dumps(versions(built_from(typed(config))))
            connection.execute("update run set complete = 0, config = ?, versions = ?", row)
            connection.execute("delete from games")
            connection.execute("delete from turns")
        (made / "config.yaml").unlink()
        return made

    return make


def an_agent(config: dict[str, Any]) -> None:
    config["agents"]["greedy"] = {"_target_": "evil.Agent"}


def a_package(config: dict[str, Any]) -> None:
    config["agents"]["greedy"] = {"_target_": "evilpack.inside.Agent"}


def a_heuristic(config: dict[str, Any]) -> None:
    evaluation = {
        "_target_": "othello_lab.agents.evaluation.FunctionEvaluation",
        "target": "evil.py:flat",
    }
    config["agents"]["greedy"] = {"_target_": "othello_lab.Maximizer", "evaluation": evaluation}


def a_module(config: dict[str, Any]) -> None:
    evaluation = {
        "_target_": "othello_lab.agents.evaluation.FunctionEvaluation",
        "target": "evil:flat",
    }
    config["agents"]["greedy"] = {"_target_": "othello_lab.Maximizer", "evaluation": evaluation}


def a_program(config: dict[str, Any]) -> None:
    config["agents"]["greedy"] = {
        "_target_": "othello_lab.agents.external.LineAgent",
        "command": COMMAND,
    }


def a_program_that_is_not_there(config: dict[str, Any]) -> None:
    agent = {"_target_": "othello_lab.agents.external.LineAgent", "command": "core evil.sh 'x"}
    config["agents"]["greedy"] = agent


def in_a_list(config: dict[str, Any]) -> None:
    stages = [{"empties": [0, 60], "weights": [{"_target_": "evil.Agent"}]}]
    evaluation = {"_target_": "othello_lab.agents.evaluation.Composite", "stages": stages}
    config["agents"]["greedy"] = {"_target_": "othello_lab.Maximizer", "evaluation": evaluation}


def a_schedule(config: dict[str, Any]) -> None:
    config["schedule"] = {"_target_": "evil.Schedule"}


def by_a_name_of_ours(config: dict[str, Any]) -> None:
    config["agents"]["greedy"] = {
        "_target_": "othello_lab.experiments.jobs.run.os.makedirs",
        "name": "it_ran",
    }


def by_a_function_of_ours(config: dict[str, Any]) -> None:
    folder = {"_target_": "pathlib.Path.cwd"}
    config["openings"] = {
        "_target_": "othello_lab.experiments.sweep.folder.put_aside",
        "folder": folder,
    }


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (an_agent, "agents.greedy: evil.Agent ("),
        (a_package, "agents.greedy: evilpack.inside.Agent ("),
        (a_heuristic, "agents.greedy.evaluation: evil.py:flat ("),
        (a_module, "agents.greedy.evaluation: evil:flat ("),
        (a_program, f"agents.greedy: {COMMAND} ("),
        (a_program, "evil.py, unchanged since the record)"),
        (a_program_that_is_not_there, "agents.greedy: core evil.sh 'x (no file of it is found)"),
        (in_a_list, "agents.greedy.evaluation.stages[0].weights[0]: evil.Agent ("),
        (a_schedule, "schedule: evil.Schedule ("),
        (by_a_name_of_ours, "agents.greedy: othello_lab.experiments.jobs.run.os.makedirs ("),
        (by_a_function_of_ours, "openings: othello_lab.experiments.sweep.folder.put_aside ("),
    ],
)
def test_code_that_a_record_names_is_listed_and_not_imported(
    tmp_path: Path,
    marker: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, Any]], None],
    named: str,
    foreign_run: ForeignRun,
) -> None:
    folder = foreign_run(tmp_path, change)
    for words in (["resume", str(folder)], ["extend", str(folder), "games=4", "--force"]):
        assert main(words) == 2
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1
        assert named in printed and "--trust" in printed
    with pytest.raises(ConfigError, match="trust=True"):
        resume(folder, console=QUIET)
    assert not marker.exists()


def test_code_that_is_trusted_runs(tmp_path: Path, marker: Path, foreign_run: ForeignRun) -> None:
    folder = foreign_run(tmp_path, an_agent)
    assert resume(folder, console=QUIET, trust=True).complete
    assert marker.exists()


def test_the_list_says_what_has_changed(
    tmp_path: Path, marker: Path, capsys: pytest.CaptureFixture[str], foreign_run: ForeignRun
) -> None:
    folder = foreign_run(tmp_path, an_agent)
    assert main(["resume", str(folder)]) == 2
    assert f"{tmp_path / 'evil.py'}, unchanged since the record)" in capsys.readouterr().err
    (tmp_path / "evil.py").write_text("raise SystemExit")
    assert main(["resume", str(folder), "--force"]) == 2
    assert f"{tmp_path / 'evil.py'}, changed since the record)" in capsys.readouterr().err


def test_other_versions_are_refused_before_anything_is_imported(
    tmp_path: Path, marker: Path, capsys: pytest.CaptureFixture[str], foreign_run: ForeignRun
) -> None:
    folder = foreign_run(tmp_path, a_package)
    with closing(sqlite3.connect(folder / "games.sqlite", isolation_level=None)) as connection:
        connection.execute("update run set versions = replace(versions, 'numba', 'nimba')")
    assert main(["resume", str(folder), "--trust"]) == 2
    assert "changed since its first games" in capsys.readouterr().err
    assert not marker.exists()


def test_a_scheduler_that_a_record_names_is_not_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], foreign_run: ForeignRun
) -> None:
    def elsewhere(config: dict[str, Any]) -> None:
        address = "tcp://192.0.2.1:8786"
        config["executor"] = {
            "_target_": "othello_lab.experiments.playing.Dask",
            "address": address,
        }

    assert main(["resume", str(foreign_run(tmp_path, elsewhere))]) == 2
    assert "the Dask scheduler at tcp://192.0.2.1:8786" in capsys.readouterr().err


def test_watching_runs_nothing(
    tmp_path: Path, marker: Path, capsys: pytest.CaptureFixture[str], foreign_run: ForeignRun
) -> None:
    folder = foreign_run(tmp_path, a_schedule)
    assert main(["watch", str(folder), "--once"]) == 0
    assert "0 of ? (not known without evil.Schedule) games" in capsys.readouterr().out
    assert not marker.exists()


def test_describing_an_agent_imports_nothing(marker: Path) -> None:
    words = described({"a": {"object": "evil.Agent", "depth": 3}})
    assert words == {"a": "Agent, depth 3"}
    assert not marker.exists()


@pytest.mark.parametrize(("answer", "trusted"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_the_user_is_asked(
    monkeypatch: pytest.MonkeyPatch, answer: str, trusted: bool
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n" if answer else ""))
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=200)
    lines = ["agents.[b]a[/b]: evil\x1b[2J.Agent"]
    if trusted:
        check_trusted("run", lines, False, console)
    else:
        with pytest.raises(ConfigError, match="not trusted"):
            check_trusted("run", lines, False, console)
    assert "agents.[b]a[/b]: evil\\x1b[2J.Agent" in shown.getvalue()


# ---------------------------------------------------------------------- sweeps


def foreign_sweep(folder: Path, arguments: list[str], *combinations: list[str]) -> Path:
    made = folder / "sweep"
    made.mkdir()
    said = {"command": "?", "arguments": arguments, "combinations": list(combinations)}
    (made / "sweep.yaml").write_text(yaml.safe_dump(said))
    return made


HIDDEN = '${oc.decode:"{_tar${oc.env:NO,get}_: evil.Agent}"}'


@pytest.mark.parametrize(
    ("arguments", "combination", "named"),
    [
        ([], ["first._target_=evil.Agent"], "agents.greedy: evil.Agent ("),
        ([], [f"+agents.x='{HIDDEN}'"], "agents.x: evil.Agent ("),
        ([], ["+hydra.callbacks.x._target_=evil.Agent"], "hydra.callbacks.x._target_=evil.Agent"),
        ([], ["hydra.searchpath=[pkg://evilpack]"], "hydra.searchpath=[pkg://evilpack]"),
        (["--config-dir", "evil_conf"], [], "--config-dir=evil_conf"),
        ([], ["agent@first=../../evil"], "agent@first=../../evil"),
    ],
)
def test_code_that_a_sweep_names_is_listed_and_not_imported(
    tmp_path: Path,
    marker: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    combination: list[str],
    named: str,
) -> None:
    (tmp_path / "evil_conf").mkdir()
    folder = foreign_sweep(tmp_path, ["-m", *arguments, *WORDS], [*WORDS, *combination])
    assert main(["resume", str(folder)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert named in printed and "--trust" in printed
    assert not marker.exists()


def test_the_records_of_a_sweep_are_looked_into(
    tmp_path: Path, marker: Path, capsys: pytest.CaptureFixture[str], foreign_run: ForeignRun
) -> None:
    record = foreign_run(tmp_path / "made", an_agent)
    with closing(sqlite3.connect(record / "games.sqlite", isolation_level=None)) as connection:
        values = "0, 0, 0, 1, 'draw', 0.5, 0, 32, 32, 'finished', '', 1, '', ''" + 16 * ", 0"
        connection.execute(f"insert into games values ({values})")
    folder = foreign_sweep(tmp_path, ["-m", *WORDS], WORDS)
    record.rename(folder / "0")
    (folder / "0" / "combination.yaml").write_text(
        yaml.safe_dump({"settings": WORDS, "objective": None})
    )
    assert main(["resume", str(folder)]) == 2
    assert "agents.greedy: evil.Agent (" in capsys.readouterr().err
    assert not marker.exists()


# ---------------------------------------------------------------------- databases

ENDLESS = "with recursive n(x) as (select 1 union all select x + 1 from n) select"


@pytest.mark.parametrize(
    "sql",
    [
        f"drop table games; create view games as {ENDLESS} x as game, * from n;",
        f"drop table run; create view RUN as {ENDLESS} x as format from n;",
        f"create trigger t before update on run begin {ENDLESS} count(*) from n; end;",
        "drop table openings; create virtual table openings using fts5(number, text);",
        "drop table skipped; create table skipped (pair, reason as (hex(zeroblob(1e9))));",
        "drop table turns;",
    ],
    ids=["view", "view of run", "trigger", "virtual table", "generated column", "missing table"],
)
def test_tables_that_are_something_else_are_refused(
    tmp_path: Path, sql: str, foreign_run: ForeignRun
) -> None:
    folder = foreign_run(tmp_path, lambda config: None)
    with closing(sqlite3.connect(folder / "games.sqlite", isolation_level=None)) as connection:
        connection.executescript(sql)
    for words in (["watch", str(folder)], ["resume", str(folder)]):
        process = Command(*words)
        try:
            printed, _ = process.communicate(timeout=120)
        finally:
            process.kill()
        assert process.returncode == 2
        assert printed.count("\n") == 1 and "no record of the lab" in printed


def test_an_interrupted_run_of_foreign_code_names_trust_on_its_way_on(
    tmp_path: Path, marker: Path
) -> None:
    words = ["run", *WORDS, f"results={tmp_path / 'own'}", "games=2000", "executor.workers=1"]
    process = Command(*words, "agents.first={_target_: evil.Agent}")
    try:
        await_(lambda: games_in(tmp_path / "own") or process.poll() is not None)
        os.kill(process.pid, signal.SIGINT)
        printed, _ = process.communicate()
    finally:
        process.kill()
    (folder,) = runs_in(tmp_path / "own")
    assert f"go on with  othello-lab resume {folder} --trust\n" in printed
