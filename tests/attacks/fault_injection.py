"""Runs jobs in which one call to the system fails, and resumes them.

``python fault_injection.py FOLDER``, with ``faults.c`` preloaded, reads requests from its input, a
line of JSON each, and answers with one: see :class:`Request` and :class:`Outcome`.
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
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from processes import Command, await_, descendants
from records import content, runs_in

from othello_lab.experiments.jobs.kinds import KINDS
from othello_lab.experiments.studies.record import StudyRecord
from othello_lab.experiments.sweep.folder import has_begun
from othello_lab.training.data import Positions

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

TIMEOUT = 90.0
_REASON = re.compile(r"^(othello-lab|failed( +\d+)?): .", re.MULTILINE)  # of a job, or part of one
memory = struct.Struct("6q512s")


@dataclass(frozen=True)
class Request:
    """words: of the command, without the folder of results. fault: of FAULTS. at: the call that
    fails; 0 for none, which counts them."""

    words: list[str]
    fault: str
    at: int


@dataclass
class Outcome:
    """counted: calls of the job under test. codes: of all commands. wrong: all that should not be,
    in words."""

    counted: int = 0
    codes: list[int | None] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def folder_of(results: Path) -> Path | None:
    """Return the job's folder, None before its record has begun."""
    found = {path.parent for kind in KINDS.values() for path in results.glob(f"*/*/{kind.file}")}
    return max(found, default=None)


def results_of(folder: Path) -> dict[str, Any]:
    """Return all results below a folder that do not depend on time, by file."""
    results: dict[str, Any] = {
        str(run.relative_to(folder)): content(run) for run in runs_in(folder) if has_begun(run)
    }
    for name in ("study.sqlite", "training.sqlite"):
        for path in folder.rglob(name):
            with StudyRecord.open(path.parent) as record:
                for table, frame in record.tables().items():
                    results[f"{path.relative_to(folder)} {table}"] = timeless(frame)
    for path in folder.rglob("*.parquet"):
        where = str(path.relative_to(folder))
        results[where] = Positions.read(path.parent).data_hash
    for path in folder.rglob("*.npz"):
        with np.load(path) as arrays:
            numbers = {key: arrays[key] for key in arrays.files if arrays[key].dtype.kind in "iuf"}
            results[str(path.relative_to(folder))] = {
                key: array.tobytes() for key, array in numbers.items()
            }
    return results


def timeless(frame: pd.DataFrame) -> list[dict[str, Any]]:
    times = ("seconds", "minutes", "time")
    kept = [column for column in frame if not any(word in column for word in times)]
    rows = frame[kept].astype(object).where(frame[kept].notna(), None)  # as nan equals nothing
    return rows.sort_values(kept, key=lambda column: column.astype(str)).to_dict("records")


class Injector:
    """Does what is requested in folders below ``place``."""

    def __init__(self, place: Path) -> None:
        self._place = place.resolve()
        with open(os.environ["FAULTS"], "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), memory.size)
        self._arm(0, 0, 0, False)
        self._whole: dict[str, object] = {}
        self._number = 0

    def _arm(self, kinds: int, at: int, error: int, lasting: bool) -> None:
        self._memory[:] = memory.pack(
            kinds, at, error, lasting, 0, os.getpid(), os.fsencode(self._place)
        )

    def _counted(self) -> int:
        return int(memory.unpack(self._memory[:])[4])

    def warm_up(self, words: list[str]) -> object:
        """Load and compile all that a job needs, in this process; return its results."""
        key = json.dumps(words)
        if key not in self._whole:
            from othello_lab.__main__ import main

            folder = self._place / f"whole-{len(self._whole)}"
            output = os.dup(1)
            os.dup2(2, 1)
            code = main([*words, f"results={folder}"])
            sys.stdout.flush()
            os.dup2(output, 1)
            os.close(output)
            ended = folder_of(folder)
            assert code == 0 and ended
            self._whole[key] = results_of(ended)
        return self._whole[key]

    def do(self, request: Request) -> Outcome:
        """Run a job with a fault in it, then resume it."""
        whole, outcome = self.warm_up(request.words), Outcome()
        self._number += 1
        results = self._place / str(self._number)
        again = [*request.words, f"results={results}"]
        kinds, error, lasting = FAULTS[request.fault]
        self._arm(kinds, request.at, error, lasting)
        self._run(again, outcome, error < 0)
        outcome.counted = self._counted()
        self._arm(0, 0, 0, False)
        for _ in range(2):
            again = self._again(request, results)
            if self._run(again, outcome, False) == 0:
                break
            if "start it again" not in outcome.printed[-1]:
                outcome.wrong.append("it cannot be resumed")
                break
            results = results.with_name(f"{results.name}-again")
        else:
            outcome.wrong.append("it does not advance")
        ended = folder_of(results)
        if ended is None or results_of(ended) != whole:
            outcome.wrong.append("the results are others")
        elif not outcome.wrong:
            shutil.rmtree(self._place / str(self._number), ignore_errors=True)
        return outcome

    def _again(self, request: Request, results: Path) -> list[str]:
        folder = folder_of(results)
        if folder is None:
            return [*request.words, f"results={results}"]
        return ["resume", str(folder), "--trust"]

    def _run(self, words: list[str], outcome: Outcome, may_be_killed: bool) -> int | None:
        process = Command(*words)
        try:
            process.wait(TIMEOUT)
        except AssertionError:
            outcome.wrong.append(f"it hangs: {' '.join(words)}")
            process.kill()
        printed, _ = process.communicate()
        code = process.returncode
        outcome.codes.append(code)
        outcome.printed.append(printed)
        if not (code in (0, 1, 2, 130) or (may_be_killed and code == -signal.SIGKILL)):
            outcome.wrong.append(f"exit code {code}")
        if "Traceback" in printed or "Error in" in printed:
            outcome.wrong.append("a traceback")
        if code in (1, 2) and not _REASON.search(printed):
            outcome.wrong.append("no line says why")
        try:
            await_(_nobody_left, TIMEOUT)
        except AssertionError:
            outcome.wrong.append("a process is left")
        return code


def _nobody_left() -> bool:
    """Wait for the dead, and return True if none lives."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return not descendants(os.getpid())


def main() -> None:
    from othello_lab.core.system.processes import adopt_orphans

    adopt_orphans()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    injector = Injector(Path(sys.argv[1]))
    for line in sys.stdin:
        outcome = injector.do(Request(**json.loads(line)))
        answers.write(json.dumps(asdict(outcome)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
