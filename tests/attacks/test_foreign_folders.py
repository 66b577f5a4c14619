"""Folders of somebody else, and damaged records: no command runs anything of theirs unasked, hangs
at a file of theirs, or writes into another file; and each says in a line what it cannot read."""

from __future__ import annotations

import copy
import functools
import io
import itertools
import json
import os
import pickle
import re
import shlex
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from chosen import mostly_nightly
from fuzzing import edited, fuzz, fuzzed, stored
from hypothesis import strategies as st
from records import content, runs_in
from refusals import ended
from rich.console import Console
from runs import changed, line_of, played, printed
from shared import copied

from othello_lab.__main__ import main
from othello_lab.core.position import Position
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import built_from, typed
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.playing.trust import check_trusted, foreign_code, names_no_more
from othello_lab.experiments.record.provenance import versions
from othello_lab.experiments.record.store import CHANGED, Record
from othello_lab.experiments.studies.study_plan import read
from othello_lab.play.config import read as read_setup
from othello_lab.play.web.visit_session import VisitSessions
from othello_lab.play.web.visits import Visits
from othello_lab.training.training import TrainingStudy

QUIET = Console(quiet=True)
WORDS = ["agents=duel", "agent@first=greedy", "agent@second=random", "games=2", "figures=false"]
EVIL = """
import pathlib
from othello_lab import RandomAgent as Agent
pathlib.Path({marker!r}).touch()
"""


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What exists once ``evil.py``, or the package ``evilpack``, has run."""
    marker_file = tmp_path / "it_ran"
    code = EVIL.format(marker=str(marker_file))
    (tmp_path / "evil.py").write_text(code)
    (tmp_path / "evilpack").mkdir()
    (tmp_path / "evilpack" / "__init__.py").write_text(code)
    (tmp_path / "evilpack" / "inside.py").write_text("from evilpack import *")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield marker_file
    for name in [name for name in sys.modules if name.startswith("evil")]:
        del sys.modules[name]


class Folder:
    """A copy of a recorded job, in which one file is to be changed."""

    def __init__(self, sound: Path, up: Path, inner: str, file: str) -> None:
        shutil.copytree(sound, up / "it")
        self.words = {"IT": str(up / "it" / inner), "UP": str(up)}
        self.file = up / "it" / inner / file

    def sql(self, statement: str, *values: str) -> list[Any]:
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            return connection.execute(statement, values).fetchall()

    def read(self) -> Any:
        if self.file.suffix == ".yaml":
            return yaml.safe_load(self.file.read_text())
        return json.loads(self.sql("select config from job")[0][0])

    def write(self, config: Any, complete: bool) -> None:
        (self.file.parent / "config.yaml").write_text(yaml.safe_dump(config))
        if self.file.suffix == ".yaml":
            self.file.write_text(yaml.safe_dump(config))
            return
        row = str(int(complete)), json.dumps(config)
        self.sql("update job set complete = ?, config = ?", *row)
        if not complete:
            self.sql("delete from pieces where piece = (select max(piece) from pieces)")


Changes = Mapping[str, Any]
Foreign = Callable[[Changes], Path]


@pytest.fixture
def foreign(recorded_duel: Path, recorded_sweep: Path, tmp_path: Path) -> Foreign:
    """Return a function that makes a folder: of a run that was stopped, as far as its record says,
    and has these parts in its settings ("agent": its random agent); or of a sweep with these
    changes in its second run."""

    def make(theirs: Changes) -> Path:
        if "changes" in theirs:
            folder = Folder(recorded_sweep, tmp_path / "foreign", "", "record.sqlite")
            config = folder.read()
            config["sweep"]["changes"][1] = theirs["changes"]
            folder.write(config, complete=False)
            shutil.rmtree(folder.file.parent / "1")
            return folder.file.parent
        folder = Folder(recorded_duel, tmp_path / "foreign", "", "record.sqlite")
        config = folder.read()
        for name, part in theirs.items():
            settings = config["agents"] if name == "agent" else config
            settings["random" if name == "agent" else name] = part
        folder.write(config, complete=False)
        # Whoever writes a record writes the right hashes into it.
        hashes = json.dumps(versions(built_from(typed(config))))
        folder.sql("update job set versions = ?", hashes)
        folder.sql("delete from games")
        folder.sql("delete from turns")
        (folder.file.parent / "config.yaml").unlink()
        return folder.file.parent

    return make


def agent(target: str, /, **settings: Any) -> Changes:
    return {"agent": {"_target_": target, **settings}}


def function(target: str) -> Changes:
    kind = "othello_lab.agents.evaluation.FunctionEvaluation"
    return agent("othello_lab.Maximizer", evaluation={"_target_": kind, "target": target})


AN_AGENT = agent("evil.Agent")
LINE_AGENT = "othello_lab.agents.external.LineAgent"
COMMAND = f"{sys.executable} evil.py"
SCHEDULER = "tcp://192.0.2.1:8786"
DASK = {"_target_": "othello_lab.experiments.playing.Dask", "address": SCHEDULER}


@pytest.mark.parametrize(
    ("theirs", "named"),
    [
        (AN_AGENT, "agents.random: evil.Agent ("),
        (agent("evilpack.inside.Agent"), "agents.random: evilpack.inside.Agent ("),
        (function("evil.py:flat"), "agents.random.evaluation: evil.py:flat ("),
        (agent(LINE_AGENT, command=COMMAND), f"agents.random: {COMMAND} ("),
        ({"schedule": {"_target_": "evil.Schedule"}}, "schedule: evil.Schedule ("),
        ({"executor": DASK}, SCHEDULER),
        ({"changes": {"agents": {"x": AN_AGENT["agent"]}}}, "changes[1].agents.x: evil.Agent ("),
        ({"changes": {"executor": DASK}}, SCHEDULER),
    ],
)
def test_code_that_a_folder_names_is_listed_and_not_imported(
    marker: Path, theirs: Changes, named: str, foreign: Foreign
) -> None:
    folder = foreign(theirs)
    for words in (["resume", folder, "--force"], ["extend", folder, "games=40", "--force"]):
        printed = line_of(*words, code=2)
        assert named in printed and (theirs == {"executor": DASK} or "--trust" in printed)
    assert not marker.exists()


def test_what_has_changed_is_told_before_anything_is_imported(
    tmp_path: Path, marker: Path, foreign: Foreign
) -> None:
    folder = foreign(AN_AGENT)
    for change in ("unchanged", "changed"):
        line = f"{tmp_path / 'evil.py'}, {change} since the record)"
        assert line in line_of("resume", folder, "--force", code=2)
        (tmp_path / "evil.py").write_text("raise SystemExit")
    changed(folder, "update job set versions = replace(versions, 'numba', 'nimba')")
    assert "numba" in line_of("resume", folder, "--trust", code=2)
    assert not marker.exists()


def test_a_part_that_names_another_scheduler_is_asked_for() -> None:
    part = {"executor": DASK}
    assert names_no_more(part, part) and not names_no_more(part, {"executor": {}})


@pytest.mark.parametrize(("answer", "trusted"), [("y\n", True), ("n\n", False), ("", False)])
def test_on_a_terminal_the_user_is_asked(
    monkeypatch: pytest.MonkeyPatch, answer: str, trusted: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin := io.StringIO(answer))
    monkeypatch.setattr(stdin, "isatty", lambda: True, raising=False)
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=200)
    lines = ["agents.[b]a[/b]: evil\x1b[2J.Agent"]
    if trusted:
        check_trusted("run", lines, False, console)
    else:
        with pytest.raises(ConfigError, match="not trusted"):
            check_trusted("run", lines, False, console)
    assert "agents.[b]a[/b]: evil\\x1b[2J.Agent" in shown.getvalue()


# ---------------------------------------------------------------------- every value of every file

OS = "othello_lab.experiments.config.os"
HOSTILE = [
    {"_target_": "evil.Agent"},
    {"_target_": f"{OS}.system", "command": "touch it_ran"},
    {"_target_": f"{OS}:mkdir", "path": "it_ran"},
    {"_target_": "othello_lab.AlphaBeta", "evaluation": {"_target_": "evil.Agent"}},
    {"_target_": LINE_AGENT, "command": "touch it_ran"},
    "evil.py:flat",
    "./evil.py:Agent",
]
"""Values that run code wherever a name of code is obeyed."""
FILES = {
    "run": ("duel", "", "record.sqlite"),
    "study": ("study", "", "record.sqlite"),
    "training": ("training", "", "record.sqlite"),
    "what was learned": ("training", "", "weights/tuned.learned.yaml"),
    "champion": ("training", "", "record.sqlite"),
    "self-play": ("training", "rounds/outcomes/0", "record.sqlite"),
    "sweep": ("sweep", "", "record.sqlite"),
    "run of a sweep": ("sweep", "", "0/record.sqlite"),
}
"""Files with settings: the recorded job, the folder in it that commands get, and the file there."""
LOOKING = "list UP; show IT; show IT --json; watch IT --once; report IT; compare IT IT; "
LOOKING += "export IT jsonl; verify IT --games 1; recover IT; play replay IT"
CONTINUING = "resume IT --force; extend IT games=40 --force"
OBJECTS = ("schedule", "openings", "executor", "evaluation", "agents", "study", "train", "data")
OBJECTS += ("sweep",)
DAILY = [pytest.param(False, marks=pytest.mark.integration)]
DAILY += [pytest.param(True, marks=pytest.mark.nightly)]


def run_nothing(words: Mapping[str, str], commands: str, case: object) -> object:
    """Check that no command runs anything, hangs, or fails other than by a line; return the last
    exit code."""
    for command in commands.split("; "):
        before = signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends this process
        signal.alarm(120)
        code, out, err = ended([words.get(word, word) for word in command.split()])
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        said = (command, case, out, err)
        assert code in ((0, 2) if command.startswith(("watch", "recover")) else (0, 1, 2)), said
        assert "Traceback" not in out + err, said
        assert code != 2 or (err.count("\n") == 1 and len(err) < 2000), said
        assert not os.path.exists("it_ran"), said
        assert not [module for module in sys.modules if "evil" in module], said
    return code


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


def with_hostile(settings: Any, path: tuple[Any, ...], number: int) -> Any:
    """Return a copy of settings with a hostile value in one place, by its number in turn."""
    made = copy.deepcopy(settings)
    *way, last = path
    functools.reduce(lambda node, key: node[key], way, made)[last] = HOSTILE[number % len(HOSTILE)]
    return made


def folder_of(request: pytest.FixtureRequest, up: Path, kind: str) -> tuple[Folder, Any]:
    """Return a folder for one of the FILES, and its settings."""
    job, *where = FILES[kind]
    folder = Folder(request.getfixturevalue(f"recorded_{job}"), up / kind, *where)
    if kind == "champion":
        return folder, read("champion", [], (), TRAINING, TrainingStudy).as_data
    return folder, folder.read()


@pytest.mark.parametrize("everywhere", DAILY)
@pytest.mark.parametrize("kind", FILES)
def test_a_hostile_value_in_any_setting_runs_nothing(
    tmp_path: Path, marker: Path, request: pytest.FixtureRequest, kind: str, everywhere: bool
) -> None:
    """Daily in the places of objects; nightly in all, of those of an earlier kind in a fifth."""
    folder, settings = folder_of(request, tmp_path, kind)
    turn = [*FILES].index(kind)
    others = [folder_of(request, tmp_path, other)[1] for other in [*FILES][: turn * everywhere]]
    earlier = {path for other in others for path in places(other)}
    for number, path in enumerate(places(settings), start=turn):
        of_object = path[0] in OBJECTS and len(path) <= 2
        if (path in earlier and number % 5) or not (everywhere or of_object):
            continue
        made = with_hostile(settings, path, number)
        for complete, commands in ((True, LOOKING), (False, CONTINUING)):
            if complete or kind != "champion":  # which takes an hour where nothing is refused
                folder.write(made, complete)
                run_nothing(folder.words, commands, made)


@pytest.mark.integration
def test_a_page_and_a_saved_game_run_nothing(tmp_path: Path, marker: Path) -> None:
    setup = read_setup([f"web.folder={tmp_path}/visits", "black=alphabeta", "web.browser=false"])
    sessions, visits = VisitSessions(setup), Visits(setup)
    visits.keep(visit := visits.new())
    (file,) = (tmp_path / "visits").glob("*.json")
    tries = itertools.product(places(visit.data), range(len(HOSTILE)))
    for path, number in tries:
        file.write_text(json.dumps(with_hostile(visit.data, path, number)))
        for player in sessions.session_of(visit.number).visit.players.values():
            assert not foreign_code({"player": player.agent}, {})
        sessions.close()
    saved = f"Othello game\nruleset: standard\nstart: {Position.start().to_obf()}\n"
    for hostile in HOSTILE:
        (tmp_path / "game.txt").write_text(f"{saved}black: {hostile}\nwhite: ./evil.py:Agent\n")
        run_nothing({}, f"play replay {tmp_path / 'game.txt'}", hostile)


# ---------------------------------------------------------------------- odd files


class Touching:
    def __reduce__(self) -> Any:
        return os.mkdir, ("it_ran",)


def arrays(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, weights=np.array([Touching()], dtype=object))


TAGGED = "!!python/object/apply:os.mkdir [it_ran]"
ODD: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a FIFO": ("", lambda path: (path.unlink(missing_ok=True), os.mkfifo(path))),
    "missing": ("", lambda path: path.unlink(missing_ok=True)),
    "a folder": ("", lambda path: (path.unlink(missing_ok=True), path.mkdir())),
    "a pickle": (r"\.(?!yaml)", lambda path: path.write_bytes(pickle.dumps(Touching()))),
    "an array of objects": (r"\.(?!yaml)", arrays),
    "YAML with a tag": (r"\.yaml", lambda path: path.write_text(TAGGED)),
    "YAML in itself": (r"\.yaml", lambda path: path.write_text("a: &a [*a]")),
    "YAML of a list": (r"\.yaml", lambda path: path.write_text("- a")),
}
"""By name: the names of files that become such ones, and what makes one."""
ADDED = ("log.txt", "output.txt", "checks.txt", "record.sqlite-journal", "record.sqlite-wal")


def files(folder: Path) -> dict[str, int]:
    """The files below a folder, each with its number in the file system."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.lstat().st_ino for path in paths}


