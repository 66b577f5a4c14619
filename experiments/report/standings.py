"""Aggregates over a record, computed inside the database, so that they cost no memory that grows
with the number of games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from othello_lab.agents.external_agent import names_outside
from othello_lab.core.game import FAIR_ENDS
from othello_lab.core.rules import ruleset
from othello_lab.experiments.config import RunConfig, draw_of, scheduled_of
from othello_lab.experiments.pairing import PairOutcomes, Schedule
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.store import TOTALS, Record
from othello_lab.experiments.report.moves import quantiles_by, recorded_moves
from othello_lab.experiments.report.strategies import strategies
from othello_lab.experiments.statistics.intervals import points_interval, standard_error, student
from othello_lab.experiments.statistics.match import match_statistics
from othello_lab.experiments.statistics.pairs import OUTCOMES, FloatArray, IntArray, pentanomial
from othello_lab.experiments.statistics.pool import (
    Ratings,
    difference_of_two,
    rate_pools,
    with_difference,
)

if TYPE_CHECKING:
    import pandas as pd

# `fingerprint` is that of experiments.record.store; `plays` says as which strategy an agent counts.
# A row of `pairs` is a complete pair as its `agent` sees it, against its `opponent`, both by number
# of strategy; `{ahead}` chooses one agent for all pairs of a pairing. `b` and `w` are the half
# points that it made with Black and with White; `discs` its mean disc difference, null if a game
# was not finished; `forfeit` says that one was forfeited; `one` and `other` tell the games from
# others. The games of a pair stand next to each other, which makes it cheap to find them.
# `different` are the pairs that repeat no earlier one move for move. `unit` is the opening, which
# all pairings share; of a run from one opening the pairs of each pairing by their number, as chance
# alone makes them differ.
FORFEIT = f"end_reason not in {FAIR_ENDS}"
"""SQL: a game was lost by a fault."""
_PAIRS = f"""
    both_games as (
        select a.pair, a.opening, b.strategy as black, w.strategy as white,
            2 * a.black_points as first, 2 - 2 * z.black_points as second,
            (a.disc_difference - z.disc_difference) / 2.0 as discs,
            fingerprint(a.opening, a.transcript) as one,
            fingerprint(z.opening, z.transcript) as other, a.end_reason as one_end,
            z.end_reason as other_end, a.{FORFEIT} or z.{FORFEIT} as forfeit
        from games a join games z on z.game = a.game + 1 and z.pair = a.pair
        join plays b on b.agent = a.black join plays w on w.agent = a.white
        where a.black = z.white and a.white = z.black and b.strategy != w.strategy),
    views(agent, opponent, points, discs) as (
        select black, white, first + second - 2, discs from both_games
        union all select white, black, 2 - first - second, -discs from both_games),
    ahead as (
        select agent, opponent from views group by agent, opponent having {{ahead}}),
    pairs as (
        select pair, agent, opponent, opening, first as b, second as w, one, other, one_end,
            other_end, discs, forfeit
        from both_games join ahead on agent = black and opponent = white
        union all select pair, agent, opponent, opening, 2 - second, 2 - first, other, one,
            other_end, one_end, -discs, forfeit
        from both_games join ahead on agent = white and opponent = black)
"""
_LINE_UP = "opponent > agent"
_WINNERS = "(sum(points), coalesce(sum(discs), 0.0), opponent) > (0.0, 0.0, agent)"
_DIFFERENT = """
    distinct_pairs as materialized (
        select min(pair) as pair, min(opening) as opening, agent, opponent, b, w, discs, forfeit
        from pairs group by agent, opponent, one, other),
    spread as (select min(opening) < max(opening) as several from distinct_pairs),
    different as (
        select *, opening as unit from distinct_pairs where (select several from spread)
        union all
        select *, row_number() over (partition by agent, opponent order by pair)
        from distinct_pairs where not (select several from spread))
