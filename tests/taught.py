"""Positions for trainings to learn from that tests can afford."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from othello_lab.agents.evaluation import Composite
from othello_lab.core.position import Position
from othello_lab.training.data import Positions

TEACHER = {"corners": 700, "mobility": 90, "stable_discs": 150}
"""What the scores are made of, in hundredths of a disc."""


def taught_positions(
    random_game: Callable[[str, int], list[Position]], games: int = 60
) -> Positions:
    """Positions of random games; their scores are what a composite makes of them, and noise."""
    played = [random_game("standard", seed)[:-1] for seed in range(games)]
    masks = np.array([position.masks for game in played for position in game], dtype=np.uint64)
    number = np.repeat(np.arange(games), [len(game) for game in played])
    noise = np.random.default_rng(1).normal(0, 2, len(masks))
    score = Composite(TEACHER).values(masks[:, 0], masks[:, 1]) / 100 + noise
    score = np.clip(score, -64, 64).astype(np.float32)
    exact = np.zeros(len(masks), dtype=bool)
    return Positions.of_games(masks[:, 0], masks[:, 1], score, exact, number)
