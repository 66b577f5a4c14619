"""Ratings from counts: who is better, by how much, and how sure that is.

The unit of everything here is the **pair**: two games from one opening with colours swapped. A pool
of n agents is an integer array ``pairs`` of shape (n, n, 5): ``pairs[i, j, k]`` pairs between the
agents i and j gave i a total of k/2 points of 2 (LL, LD, DD+WL, WD, WW as i sees them), so
``pairs[j, i]`` is ``pairs[i, j]`` backwards and the diagonal is 0.

**Elo** is the Bradley-Terry model fitted to the whole pool by maximum likelihood: agent i expects
1 / (1 + 10^((r_j - r_i) / 400)) points a game against agent j, a draw is half a win, and the mean
of the rated agents is 0 (Bradley & Terry 1952, Biometrika 39; Hunter 2004, Annals of Statistics
32).

**Intervals** are 95 % intervals from a Bayesian bootstrap over pairs (Rubin 1981, Annals of
Statistics 9): in each replicate every pair weighs Exp(1) instead of 1, and the pool is rated again.
Drawing weights rather than pairs has two merits. Nobody becomes perfect by chance, so every
replicate has finite ratings; and a pairing of one or two pairs, which a resampling within the
pairing would repeat for ever, still shows its uncertainty. Three corrections make it hold for few
pairs and for wide pools; ``tests/experiments/statistics/test_pool.py`` says how much is gained:

- A sample of alike pairs knows nothing of the outcomes it missed. One imagined pair for each free
  rating, won or lost outright by the odds of the fitted ratings, joins each replicate: it moves no
  rating on average, and 100 evenly split pairs give a narrow interval instead of none.
- The quantiles are taken further out, so that a mean of N normal values would get Student's
  interval (the expanded percentile interval of Hesterberg 2015, The American Statistician 69); N
  is the number of pairs the agent played.
- They are shifted by twice the bootstrap's median bias (the bias-corrected interval of Efron 1981,
  Canadian Journal of Statistics 9): maximum likelihood spreads a wide pool a little too far.

**Bounds**: an agent that won everything, or lost everything, has no finite rating. The others are
rated as if it had not been there, and it gets the rating at which so perfect a record has a
probability of 5 %; see :class:`Ratings` and :mod:`experiments.statistics.bounds`.

>>> pairs = np.zeros((2, 2, 5), dtype=int)
>>> pairs[0, 1] = 5, 0, 40, 0, 55  # the first agent lost 5 pairs, split 40, won 55
>>> pairs[1, 0] = pairs[0, 1, ::-1]
>>> ratings = rate(pairs)
>>> ratings.elo.round(1)  # 75 % of the points: a difference of 400 log10(0.75 / 0.25) = 190.8
array([ 95.4, -95.4])
>>> bool(ratings.low[0] > 0)
True
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from experiments.statistics.bounds import Layers
from experiments.statistics.bradley_terry import (
    advantage_is_finite,
    fit,
    fit_block,
    pairings,
    points_and_games,
)
from experiments.statistics.elo import ELO
from experiments.statistics.intervals import ONE_SIDED, bootstrap_intervals
from experiments.statistics.pairs import OUTCOMES, SHARES, BoolArray, FloatArray, IntArray

_EVEN = 0.5**0.5  # even chances, in games: the two games of a pair have 0.5 = _EVEN ** 2
_LEAST = 0.01  # pairs won and lost in each pairing where perfect records join the bootstrap
_CELLS = 1_000_000  # most matrix cells in one batch of replicates: 8 MB an array


@dataclass(frozen=True, eq=False)
class Ratings:
    """What :func:`rate` says of n agents. Elo points; all arrays have shape (n,).

    elo: the rating; the mean of the agents without a bound is 0 (of all, if all have one).
    low, high: the ends of the 95 % interval, low <= elo <= high.
    bound: "" for a rating; ">" or "<" for an agent whose record allows none, because it, or the
        group within which alone it shared points, won ">" or lost "<" everything. ``elo`` is then
        a one-sided 95 % limit and ``low = high = elo``: write "> +620", not "+620 ± 0".
        The limit solves prod_j P(r - r_j)^m_j = 0.05 for r, over the rated opponents j, each met
        in m_j pairs, where P is the expected score and r_j is taken as given. Winning a whole pair
        is at most as probable as P however the two games depend on each other, so the limit is on
        the safe side; against one opponent it is Clopper and Pearson's, P = 0.05^(1/m). With fewer
        than five pairs it lies below the opponents' rating: so few wins prove nothing.
    split: whether every pair the agent played was split evenly: two equals, or two players so
        alike that every opening gives the same game twice; the games can't tell which.
    order: the agents' indices, best first. As ``elo`` sorts them, but an agent with a bound is
        sorted by the rating at which its perfect record in games had even chances.
    superiority: shape (n, n): the share of the bootstrap's replicates in which the row agent is
        rated above the column agent; nan on the diagonal. Where an agent has a bound, the whole
        pool is bootstrapped for this, the agent beginning where ``order`` puts it: one pair won
        does not become a certainty.
    anchor: the agent whose rating is 0 in place of the mean; None where none was asked for, or
        where the one asked for has a bound and so no rating to hold on to.
    advantage: Black's advantage as (low, best, high): playing Black against White is worth so many
        Elo points. None unless asked for, or where the games can't tell (Black won them all).
    """

    elo: FloatArray
    low: FloatArray
    high: FloatArray
    bound: tuple[str, ...]
    split: BoolArray
    order: IntArray
    superiority: FloatArray
    anchor: int | None = None
    advantage: tuple[float, float, float] | None = None


def pentanomial(by_colour: IntArray) -> IntArray:
    """Counts of pairs as :func:`rate` takes them: (n, n, 3, 3), by colour, as (n, n, 5)."""
    half_points = np.add.outer(np.arange(3), np.arange(3))
    return np.stack([by_colour[:, :, half_points == k].sum(axis=2) for k in range(OUTCOMES)], 2)


def score_matrix(pairs: ArrayLike) -> FloatArray:
    """The share of points of the row agent against the column agent, shape (n, n), 0 to 1; nan
    where the two did not meet. Raises ValueError as :func:`rate` does, save that the pool need not
    be connected."""
    counts, _ = _checked(pairs)
    met = counts.sum(axis=2).astype(float)
    met[met == 0] = np.nan
    return np.asarray(counts @ SHARES / met)


def rate(
    pairs: ArrayLike, replicates: int = 1000, seed: int = 0, *, anchor: int | None = None
) -> Ratings:
    """Rate the pool; the module's text says how.

    pairs: shape (n, n, 5), n >= 2, counts of pairs; everybody comparable with everybody, if only
        through others. Or shape (n, n, 3, 3), to fit Black's advantage together with the ratings:
        ``pairs[i, j, b, w]`` pairs in which i scored b/2 with Black and w/2 with White against j.
    replicates: of the bootstrap, at least 100; 1,000 for 20 agents take 0.2 s.
    seed: of the bootstrap's random generator; the same seed gives the same intervals.
    anchor: the agent to be rated 0 instead of the pool's mean. Intervals are then those of the
        differences from it.

    Raises ValueError if the array is no such table of counts, if the pool falls into parts that
    never met (:func:`rate_pools` takes those), or if there is no such anchor.
    """
    counts, by_colour = _checked(pairs)
    _check_request(counts, replicates, anchor)
    layers = Layers(counts @ SHARES)
    inside, cells, fitted = _fit_blocks(counts, by_colour, layers)
    elo, even = (layers.placed(inside, chance) for chance in (ONE_SIDED, _EVEN))
    sample = _replicates(cells, fitted, replicates, seed)
    compared = sample
    if any(layers.bound):
        compared = _replicates(counts, np.append(even, 0), replicates, seed, _LEAST)
    if anchor is not None and layers.bound[anchor]:
        anchor = None
    elo, low, high, advantage = _with_intervals(
        ELO * elo, counts, layers.rated, fitted, sample, anchor
    )
    return Ratings(
        elo=elo,
        low=low,
        high=high,
        bound=layers.bound,
        split=counts.sum(axis=(1, 2)) == counts[:, :, OUTCOMES // 2].sum(axis=1),
        order=np.argsort(-even, kind="stable"),
        superiority=_superiority(compared[:, :-1]),
        anchor=anchor,
        advantage=None if cells.shape[2] == OUTCOMES else advantage,
    )


def rate_pools(
    pairs: ArrayLike, replicates: int = 1000, seed: int = 0, *, anchor: int | None = None
) -> list[tuple[IntArray, Ratings]]:
    """Rate each part of a pool whose parts never met, as :func:`rate` does.

    Returns, the largest part first, its agents' indices in ascending order and their ratings, in
    which agents count from 0 and 0 Elo is the mean of the part, or the anchor if it is one of them.
    An agent that met nobody is in no part.
    """
    table = np.asarray(pairs)
    label = connected_components(_checked(table)[0].any(axis=2), directed=False)[1]
    rated = []
    for part in np.argsort(-np.bincount(label), kind="stable"):
        members = np.flatnonzero(label == part)
        if len(members) > 1:
            places = {agent: place for place, agent in enumerate(members.tolist())}
            held = None if anchor is None else places.get(anchor)
            among = table[np.ix_(members, members)]
            rated.append((members, rate(among, replicates, seed, anchor=held)))
    return rated


# ------------------------------------------------------------------ what may be asked


def _checked(pairs: ArrayLike) -> tuple[IntArray, IntArray | None]:
    """The counts, shape (n, n, 5), and if they are told apart by colour the cells, shape
    (n, n, 9); ValueError."""
    table = np.asarray(pairs)
    agents = len(table) if table.ndim else 0
    if table.shape not in ((agents, agents, OUTCOMES), (agents, agents, 3, 3)):
        raise ValueError(
            f"pairs has shape {table.shape}; (n, n, {OUTCOMES}) or (n, n, 3, 3) is needed"
        )
    if not np.issubdtype(table.dtype, np.integer):
        raise ValueError(f"pairs holds {table.dtype}; whole numbers are needed")
    table = table.astype(np.int64)
    if (table < 0).any():
        raise ValueError("pairs holds a negative count")
    by_colour = table.ndim == 4
    cells = table.reshape(agents, agents, 9 if by_colour else OUTCOMES)
    if cells[np.arange(agents), np.arange(agents)].any():
        raise ValueError("pairs has an agent meeting itself: the diagonal must be 0")
    others_view = (table.swapaxes(2, 3) if by_colour else table).reshape(cells.shape)[:, :, ::-1]
    different = (cells != others_view.swapaxes(0, 1)).any(axis=2)
    if different.any():
        i, j = np.argwhere(different)[0]
        raise ValueError(f"pairs[{j}, {i}] is not pairs[{i}, {j}] backwards")
    return (pentanomial(table), cells) if by_colour else (table, None)


def _check_request(counts: IntArray, replicates: int, anchor: int | None) -> None:
    """ValueError unless :func:`rate` can do what it is asked for."""
    if replicates < 100:
        raise ValueError(f"replicates {replicates}: at least 100 are needed")
    if anchor is not None and not 0 <= anchor < len(counts):
        raise ValueError(f"anchor {anchor}: an agent, 0 to {len(counts) - 1}, is needed")
    if len(counts) < 2:
        raise ValueError(f"a pool of {len(counts)} agents: at least 2 are needed")
    parts, label = connected_components(counts.any(axis=2), directed=False)
    if parts > 1:
        groups = [", ".join(map(str, np.flatnonzero(label == part))) for part in range(parts)]
        raise ValueError(
            f"the pool is not connected, so its ratings can't be compared: {parts} parts never met,"
            f" agents {' | '.join(groups)}"
        )


# ------------------------------------------------------------------ maximum likelihood


def _fit_blocks(
    counts: IntArray, by_colour: IntArray | None, layers: Layers
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Maximum likelihood within each block of n agents of whom k are rated; natural units.

    Returns all ratings within their own blocks, shape (n,); the cells of the rated agents, told
    apart by colour only where Black's advantage was fitted; and what was fitted to them, their
    ratings and the advantage, shape (k + 1,).
    """
    inside = np.zeros(len(counts))
    for members in layers.blocks():
        inside[members] = fit_block(counts[np.ix_(members, members)])[:-1]
    rated = layers.rated
    among = np.ix_(rated, rated)
    if by_colour is not None and rated.sum() > 1 and advantage_is_finite(by_colour[among]):
        fitted = fit_block(by_colour[among])
        inside[rated] = fitted[:-1]
        return inside, by_colour[among], fitted
    return inside, counts[among], np.append(inside[rated], 0)


