"""Regression of a composite's weights: against labels whose weights are known."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from taught import random_positions

from othello_lab.agents.config import build
from othello_lab.agents.evaluation import Composite
from othello_lab.core.position import Position
from othello_lab.training import linear
from othello_lab.training.data import VALIDATION, Positions
from othello_lab.training.linear import (
    RIDGES,
    SMOOTHINGS,
    UNIT,
    TunedWeights,
    best_fit,
    feature_values,
    fit,
    moments_of_positions,
    stage_numbers,
    stages_of_width,
)
from othello_lab.training.training import TrainingContext

Boards = tuple[np.ndarray, np.ndarray]
"""Masks of movers and of opponents."""
NAMES = ["corners", "frontier_discs", "mobility", "stable_discs"]
STAGES = stages_of_width(20)
TRUE = np.array([[8.0, 0.5, 1.0, 2.0], [6.0, 0.5, 1.5, 1.0], [4.0, 0.25, 0.5, 0.0]])


@pytest.fixture(scope="module")
def boards() -> Boards:
    return random_positions(60)[:2]


@pytest.fixture(scope="module")
def labels(boards: Boards) -> np.ndarray:
    """What the true weights make of each position."""
    stage = stage_numbers(STAGES, 64 - np.bitwise_count(boards[0] | boards[1]).astype(int))
    return (feature_values(NAMES, *boards) * TRUE[stage]).sum(axis=1)


@pytest.mark.parametrize("width", [1, 7, 31, 60])
def test_stages_cover_all_numbers_of_empties_once(width: int) -> None:
    stages = stages_of_width(width)
    covered = [empties for first, last in stages for empties in range(first, last + 1)]
    assert covered == list(range(61))
    assert min(last + 1 - first for first, last in stages) >= width
    numbers = stage_numbers(stages, np.array([*range(61), 64]))
    assert all(stages[n][0] <= e <= stages[n][1] for n, e in zip(numbers, covered, strict=False))
    assert numbers[-1] == len(stages) - 1


def test_the_weights_of_made_up_labels_are_found(boards: Boards, labels: np.ndarray) -> None:
    noise = np.random.default_rng(1).normal(0, 5, len(labels))
    known = moments_of_positions(NAMES, STAGES, *boards, labels + noise)
    weights = fit(known, 1e-9, 0.0)
    # Standard errors, from what least squares knows.
    spread = np.sqrt(
        25 * np.stack([np.diag(np.linalg.inv(products)) for products in known.products])
    )
    assert (np.abs(weights - TRUE) < 4.5 * spread).all()
    assert known.loss(weights) == pytest.approx(25, rel=0.1)
    exact = moments_of_positions(NAMES, STAGES, *boards, labels)
    assert np.allclose(fit(exact, 1e-12, 0.0), TRUE, atol=1e-6)


def test_errors_are_those_of_the_positions(
    boards: Boards, labels: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = moments_of_positions(NAMES, STAGES, *boards, labels)
    stage = stage_numbers(STAGES, 64 - np.bitwise_count(boards[0] | boards[1]).astype(int))
    weights = TRUE + 0.25
    missed = labels - (feature_values(NAMES, *boards) * weights[stage]).sum(axis=1)
    assert known.loss(weights) == pytest.approx((missed**2).mean())
    monkeypatch.setattr(linear, "_CHUNK", 700)
    in_chunks = moments_of_positions(NAMES, STAGES, *boards, labels)
    assert in_chunks.loss(weights) == pytest.approx(known.loss(weights))


def test_a_stage_without_positions_gets_its_neighbours_weights(
    boards: Boards, labels: np.ndarray
) -> None:
    outside = np.bitwise_count(boards[0] | boards[1]) < 44
    late = [array[outside] for array in (*boards, labels)]
    known = moments_of_positions(NAMES, STAGES, *late)
    assert known.counts[0] == 0
    weights = fit(known, 1e-9, 1e-6)
    assert np.allclose(weights[0], weights[1], rtol=0.01)
    assert np.allclose(weights[1:], TRUE[1:], atol=0.01)


def test_smoothing_brings_stages_together_and_ridge_weights_to_nothing(
    boards: Boards, labels: np.ndarray
) -> None:
    known = moments_of_positions(NAMES, STAGES, *boards, labels)
    free, smooth, same = (fit(known, 1e-9, smoothing) for smoothing in (0.0, 1.0, 1e6))
    spreads = [np.ptp(weights, axis=0).max() for weights in (free, smooth, same)]
    assert spreads[0] > spreads[1] > spreads[2] and spreads[2] < 1e-3
    sizes = [np.abs(fit(known, ridge, 0.0)).sum() for ridge in (1e-9, 1.0, 1e6)]
    assert sizes[0] > sizes[1] > sizes[2] and sizes[2] < 1e-3


def test_a_feature_that_is_always_0_weighs_nothing() -> None:
    positions = [Position.start().play("d3"), Position.from_transcript("f5d6c3d3c4")]
    masks = np.array([position.masks for position in positions], dtype=np.uint64)
    names = ["corners", "mobility"]
    known = moments_of_positions(names, STAGES, masks[:, 0], masks[:, 1], np.array([3.0, -2.0]))
    weights = fit(known, 1e-3, 1e-3)
    assert np.isfinite(weights).all() and (weights[:, 0] == 0).all()


def test_penalties_are_those_that_foretell_other_games_best(
    boards: Boards, labels: np.ndarray
) -> None:
    """Of few and noisy games the weights should not be taken as they are."""
    noise = np.random.default_rng(2).normal(0, 60, len(labels))
    parts = [
        moments_of_positions(NAMES, STAGES, *(array[half] for array in (*boards, labels + noise)))
        for half in (slice(240), slice(240, None))
    ]
    best = best_fit(*parts)
    fits = [fit(parts[0], *pair) for pair in product(RIDGES, SMOOTHINGS)]
    assert parts[1].loss(best.weights) == min(map(parts[1].loss, fits))
    assert np.array_equal(best.weights, fit(parts[0], best.ridge, best.smoothing))
    assert parts[1].loss(best.weights) < parts[1].loss(fit(parts[0], 1e-9, 0.0))


# ------------------------------------------------------------------ the training


@pytest.fixture(scope="module")
def positions(boards: Boards, labels: np.ndarray) -> Positions:
    game = random_positions(60)[2]
    exact = np.zeros(len(labels), dtype=bool)
    return Positions.of_games(*boards, labels, exact, game, validation=0.3, test=0.0)


def test_a_training_gives_a_composite_that_any_run_can_use(
    positions: Positions, tmp_path: Path
) -> None:
    work = TrainingContext(tmp_path, positions=positions)
    learned = TunedWeights(features=NAMES, stage=20).learn(work)
    composite = build(learned.evaluation, "evaluation", Composite)
    part = positions.part(VALIDATION)
    missed = composite.values(part.mover, part.opponent) / UNIT - part.score
    assert len(part) > 100 and np.sqrt((missed**2).mean()) < 0.1
    assert learned.about["validation_loss"] == pytest.approx((missed**2).mean(), abs=0.01)
    assert "by 0.0 discs" in learned.findings[0]
    assert [row[0] for row in learned.tables[0].rows] == NAMES
    assert [figure.name for figure in learned.figures()] == ["weights"]
