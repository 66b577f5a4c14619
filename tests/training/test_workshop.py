"""What a training has to work with: checkpoints, history, time, and positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trained import UNIT, TwoWeights

from othello_lab import PASS, Position
from othello_lab.agents.evaluation import Composite, SquareWeights
from othello_lab.core.system.settings import SettingError
from othello_lab.training import training
from othello_lab.training.data import Positions
from othello_lab.training.training import NotFinite, TrainingContext

TRUE = {"corners": 4.0, "mobility": 0.5}
"""Discs: what the made-up scores are made of."""


def made_up(games: int = 60, noise: float = 1.0) -> Positions:
    """Positions of random games, whose scores are those of a known evaluation, and noise."""
    rng = np.random.default_rng(5)
    rows = []
    for game in range(games):
        position = Position.start("standard")
        while not position.is_over:
            moves = position.moves
            position = position.play(moves[rng.integers(len(moves))] if moves else PASS)
            rows.append((*position.masks, game))
    mover, opponent, number = (np.array(column) for column in zip(*rows, strict=True))
    mover, opponent = mover.astype(np.uint64), opponent.astype(np.uint64)
    truth = Composite({name: weight * UNIT for name, weight in TRUE.items()})
    score = truth.values(mover, opponent) / UNIT + noise * rng.normal(size=len(mover))
    score = np.clip(score, -64, 64).astype(np.float32)
    return Positions.of_games(mover, opponent, score, np.zeros(len(mover), dtype=bool), number)


@pytest.fixture(scope="module")
def positions() -> Positions:
    return made_up()


def test_values_of_many_positions_are_those_of_each(positions: Positions) -> None:
    few = positions[:50]
    heuristic = SquareWeights()
    for row, value in enumerate(heuristic.values(few.mover, few.opponent)):
        assert heuristic(Position(int(few.mover[row]), int(few.opponent[row]))) == value


@pytest.mark.integration
def test_weights_that_made_the_scores_are_found(positions: Positions, tmp_path: Path) -> None:
    work = TrainingContext(tmp_path, positions=positions)
    learned = TwoWeights(steps=300).learn(work)
    found = learned.evaluation["weights"]
    for name, weight in TRUE.items():
        assert found[name] / UNIT == pytest.approx(weight, abs=0.3)
    assert work.history[-1]["validation"] < 2 < work.history[0]["validation"]


def test_an_interrupted_training_learns_the_same(positions: Positions, tmp_path: Path) -> None:
    whole = TrainingContext(tmp_path / "whole", positions=positions)
    (tmp_path / "life").touch()
    training = TwoWeights(stopping=7, life=str(tmp_path / "life"))
    wanted = TwoWeights().learn(whole)
    with pytest.raises(KeyboardInterrupt):
        training.learn(TrainingContext(tmp_path / "parts", positions=positions))
    again = TrainingContext(tmp_path / "parts", positions=positions)
    assert training.learn(again).evaluation == wanted.evaluation
    steps = [{key: row[key] for key in ("step", "validation")} for row in again.history]
    assert steps == [{key: row[key] for key in ("step", "validation")} for row in whole.history]


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
    with pytest.raises(ValueError, match=r"state\.checkpoint: no checkpoint that can be read"):
        TrainingContext(tmp_path).kept("state")


def test_numbers_that_are_none_stop_a_training(positions: Positions, tmp_path: Path) -> None:
    work = TrainingContext(tmp_path, positions=positions)
    with (
        np.errstate(all="ignore"),
        pytest.raises(NotFinite, match=r"^step \d+: weights: . of 2 numbers are no longer finite"),
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
    import subprocess
    import sys

    before = training.processor_seconds()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert training.processor_seconds() > before


def test_settings_are_checked() -> None:
    with pytest.raises(SettingError, match="minutes=0: a number of more than 0"):
        TwoWeights(minutes=0)
    with pytest.raises(SettingError, match="rounds=4: settings of selfplay by name of the round"):
        TwoWeights(rounds=4)  # type: ignore[arg-type]
