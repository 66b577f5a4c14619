"""Schedules: the pairings of a run, their openings and random numbers."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from othello_lab.core.random import spawned_words
from othello_lab.core.system.settings import Nameable
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.store import GameRow, Record
from othello_lab.experiments.statistics.sequential import IntArray

if TYPE_CHECKING:
    from othello_lab.experiments.statistics.stopped_match import StoppedEstimate

_CHUNK = 1000  # pairs that are drawn at a time
_GAMES, _LOTS = 2, 3  # keep these random numbers apart, and from those of the openings (1)


class ScheduledGame(NamedTuple):
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


Pair = tuple[ScheduledGame, ...]
"""Two games from one opening with colours swapped; of a schedule without
:attr:`Schedule.both_colours` a single game."""


class PickledPairs:
    """Pairs for another process. They are pickled once; the processes between pass them on. Pairs
    of the same two agents stand together, which is the faster way to play them.

    agents: of all the pairs, by number. games: the number of games. content: these, pickled.
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        ordered = sorted(pairs, key=lambda pair: sorted((pair[0].black, pair[0].white)))
        self._number = len(ordered)
        self.agents = {agent for pair in ordered for agent in (pair[0].black, pair[0].white)}
        games = [game for pair in ordered for game in pair]
        self.games, self.content = len(games), pickle.dumps(games)

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Pair]:
        for _, games in groupby(pickle.loads(self.content), key=attrgetter("pair")):
            yield tuple(games)


Names = Sequence[str]
"""A line-up, by name."""
Pairing = tuple[int, int]
"""Two agents, by number, that are to meet."""
Awards = Sequence[Mapping[int, tuple[float, str]]]
"""The points of each pair for its two agents, by number, and what for."""


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """The outcome of a pair.

    first, second: its agents by number. points: of the first agent, 0 to 2. games: identities of
    its two games (:attr:`~experiments.record.store.GameRow.identity`); none if the pair was
    skipped. forfeits: agents that lost a game of it by a fault, by number, once for each such game.
    begun: number of its games that were finished, or in which the agent that failed had moved.
    """

    first: int
    second: int
    points: float
    games: tuple[str, ...]
    forfeits: tuple[int, ...] = ()
    begun: int = 0

    def points_of(self, agent: int) -> float:
        """The points of one of its two agents, by number."""
        return self.points if agent == self.first else len(self.games) - self.points

    def share_of(self, agent: int) -> float | None:
        """The share of the points, 0 to 1, that one of the two took; None if nothing was played."""
        return self.points_of(agent) / len(self.games) if self.games else None


class PairOutcomes(Sequence[PairOutcome]):
    """The outcomes of the pairs so far, in the order of the schedule.

    rounds: the finished rounds: all their pairs were played or skipped.
    """

    def __init__(self, seed: int = 0) -> None:
        """seed: the run's."""
        self.rounds: list[tuple[PairOutcome, ...]] = []
        self._seed = seed
        self._in_rounds = 0
        self._outcomes: list[PairOutcome] = []
        self._counts: dict[Pairing, IntArray] = {}
        self._seen: set[tuple[int, int, tuple[str, ...]]] = set()

    def add(self, outcome: PairOutcome) -> None:
        """Note the outcome of the next pair."""
        self._outcomes.append(outcome)
        played = outcome.first, outcome.second, outcome.games
        if len(outcome.games) == 2 and played not in self._seen:
            self._seen.add(played)
            self.counts(outcome.first, outcome.second)[round(2 * outcome.points)] += 1

    def end_round(self) -> None:
        """Note that the pairs added since the last call are all pairs of a round."""
        self.rounds.append(tuple(self._outcomes[self._in_rounds :]))
        self._in_rounds = len(self._outcomes)

    @property
    def matches(self) -> Iterator[dict[frozenset[int], PairOutcome]]:
        """Of each finished round the points and games of its matches, all pairs of two agents
        together, by these two."""
        for outcomes in self.rounds:
            matches = dict[frozenset[int], PairOutcome]()
            for outcome in outcomes:
                agents = frozenset((outcome.first, outcome.second))
                match = matches.get(agents, PairOutcome(outcome.first, outcome.second, 0.0, ()))
                points, games = match.points + outcome.points, match.games + outcome.games
                matches[agents] = replace(match, points=points, games=games)
            yield matches

    def chance(self, *words: int) -> np.random.Generator:
        """Return a generator for drawing lots. It follows from the run's seed and these numbers
        alone, from 0 each."""
        return np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(_LOTS, *words)))

    def counts(self, first: int, second: int) -> IntArray:
        """Return the number of pairs of this pairing that gave its first agent 0, 1/2, 1, 3/2 and 2
        points, shape (5,).

        A pair that repeats an earlier one move for move is no further evidence and is not counted.
        """
        return self._counts.setdefault((first, second), np.zeros(5, dtype=np.int64))

    def __len__(self) -> int:
        return len(self._outcomes)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._outcomes[index]


