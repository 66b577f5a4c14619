"""Who plays the games, as reports say it; that they play is tested where games are played."""

from __future__ import annotations

import pytest

from othello_lab.core.system.processes import available_cores
from othello_lab.experiments.playing import Dask, Processes
from othello_lab.experiments.playing.executors import Executor

ADDRESS = "tcp://10.0.0.1:8786"


@pytest.mark.parametrize(
    ("executor", "workers", "text"),
    [
        (Processes(), available_cores(), f"{available_cores()}"),
        (Processes(workers=3), 3, "3"),
        (Dask(), available_cores(), f"{available_cores()} (Dask)"),
        (Dask(workers=3), 3, "3 (Dask)"),
        (Dask(address=ADDRESS), 0, f"those of the Dask cluster at {ADDRESS}"),
    ],
)
def test_how_many_play(executor: Processes | Dask, workers: int, text: str) -> None:
    assert isinstance(executor, Executor)
    assert (executor.workers, executor.text) == (workers, text)
