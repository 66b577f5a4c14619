"""The finding of a run in a sentence or two, computed from its numbers: a report begins with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from othello_lab.core.system.escaping import counted
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.facts import RunFacts, in_sentence, marked_names
from othello_lab.experiments.report.standings import matches, rated_parts, same_positions
from othello_lab.experiments.statistics.pairs import IntArray
from othello_lab.experiments.statistics.pool import Ratings
from othello_lab.experiments.statistics.power import times_as_many

if TYPE_CHECKING:
    import pandas as pd

FEW = 3
"""Up to so many pairings are told one by one where the report would otherwise get long."""

FEW_OPENINGS = 10
"""Of less openings than this the report says that they are few."""

_POWER = 0.9  # the probability with which more games are to decide
_HOPELESS = 1000  # times as many games: nobody plays them


def lead(facts: RunFacts) -> list[str]:
    """Return the finding of the games: the leader and its lead, or a question that is still open,
    and for agents with the same moves the costs of each."""
    alike = same_positions(facts.record)
    told = list(_same_moves(alike)) if len(alike) <= FEW else []
    if len(facts.names) == 2 and told:
        return told  # their strength is the same by that
    return [*_order(facts), *told]


def _same_moves(alike: pd.DataFrame) -> Iterator[str]:
    """The lesson of alpha-beta."""
    for row in alike.itertuples():
        first, second = in_sentence(row.first), in_sentence(row.second)
        few, many = sorted((row.first_nodes, row.second_nodes))
        pairs = "the one pair" if row.pairs == 1 else f"all {row.pairs:,} pairs"
        where = f"on the same {counted(row.positions, 'position')}"
        score = f"at equal strength: 50.0 % of {2 * row.pairs:,} games"
        if few == many:
            yield (
                f"{first} and {second} visited as many nodes, {few:,} {where}, {score}, the same "
                f"moves in {pairs}."
            )
        else:
            cheap, dear = (first, second) if few == row.first_nodes else (second, first)
            whose = f"the nodes of {dear}" if dear.endswith("'") else f"{dear}'s nodes"
            yield (
                f"{cheap} visited {100 * few / many:.2f} % of {whose} {score}, the same "
                f"moves in {pairs}; {few:,} nodes against {many:,} {where}."
            )


def _order(facts: RunFacts) -> Iterator[str]:
    """Return the leader and its lead, in words."""
    schedule = facts.plan.schedule
    outcome = schedule.outcome(facts.pair_counts)
    if outcome:
        yield outcome
    elif facts.merits:
        yield _first_of_tournament(facts)
    elif not schedule.both_colours:
        best = facts.standings.iloc[0]
        yield (
            f"{best.agent} scored {100 * best.score:.1f} % of {counted(int(best.games), 'game')}, "
            f"first of {len(facts.names)}; single games give no ratings."
        )
    elif facts.parts:
        settings = facts.plan.settings
        how = settings.seed, settings.rating.colour_advantage, settings.games
        if said := elo_lead(facts.record, facts.parts, *how):
            yield said


def _first_of_tournament(facts: RunFacts) -> str:
    best = facts.standings.iloc[0]
    first = [row.agent for row in facts.standings.itertuples() if row.place == best.place]
    said = ", ".join(
        f"{name} {value}" if isinstance(value, str) else f"{name} {value:g}"
        for name, value in ((name, best[name]) for name in facts.merits if name != "place")
    )
    of = f"of {len(facts.names)} ({said})" if said else f"of {len(facts.names)}"
    if len(first) > 1:
        return f"{', '.join(first[:-1])} and {first[-1]} share the first place {of}."
    return f"{first[0]} is first {of}."


def elo_lead(
    record: Record,
    parts: Sequence[tuple[IntArray, Ratings]],
    seed: int = 0,
    colour_advantage: bool = False,
    games: int | None = None,
) -> str:
    """Return the lead of the largest pool's leader over the next strategy; "" if all are one.

    parts: of :func:`experiments.report.standings.rated_parts`; the other arguments are its. games:
    games a pairing plays, used for the number that would decide an open question.
    """
    members, ratings = parts[0]
    if ratings.split.all():
        return "Every pair was split, so these games cannot tell who is better."
    order = ratings.order.tolist()
    best = order[0]
    same = [place for place in order if ratings.strategy[place] == ratings.strategy[best]]
    others = [place for place in order if place not in same]
    if not others:
        return ""
    names = [in_sentence(name) for name in marked_names(record.agents(), "name")]
    leaders = " and ".join(names[members[place]] for place in same)
    leads = f"{leaders} {'leads' if len(same) == 1 else 'lead'} {names[members[others[0]]]}"
    pair = int(members[best]), int(members[others[0]])
    plain_pair = len(members) == 2 and ratings.anchor is None and not any(ratings.bound)
    if plain_pair:  # its ratings lie as far above and below 0, and so do their intervals
        found = EloLead(
            *(2 * float(each[best]) for each in (ratings.elo, ratings.low, ratings.high))
        )
    else:
        plays = _strategies(len(names), parts)
        found = _relative_to(record, *pair, seed, colour_advantage, plays)
    by, undecided = _in_words(record, found, *pair)
    if abs(found.value) < 0.5:  # it would lead by 0
        leads = f"Between {names[pair[0]]} and {names[pair[1]]} there are"
        by = by.removeprefix(" by")
    more = _how_many_more(record, undecided, games) if undecided else ""
    return f"{leads}{by}{': undecided.' if undecided else '.'}{more}"


def _strategies(agents: int, parts: Sequence[tuple[IntArray, Ratings]]) -> IntArray:
    """Return the strategy of every agent, as in :func:`experiments.studies.strategies.strategies`,
    from ratings, since those take long to find."""
    found = np.arange(agents)
    for members, ratings in parts:
        for strategy in np.unique(ratings.strategy):
            same = members[ratings.strategy == strategy]
            found[same] = same.min()
    return np.unique(found, return_inverse=True)[1]


class EloLead(NamedTuple):
    """A difference between two agents and the ends of its 95 % interval, Elo; the ends nan where
    nothing is known of them, all nan where it has only a bound."""

    value: float
    low: float
    high: float


def _relative_to(
    record: Record, best: int, second: int, seed: int, colour_advantage: bool, plays: IntArray
) -> EloLead:
    """The rating of one agent if another one is rated 0, both by number."""
    anchor = record.agents()["name"][second]
    parts = rated_parts(record, seed, anchor, colour_advantage, plays)
    members, ratings = next(part for part in parts if second in part[0])
    place = members.tolist().index(best)
    if ratings.anchor is None or ratings.bound[place]:
        return EloLead(math.nan, math.nan, math.nan)
    return EloLead(*(float(each[place]) for each in (ratings.elo, ratings.low, ratings.high)))


def _in_words(record: Record, found: EloLead, best: int, second: int) -> tuple[str, EloLead | None]:
    """By how much the best agent leads the second; and the difference if that is undecided."""
    games = counted(record.count_games(), "game")
    if math.isnan(found.value):
        names = record.agents()["name"]
        limit = _limit(matches(record), names[best], names[second])
        if limit > 0:
            return f" by more than {limit:.0f} Elo, in {games}", None
        return f"; {games} are too few to say by how much", None
    if math.isnan(found.low):
        return f" by {found.value:.0f} Elo, from one opening: nothing is decided", None
    by = f" by {found.value:.0f} [{found.low:z.0f}, {found.high:z.0f}] Elo"
    return (f"{by}, in {games}", None) if found.low > 0 else (by, found)


def _limit(matches: pd.DataFrame, best: str, second: str) -> float:
    """By how much at least one agent leads another that it met, Elo; nan where only more games can
    say that."""
    for row in matches.itertuples():
        if row.bound and {row.first, row.second} == {best, second}:
            return float(row.elo if row.first == best else -row.elo)
    return math.nan


def _how_many_more(record: Record, found: EloLead, asked: int | None) -> str:
    """Return a sentence on the games a pairing that would decide a difference, instead of those
    played; or on too few openings."""
    ((openings,),) = record.rows("select count(distinct opening) from games")
    if openings < FEW_OPENINGS:
        return (
            f" {openings} openings are too few to say who is better, or how many games would "
            "decide it."
        )
    if asked is None:
        return ""
    times = times_as_many(*found, openings, _POWER)
    if times > _HOPELESS:
        return " If that is the difference, no number of games worth playing would decide it."
    games = 2 * math.ceil(times * asked / 2)
    rounded = round(games, -max(0, len(str(games)) - 2))
    return (
        f" If that is the difference, some {rounded:,} games a pairing instead of {asked:,} show "
        f"it with a probability of {100 * _POWER:.0f} %."
    )
