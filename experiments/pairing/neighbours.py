"""The schedule in which agents meet their neighbours in the line-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from othello_lab.core.system.settings import Whole, checked
from othello_lab.experiments.pairing.schedule import Pairing, PairOutcomes, Schedule


class Neighbours(Schedule):
    """Each agent meets those next to it in the line-up, for a line-up in order of strength.

    Games between very unequal agents tell little about a difference; here all games are played
    between similar ones.
    """

    @checked
    def __init__(self, reach: Annotated[int, Whole(1)] = 2) -> None:
        """reach: places between two agents that meet, at most."""
        self.reach = reach

    def pairings(
        self, number: int, names: Sequence[str], results: PairOutcomes
    ) -> Sequence[Pairing]:
        count = len(names)
        return [
            (first, second)
            for first in range(count)
            for second in range(first + 1, min(count, first + self.reach + 1))
        ]
