"""Who meets whom, from where, with which random numbers: what every schedule has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from experiments.pairing.openings import Opening
from experiments.record.store import GameRow
from experiments.statistics.sequential import IntArray

_PURPOSE = 2  # keeps the games' random numbers apart from those of the openings


class Game(NamedTuple):
    """One game to be played.

    number: position in the schedule, from 0. pair: number of its pair. black, white: agents by
    number. seed: even; Black's random numbers come from it, White's from ``seed + 1``.
    """

    number: int
    pair: int
    black: int
    white: int
    opening: Opening
    seed: int


Pair = tuple[Game, Game]
"""Two games from one opening with colours swapped."""

Pairing = tuple[int, int]
"""Two agents, by number, that are to meet."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a pair.

    first, second: its agents by number. points: of the first agent, 0 to 2. games: what tells its
    two games from others (:attr:`~experiments.record.store.GameRow.identity`); none if the pair was
    skipped.
    """

    first: int
    second: int
    points: float
    games: tuple[str, ...]


class Results(Sequence[Outcome]):
    """What became of the pairs so far, in the order of the schedule."""

    def __init__(self) -> None:
        self._outcomes: list[Outcome] = []
        self._counts: dict[Pairing, IntArray] = {}
        self._seen: set[tuple[int, int, tuple[str, ...]]] = set()

    def add(self, outcome: Outcome) -> None:
        """Note what became of the next pair."""
        self._outcomes.append(outcome)
        played = outcome.first, outcome.second, outcome.games
        if outcome.games and played not in self._seen:
            self._seen.add(played)
            self.counts(outcome.first, outcome.second)[round(2 * outcome.points)] += 1

    def counts(self, first: int, second: int) -> IntArray:
        """How many pairs of this pairing gave its first agent 0, 1/2, 1, 3/2 and 2 points, shape
        (5,). A pair that repeats an earlier one move for move says nothing new and is not counted.
        """
        return self._counts.setdefault((first, second), np.zeros(5, dtype=np.int64))

    def __len__(self) -> int:
        return len(self._outcomes)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._outcomes[index]


class Schedule(ABC):
    """Who meets whom, and for how long: an object named by ``_target_`` in ``conf/schedule``.

    A schedule is asked round by round which pairs come next, and told the results so far in the
    order of the schedule. All pairs of a round begin from the same opening. A schedule keeps
    nothing between two questions, so the same results always lead to the same pairs: on any number
    of workers, and after any interruption.

    adaptive: whether a round depends on the results of the rounds before. It is then asked for when
        they are all there; otherwise at once, with whatever results there are.
    """

    adaptive: ClassVar[bool] = False

    def check(self, names: Sequence[str]) -> None:  # noqa: B027
        """Raise ValueError if this line-up, by name, cannot play by this schedule."""

    def rounds(self, pairs: int) -> int:
        """The most rounds there can be, which is how many openings are needed.

        pairs: so many pairs each pairing is to play, half of the setting ``games``.
        """
        return pairs

    @abstractmethod
    def pairings(self, number: int, names: Sequence[str], results: Results) -> Sequence[Pairing]:
        """Who meets whom in round ``number`` (from 0), as places in the line-up ``names``; nobody
        if there is nothing more to play."""

    def length(self, names: Sequence[str], pairs: int) -> int:
        """The most pairs there can be in all; see :meth:`rounds`."""
        return self.rounds(pairs) * len(self.pairings(0, names, Results()))

    def verdict(self, results: Results) -> str:
        """Why there is nothing more to play after these results; "" to go on. Asked after every
        pair; what workers have already played beyond it is dropped."""
        return ""

    def note(self, results: Results) -> str:
        """What the progress bar says of the results; "" for nothing."""
        return ""

    def outcome(self, counts: IntArray) -> str:
        """What the report says of how it ended; "" for nothing.

        counts: pentanomial counts of all pairings, shape (agents, agents, 5), see
        :func:`experiments.report.standings.pair_counts`.
        """
        return ""

    @property
    def may_end_early(self) -> bool:
        """Whether :meth:`verdict` may end it."""
        return type(self).verdict is not Schedule.verdict

    @property
    def listens(self) -> bool:
        """Whether it looks at results."""
        return self.adaptive or self.may_end_early


class Draw:
    """The pairs of a run as its schedule draws them, round by round, and what became of them."""

    def __init__(
        self, schedule: Schedule, names: Sequence[str], openings: Sequence[Opening], seed: int
    ) -> None:
        """
        names: the line-up. openings: one a round. seed: the run's.
        """
        self.schedule = schedule
        self.results = Results()
        self.verdict = ""
        self._names, self._openings, self._seed = names, openings, seed
        self._round = self._number = 0  # of the round and the pair that are drawn next
        self._due: deque[tuple[int, Pairing, Opening]] = deque()  # drawn, not yet handed out
        self._unsettled: deque[Pairing] = deque()  # drawn, their results not yet noted
        self._told: dict[int, Sequence[GameRow]] = {}  # results of later pairs than these
        self._played: set[int] = set()

    @property
    def note(self) -> str:
        """What the progress bar says of the results."""
        return self.schedule.note(self.results)

    def skip(self, played: Iterable[int]) -> None:
        """Never hand out the pairs of these numbers: they have been played."""
        self._played.update(played)

    def take(self, most: int) -> list[Pair]:
        """Up to so many pairs that can be played now; none where there are no more, or none before
        further results are told."""
        found: list[Pair] = []
        while len(found) < most and not self.verdict and (self._due or self._draw()):
            if self._due:
                number, pairing, opening = self._due.popleft()
                if number not in self._played:
                    found.append(paired(number, *pairing, opening, self._seed))
        return found

    def tell(self, number: int, games: Sequence[GameRow]) -> None:
        """Note what became of a pair; they may be told in any order. games: none if the pair was
        skipped, because the processes that played it died."""
        if not self.schedule.listens:
            return
        self._told[number] = games
        while not self.verdict and len(self.results) in self._told:
            while not self._unsettled:
                self._draw()
            first, second = self._unsettled.popleft()
            games = self._told.pop(len(self.results))
            points = sum(game.points_of(first) for game in games)
            told = tuple(game.identity for game in games)
            self.results.add(Outcome(first, second, points, told))
            self.verdict = self.schedule.verdict(self.results)

    def complete(self, settled: int, most: int) -> bool:
        """Whether these are all pairs there will be. settled: how many were played or skipped.
        most: the most there can be, see :meth:`Schedule.length`."""
        if self.verdict or not self.schedule.adaptive:
            return bool(self.verdict) or settled == most
        while self._draw():
            pass
        return self._round == len(self._openings) and self._number == settled

    def _draw(self) -> bool:
        """Draw the next round; False if there is none, or none before further results."""
        waits = self.schedule.adaptive and len(self.results) < self._number
        if waits or self._round == len(self._openings):
            return False
        opening = self._openings[self._round]
        for pairing in self.schedule.pairings(self._round, self._names, self.results):
            self._due.append((self._number, pairing, opening))
            if self.schedule.listens:
                self._unsettled.append(pairing)
            self._number += 1
        self._round += 1
        return True


def paired(number: int, first: int, second: int, opening: Opening, seed: int) -> Pair:
    """A pair of games; their seeds depend on the run's seed and the pair's number alone."""
    words = np.random.SeedSequence(seed, spawn_key=(_PURPOSE, number))
    seeds = [int(word) >> 1 & ~1 for word in words.generate_state(2, np.uint64)]
    return (
        Game(2 * number, number, first, second, opening, seeds[0]),
        Game(2 * number + 1, number, second, first, opening, seeds[1]),
    )
