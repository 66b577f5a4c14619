"""Programs that attack the files of their opponent: a player of the lab loses no game by it."""

from __future__ import annotations

import functools
import re
import shutil
import sys
from pathlib import Path

import pytest
from bots import EXAMPLES, player
from chosen import mostly_nightly
from runs import told

from othello_lab.__main__ import main as lab_main
from othello_lab.__main__ import room_main
from othello_lab.core.system import call_filter, landlock

main = functools.partial(room_main, "play")

pytestmark = [
    pytest.mark.integration,
    pytest.mark.usefixtures("scratch"),
    pytest.mark.skipif(
        # Without the scope of signals the tricks would stop all processes of this machine.
        not landlock.scopes_signals() or not call_filter.available(),
        reason="needs Linux 6.12",
    ),
]
LAB = f"{sys.executable} -m othello_lab play wpi Lab agent=greedy"

TRICKS = {
    "puts a move into the other's input": "open(other + '/Lab.in', 'w').write('(W A 1)')",
    "puts a folder in the way": "os.mkdir(other + '/Lab.out')",
    "removes the other's folder": "os.rename(other, other + '-gone')",
    "closes the other's folder": "os.chmod(other, 0)",
    "stops all others": "[os.kill(p, 19) for p in pids]",
    "kills its supervisor": "os.kill(os.getppid(), 9)",
    "stops its supervisor": "os.kill(os.getppid(), 19)",
}
TROUBLE = """
import glob
pids = [int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]
others = [folder for folder in glob.glob({around!r} + '/*') if folder != os.getcwd()]
for other in others or [{around!r} + '/unknown']:
    try:
        {trick}
    except OSError:
        pass
"""


def hostile(folder: Path, trick: str) -> str:
    """The command of a program that plays a trick before each of its moves, and is honest then."""
    text = TROUBLE.format(around=str(folder / "scratch"), trick=TRICKS[trick])
    (folder / "trick.py").write_text(text)
    run = f"exec(open({str(folder / 'trick.py')!r}).read()); honest(text)"
    return player(folder, run, after=0, name="hostile")


@pytest.mark.parametrize("trick", mostly_nightly(TRICKS, ["kills its supervisor"]))
def test_the_other_plays_on(trick: str, tmp_path: Path, scratch: Path) -> None:
    words = ["seed=1", "limit=60", "--record", str(tmp_path / "games.txt")]
    shown = told("play", "referee", LAB, hostile(tmp_path, trick), *words)
    for loser in re.findall(r"\((\w+)\) loses: ", shown):
        assert loser == "hostile", shown
    assert list(scratch.iterdir()) == []


@pytest.mark.nightly
@pytest.mark.parametrize("trick", ["puts a folder in the way", "removes the other's folder"])
def test_the_other_would_lose_if_files_were_open(trick: str, tmp_path: Path) -> None:
    """So the tricks are real ones."""
    words = ["seed=1", "limit=2", "isolation=process", "--record", str(tmp_path / "games.txt")]
    assert "(Lab) loses: " in told("play", "referee", LAB, hostile(tmp_path, trick), *words)


CLASS = ["experiment=class", "games=2", "results={results}", "folder={folder}", "limits.seconds=20"]


def said_in_class(results: Path, handed_in: Path) -> str:
    """All that the programs of a class print in their tournament, which is closed by default."""
    words = [word.format(results=results, folder=handed_in) for word in CLASS]
    assert lab_main(["run", *words, "figures=none", "executor.workers=1"]) == 0
    (output,) = results.rglob("output.txt")
    return output.read_text()


SPY = """
import os, sys
for place in {places!r}:
    try:
        print(os.listdir(place) if os.path.isdir(place) else open(place).read(), file=sys.stderr)
    except OSError as error:
        print(type(error).__name__, file=sys.stderr)
for line in sys.stdin:
    if line.startswith("game"):
        print("ready", flush=True)
    elif line.startswith("move"):
        print(line.split()[-1], flush=True)
"""


@pytest.mark.parametrize(
    "command",
    mostly_nightly(["python3 spy.py", "python3 spy.py {secret}", "./spy.py"], ["./spy.py"]),
)
def test_a_program_reads_nothing_of_the_folder_where_the_command_is_typed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, handed_in = tmp_path / "grades" / "secret", tmp_path / "handed_in"
    secret.parent.mkdir()
    secret.write_text("a key")
    handed_in.mkdir()
    monkeypatch.chdir(tmp_path)
    places = [str(place) for place in (tmp_path, secret, handed_in, handed_in / "anna.py")]
    (handed_in / "spy.py").write_text("#!/usr/bin/env python3" + SPY.format(places=places))
    (handed_in / "spy.py").chmod(0o755)
    (handed_in / "spy.yaml").write_text(
        f"protocol: line\ncommand: {command.format(secret=secret)}\n", encoding="utf-8"
    )
    (handed_in / "anna.py").write_text("def strategy(player, board):\n    return 34\n")
    said = said_in_class(tmp_path / "results", handed_in)
    assert "PermissionError" in said
    assert "key" not in said
    assert "anna" not in said
    assert "def strategy" not in said


@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("cc"), reason="needs cc")
def test_c_is_compiled_and_run_in_a_closed_process(tmp_path: Path) -> None:
    handed_in = tmp_path / "handed_in"
    handed_in.mkdir()
    for name in ("anna", "bert"):
        shutil.copy(EXAMPLES / "bot.c", handed_in / f"{name}.c")
    words = [word.format(results=tmp_path / "results", folder=handed_in) for word in CLASS]
    assert lab_main(["run", *words, "protocol=line", "figures=none", "executor.workers=1"]) == 0
    (report,) = (tmp_path / "results").rglob("report.md")
    assert "forfeited" not in report.read_text("utf-8")
