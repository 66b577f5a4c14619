"""Stopping as soon as a question is answered: the sequential probability ratio test of a match,
and a sequential test of a mean against 0.

A test asks whether the first agent is better by ``elo1`` (H1) or only by ``elo0`` (H0) and weighs
the two after every pair. It is a generalised likelihood ratio test on pentanomial counts:

    LLR = sum_i N_i ln(p1_i / p0_i),

where N_i is the number of pairs with the i-th result (LL, LD, DD+WL, WD, WW; an empty cell counts
as 0.001) and p0, p1 are the distributions under H0 and H1 that explain the counts best. The match
ends when LLR leaves (ln(beta / (1 - alpha)), ln((1 - beta) / alpha)) (Wald 1945, Annals of
Mathematical Statistics 16).

There are two models of a hypothesis:

- ``logistic``: Elo differences; the mean share of points is 1 / (1 + 10^(-elo / 400)).
- ``normalized``: normalised Elo (Van den Bergh, "Normalized Elo"), 800 / ln 10 times
  (s - 1/2) / sqrt(2 v), with s the mean and v the variance of a pair's share of points. It counts
  in standard deviations of a game, so the number of pairs a test needs hardly depends on the share
  of draws.

The constrained maximum likelihood is p_i = q_i / (1 + x a_i), with q the observed shares and x the
root of sum_i q_i a_i / (1 + x a_i) = 0, with a_i a result's derivative in the constraint (Van den
Bergh, "Comments on normalized Elo" and "The generalized maximum likelihood ratio for the
expectation value of a distribution"; fishtest's LLRcalc.py computes the same). All functions are
pure and take any number of matches at once.

A mean is tested against 0 after 40, 80, 160, ... units, and after all there are
(:func:`mean_side`). Costs of searches are skewed, and Student's t is then wrong too often on one
side, so the smaller of two counts: Student's t and Hall's, corrected for skewness (Hall 1992,
Journal of the Royal Statistical Society B 54). With k looks each is at the error rate divided by
2k: in simulated series, normal, exponential and log-normal (deviation 1 of the logarithm), a mean
of 0 is called negative, or positive, in at most 5 % of cases at an error rate of 5 %.

>>> test = Sprt(elo0=0, elo1=10)
>>> round(test.llr([10, 30, 100, 40, 20]), 2), round(test.upper, 2)
(1.48, 2.94)
>>> test.decide([10, 30, 100, 40, 20]), test.decide([30, 90, 300, 120, 60])
('', 'H1')
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import Choice, Number, check_settings
from othello_lab.experiments.statistics.elo import NELO, expected_score
from othello_lab.experiments.statistics.pairs import OUTCOMES, SHARES, FloatArray, IntArray

MODELS = ("logistic", "normalized")

_EMPTY = 0.001  # what an empty cell counts
_TURNS = 60  # of the root finder; 5 to 10 are needed, and 60 halvings always do
_ROUNDS = 100  # of the fixed point for normalised Elo; around 10 are needed
_CLOSE = 1e-10
_LARGEST = {"logistic": 2000.0, "normalized": 400.0}  # Elo: beyond this nothing is measured


@dataclass(frozen=True)
class Sprt:
    """A sequential test between elo0 and elo1, both from the first agent's view.

    alpha: probability of accepting H1 if H0 holds; beta: the reverse; both in (0, 0.5). model:
    ``logistic`` or ``normalized``: the unit of elo0 and elo1.

    Raises ValueError, one line, for elo0 >= elo1, an error rate outside (0, 0.5), an unknown model,
    or bounds beyond 2,000 Elo (400 normalised).
    """

    elo0: float
    elo1: float
    alpha: Annotated[float, Number(above=0, below=0.5)] = 0.05
    beta: Annotated[float, Number(above=0, below=0.5)] = 0.05
    model: Annotated[str, Choice(*MODELS)] = "logistic"

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0={self.elo0:g} elo1={self.elo1:g}: elo0 must be below elo1")
        largest = _LARGEST[self.model]
        for name in ("elo0", "elo1"):
            if not abs(getattr(self, name)) <= largest:
                raise ValueError(
                    f"{name}={getattr(self, name):g}: between -{largest:g} and {largest:g}"
                    f" is needed with model={self.model}"
                )

    @property
    def lower(self) -> float:
        """H0 is accepted when the LLR has fallen to this."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """H1 is accepted when the LLR has risen to this."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: ArrayLike) -> float:
        """The log-likelihood ratio of one match; counts: shape (5,), pairs from LL to WW."""
        return float(self.llrs(np.asarray(counts)[None])[0])

    def llrs(self, counts: ArrayLike) -> FloatArray:
        """The log-likelihood ratios of many matches; counts: shape (m, 5); returns shape (m,).

        Raises ValueError for another shape or a negative count.
        """
        seen, _, under0, under1 = self.explained(counts)
        return np.asarray((seen * np.log(under1 / under0)).sum(axis=1))

    def explained(self, counts: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Counts as the test takes them, their shares, and the distributions of pairs that explain
        them best under H0 and under H1; all of shape (m, 5). See :meth:`llrs`."""
        seen = np.asarray(counts, dtype=float)
        if seen.ndim != 2 or seen.shape[1] != OUTCOMES or not (seen >= 0).all():
            raise ValueError(f"counts {seen.tolist()}: five numbers of pairs, LL to WW, are needed")
        seen = np.where(seen == 0, _EMPTY, seen)
        shares = seen / seen.sum(axis=1, keepdims=True)
        if self.model == "logistic":
            under = [with_mean(shares, expected_score(elo)) for elo in (self.elo0, self.elo1)]
        else:
            under = [_with_t_value(shares, e * math.sqrt(2) / NELO) for e in (self.elo0, self.elo1)]
        return seen, shares, under[0], under[1]

    def decide(self, counts: ArrayLike) -> str:
        """``H0`` or ``H1`` once it is accepted after these counts, ``""`` to go on."""
        llr = self.llr(counts)
        return "H1" if llr >= self.upper else "H0" if llr <= self.lower else ""

    def outcome(self, counts: ArrayLike) -> str:
        """Return the end of the test in words. counts: shape (5,), as in :meth:`llr`."""
        decision = self.decide(counts)
        pairs = int(np.sum(counts))
        ended = f"{decision} was accepted" if decision else "no decision"
        return (
            f"SPRT, {self.model} Elo, H0: {self.elo0:g}, H1: {self.elo1:g} (error rates "
            f"{self.alpha:g}, {self.beta:g}): {ended} after {counted(pairs, 'pair')}; "
            f"LLR {self.llr(counts):+.2f}, bounds {self.lower:+.2f} and {self.upper:+.2f}."
            + ("" if decision else " More pairs can still decide it.")
        )


def simulate(
    test: Sprt, shares: ArrayLike, matches: int, seed: int, every: int = 1, most: int = 1_000_000
) -> tuple[IntArray, IntArray]:
    """Return the pairs that a test needs, and its verdicts, in simulated matches.

    shares: shape (5,), the true probabilities of LL, LD, DD+WL, WD, WW. matches: their number.
    every: pairs between two looks at the LLR; a match ends at a look. most: pairs after which a
    match is given up. Returns the pairs played, by outcome, shape (matches, 5); and the accepted
    hypothesis, 1 or 0, or -1 for neither, shape (matches,).
    """
    rng = np.random.default_rng(seed)
    counts = np.zeros((matches, OUTCOMES), dtype=np.int64)
    accepted = np.full(matches, -1)
    left = np.arange(matches)
    for _ in range(0, most, every):
        counts[left] += rng.multinomial(every, np.asarray(shares), size=len(left))
        llr = test.llrs(counts[left])
        accepted[left[llr >= test.upper]] = 1
        accepted[left[llr <= test.lower]] = 0
        left = left[accepted[left] < 0]
        if not len(left):
            break
    return counts, accepted


def with_mean(shares: FloatArray, mean: float | FloatArray) -> FloatArray:
    """The distributions with these means that explain ``shares`` best, shape (m, 5); mean: one for
    all, or shape (m,), within (0, 1)."""
    return _tilted(shares, SHARES - np.broadcast_to(mean, len(shares))[:, None])


def _with_t_value(shares: FloatArray, t: float) -> FloatArray:
    """Return the likeliest distributions with (mean - 1/2) / standard deviation equal to ``t``;
    shape (m, 5).

    The constraint is not linear, so it is linearised at the end of the last round, until nothing
    moves. Round one starts from a distribution that fulfils it: uniform and, for its mean, some
    more of the best or the worst result.
    """
    best = np.tile(_start(t), (len(shares), 1))
    left = np.arange(len(shares))  # matches that still move
    for _ in range(_ROUNDS):
        now = best[left]
        mean = now @ SHARES
        deviation = np.sqrt(now @ SHARES**2 - mean**2)[:, None]
        away = (mean[:, None] - SHARES) / deviation
        values = SHARES - 0.5 - t * deviation * (1 + away**2) / 2
        best[left] = _tilted(shares[left], values)
        left = left[np.abs(best[left] - now).max(axis=1) > _CLOSE]
        if not len(left):
            break
    return best


def _start(t: float) -> FloatArray:
    """A distribution with t-value ``t`` and no empty cell, shape (5,).

    With weight w on one end and 1 - w spread evenly, the mean is w / 2 away from 1/2 and the
    variance (1 - w) / 8 + w (1 - w) / 4; so w solves 2 w^2 = t^2 (1 - w) (1 + 2 w).
    """
    square = t * t
    a, b, c = 2 + 2 * square, -square, -square
    weight = (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)
    start = np.full(OUTCOMES, (1 - weight) / OUTCOMES)
    start[-1 if t > 0 else 0] += weight
    return start


def _tilted(shares: FloatArray, values: FloatArray) -> FloatArray:
    """Return shares / (1 + x values) with x such that the mean of ``values`` is 0; all of shape (m,
    5).

    ``values`` must have both signs in each row. x lies between -1/max and -1/min, and there f(x) =
    sum shares values / (1 + x values) falls from +inf to -inf. Newton's method is applied to f
    times the distances from both ends, a nearly straight function, and kept inside the bracket.
    """
    low, high = ends = -1 / values.max(axis=1), -1 / values.min(axis=1)
    near = 1e-13 * (high - low)
    x = np.zeros(len(shares))
    for _ in range(_TURNS):
        part = values / (1 + x[:, None] * values)
        weighted = shares * part
        f = weighted.sum(axis=1)
        slope = -(weighted * part).sum(axis=1)
        low, high = np.where(f > 0, x, low), np.where(f > 0, high, x)
        left, right = x - ends[0], ends[1] - x
        step = -f * left * right / (slope * left * right + f * (right - left))
        moves = np.abs(step) > near
        if not moves.any():
            break
        inside = (low < x + step) & (x + step < high)
        x = np.where(inside, x + step, np.where(moves, (low + high) / 2, x))
    return np.asarray(shares / (1 + x[:, None] * values))


FIRST_LOOK = 40
"""Units before which nothing is said."""


def looks(most: int, first: int = FIRST_LOOK) -> list[int]:
    """Return the numbers of units at which to look, up to the largest.

    >>> looks(100)
    [40, 80, 100]
    """
    numbers = [first << turn for turn in range(64) if first << turn < most]
    return [*numbers, most]


@dataclass(frozen=True)
class MeanVerdict:
    """side: -1 or 1 for a mean shown to be below or above 0; 0 where all values are 0; None where
    nothing is shown. units: how many it took."""

    side: int | None
    units: int


def mean_side(values: ArrayLike, most: int, error_rate: float) -> MeanVerdict:
    """Return the side of 0 on which the mean lies, judged at the looks there are values for.

    values: shape (n,), of independent units in the order of their arrival. most: their largest
    number.

    >>> mean_side([-1.0, -2.0] * 20, 100, 0.05)
    MeanVerdict(side=-1, units=40)
    """
    seen = np.asarray(values, dtype=float)
    turns = looks(most)
    for units in turns:
        if units > len(seen):
            break
        part = seen[:units]
        if not part.any():
            if units == most:
                return MeanVerdict(0, units)
            continue
        if side := side_at_look(part, len(turns), error_rate):
            return MeanVerdict(side, units)
    return MeanVerdict(None, len(seen))


def side_at_look(values: ArrayLike, turns: int, error_rate: float) -> int:
    """Return the side of 0, -1 or 1, on which the mean is shown to lie at one look; 0 for neither.

    values: shape (n,), of all units so far. turns: the number of looks that share the error rate.
    """
    seen = np.asarray(values, dtype=float)
    t = _t(seen)
    shown = scipy.special.stdtr(len(seen) - 1, -abs(t)) <= error_rate / (2 * turns)  # false for nan
    return int(np.sign(t)) if shown else 0


def _t(values: FloatArray) -> float:
    """The smaller of Student's t and Hall's; 0 where their signs differ; nan for a single value."""
    if len(values) < 2:
        return math.nan
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    if not deviation:
        return math.copysign(math.inf, mean)
    ratio = mean / deviation
    skew = float(((values - mean) ** 3).mean() / values.std() ** 3)
    hall = ratio + skew * ratio**2 / 3 + skew**2 * ratio**3 / 27 + skew / (6 * len(values))
    if ratio * hall <= 0:
        return 0.0
    return math.copysign(math.sqrt(len(values)) * min(abs(ratio), abs(hall)), ratio)
