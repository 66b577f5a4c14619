"""The finding of a run in a sentence or two, computed from its numbers: a report begins with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.shown import counted
from experiments.report.facts import RunFacts
from experiments.report.standings import rated_parts, same_positions
from experiments.statistics.needed import times_as_many

if TYPE_CHECKING:
    import pandas as pd

FEW = 3
"""Up to so many pairings are told one by one where the report would otherwise get long."""

_POWER = 0.9  # the probability with which more games are to decide
_HOPELESS = 1000  # times as many games: nobody plays them


def lead(facts: RunFacts) -> list[str]:
    """What the games taught: who leads by how much or what is not decided yet, and where agents
    played the same moves, what that cost each."""
    alike = same_positions(facts.record)
    told = list(_same_moves(alike)) if len(alike) <= FEW else []
    if len(facts.names) == 2 and told:
        return told  # their strength is the same by that
    return [*_order(facts), *told]


def _same_moves(alike: pd.DataFrame) -> Iterator[str]:
    """The lesson of alpha-beta."""
    for row in alike.itertuples():
        first, second = row.first, row.second
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
            yield (
                f"{cheap} visited {100 * few / many:.2f} % of {dear}'s nodes {score}, the same "
                f"moves in {pairs}; {few:,} nodes against {many:,} {where}."
            )


def _order(facts: RunFacts) -> Iterator[str]:
    """Who is first, and by how much."""
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
        yield from _by_elo(facts)


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


def _by_elo(facts: RunFacts) -> Iterator[str]:
    """The leader of the largest pool, and its lead over the next strategy."""
    members, ratings = facts.parts[0]
    if ratings.split.all():
        yield "Every pair was split, so these games cannot tell who is better."
        return
    ranked = [int(place) for place in ratings.order]
    best = ranked[0]
    others = [place for place in ranked if ratings.strategy[place] != ratings.strategy[best]]
    if not others:
        return
    same = [place for place in ranked if ratings.strategy[place] == ratings.strategy[best]]
    leaders = " and ".join(facts.names[members[place]] for place in same)
    yield _lead_over(facts, leaders, len(same) == 1, int(members[best]), int(members[others[0]]))


def _lead_over(facts: RunFacts, leaders: str, alone: bool, best: int, second: int) -> str:
    """By how much the best agent leads the second, both by number."""
    settings = facts.plan.settings
    names = facts.record.agents()["name"].tolist()
    parts = rated_parts(
        facts.record, settings.seed, names[second], settings.rating.colour_advantage
    )
    members, ratings = next(part for part in parts if second in part[0])
    place, other = (members.tolist().index(agent) for agent in (best, second))
    rival, leads = facts.names[second], "leads" if alone else "lead"
    games = counted(facts.record.count_games(), "game")
    if ratings.anchor is None or ratings.bound[place]:
        limit = _limit(facts.matches, names[best], names[second])
        if limit > 0:
            return f"{leaders} {leads} {rival} by more than {limit:.0f} Elo, in {games}."
        return f"{leaders} {leads} {rival}; {games} are too few to say by how much."
    value = float(ratings.elo[place] - ratings.elo[other])
    low, high = float(ratings.low[place]), float(ratings.high[place])
    if math.isnan(low):
        return (
            f"{leaders} {leads} {rival} by {value:.0f} Elo, from one opening, which says nothing."
        )
    by = f"{leaders} {leads} {rival} by {value:.0f} [{low:z.0f}, {high:z.0f}] Elo"
    if low > 0:
        return f"{by}, in {games}."
    return f"{by}: undecided. {_how_many_more(facts, value, low, high)}"


def _limit(matches: pd.DataFrame, best: str, second: str) -> float:
    """By how much at least one agent leads another that it met, Elo; nan where only more games can
    say that."""
    for row in matches.itertuples():
        if row.bound and {row.first, row.second} == {best, second}:
            return float(row.elo if row.first == best else -row.elo)
    return math.nan


def _how_many_more(facts: RunFacts, value: float, low: float, high: float) -> str:
    """How many games would decide it."""
    times = times_as_many(value, low, high, facts.openings, _POWER)
    if times > _HOPELESS:
        return "They are so close that no number of games worth playing would decide it."
    games = 2 * math.ceil(times * facts.plan.settings.games / 2)
    rounded = round(games, -max(0, len(str(games)) - 2))
    return (
        f"If that is the difference, some {rounded:,} games a pairing instead of "
        f"{facts.plan.settings.games:,} show it with a probability of {100 * _POWER:.0f} %."
    )
