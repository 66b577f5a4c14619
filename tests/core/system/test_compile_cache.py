"""The cache of compiled code: it spares a second compilation, and never answers for old sources.

Numba itself looks only at the file of the function that it loads, not at the files of the
functions that this one calls. So each test edits a *callee*, in a copy of the sources, and asks in
a new process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from othello_lab.core.system import compile as compiling
from othello_lab.core.system.forked import Channel, ForkedProcess
from othello_lab.core.system.rooms import ROOMS

ROOT = Path(__file__).parents[3]

COUNTS = ["1 4", "2 12", "3 56"]
PERFT = ("-c", "from othello_lab.__main__ import main; main(['core', 'perft', '--depth', '3'])")


class Copy:
    """A copy of the sources with a cache of its own, and what it answers in a new process."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "lab"
        for package in (*ROOMS, "othello_lab"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / package, self.root / package, symlinks=True, ignore=ignored)
        self.environment = {**os.environ, "OTHELLO_LAB_CACHE": str(folder / "cache")}
        self.environment.pop("PYTHONPATH", None)

    def run(
        self, *arguments: str, user: Sequence[str] = (), **environment: str
    ) -> tuple[list[str], list[str]]:
        """Lines of standard output and of standard error of ``python ...``. user: words that make
        it another user's process."""
        done = subprocess.run(
            [*user, sys.executable, *arguments],
            cwd=self.root,  # where python -m and python -c look for packages first
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines(), done.stderr.splitlines()

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace the only occurrence of ``old`` in a source file."""
        path = self.root / file
        source = path.read_text(encoding="utf-8")
        assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times in {file}"
        path.write_text(source.replace(old, new), encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_an_edited_source_moves_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And moves it back with its old text."""
    monkeypatch.setattr(compiling, "_ROOT", tmp_path)
    names = ("core/bitboard.py", "agents/search/minimax.py", "training/kernels/fit.py")
    files = [tmp_path / name for name in names]
    for file in files:
        file.parent.mkdir(parents=True)
        file.touch()
    versions = [compiling._code_version()]
    for text in ("edited", ""):
        for file in files:
            file.write_text(text)
            versions.append(compiling._code_version())
    assert len({*versions}) == 6 and versions[0] == versions[-1]


@pytest.mark.integration
@pytest.mark.parametrize("portable", [pytest.param("0", marks=pytest.mark.nightly), "1"])
def test_an_edited_move_generator_is_noticed_by_perft(copy: Copy, portable: str) -> None:
    perft = ("-m", "othello_lab", "core", "perft", "--depth", "3")
    counts, announced = copy.run(*perft, OTHELLO_LAB_PORTABLE=portable)
    assert counts == COUNTS
    assert announced[0].startswith("compiling perft")
    assert announced[1].startswith("compiled perft in")
    assert copy.run(*perft, OTHELLO_LAB_PORTABLE=portable) == (counts, [])
    # With rows looked at twice instead of columns, half of the first moves are gone.
    copy.edit("core/vector.py", "STEPS = (1, 8, 7, 9)", "STEPS = (1, 1, 7, 9)")
    copy.edit("core/bitboard.py", "_EVERYWHERE, np.uint64(8)", "_INNER_COLUMNS, np.uint64(1)")
    edited, announced = copy.run(*perft, OTHELLO_LAB_PORTABLE=portable)
    assert edited[0] == "1 2"
    assert announced[0].startswith("compiling perft")


def test_both_code_paths_keep_caches_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHELLO_LAB_CACHE", str(tmp_path))
    folders = set()
    for portable in ("0", "1"):
        monkeypatch.setenv("OTHELLO_LAB_PORTABLE", portable)
        folders.add(compiling.cache_folder.__wrapped__())  # it is asked only once in a process
    assert len(folders) == 2
    assert {folder.parent for folder in folders} == {tmp_path / "kernels"}


def test_what_has_another_name_or_key_is_prepared_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("user_cache", "cache_folder"):
        monkeypatch.setattr(compiling, name, lambda: tmp_path)
    loaded: list[str] = []
    heard: list[str] = []
    one, two = (str(tmp_path / number).replace("/", "-") for number in ("one", "two"))
    for name, key in ((one, ""), (one, ""), (two, ""), (two, two + "another")):
        compiling.prepare(name, partial(loaded.append, name + key), heard.append, key)
    assert loaded == [one, two, two + two + "another"]
    words = [line.split()[:2] for line in heard]
    assert words == [[verb, n] for n in (one, two, two) for verb in ("compiling", "compiled")]


def test_of_two_processes_one_waits_while_the_other_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path)

    def compile_(link: Channel) -> None:
        def load() -> None:
            link.send(b"begins")
            link.receive()

        compiling.prepare("kernels of this test", load)

    first = ForkedProcess(compile_)
    assert first.receive() == b"begins"
    second = ForkedProcess(compile_)
    assert second.receive_within(0.1) is None
    first.send(b"go on")
    assert second.receive() == b"begins"
    for process in (first, second):
        process.close()


NOBODY = 65534
_CAPABILITY = "+dac_read_search"  # it may read everything, as Python may be root's alone
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
AS_NOBODY += (f"--inh-caps={_CAPABILITY}", f"--ambient-caps={_CAPABILITY}")


@pytest.fixture
def user() -> tuple[str, ...]:
    """Words that begin a command of an ordinary user, who cannot write where others can."""
    if os.getuid() != 0:
        return ()
    try:
        subprocess.run([*AS_NOBODY, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("root may write anywhere, and cannot become another user here")
    return AS_NOBODY


@pytest.mark.integration
@pytest.mark.parametrize("warm", [False, True])
def test_a_cache_that_cannot_be_written_costs_time_alone(
    warm: bool, copy: Copy, user: tuple[str, ...], tmp_path: Path
) -> None:
    """A warm one is copied; where the copy cannot be written either, every start compiles, and says
    so. ``/dev/null/...`` is no folder for root either."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    there = {"TMPDIR": str(temporary), "HOME": "/"}
    if warm:
        assert copy.run(*PERFT)[0] == COUNTS
        cache = Path(copy.environment["OTHELLO_LAB_CACHE"])
        for folder in (cache, *(path for path in cache.rglob("*") if path.is_dir())):
            folder.chmod(0o500)
        if user:
            os.chown(temporary, NOBODY, NOBODY)
    else:
        user, there["OTHELLO_LAB_CACHE"] = (), "/dev/null/cache"
        counts, said = copy.run(*PERFT, **there)
        folder = temporary / f"othello-strategy-lab-{os.getuid()}"
        assert counts == COUNTS
        assert "/dev/null/cache cannot be written" in said[0] and str(folder) in said[0]
        assert said[1].startswith("compiling perft")
    assert copy.run(*PERFT, user=user, **there) == (COUNTS, [])
    (folder,) = temporary.iterdir()
    folder.chmod(0o777)  # where others can write, no code is taken from
    for _ in range(2):
        counts, said = copy.run(*PERFT, user=user, **there)
        assert counts == COUNTS
        assert "every start compiles again" in said[0] and said[1].startswith("compiling perft")
        assert "cannot be written" not in "".join(said[1:])


def test_the_user_chooses_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.delenv("OTHELLO_LAB_CACHE", raising=False)
    assert compiling.user_cache() == Path("/home/me/.cache/othello-strategy-lab")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert compiling.user_cache() == Path("/cache/othello-strategy-lab")
    monkeypatch.setenv("OTHELLO_LAB_CACHE", "/somewhere")
    assert compiling.user_cache() == Path("/somewhere")
