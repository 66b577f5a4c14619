"""The finding of a run in a sentence or two, computed from its numbers: a report begins with it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from othello_lab.core.game import FAIR_ENDS
from othello_lab.core.system.escaping import counted, listed
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report.facts import RunFacts, in_sentence, marked_names
from othello_lab.experiments.report.question import Question, same_values
from othello_lab.experiments.report.standings import (
    FORFEIT,
    SEATS,
    matches,
    pair_counts,
    pairs_by_opening,
)
from othello_lab.experiments.report.tables import order_note, share_text, time_text
from othello_lab.experiments.statistics.intervals import INSIDE, student, times_as_many
from othello_lab.experiments.statistics.pairs import IntArray, pentanomial
from othello_lab.experiments.statistics.pool import Ratings, difference_of_two, rate_contrasts

if TYPE_CHECKING:
    import pandas as pd

FEW = 3
"""Up to so many pairings are told one by one where the report would otherwise get long."""

MOST_RANKS = 20
"""Ranks in a sentence."""

FEW_OPENINGS = 10
"""Of less openings than this the report says that they are few."""

_MANY_FORFEITS = 0.1  # of all games

_POWER = 0.9  # the probability with which more games are to decide
_HOPELESS = 1000  # times as many games: nobody plays them


def lead(facts: RunFacts) -> list[str]:
    """Return the finding of the games: the answer to the question of the run. That is the cost of
    each search where all play alike, or else the leader and its lead, or a question that is still
    open, with the cost of a move; of several agents all ranks. Many forfeits come before all."""
    return [*_many_forfeits(facts), *_answer(facts)]


def _many_forfeits(facts: RunFacts) -> Iterator[str]:
    """Yield a sentence on forfeits if they are too large a share of the games."""
    if not facts.plan.schedule.both_colours:
        return  # no ratings, and a forfeit is a result like others
    games, forfeits = 0, Counter[tuple[int, str]]()
    for black, white, result, reason, count in facts.ends:
        games += count
        if reason not in FAIR_ENDS:
            forfeits[white if result == "black" else black, reason] += count
    if forfeits.total() > _MANY_FORFEITS * games:
        ((agent, reason), most), *others = forfeits.most_common()
        of = f"{most} of them" if others else "all"
        yield (
            f"{forfeits.total()} of {counted(games, 'game')} ended by a forfeit, {of} by "
            f"{in_sentence(facts.names[agent])} ({reason}), so points do not measure strength."
        )


def _answer(facts: RunFacts) -> list[str]:
    """Return the answer to the question of the run."""
    alike = facts.same_positions
    said = list(_same_moves(alike)) if len(alike) <= FEW else []
    if facts.question is Question.COST:
        two = len(facts.names) == 2
        costs = said if two and said else _nodes_in_order(facts)
        return [*(list(costs) or _order(facts)), *_times_in_order(facts)]
    sentences = [*_order(facts), *said]
    wanted = bool(sentences) and facts.question is Question.MATCH
    return [*sentences, *(_cost_of_a_move(facts) if wanted else ())]


# ---------------------------------------------------------------------- costs


def _nodes_in_order(facts: RunFacts) -> Iterator[str]:
    """Yield the nodes of every search as a share of the most expensive one's, or the baseline's,
    unless all may be the same."""
    nodes, positions = _nodes(facts)
    if len(set(nodes.values())) < 2:
        return
    order = sorted(nodes, key=lambda name: nodes[name])
    base = facts.plan.settings.searches.baseline or order[-1]
    if positions or _surely_fewer(facts, order[0], base):
        least = [in_sentence(name) for name in order if nodes[name] == nodes[order[0]]]
        visit, dear = "visits" if len(least) == 1 else "visit", in_sentence(base)
        fewest = f"{listed(least)} {visit} the fewest nodes of {len(nodes)} searches"
        share = share_text(nodes[order[0]] / nodes[base])
        if positions:
            few, many = (positions * nodes[name] for name in (order[0], base))
            where = f"on the same {counted(positions, 'position')}"
            yield f"{fewest}: {few:,.0f} {where}, {share} of the {many:,.0f} of {dear}."
        else:
            yield f"{fewest} in their own games: {share} of those of {dear}."
        shares = (f"{in_sentence(name)} {share_text(nodes[name] / nodes[base])}" for name in order)
        yield f"Nodes in order, with {dear} as 100 %: {', '.join(shares)}."
    if same_values(facts.plan.settings):
        yield (
            "All search equally deep with the same evaluation, so they find the same values: their "
            "results differ by the choice among equal moves, and ratings show no strength."
        )


def _surely_fewer(facts: RunFacts, few: str, many: str) -> bool:
    """Return True if an agent visits fewer nodes a move than another, beyond what the different
    positions of their own games explain: the difference of the means over openings, by Welch."""
    sql = f"""with {SEATS} select name, 1.0 * sum(nodes) / sum(moves) from seats
        join agents using (agent) where moves > 0 group by agent, opening"""
    means = defaultdict(list)
    for name, mean in facts.record.rows(sql):
        means[name].append(mean)
    count = min(len(means[few]), len(means[many]))
    if count < 2:
        return False
    error = math.hypot(
        *(np.std(costs, ddof=1) / len(costs) ** 0.5 for costs in (means[few], means[many]))
    )
    return float(np.mean(means[many]) - np.mean(means[few])) > student(count) * error


def _nodes(facts: RunFacts) -> tuple[dict[str, float], int]:
    """Return the mean nodes of each search, and the number of positions, the same for all, on which
    they were counted; 0 if that is in their own games."""
    costs = facts.costs
    if costs is None:
        table = facts.standings[facts.standings["nodes_per_move"] > 0]
        return dict(zip(table["agent"], table["nodes_per_move"], strict=True)), 0
    if facts.plan.settings.searches.depths:
        costs = costs[costs["depth"] == costs["depth"].max()]
    return dict(zip(costs["agent"], costs["nodes"], strict=True)), int(costs["positions"].max())


def _times_in_order(facts: RunFacts) -> Iterator[str]:
    """Yield the median time of a move of the fastest and of the slowest agent; of few of all."""
    times = facts.standings.dropna(subset="median_microseconds")
    times = times.sort_values("median_microseconds", kind="stable")
    if len(times) < 2:
        return
    shown = times if len(times) <= FEW else times.iloc[[0, -1]]
    texts = [time_text(median) for median in shown["median_microseconds"]]
    if len(set(texts)) == 1:
        return  # there is no order to tell
    said = ", ".join(
        f"{in_sentence(name)} {text}" for name, text in zip(shown["agent"], texts, strict=True)
    )
    yield f"Time of a move (median), from the fastest to the slowest: {said}."


def _cost_of_a_move(facts: RunFacts) -> Iterator[str]:
    """Yield the nodes, where they are counted, and the median time of a move of each agent."""
    costs = []
    for row in facts.standings.itertuples():
        if math.isnan(row.median_microseconds):
            return
        nodes = f"{row.nodes_per_move:,.0f} nodes and " if row.nodes_per_move > 0 else ""
        costs.append(f"{in_sentence(row.agent)} {nodes}{time_text(row.median_microseconds)}")
    yield f"A move costs {', '.join(costs)} (median time)."


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
    rated = pair_counts(facts.record, rated=True)
    if outcome := schedule.outcome(facts.plan.names, facts.pair_counts, rated):
        yield outcome
        if order_note(facts.standings):
            yield "The test counts a forfeit as a loss like any other; the Elo leaves it out."
    elif facts.tournament_columns:
        headline = schedule.headline(facts.plan.names, facts.results)
        yield headline or _first_of_tournament(facts)
    elif not schedule.both_colours:
        best = facts.standings.iloc[0]
        yield (
            f"{best.agent} scored {100 * best.score:.1f} % of {counted(int(best.games), 'game')}, "
            f"first of {len(facts.names)}; single games give no ratings."
        )
    elif facts.parts:
        settings = facts.plan.settings
        hub = schedule.hub(facts.plan.names)
        how = settings.seed, settings.rating.colour_advantage, settings.games, hub
        yield from elo_lead(facts.record, facts.parts, *how)


def _first_of_tournament(facts: RunFacts) -> str:
    best = facts.standings.iloc[0]
    first = [row.agent for row in facts.standings.itertuples() if row.place == best.place]
    said = ", ".join(
        f"{name} {value}" if isinstance(value, str) else f"{name} {value:g}"
        for name, value in (
            (name, best[name]) for name in facts.tournament_columns if name != "place"
        )
    )
    of = f"of {len(facts.names)} ({said})" if said else f"of {len(facts.names)}"
    if len(first) > 1:
        return f"{listed(first)} share the first place {of}."
    return f"{first[0]} is first {of}."


def elo_lead(
    record: Record,
    parts: Sequence[tuple[IntArray, Ratings]],
    seed: int = 0,
    colour_advantage: bool = False,
    games: int | None = None,
    hub: int | None = None,
) -> list[str]:
    """Return the lead of the largest pool's leader over the next strategy, and of more than two all
    ranks; nothing if all are one strategy.

    parts: of :func:`experiments.report.standings.rated_parts`; the other arguments are its. games:
    games a pairing plays, used for the number that would decide an open question. hub: the agent
    that meets all others, who do not meet each other, by number: its place and its neighbours come
    instead of the leader.
    """
    ratings = parts[0][1]
    if ratings.split.all():
        return ["Every pair was split, so these games cannot tell who is better."]
    ranks = _ranks(record, parts, seed, colour_advantage)
    if len(ranks) < 2:
        return []
    names = [in_sentence(name) for name in marked_names(record.agents(), "name")]
    if len(ranks) == 2:
        return [_lead_in_words(record, names, ranks, games, more=True)]
    order = _all_ranks(ranks, names)
    hub_rank = next((hub_rank for hub_rank, rank in enumerate(ranks) if hub in rank.agents), None)
    if hub is None or hub_rank is None:
        return [_lead_in_words(record, names, ranks[:2], games, more=True), order]
    ranks[hub_rank] = ranks[hub_rank]._replace(agents=[hub])
    around = [ranks[max(0, hub_rank - 1) : hub_rank + 1], ranks[hub_rank : hub_rank + 2]]
    leads = [_lead_in_words(record, names, two) for two in around if len(two) == 2]
    first = f"{names[hub]}, which met all others, is on place {hub_rank + 1} of {len(ranks)}."
    return [" ".join([first, *leads]), order]


class _Rank(NamedTuple):
    """A strategy of a pool. agents: their numbers. above: its lead over the next one. surely: true
    if that is above 0 for certain."""

    agents: list[int]
    above: EloLead
    surely: bool


def _ranks(
    record: Record, parts: Sequence[tuple[IntArray, Ratings]], seed: int, colour_advantage: bool
) -> list[_Rank]:
    """Return the strategies of the largest pool, best first."""
    members, ratings = parts[0]
    numbers = dict.fromkeys(ratings.strategy[agent] for agent in ratings.order)
    groups = [np.flatnonzero(ratings.strategy == strategy) for strategy in numbers]
    if len(groups) == 2 and len(members) == 2:
        value, low, high, bound = difference_of_two(ratings, first=int(groups[0][0]))
        leads = [EloLead(value, low, high, bool(bound))]
    else:
        plays = _strategies(len(record.agents()), parts)
        firsts = [int(plays[members[group[0]]]) for group in groups]
        leads = _gaps(record, plays, firsts, seed, colour_advantage)
    ranks = []
    for number, group in enumerate(groups):
        above = leads[number] if number < len(leads) else NO_LEAD
        surely = above.low > 0
        if math.isnan(above.value) and number < len(leads):
            surely = ratings.superiority[group[0], groups[number + 1][0]] >= INSIDE
        ranks.append(_Rank(members[group].tolist(), above, bool(surely)))
    return ranks


def _gaps(
    record: Record, plays: IntArray, order: Sequence[int], seed: int, colour_advantage: bool
) -> list[EloLead]:
    """Return the lead of each strategy over the next one, from the bootstrap of the ratings."""
    tables, times = pairs_by_opening(record, plays, rated=True)
    inside = np.sort(order)
    tables = tables[np.ix_(np.arange(len(tables)), inside, inside)]
    weights = np.zeros((len(order) - 1, len(order)))
    places = np.searchsorted(inside, order)
    rows = np.arange(len(weights))
    weights[rows, places[:-1]], weights[rows, places[1:]] = 1, -1
    contrasts = rate_contrasts(
        tables if colour_advantage else pentanomial(tables), weights, seed=seed, times=times
    )
    return [EloLead(*ends) for ends in np.stack(contrasts, axis=1).tolist()]


def _all_ranks(ranks: Sequence[_Rank], names: Sequence[str]) -> str:
    """Return the order of all agents in a sentence."""
    text = ""
    for rank in ranks[:MOST_RANKS]:
        text += " = ".join(names[agent] for agent in rank.agents)
        text += "" if rank is ranks[-1] else " > " if rank.surely else " \N{ALMOST EQUAL TO} "
    if len(ranks) > MOST_RANKS:
        text += f"and {len(ranks) - MOST_RANKS} more, in the standings"
    return (
        f"All ranks: {text}. (> surely better, \N{ALMOST EQUAL TO} undecided, by the 95 % interval "
        "of the difference between neighbours.)"
    )


def _strategies(agents: int, parts: Sequence[tuple[IntArray, Ratings]]) -> IntArray:
    """Return the strategy of every agent, as in :func:`experiments.report.strategies.strategies`,
    from ratings, since those take long to find."""
    numbers = np.arange(agents)
    for members, ratings in parts:
        for strategy in np.unique(ratings.strategy):
            same = members[ratings.strategy == strategy]
            numbers[same] = same.min()
    return np.unique(numbers, return_inverse=True)[1]


class EloLead(NamedTuple):
    """A difference between two agents and the ends of its 95 % interval, Elo; the ends nan where
    nothing is known of them, all nan where one of several agents has only a bound. bounded: true
    if the difference between two agents is at least the value."""

    value: float
    low: float
    high: float
    bounded: bool = False


NO_LEAD = EloLead(math.nan, math.nan, math.nan)


def _lead_in_words(
    record: Record,
    names: Sequence[str],
    two: Sequence[_Rank],
    games: int | None = None,
    more: bool = False,
) -> str:
    """Return a sentence on the lead of a strategy over the next one; with ``more`` and an undecided
    lead, one on the games that would decide it, instead of those asked for a pairing."""
    (best, second), all_games = two, _rated_games(record)
    first, other, gap = best.agents[0], second.agents[0], best.above
    met = _rated_games(record, first, other)
    among = f"in {counted(all_games, 'game')}"
    if len(names) > 2:
        among = f"by the ratings of {all_games:,} games, {met:,} of them between these two"
    if math.isnan(gap.value):  # one of them has only a bound among all: their own games tell
        gap, among = _own_lead(record, first, other), f"in the {met:,} games between these two"
    who, stands = listed([names[agent] for agent in best.agents]), "s" * (len(best.agents) == 1)
    if math.isnan(gap.value):
        return f"{who} stand{stands} above {names[other]}; no games tell by how much."
    leads = f"{who} lead{stands} {names[other]}"
    if gap.bounded:
        by = f" by more than {gap.value:.0f} Elo" if gap.value > 0 else ""
        return f"{leads}{by}, {among}{'' if by else ': too few for an Elo'}."
    if math.isnan(gap.low):
        return f"{leads} by {gap.value:.0f} Elo, from one opening: nothing is decided."
    by = f"{gap.value:z.0f} [{gap.low:z.0f}, {gap.high:z.0f}] Elo"
    if gap.low > 0:
        return f"{leads} by {by}, {among}."
    if gap.high < 0:  # in their own games
        return f"{who} stand{stands} above {names[other]}, but with {by} {among}."
    further = _how_many_more(record, gap, games) if more else ""
    if gap.value < 0.5:  # it would lead by 0, or stand above another that leads between the two
        return f"Between {names[first]} and {names[other]} there are {by}: undecided.{further}"
    return f"{leads} by {by}: undecided.{further}"


def _own_lead(record: Record, first: int, other: int) -> EloLead:
    """Return the lead of an agent over another in their own games."""
    names = record.agents()["name"]
    for row in matches(record, winners=False).itertuples():
        if {row.agent, row.opponent} == {names[first], names[other]} and not row.split:
            ends = (row.elo, row.elo_low, row.elo_high), (-row.elo, -row.elo_high, -row.elo_low)
            turned = row.agent != names[first]
            if row.bound != ("<", ">")[turned]:
                return EloLead(*ends[turned], bool(row.bound))
    return NO_LEAD


def _rated_games(record: Record, *agents: int) -> int:
    """Return the number of games, or those of two agents, in pairs without a forfeit."""
    between = " and min(black, white) = ? and max(black, white) = ?" if agents else ""
    ((games,),) = record.rows(
        "select count(*) from games "
        f"where pair not in (select pair from games where {FORFEIT}){between}",
        sorted(agents),
    )
    return int(games)


def _how_many_more(record: Record, gap: EloLead, planned: int | None) -> str:
    """Return a sentence on the games a pairing that would decide a difference, instead of those
    played; or on too few openings."""
    ((openings,),) = record.rows("select count(distinct opening) from games")
    if openings < FEW_OPENINGS:
        few = "One opening is" if openings == 1 else f"{openings} openings are"
        return (
            f" {few} too few to name the better one, or the number of games that would decide it."
        )
    if planned is None:
        return ""
    times = times_as_many(*gap[:3], openings, _POWER)
    if times > _HOPELESS:
        return " If that is the difference, no number of games worth playing would decide it."
    games = 2 * math.ceil(times * planned / 2)
    rounded = round(games, -max(0, len(str(games)) - 2))
    return (
        f" If that is the difference, some {rounded:,} games a pairing instead of {planned:,} show "
        f"it with a probability of {100 * _POWER:.0f} %."
    )
