"""Everybody meets everybody, or one agent meets each of the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from othello_lab.core.system.settings import unknown_choice
from othello_lab.experiments.pairing.schedule import Names, Pairing, PairOutcomes, Schedule


class RoundRobin(Schedule):
    """Everybody meets everybody.

    All pairings play an opening before the next one is taken. So in a run that is stopped early
    each agent has met every other about equally often.
    """

    def pairings(self, number: int, names: Names, results: PairOutcomes) -> Sequence[Pairing]:
        return list(combinations(range(len(names)), 2))


class Gauntlet(Schedule):
    """One agent meets each of the others; the others do not meet each other."""

    def __init__(self, champion: str | None = None) -> None:
        """champion: the name of the one; None: the first of the line-up."""
        self.champion = champion

    def check(self, names: Names) -> None:
        if self.champion is not None and self.champion not in names:
            raise ValueError(unknown_choice("champion", self.champion, names))

    def hub(self, names: Names) -> int:
        return 0 if self.champion is None else list(names).index(self.champion)

    def pairings(self, number: int, names: Names, results: PairOutcomes) -> Sequence[Pairing]:
        hub = self.hub(names)
        return [(hub, other) for other in range(len(names)) if other != hub]
