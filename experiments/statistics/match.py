"""One match: Elo, normalised Elo and likelihood of superiority, from counts of pairs.

Let s be the mean and v the variance of the pairs' shares of points, n the number of pairs and G
that of openings, and e the standard error of s over openings with G / (G - 1) for few of them; if
each pair has an opening of its own that is sqrt(v / (n - 1)). t is Student's quantile with G - 1
degrees of freedom.

- Elo = 400 log10(s / (1 - s)); its interval reaches from Elo(s - t e) to Elo(s + t e).
- nElo = 800 / ln 10 * u / sqrt(2), u = (s - 1/2) / sqrt(v). Its interval reaches t times the
  standard error over openings to either side; for n openings n var(u) = 1 - g u + (k - 1) u^2 / 4
  with g the skewness and k the kurtosis of the shares (Mertens 2002, for the Sharpe ratio; u is
  one). The 1.96 / sqrt(n) that match runners print for u takes v for known: 400 Elo apart it holds
  the truth in 44 % of matches of 100 pairs, this one in 95 % (``benchmarks/validity.py``).
- LOS: Student's probability of (s - 1/2) / e.
- Where e = 0 or s +- t e is not within (0, 1), a bound: Clopper and Pearson's one-sided 95 %
  limit for G s points of G. It treats an opening's share as if it had been won or lost with that
  probability. That is more variable, so the bound is on the safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics import intervals
from othello_lab.experiments.statistics.elo import NELO, elo_of_score
from othello_lab.experiments.statistics.pairs import (
    OUTCOMES,
    SHARES,
    FloatArray,
    IntArray,
    by_opening,
)

_FEWEST = 30  # openings of which the variance is known well enough to count in it; with 8, 25 % of
# normalised Elo's intervals missed the truth


@dataclass(frozen=True)
class MatchStatistics:
    """The statistics of a match, as its first agent sees it; from :func:`match_statistics`.

    pairs: their number. score: share of points, 0 to 1; nan without pairs.
    elo, elo_low, elo_high: Elo difference and the ends of its 95 % interval. With a ``bound``, ">"
        or "<", ``elo`` is a one-sided 95 % limit and the ends are nan.
    nelo, nelo_low, nelo_high: normalised Elo, the same; nan for less than 30 openings.
    los: likelihood of superiority, 0 to 1. These three are nan where there is only a bound.
    split: every pair was shared, so that the better agent is unknown.
    """

    pairs: int = 0
    score: float = math.nan
    elo: float = math.nan
    elo_low: float = math.nan
    elo_high: float = math.nan
    nelo: float = math.nan
    nelo_low: float = math.nan
    nelo_high: float = math.nan
    los: float = math.nan
    bound: str = ""
    split: bool = False

    @property
    def elo_text(self) -> str:
        """``+12 [4, 20]``, ``> +620``, ``every pair split``, or a dash without pairs."""
        if self.split:
            return intervals.EVERY_SPLIT
        return intervals.interval_text(self.elo, self.elo_low, self.elo_high, self.bound)

    @property
    def nelo_text(self) -> str:
        """``+20 [6, 34]``, or a dash."""
        return intervals.interval_text(self.nelo, self.nelo_low, self.nelo_high)

    @property
    def los_text(self) -> str:
        """``97.5 %``, never 0 or 100 %; or a dash."""
        if math.isnan(self.los):
            return "-"
        if not 0.0005 < self.los < 0.9995:
            return "> 99.9 %" if self.los > 0.5 else "< 0.1 %"
        return f"{100 * self.los:.1f} %"


def match_statistics(counts: ArrayLike, times: ArrayLike | None = None) -> MatchStatistics:
    """Return Elo, normalised Elo and likelihood of superiority of one match.

    counts: shape (5,), the number of pairs in each of 0 to 4 half points for the first agent, each
        from an opening of its own; or (m, 5), these numbers for each opening. times: shape (m,),
        the number of openings of each row; None for one each. The module's text has the formulas.

    Raises ValueError for another shape, or counts that are negative or not whole.

    >>> match_statistics([10, 20, 100, 30, 40]).elo_text
    '+61 [35, 88]'
    >>> match_statistics([[10, 0, 0, 0, 40], [40, 0, 0, 0, 10]] * 5).elo_text  # ten openings
    '+0 [-169, 169]'
    >>> match_statistics([0, 0, 0, 0, 100]).elo_text
    '> +607'
    """
    units, often = by_opening(counts, times)
    seen = often @ units
    pairs = int(seen.sum())
    if not pairs:
        return MatchStatistics()
    share = seen / pairs
    score = float(share @ SHARES)
    if seen[OUTCOMES // 2] == pairs:
        return MatchStatistics(pairs, score, elo=0.0, split=True)
    openings = int(often[units.any(axis=1)].sum())
    error = intervals.standard_error(units @ (SHARES - score), often, pairs, openings)
    reach = intervals.student(openings) * error
    if not (error > 0 and score - reach > 0 and score + reach < 1):
        limit, bound = _bound(score, openings)
        return MatchStatistics(pairs, score, elo=limit, bound=bound)
    nelo, margin = math.nan, math.nan
    if openings >= _FEWEST:
        nelo, margin = _normalised(units, often, share, score, openings)
    elo, low, high = (elo_of_score(score + away) for away in (0.0, -reach, reach))
    los = float(scipy.special.stdtr(openings - 1, (score - 0.5) / error))
    return MatchStatistics(pairs, score, elo, low, high, nelo, nelo - margin, nelo + margin, los)


def _bound(score: float, openings: int) -> tuple[float, str]:
    """Return the one-sided limit of a match's Elo, and the side of it on which the truth is."""
    bound, points = (">", openings * score) if score >= 0.5 else ("<", openings * (1 - score))
    least = float(scipy.special.betaincinv(points, openings - points + 1, intervals.ONE_SIDED))
    return elo_of_score(least if bound == ">" else 1 - least), bound


def _normalised(
    units: IntArray, times: IntArray, share: FloatArray, score: float, openings: int
) -> tuple[float, float]:
    """Normalised Elo and half the width of its 95 % interval; share: of the pairs, by outcome."""
    deviation = math.sqrt(share @ (SHARES - score) ** 2)
    t = (score - 0.5) / deviation
    away = (SHARES - score) / deviation
    influence = away - t * (away**2 - 1) / 2  # of a pair on t, times the number of pairs
    error = math.sqrt(times @ (units @ influence) ** 2) / int(times @ units.sum(axis=1))
    unit = NELO / math.sqrt(2)
    return unit * t, unit * intervals.student(openings) * error
