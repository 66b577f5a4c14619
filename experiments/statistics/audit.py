"""A run's intervals tested on the run itself: intervals of parts against the results of the
rest."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import scipy  # which loads its parts when they are used

from othello_lab.experiments.statistics.intervals import INSIDE, share_interval
from othello_lab.experiments.statistics.pairs import SHARES, IntArray, by_opening

MOST_BLOCKS = 10
FEWEST_BLOCKS = 4
BLOCK = 10
"""Openings that a block has at least."""


class Audit(NamedTuple):
    """The result of an audit.

    blocks, openings: the most blocks of a pairing, and the fewest openings of a block. intervals:
    one for each block and pairing. held: the number that hold the mean of all other blocks.
    expected: their average number if the intervals are right: less than 95 %, as the mean of the
    other blocks is not exact either.
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
    found: list[Audit] = []
    for counts in pairings:
        units, _ = by_opening(counts)
        whole = units.sum(axis=0)
        blocks = min(MOST_BLOCKS, len(units) // BLOCK)
        if blocks < FEWEST_BLOCKS or np.count_nonzero(whole) < 2:
            continue
        parts = np.array_split(units, blocks)
        held = sum(_holds(part, whole - part.sum(axis=0)) for part in parts)
        smallest = len(parts[-1])
        # The difference of the two means varies by blocks / (blocks - 1) of what a block's does.
        reach = scipy.special.stdtrit(smallest - 1, INSIDE) * math.sqrt((blocks - 1) / blocks)
        expected = blocks * (2 * scipy.special.stdtr(smallest - 1, reach) - 1)
        found.append(Audit(blocks, smallest, blocks, held, float(expected)))
    if not found:
        return None
    return Audit(
        max(audit.blocks for audit in found),
        min(audit.openings for audit in found),
        sum(audit.intervals for audit in found),
        sum(audit.held for audit in found),
        sum(audit.expected for audit in found),
    )


def _holds(part: IntArray, rest: IntArray) -> bool:
    """Return True if the interval of these openings holds the share of points in the rest."""
    _, low, high, _ = share_interval(part)
    mean = float(rest @ SHARES) / int(rest.sum())
    return low - 1e-9 <= mean <= high + 1e-9
