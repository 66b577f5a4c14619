"""A stranger's folder with links and FIFOs in the place of files: no command hangs, and none writes
into another file."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from chosen import mostly_nightly
from refusals import ended
from shared import copied

pytestmark = pytest.mark.integration
WRITE = [
    *("duel report {}", "duel export {} csv", "duel export {} wthor", "duel extend {} games=40"),
    *("duel report {} --figures files", "study report {} --figures files", "sweep report {}"),
    *("sweep extend {} games=12", "training report {}"),
]
READ = ["show {}", "watch {} --once", "verify {} --games 1", "list {}", "compare {} {}"]
READ += ["play replay {}", "recover {}", "resume {} --force", "report {}", "export {} jsonl"]
ADDED = ("log.txt", "output.txt", "checks.txt", "games.sqlite-journal", "games.sqlite-wal")


def done(command: str, folder: Path) -> object:
    """Run a command, for 60 s at most; return its exit code."""
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends this process
    signal.alarm(60)
    code, out, err = ended([word.format(folder) for word in command.split()])
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    assert "Traceback" not in out + err and (code != 2 or err.count("\n") == 1), err
    return code


def files(folder: Path) -> dict[str, int]:
    """Return the files below a folder, each with its number in the file system."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.lstat().st_ino for path in found}


@pytest.mark.parametrize("words", mostly_nightly(WRITE, WRITE[:4]))
def test_no_file_elsewhere_is_written(
    words: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    job, _, command = words.partition(" ")
    recorded: Path = request.getfixturevalue(f"recorded_{job}")
    whole = copied(recorded, tmp_path / "whole")
    before = files(whole)
    assert done(command, whole) == 0
    written = [name for name, number in files(whole).items() if before.get(name) != number]
    folder, victim = copied(recorded, tmp_path / "linked"), tmp_path / "victim"
    victim.write_text("precious")
    for name in written:
        for path in (folder / name, folder / f"{name}.new", folder / f"{name}.part"):
            path.unlink(missing_ok=True)
            path.symlink_to(victim)
    assert done(command, folder) in (1, 2)
    assert victim.read_text() == "precious"
    for name in {Path(name).suffix: name for name in written}.values():
        folder = copied(recorded, tmp_path / name.replace("/", "-"))
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
        assert done(command, folder) in (1, 2), name
        assert (folder / name).is_fifo() and not list(folder.rglob("*.new"))


@pytest.mark.parametrize("job", mostly_nightly(["duel", "sweep", "study", "training"], ["duel"]))
def test_nothing_waits_for_a_fifo(job: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    recorded: Path = request.getfixturevalue(f"recorded_{job}")
    for place, name in enumerate(sorted({*files(recorded), *ADDED})):
        for number, command in enumerate(READ):
            folder = copied(recorded, tmp_path / f"{place}-{number}")
            (folder / name).unlink(missing_ok=True)
            os.mkfifo(folder / name)
            done(command, folder)