def _with_intervals(
    elo: FloatArray,
    counts: IntArray,
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
        place = int(rated[:anchor].sum())
        sample = np.hstack([sample[:, :-1] - sample[:, [place]], sample[:, -1:]])
        fitted = np.append(fitted[:-1] - fitted[place], fitted[-1])
    played = counts[np.ix_(rated, rated)].sum(axis=(1, 2))
    ends = bootstrap_intervals(sample, fitted, np.append(played, played.sum() // 2))
    lowest, highest = (ELO * end for end in ends)
    low, high = elo.copy(), elo.copy()
    low[rated] = np.minimum(elo[rated], lowest[:-1])
    high[rated] = np.maximum(elo[rated], highest[:-1])
    return elo, low, high, (lowest[-1], ELO * fitted[-1], highest[-1])


# ------------------------------------------------------------------ the bootstrap


def _replicates(
    cells: IntArray, fitted: FloatArray, replicates: int, seed: int, least: float = 0
) -> FloatArray:
    """The bootstrap's ratings of k agents and Black's advantage, natural units, shape
    (replicates, k + 1).

    cells: see :mod:`experiments.statistics.bradley_terry`. fitted: shape (k + 1,), what was fitted.
    least: weight added to a win and to a loss in each pairing, which keeps ratings finite where the
        cells don't.
    """
    if len(cells) < 2:
        return np.zeros((replicates, len(fitted)))
    rng = np.random.default_rng(seed)
    first, second = pairings(cells)
    shape = _weights_shape(cells[first, second], fitted[first] - fitted[second], len(cells))
    batch = max(1, _CELLS // max(shape.size, len(cells) ** 2))
    rows = []
    for begin in range(0, replicates, batch):
        size = min(batch, replicates - begin)
        weight = rng.standard_gamma(shape, size=(size, *shape.shape))
        weight[:, :, [0, -1]] += least
        start = np.broadcast_to(fitted, (size, len(fitted)))
        rows.append(fit(*points_and_games(weight), first, second, start))
    return np.concatenate(rows)


def _superiority(sample: FloatArray) -> FloatArray:
    """How often each row agent is above each column agent; from shape (replicates, n)."""
    above = (sample[:, :, None] > sample[:, None, :]).mean(axis=0)
    equal = (sample[:, :, None] == sample[:, None, :]).mean(axis=0)
    share = above + equal / 2
    np.fill_diagonal(share, np.nan)
    return np.asarray(share)


def _weights_shape(played: IntArray, difference: FloatArray, agents: int) -> FloatArray:
    """Gamma shapes of the total weight of each pairing's outcomes, shape (pairings, outcomes).

    The weights of m pairs, each Exp(1), sum to Gamma(m). One imagined pair for each of the
    ``agents - 1`` free ratings is shared among the pairings by their size, as wins and losses
    whose odds are those expected at the fitted ``difference`` (natural units).
    """
    shape = played.astype(float)
    total = shape.sum(axis=1)
    imagined = total * (agents - 1) / total.sum()
    shape[:, 0] += imagined * expit(-difference)
    shape[:, -1] += imagined * expit(difference)
    return shape
