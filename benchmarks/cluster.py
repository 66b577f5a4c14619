"""Play a run over a Dask cluster of separate workers, and compare it with a run without a cluster.

Printed are games a second, and the processor time that the driver and the scheduler need, which
bounds the games a second that one driver can reach. The exit code is 0 if both records are equal.
The tests kill workers, let others join late, and refuse those with other code.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psutil
from rich.console import Console

from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.record.store import GameRow

GAMES = ", ".join(name for name in GameRow._fields if not name.endswith("nanoseconds"))


def start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a program of Dask's that logs into a folder."""
    with (folder / f"{words[0]}.txt").open("ab") as log:
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)


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


def processor_seconds() -> float:
    """Return the processor time of this process alone, without its children."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def differences(one: Path, other: Path) -> int:
    """Return the number of games, agents and openings that two records do not share."""
    number = 0
    for sql in (f"select {GAMES} from games", "select * from agents", "select * from openings"):
        rows = []
        for folder in (one, other):
            with closing(sqlite3.connect(folder / "record.sqlite")) as connection:
                rows.append(set(connection.execute(sql)))
        number += len(rows[0] ^ rows[1])
    return number


def compare(words: list[str], folder: Path, address: str, scheduler: psutil.Process) -> int:
    """Play over the cluster and without it; return the exit code."""
    results, console = folder / "cluster", Console(quiet=True)
    plan = read([*words, f"results={results}", "executor=dask", f"executor.address={address}"])
    begun: list[float] = []  # of the first games: their number, the time, and processor times

    def costs() -> list[float]:
        return [time.monotonic(), processor_seconds(), sum(scheduler.cpu_times()[:2])]

    def watch() -> None:
        wait_for(lambda: games_in(results) > 0)
        begun.extend([games_in(results), *costs()])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    over_cluster = run(plan, "benchmarks/cluster.py", console)
    thread.join()
    played = len(over_cluster.games)
    new, wall, used, scheduled = (
        now - then for now, then in zip([played, *costs()], begun, strict=True)
    )
    print(f"{new:,.0f} games in {wall:.1f} s, {new / wall:,.0f} a second")
    print(
        f"processor time a game: driver {1e6 * used / new:.0f} µs, scheduler "
        f"{1e6 * scheduled / new:.0f} µs; so one driver reaches {new / used:,.0f} games a second"
    )
    before = processor_seconds()
    alone = run(read([*words, f"results={folder / 'alone'}"]), "benchmarks/cluster.py", console)
    used = processor_seconds() - before
    print(f"without a cluster the driver takes {1e6 * used / played:.0f} µs a game")
    wrong = differences(over_cluster.folder, alone.folder)
    print(f"records differ in {wrong} rows" if wrong else f"{played:,} games: records are equal")
    return 1 if wrong else 0


def main() -> int:
    """Play both runs, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument(
        "settings",
        nargs="*",
        default=["agents=duel", "agent@first=alphabeta", "agent@second=greedy", "depth=4"],
    )
    options = parser.parse_args()
    words = [*options.settings, f"games={options.games}", "record=games", "figures=none"]
    with tempfile.TemporaryDirectory() as name:
        folder, contact = Path(name), Path(name, "scheduler.json")
        file = ["--scheduler-file", str(contact)]
        machines = [start(folder, "scheduler", "--host", "127.0.0.1", "--port", "0", *file)]
        try:
            wait_for(lambda: contact.exists() and contact.stat().st_size > 0)
            for _ in range(options.workers):
                machines.append(start(folder, "worker", *file, "--nthreads", "1", "--no-nanny"))
            address = json.loads(contact.read_text())["address"]
            return compare(words, folder, address, psutil.Process(machines[0].pid))
        finally:
            for machine in machines:
                machine.kill()
                machine.wait()


if __name__ == "__main__":
    sys.exit(main())
