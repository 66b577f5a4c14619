"""The power is cut in mid-run: what is on disk then is resumed, without --force, to the record of
an uninterrupted run, and every game that was recorded is there."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import Command, await_
from records import content, games_in, runs_in
from rich.console import Console

from othello_lab.__main__ import main
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

WORDS = ["agents=classics", "games=10", "seed=3", "agents.alphabeta_5.depth=4", "figures=false"]
WORDS += ["executor.workers=2", "compiled_games=false"]  # slowly, so that there is time
TOTAL = 15 * 10
QUIET = Console(quiet=True)

Image = Callable[[Path], None]
"""Keeps what is on disk now in a new folder."""


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    return run(read([*WORDS, f"results={folder}"]), "test", QUIET).folder


def cut_at_random_moments(results: Path, image: Image, images: Path, cuts: int) -> None:
    """Keep so many images of a run that goes on, each with the number of its recorded games."""
    chance = random.Random(cuts)
    process = Command("run", *WORDS, f"results={results}")
    try:
        for number, games in enumerate(sorted(chance.sample(range(TOTAL - 40), cuts))):
            enough = max(1, games)
            await_(lambda least=enough: games_in(results) >= least or process.poll() is not None)
            time.sleep(chance.random() * 0.02)
            os.kill(process.pid, signal.SIGSTOP)  # an image is of one moment
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


def copies_of_the_files(tmp_path: Path, uninterrupted: Path, cuts: int) -> None:
    results, images = tmp_path / "results", tmp_path / "images"
    cut_at_random_moments(
        results, lambda image: (shutil.copytree(results, image), None)[1], images, cuts
    )
    check_resumed(images, uninterrupted, cuts)


@pytest.mark.integration
def test_files_copied_in_mid_run_are_resumed(tmp_path: Path, uninterrupted: Path) -> None:
    copies_of_the_files(tmp_path, uninterrupted, 2)


@pytest.mark.integration
def test_files_copied_at_ten_moments_are_resumed(tmp_path: Path, uninterrupted: Path) -> None:
    copies_of_the_files(tmp_path, uninterrupted, 10)


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


def images_of_the_disk(tmp_path: Path, disk: Path, uninterrupted: Path, cuts: int) -> None:
    images, cut = tmp_path / "images", tmp_path / "cut"
    images.mkdir()

    def image(kept: Path) -> None:
        shutil.copyfile(disk, cut)
        kept.with_name(f".{kept.name}").mkdir()
        cut.replace(kept.with_name(f".{kept.name}") / "disk")

    with mounted(disk, tmp_path / "results"):
        cut_at_random_moments(tmp_path / "results", image, images, cuts)
    for hidden in images.iterdir():
        with mounted(hidden / "disk", tmp_path / "found"):
            shutil.copytree(tmp_path / "found" / "classics", images / hidden.name[1:] / "classics")
        shutil.rmtree(hidden)
    check_resumed(images, uninterrupted, cuts)


@pytest.mark.integration
def test_a_disk_cut_off_in_mid_run_is_resumed(
    tmp_path: Path, disk: Path, uninterrupted: Path
) -> None:
    images_of_the_disk(tmp_path, disk, uninterrupted, 2)


@pytest.mark.integration
def test_a_disk_cut_off_at_ten_moments_is_resumed(
    tmp_path: Path, disk: Path, uninterrupted: Path
) -> None:
    images_of_the_disk(tmp_path, disk, uninterrupted, 10)
