"""Games and positions for trainings to learn from that tests can afford."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from othello_lab.agents.evaluation import Composite
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.experiments.config import Plan, read
from othello_lab.training.data import Positions

Line = tuple[Position, list[int]]
"""A game: the position at its start, and its moves, passes included."""
TEACHER = MappingProxyType({"corners": 700, "mobility": 90, "stable_discs": 150})
"""Weights of the scores, in hundredths of a disc."""


def random_games(count: int, rules: str = "standard", seed: int = 1) -> list[Line]:
    rng, games = np.random.default_rng(seed), []
    for _ in range(count):
        start = position = Position.start(rules)
        moves = []
        while not position.is_over:
            moves.append(int(rng.choice(position.moves)) if position.moves else PASS)
            position = position.play(moves[-1])
        games.append((start, moves))
    return games


def positions_of(line: Line) -> list[Position]:
    """All positions of a game, the last one included."""
    start, moves = line
    positions = [start]
    for move in moves:
        positions.append(positions[-1].play(move))
    return positions


def scored(line: Line) -> Iterator[tuple[Position, int]]:
    """The positions of a game but its last, each with the final difference for its mover."""
    *positions, last = positions_of(line)
    for position in positions:
        yield position, last.disc_difference * (1 if last.to_move is position.to_move else -1)


@functools.cache
def random_positions(games: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masks of mover and opponent before each move of random games, and numbers of the games."""
    rows = [
        (*position.masks, number)
        for number, line in enumerate(random_games(games))
        for position in positions_of(line)[:-1]
    ]
    mover, opponent, number = np.array(rows, dtype=np.uint64).T.copy()
    return mover, opponent, number.astype(np.int64)


def taught_positions(
    weights: Mapping[str, float] = TEACHER, games: int = 60, noise: float = 2.0
) -> Positions:
    """Positions of random games; their scores are what a composite makes of them, and noise."""
    mover, opponent, number = random_positions(games)
    score = Composite(dict(weights)).values(mover, opponent) / 100
    score = score + np.random.default_rng(1).normal(0, noise, len(mover))
    score = np.clip(score, -64, 64).astype(np.float32)
    return Positions.of_games(mover, opponent, score, np.zeros(len(mover), dtype=bool), number)


def plan(*words: str, rules: str = "standard") -> Plan:
    """The plan of the matches of a training that plays some itself."""
    openings = "balanced" if rules == "standard" else "all"
    duel = ["agents=duel", "agent@first=random", "agent@second=greedy", f"openings={openings}"]
    return read([*duel, f"ruleset={rules}", "executor=serial", *words])
