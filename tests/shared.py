"""A few small recorded jobs, played once for all tests and all processes of tests.

A test that only reads takes the folder as it is. A test that writes takes a copy of it:
``copied(recorded_duel, tmp_path)``.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

DUEL = ["agents=duel", "agent@first=alphabeta", "agent@second=random", "depth=1", "games=8"]
QUICK = ["executor=serial", "figures=none", "seed=1"]
SMALL_STUDY = ["study.depths=[1,2]", "study.positions=2"]
PLAYERS = ["agents=duel", "agent@first=random", "agent@second=greedy"]
ROUND = "train.rounds={outcomes: {agent: alphabeta, depth: 1, evaluation: iago, games: 60}}"
JOBS = {
    "duel": ["run", *DUEL, *QUICK],
    "searches": ["run", "agents=ab_vs_minimax", "depth=2", "games=6", *QUICK],
    "ladder": ["run", "agents=classics", "games=4", "executor=serial", "seed=1"],
    "sweep": ["run", "-m", "agents=ab_vs_minimax", "depth=1,2", "games=4", *QUICK],
    "study": ["study", "pruning", "agents=ab_vs_minimax", *SMALL_STUDY, *QUICK],
    "training": ["train", "tuned", *PLAYERS, ROUND, "games=4", "depth=1", *QUICK],
}
"""The words of each job's command. Only the ladder has a report with figures."""


def copied(folder: Path, to: Path) -> Path:
    """Copy a job's folder to a new one below ``to``, and return it."""
    return Path(shutil.copytree(folder, to / folder.name))


def job(name: str) -> Callable[..., Path]:
    """Return a fixture: the folder of this job, which the first test that wants it plays."""

    @pytest.fixture(scope="session")
    def play(tmp_path_factory: pytest.TempPathFactory) -> Path:
        from othello_lab.__main__ import main

        base = tmp_path_factory.getbasetemp()
        folder = (base.parent if base.name.startswith("popen-") else base) / "shared" / name
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "done").exists():
                assert main([*JOBS[name], f"results={folder / 'results'}"]) == 0
                (folder / "done").touch()
        (folder,) = (folder / "results").glob("*/*/")
        return folder

    return play


recorded_duel = job("duel")
recorded_searches = job("searches")
recorded_ladder = job("ladder")
recorded_sweep = job("sweep")
recorded_study = job("study")
recorded_training = job("training")
