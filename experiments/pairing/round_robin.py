"""Everybody meets everybody."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from othello_lab.experiments.pairing.schedule import Pairing, PairOutcomes, Schedule


class RoundRobin(Schedule):
    """Everybody meets everybody.

    All pairings play an opening before the next one is taken. So in a run that is stopped early
    each agent has met every other about equally often.
    """

    def pairings(
        self, number: int, names: Sequence[str], results: PairOutcomes
    ) -> Sequence[Pairing]:
        return list(combinations(range(len(names)), 2))
