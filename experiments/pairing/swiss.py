"""Swiss tournaments: agents with about the same score meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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

BYE = -1
"""The opponent of who has none."""


class Swiss(Schedule):
    """In each round agents with about the same score meet, and nobody meets another twice: a match
    of ``games`` games, colours swapped.

    A match won counts 1, a drawn one 1/2. If the number of agents is odd, one of them, each time
    another, has no opponent: a bye, and it counts as a match won.

    Ties are broken by Buchholz, the sum of the opponents' scores (a bye counts one's own), then by
    points in games.
    """

    adaptive = True
    can_grow = False

    @checked
    def __init__(self, rounds: Annotated[int | None, Whole(1)] = None) -> None:
        """rounds: number of rounds; None: the number of a knockout."""
        self.rounds_wanted = rounds

    def check(self, names: Names) -> None:
        most = (len(names) + 1) // 2
        if self.rounds_wanted is not None and self.rounds_wanted > most:
            raise ValueError(
                f"rounds={self.rounds_wanted}: a whole number from 1 to {most} is needed with "
                f"{len(names)} agents, or somebody may have to meet another twice "
                "(schedule=round_robin: everybody meets everybody)"
            )

    def rounds(self, names: Names, pairs: int) -> int:
        return self.rounds_wanted or (len(names) - 1).bit_length()

    def openings_a_round(self, pairs: int) -> int:
        return pairs

    def pairings(self, number: int, names: Names, results: PairOutcomes) -> Sequence[Pairing]:
        drawn = _SwissScores(names, results).drawn()
        return [pairing for pairing in drawn if BYE not in pairing]

    def standings(self, names: Names, results: PairOutcomes) -> Mapping[str, Sequence[Any]]:
        scores = _SwissScores(names, results)
        agents = range(len(names))
        buchholz = [scores.buchholz(agent) for agent in agents]
        keys = list(zip(scores.score, buchholz, scores.points, strict=True))
        return {"place": places(keys), "points": scores.score, "Buchholz": buchholz}

    def tables(self, names: Names, results: PairOutcomes) -> Sequence[ResultTable]:
        ranks = list(self.standings(names, results)["place"])
        met = _SwissScores(names, results).met
        return [round_table("Rounds", names, ranks, met)]


@dataclass
class SwissMeeting:
    """An agent's part of a round: its opponent, BYE for nobody; the share of the points that it
    took, None if nothing was played; and True if that counts for it."""

    opponent: int
    share: float | None
    counts: bool = True


def round_table(
    title: str,
    names: Names,
    ranks: Sequence[int],
    met: Sequence[Sequence[SwissMeeting]],
    word: str = "round",
) -> ResultTable:
    """Return the table of opponents and results, round by round. ranks: of all agents. met: by
    agent, round by round. word: the name of a round."""
    order = sorted(range(len(names)), key=lambda agent: ranks[agent])
    row_of = {agent: row for row, agent in enumerate(order, start=1)}

    def cell(meeting: SwissMeeting) -> str:
        if meeting.opponent == BYE:
            return "bye"
        share = meeting.share
        sign = "?" if share is None else "+" if share > 0.5 else "=" if share == 0.5 else "-"
        text = f"{row_of[meeting.opponent]}{sign}"
        return text if meeting.counts else f"({text})"

    most = max(map(len, met), default=0)
    rows = [
        [str(row_of[agent]), names[agent], *[cell(meeting) for meeting in met[agent]]]
        + [""] * (most - len(met[agent]))
        for agent in order
    ]
    columns = ["row", "agent", *[f"{word} {number}" for number in range(1, most + 1)]]
    note = "*3+*: met the agent of row 3 and won, *3=*: drew, *3-*: lost"
    if any(meeting.opponent == BYE for row in met for meeting in row):
        note += "; *bye*: had no opponent"
    if not all(meeting.counts for row in met for meeting in row):
        note += "; in brackets: helped another one to its games, and does not count"
    return ResultTable(title, columns, rows, words=(1,), note=f"{note}.")


class _SwissScores:
    """Scores and points by agent, and whom each has met, after the whole rounds so far."""

    def __init__(self, names: Names, results: PairOutcomes) -> None:
        self._order = results.chance(0).permutation(len(names)).tolist()
        self.score, self.points = [0.0] * len(names), [0.0] * len(names)
        self.met: list[list[SwissMeeting]] = [[] for _ in names]
        for matches in results.matches:
            for pairing in self.drawn():
                match = matches.get(frozenset(pairing))  # none if there is a bye
                for agent, opponent in (pairing, pairing[::-1]):
                    if agent != BYE:
                        self._add(agent, opponent, match)

    def _add(self, agent: int, opponent: int, match: PairOutcome | None) -> None:
        share = 1.0 if match is None else match.share_of(agent)
        self.met[agent].append(SwissMeeting(opponent, share))
        if share is not None:
            self.score[agent] += 1.0 if share > 0.5 else 0.5 if share == 0.5 else 0.0
            self.points[agent] += 0.0 if match is None else match.points_of(agent)

    def buchholz(self, agent: int) -> float:
        opponents = [agent if met.opponent == BYE else met.opponent for met in self.met[agent]]
        return sum(self.score[opponent] for opponent in opponents)

    def drawn(self) -> list[Pairing]:
        """Return the next round: from the top, each meets the next that it has not met."""
        ranked = sorted(self._order, key=lambda agent: -self.score[agent])
        before = {agent: {meeting.opponent for meeting in self.met[agent]} for agent in ranked}
        before[BYE] = {agent for agent in ranked if BYE in before[agent]}
        return matched(ranked, lambda one, other: other not in before[one])


def matched(ranked: Sequence[int], may_meet: Callable[[int, int], bool]) -> list[Pairing]:
    """Return all agents in pairs, neighbours of the ranking together, one of an odd number with
    BYE.

    If two are left over that may not meet, they take apart the lowest pair of which each may meet
    one. There is such a pair as long as everybody may still meet half of the others: the two have
    at least as many possible opponents, taken together, as all pairs have members, so one pair has
    three of the four.
    """
    pairs: list[Pairing] = []
    waiting = list(ranked)
    left: list[int] = []
    if len(ranked) % 2:
        bye = next((one for one in reversed(waiting) if may_meet(one, BYE)), None)
        if bye is None:
            left.append(BYE)
        else:
            waiting.remove(bye)
            pairs.append((bye, BYE))
    while waiting:
        one = waiting.pop(0)
        other = next((agent for agent in waiting if may_meet(one, agent)), None)
        if other is None:
            left.append(one)
        else:
            waiting.remove(other)
            pairs.append((one, other))
    while left:
        one, other = left.pop(), left.pop()
        pairs += _exchanged(pairs, one, other, may_meet)
    return [pair[::-1] if pair[0] == BYE else pair for pair in pairs]


def _exchanged(
    pairs: list[Pairing], one: int, other: int, may_meet: Callable[[int, int], bool]
) -> list[Pairing]:
    """Take the lowest pair with which two agents can be exchanged; return the two new pairs."""
    for number in reversed(range(len(pairs))):
        for first, second in (pairs[number], pairs[number][::-1]):
            if may_meet(one, first) and may_meet(other, second):
                del pairs[number]
                return [(one, first), (other, second)]
    raise ValueError("there are too many rounds for so few agents")
