"""A run's intervals tested on the run itself: intervals of parts against the results of the
rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from othello_lab.experiments.statistics.intervals import share_interval
from othello_lab.experiments.statistics.pairs import SHARES, IntArray, by_opening

MOST_BLOCKS = 10
FEWEST_BLOCKS = 4
BLOCK = 10
"""Openings that a block has at least."""
SHUFFLES = 10
"""Random orders of the openings of each of the first pairings, for the expectation."""
_ENOUGH = 200  # pairings; all others have one random order


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


def self_audit(pairings: Iterable[IntArray]) -> Audit | None:
    """Split each pairing by opening into blocks, and count the blocks in which the 95 % interval of
    its share of points holds its share in all other blocks.

    pairings: for each pairing its pairs by outcome, a row an opening, shape (openings, 5), in the
    order of play, so that blocks also show changes during the run. Pairings of too few openings for
    four blocks of ten, and those with equal results of all pairs, are left out.

    Returns None if none is left.
    """
    rng = np.random.default_rng(0)
    found: list[Audit] = []
    for counts in pairings:
        units, _ = by_opening(counts)
        whole = units.sum(axis=0)
        blocks = min(MOST_BLOCKS, len(units) // BLOCK)
        if blocks < FEWEST_BLOCKS or np.count_nonzero(whole) < 2:
            continue
        smallest = len(units) // blocks
        shuffles = SHUFFLES if len(found) < _ENOUGH else 1
        random = [_held(rng.permutation(units), blocks) for _ in range(shuffles)]
        held, expected = _held(units, blocks), sum(random) / shuffles
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


def _held(units: IntArray, blocks: int) -> int:
    """Return the number of blocks with an interval that holds the share of points in the others."""
    whole = units.sum(axis=0)
    parts = np.array_split(units, blocks)
    return sum(_holds(part, whole - part.sum(axis=0)) for part in parts)


def _holds(part: IntArray, rest: IntArray) -> bool:
    """Return True if the interval of these openings holds the share of points in the rest."""
    _, low, high, _ = share_interval(part)
    mean = float(rest @ SHARES) / int(rest.sum())
    return low - 1e-9 <= mean <= high + 1e-9
