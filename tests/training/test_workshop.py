"""What a training has to work with: checkpoints, history, time, and positions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from taught import taught_positions
from trained import UNIT, TwoWeights

from othello_lab.training import training
from othello_lab.training.data import Positions
from othello_lab.training.training import NotFinite, TrainingContext

TRUE = {"corners": 4.0, "mobility": 0.5}
"""Discs: what the made-up scores are made of."""


@pytest.fixture(scope="module")
def positions() -> Positions:
    return taught_positions({name: UNIT * weight for name, weight in TRUE.items()}, noise=1)


@pytest.mark.integration
def test_weights_that_made_the_scores_are_found(positions: Positions, tmp_path: Path) -> None:
    work = TrainingContext(tmp_path, positions=positions)
    learned = TwoWeights(steps=300).learn(work)
    found = learned.evaluation["weights"]
    for name, weight in TRUE.items():
        assert found[name] / UNIT == pytest.approx(weight, abs=0.3)
    assert work.history[-1]["loss"] < 2 < work.history[0]["loss"]


def test_states_outlive_the_program(tmp_path: Path) -> None:
    work = TrainingContext(tmp_path)
    assert work.kept("state") is None
    work.note(step=1, loss=0.5)
    state = {"weights": np.arange(6.0).reshape(2, 3), "raw": b"\x00\xff", "step": 3, "names": ["a"]}
    work.keep("state", state)
    work.note(step=2, loss=0.25)  # not kept
    again = TrainingContext(tmp_path)
    found = again.kept("state")
    assert found is not None and found.keys() == state.keys()
    assert np.array_equal(found["weights"], np.arange(6.0).reshape(2, 3))
    assert (found["raw"], found["step"], found["names"]) == (b"\x00\xff", 3, ["a"])
    assert [row["step"] for row in again.history] == [1]


def test_a_damaged_checkpoint_is_told(tmp_path: Path) -> None:
    path = TrainingContext(tmp_path).keep("state", {"weights": np.zeros(9)})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"state\.checkpoint"):
        TrainingContext(tmp_path).kept("state")


def test_what_was_kept_before_numbers_that_are_none_is_named(tmp_path: Path) -> None:
    work = TrainingContext(tmp_path)
    with pytest.raises(NotFinite, match=r"^step 1: loss: it .* nothing was kept"):
        work.finite("loss", np.nan, "step 1")
    path = work.keep("state", {"weights": np.zeros(2)})
    with pytest.raises(NotFinite, match=rf"loss: 1 of 2 numbers .* {re.escape(str(path))}$"):
        work.finite("loss", [0, np.inf], "step 2")
    assert work.finite("loss", [0, 1], "step 3") == [0, 1]


def test_numbers_that_are_none_stop_a_training(positions: Positions, tmp_path: Path) -> None:
    work = TrainingContext(tmp_path, positions=positions)
    with (
        np.errstate(all="ignore"),
        pytest.raises(NotFinite, match=r"^step \d+: weights: . of 2 numbers"),
    ):
        TwoWeights(rate=1e6, steps=200).learn(work)
    last = TrainingContext(tmp_path).kept("weights")
    assert last is not None and np.isfinite(last["weights"]).all()


def test_minutes_are_those_of_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 0.0
    monkeypatch.setattr(training, "processor_seconds", lambda: seconds)
    work = TrainingContext(tmp_path, minutes=2)
    assert (work.spent, work.left, work.over) == (0, 1, False)
    seconds = 60.0 * training.CORES
    assert (work.spent, work.left, work.over) == (1, 0.5, False)
    work.keep("state", {})
    seconds += 90 * training.CORES
    assert work.over
    again = TrainingContext(tmp_path, minutes=2)
    again.kept("state")
    assert (again.spent, again.over) == (1, False)  # what was not kept is done again


def test_time_of_a_process_below_counts() -> None:
    before = training.processor_seconds()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert training.processor_seconds() > before
