"""Folders of somebody else that are resumed or watched: nothing of theirs runs unasked."""

from __future__ import annotations

import copy
import functools
import io
import json
import os
import pickle
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from chosen import mostly_nightly
from processes import Command
from records import after_games, runs_in
from refusals import ended
from rich.console import Console
from runs import changed, told

from othello_lab.agents.config import ConfigError
from othello_lab.core.position import Position
from othello_lab.experiments.config import built_from, typed
from othello_lab.experiments.jobs.run import resume
from othello_lab.experiments.playing.trust import check_trusted, foreign_code, names_no_more
from othello_lab.experiments.record.provenance import versions
from othello_lab.experiments.studies.record import TRAINING
from othello_lab.experiments.studies.study_plan import read
from othello_lab.play.config import read as read_table
from othello_lab.play.web.visit_session import VisitSessions
from othello_lab.play.web.visits import Visits
from othello_lab.training.training import TrainingStudy

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


def function(target: str) -> Changes:
    kind = "othello_lab.agents.evaluation.FunctionEvaluation"
    return agent("othello_lab.Maximizer", evaluation={"_target_": kind, "target": target})


DASK = "othello_lab.experiments.playing.Dask"
AN_AGENT = agent("evil.Agent")
A_PROGRAM = agent("othello_lab.agents.external.LineAgent", command=COMMAND)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (AN_AGENT, "agents.random: evil.Agent ("),
        (agent("evilpack.inside.Agent"), "agents.random: evilpack.inside.Agent ("),
        (function("evil.py:flat"), "agents.random.evaluation: evil.py:flat ("),
        (A_PROGRAM, f"agents.random: {COMMAND} ("),
        ({"schedule": {"_target_": "evil.Schedule"}}, "schedule: evil.Schedule ("),
        ({"executor": {"_target_": DASK, "address": "tcp://192.0.2.1:1"}}, "at tcp://192.0.2.1:1"),
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


def test_a_part_that_names_another_scheduler_is_asked_for() -> None:
    part = {"executor": {"_target_": DASK, "address": "tcp://192.0.2.1:1"}}
    assert names_no_more(part, part) and not names_no_more(part, {"executor": {}})


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


# ---------------------------------------------------------------------- every value of every file

OS = "othello_lab.experiments.config.os"
HOSTILE = [
    {"_target_": "evil.Agent"},
    {"_target_": f"{OS}.system", "command": "touch it_ran"},
    {"_target_": f"{OS}:mkdir", "path": "it_ran"},
    {"_target_": "othello_lab.AlphaBeta", "evaluation": {"_target_": "evil.Agent"}},
    {"_target_": "othello_lab.agents.external.LineAgent", "command": "touch it_ran"},
    "evil.py:flat",
    "./evil.py:Agent",
]
"""Values that run code wherever a name of code is obeyed."""
FILES = {
    "run": ("duel", "", "games.sqlite"),
    "study": ("study", "", "study.sqlite"),
    "training": ("training", "", "training.sqlite"),
    "what was learned": ("training", "", "weights/tuned.learned.yaml"),
    "champion": ("training", "", "training.sqlite"),
    "self-play": ("training", "rounds/outcomes/0", "selfplay.yaml"),
    "sweep": ("sweep", "", "sweep.yaml"),
    "combination": ("sweep", "", "0/combination.yaml"),
    "run of a sweep": ("sweep", "", "0/games.sqlite"),
}
"""Files with settings: the recorded job, the folder in it that commands get, and the file there."""
LOOKING = "list UP; show IT; show IT --json; watch IT --once; report IT; compare IT IT; "
LOOKING += "export IT jsonl; verify IT --games 1; recover IT; play replay IT"
CONTINUING = "resume IT --force; extend IT games=40 --force"
OBJECTS = ("schedule", "openings", "executor", "evaluation", "agents", "study", "train", "data")
OBJECTS += ("arguments", "combinations", "settings")
DAILY = [pytest.param(False, marks=pytest.mark.integration)]
DAILY += [pytest.param(True, marks=pytest.mark.nightly)]


class Folder:
    """A folder of somebody else, in which one file is changed."""

    def __init__(self, sound: Path, up: Path, inner: str, file: str, marker: Path) -> None:
        shutil.copytree(sound, up / "it")
        self._words = {"IT": str(up / "it" / inner), "UP": str(up)}
        self._file, self._marker = up / "it" / inner / file, marker
        self._table = "run" if file.endswith("games.sqlite") else "study"

    def _sql(self, statement: str, *values: str) -> list[Any]:
        with closing(sqlite3.connect(self._file, isolation_level=None)) as connection:
            return connection.execute(statement, values).fetchall()

    def read(self) -> Any:
        if self._file.suffix == ".yaml":
            return yaml.safe_load(self._file.read_text())
        return json.loads(self._sql(f"select config from {self._table}")[0][0])

    def write(self, config: Any, complete: bool) -> None:
        (self._file.parent / "config.yaml").write_text(yaml.safe_dump(config))
        if self._file.suffix == ".yaml":
            self._file.write_text(yaml.safe_dump(config))
            return
        row = str(int(complete)), json.dumps(config)
        self._sql(f"update {self._table} set complete = ?, config = ?", *row)
        if self._table == "study" and not complete:
            self._sql("delete from pieces where piece = (select max(piece) from pieces)")

    def runs_nothing(self, commands: str, about: object) -> None:
        for command in commands.split("; "):
            ended([self._words.get(word, word) for word in command.split()])
            assert not self._marker.exists(), (command, about)
            assert not [each for each in sys.modules if "evil" in each], (command, about)


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


