"""Positions for tests."""

from __future__ import annotations

import functools
import random
from dataclasses import replace

import numpy as np
import oracle
from hypothesis import strategies as st

from othello_lab import PASS, Position
from othello_lab.agents.learned import patterns
from othello_lab.agents.learned.geometry import geometry
from othello_lab.agents.learned.weights import LearnedWeights

seeds = st.integers(0, 2**32 - 1)
masks = st.integers(0, 2**64 - 1)


@st.composite
def strewn(draw: st.DrawFn, rules: str = "standard") -> Position:
    """Any discs anywhere, as no game leaves them."""
    start = Position.start(rules)
    filled, chosen = draw(masks) & start.ruleset.board, draw(masks)
    return replace(start, mover=filled & chosen, opponent=filled & ~chosen)


def strewn_boards(count: int, seed: int) -> list[Position]:
    """Boards as no game leaves them, sparse and dense."""
    boards = (oracle.random_board(8, 1000 * seed + number) for number in range(count))
    return [Position(*oracle.masks(board, oracle.BLACK)) for board in boards]


def placed(names: str) -> int:
    """The mask of these squares."""
    return oracle.mask({8 * int(name[1]) - 8 + "abcdefgh".index(name[0]) for name in names.split()})


def played_out(rules: str, seed: int) -> list[tuple[Position, int]]:
    """A random game: each position that is not over, and the move made there."""
    rng, position, turns = random.Random(seed), Position.start(rules), []
    while not position.is_over:
        turns.append((position, rng.choice(position.moves or (PASS,))))
        position = position.play(turns[-1][1])
    return turns


@functools.lru_cache(maxsize=500)  # many tests ask for the same ones
def random_game(rules: str, seed: int) -> list[Position]:
    """All positions of a random game, the last one included."""
    turns = played_out(rules, seed)
    last, move = turns[-1]
    return [*(position for position, _ in turns), last.play(move)]


def with_empties(rules: str, seed: int, empties: int) -> Position:
    """The position of a random game with so many empty squares, or its last with more."""
    game = random_game(rules, seed)
    return next((position for position in game if position.empties <= empties), game[-1])


def with_sight_of_the_end(rules: str, seed: int) -> Position:
    """A position of a random game that is not over, for odd seeds one of the last twelve, where
    passes and ends of the game come into sight."""
    game = random_game(rules, seed)[:-1]
    return random.Random(seed).choice(game[-12:] if seed % 2 else game)


def symmetric(position: Position) -> list[Position]:
    """The position turned and mirrored in all eight ways, square by square."""
    last = position.ruleset.side - 1

    def moved(mask: int, swap: bool, down: bool, right: bool) -> int:
        places = set()
        for square in oracle.bits(mask):
            row, column = (square % 8, square // 8) if swap else divmod(square, 8)
            places.add(8 * (last - row if down else row) + (last - column if right else column))
        return oracle.mask(places)

    ways = [(swap, down, right) for swap in (0, 1) for down in (0, 1) for right in (0, 1)]
    both = [(moved(position.mover, *way), moved(position.opponent, *way)) for way in ways]
    return [replace(position, mover=mover, opponent=opponent) for mover, opponent in both]


def random_patterns(side: int, stages: int = 1) -> LearnedWeights:
    """Weights of patterns for a board, drawn at random."""
    rng = np.random.default_rng(side)

    def drawn(*shape: int) -> np.ndarray:
        return rng.integers(-90, 90, shape).astype(np.int16)

    arrays = {
        patterns.STAGES: np.minimum(np.arange(65) // 20, stages - 1).astype(np.uint8),
        patterns.CONSTANT: drawn(65),
        patterns.OWN_MOVES: drawn(stages, patterns.MOST_MOVES + 1),
        patterns.THEIR_MOVES: drawn(stages, patterns.MOST_MOVES + 1),
        patterns.CONTENTS: drawn(stages, geometry(side).classes),
    }
    return LearnedWeights(patterns.KIND, patterns.VERSION, patterns.UNIT, arrays, {"side": side})
