"""A tournament of a class: some games for every program, then a knockout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from othello_lab.core.system.settings import Number, Whole, checked
from othello_lab.experiments.pairing.bracket import Bracket, most_matches, most_rounds, stage_name
from othello_lab.experiments.pairing.schedule import (
    Pairing,
    PairOutcome,
    PairOutcomes,
    ResultTable,
    Schedule,
    places,
)
from othello_lab.experiments.pairing.swiss import BYE, SwissMeeting, round_table

_PAIRS, _COLOURS, _SEEDS = range(3)  # what lots are drawn for


class ClassTournament(Schedule):
    """Some games for every program, then a knockout of single games, seeded by points.

    A program has 5 points for the first time it plays a game to its end, or until its opponent
    fails after a move was made. Every won game is worth 2 points, every drawn one 1, also in the
    knockout. If the number of programs is odd, one sits out in each round. Those who did catch up
    afterwards, if necessary against a program for which this game does not count.
    """

    adaptive = True
    both_colours = False
    can_grow = False

    @checked
    def __init__(
        self,
        preliminary: Annotated[int, Whole(1)] = 3,
        completed: Annotated[float, Number(low=0)] = 5,
        win: Annotated[float, Number(low=0)] = 2,
        draw: Annotated[float, Number(low=0)] = 1,
        replays: Annotated[int, Whole(0)] = 1,
    ) -> None:
        """
        preliminary: games for every program before the knockout. completed: points for the first
        game that is played to its end. win: points for each game won. draw: points for each drawn
        game. replays: number of times a drawn game of the knockout is played again before a lot
        decides.
        """
        self.preliminary, self.replays = preliminary, replays
        self.completed, self.win, self.draw = completed, win, draw

    def rounds(self, names: Sequence[str], pairs: int) -> int:
        preliminary = len(self._preliminaries(names, PairOutcomes()))
        return preliminary + most_rounds(len(names), self.replays)

    def length(self, names: Sequence[str], pairs: int) -> int:
        preliminary = sum(map(len, self._preliminaries(names, PairOutcomes())))
        return preliminary + most_matches(len(names), self.replays)

    def pairings(
        self, number: int, names: Sequence[str], results: PairOutcomes
    ) -> Sequence[Pairing]:
        preliminaries = self._preliminaries(names, results)
        if number < len(preliminaries):
            return preliminaries[number]
        bracket = self._bracket(names, results)
        return [] if bracket is None else bracket.due

    def standings(self, names: Sequence[str], results: PairOutcomes) -> Mapping[str, Sequence[Any]]:
        points = self._points(names, results, self._preliminaries(names, results))
        bracket = self._bracket(names, results)
        if bracket is None:
            return {"place": places(points), "points": points}
        reached = [bracket.reached(agent) for agent in range(len(names))]
        keys = [(each, -size) for each, size in zip(points, reached, strict=True)]
        knockout = [stage_name(size) for size in reached]
        return {"place": places(keys), "points": points, "knockout": knockout}

    def tables(self, names: Sequence[str], results: PairOutcomes) -> Sequence[ResultTable]:
        place = list(self.standings(names, results)["place"])
        met = self._met(names, results)
        rounds = round_table("Preliminary games", names, place, met, "game")
        bracket = self._bracket(names, results)
        return [rounds, bracket.table(names)] if bracket is not None else [rounds]

    # ------------------------------------------------------------------ the games before

    def _preliminaries(self, names: Sequence[str], results: PairOutcomes) -> list[list[Pairing]]:
        """Return the rounds before the knockout, without colours."""
        size = len(names)
        seats = results.chance(_PAIRS).permutation(size).tolist() + [BYE] * (size % 2)
        rounds, sat_out = [], []
        for _ in range(self.preliminary):
            met = [(seats[place], seats[-1 - place]) for place in range(len(seats) // 2)]
            rounds.append([pair for pair in met if BYE not in pair])
            sat_out += [agent for pair in met if BYE in pair for agent in pair if agent != BYE]
            seats[1:] = [seats[-1], *seats[1:-1]]  # the circle method: all meet before any again
        while sat_out:
            rounds.append([_catching_up(sat_out, [each for each in seats if each != BYE])])
        return self._coloured(rounds, results)

    def _coloured(self, rounds: list[list[Pairing]], results: PairOutcomes) -> list[list[Pairing]]:
        """Return the same rounds with colours: the program with fewer games as Black gets Black; a
        lot decides between equals."""
        chance, blacks = results.chance(_COLOURS), Counter[int]()
        found: list[list[Pairing]] = []
        for pairings in rounds:
            found.append([])
            for one, other in pairings:
                lot = bool(chance.integers(2))
                swapped = lot if blacks[one] == blacks[other] else blacks[one] > blacks[other]
                black, white = (other, one) if swapped else (one, other)
                blacks[black] += 1
                found[-1].append((black, white))
        return found

    def _met(self, names: Sequence[str], results: PairOutcomes) -> list[list[SwissMeeting]]:
        """Return the opponents of each program before the knockout, game by game."""
        met: list[list[SwissMeeting]] = [[] for _ in names]
        before = len(self._preliminaries(names, results))
        for outcome in (outcome for each in results.rounds[:before] for outcome in each):
            pairing = outcome.first, outcome.second
            for agent, opponent in (pairing, pairing[::-1]):
                share = outcome.points_of(agent) if outcome.games else None
                counts = len(met[agent]) < self.preliminary
                met[agent].append(SwissMeeting(opponent, share, counts))
        return met

    def _points(
        self,
        names: Sequence[str],
        outcomes: Sequence[PairOutcome],
        before: Sequence[Sequence[Pairing]],
    ) -> list[float]:
        """Return the points of each program in these games.

        A game before the knockout (``before``) does not count for a program that has had its own
        and only helps another to catch up.
        """
        games = sum(map(len, before))
        points, played = [0.0] * len(names), Counter[int]()
        completed: set[int] = set()
        for number, outcome in enumerate(outcomes):
            for agent in (outcome.first, outcome.second):
                played[agent] += 1
                if number < games and played[agent] > self.preliminary:
                    continue
                points[agent] += self._worth(outcome, agent)
                if outcome.begun and agent not in outcome.forfeits and agent not in completed:
                    completed.add(agent)
                    points[agent] += self.completed
        return points

    def _worth(self, outcome: PairOutcome, agent: int) -> float:
        share = outcome.points_of(agent)
        return self.win if share == 1 else self.draw if share == 0.5 else 0.0

    # ------------------------------------------------------------------ the knockout

    def _bracket(self, names: Sequence[str], results: PairOutcomes) -> Bracket | None:
        """The knockout; None as long as the games before it are not all played."""
        before = self._preliminaries(names, results)
        if len(results.rounds) < len(before):
            return None
        games = results[: sum(map(len, before))]
        points = self._points(names, games, before)
        lot = results.chance(_SEEDS).permutation(len(names)).tolist()
        seeds = sorted(range(len(names)), key=lambda agent: (-points[agent], lot[agent]))
        return Bracket.played(seeds, results.rounds[len(before) :], self.replays, results)


def _catching_up(sat_out: list[int], everybody: Sequence[int]) -> Pairing:
    """Return a game for two programs that sat out, which are taken off the list, or for the last of
    them."""
    one = sat_out.pop(0)
    other = next((agent for agent in sat_out if agent != one), None)
    if other is None:
        return one, next(agent for agent in everybody if agent != one)
    sat_out.remove(other)
    return one, other
