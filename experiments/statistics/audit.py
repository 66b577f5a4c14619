"""A run's intervals held to the run itself: do those of its parts hold what the rest found?"""

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
    """What came of it.

    blocks, openings: into so many blocks a pairing was split at most, and so many openings a block
    has at least. intervals: one for each block and pairing. held: how many hold the mean of all
    other blocks. expected: how many do on average if the intervals are what they say: less than
    95 %, as the mean of the other blocks is not exact either.
    """

    blocks: int
    openings: int
    intervals: int
    held: int
    expected: float


def self_audit(pairings: Iterable[IntArray]) -> Audit | None:
    """Split each pairing by opening into blocks, and see how often the 95 % interval of its share
    of points in a block holds its share in all other blocks.

    pairings: for each pairing its pairs by outcome, a row an opening, shape (openings, 5), in the
        order in which the run played them, so that blocks tell too whether anything changed
        meanwhile. Pairings of too few openings for four blocks of ten, and those in which all pairs
        went alike, are left out.

    None where none is left.
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
    """Whether the interval of these openings holds the share of points in the rest."""
    _, low, high, _ = share_interval(part)
    mean = float(rest @ SHARES) / int(rest.sum())
    return low - 1e-9 <= mean <= high + 1e-9
