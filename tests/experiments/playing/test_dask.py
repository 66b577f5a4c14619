"""Games over a Dask cluster: real schedulers and workers, each a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from processes import await_, descendants, lives
from records import content, games_in, runs_in
from rich.console import Console
from runs import line_of, played

from othello_lab.__main__ import main
from othello_lab.core.system.rooms import ROOMS
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.system.shared_memory import STOPPING
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import resume, run
from othello_lab.experiments.playing import cluster, cluster_worker
from othello_lab.experiments.playing.fork_server import start_fork_server
from othello_lab.experiments.record.provenance import versions

pytest.importorskip("distributed")

ROOT = Path(__file__).resolve().parents[3]
DUEL = ["agents=duel", "agent@first=alphabeta", "agent@second=random", "seed=3", "figures=none"]
WORDS = [*DUEL, "games=300", "compiled_games=false"]
LONG = [*DUEL, "compiled_games=false", "games=400", "depth=6"]
QUIET = Console(quiet=True)

Content = dict[str, list[tuple[object, ...]]]


@contextmanager
def python(
    *words: str, path: Path = ROOT, config: Path | None = None, **settings: object
) -> Iterator[subprocess.Popen[str]]:
    """A Python of its own, with the lab from ``path``; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, *words],
        env=os.environ
        | {"PYTHONPATH": str(path)}
        | ({"DASK_CONFIG": str(config)} if config else {}),
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **{"stdout": subprocess.PIPE, **settings},  # type: ignore[call-overload]
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


HERE = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]


class Scheduler:
    """A Dask scheduler, and workers that join it. words: of its command. config: a file of Dask's
    settings."""

    def __init__(self, folder: Path, *words: str, config: Path | None = None) -> None:
        self._folder, self._words, self._config = folder, words, config
        self._file = folder / "scheduler.json"

    @contextmanager
    def running(self) -> Iterator[Scheduler]:
        words = ["--port", "0", *HERE, "--scheduler-file", str(self._file), *self._words]
        with self._dask("scheduler", *words) as self.process:
            await_(lambda: self._file.exists() and self._file.stat().st_size)
            self.address = json.loads(self._file.read_text())["address"]
            yield self

    @contextmanager
    def worker(self, name: str, path: Path = ROOT) -> Iterator[subprocess.Popen[str]]:
        words = ["--name", name, "--nthreads", "1", "--no-nanny", *HERE]
        words += ["--local-directory", str(self._folder)]
        with self._dask("worker", self.address, *words, path=path) as process:
            yield process

    @contextmanager
    def _dask(self, *words: str, path: Path = ROOT) -> Iterator[subprocess.Popen[str]]:
        options = {"path": path, "config": self._config, "cwd": self._folder}
        with (
            (self._folder / "dask.log").open("a") as log,
            python("-m", "dask", *words, stdout=log, **options) as process,  # type: ignore[arg-type]
        ):
            yield process


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Scheduler]:
    with Scheduler(tmp_path).running() as scheduler:
        yield scheduler


def serial(folder: Path, *words: str) -> Content:
    """What the record of the same run has when it is played in this process."""
    return content(played(folder / "serial", *words).folder)


@pytest.fixture(scope="module")
def long_serial(tmp_path_factory: pytest.TempPathFactory) -> Content:
    return serial(tmp_path_factory.mktemp("long"), *LONG)


def played_over(scheduler: Scheduler, *words: str, act: Callable[[], None]) -> Path:
    """The folder of a run over a cluster; something is done in mid-run, in another thread."""
    plan = read([*words, "executor=dask", f"executor.address={scheduler.address}"])
    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(act)
        folder = run(plan, "test", QUIET).folder
        done.result()
    return folder


@pytest.mark.integration
def test_a_worker_killed_in_mid_run_costs_nothing(tmp_path: Path, scheduler: Scheduler) -> None:
    results = tmp_path / "results"
    with scheduler.worker("left") as left, scheduler.worker("right"):

        def kill() -> None:
            await_(lambda: games_in(results) >= 20)
            left.kill()

        folder = played_over(scheduler, *WORDS, f"results={results}", act=kill)
    assert content(folder) == serial(tmp_path, *WORDS)
    log = (folder / "log.txt").read_text()
    assert "worker left at tcp://127.0.0.1" in log and "is gone" in log
    assert f"Dask cluster at {scheduler.address}" in (folder / "report.md").read_text()


