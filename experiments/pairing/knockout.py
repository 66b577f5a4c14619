"""Knockout: the loser of a match leaves the tournament. Its bracket follows from the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any

from othello_lab.core.system.settings import Whole, checked
from othello_lab.experiments.pairing.schedule import (
    Names,
    Pairing,
    PairOutcome,
    PairOutcomes,
    ResultTable,
    Schedule,
    places,
)

_LOT = "by lot"
_NOTE = (
    "Who wins a match goes on. A match that is drawn is played again, from the next openings and "
    "with the other colours first; if it still is after all replays, a lot decides that is drawn "
    "from the run's seed. *bye*: nobody to meet, and no points for it."
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

    def rounds(self, names: Names, pairs: int) -> int:
        return (len(names) - 1).bit_length() * (1 + self.replays)

    def openings_a_round(self, pairs: int) -> int:
        return pairs

    def length(self, names: Names, pairs: int) -> int:
        return (len(names) - 1) * (1 + self.replays) * pairs

    def pairings(self, number: int, names: Names, results: PairOutcomes) -> Sequence[Pairing]:
        return self._bracket(names, results).due

    def standings(self, names: Names, results: PairOutcomes) -> Mapping[str, Sequence[Any]]:
        bracket = self._bracket(names, results)
        reached = [bracket.reached(agent) for agent in range(len(names))]
        rank = places([-size for size in reached])
        return {"place": rank, "reached": list(map(stage_name, reached))}

    def headline(self, names: Names, results: PairOutcomes) -> str:
        return self._bracket(names, results).headline(names)

    def tables(self, names: Names, results: PairOutcomes) -> Sequence[ResultTable]:
        return [self._bracket(names, results).table(names)]

    def _bracket(self, names: Names, results: PairOutcomes) -> Bracket:
        return Bracket(range(len(names)), results, self.replays)


@dataclass
class BracketMatch:
    """A match of a bracket.

    size: places in this stage of the bracket; 2 is the final. first, second: agents by number; None
    for nobody. points: theirs, by number. winner: None as long as it is open. how: the way it was
    settled, "" for nothing special.
    """

    size: int
    first: int | None
    second: int | None
    points: dict[int, float]
    winner: int | None = None
    how: str = ""

    @property
    def players(self) -> tuple[int, ...]:
        """The agents that meet in it, one if there is a bye."""
        return tuple(agent for agent in (self.first, self.second) if agent is not None)

    def pairing(self, replay: int) -> Pairing:
        """Return its two agents; the first place alternates."""
        one, other = self.players
        return (other, one) if replay % 2 else (one, other)

    def add(self, outcome: PairOutcome, replay: int) -> None:
        """Note the outcome of the match, played for the first time (0) or again."""
        one, other = self.players
        for agent in self.players:
            self.points[agent] = self.points.get(agent, 0.0) + outcome.points_of(agent)
        ahead = self.points[one] - self.points[other]
        if ahead:
            self.winner = one if ahead > 0 else other
            self.how = f"replay {replay}" if replay else ""


class Bracket:
    """A bracket as far as it is known after the rounds played so far.

    matches: its matches. due: the pairings of its next round; none if it has ended.
    """

    def __init__(
        self, seeds: Sequence[int], results: PairOutcomes, replays: int, before: int = 0
    ) -> None:
        """
        seeds: the agents, the best first; if some have no opponent in the first stage, these are
        the best. results: the outcomes, which also draw its lots. replays: number of times a drawn
        match is played again. before: number of rounds that are none of the bracket's.
        """
        self.matches: list[BracketMatch] = []
        self.due: list[Pairing] = []
        slots, left = _slots(seeds), islice(results.matches, before, None)
        while len(slots) > 1:
            pairs = zip(slots[::2], slots[1::2], strict=True)
            stage = [BracketMatch(len(slots), one, other, {}) for one, other in pairs]
            self.matches += stage
            for match in stage:
                if len(match.players) == 1:
                    (match.winner,) = match.players
            for replay in range(1 + replays):
                open_now = {frozenset(m.players): m for m in stage if m.winner is None}
                if not open_now:
                    break
                outcomes = next(left, None)
                if outcomes is None:
                    self.due = [match.pairing(replay) for match in open_now.values()]
                    return
                for players, match in open_now.items():
                    match.add(outcomes[players], replay)
            for number, match in enumerate(stage):
                if match.winner is None:
                    first = bool(results.chance(len(slots), number).integers(2))
                    match.winner, match.how = match.players[0 if first else 1], _LOT
            slots = [match.winner for match in stage]

    @property
    def winner(self) -> int | None:
        """Return the winner of the final, by number; None before."""
        return self.matches[-1].winner if self.matches and self.matches[-1].size == 2 else None

    def reached(self, agent: int) -> int:
        """Return the place that an agent reached: 1 has won, 2 lost the final or is still to play
        it, and so on."""
        if agent == self.winner:
            return 1
        return min(match.size for match in self.matches if agent in match.players)

    def headline(self, names: Names) -> str:
        """Return a sentence on the winner of the final; "" before. names: of the line-up."""
        if self.winner is None:
            return ""
        final = self.matches[-1]
        loser = next(agent for agent in final.players if agent != self.winner)
        score = " - ".join(f"{final.points[agent]:g}" for agent in (self.winner, loser))
        how = f", {final.how}" if final.how else ""
        winner, other = names[self.winner], names[loser]
        return f"{winner} wins the knockout: the final against {other} ended {score}{how}."

    def table(self, names: Names) -> ResultTable:
        """One row a match. names: of the line-up."""
        rows = []
        for match in self.matches:
            one, other = ("-" if n is None else names[n] for n in (match.first, match.second))
            points = [match.points.get(agent) for agent in match.players]
            score = " - ".join("" if value is None else f"{value:g}" for value in points)
            winner = "" if match.winner is None else names[match.winner]
            bye = len(match.players) == 1
            score = "bye" if bye else score if match.points else "to be played"
            how = "" if bye else match.how
            rows.append([stage_name(match.size), one, other, score, winner, how])
        columns = ["round", "agent", "opponent", "points", "goes on", "after"]
        return ResultTable("Knockout", columns, rows, words=(0, 1, 2, 4, 5), note=_NOTE)


def stage_name(size: int) -> str:
    """Return the name of a stage with this many places; 1 is left at the end."""
    return {1: "winner", 2: "final", 4: "semi-final", 8: "quarter-final"}.get(size, f"last {size}")


def _slots(seeds: Sequence[int]) -> list[int | None]:
    """The places of the first stage, neighbours meet: the best meets the last, and the best two
    cannot meet before the final.

    >>> _slots([10, 11, 12, 13, 14])
    [10, None, 13, 14, 11, None, 12, None]
    """
    order = [0]
    while len(order) < len(seeds):
        order = [seed for one in order for seed in (one, 2 * len(order) - 1 - one)]
    return [seeds[seed] if seed < len(seeds) else None for seed in order]
