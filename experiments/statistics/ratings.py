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
pairs and for wide pools; ``tests/experiments/test_ratings.py`` says how much is gained:

- A sample of alike pairs knows nothing of the outcomes it missed. One imagined pair for each free
  rating, won or lost outright by the odds of the fitted ratings, joins each replicate: it moves no
  rating on average, and 100 evenly split pairs give a narrow interval instead of none.
- The quantiles are taken further out, so that a mean of N normal values would get Student's
  interval (the expanded percentile interval of Hesterberg 2015, The American Statistician 69); N
  is the number of pairs the agent played.
- They are shifted by twice the bootstrap's median bias (the bias-corrected interval of Efron 1981,
  Canadian Journal of Statistics 9): maximum likelihood spreads a wide pool a little too far.

**Bounds**: an agent that won everything, or lost everything, has no finite rating. It is set aside
(and then those that became perfect without it, and so on), the others are rated as if it had not
been there, and it gets the rating at which so perfect a record has a probability of 5 %; see
:class:`Ratings`.

**One match** has statistics of its own, from its five counts alone: :func:`match_statistics`.

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

import math
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, linprog
from scipy.sparse.csgraph import connected_components
from scipy.special import betaincinv, expit, log_expit, ndtr, ndtri, stdtrit

from experiments.statistics.sequential import NELO

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

OUTCOMES = 5
"""Results of a pair: 0, 1/2, 1, 3/2 or 2 points of 2."""

ELO = 400 / math.log(10)
"""Elo points in one natural unit: ratings are fitted as logits and scaled by this at the end."""

_SHARE = np.arange(OUTCOMES) / (OUTCOMES - 1)  # share of a pair's two points, by outcome
_BY_COLOUR = np.array([np.repeat(_SHARE[::2], 3), np.tile(_SHARE[::2], 3)])  # points b/2, w/2
_PERFECT = 0.05  # a bound: the rating at which a perfect record is this probable
_EVEN = 0.5**0.5  # even chances, in games: the two games of a pair have 0.5 = _EVEN ** 2
_NOBODY = -1  # in place of a block, where there is no core
_INSIDE = 0.975  # probability below the upper end of an interval
_SIGMAS = float(ndtri(_INSIDE))  # 1.96
_LEAST = 0.01  # pairs won and lost in each pairing where perfect records join the bootstrap
_LONGEST_STEP = 0.75  # natural units; see _fit
_ITERATIONS = 500  # of Newton's method; around 6 are needed, many more for absurdly uneven pools
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
        in m_j pairs, where P is :func:`expected_score` and r_j is taken as given. Winning a whole
        pair is at most as probable as P however the two games depend on each other, so the limit
        is on the safe side; against one opponent it is Clopper and Pearson's, P = 0.05^(1/m). With
        fewer than five pairs it lies below the opponents' rating: so few wins prove nothing.
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


@overload
def expected_score(difference: float) -> float: ...
@overload
def expected_score(difference: FloatArray) -> FloatArray: ...
def expected_score(difference: float | FloatArray) -> float | FloatArray:
    """The share of points expected by an agent rated ``difference`` Elo above its opponent.

    1 / (1 + 10^(-difference / 400)), 0 to 1; a number or an array of any shape.

    >>> round(expected_score(200), 3)
    0.76
    """
    share = expit(np.asarray(difference, dtype=float) / ELO)
    return share if np.ndim(difference) else float(share)


@overload
def elo_of_score(score: float) -> float: ...
@overload
def elo_of_score(score: FloatArray) -> FloatArray: ...
def elo_of_score(score: float | FloatArray) -> float | FloatArray:
    """The Elo difference at which ``score`` is the expected share of points.

    400 log10(score / (1 - score)), the inverse of :func:`expected_score`; a number or an array of
    any shape. Raises ValueError unless 0 < score < 1: a perfect score has no rating, only a bound.

    >>> round(elo_of_score(0.75), 1)
    190.8
    """
    share = np.asarray(score, dtype=float)
    if not np.all((share > 0) & (share < 1)):
        raise ValueError(f"score {score}: more than 0 and less than 1 is needed")
    difference = ELO * (np.log(share) - np.log1p(-share))
    return difference if np.ndim(score) else float(difference)


