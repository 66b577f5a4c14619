"""A call to the system fails, or its process is killed, at any place of a job: the command ends in
order or goes on, and ``resume`` leads to the results of an undisturbed job.

There are thousands of places. The tests take some of each kind, evenly spread; with the variable
FAULT_PLACES they take that many of each kind, or ``all``. This file is run as a program, with
``faults.c`` preloaded, to try them: see :func:`main`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chosen import mostly_nightly
from processes import Command, await_, descendants
from records import content, jobs_in, runs_in
from shared import SMALL_STUDY

from othello_lab.__main__ import main as othello_lab
from othello_lab.core.system.processes import LINUX, adopt_orphans
from othello_lab.experiments.record.reading import has_begun
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.training.data import Positions

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not LINUX, reason="preloads a library into processes, and looks at /proc"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc, a compiler of C"),
]
CHANGE, LOOK, OTHER_LOOK, START, MESSAGE = 1, 2, 4, 8, 16
FAULTS = {
    "full disk": (CHANGE, errno.ENOSPC, True),
    "EIO at a change": (CHANGE, errno.EIO, False),
    "EIO at a look": (LOOK, errno.EIO, False),
    "EIO at a look elsewhere": (OTHER_LOOK, errno.EIO, False),
    "ENOMEM": (START, errno.ENOMEM, False),
    "kill at a message": (MESSAGE, -signal.SIGKILL, False),
    "kill": (CHANGE | LOOK | START, -signal.SIGKILL, False),
}
"""By name: the calls that count, the error or minus the signal, and True if it lasts."""

DUEL = ["agents=duel", "agent@second=greedy", "seed=3", "executor.workers=2", "figures=none"]
FIRST = ["agent@first=alphabeta", "first.depth=2"]
OUTSIDE = ["agent@first=random", "first._target_=bystanders.Remembers", "trial=false"]
GAMES = ["train.rounds.first.games=200", "train.rounds.second.games=200"]
STUDY = ["study", "pruning", "agents=ab_vs_minimax", *SMALL_STUDY, "figures=none"]
JOBS = {
    "run": ["run", *DUEL, "agent@first=random", "games=8"],
    "run of an agent from outside": ["run", *DUEL, *OUTSIDE, "games=6"],
    "class": ["run", "agents=classics", "schedule=class", "openings.plies=4", "figures=none"],
    "study of positions": STUDY,
    "study of a run": ["study", "errors", *DUEL, *FIRST, "study.empties=8", "games=4"],
    "study of matches": ["study", "scaling", "agents=ab_mirror", "study.levels=[1,2]", "games=4"],
    "sweep": ["run", "-m", *DUEL, "agent@first=alphabeta", "first.depth=1,2", "games=4"],
    "self-play": ["selfplay", "games=300", "agent=alphabeta", "depth=1", "executor.workers=2"],
    "positions": ["positions"],  # of a recorded run
    "training": ["train", "tuned", *GAMES, "games=4", "depth=1", "figures=none"],
}
TIMEOUT = 90.0
_REASON = re.compile(r"^(othello-lab|failed( +\w+ \d+)?): .", re.MULTILINE)  # of a job or part
memory = struct.Struct("6q512s")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that lets calls fail."""
    made = tmp_path_factory.mktemp("library") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    words = ["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", made, source, "-ldl"]
    subprocess.run([*words, "-pthread"], check=True)
    return made


