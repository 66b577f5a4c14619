"""The command lines as a user types them."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from chosen import mostly_nightly
from processes import Command, await_
from records import runs_in
from rich.console import Console
from runs import line_of, printed

from othello_lab.__main__ import HELP, all_commands
from othello_lab.agents.commands.bench import bench, signature
from othello_lab.agents.composing import choices
from othello_lab.core.system.rooms import ROOMS
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.progress import progress_bar
from othello_lab.experiments.studies.study_command import study_help
from othello_lab.training.commands import train_help
from othello_lab.training.data import Positions
from othello_lab.training.evolution import Evolved

SIGNATURE = 19_035_066
"""Total nodes of ``othello-lab bench``. Moves only when a search changes what it does."""


def test_a_run_prints_its_table_and_where_things_are(tmp_path: Path) -> None:
    words = ["run", "agents=ab_vs_minimax", "games=4", "depth=2", "executor=serial"]
    words += ["figures=false", f"results={tmp_path}"]
    printed = line_of(*words)
    for expected in (
        *("games/s", "4/4", "nodes", "evals", "Elo", "score", "every pair split"),
        *("50.0 % of 4 games", "% of minimax's"),
    ):
        assert expected in printed
    (folder,) = runs_in(tmp_path)
    for name in ("report.html", "record.sqlite"):
        assert str(folder / name) in printed
    with Record.open(folder) as record:
        assert record.head()["command"] == "othello-lab " + " ".join(words)


def test_a_run_told_of_in_one_update_has_a_speed() -> None:
    now = [0.0]
    console = Console(file=io.StringIO(), record=True, width=120, get_time=lambda: now[0])
    with progress_bar(console) as progress:
        bar = progress.add_task("run", total=30, completed=10, before=10, note="", warnings=[])
        now[0] = 2.0
        progress.update(bar, completed=30)
    assert re.findall(r"([\d,.]+) games/s", console.export_text()) == ["10"]


@pytest.mark.parametrize("words", ["run games=2", "run -m depth=1,2", "run --help", "agents list"])
def test_a_yaml_named_like_one_of_the_labs_is_named(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine" / "evaluation" / "iago.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("# mine\n_target_: othello_lab.DiscCount\n", encoding="utf-8")
    error = line_of(*words.split(), "--config-dir", "mine", code=2)
    assert "mine: evaluation/iago.yaml" in error and "rename" in error
    assert {path.name for path in tmp_path.iterdir()} == {"mine"}, "something was written"


def test_help_explains_itself() -> None:
    for words in ([], ["--help"], ["-h"]):
        assert printed(*words) == HELP
    for command in all_commands():
        assert f"\n  {command} " in HELP, command
    listed = {line.split()[0] for line in HELP.splitlines() if re.match(r"  [a-z]+ .*  ", line)}
    assert listed == set(all_commands())
    shown = printed("run", "--help")
    for expected in (
        *("agents: ab_mirror, ab_vs_minimax,", "agent@first=", "--config-dir", "\ngames: 100\n"),
        *("openings=random (default): ", "openings=file: ", "shuffle: false", "sprt_beta: 0.05"),
        *("# Seconds without an answer", "# Games per pairing"),
    ):
        assert expected in shown
    for unwanted in ("\nhydra:", "\ndefaults:", "@package", "_target_", "_schema_", "None"):
        assert unwanted not in shown


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("play", "terminal web series replay review gtp nboard wpi referee levels"),
        ("play terminal --help", "--record limits: series human alphabeta pause"),
        ("play web --help", "port: 8377"),
        ("play gtp --help", "agent=alphabeta"),
        ("play nboard --help", "NBoard"),
        ("play wpi", "agent=AGENT"),
        ("play wpi --help", "agent=AGENT limit folder"),
        ("play referee", "games limit names folder isolation output"),
        ("play referee --help", "games limit names folder isolation output"),
        ("plan --help", "split"),
        ("selfplay --help", "random_plies: agent="),
    ],
)
def test_help_tells_the_settings(words: str, settings: str) -> None:
    shown = line_of(*words.split())
    assert [word for word in settings.split() if word not in shown] == []


@pytest.mark.parametrize(("group", "help_of"), [("study", study_help), ("train", train_help)])
def test_help_tells_of_every_study_and_training(group: str, help_of: Callable[..., str]) -> None:
    shown = help_of()
    for name, meaning in choices(group).items():
        text = help_of(name)
        assert meaning and name in shown and f"{group} {name}" in text
        has_time = group == "train" and name not in ("all", "champion", "champion_tiny")
        assert ("minutes: a number of more than 0" in text) == has_time


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("distributed", "dask", lambda: read(["executor=dask"])),
        ("pyarrow", "learn", lambda: Positions.read("nothing.parquet")),
        ("cma", "learn", lambda: Evolved().check(read([]))),
    ],
)
def test_without_a_package_its_extra_is_named(
    package: str, extra: str, use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=rf"{package}.*\[{extra}\]"):
        use()


def test_the_configuration_can_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "games: 8" in line_of("run", "--cfg", "job", "games=8")
    assert not list(tmp_path.iterdir())


@pytest.mark.integration
def test_ctrl_c_twice_stops_at_once(tmp_path: Path) -> None:
    process = Command("run", "depth=12", f"results={tmp_path}")
    await_(lambda: any(" begins" in log.read_text() for log in tmp_path.rglob("log.txt")))
    os.killpg(process.pid, signal.SIGINT)
    process.says("stopping after the pairs under way")
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate()  # one game of minimax at depth 12 takes hours
    assert process.returncode == 130, printed
    assert "Traceback" not in printed
    (folder,) = runs_in(tmp_path)
    assert printed.count(f"othello-lab resume {folder}\n") == 1


def test_the_signature_of_the_searches() -> None:
    rows = bench()
    assert signature(rows) == SIGNATURE, "\n".join(str(row) for row in rows)


BEGINNINGS = [("-m", "othello_lab"), ("-P", "-m", "othello_lab")]


@pytest.mark.integration
@pytest.mark.parametrize("begin", mostly_nightly(BEGINNINGS, BEGINNINGS[:1]))
def test_all_commands_from_a_folder_with_files_of_the_same_names(
    begin: tuple[str, ...], tmp_path: Path
) -> None:
    """The folder's own modules are found all the same."""
    for room in ROOMS:
        (tmp_path / f"{room}.py").write_text("raise SystemExit('not the lab')\n")
    (tmp_path / "ours.py").write_text(
        "from othello_lab import RandomAgent\nclass Ours(RandomAgent):\n    pass\n"
    )
    process = in_folder(tmp_path, *begin, "agents", "check", "ours.Ours", "mine=1")
    assert process.returncode == 2
    assert "Ours.__init__()" in process.stderr, "it is found, but has no such setting"
    process = in_folder(tmp_path, *begin, "nonsense")
    assert process.returncode == 2
    assert ", ".join(sorted(all_commands())) in process.stderr
    process = in_folder(tmp_path, *begin, "core", "perft", "--depth", "2")
    assert (process.returncode, process.stdout.split()) == (0, ["1", "4", "2", "12"])


