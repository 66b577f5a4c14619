"""Games over a Dask cluster: real schedulers and workers, each a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from records import content, games_in, query, runs_in
from rich.console import Console

from experiments.__main__ import main
from experiments.config import read
from experiments.run import run

pytest.importorskip("distributed")

ROOT = Path(__file__).resolve().parents[2]
WORDS = ["agents=classics", "games=20", "seed=3", "agents.alphabeta_5.depth=4"]
TOTAL = 15 * 20
QUIET = Console(quiet=True)


def await_(done: Callable[[], object], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def python(*words: str, path: Path = ROOT, **settings: object) -> Iterator[subprocess.Popen[str]]:
    """A Python of its own, with the lab from ``path``; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **settings,  # type: ignore[call-overload]
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Scheduler:
    """A Dask scheduler, and workers that join it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"

    @contextmanager
    def running(self) -> Iterator[Scheduler]:
        words = ["--port", "0", "--host", "127.0.0.1", "--no-dashboard"]
        words += ["--scheduler-file", str(self._file)]
        with python("-m", "dask", "scheduler", *words, cwd=self._folder):
            await_(lambda: self._file.exists() and self._file.stat().st_size)
            self.address = json.loads(self._file.read_text())["address"]
            yield self

    @contextmanager
    def worker(self, name: str, path: Path = ROOT) -> Iterator[subprocess.Popen[str]]:
        words = ["--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        words += ["--local-directory", str(self._folder)]
        command = ["-m", "dask", "worker", self.address, *words]
        with python(*command, path=path, cwd=self._folder) as process:
            yield process


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Scheduler]:
    with Scheduler(tmp_path).running() as scheduler:
        yield scheduler


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serial")
    return run(read([*WORDS, f"results={folder}", "executor=serial"]), "test", QUIET).folder


def test_a_worker_killed_in_mid_run_costs_nothing(
    tmp_path: Path, scheduler: Scheduler, serial: Path
) -> None:
    results = tmp_path / "results"
    words = ["run", *WORDS, f"results={results}", "executor=dask"]
    with (
        scheduler.worker("left") as left,
        scheduler.worker("right"),
        python("-m", "experiments", *words, f"executor.address={scheduler.address}") as driver,
    ):
        await_(lambda: games_in(results) >= 20 or driver.poll() is not None)
        left.send_signal(signal.SIGKILL)
        killed_at = games_in(results)
        printed, _ = driver.communicate(timeout=120)
    assert driver.returncode == 0, printed
    assert "distributed" not in printed and "Traceback" not in printed
    assert killed_at < TOTAL
    (folder,) = runs_in(results)
    assert content(folder) == content(serial)
    log = (folder / "log.txt").read_text()
    assert "worker left" in log and "is gone" in log
    assert scheduler.address in (folder / "report.md").read_text()
