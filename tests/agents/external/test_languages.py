"""The examples of each language are built in an empty folder and play, by commands as typed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bots import EXAMPLES
from chosen import rows_mostly_nightly
from records import query

from othello_lab.core.game import FINISHED

TOOLS = {
    "c": ("cc",),
    "java": ("javac", "jar", "java"),
    "js": ("node",),
    "sh": ("sh",),
    "py": ("python3",),
    "rs": ("rustc",),
    "go": ("go",),
}
"""Programs that a language needs, by the end of its files' names."""
PLAYERS = {
    "./anna": ("c", "rs", "go"),
    "java Bert": ("java",),
    "java -cp . Bert": ("java",),
    "java -jar bert.jar": ("java",),
    "node bert.js": ("js",),
    "sh bert.sh": ("sh",),
    "python3 bert.py": ("py",),
}
BOTS = {
    "./bot": ("c", "rs", "go"),
    "java Bot": ("java",),
    "node bot.js": ("js",),
    "sh bot.sh": ("sh",),
    "python3 bot.py": ("py",),
}


def in_each_language(programs: dict[str, tuple[str, ...]], always: tuple[str, ...]) -> list[object]:
    rows = [(language, command) for command, made in programs.items() for language in made]
    return rows_mostly_nightly(rows, always)


def build(language: str, name: str, folder: Path) -> None:
    """Copy an example into a folder and build it by the commands in its first comment."""
    missing = [tool for tool in TOOLS[language] if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    source = folder / f"{name}.{language}"
    shutil.copy(next(EXAMPLES.rglob(source.name)), source)
    comment = source.read_text("utf-8")[:800]
    commands = re.findall(r"^\W*((?:cc|javac|jar|rustc|go build) .*)$", comment, re.MULTILINE)
    environment = os.environ | {"GOCACHE": str(folder.parent / "cache"), "GO111MODULE": "off"}
    for command in commands:
        subprocess.run(command, shell=True, cwd=folder, check=True, env=environment)


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def lab(folder: Path, *words: str) -> str:
    """Return all that a command of the lab prints, given in this folder."""
    command = [sys.executable, "-m", "othello_lab", *words]
    environment = os.environ | {"COLUMNS": "200"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.integration
@pytest.mark.parametrize(("language", "command"), in_each_language(PLAYERS, ()))
def test_players_of_the_file_protocol(
    language: str, command: str, tmp_path: Path, empty: Path
) -> None:
    name = "anna" if command == "./anna" else "Bert" if "java" in command else "bert"
    build(language, name, empty)
    shutil.copy(EXAMPLES / "bert.py", empty / "emil.py")
    record = ("--record", str(tmp_path / "games.txt"))
    words = ["isolation.children=[bert]"] if language == "sh" else []  # it runs tr, rm and mv
    referee = "play", "referee", command, "python3 emil.py", "games=1", "seed=1", *record
    shown = lab(empty, *referee, *words)
    assert shown.count("The game is over: ") == 1, shown


@pytest.mark.integration
@pytest.mark.parametrize(("language", "command"), in_each_language(BOTS, ("sh",)))
def test_bots_of_the_line_protocol(
    language: str, command: str, tmp_path: Path, empty: Path
) -> None:
    build(language, "Bot" if language == "java" else "bot", empty)
    words = ["agent@first=line", f"first.command='{command}'", "agent@second=random", "games=2"]
    quiet = ["figures=none", "searches.positions=1", "trial=false", "executor.workers=1"]
    results = tmp_path / "results"
    lab(empty, "run", "agents=duel", *words, *quiet, f"results={results}", "isolation=closed")
    (record,) = results.rglob("record.sqlite")
    assert query(record.parent, "select distinct end_reason from games") == [(FINISHED,)]
