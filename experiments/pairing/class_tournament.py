"""A tournament of a class: some games for every program, then a knockout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from othello_lab.core.system.settings import Number, Switch, Whole, checked
from othello_lab.experiments.pairing.knockout import Bracket, Knockout, stage_name
from othello_lab.experiments.pairing.schedule import (
    Awards,
    Names,
    Pairing,
    PairOutcome,
    PairOutcomes,
    ResultTable,
    Schedule,
    places,
)
from othello_lab.experiments.pairing.swiss import BYE, SwissMeeting, round_table

SCHEME = (5, 2, 1, False)
"""The points of the sheet: for the first completed game, for a win and a draw after it; the first
game pays nothing more."""
_HELPS = "only helps the opponent to its games"
_PAIRS, _COLOURS, _SEEDS = range(3)  # what lots are drawn for


class ClassTournament(Schedule):
    """Some games for every program, then a knockout of single games, seeded by points.

    A program has 5 points for the first game that it completes: played to its end, or until its
    opponent fails after a move of its own. For each completed game after that, the knockout
    included, a win is worth 2 points and a draw 1. A replay of a drawn game is worth nothing, and
    so is a win over a program that makes no move, with either colour. Who wins the final is
    first; among those who came equally far in the knockout points decide. If the number of programs
    is odd, one sits out in each round. Those who did catch up afterwards, if necessary against a
    program for which this game does not count.
    """

    adaptive = True
    both_colours = False
    can_grow = False

    @checked
    def __init__(
        self,
        preliminary: Annotated[int, Whole(1)] = 3,
        completed: Annotated[float, Number(low=0)] = SCHEME[0],
        win: Annotated[float, Number(low=0)] = SCHEME[1],
        draw: Annotated[float, Number(low=0)] = SCHEME[2],
        first_pays: Annotated[bool, Switch()] = SCHEME[3],
        replays: Annotated[int, Whole(0)] = 1,
    ) -> None:
        """
        preliminary: games for every program before the knockout. completed: points for the first
        game that a program completes. win: points for each game won after that one. draw: points
        for each game drawn after it. first_pays: true if the first completed game pays its win or
        draw, too. replays: number of times a drawn game of the knockout is played again before a
        lot decides.
        """
        self.preliminary, self.knockout = preliminary, Knockout(replays)
        self.completed, self.win, self.draw = completed, win, draw
        self.first_pays = first_pays

    def rounds(self, names: Names, pairs: int) -> int:
        preliminary = len(self._preliminaries(names, PairOutcomes()))
        return preliminary + self.knockout.rounds(names, pairs)

    def length(self, names: Names, pairs: int) -> int:
        preliminary = sum(map(len, self._preliminaries(names, PairOutcomes())))
        return preliminary + self.knockout.length(names, 1)

    def pairings(self, number: int, names: Names, results: PairOutcomes) -> Sequence[Pairing]:
        preliminaries = self._preliminaries(names, results)
        if number < len(preliminaries):
            return preliminaries[number]
        return self._bracket(names, results).due

    def standings(self, names: Names, results: PairOutcomes) -> Mapping[str, Sequence[Any]]:
        points = self._points(names, results)
        bracket = self._bracket(names, results)
        if not bracket.matches:
            return {"place": places(points), "points": points}
        reached = [bracket.reached(agent) for agent in range(len(names))]
        keys = [(-size, agent_points) for agent_points, size in zip(points, reached, strict=True)]
        knockout = [stage_name(size) for size in reached]
        return {"place": places(keys), "points": points, "knockout": knockout}

    def tables(self, names: Names, results: PairOutcomes) -> Sequence[ResultTable]:
        ranks = list(self.standings(names, results)["place"])
        met = self._met(names, results)
        rounds = round_table("Preliminary games", names, ranks, met, "game")
        rounds = replace(rounds, note=f"{self._scheme()} {rounds.note}")
        bracket = self._bracket(names, results)
        return [rounds, bracket.table(names)] if bracket.matches else [rounds]

    def headline(self, names: Names, results: PairOutcomes) -> str:
        bracket = self._bracket(names, results)
        if not (headline := bracket.headline(names)):
            return ""
        points = self._points(names, results)
        most = [agent for agent in range(len(names)) if points[agent] == max(points)]
        best = ", ".join(names[agent] for agent in most)
        said = f"{headline} Most points: {best} {max(points):g}"
        if bracket.winner not in most:
            said += f"; {names[bracket.winner or 0]} {points[bracket.winner or 0]:g}"
        return f"{said}."

    def _scheme(self) -> str:
        first = ", which pays its win or draw too" if self.first_pays else ""
        scheme = (
            f"Points: {self.completed:g} for the first game completed{first}; for each game after "
            f"it {self.win:g} for a win, {self.draw:g} for a draw. A replay pays none; so does a "
            "win over a program that makes no move."
        )
        if (self.completed, self.win, self.draw, self.first_pays) == SCHEME:
            return scheme
        usual = ", ".join(f"{points:g}" for points in SCHEME[:3])
        return f"{scheme} The usual points are {usual}."

    def _preliminaries(self, names: Names, results: PairOutcomes) -> list[list[Pairing]]:
        """Return the rounds before the knockout; who was Black less often gets Black."""
        size = len(names)
        seats = results.chance(_PAIRS).permutation(size).tolist() + [BYE] * (size % 2)
        rounds, sat_out = [], []
        for _ in range(self.preliminary):
            met = [(seats[number], seats[-1 - number]) for number in range(len(seats) // 2)]
            rounds.append([pair for pair in met if BYE not in pair])
            sat_out += [agent for pair in met if BYE in pair for agent in pair if agent != BYE]
            seats[1:] = [seats[-1], *seats[1:-1]]  # the circle method: all meet before any again
        while sat_out:
            rounds.append([_catching_up(sat_out, [agent for agent in seats if agent != BYE])])
        chance, blacks = results.chance(_COLOURS), Counter[int]()
        for pairings in rounds:
            for number, (one, other) in enumerate(pairings):
                lot = bool(chance.integers(2))
                swapped = lot if blacks[one] == blacks[other] else blacks[one] > blacks[other]
                pairings[number] = (other, one) if swapped else (one, other)
                blacks[pairings[number][0]] += 1
        return rounds

    def _met(self, names: Names, results: PairOutcomes) -> list[list[SwissMeeting]]:
        met: list[list[SwissMeeting]] = [[] for _ in names]
        before = results.rounds[: len(self._preliminaries(names, results))]
        outcomes = [outcome for played in before for outcome in played]
        for outcome, awards in zip(outcomes, self.awards(names, results), strict=False):
            pairing = outcome.first, outcome.second
            for agent, opponent in (pairing, pairing[::-1]):
                share, counts = outcome.share_of(agent), awards[agent][1] != _HELPS
                met[agent].append(SwissMeeting(opponent, share, counts))
        return met

    def awards(self, names: Names, results: PairOutcomes) -> Awards:
        games = sum(map(len, self._preliminaries(names, results)))
        awards: list[dict[int, tuple[float, str]]] = []
        played, completed = Counter[int](), set[int]()
        met: set[frozenset[int]] = set()  # in the knockout, where two meet again for a replay alone
        for number, outcome in enumerate(results):
            pairing = frozenset((outcome.first, outcome.second))
            awards.append({})
            for agent in pairing:
                played[agent] += 1
                if number < games and played[agent] > self.preliminary:
                    award = 0.0, _HELPS
                elif agent in outcome.forfeits:
                    award = 0.0, "failed"
                elif not outcome.begun:
                    award = 0.0, "not completed: the opponent made no move"
                elif pairing in met:
                    award = 0.0, "a replay"
                elif agent in completed:
                    award = self._worth(outcome, agent)
                else:
                    more = self._worth(outcome, agent)[0] if self.first_pays else 0.0
                    award = self.completed + more, "the first completed game"
                    completed.add(agent)
                awards[-1][agent] = award
            met |= {pairing} if number >= games else set()
        return awards

    def _worth(self, outcome: PairOutcome, agent: int) -> tuple[float, str]:
        worth = {1: (float(self.win), "a win"), 0.5: (float(self.draw), "a draw")}
        return worth.get(outcome.points_of(agent), (0.0, "a loss"))

    def _points(self, names: Names, results: PairOutcomes, games: int | None = None) -> list[float]:
        points = [0.0] * len(names)
        for awards in self.awards(names, results)[:games]:
            for agent, (award, _) in awards.items():
                points[agent] += award
        return points

    def _bracket(self, names: Names, results: PairOutcomes) -> Bracket:
        """The knockout, without matches as long as the games before it are not all played."""
        before = self._preliminaries(names, results)
        if len(results.rounds) < len(before):
            return Bracket([], results, 0)
        points = self._points(names, results, sum(map(len, before)))
        lot = results.chance(_SEEDS).permutation(len(names)).tolist()
        seeds = sorted(range(len(names)), key=lambda agent: (-points[agent], lot[agent]))
        return Bracket(seeds, results, self.knockout.replays, len(before))


def _catching_up(sat_out: list[int], everybody: Sequence[int]) -> Pairing:
    """Take two programs that sat out off the list, or the last one with another, for a game."""
    one = sat_out.pop(0)
    other = next((agent for agent in sat_out if agent != one), None)
    if other is None:
        return one, next(agent for agent in everybody if agent != one)
    sat_out.remove(other)
    return one, other