def check(
    library: Path, folder: Path, words: Sequence[str], faults: Sequence[str], places: int
) -> None:
    """Try so many places of each of these kinds of fault."""
    (folder / "faults").write_bytes(bytes(memory.size))
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "FAULTS": str(folder / "faults"),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)]),
    }
    request = json.dumps([str(folder / "jobs"), list(words), list(faults), places])
    command = [sys.executable, __file__, request]
    done = subprocess.run(command, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


@pytest.mark.parametrize("job", mostly_nightly(JOBS, ["run", "study of positions"]))
def test_a_killed_job_is_resumed(
    job: str, library: Path, tmp_path: Path, recorded_duel: Path
) -> None:
    """Killed at two places of its calls to the system."""
    words = [*JOBS[job], *([str(recorded_duel)] if job == "positions" else [])]
    check(library, tmp_path, words, ["kill"], 2)


@pytest.mark.parametrize("fault", mostly_nightly(list(FAULTS)[:-1], ["full disk"]))
def test_a_run_with_a_fault_is_resumed(fault: str, library: Path, tmp_path: Path) -> None:
    check(library, tmp_path, JOBS["run of an agent from outside"], [fault], 1)


@pytest.mark.nightly
@pytest.mark.parametrize("job", ["run", "study of a run", "sweep", "self-play"])
def test_a_job_with_any_fault_is_resumed(job: str, library: Path, tmp_path: Path) -> None:
    check(library, tmp_path, JOBS[job], list(FAULTS), 2)


# ---------------------------------------------------------------------- the process that does it


def folder_of(results: Path) -> Path | None:
    """Return the job's folder, None before its record has begun."""
    return max((path.parent for path in results.glob(f"*/*/{FILE}")), default=None)


def results_of(folder: Path | None) -> dict[str, Any]:
    """Return all results below a folder that do not depend on time, by file."""
    assert folder
    results: dict[str, Any] = {run: content(run) for run in runs_in(folder) if has_begun(run)}
    for path in filter(has_begun, jobs_in(folder)):
        with Record.open(path) as record:
            tables = record.tables().items()
            results |= {path / FILE / table: timeless(frame) for table, frame in tables}
    results |= {path: Positions.read(path.parent).data_hash for path in folder.rglob("*.parquet")}
    for path in folder.rglob("*.npz"):
        with np.load(path) as arrays:
            numbers = {key: arrays[key] for key in arrays.files if arrays[key].dtype.kind in "iuf"}
            results[path] = {key: array.tobytes() for key, array in numbers.items()}
    return {str(path.relative_to(folder)): result for path, result in results.items()}


def timeless(frame: pd.DataFrame) -> list[dict[str, Any]]:
    times = ("seconds", "minutes", "time")
    names = [column for column in frame if not any(word in column for word in times)]
    rows = frame[names].astype(object).where(frame[names].notna(), None)  # as nan equals nothing
    return rows.sort_values(names, key=lambda column: column.astype(str)).to_dict("records")


def spread(calls: int, number: int) -> list[int]:
    """So many of the calls, evenly spread."""
    if (wanted := os.environ.get("FAULT_PLACES")) is not None:
        number = calls if wanted == "all" else int(wanted)
    number = min(number, calls)
    return [round((index + 0.5) * calls / number + 0.5) for index in range(number)]


class Injector:
    """Runs a job with a fault in it, in new folders below ``place``, then resumes it."""

    def __init__(self, folder: Path, words: list[str]) -> None:
        self._folder, self._words = folder.resolve(), words
        with open(os.environ["FAULTS"], "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), memory.size)
        self._arm(0, 0, 0, False)
        # In this process, which loads and compiles all that the job needs.
        assert othello_lab([*words, f"results={folder}/whole"]) == 0
        self._whole = results_of(folder_of(folder / "whole"))

    def _arm(self, kinds: int, at: int, error: int, lasting: bool) -> None:
        place = os.fsencode(self._folder)
        self._memory[:] = memory.pack(kinds, at, error, lasting, 0, os.getpid(), place)

    def inject(self, fault: str, at: int) -> tuple[int, int]:
        """Try a fault at a call, 0 for none; return the number of calls and the exit code."""
        print(f"{fault}, call {at}:", flush=True)
        results = self._folder / f"{fault} {at}"
        kinds, error, lasting = FAULTS[fault]
        self._arm(kinds, at, error, lasting)
        first, _ = run([*self._words, f"results={results}"], error < 0)
        calls = int(memory.unpack(self._memory[:])[4])
        self._arm(0, 0, 0, False)
        for _ in range(2):
            folder = folder_of(results)
            again = [*self._words, f"results={results}"]
            code, printed = run(["resume", str(folder), "--trust"] if folder else again)
            if code == 0:
                break
            assert "start it again" in printed, printed
            results = results.with_name(f"{results.name}-again")
        assert code == 0, "it does not advance"
        assert results_of(folder_of(results)) == self._whole
        shutil.rmtree(results)
        return calls, first


def run(words: list[str], may_be_killed: bool = False) -> tuple[int, str]:
    """Run a command, which ends in order; return its exit code, and what it printed."""
    process = Command(*words)
    code = process.wait(TIMEOUT)
    printed, _ = process.communicate()
    assert code in (0, 1, 2, 130) or (may_be_killed and code == -signal.SIGKILL), printed
    assert "Traceback" not in printed and "Error in" not in printed, printed
    assert code not in (1, 2) or _REASON.search(printed), printed
    await_(_nobody_left, TIMEOUT)
    return code, printed


def _nobody_left() -> bool:
    """Wait for the dead, and return True if none lives."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return not descendants(os.getpid())


def main(folder: str, words: list[str], faults: list[str], number: int) -> None:
    """Try so many places of each of these faults."""
    adopt_orphans()
    injector = Injector(Path(folder), words)
    for fault in faults:
        calls, _ = injector.inject(fault, 0)
        codes = [injector.inject(fault, at)[1] for at in spread(calls, number)]
        assert fault != "full disk" or any(codes)  # nobody survives it, so the fault was felt


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
