"""Who meets whom, from where, with which random numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from experiments.pairing.openings import Opening

_PURPOSE = 2  # keeps the games' random numbers apart from those of the openings


@dataclass(frozen=True, slots=True)
class Game:
    """One game to be played.

    number: position in the schedule, from 0. pair: number of its pair. black, white: agents by
    number. seed: even; Black's random numbers come from it, White's from ``seed + 1``.
    """

    number: int
    pair: int
    black: int
    white: int
    opening: Opening
    seed: int


Pair = tuple[Game, Game]
"""Two games from one opening with colours swapped."""

Pairing = tuple[int, int]
"""Two agents, by number, that are to meet."""


def round_robin(agents: int) -> list[Pairing]:
    """Everybody meets everybody."""
    return list(combinations(range(agents), 2))


def gauntlet(agents: int, champion: int) -> list[Pairing]:
    """One agent meets each of the others."""
    return [(champion, other) for other in range(agents) if other != champion]


def schedule(pairings: Sequence[Pairing], openings: Sequence[Opening], seed: int) -> Iterator[Pair]:
    """Every pairing plays a pair from each opening, ``len(pairings) * len(openings)`` in all.

    All pairings play an opening before the next one is taken, so that a run which is stopped
    early has met everyone about equally often, and more openings make a longer schedule that
    begins with the shorter one. A game's seed depends on the run's seed and the pair's number
    alone.
    """
    number = 0
    for opening in openings:
        for first, second in pairings:
            words = np.random.SeedSequence(seed, spawn_key=(_PURPOSE, number))
            seeds = [int(word) >> 1 & ~1 for word in words.generate_state(2, np.uint64)]
            yield (
                Game(2 * number, number, first, second, opening, seeds[0]),
                Game(2 * number + 1, number, second, first, opening, seeds[1]),
            )
            number += 1
