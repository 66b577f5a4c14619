"""The command lines as a user types them."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from chosen import mostly_nightly
from processes import Command, await_
from records import runs_in
from rich.console import Console

from othello_lab.__main__ import HELP, all_commands, main
from othello_lab.agents.command_line import main as agents_main
from othello_lab.agents.commands.bench import bench, signature
from othello_lab.core.system.rooms import ROOMS
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.progress import progress_bar

SIGNATURE = 19_035_066
"""Total nodes of ``othello-lab bench``. Moves only when a search changes what it does."""


def test_a_run_prints_its_table_and_where_things_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "agents=ab_vs_minimax", "games=4", "depth=2", "figures=false"]
    words.append(f"results={tmp_path}")
    assert main(words) == 0
    printed = capsys.readouterr().out
    for expected in (
        *("games/s", "4/4", "nodes", "evals", "Elo", "score", "every pair split"),
        "at equal strength: 50.0 % of 4 games, the same moves in all 2 pairs",
        "% of minimax's",
    ):
        assert expected in printed
    (folder,) = runs_in(tmp_path)
    for name in ("report.html", "games.sqlite"):
        assert str(folder / name) in printed
    with Record.open(folder) as record:
        assert record.run()["command"] == "othello-lab " + " ".join(words)


def test_a_run_told_of_in_one_update_has_a_speed() -> None:
    console = Console(file=io.StringIO(), record=True, width=120)
    with progress_bar(console) as progress:
        bar = progress.add_task("run", total=30, completed=10, before=10, note="", warnings=[])
        time.sleep(0.01)
        progress.update(bar, completed=30)
    (speed,) = re.findall(r"([\d,.]+) games/s", console.export_text())
    assert 0 < float(speed.replace(",", "")) <= 20 / 0.01


def test_a_duel_from_the_command_line(tmp_path: Path) -> None:
    words = "agents=duel agent@first=alphabeta agent@second=random games=4 first.depth=1 "
    words += "figures=false"
    assert main(["run", *words.split(), f"results={tmp_path}"]) == 0
    with Record.open(*runs_in(tmp_path)) as record:
        assert set(record.games()["black"]) == {"alphabeta", "random"}


BAD = [
    "run agents=clasics",
    "run agents=duel agent@first=alphabta agent@second=greedy",
    "run evaluation=discs",
    "run ruleset=chess",
    "run depth=0",
    "run depth=-1",
    "run depth=deep",
    "run games=7",
    "run games=0",
    "run executor.workers=0",
    "run dpeth=3",
    "run nonsense",
    "run --nonsense",
    "run --config-dir nowhere",
    "run --cfg job agents=clasics",
    "run results=/proc/nowhere games=2 depth=1",
    "run +agents.mine._target_=nowhere.Agent",
    "run openings.plies=0 games=10",
    "run -m depth=1,0 games=2",
    "run games=2 -m depth=1,0",
    "run -m depth=1,2 agents=clasics",
    "run -m agents=ab_mirror,clasics",
    "run agents=duel",
    "run depth=1,2",
    "run depth=zip(1,2)",
    "run agents=[1,2]",
    "run evaluation=1",
    "rnu agents=classics",
]


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_one_line_and_exit_code_2(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    output = capsys.readouterr()
    assert output.err.count("\n") == 1
    assert output.err.startswith("othello-lab: ")
    assert "Traceback" not in output.out + output.err
    assert not list(tmp_path.iterdir()), "something was written"


@pytest.mark.parametrize(
    "words",
    [
        "run games=2",
        "run -m depth=1,2 games=2",
        "run --help",
        "run --cfg job",
        "agents list",
        "agents list agents",
    ],
)
def test_a_yaml_named_like_one_of_the_labs_is_named(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine" / "evaluation" / "iago.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("# mine\n_target_: othello_lab.DiscCount\n", encoding="utf-8")
    program, *rest = words.split()
    command = agents_main if program == "agents" else lambda rest: main([program, *rest])
    assert command([*rest, "--config-dir", "mine"]) == 2
    output = capsys.readouterr()
    assert not output.out
    assert output.err.count("\n") == 1
    assert "mine: evaluation/iago.yaml is named like" in output.err
    assert "rename it" in output.err
    assert {path.name for path in tmp_path.iterdir()} == {"mine"}, "something was written"


def test_help_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--help"], ["-h"]):
        assert main(words) == 0
        assert capsys.readouterr().out == HELP
    for command in all_commands():
        assert f"\n  {command} " in HELP, command
    assert main(["run", "--help"]) == 0
    shown = capsys.readouterr().out
    for expected in (
        *("agents: ab_mirror, ab_vs_minimax,", "agent@first=", "--config-dir", "\ngames: 100\n"),
        *("openings=random (default): ", "openings=file: ", "shuffle: false", "sprt_beta: 0.05"),
        "# Seconds without an answer after which an agent counts as hung",
        "# Games per pairing. An even number of 2 or more",
    ):
        assert expected in shown
    for unwanted in ("\nhydra:", "\ndefaults:", "@package", "_target_", "_schema_", "None"):
        assert unwanted not in shown


def test_the_configuration_can_be_shown(tmp_path: Path) -> None:
    asking = Command("run", "--cfg", "job", "games=8", before=partial(os.chdir, tmp_path))
    shown, _ = asking.communicate()
    assert asking.returncode == 0
    assert "games: 8" in shown
    assert not list(tmp_path.iterdir())


@pytest.mark.integration
def test_list_names_every_choice(capsys: pytest.CaptureFixture[str]) -> None:
    assert agents_main(["list"]) == 0
    printed = capsys.readouterr().out
    for name in ("alphabeta", "weighted", "square_weights", "disc_count", "ab_vs_minimax", "duel"):
        assert name in printed
    assert agents_main(["list", "evaluations"]) == 0
    assert "alphabeta" not in capsys.readouterr().out


@pytest.mark.integration
def test_an_agent_and_a_heuristic_from_another_folder(tmp_path: Path) -> None:
    """The agent of docs/search.md and the heuristic of docs/heuristic.md, in one file beside
    my_conf/, and nothing changed here."""
    mine = []
    for name, start in (("search", "class Corners("), ("heuristic", "def hollow(")):
        page = (Path(__file__).parents[2] / "docs" / f"{name}.md").read_text(encoding="utf-8")
        blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
        mine += [block for block in blocks if start in block]
    assert len(mine) == 2
    (tmp_path / "mine.py").write_text("\n".join(mine), encoding="utf-8")
    (tmp_path / "my_conf" / "agent").mkdir(parents=True)
    yaml = tmp_path / "my_conf" / "agent" / "corners.yaml"
    yaml.write_text("# mine\n_target_: mine.Corners\n", encoding="utf-8")
    words = (
        "agents=duel agent@first=corners agent@second=alphabeta depth=2 "
        "evaluation=function evaluation.target=./mine.py:hollow figures=false"
    )

    def stand_there() -> None:
        os.chdir(tmp_path)
        sys.path.insert(0, str(tmp_path))  # as python -m does

    arguments = ["run", "--config-dir", "my_conf", *words.split(), "games=4"]
    process = Command(*arguments, before=stand_there)
    printed, _ = process.communicate()
    assert process.returncode == 0, printed
    with Record.open(*runs_in(tmp_path / "results")) as record:
        games, moves = record.games(), record.moves()
    assert set(games["end_reason"]) == {"finished"}
    values = moves[(moves["agent"] == "alphabeta") & moves["value"].notna()]["value"]
    # Corners and mobility, or finished games.
    assert (values.abs().lt(80) | values.abs().ge(1 << 24)).all()


def test_ctrl_c_twice_stops_at_once(tmp_path: Path) -> None:
    process = Command("run", "depth=12", f"results={tmp_path}")
    await_(lambda: any(" begins" in log.read_text() for log in tmp_path.rglob("log.txt")))
    os.killpg(process.pid, signal.SIGINT)
    await_(lambda: "stopping after the pairs under way" in process.printed)
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate()  # one game of minimax at depth 12 takes hours
    assert process.returncode == 130, printed
    assert "Traceback" not in printed


def test_what_a_heuristic_thinks(capsys: pytest.CaptureFixture[str]) -> None:
    assert agents_main(["evaluate", "f5d6c3d3c4", "--evaluation", "iago"]) == 0
    printed = capsys.readouterr().out
    assert "White (O) to move" in printed
    assert "-7237" in printed  # 0 - 10941 + 3704, see the parts
    assert "x 62000 = -10941" in " ".join(printed.split())
    values = [int(w) for w in re.findall(r"^ [a-h][1-8] +([+-]\d+)", printed, re.M)]
    assert len(values) == 6
    assert values == sorted(values, reverse=True)
    assert agents_main(["evaluate", "f5d6c3d3c4"]) == 0
    printed = capsys.readouterr().out
    for name in ("iago", "composite", "stable_discs"):
        assert f" {name} " in printed


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "f5d6c9"],
        ["evaluate", "f5", "--evaluation", "iagu"],
        ["evaluate", "f5", "--evaluation", "./nowhere.py:f"],
        ["evaluate", "--", "XO X"],
        ["evaluate", "a2", "--ruleset", "mini4", "--evaluation", "iago"],
    ],
)
def test_a_position_or_heuristic_that_is_none(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert agents_main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_signature_of_the_searches() -> None:
    rows = bench()
    assert signature(rows) == SIGNATURE, "\n".join(str(row) for row in rows)


# ------------------------------------------------------------------ from any folder


BEGINNINGS = [("-m", "othello_lab"), ("-P", "-m", "othello_lab")]


def own_files(folder: Path) -> None:
    """Files of a user's own that are called as the lab's rooms are."""
    for room in ROOMS:
        (folder / f"{room}.py").write_text("raise SystemExit('not the lab')\n", encoding="utf-8")


@pytest.mark.integration
@pytest.mark.parametrize("begin", mostly_nightly(BEGINNINGS, BEGINNINGS[:1]))
def test_all_commands_from_a_folder_with_files_of_the_same_names(
    begin: tuple[str, ...], tmp_path: Path
) -> None:
    """The folder's own modules are found all the same."""
    own_files(tmp_path)
    (tmp_path / "ours.py").write_text(
        "from othello_lab import RandomAgent\nclass Ours(RandomAgent):\n    pass\n"
    )
    process = in_folder(tmp_path, *begin, "agents", "check", "ours.Ours", "mine=1")
    assert process.returncode == 2
    assert "Ours.__init__() takes" in process.stderr, "it is found, but has no such setting"
    process = in_folder(tmp_path, *begin, "nonsense")
    assert process.returncode == 2
    assert f"choose from {', '.join(sorted(all_commands()))}" in process.stderr
    process = in_folder(tmp_path, *begin, "core", "perft", "--depth", "2")
    assert (process.returncode, process.stdout.split()) == (0, ["1", "4", "2", "12"])


@pytest.mark.parametrize("room", mostly_nightly(ROOMS, ["play"]))
def test_each_room_is_a_command_of_a_checkout(room: str, tmp_path: Path) -> None:
    process = in_folder(tmp_path, "-m", room, "--help")
    assert process.returncode == 0
    assert process.stdout.startswith("usage: othello-lab")


@pytest.mark.parametrize("room", mostly_nightly(ROOMS, ["core"]))
def test_a_room_of_a_checkout_is_not_imported_a_second_time(room: str, tmp_path: Path) -> None:
    process = in_folder(tmp_path, "-c", f"import {room}")
    assert process.returncode == 1
    assert f"ImportError: {room} is part of the lab: othello_lab.{room}" in process.stderr


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