@pytest.mark.nightly
def test_workers_that_join_play_if_they_have_the_same_lab(
    tmp_path: Path, scheduler: Scheduler, long_serial: Content
) -> None:
    results = tmp_path / "results"
    with ExitStack() as stack:
        stack.enter_context(scheduler.worker("early"))

        def join() -> None:
            await_(lambda: games_in(results) >= 10)
            stack.enter_context(scheduler.worker("odd", path=other_lab(tmp_path)))
            stack.enter_context(scheduler.worker("late"))

        folder = played_over(scheduler, *LONG, f"results={results}", act=join)
    log = (folder / "log.txt").read_text()
    assert "worker late at" in log
    (refused,) = [line for line in log.splitlines() if "worker odd at" in line]
    assert "versions" in refused and "code " in refused
    assert content(folder) == long_serial


def other_lab(folder: Path) -> Path:
    """A copy of the lab with a difference that changes no game."""
    copy = folder / "other"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in (*ROOMS, "conf", "othello_lab"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    with (copy / "agents" / "simple.py").open("a") as file:
        file.write("# edited\n")
    return copy


@pytest.mark.nightly
def test_other_versions_are_refused_before_anything_is_written(
    tmp_path: Path, scheduler: Scheduler
) -> None:
    with scheduler.worker("fine"), scheduler.worker("odd", path=other_lab(tmp_path)):
        words = ["run", *WORDS, f"results={tmp_path / 'results'}", "executor=dask"]
        printed = line_of(*words, f"executor.address={scheduler.address}", code=2)
    assert "worker odd at tcp://127.0.0.1" in printed
    assert f"code {versions({})['code']} -> " in printed
    assert not (tmp_path / "results").exists()


@pytest.mark.nightly
def test_without_its_scheduler_a_run_ends_and_is_resumed_elsewhere(
    tmp_path: Path, scheduler: Scheduler, long_serial: Content
) -> None:
    results = tmp_path / "results"
    words = ["run", *LONG, f"results={results}", "executor=dask"]
    with (
        scheduler.worker("only"),
        python("-m", "experiments", *words, f"executor.address={scheduler.address}") as driver,
    ):
        await_(lambda: games_in(results) >= 20 or driver.poll() is not None)
        scheduler.process.kill()
        printed, _ = driver.communicate(timeout=120)
    assert driver.returncode == 1, printed
    (folder,) = runs_in(results)
    assert "scheduler" in printed
    assert f"othello-lab resume {folder}" in printed
    assert "Traceback" not in printed
    resume(folder, console=QUIET, executor="processes", workers=2)
    assert content(folder) == long_serial


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("end", ["driver killed", "Ctrl-C twice", "worker killed"])
def test_what_plays_ends_with_the_run_and_with_the_worker(
    tmp_path: Path, scheduler: Scheduler, end: str
) -> None:
    results = tmp_path / "results"
    # One game takes minutes.
    words = ["run", *DUEL, "games=4", "depth=14", f"results={results}", "executor=dask"]
    with (
        scheduler.worker("only") as worker,
        python("-m", "experiments", *words, f"executor.address={scheduler.address}") as driver,
    ):

        def plays() -> bool:
            logs = [path.read_text(encoding="utf-8") for path in results.rglob("log.txt")]
            return any("begins" in log for log in logs) and len(descendants(worker.pid)) >= 3

        await_(lambda: plays() or driver.poll() is not None)
        playing = descendants(worker.pid)
        if end == "driver killed":
            driver.kill()
        elif end == "Ctrl-C twice":
            driver.send_signal(signal.SIGINT)
            assert driver.stdout and any(STOPPING in line for line in driver.stdout)
            driver.send_signal(signal.SIGINT)
            driver.communicate(timeout=120)
        else:
            worker.kill()
            worker.wait()
        await_(lambda: not any(map(lives, playing)))


@pytest.mark.nightly
def test_ctrl_c_in_a_terminal_finishes_what_is_under_way_on_this_machine(
    tmp_path: Path, long_serial: Content
) -> None:
    words = ["run", *LONG, f"results={tmp_path}", "executor=dask", "executor.workers=2"]
    with python("-m", "experiments", *words) as driver:
        await_(lambda: games_in(tmp_path) >= 20 or driver.poll() is not None)
        os.killpg(driver.pid, signal.SIGINT)  # as a terminal does it
        printed, _ = driver.communicate(timeout=120)
    assert driver.returncode == 130, printed
    (folder,) = runs_in(tmp_path)
    assert f"othello-lab resume {folder}" in printed
    assert "Traceback" not in printed and "distributed" not in printed
    assert "is gone" not in (folder / "log.txt").read_text()
    assert 20 <= games_in(tmp_path) < 400
    assert main(["resume", str(folder)]) == 0
    assert content(folder) == long_serial
    assert "2 (Dask)" in (folder / "report.md").read_text()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "tcp://127.0.0.1:none"])