@pytest.mark.integration
@pytest.mark.parametrize("odd", mostly_nightly(ODD, ["a FIFO", "a pickle"]))
@pytest.mark.parametrize("job", mostly_nightly(["duel", "training", "study", "sweep"], ["duel"]))
def test_no_file_of_a_folder_is_more_than_data(
    tmp_path: Path, marker: Path, request: pytest.FixtureRequest, job: str, odd: str
) -> None:
    sound = request.getfixturevalue(f"recorded_{job}")
    names, make = ODD[odd]
    for number, file in enumerate(sorted({*files(sound), *(ADDED if odd == "a FIFO" else ())})):
        if re.search(names, file):
            inner = "rounds/outcomes/0" if "rounds" in file else ""
            at = os.path.relpath(file, inner or ".")
            folder = Folder(sound, tmp_path / str(number), inner, at)
            make(folder.file)
            run_nothing(folder.words, f"{LOOKING}; {CONTINUING}", (file, odd))


WRITE = ["duel report IT", "duel export IT csv", "duel export IT wthor", "duel extend IT games=40"]
WRITE += ["duel report IT --figures files", "study report IT --figures files", "sweep report IT"]
WRITE += ["sweep extend IT games=12", "training report IT"]


@pytest.mark.integration
@pytest.mark.parametrize("words", mostly_nightly(WRITE, WRITE[:4]))
def test_no_file_elsewhere_is_written(
    words: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """By links in the place of files that a command writes; and it does not wait for a FIFO."""
    job, _, command = words.partition(" ")
    recorded: Path = request.getfixturevalue(f"recorded_{job}")
    whole = copied(recorded, tmp_path / "whole")
    before = files(whole)
    assert run_nothing({"IT": str(whole)}, command, "whole") == 0
    written = [name for name, number in files(whole).items() if before.get(name) != number]
    folder, victim = copied(recorded, tmp_path / "linked"), tmp_path / "victim"
    victim.write_text("precious")
    for name in written:
        for path in (folder / name, folder / f"{name}.new", folder / f"{name}.part"):
            path.unlink(missing_ok=True)
            path.symlink_to(victim)
    assert run_nothing({"IT": str(folder)}, command, "links") in (1, 2)
    assert victim.read_text() == "precious"
    for name in {Path(name).suffix: name for name in written}.values():
        folder = copied(recorded, tmp_path / name.replace("/", "-"))
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
        assert run_nothing({"IT": str(folder)}, command, name) in (1, 2)
        assert (folder / name).is_fifo() and not list(folder.rglob("*.new"))


# ---------------------------------------------------------------------- damaged records

READING = "watch IT --once; recover IT; verify IT --games 2"


@pytest.mark.integration
@fuzzed(6, 60)
def test_mutated_records_surprise_nobody(inputs: int, recorded_duel: Path, tmp_path: Path) -> None:
    damaged = edited((recorded_duel / "record.sqlite").read_bytes())

    def test(data: st.DataObject) -> None:
        folder = copied(recorded_duel, Path(tempfile.mkdtemp(dir=tmp_path)))
        stored(folder / "record.sqlite", data.draw(damaged))
        run_nothing({"IT": str(folder)}, f"{READING}; resume IT", folder)

    fuzz(inputs, test)


@pytest.mark.integration
def test_what_can_be_read_is_recovered_and_the_rest_played_again(tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=greedy", "agent@second=random", "ruleset=mini6"]
    sound = played(tmp_path / "results", *words, "games=40", "openings.plies=6").folder
    damaged = shutil.copytree(sound, tmp_path / "it's damaged")
    with closing(sqlite3.connect(sound / "record.sqlite")) as connection:
        ((size,),) = connection.execute("pragma page_size")
        leaves = "select pageno from dbstat where name = 'turns' and pagetype = 'leaf'"
        try:
            pages = [page for (page,) in connection.execute(leaves)]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite does not tell what its pages hold")
    damage = bytearray((damaged / "record.sqlite").read_bytes())
    spoilt = size * (pages[len(pages) // 2] - 1)
    damage[spoilt : spoilt + size] = bytes(size)
    (damaged / "record.sqlite").write_bytes(damage)
    before = {path: path.read_bytes() for path in damaged.iterdir()}

    said = line_of("resume", damaged, code=2)
    way_out = "othello-lab recover "
    assert way_out in said
    assert shlex.split(said[said.index(way_out) :])[-1] == str(damaged)
    out = printed("recover", damaged)
    made = tmp_path / "it's damaged-recovered"
    with Record.open(made) as record:
        saved = record.count_games()
    assert 0 < saved < 40
    assert f"{saved} of 40 games" in out and str(made) in out
    assert shlex.split(out.splitlines()[-1])[-1] == str(made)
    assert {path: path.read_bytes() for path in damaged.iterdir()} == before, "nothing is lost"
    assert main(["verify", str(made)]) == 0
    assert main(["resume", str(made)]) == 0
    assert content(made) == content(sound)

    assert main(["recover", str(damaged)]) == 0, "a second time, too"
    (damaged / "record.sqlite").write_bytes((sound / "record.sqlite").read_bytes()[:-size])
    assert " of 40 games are in " in line_of("recover", damaged), "of a file cut short"
    (damaged / "record.sqlite").write_bytes(bytes(size) + damage[size:])
    assert str(damaged) in line_of("recover", damaged, code=2)


CHEAT = """
import othello_lab, pathlib, sqlite3

class Cheat(othello_lab.RandomAgent):
    def close(self):
        for record in pathlib.Path({results!r}).rglob("record.sqlite"):
            with sqlite3.connect(record) as connection:
                connection.execute("update games set result = 'white', black_points = 0")
"""


@pytest.mark.integration
def test_a_run_keeps_the_sum_of_its_rows_and_notices_changes(
    recorded_duel: Path, tmp_path: Path
) -> None:
    folder = copied(recorded_duel, tmp_path)
    said = line_of("extend", folder, "games=12", "--force") + line_of(
        "verify", folder, "--games", 0
    )
    assert CHANGED not in said
    with closing(sqlite3.connect(folder / "record.sqlite")) as connection, connection:
        connection.execute("update agents set version = version + 1 where agent = 0")
    for words in (["resume", folder, "--force"], ["show", folder]):
        assert CHANGED in line_of(*words)


@pytest.mark.integration
def test_an_open_agent_that_changes_the_record_at_its_end_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "cheat.py").write_text(CHEAT.format(results=str(tmp_path)))
    words = ["agents=duel", "agent@first=greedy", f"agent@second={tmp_path}/cheat.py:Cheat"]
    said = line_of("run", *words, "games=6", "figures=none", f"results={tmp_path}/results")
    (folder,) = runs_in(tmp_path)
    assert said.index(CHANGED) < said.index("Elo")
    assert CHANGED in (folder / "report.md").read_text() and CHANGED in line_of("show", folder)
    assert CHANGED in line_of("verify", folder, code=1)


ENDLESS = "with recursive n (x) as (select 1 union all select x + 1 from n)"
DEEP = "[" * 100_000
BAD_TURNS = [f"turns = {value}" for value in ("'text'", "x'00'", "zeroblob(10000000)")]
BAD_TURNS += [f"turns = cast(x'{two}' || substr(turns, 3) as blob)" for two in ("4100", "00ff")]
BAD_TURNS += [f"layout = {value}" for value in ("99", "-1", "'x'", "0.5")]
BAD_TURNS += [f"first = {value}" for value in ("0", "first + 1", f"{1 << 62}", "'x'")]
BAD_GAMES = ["white_nodes = white_nodes + 1", "black = 9", "result = 'grey'", "game = -5"]
BAD_GAMES += ["transcript = x'ff00ff'", "transcript = 'a1a2'", "transcript = transcript || 'a1'"]
BAD_GAMES += ["black_points = 9e999"]
NO_SETTINGS = ["[1, 2]", "{", DEEP, "{}"]
NO_RUN = ["versions = '[]'", "format = 'five'", f"format = {1 << 62}"]
NO_RUN += [
    f"config = json_set(config, {part})" for part in ("'$.schedule', 3", "'$.ruleset.name', 'x'")
]
AGENTS = "'$.agents', json('{\"first\": 1, \"second\": 2}')"
DAMAGES = {
    0: ["update job set config = json_set(config, '$.schedule._target_', 'no.such')"],
    1: [
        *(f"update turns set {change} where game = 1" for change in BAD_TURNS),
        "delete from turns where game = 1",
        *(f"update games set {change} where game = 1" for change in BAD_GAMES),
        "update games set pair = 70 where pair = 1",
        "delete from games where game = 1",
        "update job set layouts = '[['",
        "update job set layouts = hex(zeroblob(1000000))",
        "update moves set game = 77 where game = 3",
        "update openings set text = 'zz'",
        "delete from openings",
        "delete from agents",
        f"update job set config = json_set(config, {AGENTS})",
        "insert into job select * from job",
    ],
    2: [
        *(f"drop table {table}" for table in ("games", "turns", "agents", "job")),
        f"drop table turns; create view turns as {ENDLESS} select * from n",
        f"drop table games; create view games as {ENDLESS} select * from n",
        f"drop table job; create view job as {ENDLESS} select x as format from n where x < 0",
        "drop table openings; create virtual table openings using fts5(number, text)",
        "drop table pieces; create table pieces (piece, failure as (hex(zeroblob(1e9))))",
        "create trigger t after update on job begin select load_extension('evil.so'); end",
        "alter table games drop column seed",
        "alter table games add column comment text",
        "alter table games rename column black_nodes to knots",
        "update games set transcript = cast(x'ff' as text) where game = 1",  # half a letter
        "delete from job",
        *(f"update job set config = '{text}'" for text in NO_SETTINGS),
        *(f"update job set {change}" for change in NO_RUN),
    ],
}
"""By what `verify` finds them (2: that nothing can be said), what is done to the record."""
IN_PROCESS = ["drop table games", "delete from openings", "delete from agents"]


@pytest.mark.parametrize("in_process", [True, pytest.param(False, marks=pytest.mark.integration)])
@pytest.mark.parametrize("code", DAMAGES)
def test_logical_damages_surprise_nobody(
    recorded_duel: Path, tmp_path: Path, code: int, in_process: bool
) -> None:
    for number, change in enumerate(DAMAGES[code]):
        if not in_process or change in IN_PROCESS:
            folder = changed(copied(recorded_duel, tmp_path / str(number)), change)
            words = {"IT": str(folder)}
            assert run_nothing(words, READING, change[:200]) == code
            run_nothing(words, "resume IT", change[:200])