def hostile_ones(settings: Any, everywhere: bool) -> Iterator[Any]:
    """Settings with a hostile value in one place each; of some places, where they are many."""
    for number, path in enumerate(places(settings)):
        some = path[0] in OBJECTS and len(path) <= 2
        for hostile in HOSTILE if everywhere else HOSTILE[number % len(HOSTILE) :][: int(some)]:
            made = copy.deepcopy(settings)
            *way, last = path
            functools.reduce(lambda node, key: node[key], way, made)[last] = hostile
            yield made


@pytest.mark.parametrize("everywhere", DAILY)
@pytest.mark.parametrize("kind", FILES)
def test_a_hostile_value_in_any_setting_runs_nothing(
    tmp_path: Path, marker: Path, request: pytest.FixtureRequest, kind: str, everywhere: bool
) -> None:
    job, *where = FILES[kind]
    folder = Folder(request.getfixturevalue(f"recorded_{job}"), tmp_path / "up", *where, marker)
    settings = folder.read()
    if kind == "champion":
        settings = read("champion", [], (), TRAINING, TrainingStudy).as_data
    for made in hostile_ones(settings, everywhere):
        for complete, commands in ((True, LOOKING), (False, CONTINUING)):
            if complete or kind != "champion":  # which takes an hour where nothing is refused
                folder.write(made, complete)
                folder.runs_nothing(commands, made)


class Touching:
    def __reduce__(self) -> Any:
        return os.mkdir, ("it_ran",)


def arrays() -> bytes:
    file = io.BytesIO()
    np.savez(file, weights=np.array([Touching()], dtype=object))
    return file.getvalue()


@pytest.mark.integration
@pytest.mark.parametrize(
    "job", mostly_nightly(["duel", "training", "study", "sweep"], ["training"])
)
def test_no_file_of_a_folder_is_more_than_data(
    tmp_path: Path, marker: Path, request: pytest.FixtureRequest, job: str
) -> None:
    """Pickles, arrays of objects, YAML with tags; triggers and views."""
    sound = request.getfixturevalue(f"recorded_{job}")
    tagged = b"!!python/object/apply:os.mkdir [it_ran]"
    for number, path in enumerate(sorted(each for each in sound.rglob("*") if each.is_file())):
        file = path.relative_to(sound)
        inner = "rounds/outcomes/0" if "rounds" in file.parts else ""
        table = "run" if path.name == "games.sqlite" else "study"
        odd: list[str | bytes] = [pickle.dumps(Touching()), arrays()]
        odd = [tagged] if path.suffix == ".yaml" else odd
        if path.suffix == ".sqlite":
            odd.append(f"create trigger t after update on {table} begin delete from {table}; end")
            odd.append(f"alter table {table} rename to x; create view {table} as select * from x")
        for content in odd:
            up = tmp_path / f"{number} {odd.index(content)}"
            folder = Folder(sound, up, inner, str(file.relative_to(inner)), marker)
            if isinstance(content, bytes):
                (up / "it" / file).write_bytes(content)
            else:
                changed((up / "it" / file).parent, content)
            folder.runs_nothing(f"{LOOKING}; {CONTINUING}", file)


@pytest.mark.integration
def test_a_page_and_a_saved_game_run_nothing(tmp_path: Path, marker: Path) -> None:
    table = read_table([f"web.folder={tmp_path}/visits", "black=alphabeta", "web.browser=false"])
    sessions, visits = VisitSessions(table), Visits(table)
    visits.keep(visit := visits.new())
    (file,) = (tmp_path / "visits").glob("*.json")
    told = f"Othello game\nruleset: standard\nstart: {Position.start().to_obf()}\n"
    for made in hostile_ones(visit.data, True):
        file.write_text(json.dumps(made))
        for player in sessions.room(visit.number).visit.players.values():
            assert not foreign_code({"player": player.agent}, {})
        sessions.close()
    for hostile in HOSTILE:
        (tmp_path / "game.txt").write_text(f"{told}black: {hostile}\nwhite: ./evil.py:Agent\n")
        ended(["play", "replay", tmp_path / "game.txt"])
    assert not marker.exists() and "evil" not in sys.modules
