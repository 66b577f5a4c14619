"""Recorded moves, of as many games as take little memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from othello_lab.experiments.record.store import Record
from othello_lab.experiments.statistics.pairs import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class RecordedMoves:
    """The decisions of some recorded games; forced passes are nobody's. All have shape (moves,).

    agent: the agent that decided, by number. black: True if it had Black. ply: from 1, opening and
    passes included. nanoseconds: the usable part of its time. waited_nanoseconds: the rest of it.
    cpu_nanoseconds: its time on a processor. nodes. value: its value of the move, from its own
    view; nan if it has none. games: number of these games. recorded: number of games with recorded
    moves.
    """

    agent: IntArray
    black: BoolArray
    ply: IntArray
    nanoseconds: FloatArray
    waited_nanoseconds: FloatArray
    cpu_nanoseconds: FloatArray
    nodes: FloatArray
    value: FloatArray
    games: int
    recorded: int

    @cached_property
    def sampled(self) -> bool:
        """True if there are more games than were read."""
        return self.games < self.recorded


def recorded_moves(record: Record, most: int) -> RecordedMoves:
    """The decisions of up to ``most`` games, drawn by chance, always the same, if there are more;
    ValueError where they cannot be read."""
    numbers = record.select("select game from turns")
    every = np.fromiter((game for (game,) in numbers), dtype=np.int64)
    chosen = np.sort(every)
    if len(every) > most:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, most, replace=False))
    turns = record.turns(chosen.tolist())
    decided = turns.decided
    waited = turns.column("waited_nanoseconds")[decided].astype(float)
    return RecordedMoves(
        agent=turns.column("agent")[decided],
        black=turns.black[decided],
        ply=turns.column("ply")[decided],
        nanoseconds=turns.column("nanoseconds")[decided] - waited,
        waited_nanoseconds=waited,
        cpu_nanoseconds=turns.column("cpu_nanoseconds")[decided].astype(float),
        nodes=turns.column("nodes")[decided].astype(float),
        value=turns.objects("value")[decided].astype(float),
        games=len(chosen),
        recorded=len(every),
    )


def quantiles_by(
    groups: ArrayLike, values: FloatArray, shares: Sequence[float]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return quantiles of the values of each group. A quantile is the smallest value with at least
    this share of the values not larger.

    groups: shape (values,), whole numbers. shares: above 0, up to 1. Returns the groups in
    ascending order, shape (g,), the number of values of each, and the quantiles, (g, shares).
    """
    numbers = np.asarray(groups)
    ordered = values[np.lexsort((values, numbers))]
    distinct, counts = np.unique(numbers, return_counts=True)
    ends = counts.cumsum() - counts
    places = [ends + np.ceil(share * counts).astype(np.int64) - 1 for share in shares]
    return distinct, counts, np.stack([ordered[rows] for rows in places], axis=-1)