def pentanomial(by_colour: IntArray) -> IntArray:
    """The counts of pairs, shape (n, n, 5), of pairs told apart by colour, shape (n, n, 3, 3); see
    :func:`rate`."""
    half_points = np.add.outer(np.arange(3), np.arange(3))
    return np.stack([by_colour[:, :, half_points == k].sum(axis=2) for k in range(OUTCOMES)], 2)


def score_matrix(pairs: ArrayLike) -> FloatArray:
    """The share of points of the row agent against the column agent, shape (n, n), 0 to 1.

    nan where the two did not meet, so on the diagonal too. Raises ValueError as :func:`rate` does,
    except that the pool need not be connected.
    """
    counts = _checked(pairs)
    met = counts.sum(axis=2).astype(float)
    met[met == 0] = np.nan
    return np.asarray(counts @ _SHARE / met)


def rate(
    pairs: ArrayLike,
    replicates: int = 1000,
    seed: int = 0,
    *,
    anchor: int | None = None,
    by_colour: ArrayLike | None = None,
) -> Ratings:
    """Rate the pool; the module's text says how.

    pairs: shape (n, n, 5), n >= 2, counts of pairs; everybody comparable with everybody, if only
        through others.
    replicates: of the bootstrap, at least 100; 1,000 for 20 agents take 0.2 s.
    seed: of the bootstrap's random generator; the same seed gives the same intervals.
    anchor: the agent to be rated 0 instead of the pool's mean. Intervals are then those of the
        differences from it.
    by_colour: the same pairs told apart by colour, to fit Black's advantage together with the
        ratings: shape (n, n, 3, 3), ``by_colour[i, j, b, w]`` pairs in which i scored b/2 with
        Black and w/2 with White against j.

    Raises ValueError if an array is no such table of counts, if the two disagree, if the pool falls
    into parts that never met (:func:`rate_pools` takes those), or if there is no such anchor.
    """
    counts = _checked(pairs)
    if replicates < 100:
        raise ValueError(f"replicates {replicates}: at least 100 are needed")
    if anchor is not None and not 0 <= anchor < len(counts):
        raise ValueError(f"anchor {anchor}: an agent, 0 to {len(counts) - 1}, is needed")
    told_apart = None if by_colour is None else _checked_by_colour(by_colour, counts)
    _check_connected(counts)
    points = counts @ _SHARE
    label = connected_components(points > 0, directed=True, connection="strong")[1]
    layers = _Layers(points, label)
    rated = np.array([not bound for bound in layers.bound])
    among = np.ix_(rated, rated)

    inside = np.zeros(len(points))  # natural units, within each agent's own block
    for block in range(label.max() + 1):
        members = np.flatnonzero(label == block)
        inside[members] = _fit_block(counts[np.ix_(members, members)])[:-1]
    core = counts[among]
    fitted = np.append(inside[rated], 0)  # the last: Black's advantage
    colours = told_apart is not None and rated.sum() > 1 and _colours_can_tell(told_apart[among])
    if told_apart is not None and colours:
        core = told_apart[among].reshape(*core.shape[:2], 9)
        fitted = _fit_block(core)
        inside[rated] = fitted[:-1]
    elo = ELO * layers.placed(inside, _PERFECT)
    even = layers.placed(inside, _EVEN)

    sample = np.zeros((replicates, len(fitted)))
    if rated.sum() > 1:
        sample = _replicates(core, fitted, replicates, seed)
    if rated.all():
        superiority = _superiority(sample[:, :-1])
    else:
        whole = _replicates(counts, np.append(even, 0), replicates, seed, _LEAST)
        superiority = _superiority(whole[:, :-1])
    if anchor is not None and not rated[anchor]:
        anchor = None
    if anchor is not None:
        elo = elo - elo[anchor]
        place = int(rated[:anchor].sum())
        sample[:, :-1] -= sample[:, [place]]
        fitted[:-1] -= fitted[place]
    played = np.append(counts[among].sum(axis=(1, 2)), counts[among].sum() // 2)
    lowest, highest = (ELO * ends for ends in _intervals(sample, fitted, played))
    low, high = elo.copy(), elo.copy()
    low[rated] = np.minimum(elo[rated], lowest[:-1])
    high[rated] = np.maximum(elo[rated], highest[:-1])
    return Ratings(
        elo=elo,
        low=low,
        high=high,
        bound=layers.bound,
        split=counts.sum(axis=(1, 2)) == counts[:, :, OUTCOMES // 2].sum(axis=1),
        order=np.argsort(-even, kind="stable"),
        superiority=superiority,
        anchor=anchor,
        advantage=(lowest[-1], ELO * fitted[-1], highest[-1]) if colours else None,
    )


def rate_pools(
    pairs: ArrayLike,
    replicates: int = 1000,
    seed: int = 0,
    *,
    anchor: int | None = None,
    by_colour: ArrayLike | None = None,
) -> list[tuple[IntArray, Ratings]]:
    """Rate each part of a pool whose parts never met, as :func:`rate` does.

    Returns, the largest part first, its agents' indices in ascending order and their ratings, in
    which agents count from 0 and 0 Elo is the mean of the part, or the anchor if it is one of them.
    An agent that met nobody is in no part.
    """
    counts = _checked(pairs)
    told_apart = None if by_colour is None else _checked_by_colour(by_colour, counts)
    label = connected_components(counts.any(axis=2), directed=False)[1]
    rated = []
    for part in np.argsort(-np.bincount(label), kind="stable"):
        members = np.flatnonzero(label == part)
        if len(members) > 1:
            among = np.ix_(members, members)
            inside = (
                None if anchor is None or anchor not in members else members.tolist().index(anchor)
            )
            rated.append(
                (
                    members,
                    rate(
                        counts[among],
                        replicates,
                        seed,
                        anchor=inside,
                        by_colour=None if told_apart is None else told_apart[among],
                    ),
                )
            )
    return rated


# ------------------------------------------------------------------ one match


@dataclass(frozen=True)
class MatchStatistics:
    """What :func:`match_statistics` says of a match, as its first agent sees it.

    pairs: how many there are. score: share of points, 0 to 1; nan without pairs.
    elo, elo_margin: Elo difference and half the width of its 95 % interval. With a ``bound``, ">"
        or "<", ``elo`` is a one-sided 95 % limit and the margin nan.
    nelo, nelo_margin: normalised Elo, the same.
    los: likelihood of superiority, 0 to 1. These three are nan where there is only a bound.
    split: every pair was shared, so that nothing is known of who is better.
    """

    pairs: int
    score: float
    elo: float
    elo_margin: float
    nelo: float
    nelo_margin: float
    los: float
    bound: str
    split: bool

    @property
    def elo_text(self) -> str:
        """``+12 ± 8``, ``> +620``, ``every pair split``, or a dash without pairs."""
        if self.split:
            return "every pair split"
        if self.bound:
            return f"{self.bound} {self.elo:+.0f}"
        return _plus_minus(self.elo, self.elo_margin)

    @property
    def nelo_text(self) -> str:
        """``+20 ± 14``, or a dash."""
        return _plus_minus(self.nelo, self.nelo_margin)

    @property
    def los_text(self) -> str:
        """``97.5 %``, never 0 or 100 %; or a dash."""
        if math.isnan(self.los):
            return "-"
        if not 0.0005 < self.los < 0.9995:
            return "> 99.9 %" if self.los > 0.5 else "< 0.1 %"
        return f"{100 * self.los:.1f} %"


def _plus_minus(value: float, margin: float) -> str:
    return "-" if math.isnan(value) else f"{value:+z.0f} ± {margin:.0f}"


def interval_text(value: float, low: float, high: float) -> str:
    """A value and its interval, which need not lie evenly around it.

    >>> interval_text(91.2, -62.4, 336.3), interval_text(-0.2, -44, 43.6)
    ('+91 [-62, 336]', '+0 [-44, 44]')
    """
    return f"{value:+z.0f} [{low:z.0f}, {high:z.0f}]"


def match_statistics(counts: ArrayLike) -> MatchStatistics:
    """Elo, normalised Elo and likelihood of superiority of one match.

    counts: shape (5,), the number of pairs of which the first agent took 0 to 4 half points.

    With s the mean and v the variance of the pairs' shares of points, n pairs and
    e = 1.96 sqrt(v / n):

    - Elo = 400 log10(s / (1 - s)); margin: half of Elo(s + e) - Elo(s - e).
    - nElo = 800 / ln 10 * t / sqrt(2), t = (s - 1/2) / sqrt(v). Its margin is Student's quantile
      times the standard error, n var(t) = 1 - g t + (k - 1) t^2 / 4 with g the skewness and k the
      kurtosis of the shares (Mertens 2002, for the Sharpe ratio, which t is). The 1.96 / sqrt(n)
      that match runners print for t takes v for known: 400 Elo apart it holds the truth in 44 % of
      matches of 100 pairs, this one in 95 % (``benchmarks/validity.py``).
    - LOS = Phi((s - 1/2) / sqrt(v / n)).
    - Where v = 0 or s +- e is not within (0, 1), a bound: Clopper and Pearson's one-sided 95 %
      limit for ns points of n. It treats a pair's share as if the pair had been won or lost with
      that probability, which is more variable, so the bound is on the safe side.

    Raises ValueError for another shape, or counts that are negative or not whole.

    >>> match_statistics([10, 20, 100, 30, 40]).elo_text
    '+61 ± 26'
    >>> match_statistics([0, 0, 0, 0, 100]).elo_text
    '> +607'
    """
    seen = np.asarray(counts)
    whole = np.issubdtype(seen.dtype, np.integer)
    if seen.shape != (OUTCOMES,) or not whole or (seen < 0).any():
        raise ValueError(
            f"counts {seen.tolist()}: {OUTCOMES} numbers of pairs, LL to WW, are needed"
        )
    nan = math.nan
    pairs = int(seen.sum())
    if not pairs:
        return MatchStatistics(0, nan, nan, nan, nan, nan, nan, "", False)
    share = seen / pairs
    score = float(share @ _SHARE)
    away = _SHARE - score
    deviation = math.sqrt(share @ away**2)
    error = deviation / math.sqrt(pairs)
    reach = _SIGMAS * error
    if seen[OUTCOMES // 2] == pairs:
        return MatchStatistics(pairs, score, 0.0, nan, nan, nan, nan, "", True)
    if np.count_nonzero(seen) == 1 or not (score - reach > 0 and score + reach < 1):
        bound, points = (">", pairs * score) if score >= 0.5 else ("<", pairs * (1 - score))
        least = float(betaincinv(points, pairs - points + 1, _PERFECT))
        limit = elo_of_score(least if bound == ">" else 1 - least)
        return MatchStatistics(pairs, score, limit, nan, nan, nan, nan, bound, False)
    t = (score - 0.5) / deviation
    skewness, kurtosis = (float(share @ (away / deviation) ** power) for power in (3, 4))
    spread = math.sqrt((1 - skewness * t + (kurtosis - 1) * t * t / 4) / pairs)
    return MatchStatistics(
        pairs,
        score,
        elo_of_score(score),
        (elo_of_score(score + reach) - elo_of_score(score - reach)) / 2,
        NELO / math.sqrt(2) * t,
        NELO / math.sqrt(2) * float(stdtrit(pairs - 1, _INSIDE)) * spread,
        float(ndtr((score - 0.5) / error)),
        "",
        False,
    )


# ------------------------------------------------------------------ what may be asked


def _checked(pairs: ArrayLike) -> IntArray:
    """The counts as an int64 array; ValueError naming what is wrong with them."""
    counts = np.asarray(pairs)
    if counts.ndim != 3 or counts.shape[0] != counts.shape[1] or counts.shape[2] != OUTCOMES:
        raise ValueError(f"pairs has shape {counts.shape}; (n, n, {OUTCOMES}) is needed")
    if not np.issubdtype(counts.dtype, np.integer):
        raise ValueError(f"pairs holds {counts.dtype}; whole numbers are needed")
    counts = counts.astype(np.int64)
    if (counts < 0).any():
        raise ValueError("pairs holds a negative count")
    if counts[np.arange(len(counts)), np.arange(len(counts))].any():
        raise ValueError("pairs has an agent meeting itself: the diagonal must be 0")
    different = (counts != counts.transpose(1, 0, 2)[:, :, ::-1]).any(axis=2)
    if different.any():
        i, j = np.argwhere(different)[0]
        raise ValueError(f"pairs[{j}, {i}] is not pairs[{i}, {j}] backwards")
    return counts


def _checked_by_colour(by_colour: ArrayLike, counts: IntArray) -> IntArray:
    """The pairs told apart by colour as an int64 array; ValueError unless ``counts`` are theirs."""
    told_apart = np.asarray(by_colour)
    wanted = (*counts.shape[:2], 3, 3)
    if told_apart.shape != wanted or not np.issubdtype(told_apart.dtype, np.integer):
        raise ValueError(
            f"by_colour has shape {told_apart.shape} of {told_apart.dtype}; whole numbers of shape "
            f"{wanted} are needed"
        )
    told_apart = told_apart.astype(np.int64)
    backwards = told_apart.transpose(1, 0, 3, 2)[:, :, ::-1, ::-1]
    agree = (pentanomial(told_apart) == counts).all()
    if (told_apart < 0).any() or (told_apart != backwards).any() or not agree:
        raise ValueError("by_colour does not tell the results of these pairs")
    return told_apart


def _check_connected(counts: IntArray) -> None:
    """ValueError unless all agents are linked by the pairs they played; it names the parts."""
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


def _fit_block(cells: IntArray) -> FloatArray:
    """Ratings in natural units, mean 0, of the k agents of one block, and Black's advantage; shape
    (k + 1,). The advantage is 0 unless the cells are told apart by colour; see :func:`_points`."""
    if len(cells) == 1:
        return np.zeros(2)
    first, second = _pairings(cells)
    played = cells[first, second].astype(float)
    return _fit(*_points(played[None]), first, second, np.zeros((1, len(cells) + 1)))[0]


def _pairings(cells: IntArray) -> tuple[IntArray, IntArray]:
    """The agents i < j of each pairing that was played: two arrays of shape (pairings,)."""
    first, second = np.nonzero(np.triu(cells.any(axis=2)))
    return first, second


def _points(weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points of the first agent and games, from so much weight on each outcome of a pairing.

    weight: shape (replicates, pairings, 5), or (..., 9) where b/2 points with Black and w/2 with
        White are the outcome 3b + w.
    Returns points, shape (replicates, kinds, pairings), and games, shape (replicates, 1, pairings).
    Kinds of games: one (colours count alike), or two (the first agent is Black, is White).
    """
    shares = _SHARE[None] if weight.shape[2] == OUTCOMES else _BY_COLOUR
    return (weight @ shares.T).transpose(0, 2, 1), weight.sum(axis=2)[:, None]


def _fit(
    points: FloatArray, games: FloatArray, first: IntArray, second: IntArray, start: FloatArray
) -> FloatArray:
    """Maximum likelihood by Newton's method, for many replicates of one pool at once.

    points, games: see :func:`_points`.
    start: shape (replicates, k + 1), where to start from: the ratings and Black's advantage.
    Returns the same in natural units, each row's ratings with mean 0; the advantage stays as it was
    where there is one kind of games.

    A step is cut to 0.75 units in its largest component. Along a step of length s no pairing's
    curvature changes by more than a factor e^(2s), which bounds the third derivative; for s <= 0.75
    the likelihood must rise, so the method can't cycle or run away. With the advantage, which adds
    to a difference, it is e^(3s), and s <= 0.5.
    """
    agents = start.shape[1] - 1
    diagonal = np.arange(agents)
    sides = np.zeros((len(first), agents))  # +1 for the first agent of a pairing, -1 for the second
    sides[np.arange(len(first)), first] = 1
    sides[np.arange(len(first)), second] = -1
    colours = points.shape[1] > 1
    black = np.array([1.0, -1.0]) if colours else np.zeros(1)  # what the advantage adds, by kind
    longest_step = _LONGEST_STEP * (2 / 3 if colours else 1)
    free = agents + colours
    result = start.copy()
    for _ in range(_ITERATIONS):
        difference = (result[:, :-1] @ sides.T)[:, None] + black[:, None] * result[:, -1:, None]
        win, loss = expit(difference), expit(-difference)
        # points - games * win would lose all digits where win is nearly 1
        surplus = points * loss - (games - points) * win
        weight = games * win * loss
        whole = weight.sum(axis=1)
        slope = np.zeros((len(result), free))
        slope[:, :agents] = surplus.sum(axis=1) @ sides
        curvature = np.zeros((len(result), free, free))
        curvature[:, first, second] = curvature[:, second, first] = -whole
        curvature[:, diagonal, diagonal] = whole @ np.abs(sides)
        # the same for all entries: it fixes the mean, of which the likelihood says nothing
        curvature[:, :agents, :agents] += whole.mean(axis=1)[:, None, None]
        if colours:
            slope[:, -1] = (black @ surplus).sum(axis=1)
            curvature[:, -1, :-1] = curvature[:, :-1, -1] = (black @ weight) @ sides
            curvature[:, -1, -1] = whole.sum(axis=1)
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        result[:, :free] += step * (longest_step / np.maximum(longest, longest_step))
        if longest.max() < 1e-9:
            break
    result[:, :-1] -= result[:, :-1].mean(axis=1, keepdims=True)
    return result


def _colours_can_tell(told_apart: IntArray) -> bool:
    """Whether k rated agents' ratings and Black's advantage have a finite maximum likelihood.

    They have unless some change of them makes no result less likely and one more likely
    (Albert & Anderson 1984, Biometrika 71): a linear programme.
    """
    first, second = _pairings(told_apart.sum(axis=3))
    agents = len(told_apart)
    scored, games = _points(told_apart[first, second].reshape(1, -1, 9).astype(float))
    rows, directions = [], []
    for black, points in ((1, scored[0, 0]), (-1, scored[0, 1])):
        sides = np.zeros((len(first), agents + 1))
        sides[np.arange(len(first)), first] = 1
        sides[np.arange(len(first)), second] = -1
        sides[:, -1] = black
        rows.append(sides)
        directions.append((points == games[0, 0]).astype(int) - (points == 0))
    side, direction = np.concatenate(rows), np.concatenate(directions)
    one_sided = direction[:, None] * side
    ruled = side[direction == 0]
    found = linprog(
        -one_sided.sum(axis=0),
        A_ub=-one_sided,
        b_ub=np.zeros(len(side)),
        A_eq=np.vstack([ruled, np.append(np.ones(agents), 0)]),  # the second fixes the mean
        b_eq=np.zeros(len(ruled) + 1),
        bounds=(-1, 1),
    )
    return bool(-found.fun < 1e-6)


# ------------------------------------------------------------------ intervals


def _replicates(
    cells: IntArray, fitted: FloatArray, replicates: int, seed: int, least: float = 0
) -> FloatArray:
    """The bootstrap's ratings of k agents and Black's advantage, natural units, shape
    (replicates, k + 1).

    cells: see :func:`_points`. fitted: shape (k + 1,), what was fitted. least: weight added to a
        win and to a loss in each pairing, which keeps ratings finite where the cells don't.
    """
    rng = np.random.default_rng(seed)
    first, second = _pairings(cells)
    shape = _weights_shape(cells[first, second], fitted[first] - fitted[second], len(cells))
    batch = max(1, _CELLS // max(shape.size, len(cells) ** 2))
    rows = []
    for begin in range(0, replicates, batch):
        size = min(batch, replicates - begin)
        weight = rng.standard_gamma(shape, size=(size, *shape.shape))
        weight[:, :, [0, -1]] += least
        start = np.broadcast_to(fitted, (size, len(fitted)))
        rows.append(_fit(*_points(weight), first, second, start))
    return np.concatenate(rows)


def _superiority(sample: FloatArray) -> FloatArray:
    """How often each row agent is above each column agent; from shape (replicates, n)."""
    above = (sample[:, :, None] > sample[:, None, :]).mean(axis=0)
    equal = (sample[:, :, None] == sample[:, None, :]).mean(axis=0)
    share = above + equal / 2
    np.fill_diagonal(share, np.nan)
    return np.asarray(share)


def _intervals(
    sample: FloatArray, fitted: FloatArray, played: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Low and high ends of the 95 % intervals of some fitted values, natural units.

    sample: shape (replicates, values); fitted: shape (values,); played: the pairs each rests on.
    """
    below = (sample < fitted).sum(axis=0)
    bias = ndtri((below + 0.5) / (len(sample) + 1))  # standard deviations
    reach = _reach(played)
    return _quantiles(sample, ndtr(2 * bias - reach)), _quantiles(sample, ndtr(2 * bias + reach))


def _quantiles(sample: FloatArray, at: FloatArray) -> FloatArray:
    """One quantile of each column, at probabilities of shape (columns,)."""
    columns = zip(sample.T, at, strict=True)
    return np.array([np.quantile(column, probability) for column, probability in columns])


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


def _reach(played: IntArray) -> FloatArray:
    """How many standard deviations of the bootstrap an interval reaches to each side, by the
    number of pairs played.

    The bootstrap's variance of a mean of N values is (N - 1) / (N + 1) of the honest one, and
    Student's t takes the place of the normal distribution: 1.96 for large N, 2.50 for 10. N = 1,
    which shows no variance at all, is treated as 2.
    """
    pairs = np.maximum(played, 2).astype(float)
    return np.asarray(stdtrit(pairs - 1, _INSIDE) * np.sqrt((pairs + 1) / (pairs - 1)))


# ------------------------------------------------------------------ who can't be rated


class _Layers:
    """The order in which agents without a finite rating are set aside, and put back with a bound.

    A *block* is a largest set of agents linked by scored points in both directions (a strongly
    connected component), so that within it ratings are finite (Ford 1957, American Mathematical
    Monthly 64); between two blocks all points went one way. Almost always there is one block, or
    one and a few single agents that won or lost everything. The largest block is the *core*, whose
    agents are rated. Of the others, all that won or lost everything against those still there are
    set aside, again and again until the core is alone; where all blocks are single agents, the
    last one left is the core, and there may be none.

    bound: "", ">" or "<" for each agent.
    """

    def __init__(self, points: FloatArray, label: IntArray) -> None:
        """points: shape (n, n), pairs' worth of points of the row agent. label: each agent's
        block, shape (n,)."""
        self._points, self._label = points, label
        member = np.eye(label.max() + 1)[label]  # agent x block
        self._won = member.T @ points @ member  # pairs that the row block won of the column block
        np.fill_diagonal(self._won, 0)
        self._round = np.zeros(len(self._won), dtype=int)  # when each block was set aside
        self._side = [""] * len(self._won)
        sizes = member.sum(axis=0)
        self._core = self._peel(int(sizes.argmax()) if sizes.max() > 1 else _NOBODY)
        self.bound = tuple(self._side[block] for block in label)

    def _peel(self, core: int) -> int:
        """Set blocks aside until only the core is left; returns it, found or given, or NOBODY."""
        left = np.arange(len(self._won))
        number = 0
        while len(left) > 1:
            number += 1
            among = self._won[np.ix_(left, left)]
            outer = (among.sum(axis=1) == 0) | (among.sum(axis=0) == 0)
            outer &= left != core
            for block in left[outer]:
                self._round[block] = number
                self._side[block] = self._side_of(block, left)
            left = left[~outer]
        return int(left[0]) if len(left) else _NOBODY

    def _side_of(self, block: int, left: IntArray) -> str:
        """Whether a block won or lost against those left, or if it met none, against most."""
        margin = self._won[block] - self._won[:, block]
        decisive = margin[left].sum() or margin.sum()
        return ">" if decisive >= 0 else "<"

    def placed(self, inside: FloatArray, chance: float) -> FloatArray:
        """All ratings in natural units, shape (n,), from those within each block.

        Blocks come back in the opposite order, each shifted to where its record against those
        already there has the probability ``chance``.
        """
        ratings = inside.copy()
        anchor = self._round.argmax() if self._core == _NOBODY else self._core
        there = np.arange(len(self._won)) == anchor
        met = self._won + self._won.T > 0
        while not there.all():
            ready = ~there & met[:, there].any(axis=1)
            latest = ready & (self._round == self._round[ready].max())
            for block in np.flatnonzero(latest):
                members = self._label == block
                ratings[members] += self._shift(members, there[self._label], ratings, chance)
            there |= latest
        if self._core == _NOBODY:
            ratings -= ratings.mean()
        return ratings

    def _shift(
        self, members: BoolArray, there: BoolArray, rating: FloatArray, chance: float
    ) -> float:
        """How far to move a block so that winning all it won is as improbable as losing all it
        lost; where it lost nothing (or won nothing), that counts as ``chance``."""
        won = self._points[np.ix_(members, there)]
        lost = self._points[np.ix_(there, members)].T
        gap = rating[there][None, :] - rating[members][:, None]

        def surplus(shift: float) -> float:
            wins = (won * log_expit(shift - gap)).sum() if won.any() else math.log(chance)
            losses = (lost * log_expit(gap - shift)).sum() if lost.any() else math.log(chance)
            return float(wins - losses)

        margin = 5 + math.log(won.sum() + lost.sum())  # surplus changes sign within this
        return float(brentq(surplus, gap.min() - margin, gap.max() + margin))
