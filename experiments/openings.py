"""The positions that games begin from."""

from __future__ import annotations

import numpy as np

from agents.config import ConfigError
from core.notation import PASS
from core.position import Position
from core.rules import Ruleset

Opening = bytes
"""An opening as its moves, one byte each (passes included): compact, as a run may have many."""

_PURPOSE = 1  # keeps the openings' random numbers apart from those of the games
_TRIES = 1000


def random_openings(count: int, plies: int, rules: Ruleset, seed: int) -> list[Opening]:
    """``count`` openings of ``plies`` random legal plies, all distinct.

    Each ply is drawn uniformly from the legal moves. Two openings that lead to the same position,
    also up to the symmetries of the board, count as the same; games that end within the opening
    are not used. The list depends on nothing but the arguments, and a longer list begins with the
    shorter one. Raises ConfigError where so many cannot be found.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_PURPOSE,)))
    openings: list[Opening] = []
    seen: set[int] = set()
    failures = 0
    while len(openings) < count:
        position, moves = Position.start(rules), bytearray()
        while len(moves) < plies and not position.is_over:
            legal = position.moves or (PASS,)
            move = legal[int(rng.integers(len(legal)))]
            moves.append(move)
            position = position.play(move)
        # One number for the position: the hash of a set of numbers costs a tenth of the positions.
        form = position.canonical()
        key = hash((form.mover, form.opponent, form.to_move.value == "black"))
        if position.is_over or key in seen:
            failures += 1
            if failures > _TRIES + 20 * len(openings):
                raise ConfigError(
                    f"games={2 * count}: only {len(openings)} distinct openings of {plies} random "
                    f"plies were found on ruleset {rules.name}; ask for at most "
                    f"games={2 * len(openings)} or change openings.plies={plies}"
                )
            continue
        seen.add(key)
        openings.append(bytes(moves))
    return openings