"""


def _with_pairs(
    record: Record, strategies: ArrayLike, rated: bool = False, ahead: str = _WINNERS
) -> str:
    """Return the beginning of a query about pairs, of agents that play these strategies, by number.
    rated: leave pairs with a forfeited game out of the different ones: they show no strength."""
    rows = ", ".join(f"({agent}, {number})" for agent, number in enumerate(np.asarray(strategies)))
    plays = f"plays(agent, strategy) as (values {rows})"
    pairs = record.cached_table(f"with {plays}, {_PAIRS.format(ahead=ahead)} select * from pairs")
    beginning = f"with pairs as (select * from {pairs})"
    different = record.cached_table(f"{beginning}, {_DIFFERENT} select * from different")
    chosen = " where not forfeit" if rated else ""
    return f"{beginning}, different as (select * from {different}{chosen})"


SEATS = f"""
    seats as (
        select black as agent, opening, black_points as points, disc_difference as difference,
            {FORFEIT} and result = 'white' as forfeit,
            {", ".join(f"black_{name} as {name}" for name in TOTALS)}
        from games union all
        select white, opening, 1 - black_points, -disc_difference,
            {FORFEIT} and result = 'black',
            {", ".join(f"white_{name}" for name in TOTALS)}
        from games)
"""
"""SQL of every game as each of its two agents sees it."""

# What an agent's games brought, and what its searches cost. Speed is by processor time, all moves
# taken together, as a wall clock would measure the scheduler and a single move is too short; where
# the system tells no processor time of others, by the wall clock.
_STANDINGS = f"""
    with {SEATS},
    totals as (
        select agent, count(*) as games, sum(points = 1) as wins, sum(points = 0.5) as draws,
            sum(points = 0) as losses, avg(points) as score,
            avg(difference) as disc_difference, sum(forfeit) as forfeits,
            nullif(sum(moves), 0) as moves, 1.0 * nullif(sum(nodes), 0) as nodes,
            nullif(sum(evaluations), 0) as evaluations,
            nullif(sum(cpu_nanoseconds), 0) as cpu_nanoseconds,
            sum(nanoseconds) as nanoseconds
        from seats group by agent)
    select agents.agent as number, name as agent, selective,
        games, wins, draws, losses, score, disc_difference, nodes / moves as nodes_per_move,
        case when moves then 1e9 * nodes / max(1, coalesce(cpu_nanoseconds, nanoseconds)) end
            as nodes_per_second,
        1.0 * evaluations / moves as evaluations_per_move, forfeits,
        coalesce(moves, 0) as moves, nanoseconds / 1000.0 / moves as microseconds
    from agents join totals using (agent)
    order by number
"""

TIMED_GAMES = 2000
"""Of larger runs the times of moves are those of so many games, drawn by chance: reading every move
of a million games would take longer than playing them."""

# Games and results come from all complete pairs, the statistics from the different ones.
_MATCHES = """
    select agent, opponent, 2 * count(*) as games, sum(b = 2) + sum(w = 2) as wins,
        sum(b = 1) + sum(w = 1) as draws, sum(b = 0) + sum(w = 0) as losses,
        sum(b = 2) as black_wins, sum(b = 1) as black_draws, sum(b = 0) as black_losses,
        sum(w = 2) as white_wins, sum(w = 1) as white_draws, sum(w = 0) as white_losses,
        avg(b + w) / 4 as score, count(distinct one) + count(distinct other) as distinct_games,
        sum(not forfeit) as all_pairs, count(distinct opening) as openings
    from pairs group by agent, opponent order by min(agent, opponent), max(agent, opponent)