@pytest.mark.integration
@pytest.mark.parametrize("room", mostly_nightly(ROOMS, ["play"]))
def test_each_room_is_a_command_of_a_checkout_and_no_package(room: str, tmp_path: Path) -> None:
    process = in_folder(tmp_path, "-m", room, "--help")
    assert process.returncode == 0
    assert process.stdout.startswith("usage: othello-lab")
    process = in_folder(tmp_path, "-c", f"import {room}")
    assert process.returncode == 1
    assert "ImportError: " in process.stderr and f"othello_lab.{room}" in process.stderr


IMPORT_ALL = """
import logging, multiprocessing, os, pkgutil, signal, sys, warnings
sys.path.insert(0, {root!r})
import matplotlib, numpy  # they may set up what they like

def state():
    signals = [signal.getsignal(number) for number in signal.valid_signals()]
    return (signals, os.getcwd(), dict(os.environ), list(sys.path),
        list(logging.getLogger().handlers), multiprocessing.get_start_method(allow_none=True),
        sys.excepthook, numpy.geterr(), os.umask(os.umask(0)), dict(matplotlib.rcParams))

before = state()
import othello_lab
for each in pkgutil.walk_packages(othello_lab.__path__, "othello_lab."):
    try:
        __import__(each.name)
    except ModuleNotFoundError as error:
        assert "othello_lab" not in str(error), error  # what an extra brings
changed = [place for place, (was, now) in enumerate(zip(before, state())) if was != now]
assert len([name for name in sys.modules if name.startswith("othello_lab.")]) > 200
assert not changed, changed
assert not set({rooms!r}) & set(sys.modules)
"""


@pytest.mark.integration
def test_importing_anything_changes_nothing_in_the_process(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    code = IMPORT_ALL.format(root=root, rooms=ROOMS)
    process = in_folder(tmp_path, "-W", "ignore", "-c", code)
    assert (process.returncode, process.stderr) == (0, "")


def in_folder(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Start a Python in a folder; it finds the lab in this checkout."""
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