def test_no_scheduler_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.3)
    results = tmp_path / "results"
    words = ["run", *WORDS, f"results={results}", "executor=dask"]
    printed = line_of(*words, f"executor.address={address}", code=2)
    assert f"executor.address={address}" in printed
    assert not results.exists()


@pytest.mark.integration
def test_a_file_that_is_not_on_the_worker_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(
        "from othello_lab.agents.evaluation import heuristic\n\n"
        "@heuristic\ndef flat(mover, opponent):\n    return 0\n"
    )
    monkeypatch.chdir(tmp_path)
    words = [*DUEL, "evaluation=function", "evaluation.target=./mine.py:flat", "executor=dask"]
    elsewhere = read(words).conditions().elsewhere
    assert elsewhere is not None
    here = cluster_worker.Assignment.of(elsewhere)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for assignment, complaint in (
        (here, ""),
        (replace(here, folder="/nowhere"), r"mine\.py is missing there"),
        (replace(here, versions={**here.versions, "numba": "0.1"}), r"driver has: numba 0\.1 -> "),
    ):
        with pytest.raises(ConfigError, match=complaint) if complaint else nullcontext():
            start_fork_server(partial(cluster_worker._prepare, assignment, "it")).end()


CERTIFICATE = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=lab"]
CERTIFICATE += ["-keyout", "lab-key.pem", "-out", "lab-cert.pem"]


def tls_settings(folder: Path) -> Path:
    """The file of Dask's settings in docs/security.md, with a certificate made as it says there."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is needed to make a certificate")
    folder.mkdir()
    subprocess.run([openssl, *CERTIFICATE], cwd=folder, check=True, capture_output=True)
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert f"openssl {' '.join(CERTIFICATE)}" in page
    yaml = page.partition("```yaml\n")[2].partition("```")[0]
    path = folder / "tls.yaml"
    path.write_text(yaml.replace("/shared/lab-", f"{folder}/lab-"))
    return path


def listening(process: int) -> set[str]:
    """The addresses that a process and its children listen on."""
    psutil = pytest.importorskip("psutil")
    family = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
    connections = [connection for member in family for connection in member.net_connections("inet")]
    return {connection.laddr.ip for connection in connections if connection.status == "LISTEN"}


@pytest.mark.nightly
def test_a_cluster_with_a_certificate_plays_for_those_who_have_it(tmp_path: Path) -> None:
    ours, another = tls_settings(tmp_path / "ours"), tls_settings(tmp_path / "another")
    with (
        Scheduler(tmp_path, "--protocol", "tls", config=ours).running() as scheduler,
        scheduler.worker("it") as worker,
    ):
        assert scheduler.address.startswith("tls://127.0.0.1:")
        dask = ["-m", "experiments", "run", *DUEL, "games=6", "executor=dask"]
        dask.append(f"executor.address={scheduler.address}")
        for name, config, code in (("no", another, 2), ("tls", ours, 0)):
            results = f"results={tmp_path / name}"
            with python(*dask, results, config=config, stdout=subprocess.DEVNULL) as process:
                assert process.wait(120) == code
        hosts = listening(scheduler.process.pid) | listening(worker.pid)
    assert hosts == {"127.0.0.1"}
    (folder,) = runs_in(tmp_path / "tls")
    assert content(folder) == serial(tmp_path, *DUEL, "games=6")
