"""Temporal differences: the kernel against plain Python, and what the training learns."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from chosen import mostly_nightly
from taught import plan

from othello_lab import Position
from othello_lab.agents.learned.geometry import geometry
from othello_lab.agents.learned.patterns import PatternEvaluation
from othello_lab.core.notation import PASS
from othello_lab.core.rules import RULESETS
from othello_lab.training.kernels.selfplay import (
    CLASSES_AT,
    OWN_AT,
    THEIRS_AT,
    LearnedArrays,
    LearningSettings,
    learn_games,
)
from othello_lab.training.td import TemporalDifferences, as_weights, board, nothing
from othello_lab.training.training import TrainingContext

MINI = RULESETS["mini4"]
SMALL = TemporalDifferences(games=1200, batch=300, stage=4, climbs=30, opening=6)


# ------------------------------------------------------------------ the kernel


def active(known: Any, position: Position) -> tuple[int, list[int]]:
    """The stage of a position, and the columns of its weights."""
    rules = position.ruleset
    other = Position(position.opponent, position.mover, position.to_move.other, rules)
    masks = np.array([[position.mover], [position.opponent]], dtype=np.uint64)
    classes = geometry(rules.side).features(*masks)[0]
    moves = [OWN_AT + len(position.moves), THEIRS_AT + len(other.moves)]
    columns = [64 - position.discs, *moves, *(CLASSES_AT + classes)]
    return int(known.stages[64 - position.discs]), columns


class Twin:
    """The same in plain Python, without chance: games that it plays on the 4x4 board."""

    def __init__(self, manner: LearningSettings, stage: int) -> None:
        self.manner, self.known = manner, board(MINI, stage)
        shape = nothing(self.known).weights.shape
        self.weights, self.errors, self.sizes = (np.zeros(shape) for _ in range(3))

    def value(self, position: Position) -> float:
        stage, columns = active(self.known, position)
        return sum(self.weights[stage, column] for column in columns)

    def promise(self, position: Position, move: int) -> float:
        after = position.play(move)
        return -(after.disc_difference if after.is_over else self.value(after))

    def play(self) -> None:
        chain = [Position.start(MINI)]
        while not chain[-1].is_over:
            moves = chain[-1].moves or (PASS,)
            worth = {move: self.promise(chain[-1], move) for move in moves}
            chain.append(chain[-1].play(max(moves, key=lambda move: (worth[move], -move))))
        value = target = float(chain[-1].disc_difference)
        for position in reversed(chain[:-1]):
            target = -((1 - self.manner.trace) * value + self.manner.trace * target)
            value = self.value(position)
            self.correct(position, target - value)

    def correct(self, position: Position, error: float) -> None:
        stage, columns = active(self.known, position)
        for column in columns:
            size = self.sizes[stage, column]
            share = abs(self.errors[stage, column]) / size if size else 1.0
            self.weights[stage, column] += self.manner.rate / len(columns) * share * error
            self.errors[stage, column] += error
            self.sizes[stage, column] += abs(error)


@pytest.mark.parametrize("trace", mostly_nightly([0.0, 0.6, 1.0], [0.6]))
def test_the_kernel_learns_as_its_twin_does(trace: float) -> None:
    manner = LearningSettings(0.8, trace, 0.0, 0)
    twin = Twin(manner, 4)
    learning = nothing(twin.known)
    for _ in range(6):
        twin.play()
        learn_games(twin.known, learning, manner, np.int64(1), np.uint64(1))
        assert np.allclose(learning.weights, twin.weights, atol=1e-3)
        assert np.allclose(learning.sizes, twin.sizes, atol=1e-2)
    assert (learning.weights != 0).sum() > 50


def test_chance_follows_from_the_seed() -> None:
    known, manner = board(MINI, 4), LearningSettings(1.0, 0.5, 0.2, 4)

    def learned(seed: int) -> np.ndarray:
        learning = nothing(known)
        learn_games(known, learning, manner, np.int64(20), np.uint64(seed))
        return learning.weights

    assert np.array_equal(learned(3), learned(3))
    assert not np.array_equal(learned(3), learned(4))


@pytest.mark.parametrize(
    "rules", ["mini4", pytest.param("standard", marks=pytest.mark.integration)]
)
def test_what_is_learned_is_what_a_pattern_evaluation_says(rules: str, tmp_path: Path) -> None:
    known = board(RULESETS[rules], 7)
    rng = np.random.default_rng(5)
    empty = nothing(known)
    units = rng.integers(-300, 301, size=empty.weights.shape)
    learning = LearnedArrays((units / 100).astype(np.float32), empty.errors, empty.sizes)
    path = as_weights(learning, known).write(tmp_path / "td.npz")
    evaluation = PatternEvaluation(path)
    position = Position.start(rules)
    while not position.is_over:
        stage, columns = active(known, position)
        expected = units[stage, columns].sum()
        assert evaluation(position) == np.clip(expected, -6400, 6400), f"\n{position}"
        choices = position.moves or (PASS,)
        position = position.play(choices[int(rng.integers(len(choices)))])


@pytest.mark.parametrize("stage", [1, 4, 13, 60])
@pytest.mark.parametrize("rules", ["standard", "mini4"])
def test_stages_are_numbered_from_the_end_of_the_game(stage: int, rules: str) -> None:
    side = RULESETS[rules].side
    stages = board(RULESETS[rules], stage).stages
    assert len(stages) == 65 and (stages[: 65 - side**2] == 0).all()
    assert set(np.diff(stages)) <= {0, 1}
    counts = np.bincount(stages[64 - side**2 :][: side**2 - 3])
    assert (counts >= stage).all() or len(counts) == 1
    assert len(counts) == max(1, (side**2 - 4) // stage)


# ------------------------------------------------------------------ the training


@pytest.mark.integration
def test_it_learns_to_beat_random_moves(tmp_path: Path) -> None:
    """From 1200 games against itself; p < 0.001 already for 45 of 60 games."""
    work = TrainingContext(tmp_path, plan=plan())
    learned = SMALL.learn(work)
    assert [row["games"] for row in work.history] == [300, 600, 1200]
    won = work.history[-1]["score_random"]
    assert scipy.stats.binomtest(round(60 * won), 60, alternative="greater").pvalue < 0.001
    assert "1,200 games" in learned.findings[0] and learned.about["games"] == 1200
    used = learned.findings[1].split()
    assert used[1] == "%" and 0 < int(used[0]) < 100
    assert learned.tables[0].columns[2:] == ["random", "greedy", "square_weights", "iago"]


def test_it_learns_the_4x4_game(tmp_path: Path) -> None:
    """White wins it, and so does who has learned it, from either side of most positions."""
    training = dataclasses.replace(SMALL, games=3000, batch=1000, climbs=60, opening=4)
    work = TrainingContext(tmp_path, plan=plan(rules="mini4"))
    learned = training.learn(work)
    assert learned.weights is not None
    path = learned.weights.write(tmp_path / "mini.npz")
    evaluation = PatternEvaluation(path)
    # With perfect play it ends 3-11: -10 to Black once the empty squares are counted.
    assert evaluation(Position.start(MINI)) == pytest.approx(-1000, abs=300)
