"""Predicted results of a small experiment of others, if its strategies are as strong as ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.pairs import OUTCOMES, IntArray, by_opening

ORIGINALS = 20_000
"""How many originals are drawn."""

_PRIOR = 0.1
"""Of each outcome of a pair so many were seen before all games: half a pair in all, so that what a
run has never seen is improbable, not impossible."""


def predicted(
    counts: ArrayLike,
    games: int,
    rng: np.random.Generator,
    times: ArrayLike | None = None,
    originals: int = ORIGINALS,
) -> IntArray:
    """Half points of a player in originals of so many games, shape (originals,).

    counts, times: of our pairs, see :func:`experiments.statistics.pairs.by_opening`. An original
    is played in pairs, each from an opening of its own, as ours; an odd game is half a pair. How
    probable the outcomes of a pair are is drawn anew for each original, from what our pairs leave
    open (a Dirichlet distribution).
    """
    units, often = by_opening(counts, times)
    rates = rng.dirichlet(often @ units + _PRIOR, size=originals)
    pairs = rng.multinomial(games // 2, rates)
    half_points = pairs @ np.arange(OUTCOMES)
    if games % 2:
        odd = rng.multinomial(1, rates) @ np.arange(OUTCOMES)
        half_points += (odd + rng.integers(0, 2, originals)) // 2
    return np.asarray(half_points, dtype=np.int64)


def tail(drawn: IntArray, seen: float) -> tuple[str, float]:
    """``"fewer"`` or ``"more"``, and the share of what was drawn that lies as far out as what was
    seen, on the side of the middle where that is.

    >>> tail(np.array([14, 16, 18, 20]), 16)
    ('fewer', 0.5)
    """
    fewer, more = float((drawn <= seen).mean()), float((drawn >= seen).mean())
    return ("fewer", fewer) if fewer <= more else ("more", more)


def joint_p(drawn: Sequence[IntArray], seen: Sequence[int]) -> float:
    """Return the probability that an original differs from its expected results by at least this
    one's difference, all results taken together.

    drawn: each result in drawn originals, shape (originals,); seen: that of the original. What is
    compared is how probable results are: the product over all of them of the share of originals
    that have the very same.
    """
    surprise = np.zeros(len(drawn[0]) + 1)
    for results, own in zip(drawn, seen, strict=True):
        every = np.append(results, own)
        often = np.bincount(every)
        surprise -= np.log(often[every] / len(every))
    return float((surprise >= surprise[-1] - 1e-9).mean())
