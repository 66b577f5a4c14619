"""Every kind of job, killed at random moments and resumed, ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from processes import Command, await_
from records import content, runs_in

from othello_lab.core.system.processes import LINUX, adopt_orphans, descendants
from othello_lab.experiments.jobs.kinds import KINDS
from othello_lab.experiments.studies.record import StudyRecord
from othello_lab.experiments.sweep.folder import has_begun
from othello_lab.training.data import Positions

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not LINUX, reason="finds processes by /proc"),
]

KILLS = 2
DUEL = ["agents=duel", "agent@first=alphabeta", "agent@second=greedy", "seed=3"]
ROUNDS = ["train.rounds.first.games=200", "train.rounds.second.games=200"]
JOBS = {
    "run": ["run", *DUEL, "first.depth=4", "games=200"],
    "class": ["run", "agents=classics", "schedule=class", "openings=all", "openings.plies=4"],
    "sweep": ["run", "-m", *DUEL, "first.depth=3,4", "games=60"],
    "study of positions": ["study", "pruning", "study.positions=6", "depth=3"],
    "study of a run": ["study", "errors", *DUEL, "first.depth=3", "games=20", "study.empties=9"],
    "study of matches": [
        "study",
        "scaling",
        "agents=ab_mirror",
        "study.levels=[1,2,3]",
        "games=40",
    ],
    "training": ["train", "tuned", *ROUNDS, "games=40", "depth=2"],
    "self-play": ["selfplay", "games=6000", "agent=alphabeta", "depth=2"],
    "positions": ["positions"],  # of a run that the test plays
}


def await_nobody(before: set[int]) -> None:
    """Wait until no process is left below this one but those before."""
    await_(lambda: not set(descendants([os.getpid()])) - before, timeout=60)


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


def recorded_games(place: Path) -> Path:
    """Play a run whose games positions are made of; return its folder."""
    command = Command("run", *DUEL, "first.depth=1", "games=1200", f"results={place}/games")
    printed, _ = command.communicate(timeout=300)
    assert command.returncode == 0, printed
    (run,) = runs_in(place / "games")
    return run


@pytest.mark.parametrize("kind", JOBS)
def test_a_killed_job_ends_as_if_undisturbed(kind: str, tmp_path: Path) -> None:
    words, chance = list(JOBS[kind]), random.Random(kind)
    if kind == "positions":
        words.append(str(recorded_games(tmp_path)))
    adopt_orphans()
    before = set(descendants([os.getpid()]))
    began = time.monotonic()
    whole = Command(*words, f"results={tmp_path}/whole")
    printed, _ = whole.communicate(timeout=600)
    assert whole.returncode == 0, printed
    took = time.monotonic() - began
    results = tmp_path / "killed"

    def go_on() -> Command:
        folder = folder_of(results)
        return Command(*(["resume", str(folder)] if folder else [*words, f"results={results}"]))

    killed = 0  # while it had a folder
    while True:
        process = go_on()
        if killed < KILLS:
            time.sleep(took * chance.uniform(0.05, 1.2 / KILLS))
            process.kill()
        printed, _ = process.communicate(timeout=600)
        await_nobody(before)
        if process.returncode == -9 and folder_of(results):
            killed += 1
        elif process.returncode == -9:
            took *= 1.2
        elif process.returncode == 0 and killed:
            break
        else:
            if process.returncode == 0:  # much quicker than the undisturbed job, which compiled
                took /= 2
            else:  # its record had not begun when it was killed
                assert process.returncode == 2 and "start it again" in printed, printed
            results, killed = results.with_name(f"{results.name}-again"), 0
    ended, undisturbed = folder_of(results), folder_of(tmp_path / "whole")
    assert ended and undisturbed
    assert results_of(ended) == results_of(undisturbed)
