"""The power is cut in mid-run: what is on disk then is resumed, without --force, to the record of
an uninterrupted run, and every game that was recorded is there."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from chosen import mostly_nightly
from processes import Command, await_
from records import content, games_in, runs_in
from rich.console import Console
from runs import played

from othello_lab.__main__ import main
from othello_lab.core.system.processes import is_stopped
from othello_lab.experiments.record.store import Record

WORDS = ["agents=classics", "games=40", "seed=3", "agents.alphabeta_5.depth=4", "figures=false"]
WORDS += ["executor.workers=2", "compiled_games=false"]  # slowly, so that there is time
QUIET = Console(quiet=True)

Image = Callable[[Path], object]
"""Keeps what is on disk now in a new folder."""

CUTS = mostly_nightly([2, 10], [2])


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("whole"), *WORDS).folder


def stops(at: list[int]) -> Callable[[], None]:
    """Return what lets a run stop itself before these of its transactions."""

    def prepare() -> None:
        write, numbers = Record.write_games, iter(range(10**6))

        def stopping(record: Record, games: object) -> None:
            if next(numbers) in at:
                os.kill(os.getpid(), signal.SIGSTOP)
            write(record, games)  # type: ignore[arg-type]

        Record.write_games = stopping  # type: ignore[method-assign]

    return prepare


def cut_at_random_moments(results: Path, image: Image, images: Path, cuts: int) -> None:
    """Keep so many images of a run that goes on, each with the number of its recorded games. It is
    stopped meanwhile, as an image is of one moment."""
    moments = sorted(random.Random(cuts).sample(range(1, 12), cuts))
    process = Command("run", *WORDS, f"results={results}", before=stops(moments))
    try:
        for number in range(cuts):
            await_(lambda: is_stopped(process.pid) or process.poll() is not None)
            image(images / f"{number}-{games_in(results)}")
            os.kill(process.pid, signal.SIGCONT)
    finally:
        process.kill()
        process.communicate()


def check_resumed(images: Path, uninterrupted: Path, cuts: int) -> None:
    wanted = content(uninterrupted)
    kept = sorted(images.iterdir())
    assert len(kept) == cuts
    for number, image in enumerate(kept):
        (folder,) = runs_in(image)
        assert games_in(image) >= int(image.name.split("-")[1]), "recorded games were lost"
        config = folder / "config.yaml"
        assert config.stat().st_size > 0
        if number % 3 == 1:
            config.write_bytes(b"\0" * config.stat().st_size)
        elif number % 3 == 2:
            config.write_bytes(b"")
        assert main(["resume", str(folder)]) == 0
        assert content(folder) == wanted
        assert config.read_bytes() == (uninterrupted / "config.yaml").read_bytes().replace(
            str(uninterrupted.parent.parent).encode(), str(images.parent / "results").encode()
        )


@pytest.mark.integration
@pytest.mark.parametrize("cuts", CUTS)
def test_files_copied_in_mid_run_are_resumed(
    tmp_path: Path, uninterrupted: Path, cuts: int
) -> None:
    results, images = tmp_path / "results", tmp_path / "images"
    cut_at_random_moments(results, lambda kept: shutil.copytree(results, kept), images, cuts)
    check_resumed(images, uninterrupted, cuts)


# ---------------------------------------------------------------------- images of a file system


@contextmanager
def mounted(disk: Path, folder: Path) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop", disk, folder], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """An empty file system in a file; what is not synced to it is not in that file."""
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(48 << 20)
    try:
        make = ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", path]
        subprocess.run(make, check=True, capture_output=True)
        with mounted(path, tmp_path / "tried"):
            pass
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a file system")
    return path


@pytest.mark.nightly
def test_a_disk_cut_off_in_mid_run_is_resumed(
    tmp_path: Path, disk: Path, uninterrupted: Path
) -> None:
    images, cut = tmp_path / "images", tmp_path / "cut"
    images.mkdir()

    def image(kept: Path) -> None:
        shutil.copyfile(disk, cut)
        kept.with_name(f".{kept.name}").mkdir()
        cut.replace(kept.with_name(f".{kept.name}") / "disk")

    with mounted(disk, tmp_path / "results"):
        cut_at_random_moments(tmp_path / "results", image, images, 10)
    for hidden in images.iterdir():
        with mounted(hidden / "disk", tmp_path / "found"):
            shutil.copytree(tmp_path / "found" / "classics", images / hidden.name[1:] / "classics")
        shutil.rmtree(hidden)
    check_resumed(images, uninterrupted, 10)
