"""Folders of somebody else that are resumed or watched: nothing of theirs runs unasked."""

from __future__ import annotations

import copy
import io
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from processes import Command
from records import after_games, runs_in
from refusals import ended
from rich.console import Console
from runs import changed, told

from othello_lab.agents.config import ConfigError
from othello_lab.experiments.config import built_from, typed
from othello_lab.experiments.jobs.run import resume
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


Changes = Mapping[str, Any]
ForeignRun = Callable[..., Path]


@pytest.fixture
def foreign_run(recorded_duel: Path) -> ForeignRun:
    """``foreign_run(folder, changes)``: a run that was stopped, as far as its record says, and has
    these parts in its settings; "agent" stands for its random agent."""

    def make(folder: Path, changes: Changes) -> Path:
        made = Path(shutil.copytree(recorded_duel, folder / "duel"))
        with closing(sqlite3.connect(made / "games.sqlite", isolation_level=None)) as connection:
            config = json.loads(connection.execute("select config from run").fetchone()[0])
            for name, part in changes.items():
                place = config["agents"] if name == "agent" else config
                place["random" if name == "agent" else name] = part
            # Whoever writes a record writes the right hashes into it.
            row = json.dumps(config), json.dumps(versions(built_from(typed(config))))
            connection.execute("update run set complete = 0, config = ?, versions = ?", row)
            connection.execute("delete from games")
            connection.execute("delete from turns")
        (made / "config.yaml").unlink()
        return made

    return make


def agent(target: str, /, **settings: Any) -> Changes:
    return {"agent": {"_target_": target, **settings}}


def maximizer(target: str, /, **settings: Any) -> Changes:
    evaluation = {"_target_": f"othello_lab.agents.evaluation.{target}", **settings}
    return agent("othello_lab.Maximizer", evaluation=evaluation)


def function(target: str) -> Changes:
    return maximizer("FunctionEvaluation", target=target)


AN_AGENT = agent("evil.Agent")
A_PROGRAM = agent("othello_lab.agents.external.LineAgent", command=COMMAND)
NO_PROGRAM = agent("othello_lab.agents.external.LineAgent", command="core evil.sh 'x")
STAGES = [{"empties": [0, 60], "weights": [{"_target_": "evil.Agent"}]}]
DEEP = maximizer("Composite", stages=STAGES)
HERE = {"_target_": "pathlib.Path.cwd"}
# Functions of others by a name of ours, and one of ours that is no part of a run.
ANOTHERS = "othello_lab.experiments.jobs.run.os.makedirs"
OURS = "othello_lab.experiments.sweep.folder.put_aside"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (AN_AGENT, "agents.random: evil.Agent ("),
        (agent("evilpack.inside.Agent"), "agents.random: evilpack.inside.Agent ("),
        (function("evil.py:flat"), "agents.random.evaluation: evil.py:flat ("),
        (function("evil:flat"), "agents.random.evaluation: evil:flat ("),
        (A_PROGRAM, f"agents.random: {COMMAND} ("),
        (NO_PROGRAM, "agents.random: core evil.sh 'x ("),
        (DEEP, "agents.random.evaluation.stages[0].weights[0]: evil.Agent ("),
        ({"schedule": {"_target_": "evil.Schedule"}}, "schedule: evil.Schedule ("),
        (agent(ANOTHERS, name="it_ran"), f"agents.random: {ANOTHERS} ("),
        ({"openings": {"_target_": OURS, "folder": HERE}}, f"openings: {OURS} ("),
    ],
)
def test_code_that_a_record_names_is_listed_and_not_imported(
    tmp_path: Path, marker: Path, changes: Changes, named: str, foreign_run: ForeignRun
) -> None:
    folder = foreign_run(tmp_path, changes)
    for words in (["resume", str(folder)], ["extend", str(folder), "games=40", "--force"]):
        printed = told(*words, code=2)
        assert named in printed and "--trust" in printed
    with pytest.raises(ConfigError, match="trust=True"):
        resume(folder, console=QUIET)
    assert not marker.exists()


@pytest.mark.integration
def test_code_that_is_trusted_runs(tmp_path: Path, marker: Path, foreign_run: ForeignRun) -> None:
    folder = foreign_run(tmp_path, AN_AGENT)
    assert resume(folder, console=QUIET, trust=True).complete
    assert marker.exists()


def test_the_list_says_what_has_changed(
    tmp_path: Path, marker: Path, foreign_run: ForeignRun
) -> None:
    folder = foreign_run(tmp_path, AN_AGENT)
    for change in ("unchanged", "changed"):
        assert f"{tmp_path / 'evil.py'}, {change} since the record)" in told(
            "resume", folder, "--force", code=2
        )
        (tmp_path / "evil.py").write_text("raise SystemExit")


def test_other_versions_are_refused_before_anything_is_imported(
    tmp_path: Path, marker: Path, foreign_run: ForeignRun
) -> None:
    folder = foreign_run(tmp_path, agent("evilpack.inside.Agent"))
    changed(folder, "update run set versions = replace(versions, 'numba', 'nimba')")
    assert "numba" in told("resume", folder, "--trust", code=2)
    assert not marker.exists()


