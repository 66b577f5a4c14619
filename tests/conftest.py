"""What several test folders share."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import settings

from core import PASS, Position

# No deadline: the first example of a run may have to compile. The blob lets a failure seen
# elsewhere be repeated here.
settings.register_profile("lab", deadline=None, print_blob=True)
settings.load_profile("lab")

Game = list[Position]


@pytest.fixture(scope="session")
def random_game() -> Callable[[str, int], Game]:
    """``random_game(ruleset, seed)``: every position of one game of random moves, in order."""

    def play(rules: str, seed: int) -> Game:
        rng = random.Random(seed)
        game = [Position.start(rules)]
        while not game[-1].is_over:
            game.append(game[-1].play(rng.choice(game[-1].moves or (PASS,))))
        return game

    return play
