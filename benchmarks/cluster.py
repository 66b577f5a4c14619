"""Play a run over a Dask cluster of separate workers, and compare it with a run without a cluster.

A scheduler and its workers share nothing but the network: each worker has its own copy of the lab,
working folder and cache of kernels, and where the system allows it the driver's folder is hidden
from it. During the run one worker is killed, one joins late, and one with other code is left out.
The exit code is 0 if both records are equal. Printed are games a second, and the processor time
that the driver and the scheduler need, which bounds the games a second that one driver can reach.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil
from rich.console import Console

from othello_lab.core.system.rooms import ROOMS
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.record.store import GameRow

ROOT = Path(__file__).resolve().parent.parent
GAMES = ", ".join(name for name in GameRow._fields if not name.endswith("nanoseconds"))
HIDDEN = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"']


def copy_of_lab(folder: Path, changed: bool = False) -> Path:
    """Copy the lab's code into a folder. changed: with a difference in a kernel's source."""
    for name in (*ROOMS, "conf", "othello_lab"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    if changed:
        with (folder / "core" / "bitboard.py").open("a") as file:
            file.write("# edited\n")
    return folder


class Machines:
    """A scheduler and workers, each a process as on a machine of its own."""

    def __init__(self, folder: Path, driver: Path) -> None:
        """folder: a subfolder for each machine is made here. driver: the folder to hide."""
        self._folder = folder
        probe = subprocess.run([*HIDDEN, driver, "true"], capture_output=True)
        self._hide = [*HIDDEN, str(driver)] if probe.returncode == 0 else []
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        file = folder / "scheduler.json"
        self._start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0",
                    "--no-dashboard", "--scheduler-file", str(file))  # fmt: skip
        wait_for(lambda: file.exists() and file.stat().st_size > 0)
        self.address = json.loads(file.read_text())["address"]

    @property
    def hidden(self) -> bool:
        """True if the workers cannot see the driver's folder."""
        return bool(self._hide)

    def add_worker(self, name: str, changed: bool = False) -> None:
        """Start a worker; changed: with other code."""
        words = ["--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        self._start(name, "worker", self.address, *words, changed=changed)

    def _start(self, name: str, *words: str, changed: bool = False) -> None:
        place = self._folder / name
        place.mkdir()
        lab = copy_of_lab(place / "lab", changed)
        cache = place / "cache"
        environment = {"PYTHONPATH": str(lab), "OTHELLO_LAB_CACHE": str(cache)}
        with (place / "log.txt").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [*self._hide, sys.executable, "-m", "dask", *words],
                cwd=place,
                env=os.environ | environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """Kill a machine's processes at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].wait()

    def seconds(self, name: str) -> float:
        """Return the processor time of a machine's process so far."""
        times = psutil.Process(self.processes[name].pid).cpu_times()
        return float(times.user + times.system)


def wait_for(condition: Callable[[], bool], seconds: float = 600) -> None:
    """Wait until a condition holds; TimeoutError."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.05)


def games_in(folder: Path) -> int:
    """Return the number of games recorded below a folder so far."""
    with suppress(StopIteration, sqlite3.OperationalError):
        record = next(folder.rglob("record.sqlite"))
        with closing(sqlite3.connect(record, timeout=30)) as connection:
            return int(connection.execute("select count(*) from games").fetchone()[0])
    return 0


@contextmanager
def meanwhile(action: Callable[[], None]) -> Iterator[None]:
    """Do something in another thread."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    yield
    thread.join()


def processor_seconds() -> float:
    """Return the processor time of this process alone, without its children."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def differences(one: Path, other: Path) -> int:
    """Return the number of games, agents and openings that two records do not share."""
    found = 0
    for sql in (f"select {GAMES} from games", "select * from agents", "select * from openings"):
        rows = []
        for folder in (one, other):
            with closing(sqlite3.connect(folder / "record.sqlite")) as connection:
                rows.append(set(connection.execute(sql)))
        found += len(rows[0] ^ rows[1])
    return found


def main() -> int:
    """Play both runs, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=4, help="at the start; one is killed")
    parser.add_argument("--steady", action="store_true", help="nobody leaves and nobody joins")
    parser.add_argument(
        "settings",
        nargs="*",
        default=["agents=duel", "agent@first=alphabeta", "agent@second=greedy", "depth=4"],
    )
    options = parser.parse_args()
    words = [*options.settings, f"games={options.games}", "record=games", "figures=none"]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        driver = place / "driver"
        driver.mkdir()
        machines = Machines(place, driver)
        try:
            for number in range(options.workers):
                machines.add_worker(f"worker_{number}")
            os.chdir(driver)
            return compare(machines, driver, words, options.games, options.steady)
        finally:
            for machine in machines.processes:
                machines.kill(machine)


def disturb(machines: Machines, results: Path, games: int) -> None:
    """Kill a worker that plays, and let one with other code and a late one join."""
    wait_for(lambda: games_in(results) > games // 10)
    machines.kill("worker_0")
    print(f"worker_0 was killed after {games_in(results):,} games")
    machines.add_worker("other_code", changed=True)
    machines.add_worker("late")


def compare(machines: Machines, driver: Path, words: list[str], games: int, steady: bool) -> int:
    """Play over the machines and without them; return the exit code."""
    results, console = driver / "cluster", Console(quiet=True)
    cluster = ["executor=dask", f"executor.address={machines.address}"]
    plan = read([*words, f"results={results}", *cluster])
    begun: list[float] = []  # of the first games: their number, the time, and processor times

    def watch() -> None:
        wait_for(lambda: games_in(results) > 0)
        begun.extend([games_in(results), time.monotonic()])
        begun.extend([processor_seconds(), machines.seconds("scheduler")])
        if not steady:
            disturb(machines, results, games)

    print(" ".join(words))
    print(f"driver's folder hidden from the workers: {'yes' if machines.hidden else 'no'}")
    with meanwhile(watch):
        over_cluster = run(plan, "benchmarks/cluster.py", console)
    played = len(over_cluster.games)
    new, wall = played - begun[0], time.monotonic() - begun[1]
    used, scheduled = processor_seconds() - begun[2], machines.seconds("scheduler") - begun[3]
    log = (over_cluster.folder / "log.txt").read_text()
    for line in log.splitlines():
        if any(word in line for word in (" plays, ", " is gone", " cannot play")):
            print(f"  {line.partition('lab.cluster: ')[2]:.150}")
    print(f"{new:,.0f} games in {wall:.1f} s, {new / wall:,.0f} a second")
    print(
        f"processor time a game: driver {1e6 * used / new:.0f} µs, scheduler "
        f"{1e6 * scheduled / new:.0f} µs; so one driver reaches {new / used:,.0f} games a second"
    )
    before = processor_seconds()
    alone = run(read([*words, f"results={driver / 'alone'}"]), "benchmarks/cluster.py", console)
    used = processor_seconds() - before
    print(f"without a cluster the driver takes {1e6 * used / played:.0f} µs a game")
    wrong = differences(over_cluster.folder, alone.folder)
    print(f"records differ in {wrong} rows" if wrong else f"{played:,} games: records are equal")
    wanted = [] if steady else ["worker late at", "is gone", "other_code at"]
    missing = [word for word in wanted if word not in log]
    if missing:
        print(f"did not happen: {', '.join(missing)}")
    return 1 if wrong or missing or played != games else 0


if __name__ == "__main__":
    sys.exit(main())
