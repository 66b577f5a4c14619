"""Every training goes on where it was interrupted, stops at numbers that are none, and names
wrong settings; checkpoints, history, and time that a training has."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from taught import plan, taught_positions
from trained import UNIT, TwoWeights

from othello_lab.agents.learned.patterns import PatternEvaluation
from othello_lab.training import training
from othello_lab.training.data import TRAIN, VALIDATION
from othello_lab.training.evolution import Evolved
from othello_lab.training.linear import TunedWeights
from othello_lab.training.network import NetworkTraining
from othello_lab.training.patterns import PatternTraining
from othello_lab.training.td import TemporalDifferences
from othello_lab.training.training import NotFinite, Training, TrainingContext
from othello_lab.training.trees import TreesTraining

DATA: dict[str, Any] = {"data": ["made up"]}
TRAININGS: dict[str, Training] = {
    "two weights": TwoWeights(**DATA, steps=15),
    "tuned": TunedWeights(**DATA),
    "trees": TreesTraining(**DATA, trees=6, stages=3, rate=0.3, smallest_leaf=20),
    "patterns": PatternTraining(**DATA, width=20, iterations=5),
    "td": TemporalDifferences(games=900, batch=300, stage=4, climbs=30, opening=6),
    "evolution": Evolved(
        features=["corners", "disc_count"],
        knots=[20],
        opponents=["disc_count"],
        plies=1,
        openings=12,
        checks=40,
        population=6,
        generations=3,
    ),
    "network": NetworkTraining(**DATA, epochs=3, batch=128, rate=0.006, stages=3),
}
LIBRARIES = {"trees": "sklearn", "evolution": "cma", "network": "torch"}
TIERS = {
    "trees": pytest.mark.integration,
    "patterns": pytest.mark.integration,
    "td": pytest.mark.integration,
    "evolution": pytest.mark.integration,
    "network": pytest.mark.nightly,
}


def trainings(*names: str) -> pytest.MarkDecorator:
    cases = [pytest.param(name, marks=TIERS.get(name, ()), id=name) for name in names]
    return pytest.mark.parametrize("name", cases)


def training_of(name: str) -> Training:
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    return TRAININGS[name]


@trainings(*(name for name in TRAININGS if name != "tuned"))  # which is done in one step
def test_an_interrupted_training_learns_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training, positions, keep = (
        training_of(name),
        taught_positions(),
        TrainingContext.save_checkpoint,
    )

    def context(folder: str) -> TrainingContext:
        return TrainingContext(tmp_path / folder, positions=positions, plan=plan())

    def keep_and_stop(work: TrainingContext, *state: Any) -> None:
        keep(work, *state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TrainingContext, "save_checkpoint", keep_and_stop)
        with pytest.raises(KeyboardInterrupt):
            training.learn(context("parts"))
    whole, parts = context("whole"), context("parts")
    wanted, result = training.learn(whole), training.learn(parts)
    if wanted.weights is not None and result.weights is not None:
        for array, values in wanted.weights.arrays.items():
            np.testing.assert_array_equal(result.weights.arrays[array], values)
    else:
        assert result.evaluation == wanted.evaluation
    histories = [str([row | {"minutes": 0} for row in work.history]) for work in (parts, whole)]
    assert histories[0] == histories[1] != "[]"


@pytest.mark.integration
def test_patterns_foretell_scores(tmp_path: Path) -> None:
    positions = taught_positions(games=150)
    work = TrainingContext(tmp_path, positions=positions, plan=plan())
    result = PatternTraining(**DATA, width=60).learn(work)
    assert result.weights is not None
    evaluation = PatternEvaluation(result.weights.write(tmp_path / "patterns.npz"))
    held = positions.part(VALIDATION)
    missed = evaluation.values(held.mover, held.opponent) / UNIT - held.score
    stage = work.history[0]
    assert stage["validation"] == pytest.approx(np.mean(missed**2), rel=0.02)
    assert stage["validation"] < 0.5 * np.var(held.score)
    assert stage["positions"] == len(positions.part(TRAIN))


@trainings("two weights", "tuned", "trees", "network")
def test_scores_that_are_no_numbers_stop_it(name: str, tmp_path: Path) -> None:
    positions = taught_positions()
    score = positions.score.copy()
    score[::7] = np.nan
    broken = dataclasses.replace(positions, score=score)
    where = {"two weights": "step 0: weights", "tuned": "sums of features"}
    with pytest.raises(NotFinite, match=where.get(name, "scores")):
        training_of(name).learn(TrainingContext(tmp_path, positions=broken))


@pytest.mark.parametrize(
    ("kind", "settings", "words", "named"),
    [
        (TwoWeights, {"minutes": 0}, "", "minutes=0"),
        (TwoWeights, {"rounds": 4}, "", "rounds=4"),
        (TwoWeights, {"steps": 0}, "", "steps=0"),
        (TunedWeights, {"features": ["mobilty"]}, "", "mobilty.*'mobility'"),
        (TunedWeights, {"features": []}, "", "at least one"),
        (TunedWeights, {"features": ["corners", "corners"]}, "", "none twice"),
        (TunedWeights, {"stage": 61}, "", "stage=61: .* 60"),
        (TunedWeights, {}, "ruleset=mini6 openings=random", "corner_closeness.*8x8"),
        (TemporalDifferences, {"rungs": ["igo"]}, "", "'igo'.*'iago'"),
        (TemporalDifferences, {"rungs": []}, "", "at least one"),
        (TemporalDifferences, {"rungs": ["iago"]}, "ruleset=mini6 openings=all", "iago.*mini6"),
        (TemporalDifferences, {"trace": 1.5}, "", "trace=1.5"),
        (Evolved, {"opponents": ["igo"]}, "", "'igo'.*'iago'"),
        (Evolved, {"opponents": []}, "", "at least one"),
        (Evolved, {"knots": [10, 10]}, "", "none twice"),
        (Evolved, {"knots": [61]}, "", "61: .* 60"),
        (Evolved, {"start": "iago"}, "", "train.start=iago"),
        (Evolved, {"start": "composite", "features": ["parity"]}, "", "none of train.features"),
        (Evolved, {}, "ruleset=mini6 openings=random", "corner_closeness.*8x8"),
        (Evolved, {}, "openings=start", "train.checks=250: of 1 openings"),
    ],
)
def test_wrong_settings_are_named(
    kind: type[Training], settings: dict[str, Any], words: str, named: str
) -> None:
    if kind is Evolved:
        pytest.importorskip("cma")
    with pytest.raises(ValueError, match=named):
        kind(**settings).check(plan(*words.split()))


# ------------------------------------------------------------------ what a training works with


def test_the_loop_ends_with_the_minutes_and_saves_what_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds, saved = 0.0, []
    monkeypatch.setattr(training, "processor_seconds", lambda: seconds)
    work, state = TrainingContext(tmp_path, minutes=1), {"numbers": np.zeros(2)}
    monkeypatch.setattr(work, "save_checkpoint", lambda name, state: saved.append(state["step"]))
    done = []
    for step in work.steps("numbers", 9, state, least=1, save_all=False):
        done.append(step)
        if step == 2:
            work.note(step=step)
        seconds = (0.0, 0.1, 0.2, 50.0, 59.0, 61.0)[step] * training.CORES
    assert (done, state["step"]) == ([0, 1, 2, 3, 4, 5], 6)
    assert saved == [3, 4]  # of step 2 there is a note, step 3 was late
    assert list(TrainingContext(tmp_path, minutes=0).steps("more", 9, {}, least=2)) == [0, 1]
    state["numbers"][1] = np.inf
    with pytest.raises(NotFinite, match="step 6: numbers: 1 of 2"):
        list(TrainingContext(tmp_path).steps("numbers", 9, state))


def test_states_outlive_the_program(tmp_path: Path) -> None:
    work = TrainingContext(tmp_path)
    assert work.load_checkpoint("state") is None
    work.note(step=1, loss=0.5)
    state = {"weights": np.arange(6.0).reshape(2, 3), "raw": b"\x00\xff", "step": 3, "names": ["a"]}
    work.save_checkpoint("state", state)
    work.note(step=2, loss=0.25)  # not kept
    again = TrainingContext(tmp_path)
    result = again.load_checkpoint("state")
    assert result is not None and result.keys() == state.keys()
    assert np.array_equal(result["weights"], np.arange(6.0).reshape(2, 3))
    assert (result["raw"], result["step"], result["names"]) == (b"\x00\xff", 3, ["a"])
    assert [row["step"] for row in again.history] == [1]


def test_a_damaged_checkpoint_is_told(tmp_path: Path) -> None:
    path = TrainingContext(tmp_path).save_checkpoint("state", {"weights": np.zeros(9)})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"state\.checkpoint"):
        TrainingContext(tmp_path).load_checkpoint("state")


def test_what_was_kept_before_numbers_that_are_none_is_named(tmp_path: Path) -> None:
    work = TrainingContext(tmp_path)
    with pytest.raises(NotFinite, match=r"^step 1: loss: it .* nothing was kept"):
        work.finite("loss", np.nan, "step 1")
    path = work.save_checkpoint("state", {"weights": np.zeros(2)})
    with pytest.raises(NotFinite, match=rf"loss: 2 of 3 numbers .* {re.escape(str(path))}$"):
        work.finite("loss", [0, np.inf, np.nan], "step 2")
    assert work.finite("loss", [0, 1], "step 3") == [0, 1]


def test_minutes_are_those_of_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 0.0
    monkeypatch.setattr(training, "processor_seconds", lambda: seconds)
    work = TrainingContext(tmp_path, minutes=2)
    assert (work.spent, work.left, work.over) == (0, 1, False)
    seconds = 60.0 * training.CORES
    assert (work.spent, work.left, work.over) == (1, 0.5, False)
    work.save_checkpoint("state", {})
    seconds += 90 * training.CORES
    assert work.over
    again = TrainingContext(tmp_path, minutes=2)
    again.load_checkpoint("state")
    assert (again.spent, again.over) == (1, False)  # what was not kept is done again


def test_time_of_a_process_below_counts() -> None:
    before = training.processor_seconds()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert training.processor_seconds() > before
