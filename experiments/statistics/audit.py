"""A run's intervals tested on the run itself: intervals of parts against the results of the
rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from othello_lab.experiments.statistics.intervals import share_interval
from othello_lab.experiments.statistics.pairs import SHARES, IntArray

MOST_BLOCKS = 10
FEWEST_BLOCKS = 4
BLOCK = 10
"""Openings that a block has at least."""
SHUFFLES = 10
"""Random orders of the openings of each of the first pairings, for the expectation."""
_ENOUGH = 200  # pairings; all others have one random order


class OpeningCounts(NamedTuple):
    """A pairing's pairs by outcome, opening by opening: many openings have the same counts.

    counts: all different ones, shape (m, 5). places: of each opening's counts among them, in the
    order of play, shape (openings,).
    """

    counts: IntArray
    places: IntArray

    def times(self, places: IntArray) -> IntArray:
        """Return how many of some openings have each of the counts, shape (m,)."""
        return np.bincount(places, minlength=len(self.counts))


class Audit(NamedTuple):
    """The result of an audit.

    blocks, openings: the most blocks of a pairing, and the fewest openings of a block. intervals:
    one for each block and pairing. held: the number that hold the mean of all other blocks.
    expected: their average number if the openings come in a random order. It is not 95 %: the mean
    of the other blocks is not exact either, and intervals from few openings, or of a few different
    results, are on the safe side.
    """

    blocks: int
    openings: int
    intervals: int
    held: int
    expected: float


def self_audit(pairings: Iterable[OpeningCounts]) -> Audit | None:
    """Split each pairing by opening into blocks, and count the blocks in which the 95 % interval of
    its share of points holds its share in all other blocks.

    The order of play makes blocks also show changes during the run. Pairings of too few openings
    for four blocks of ten, and those with equal results of all pairs, are left out.

    Returns None if none is left.
    """
    rng = np.random.default_rng(0)
    found: list[Audit] = []
    for pairing in pairings:
        places = pairing.places
        whole = pairing.times(places) @ pairing.counts
        blocks = min(MOST_BLOCKS, len(places) // BLOCK)
        if blocks < FEWEST_BLOCKS or np.count_nonzero(whole) < 2:
            continue
        smallest = len(places) // blocks
        shuffles = SHUFFLES if len(found) < _ENOUGH else 1
        random = [_held(pairing, rng.permutation(places), blocks) for _ in range(shuffles)]
        held, expected = _held(pairing, places, blocks), sum(random) / shuffles
        found.append(Audit(blocks, smallest, blocks, held, expected))
    if not found:
        return None
    return Audit(
        max(audit.blocks for audit in found),
        min(audit.openings for audit in found),
        sum(audit.intervals for audit in found),
        sum(audit.held for audit in found),
        sum(audit.expected for audit in found),
    )


def _held(pairing: OpeningCounts, places: IntArray, blocks: int) -> int:
    """Return the number of blocks with an interval that holds the share of points in the others.
    places: of the openings' counts, in this order."""
    parts = [pairing.times(part) for part in np.array_split(places, blocks)]
    whole = sum(parts)
    return sum(_holds(pairing.counts, part, whole - part) for part in parts)


def _holds(counts: IntArray, part: IntArray, rest: IntArray) -> bool:
    """Return True if the interval of a part's openings holds the share of points in the rest. part,
    rest: how many openings have each of the counts."""
    _, low, high, _ = share_interval(counts, part)
    pairs = rest @ counts
    mean = float(pairs @ SHARES) / int(pairs.sum())
    return low - 1e-9 <= mean <= high + 1e-9