def test_a_scheduler_that_a_record_names_is_not_asked(
    tmp_path: Path, foreign_run: ForeignRun
) -> None:
    address = "tcp://192.0.2.1:8786"
    dask = {"_target_": "othello_lab.experiments.playing.Dask", "address": address}
    assert address in told("resume", str(foreign_run(tmp_path, {"executor": dask})), code=2)


def test_watching_runs_nothing(tmp_path: Path, marker: Path, foreign_run: ForeignRun) -> None:
    folder = foreign_run(tmp_path, {"schedule": {"_target_": "evil.Schedule"}})
    assert "evil.Schedule" in told("watch", folder, "--once")
    described({"a": {"object": "evil.Agent", "depth": 3}})
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
    tmp_path: Path, marker: Path, arguments: list[str], combination: list[str], named: str
) -> None:
    (tmp_path / "evil_conf").mkdir()
    folder = foreign_sweep(tmp_path, ["-m", *arguments, *WORDS], [*WORDS, *combination])
    printed = told("resume", folder, code=2)
    assert named in printed and "--trust" in printed
    assert not marker.exists()


def test_the_records_of_a_sweep_are_looked_into(
    tmp_path: Path, marker: Path, foreign_run: ForeignRun
) -> None:
    record = foreign_run(tmp_path / "made", AN_AGENT)
    values = "0, 0, 0, 1, 'draw', 0.5, 0, 32, 32, 'finished', '', 1, '', ''" + 16 * ", 0"
    changed(record, f"insert into games values ({values})")
    folder = foreign_sweep(tmp_path, ["-m", *WORDS], WORDS)
    record.rename(folder / "0")
    (folder / "0" / "combination.yaml").write_text(
        yaml.safe_dump({"settings": WORDS, "objective": None})
    )
    assert "agents.random: evil.Agent (" in told("resume", folder, code=2)
    assert not marker.exists()


@pytest.mark.integration
def test_an_interrupted_run_of_foreign_code_names_trust_on_its_way_on(
    tmp_path: Path, marker: Path
) -> None:
    words = ["run", *WORDS, f"results={tmp_path / 'own'}", "games=2000", "executor.workers=1"]
    interrupt = after_games(2, lambda: os.kill(os.getpid(), signal.SIGINT))
    process = Command(*words, "agents.first={_target_: evil.Agent}", before=interrupt)
    printed, _ = process.communicate()
    (folder,) = runs_in(tmp_path / "own")
    assert f"othello-lab resume {folder} --trust\n" in printed


# ---------------------------------------------------------------------- every key of the settings

OS = "othello_lab.experiments.config.os"


def places(settings: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of settings, and to one more in each mapping and list."""
    if path:
        yield path
    if isinstance(settings, Mapping):
        for key in (*settings, "extra"):
            yield from places(settings.get(key), (*path, key))
    elif isinstance(settings, list):
        for number, value in enumerate(settings):
            yield from places(value, (*path, number))


def with_value(settings: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(settings)
    *way, last = path
    for key in way:
        made = made[key]
    made[last] = value
    return made


OBJECT_KEYS = ("schedule", "openings", "executor", "evaluation", "agents")


@pytest.mark.parametrize(
    "everywhere",
    [
        pytest.param(False, marks=pytest.mark.integration),
        pytest.param(True, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize(
    "hostile",
    [
        {"_target_": "evil.Agent"},
        {"_target_": f"{OS}.system", "command": "touch it_ran"},
        {"_target_": f"{OS}:mkdir", "path": "it_ran"},
        {"_target_": "othello_lab.AlphaBeta", "evaluation": {"_target_": "evil.Agent"}},
        "evil.py:flat",
    ],
    ids=str,
)
def test_a_hostile_value_in_any_setting_runs_nothing(
    tmp_path: Path, marker: Path, recorded_duel: Path, hostile: Any, everywhere: bool
) -> None:
    folder = tmp_path / "duel"
    shutil.copytree(recorded_duel, folder)
    again = str(folder)
    with closing(sqlite3.connect(folder / "games.sqlite", isolation_level=None)) as connection:
        ((config,),) = connection.execute("select config from run").fetchall()
        for path in places(json.loads(config)):
            if not everywhere and not (path[0] in OBJECT_KEYS and len(path) <= 2):
                continue
            changed = with_value(json.loads(config), path, hostile)
            connection.execute("update run set complete = 0, config = ?", [json.dumps(changed)])
            (folder / "config.yaml").write_text(yaml.safe_dump(changed))
            for command in (
                *(["list", str(tmp_path)], ["show", again, "--json"], ["watch", again, "--once"]),
                *(["report", again, "--figures", "false"], ["compare", again, again]),
                *(["export", again, "jsonl"], ["verify", again, "--games", "1"]),
                *(["resume", again, "--force"], ["extend", again, "games=40", "--force"]),
            ):
                ended(command)
                assert not marker.exists(), (command, path)
                assert not [name for name in sys.modules if name.startswith("evil")]
