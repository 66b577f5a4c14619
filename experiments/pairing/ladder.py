"""The schedule of the ladder of levels: each agent meets agents of its strength."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated

from othello_lab.core.system.settings import Whole, checked
from othello_lab.experiments.pairing.schedule import Names, Pairing, PairOutcomes, Schedule


class Ladder(Schedule):
    """The first agents of the line-up are the rungs, the weakest first, and meet their neighbours.
    The others climb.

    In each round a climber plays a pair against one rung. It begins at the middle one, goes up
    after a won pair, and down after a lost pair. So it plays most games at its own strength: games
    between very unequal agents tell little about a difference.
    """

    adaptive = True

    @checked
    def __init__(self, rungs: Annotated[int, Whole(2)]) -> None:
        """rungs: their number."""
        self.rungs = rungs

    def pairings(self, number: int, names: Names, results: PairOutcomes) -> Sequence[Pairing]:
        at = dict.fromkeys(range(self.rungs, len(names)), self.rungs // 2)
        for outcome in results:
            if outcome.games and outcome.first in at:
                rung = at[outcome.first] + (outcome.points > 1) - (outcome.points < 1)
                at[outcome.first] = min(max(rung, 0), self.rungs - 1)
        return [*itertools.pairwise(range(self.rungs)), *at.items()]
