"""Ratings from counts, with their uncertainty.

Everything is counted in **pairs**: two games from one opening with colours swapped. A pool of n
agents is an integer array ``pairs`` of shape (n, n, 5): ``pairs[i, j, k]`` pairs between the agents
i and j gave i a total of k/2 points of 2 (LL, LD, DD+WL, WD, WW as i sees them), so ``pairs[j, i]``
is ``pairs[i, j]`` backwards and the diagonal is 0. The unit of uncertainty is the **opening**,
shared by all pairings: an array of shape (m, n, n, 5) has such a table for each opening, and one of
shape (n, n, 5) says that every pair came from an opening of its own.

**Elo** is the Bradley-Terry model fitted to the whole pool by maximum likelihood: agent i expects 1
/ (1 + 10^((r_j - r_i) / 400)) points a game against agent j, a draw is half a win, and the mean of
the rated agents is 0 (Bradley & Terry 1952, Biometrika 39; Hunter 2004, Annals of Statistics 32).

**Intervals** are 95 % intervals from a Bayesian bootstrap over openings (Rubin 1981, Annals of
Statistics 9): in each replicate every opening, with all pairs of all pairings that come from it,
weighs Exp(1) instead of 1, and the pool is rated again. So many agents may play alike from an
opening, and it may suit one of them against everybody (Cameron & Miller 2015, Journal of Human
Resources 50). Drawing weights rather than openings has two merits. Nobody becomes perfect by
chance, so every replicate has finite ratings; and few openings still show their uncertainty. Three
corrections make it hold for few openings and for wide pools; ``benchmarks/ validity.py`` and
``tests/experiments/statistics/test_validity.py`` measure their effect:

- A sample of alike openings has no trace of the outcomes it missed. Imagined pairs, won
  or lost outright by the odds of the fitted ratings, join each replicate: half as many as one
  opening has, or one for each free rating if that is more. They move no rating on average, and 100
  evenly split pairs give a narrow interval instead of none.
- The quantiles are taken further out, so that a mean of N normal values would get Student's
  interval (the expanded percentile interval of Hesterberg 2015, The American Statistician 69); N
  is the number of openings the agent played, the imagined pairs counting as one. Where that is
  further than replicates of so few openings reach, the distance is multiplied instead.
- They are shifted by twice the bootstrap's median bias (the bias-corrected interval of Efron 1981,
  Canadian Journal of Statistics 9): maximum likelihood spreads a wide pool a little too far.

One opening shows nothing of how others would end: there is no interval.

**Bounds**: an agent that won everything, or lost everything, has no finite rating. The others are
rated as if it had not been there, and it gets the rating at which so perfect a record has a
probability of 5 %; see :class:`Ratings` and :mod:`experiments.statistics.bradley_terry`.

>>> pairs = np.zeros((2, 2, 5), dtype=int)
>>> pairs[0, 1] = 5, 0, 40, 0, 55  # the first agent lost 5 pairs, split 40, won 55
>>> pairs[1, 0] = pairs[0, 1, ::-1]
>>> ((_, ratings),) = rate_pools(pairs)
>>> ratings.elo.round(1)  # 75 % of the points: a difference of 400 log10(0.75 / 0.25) = 190.8
array([ 95.4, -95.4])
>>> bool(ratings.low[0] > 0)
True
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics import bradley_terry
from othello_lab.experiments.statistics.bradley_terry import Layers
from othello_lab.experiments.statistics.elo import ELO
from othello_lab.experiments.statistics.intervals import ONE_SIDED, bootstrap_intervals
from othello_lab.experiments.statistics.means import REPLICATES
from othello_lab.experiments.statistics.pairs import (
    OUTCOMES,
    SHARES,
    BoolArray,
    FloatArray,
    IntArray,
)
from othello_lab.experiments.statistics.units import PairUnits

_EVEN = 0.5**0.5  # even chances, in games: the two games of a pair have 0.5 = _EVEN ** 2
_LEAST = 0.01  # pairs won and lost in each pairing where perfect records join the bootstrap
_CELLS = 1_000_000  # most matrix cells in one batch of replicates: 8 MB an array


@dataclass(frozen=True, eq=False)
class Ratings:
    """The ratings of n agents, from :func:`rate_pools`. Elo points; all arrays have shape (n,).

    elo: the rating; the mean of the agents without a bound is 0 (of all, if all have one).
    low, high: the ends of the 95 % interval, low <= elo <= high; nan for an agent with pairs from
        one opening only.
    bound: "" for a rating; ">" or "<" for an agent without one, because it, or the only group that
    it shared points with, won ">" or lost "<" everything. ``elo`` is then a one-sided 95 % limit
    and ``low = high = elo``: write "> +620", not "+620 ± 0". The limit solves prod_j P(r - r_j)^m_j
    = 0.05 for r, over the rated opponents j, each met in m_j pairs, with P the expected score and
    r_j taken as given. Winning a whole pair is at most as probable as P however the two games
    depend on each other, so the limit is on the safe side; against one opponent it is Clopper and
    Pearson's, P = 0.05^(1/m). Where an opening has several pairs of the agent, they weigh together
    as one. With fewer than five pairs it lies below the opponents' rating: so few wins prove
    nothing. split: True if every pair the agent played was split evenly: two equals, or two players
    so alike that every opening gives the same game twice; games cannot distinguish these.
    order: the agents' indices, best first. As ``elo`` sorts them, but an agent with a bound is
        sorted by the rating at which its perfect record in games had even chances.
    superiority: shape (n, n): the probability that the row agent is above the column agent: its
    share of the bootstrap's replicates, taken as a normal probability and turned into Student's as
    the intervals are, so that few openings are never sure; 0.5 between two that play the same
    strategy; nan on the diagonal and for an agent with pairs from one opening only. Where an agent
    has a bound, the whole pool is bootstrapped for this, the agent beginning where ``order`` puts
    it: one pair won does not become a certainty. strategy: the number of each agent's strategy;
    agents that play the same one have all the rest in common.
    anchor: the agent whose rating is 0 in place of the mean; None if none was chosen, or if the
    chosen one has a bound and so no rating. advantage: Black's advantage as (low, best, high): the
    worth of playing Black against White in Elo points. None unless asked for, or if the games
    cannot show it (Black won them all). sequential: True if the intervals allow for looks at the
    results that could end the games.
    """

    elo: FloatArray
    low: FloatArray
    high: FloatArray
    bound: tuple[str, ...]
    split: BoolArray
    order: IntArray
    superiority: FloatArray
    strategy: IntArray
    anchor: int | None = None
    advantage: tuple[float, float, float] | None = None
    sequential: bool = False


def difference_of_two(ratings: Ratings, first: int = 0) -> tuple[float, float, float, str]:
    """Return by how much one of two agents, by number, is rated above the other, Elo, the ends of
    the 95 % interval, and the bound, as :class:`Ratings` has them.

    >>> pairs = np.zeros((2, 2, 5), dtype=int)
    >>> pairs[0, 1, 4] = pairs[1, 0, 0] = 100  # every pair won
    >>> ((_, ratings),) = rate_pools(pairs)
    >>> value, low, high, bound = difference_of_two(ratings)
    >>> print(bound, round(value), low == value == high)
    > 607 True
    """
    (elo, low, high), second = (ratings.elo, ratings.low, ratings.high), 1 - first
    difference = elo[first] - elo[second], low[first] - high[second], high[first] - low[second]
    return *map(float, difference), ratings.bound[first]  # type: ignore[return-value]


def with_difference(ratings: Ratings, elo: float, low: float, high: float) -> Ratings:
    """Return the ratings of two agents of a match that its result ended, with this difference of
    the first from the second and this interval; an infinite end makes the other one a bound, with
    two nothing is changed.

    >>> pairs = np.zeros((2, 2, 5), dtype=int)
    >>> pairs[0, 1], pairs[1, 0] = (5, 0, 40, 0, 55), (55, 0, 40, 0, 5)
    >>> ((_, ratings),) = rate_pools(pairs, anchor=0)
    >>> difference_of_two(with_difference(ratings, 90.0, 50.0, np.inf))
    (50.0, 50.0, 50.0, '>')
    """
    bound = ("", "") if np.isfinite(low + high) else (">", "<") if low > -np.inf else ("<", ">")
    if bound[0]:
        elo = low = high = low if bound[0] == ">" else high
    if np.isinf(elo):
        return ratings
    parts = {None: (0.5, -0.5), 0: (0.0, -1.0), 1: (1.0, 0.0)}[ratings.anchor]
    values, one, other = np.multiply.outer([elo, low, high], parts)
    ends = {"low": np.minimum(one, other), "high": np.maximum(one, other)}
    order = np.argsort(-values)
    return replace(ratings, elo=values, **ends, bound=bound, order=order, sequential=True)


def score_matrix(pairs: ArrayLike) -> FloatArray:
    """The share of points of the row agent against the column agent, shape (n, n), 0 to 1; nan
    where the two did not meet. Raises ValueError as :func:`rate_pools` does."""
    counts = PairUnits.of(pairs).counts
    met = counts.sum(axis=2).astype(float)
    met[met == 0] = np.nan
    return np.asarray(counts @ SHARES / met)


def rate_pools(
    pairs: ArrayLike,
    replicates: int = REPLICATES,
    seed: int = 0,
    *,
    times: ArrayLike | None = None,
    anchor: int | None = None,
    strategies: ArrayLike | None = None,
) -> list[tuple[IntArray, Ratings]]:
    """Rate each part of a pool, as the module's text describes: the agents that are comparable with
    each other, if only through others.

    pairs: counts as the module's text has them. Told apart by colour, shape (..., n, n, 3, 3),
        Black's advantage is fitted together with the ratings: ``pairs[..., i, j, b, w]`` pairs with
        b/2 points for i as Black and w/2 as White against j.
    replicates: of the bootstrap; 1,000 for 20 agents take 0.3 s.
    seed: of the bootstrap's random generator; the same seed gives the same intervals.
    times: shape (m,), the number of openings of each of m tables; None for one each.
    anchor: the agent to be rated 0 instead of its part's mean. Intervals are then those of the
        differences from it.
    strategies: shape (n,), the strategy of every agent, those that play the same moves having the
        same; a number from 0, and the place in ``pairs``, then a table of strategies. None if each
        agent is one of its own. The mean over strategies is 0.

    Returns, the largest part first, its agents' indices in ascending order and their ratings:
    agents count from 0, and 0 Elo is the mean of the part, or the anchor if it is one of them. An
    agent that met nobody is in no part. Raises ValueError if the array is no such table of counts.
    """
    units = PairUnits.of(pairs, times)
    size = len(units.counts)
    plays = np.arange(size) if strategies is None else np.asarray(strategies)
    _, label = _parts(units)
    parts = [np.flatnonzero(label[plays] == part) for part in range(label.max(initial=-1) + 1)]
    rated = []
    for members in sorted(parts, key=len, reverse=True):
        if len(members) > 1:
            inside, strategy = np.unique(plays[members], return_inverse=True)
            held = next((n for n, agent in enumerate(members.tolist()) if agent == anchor), None)
            among = units.among(inside, units.by_colour)
            anchored = None if held is None or len(inside) == 1 else int(strategy[held])
            ratings = _rate(among, replicates, seed, anchored)
            rated.append((members, _of_agents(ratings, strategy, held)))
    return rated


def rate_contrasts(
    pairs: ArrayLike,
    weights: ArrayLike,
    seed: int = 0,
    *,
    times: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weighted sums of a pool's ratings, Elo, with the ends of their 95 % intervals, from
    the same bootstrap as :func:`rate_pools`'s. Errors that the ratings share fall out.

    pairs: of one part; pairs, seed, times: as :func:`rate_pools` has them. weights: shape
    (contrasts, n); each row adds up to 0, as of (1, -1) for a difference.

    Returns three arrays of shape (contrasts,); all nan if a contrast weighs an agent that has only
    a bound, and nan for the ends if there is one opening. Raises ValueError.

    >>> pairs = np.zeros((2, 2, 5), dtype=int)
    >>> pairs[0, 1] = 5, 0, 40, 0, 55
    >>> pairs[1, 0] = pairs[0, 1, ::-1]
    >>> [round(float(each[0])) for each in rate_contrasts(pairs, [[1, -1]])]
    [191, 141, 255]
    """
    units = PairUnits.of(pairs, times)
    agents, parts = len(units.counts), _parts(units)[0]
    if parts > 1 or agents < 2:
        raise ValueError(f"{agents} agents in {parts} parts that never met: one pool is needed")
    rows = np.asarray(weights, dtype=float)
    fits = rows.ndim == 2 and rows.shape[1] == len(units.counts)
    if not fits or not np.allclose(rows.sum(axis=1), 0, atol=1e-9):
        raise ValueError(
            f"weights of shape {rows.shape}: rows of {len(units.counts)} numbers that add up to 0 "
            "are needed"
        )
    layers = Layers(units.counts @ SHARES, units.number)
    _, by_colour, fitted = _fit_blocks(units, layers)
    rated = layers.rated
    sample = _replicates(units.among(rated, by_colour), fitted, REPLICATES, seed)[:, :-1]
    number = units.total
    seen = np.full(len(rows), number + (number > 1))  # and one imagined
    values = rows[:, rated] @ fitted[:-1]
    low, high = bootstrap_intervals(sample @ rows[:, rated].T, values, seen)
    unknown = rows[:, ~rated].any(axis=1)
    value, low, high = (
        np.where(unknown, np.nan, ELO * part)
        for part in (values, np.fmin(low, values), np.fmax(high, values))
    )
    alone = number < 2
    return value, np.where(alone, np.nan, low), np.where(alone, np.nan, high)


