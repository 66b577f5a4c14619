"""What a record says about its agents: aggregates computed inside the database, so that they cost
no memory that grows with the number of games."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from experiments.ratings import Ratings, rate
from experiments.store import Record

if TYPE_CHECKING:
    import pandas as pd


def pair_counts(record: Record) -> np.ndarray:
    """Outcomes of all complete pairs, shape (agents, agents, 5).

    ``counts[i, j, k]`` is the number of pairs between agents i and j in which i scored k/2 points.
    """
    size = len(record.agents())
    counts = np.zeros((size, size, 5), dtype=np.int64)
    rows = record.query(
        """select low, high, points, count(*) as pairs from (
               select min(black, white) as low, max(black, white) as high,
                   sum(case when black < white then black_points else 1 - black_points end)
                       as points
               from games group by pair having count(*) = 2)
           group by low, high, points"""
    )
    for low, high, points, pairs in rows.itertuples(index=False):
        outcome = round(2 * points)
        counts[low, high, outcome] = counts[high, low, 4 - outcome] = pairs
    return counts


def standings(record: Record, seed: int = 0) -> pd.DataFrame:
    """One row an agent, best first.

    Columns: agent, games, wins, draws, losses, score (share of points, 0 to 1), elo with its 95 %
    interval low and high, bound (``>`` or ``<`` where the agent won or lost everything), split
    (whether every pair it played was shared), disc_difference (mean over games played to the end,
    the agent's view), selective, nodes_per_move, nodes_per_second, evaluations_per_move,
    forfeits. seed: of
    the bootstrap behind the intervals.
    """
    table = record.query(
        """with seats as (
               select black as agent, black_points as points, disc_difference as difference,
                   end_reason != 'finished' and result = 'white' as forfeit
               from games union all
               select white, 1 - black_points, -disc_difference,
                   end_reason != 'finished' and result = 'black' from games),
           totals as (
               select agent, count(*) as games, sum(points = 1) as wins, sum(points = 0.5) as draws,
                   sum(points = 0) as losses, avg(points) as score,
                   avg(difference) as disc_difference, sum(forfeit) as forfeits
               from seats group by agent),
           costs as (
               select agent, avg(nodes) as nodes_per_move, avg(evaluations) as evaluations_per_move,
                   1e6 * sum(nodes) / max(1, sum(microseconds)) as nodes_per_second
               from moves where nodes is not null group by agent)
           select agents.agent as number, name as agent, selective,
               games, wins, draws, losses, score,
               disc_difference, nodes_per_move, nodes_per_second, evaluations_per_move, forfeits
           from agents join totals using (agent) left join costs using (agent)
           order by number"""
    )
    for name in ("disc_difference", "nodes_per_move", "nodes_per_second", "evaluations_per_move"):
        table[name] = table[name].astype(float)  # all missing would make it a column of None
    ratings = _ratings(record, seed)
    if ratings is None:
        table = table.assign(elo=np.nan, low=np.nan, high=np.nan, bound="", split=False)
        return table.drop(columns="number").sort_values("score", ascending=False, ignore_index=True)
    for name in ("elo", "low", "high", "bound", "split"):
        table[name] = np.asarray(getattr(ratings, name))[table["number"]]
    place = np.argsort(ratings.order)[table["number"]]
    return table.iloc[np.argsort(place)].drop(columns="number").reset_index(drop=True)


def _ratings(record: Record, seed: int) -> Ratings | None:
    """None where a run was stopped before everybody could be compared with everybody."""
    counts = pair_counts(record)
    met = counts.sum(axis=2) > 0
    if connected_components(met, directed=False)[0] > 1:
        return None
    return rate(counts, seed=seed)


def same_positions(record: Record) -> pd.DataFrame:
    """Where two agents chose the same moves throughout: what each spent on the same positions.

    One row a pairing in which both agents searched and both games of every pair went alike, so
    that each side's every decision has its counterpart by the other agent on the same position.
    Columns: first, second (names), pairs, positions, first_nodes, second_nodes (totals).
    """
    return record.query(
        """with twins as (
               select a.pair, a.game as one, b.game as other, a.transcript = b.transcript as alike,
                   min(a.black, a.white) as low, max(a.black, a.white) as high
               from games a join games b on a.pair = b.pair and a.game < b.game),
           alike as (
               select low, high, count(*) as pairs from twins group by low, high
               having min(alike) = 1),
           decisions as (
               select low, high, x.agent as agent, x.nodes as nodes, y.nodes as counterpart
               from twins join alike using (low, high)
               join moves x on x.game in (one, other)
               join moves y on y.game = one + other - x.game and y.ply = x.ply
               where x.depth is not null and y.depth is not null)
           select f.name as first, s.name as second, pairs,
               sum(d.agent = low) as positions,
               sum(case when d.agent = low then d.nodes else 0 end) as first_nodes,
               sum(case when d.agent = low then d.counterpart else 0 end) as second_nodes
           from decisions d join alike using (low, high)
           join agents f on f.agent = low join agents s on s.agent = high
           group by low, high order by low, high"""
    )


def share_interval(counts: ArrayLike) -> tuple[float, float, float, int]:
    """The share of points (0 to 1), the ends of its 95 % interval, and the number of pairs.

    counts: shape (5,), the number of pairs with 0 to 4 half points. The interval is normal over
    pairs, with half a pair won and half a pair lost added, so that pairs which all went alike have
    one too. All nan without pairs.
    """
    seen = np.asarray(counts, dtype=float)
    pairs = int(seen.sum())
    if not pairs:
        return np.nan, np.nan, np.nan, 0
    shares = np.arange(5) / 4
    more = seen + np.array([0.5, 0, 0, 0, 0.5])
    middle = more @ shares / more.sum()
    margin = 1.96 * np.sqrt(more @ (shares - middle) ** 2) / more.sum()
    share = float(seen @ shares) / pairs
    return (
        share,
        max(0.0, min(share, middle - margin)),
        min(1.0, max(share, middle + margin)),
        pairs,
    )
