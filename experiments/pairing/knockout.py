"""Knockout: the loser of a match leaves the tournament."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from othello_lab.core.system.settings import Whole, checked
from othello_lab.experiments.pairing.bracket import Bracket, most_matches, most_rounds, stage_name
from othello_lab.experiments.pairing.schedule import (
    Pairing,
    PairOutcomes,
    ResultTable,
    Schedule,
    places,
)


class Knockout(Schedule):
    """Two meet in a match of ``games`` games, colours swapped, and the winner goes on. The best
    seeds are the first of the line-up: they meet last, and have no opponent in the first stage
    where there are not 2, 4, 8, ... agents. A drawn match is played again, and then a lot
    decides."""

    adaptive = True
    can_grow = False

    @checked
    def __init__(self, replays: Annotated[int, Whole(0)] = 1) -> None:
        """replays: number of times a drawn match is played again before a lot decides."""
        self.replays = replays

    def rounds(self, names: Sequence[str], pairs: int) -> int:
        return most_rounds(len(names), self.replays)

    def openings_a_round(self, pairs: int) -> int:
        return pairs

    def length(self, names: Sequence[str], pairs: int) -> int:
        return most_matches(len(names), self.replays) * pairs

    def pairings(
        self, number: int, names: Sequence[str], results: PairOutcomes
    ) -> Sequence[Pairing]:
        return self._bracket(names, results).due

    def standings(self, names: Sequence[str], results: PairOutcomes) -> Mapping[str, Sequence[Any]]:
        bracket = self._bracket(names, results)
        reached = [bracket.reached(agent) for agent in range(len(names))]
        return {
            "place": places([-size for size in reached]),
            "reached": list(map(stage_name, reached)),
        }

    def headline(self, names: Sequence[str], results: PairOutcomes) -> str:
        return self._bracket(names, results).headline(names)

    def tables(self, names: Sequence[str], results: PairOutcomes) -> Sequence[ResultTable]:
        return [self._bracket(names, results).table(names)]

    def _bracket(self, names: Sequence[str], results: PairOutcomes) -> Bracket:
        return Bracket.played(range(len(names)), results.rounds, self.replays, results)