def _parts(units: PairUnits) -> tuple[int, IntArray]:
    """The number of parts of a pool that never met, and the part of each agent, shape (n,)."""
    met = units.counts.any(axis=2)
    number, label = scipy.sparse.csgraph.connected_components(met, directed=False)
    return int(number), label


def _rate(units: PairUnits, replicates: int, seed: int, anchor: int | None) -> Ratings:
    counts = units.counts
    layers = Layers(counts @ SHARES, units.number)
    inside, by_colour, fitted = _fit_blocks(units, layers)
    elo, even = (layers.placed(inside, chance) for chance in (ONE_SIDED, _EVEN))
    sample = _replicates(units.among(layers.rated, by_colour), fitted, replicates, seed)
    compared = sample
    if any(layers.bound):
        whole = units.among(np.ones(len(counts), dtype=bool), by_colour=False)
        compared = _replicates(whole, np.append(even, 0), replicates, seed, _LEAST)
    if anchor is not None and layers.bound[anchor]:
        anchor = None
    elo, low, high, advantage = _with_intervals(
        ELO * elo, units, layers.rated, fitted, sample, anchor
    )
    return Ratings(
        elo=elo,
        low=low,
        high=high,
        bound=layers.bound,
        split=counts.sum(axis=(1, 2)) == counts[:, :, OUTCOMES // 2].sum(axis=1),
        order=np.argsort(-np.round(even, 9), kind="stable"),  # not by a last digit
        superiority=_superiority(compared[:, :-1], units.number),
        strategy=np.arange(len(counts)),
        anchor=anchor,
        advantage=advantage if by_colour else None,
    )


def _of_agents(ratings: Ratings, strategy: IntArray, anchor: int | None) -> Ratings:
    """Return the ratings of agents from those of their strategies."""
    superiority = ratings.superiority[np.ix_(strategy, strategy)]
    same = strategy[:, None] == strategy
    superiority[same] = 0.5
    np.fill_diagonal(superiority, np.nan)
    return Ratings(
        elo=ratings.elo[strategy],
        low=ratings.low[strategy],
        high=ratings.high[strategy],
        bound=tuple(ratings.bound[number] for number in strategy),
        split=ratings.split[strategy],
        order=np.argsort(np.argsort(ratings.order)[strategy], kind="stable"),
        superiority=superiority,
        strategy=strategy,
        anchor=None if ratings.anchor is None else anchor,
        advantage=ratings.advantage,
    )


def _fit_blocks(units: PairUnits, layers: Layers) -> tuple[FloatArray, bool, FloatArray]:
    """Return the maximum likelihood within each block of n agents, k of them rated; natural units.

    Returns all ratings within their own blocks, shape (n,); True if Black's advantage was fitted
    too; and the fit of the rated agents, their ratings and the advantage, shape (k + 1,).
    """
    counts = units.counts
    inside = np.zeros(len(counts))
    for members in layers.blocks():
        inside[members] = bradley_terry.fit_block(counts[np.ix_(members, members)])[:-1]
    rated = layers.rated
    among = units.cells[np.ix_(rated, rated)]
    if units.by_colour and rated.sum() > 1 and bradley_terry.advantage_is_finite(among):
        fitted = bradley_terry.fit_block(among)
        inside[rated] = fitted[:-1]
        return inside, True, fitted
    return inside, False, np.append(inside[rated], 0)


def _with_intervals(
    elo: FloatArray,
    units: PairUnits,
    rated: BoolArray,
    fitted: FloatArray,
    sample: FloatArray,
    anchor: int | None,
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[float, float, float]]:
    """Elo with the anchor at 0, the ends of its intervals, and Black's advantage between its ends.

    elo: shape (n,). fitted, sample: of the rated agents and Black's advantage, by maximum
    likelihood and in the bootstrap, natural units.
    """
    if anchor is not None:
        elo = elo - elo[anchor]
        column = int(rated[:anchor].sum())
        sample = np.hstack([sample[:, :-1] - sample[:, [column]], sample[:, -1:]])
        fitted = np.append(fitted[:-1] - fitted[column], fitted[-1])
    if rated.sum() < 2:
        return elo, elo.copy(), elo.copy(), (0.0, 0.0, 0.0)  # the one rated agent is the scale's 0
    among = units.among(rated, by_colour=False)
    seen = np.append(among.number, among.total)
    ends = bootstrap_intervals(sample, fitted, seen + (seen > 1))  # and one imagined
    lowest, highest = (ELO * end for end in ends)
    low, high = elo.copy(), elo.copy()
    low[rated] = np.minimum(elo[rated], lowest[:-1])
    high[rated] = np.maximum(elo[rated], highest[:-1])
    return elo, low, high, (lowest[-1], ELO * fitted[-1], highest[-1])


def _replicates(
    units: PairUnits, fitted: FloatArray, replicates: int, seed: int, least: float = 0
) -> FloatArray:
    """Return the bootstrap's ratings of k agents and Black's advantage, natural units, shape
    (replicates, k + 1).

    fitted: shape (k + 1,), the fit. least: weight added to a win and to a loss in each pairing, to
    keep ratings finite.
    """
    if len(units.cells) < 2:
        return np.zeros((replicates, len(fitted)))
    rng = np.random.default_rng(seed)
    first, second = bradley_terry.pairings(units.cells)
    scored, met, times = units.scored()
    imagined = _imagined(units, fitted[first] - fitted[second])
    batch = max(1, _CELLS // max(len(times), scored.shape[1], len(units.cells) ** 2))
    rows = []
    for begin in range(0, replicates, batch):
        size = min(batch, replicates - begin)
        weight = rng.standard_gamma(times, size=(size, len(times)))
        further = rng.standard_gamma(imagined, size=(size, *imagined.shape)) + least
        lost, won = further[..., 0], further[..., 1]
        points = (weight @ scored).reshape(size, -1, len(first)) + won[:, None]
        games = (weight @ met + won + lost)[:, None]
        start = np.broadcast_to(fitted, (size, len(fitted)))
        rows.append(bradley_terry.fit(points, games, first, second, start))
    return np.concatenate(rows)


def _imagined(units: PairUnits, difference: FloatArray) -> FloatArray:
    """Return Gamma shapes of the weight of the imagined pairs that each pairing's first agent lost
    and won outright, shape (pairings, 2).

    They are half as many as one opening has, and one for each of the free ratings at least, shared
    among the pairings by their size; the odds are those expected at the fitted ``difference``
    (natural units). In simulated pools this is just cautious enough.
    """
    first, second = bradley_terry.pairings(units.cells)
    pairs = units.counts[first, second].sum(axis=1)
    number = max(0.5 * pairs.sum() / units.total, len(units.cells) - 1)
    odds = scipy.special.expit(np.stack([-difference, difference], axis=1))
    return np.asarray(number * (pairs / pairs.sum())[:, None] * odds)


def _superiority(sample: FloatArray, openings: IntArray) -> FloatArray:
    """Return the probability that each row agent is above each column agent, as sure as the
    openings allow.

    sample: shape (replicates, n). openings: shape (n,), number of openings of each agent.
    """
    above = (sample[:, :, None] > sample[:, None, :]).mean(axis=0)
    equal = (sample[:, :, None] == sample[:, None, :]).mean(axis=0)
    size = len(sample)
    normal = scipy.special.ndtri(((above + equal / 2) * size + 0.5) / (size + 1))
    number = np.minimum(openings[:, None], openings).astype(float)
    free = np.where(number > 1, number - 1, np.nan)
    share = scipy.special.stdtr(free, normal * np.sqrt(free / (free + 2)))
    np.fill_diagonal(share, np.nan)
    return np.asarray(share)