"""

# How many units of a pairing are alike: how many of their pairs gave how many points. n of them
# have a disc difference, d in all; sums over these.
_ALIKE = """
    , units as (
        select agent, opponent, sum(b + w = 0) as LL, sum(b + w = 1) as LD,
            sum(b + w = 2) as DD_WL, sum(b + w = 3) as WD, sum(b + w = 4) as WW,
            count(discs) as n, coalesce(sum(discs), 0.0) as d
        from different group by agent, opponent, unit)
    select agent, opponent, LL, LD, DD_WL, WD, WW, count(*) as times, sum(n > 0) as units,
        sum(n) as n, sum(d) as d, sum(n * n) as nn, sum(n * d) as nd, sum(d * d) as dd
    from units group by agent, opponent, LL, LD, DD_WL, WD, WW order by agent, opponent
"""

# How often a pairing's games ended how, the most frequent first.
_ENDS = """
    , ended as (
        select agent, opponent, one_end as reason from pairs
        union all select agent, opponent, other_end from pairs)
    select agent, opponent, reason || ' ' || count(*) as ends from ended
    group by agent, opponent, reason order by agent, opponent, count(*) desc, reason
"""

MATCH_STATISTICS = (
    *("elo", "elo_low", "elo_high", "bound", "nelo", "nelo_low", "nelo_high", "los", "split"),
)
"""Columns of :func:`matches`: fields of :class:`experiments.statistics.match.MatchStatistics`."""

OUTCOME_COLUMNS = ("LL", "LD", "DD_WL", "WD", "WW")
"""Columns of :func:`matches`: pairs of which the agent took 0 to 4 half points."""


def pairs_by_opening(
    record: Record, plays: ArrayLike | None = None, rated: bool = False
) -> tuple[IntArray, IntArray]:
    """Return outcomes of all complete pairs that repeat no earlier one, opening by opening.

    plays: the strategy of every agent, see :mod:`experiments.report.strategies`; None to count
    every agent for itself. Pairs of a strategy with itself are left out. rated: leave out pairs
    with a forfeited game, too, as ratings do.

    Returns the different tables of openings, shape (m, n, n, 3, 3) for n strategies, and the number
    of openings of each, shape (m,). In a table, ``[i, j, b, w]`` are the pairs with b/2 points for
    strategy i as Black and w/2 as White against j. Of a run from one opening each table holds at
    most one pair of a pairing: they differ by chance alone.
    """
    plays = np.arange(len(record.agents())) if plays is None else np.asarray(plays)
    rows = record.select(
        f"{_with_pairs(record, plays, rated)} select unit, agent, opponent, cast(b as integer), "
        "cast(w as integer), count(*) from different group by unit, agent, opponent, b, w "
        "order by unit, agent, opponent, b, w"
    )
    units = (tuple(row[1:] for row in group) for _, group in groupby(rows, key=itemgetter(0)))
    often = Counter(units)
    size = int(plays.max(initial=-1)) + 1
    tables = np.zeros((len(often), size, size, 3, 3), dtype=np.int64)
    for table, unit in zip(tables, often, strict=True):
        for one, other, black, white, pairs in unit:
            table[one, other, black, white] = table[other, one, 2 - white, 2 - black] = pairs
    return tables, np.array(list(often.values()), dtype=np.int64)


def pair_counts(record: Record, rated: bool = False) -> IntArray:
    """The same of all openings and colours together and of every agent for itself, shape
    (agents, agents, 5): in ``counts[i, j, k]`` pairs agent i scored k/2 points against agent j."""
    size = len(record.agents())
    counts = np.zeros((size, size, OUTCOMES), dtype=np.int64)
    for agent, opponent, half_points, pairs in record.rows(
        f"{_with_pairs(record, np.arange(size), rated)} select agent, opponent, "
        "cast(b + w as integer) as points, count(*) from different group by agent, opponent, points"
    ):
        counts[agent, opponent, half_points] = counts[opponent, agent, 4 - half_points] = pairs
    return counts


def scores_by_colour(record: Record, names: Sequence[str]) -> pd.DataFrame:
    """Return each agent's score with each colour, over all pairs that repeat no earlier one.

    names: of the agents, by number. Columns: agent, side ("Black" or "White"), score (share of
    points, 0 to 1), low and high (its 95 % interval, over openings), and games. Agents without a
    complete pair are left out.
    """
    import pandas as pd

    tables, times = pairs_by_opening(record)
    pairs, rows = tables.sum(axis=(2, 3, 4)), []
    for agent, name in enumerate(names):
        for side, axes in zip(SIDES, ((1, 3), (1, 2)), strict=True):
            points = tables[:, agent].sum(axis=axes) @ (np.arange(3) / 2)
            share = points_interval(points, pairs[:, agent], times)
            rows.append((name, side, *share, int(times @ pairs[:, agent])))
    table = pd.DataFrame(rows, columns=["agent", "side", "score", "low", "high", "games"])
    return table[table["games"] > 0]


SIDES = ("Black", "White")


def scores_from(record: Record) -> pd.DataFrame:
    """Return each agent's score from each opening, over the same pairs: columns opening (text),
    agent (number), score (share of points, 0 to 1) and pairs."""
    return record.query(
        _with_pairs(record, np.arange(len(record.agents())))
        + """, seats as (
            select opening, agent, b + w as half_points from different union all
            select opening, opponent, 4 - b - w from different)
        select opening, agent, avg(half_points) / 4 as score, count(*) as pairs
        from seats group by opening, agent order by opening, agent"""
    )


def rated_parts(
    record: Record,
    seed: int = 0,
    anchor: str | None = None,
    colour_advantage: bool = False,
    plays: IntArray | None = None,
) -> list[tuple[IntArray, Ratings]]:
    """Return the parts of the pool and their ratings, see
    :func:`experiments.statistics.pool.rate_pools`; none without a complete pair.

    seed: of the bootstrap. anchor: name of the agent rated 0. colour_advantage: fit Black's
    advantage too. plays: the strategy of every agent, if that is known already.
    """
    names = record.agents()["name"].tolist()
    plays = strategies(record) if plays is None else plays
    tables, times = pairs_by_opening(record, plays, rated=True)
    # Agents that play alike are one strategy, which meets nobody; they have pairs all the same.
    if not tables.any() and not pair_counts(record, rated=True).any():
        return []
    return rate_pools(
        tables if colour_advantage else pentanomial(tables),
        seed=seed,
        times=times,
        anchor=None if anchor is None else names.index(anchor),
        strategies=plays,
    )


def rated_by_settings(record: Record, settings: RunConfig) -> list[tuple[IntArray, Ratings]]:
    """:func:`rated_parts` by the settings of the run.

    If the anchor has no rating, as it won or lost everything, the next agent of the line-up with a
    rating has 0 instead. The ratings of a match that its schedule ends by its results take that
    into account; a schedule from outside the lab is not called for it.
    """
    rating, plays = settings.rating, strategies(record)
    how = rating.colour_advantage, plays
    parts = rated_parts(record, settings.seed, rating.anchor, *how)
    if rating.anchor is not None and anchor_of(record, parts) is None:
        parts = rated_parts(record, settings.seed, _next_rated(record, parts, rating.anchor), *how)
    if not parts or names_outside(settings.schedule):
        return parts
    schedule, _ = scheduled_of(settings)
    ((members, ratings), *_) = parts
    counts = pair_counts(record, rated=True)
    stopped = schedule.stopped(counts) if schedule.may_end_early else None
    if stopped is not None and not ratings.split.all():
        return [(members, with_difference(ratings, stopped.elo, stopped.low, stopped.high))]
    if schedule.looks == 1:
        return parts
    ((openings,),) = record.rows("select count(distinct opening) from games")
    factor = student(openings, schedule.looks) / student(openings)
    low, high = (ratings.elo + factor * (end - ratings.elo) for end in (ratings.low, ratings.high))
    return [(members, replace(ratings, low=low, high=high, sequential=True))]


def anchor_of(record: Record, parts: Sequence[tuple[IntArray, Ratings]]) -> str | None:
    """Return the agent that is rated 0; None where none is, so that the mean of the pool is 0."""
    held = [int(agents[ratings.anchor]) for agents, ratings in parts if ratings.anchor is not None]
    return str(record.agents()["name"][held[0]]) if held else None


def _next_rated(
    record: Record, parts: Sequence[tuple[IntArray, Ratings]], anchor: str
) -> str | None:
    """Return the agent after this one in the line-up, and after the last the first, that is rated
    in its pool; None if nobody is."""
    names = record.agents()["name"].tolist()
    first = names.index(anchor)
    for agents, ratings in parts:
        if first in agents and not ratings.split.all():
            bounds = dict(zip(agents.tolist(), ratings.bound, strict=True))
            order = [*range(first, len(names)), *range(first)]
            return next((names[agent] for agent in order if bounds.get(agent) == ""), None)
    return None


def standings(record: Record, parts: Sequence[tuple[IntArray, Ratings]]) -> pd.DataFrame:
    """Return one row an agent, best first; if the pool falls into parts, the largest part first.
    With forfeits the one with the largest share of points is the first: forfeited games are points,
    but pairs with one are in no rating.

    Columns: agent, games, wins, draws, losses, score (share of points, 0 to 1), elo with its 95 %
    interval low and high, bound (``>`` or ``<`` if the agent won or lost everything), split (true
    if every pair it played was shared), part (number of its part of the pool, from 0; -1 and no
    rating for an agent without a complete pair), disc_difference (mean over games played to the
    end, the agent's view), selective, nodes_per_move, nodes_per_second (of processor time),
    evaluations_per_move, median_microseconds and p95_microseconds (the usable time of a move; see
    :data:`TIMED_GAMES`; nan if no moves are recorded), forfeits, moves (the number it decided),
    microseconds (mean time of all of them; nan without any).

    parts: from :func:`rated_by_settings`, or :func:`rated_parts`.
    """
    table = record.query(_STANDINGS)
    times = _times(record)
    for column, name in enumerate(("median_microseconds", "p95_microseconds")):
        table[name] = [times.get(number, (np.nan, np.nan))[column] for number in table["number"]]
    table[table.columns[table.isna().all()]] = np.nan  # what all lack is None otherwise
    table = table.assign(elo=np.nan, low=np.nan, high=np.nan, bound="", split=False, part=-1)
    table = table.set_index("number")
    listed: list[int] = []
    for part, (members, ratings) in enumerate(parts):
        # Among others who did not split everything, an even record has a rating all the same.
        ratings = replace(ratings, split=ratings.split & ratings.split.all())
        for name in ("elo", "low", "high", "bound", "split"):
            table.loc[members, name] = np.asarray(getattr(ratings, name))
        table.loc[members, "part"] = part
        listed += members[ratings.order].tolist()
    others = table.drop(index=listed).sort_values("score", ascending=False, kind="stable")
    table = table.loc[[*listed, *others.index]]
    if table["forfeits"].any():
        table = table.sort_values("score", ascending=False, kind="stable")
    return table.reset_index(drop=True)


def points_of_agents(record: Record) -> dict[str, float]:
    """Return each agent's share of points, 0 to 1, in the order of the line-up."""
    rows = record.rows(
        f"with {SEATS} select name, avg(points) from seats join agents using (agent) "
        "group by agent order by agent"
    )
    return dict(rows)


def _times(record: Record) -> dict[int, tuple[float, float]]:
    """Return median and 95th percentile, in microseconds, of the usable time of a move, by agent;
    of at most TIMED_GAMES games."""
    moves = recorded_moves(record, TIMED_GAMES)
    known = np.isfinite(moves.nanoseconds)
    spent = moves.nanoseconds[known] / 1000
    agents, _, ends = quantiles_by(moves.agent[known], spent, (0.5, 0.95))
    return dict(zip(agents.tolist(), map(tuple, ends.tolist()), strict=True))


def disc_differences(record: Record) -> pd.DataFrame:
    """Return the count of each agent's final disc differences, as it sees them: columns agent
    (number), difference and games; only games that were played to their end."""
    return record.query(
        f"with {SEATS} select agent, difference, count(*) as games from seats "
        "where difference is not null group by agent, difference"
    )


def tournament_results(record: Record, settings: RunConfig, schedule: Schedule) -> PairOutcomes:
    """Return the outcomes of a run's pairs, as its schedule gets them; nothing for one without
    standings of its own."""
    if not schedule.has_standings:
        return PairOutcomes()
    rules = ruleset(settings.ruleset.name)
    openings = [Opening.read(text, rules) for text in record.openings()]
    draw = draw_of(settings, schedule, openings)
    for number, games in record.pairs(schedule.games_each):
        draw.tell(number, games)
    return draw.results


def ranked(
    standings: pd.DataFrame, names: Sequence[str], tournament_columns: Mapping[str, Sequence[Any]]
) -> pd.DataFrame:
    """Standings in the order of a schedule's own, with its columns behind the names.

    names: the line-up. tournament_columns: see :meth:`experiments.pairing.Schedule.standings`.
    """
    if not tournament_columns:
        return standings
    number = standings["agent"].map({name: number for number, name in enumerate(names)})
    for position, (column, values) in enumerate(tournament_columns.items(), start=1):
        standings.insert(position, column, [values[agent] for agent in number])
    return standings.sort_values("place", kind="stable", ignore_index=True)


def matches(
    record: Record, parts: Sequence[tuple[IntArray, Ratings]] = (), winners: bool = True
) -> pd.DataFrame:
    """One row a pairing, in the order of the line-up; everything as its ``agent`` sees it.

    Only complete pairs count. parts: of :func:`rated_parts`; two agents that met nobody else have
    the difference of these ratings as their Elo. winners: the agent is the one with more points, or
    with as many more discs; False for the one that comes earlier in the line-up. Columns:

    - agent, opponent: names.
    - games, wins, draws, losses; black_wins, black_draws, black_losses, white_wins,
      white_draws, white_losses: of the agent, and with each colour. score: its share of points, 0
      to 1.
    - distinct_games: without repetitions of an earlier one, same agents in the same seats,
      move for move. all_pairs, pairs: the complete pairs without a forfeit, and the distinct ones
      among them. openings: from how many.
    - LL, LD, DD_WL, WD, WW: the pentanomial counts of these distinct pairs, the basis of all of
      the following.
    - elo, elo_low, elo_high, bound, nelo, nelo_low, nelo_high, los, split: see
      :class:`experiments.statistics.match.MatchStatistics`; no nelo and los of a match that its
      result could end.
    - discs, discs_low, discs_high: mean disc difference over pairs, and the ends of its 95 %
      interval (Student's, over openings), cut at the largest possible; nan if there are none, or
      only one.
    - ends: how the games ended, as ``finished 98, time exceeded 2``.
    """
    import pandas as pd

    names = dict(enumerate(record.agents()["name"]))
    beginning = _with_pairs(record, np.arange(len(names)), True, _WINNERS if winners else _LINE_UP)
    table = record.query(beginning + _MATCHES)
    units = groupby(record.select(beginning + _ALIKE), key=itemgetter(0, 1))
    units_of = {pairing: np.array([row[2:] for row in rows]) for pairing, rows in units}
    most = ruleset(record.head()["ruleset"]).squares
    of_two = {tuple(agents.tolist()): ratings for agents, ratings in parts if len(agents) == 2}
    rows = []
    for pairing in zip(table["agent"], table["opponent"], strict=True):
        row = _of_units(units_of.get(pairing, _NO_UNITS), most)
        ratings = of_two.get(tuple(sorted(pairing)))
        if ratings is not None and not ratings.split.all():
            row |= _as_rated(ratings, first=int(pairing[0] > pairing[1]))
        rows.append(row)
    columns = ["pairs", *OUTCOME_COLUMNS, *MATCH_STATISTICS, "discs", "discs_low", "discs_high"]
    ends = record.query(beginning + _ENDS).groupby(["agent", "opponent"])["ends"].agg(", ".join)
    table = table.join(pd.DataFrame(rows, columns=columns)).join(ends, on=["agent", "opponent"])
    return table.assign(agent=table["agent"].map(names), opponent=table["opponent"].map(names))


def _as_rated(ratings: Ratings, first: int) -> dict[str, Any]:
    """Return the columns of a match of two that its ratings give. first: the place of its agent."""
    elo, low, high, bound = difference_of_two(ratings, first)
    low, high = (np.nan, np.nan) if bound else (low, high)
    columns = {"elo": elo, "elo_low": low, "elo_high": high, "bound": bound}
    if ratings.sequential:  # these take the number of games as settled beforehand
        columns |= dict.fromkeys(("nelo", "nelo_low", "nelo_high", "los"), np.nan)
    return columns


_NO_UNITS = np.zeros((1, OUTCOMES + 7))


def _of_units(units: FloatArray, most: int) -> dict[str, Any]:
    """Return the statistics of a pairing. units: rows of the query about openings, without the
    agents. most: largest number of discs that a game can be won by."""
    counts, times = units[:, :OUTCOMES].astype(np.int64), units[:, OUTCOMES].astype(np.int64)
    statistics = match_statistics(counts, times)
    columns: dict[str, Any] = {"pairs": statistics.pairs}
    columns |= dict(zip(OUTCOME_COLUMNS, times @ counts, strict=True))
    columns |= {name: getattr(statistics, name) for name in MATCH_STATISTICS}
    number, n, d, nn, nd, dd = units[:, OUTCOMES + 1 :].sum(axis=0).tolist()
    mean = d / n if n else np.nan
    sums = np.sqrt(max(0.0, dd - 2 * mean * nd + mean**2 * nn))  # of openings' deviations, squared
    error = standard_error(np.array([sums]), np.ones(1, dtype=np.int64), n, number)
    reach = student(number) * error
    low, high = np.clip([mean - reach, mean + reach], -most, most).tolist()
    return columns | {"discs": mean, "discs_low": low, "discs_high": high}


def same_positions(record: Record) -> pd.DataFrame:
    """Return the costs of two agents on the same positions, for pairs of agents with the same moves
    throughout.

    One row a pairing in which both agents searched and both games of every pair went alike, so that
    each decision has its counterpart by the other agent on the same position. Columns: first,
    second (names), pairs, positions, first_nodes, second_nodes (totals).
    """
    return record.query(
        """with twins as (
               select a.pair, a.game as one, b.game as other, a.transcript = b.transcript as alike,
                   min(a.black, a.white) as low, max(a.black, a.white) as high
               from games a join games b on b.game = a.game + 1 and b.pair = a.pair),
           alike as (
               select low, high, count(*) as pairs from twins group by low, high
               having min(alike) = 1),
           costs as (
               select low, high,
                   sum(case when low = black then black_moves else white_moves end) as positions,
                   sum(case when low = black then black_nodes else white_nodes end) as low_nodes,
                   sum(case when low = black then white_nodes else black_nodes end) as high_nodes
               from alike join games
               on low = min(black, white) and high = max(black, white) group by low, high)
           select f.name as first, s.name as second, pairs, positions,
               low_nodes as first_nodes, high_nodes as second_nodes
           from costs join alike using (low, high)
           join agents f on f.agent = low join agents s on s.agent = high
           where low_nodes > 0 and high_nodes > 0 order by low, high"""
    )