@dataclass(frozen=True)
class ResultTable:
    """A table with its heading, for a report: about a tournament, a run or a study.

    rows: its cells. words: numbers of the columns that hold words, aligned left. note: how to read
    it, or all of the text if there is no table. code: numbers of the columns that hold code, such
    as positions.
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    words: Sequence[int] = (0,)
    note: str = ""
    code: Sequence[int] = ()


class Schedule(Nameable, ABC):
    """The pairings of a run and their length: an object named by ``_target_`` in ``conf/schedule``.

    The run asks a schedule round by round for the next pairs, and hands it the results so far in
    the order of the schedule. All pairings of a round play the same openings. A schedule keeps
    nothing between two questions, so the same results always lead to the same pairs: on any number
    of workers, and after any interruption.

    adaptive: True if a round depends on the results of the rounds before. The run then asks for it
    when these are complete; otherwise at once, with the results that there are.

    both_colours: True if a pairing plays two games from each opening, colours swapped; otherwise
    one, in which the first agent has Black.

    can_grow: True if games can be added to a run that has ended, and all games before stay.

    looks: how often it looks at the results to end a tournament when they are clear; intervals are
    as much wider (:func:`experiments.statistics.intervals.student`).

    A schedule of yours, in ``mine.py``: neighbours meet, winners go on; for 2, 4 or 8 agents::

        from othello_lab.experiments.pairing import Schedule


        class Cup(Schedule):
            adaptive = True

            def length(self, names, pairs):
                return len(names) - 1

            def pairings(self, number, names, results):
                left, played = list(range(len(names))), iter(results)
                for _ in range(number):
                    outcomes = [next(played) for _ in range(len(left) // 2)]
                    left = [pair.first if pair.points >= 1 else pair.second for pair in outcomes]
                return list(zip(left[::2], left[1::2])) if len(left) > 1 else []

    ``my_conf/schedule/cup.yaml`` names it, ``_target_: ./mine.py:Cup``, and ``--config-dir my_conf
    schedule=cup`` plays it. Openings (:class:`experiments.pairing.Openings`) and executors
    (:class:`experiments.playing.Executor`) are named in the same way.
    """

    looks: ClassVar[int] = 1
    adaptive: ClassVar[bool] = False
    both_colours: bool = True
    can_grow: ClassVar[bool] = True

    def check(self, names: Names) -> None:
        """Raise ValueError if this line-up, by name, cannot play by this schedule."""

    @property
    def games_each(self) -> int:
        """Number of games that a pairing plays from an opening."""
        return 2 if self.both_colours else 1

    def rounds(self, names: Names, pairs: int) -> int:
        """Return the largest number of rounds.

        pairs: pairs that each pairing is to play, half of the setting ``games``.
        """
        return pairs

    def openings_a_round(self, pairs: int) -> int:
        """Return the number of openings that each pairing of a round plays one after the other; see
        :meth:`rounds`."""
        return 1

    def openings_needed(self, names: Names, pairs: int) -> int:
        """Return the number of openings of all rounds; see :meth:`rounds`."""
        return self.rounds(names, pairs) * self.openings_a_round(pairs)

    @abstractmethod
    def pairings(self, number: int, names: Names, results: PairOutcomes) -> Sequence[Pairing]:
        """Return the pairings of round ``number`` (from 0), as places in the line-up ``names``;
        none if there is nothing more to play."""

    def length(self, names: Names, pairs: int) -> int:
        """The most pairs there can be in all; see :meth:`rounds`."""
        return self.openings_needed(names, pairs) * len(self.pairings(0, names, PairOutcomes()))

    def standings(self, names: Names, results: PairOutcomes) -> Mapping[str, Sequence[Any]]:
        """Return this tournament's own columns of the standings, one value for each agent of the
        line-up: ``place`` (from 1, the order of the standings) and others, numbers or words. Empty
        if the usual standings are enough."""
        return {}

    def hub(self, names: Names) -> int | None:
        """Return the place in the line-up of the one agent that meets all others, who do not meet
        each other; None if there is none. A report is about it."""
        return None

    def awards(self, names: Names, results: PairOutcomes) -> Awards:
        """Return the points of each pair for its two agents, by number, and what for. They add up
        to the column ``points`` of the standings. Empty if points are those of the games."""
        return ()

    def headline(self, names: Names, results: PairOutcomes) -> str:
        """Return the sentence that names the winner, for the head of the report; "" if the best
        place says it. names: of the line-up."""
        return ""

    def tables(self, names: Names, results: PairOutcomes) -> Sequence[ResultTable]:
        """Return further tables for the report. names: of the line-up."""
        return ()

    def verdict(self, results: PairOutcomes) -> str:
        """Return the reason to end the tournament after these results; "" to continue.

        The run asks after every pair. Pairs that workers have already played beyond it are dropped.
        """
        return ""

    def note(self, names: Names, results: PairOutcomes) -> str:
        """Return a note on the results for the progress bar; "" for none. names: of the line-up."""
        return ""

    def stopped(self, counts: IntArray) -> StoppedEstimate | None:
        """Return the difference between the two agents of a match that its own result has ended;
        None for any other. counts: the pairs for ratings, as :meth:`outcome` has them."""
        return None

    def outcome(self, names: Names, counts: IntArray, rated: IntArray) -> str:
        """Return a sentence on the end of the tournament for the report; "" for none.

        names: of the line-up. counts: pentanomial counts of all pairings, shape (agents, agents,
        5), see :func:`experiments.report.standings.pair_counts`. rated: the same of the pairs
        without a forfeit, for ratings.
        """
        return ""

    @property
    def may_end_early(self) -> bool:
        """True if :meth:`verdict` may end it."""
        return type(self).verdict is not Schedule.verdict

    @property
    def has_standings(self) -> bool:
        """True if it has :meth:`standings` or :meth:`tables` of its own."""
        kind = type(self)
        return kind.standings is not Schedule.standings or kind.tables is not Schedule.tables

    @property
    def listens(self) -> bool:
        """True if it looks at results."""
        return self.adaptive or self.may_end_early or self.has_standings


class PairQueue:
    """The pairs of a run as its schedule draws them, round by round, and their outcomes."""

    def __init__(
        self,
        schedule: Schedule,
        names: Names,
        openings: Sequence[Opening],
        seed: int,
        pairs: int = 1,
    ) -> None:
        """
        names: the line-up. openings: those of all rounds. seed: the run's. pairs: half of its
        setting ``games``.
        """
        self.schedule = schedule
        self.results = PairOutcomes(seed)
        self.verdict = ""
        self._names, self._openings, self._seed = names, openings, seed
        self._openings_each = schedule.openings_a_round(pairs)
        self._round = self._number = 0  # of the round and the pair that are drawn next
        self._due: deque[tuple[int, Pairing, Opening]] = deque()  # drawn, not yet handed out
        # Drawn, their results not yet noted, and whether each is the last of its round.
        self._unsettled: deque[tuple[Pairing, bool]] = deque()
        self._early: dict[int, Sequence[GameRow]] = {}  # results of later pairs than these
        self._played: set[int] = set()

    @property
    def listens(self) -> bool:
        """True if it looks at results."""
        return self.schedule.listens

    @property
    def note(self) -> str:
        """The progress bar's note on the results."""
        return self.schedule.note(self._names, self.results)

    def skip(self, played: Iterable[int]) -> None:
        """Never hand out the pairs of these numbers: they have been played."""
        self._played.update(played)

    def take(self, most: int) -> list[Pair]:
        """Return up to this many pairs that can be played now; none if there are no more, or none
        before further results."""
        drawn_pairs: list[tuple[int, Pairing, Opening]] = []
        while len(drawn_pairs) < most and not self.verdict and (self._due or self._draw()):
            if self._due:
                number, *_ = drawn = self._due.popleft()
                if number not in self._played:
                    drawn_pairs.append(drawn)
        words = spawned_words(self._seed, _GAMES, [number for number, *_ in drawn_pairs], 2)
        seeds = (words >> np.uint64(1) & ~np.uint64(1)).tolist()  # of a pair's two games
        pairs: list[Pair] = []
        for (number, (one, two), opening), (first, second) in zip(drawn_pairs, seeds, strict=True):
            if self.schedule.both_colours:
                game = ScheduledGame(2 * number, number, one, two, opening, first)
                turned = ScheduledGame(2 * number + 1, number, two, one, opening, second)
                pairs.append((game, turned))
            else:
                pairs.append((ScheduledGame(number, number, one, two, opening, first),))
        return pairs

    def tell(self, number: int, games: Sequence[GameRow]) -> None:
        """Note the outcome of a pair, in any order. games: empty if the pair was skipped because
        the processes that played it died."""
        if not self.listens:
            return
        self._early[number] = games
        while not self.verdict and len(self.results) in self._early:
            while not self._unsettled:
                if not self._draw():
                    return  # of a pair that the schedule does not have
            (first, second), last = self._unsettled.popleft()
            games = self._early.pop(len(self.results))
            points = sum(game.points_of(first) for game in games)
            identities = tuple(game.identity for game in games)
            forfeits = tuple(game.forfeited_by for game in games if game.forfeited_by is not None)
            begun = sum(game.begun for game in games)
            self.results.add(PairOutcome(first, second, points, identities, forfeits, begun))
            if last:
                self.results.end_round()
            self.verdict = self.schedule.verdict(self.results)

    def complete(self, settled: int, most: int) -> bool:
        """Return True if there will be no further pairs. settled: number played or skipped. most:
        the largest possible number, see :meth:`Schedule.length`."""
        if self.verdict or not self.schedule.adaptive:
            return bool(self.verdict) or settled == most
        while self._draw():
            pass
        return self._ended and self._number == settled

    def strays(self, record: Record, most: int) -> Iterator[str]:
        """Yield the differences of a record's games from those drawn with the same results, a line
        each. Nothing may be drawn yet. most: as for :meth:`complete`."""
        played: dict[int, list[GameRow]] = defaultdict(list)
        for game in map(GameRow._make, record.rows("select * from games order by game")):
            played[game.pair].append(game)
        skipped = record.pieces()
        left, names = set(played), ("game", "black", "white", "opening", "seed")
        while pairs := self.take(_CHUNK):
            for pair in pairs:
                number = pair[0].pair
                games = played.get(number, [])
                left.discard(number)
                if games and (len(games) != len(pair) or number in skipped):
                    said = ", and is among the skipped" * (number in skipped)
                    yield f"pair {number} has {len(games)} of {len(pair)} games{said}"
                for due, game in zip(pair, games, strict=False):
                    wanted = due.number, due.black, due.white, due.opening.text, due.seed
                    for name, value in zip(names, wanted, strict=True):
                        if (recorded := getattr(game, name)) != value:
                            yield f"game {game.game}: {name} is {recorded!r}, due is {value!r}"
                if games or number in skipped:
                    self.tell(number, games)
        yield from (f"pair {number}: the schedule has no such pair" for number in sorted(left))
        settled = record.settled(self.schedule.games_each)
        for number in sorted(settled) if self.verdict else ():
            if number >= len(self.results):
                yield f"pair {number}: pair {len(self.results) - 1} decided it: {self.verdict}"
        if record.head()["complete"] and not self.complete(len(settled), most):
            yield f"said to be complete, with {len(settled):,} of {most:,} pairs"

    def _draw(self) -> bool:
        """Draw the next round; False if there is none, or none before further results."""
        waits = self.schedule.adaptive and len(self.results) < self._number
        if waits or self._ended:
            return False
        openings = self._openings[
            self._openings_each * self._round : self._openings_each * (self._round + 1)
        ]
        pairings = self.schedule.pairings(self._round, self._names, self.results)
        last = self._number + len(openings) * len(pairings) - 1
        for opening, pairing in product(openings, pairings):
            self._due.append((self._number, pairing, opening))
            if self.listens:
                self._unsettled.append((pairing, self._number == last))
            self._number += 1
        self._round += 1
        return True

    @property
    def _ended(self) -> bool:
        return self._openings_each * self._round >= len(self._openings)


def places(keys: Sequence[Any]) -> list[int]:
    """The place of each, from 1: the greatest key is first, equal ones share a place.

    >>> places([3, 5, 3, 1])
    [2, 1, 2, 4]
    """
    return [1 + sum(other > key for other in keys) for key in keys]
