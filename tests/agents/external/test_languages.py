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
    ("c", "./anna"),
    ("java", "java Bert"),
    ("java", "java -cp . Bert"),
    ("java", "java -jar bert.jar"),
    ("js", "node bert.js"),
    ("sh", "sh bert.sh"),
    ("py", "python3 bert.py"),
    ("rs", "./anna"),
    ("go", "./anna"),
}
BOTS = {
    ("c", "./bot"),
    ("java", "java Bot"),
    ("js", "node bot.js"),
    ("sh", "sh bot.sh"),
    ("py", "python3 bot.py"),
    ("rs", "./bot"),
    ("go", "./bot"),
}
QUICK = ("sh",)
"""A language that needs no tools but those of any system: its bot plays in each test run."""


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


def lab(folder: Path, *words: str) -> str:
    """Return all that a command of the lab prints, given in this folder."""
    done = subprocess.run(
        [sys.executable, "-m", "othello_lab", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.integration
@pytest.mark.parametrize(("language", "command"), sorted(PLAYERS))
def test_players_of_the_file_protocol(language: str, command: str, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    build(
        language, "anna" if command == "./anna" else "Bert" if "java" in command else "bert", folder
    )
    shutil.copy(EXAMPLES / "bert.py", folder / "emil.py")
    record = ("--record", str(tmp_path / "games.txt"))
    shown = lab(folder, "play", "referee", command, "python3 emil.py", "games=1", "seed=1", *record)
    assert shown.count("The game is over: ") == 1, shown


@pytest.mark.parametrize(
    ("language", "command"),
    [
        pytest.param(*each, marks=() if each[0] in QUICK else pytest.mark.integration)
        for each in sorted(BOTS)
    ],
)
def test_bots_of_the_line_protocol(language: str, command: str, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    build(language, "Bot" if language == "java" else "bot", folder)
    words = ["agent@first=line", f"first.command='{command}'", "agent@second=random", "games=2"]
    quiet = ["figures=none", "searches.positions=1", "trial=false", "executor.workers=1"]
    results = tmp_path / "results"
    lab(folder, "run", "agents=duel", *words, *quiet, f"results={results}", "isolation=closed")
    (record,) = results.rglob("games.sqlite")
    ends = [end for (end,) in query(record.parent, "select end_reason from games")]
    assert ends == [FINISHED] * len(ends) and ends
