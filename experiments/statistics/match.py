"""One match: Elo, normalised Elo and likelihood of superiority, from its five counts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from experiments.statistics.elo import NELO, elo_of_score
from experiments.statistics.intervals import INSIDE, ONE_SIDED, margin_text
from experiments.statistics.pairs import OUTCOMES, SHARES, FloatArray, IntArray

_SIGMAS = float(ndtri(INSIDE))  # 1.96


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

    pairs: int = 0
    score: float = math.nan
    elo: float = math.nan
    elo_margin: float = math.nan
    nelo: float = math.nan
    nelo_margin: float = math.nan
    los: float = math.nan
    bound: str = ""
    split: bool = False

    @property
    def elo_text(self) -> str:
        """``+12 ± 8``, ``> +620``, ``every pair split``, or a dash without pairs."""
        if self.split:
            return "every pair split"
        return margin_text(self.elo, self.elo_margin, self.bound)

    @property
    def nelo_text(self) -> str:
        """``+20 ± 14``, or a dash."""
        return margin_text(self.nelo, self.nelo_margin)

    @property
    def los_text(self) -> str:
        """``97.5 %``, never 0 or 100 %; or a dash."""
        if math.isnan(self.los):
            return "-"
        if not 0.0005 < self.los < 0.9995:
            return "> 99.9 %" if self.los > 0.5 else "< 0.1 %"
        return f"{100 * self.los:.1f} %"


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
    seen = _checked(counts)
    pairs = int(seen.sum())
    if not pairs:
        return MatchStatistics()
    share = seen / pairs
    score = float(share @ SHARES)
    if seen[OUTCOMES // 2] == pairs:
        return MatchStatistics(pairs, score, elo=0.0, split=True)
    deviation = math.sqrt(share @ (SHARES - score) ** 2)
    error = deviation / math.sqrt(pairs)
    reach = _SIGMAS * error
    if np.count_nonzero(seen) == 1 or not (score - reach > 0 and score + reach < 1):
        limit, bound = _bound(score, pairs)
        return MatchStatistics(pairs, score, elo=limit, bound=bound)
    nelo, nelo_margin = _normalised(share, score, deviation, pairs)
    return MatchStatistics(
        pairs,
        score,
        elo_of_score(score),
        (elo_of_score(score + reach) - elo_of_score(score - reach)) / 2,
        nelo,
        nelo_margin,
        los=float(ndtr((score - 0.5) / error)),
    )


def _checked(counts: ArrayLike) -> IntArray:
    seen = np.asarray(counts)
    whole = np.issubdtype(seen.dtype, np.integer)
    if seen.shape != (OUTCOMES,) or not whole or (seen < 0).any():
        raise ValueError(
            f"counts {seen.tolist()}: {OUTCOMES} numbers of pairs, LL to WW, are needed"
        )
    return seen


def _bound(score: float, pairs: int) -> tuple[float, str]:
    """The one-sided limit of a match's Elo, and on which side of it the truth is."""
    bound, points = (">", pairs * score) if score >= 0.5 else ("<", pairs * (1 - score))
    least = float(betaincinv(points, pairs - points + 1, ONE_SIDED))
    return elo_of_score(least if bound == ">" else 1 - least), bound


def _normalised(
    share: FloatArray, score: float, deviation: float, pairs: int
) -> tuple[float, float]:
    """Normalised Elo and half the width of its 95 % interval; share: of the pairs, by outcome."""
    t = (score - 0.5) / deviation
    away = (SHARES - score) / deviation
    skewness, kurtosis = (float(share @ away**power) for power in (3, 4))
    # It can be 0, and then rounding may leave it a little below.
    variance = max(0.0, 1 - skewness * t + (kurtosis - 1) * t * t / 4)
    error = math.sqrt(variance / pairs)
    unit = NELO / math.sqrt(2)
    return unit * t, unit * float(stdtrit(pairs - 1, INSIDE)) * error
