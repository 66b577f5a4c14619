"""Schedules in which agents meet others of their strength."""

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


class Ladder(Neighbours):
    """The first agents of the line-up are the rungs, and meet their neighbours. The others climb.

    In each round a climber plays a pair against one rung. It begins at the middle one, goes up
    after a won pair, and down after a lost pair. So it plays most games at its own strength.
    """

    adaptive = True

    @checked
    def __init__(
        self, rungs: Annotated[int, Whole(2)], reach: Annotated[int, Whole(1)] = 1
    ) -> None:
        """rungs: their number. reach: places between two rungs that meet, at most."""
        super().__init__(reach)
        self.rungs = rungs

    def pairings(
        self, number: int, names: Sequence[str], results: PairOutcomes
    ) -> Sequence[Pairing]:
        at = dict.fromkeys(range(self.rungs, len(names)), self.rungs // 2)
        for outcome in results:
            if outcome.games and outcome.first in at:
                rung = at[outcome.first] + (outcome.points > 1) - (outcome.points < 1)
                at[outcome.first] = min(max(rung, 0), self.rungs - 1)
        return [*super().pairings(number, names[: self.rungs], results), *at.items()]
