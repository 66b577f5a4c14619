"""Estimate of the difference after a sequential test that its own result has stopped.

The Elo of such a match is biased: a test stops at an extreme of its own course. The outcomes of a
test can be ordered, however, from the worst for its first agent to the best (the stagewise
ordering: Siegmund 1978, Biometrika 65; Jennison & Turnbull 1999, Group Sequential Methods, chapter
8): H0 accepted, the earlier the worse; no decision, by the log-likelihood ratio (LLR) reached; H1
accepted, the earlier the better. The better the agent, the likelier a better outcome. So the
difference with half of all tests ending worse than this one is **median-unbiased**, and those with
97.5 % and 2.5 % are the ends of a 95 % interval.

The probability of an outcome at some difference is computed with the sum of the pairs' shares of
points as a Brownian motion; its drift and variance a pair are those of the distribution that
explains the counts best at that difference, half a pair won and half a pair lost being added. It is
absorbed at the LLR's bounds, taken as straight lines, from the LLR's derivatives in the counts.
They are level for a test near its hypotheses; far beyond them the LLR rises at much the same pace
for any score, and the lines are steep. The bound that ended the test runs through the point
reached; the other is moved outwards by 0.583 of a step's deviation, so far as a walk in steps goes
on average beyond a bound that stops it (Siegmund 1985, Sequential Analysis, chapter 10).
``benchmarks/validity.py`` counts the intervals that hold the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from othello_lab.experiments.statistics.elo import expected_score
from othello_lab.experiments.statistics.intervals import EVERY_SPLIT, INSIDE, interval_text
from othello_lab.experiments.statistics.pairs import OUTCOMES, SHARES, FloatArray
from othello_lab.experiments.statistics.sequential import Sprt, with_mean

_OVERSHOOT = 0.5826  # -zeta(1/2) / sqrt(2 pi)
_IMAGINED = np.array([0.5, 0, 0, 0, 0.5])  # pairs, by outcome
_IMAGES = np.arange(-15, 16)  # reflections at the bounds: more than the longest test needs
_HALVINGS = 32
_FARTHEST = 1200.0  # Elo beyond which nothing is looked for


@dataclass(frozen=True)
class StoppedEstimate:
    """Elo of the first agent after a sequential test, logistic for both models of the test.

    elo: the median-unbiased estimate. low, high: the ends of the 95 % interval. Values beyond 1,200
    Elo are infinite. split: every pair was shared, so that little is known.
    """

    elo: float
    low: float
    high: float
    split: bool = False

    @property
    def text(self) -> str:
        """``+23 [4, 41]``; after a record so one-sided that it has no upper end ``> +310``;
        ``every pair split``."""
        if self.split:
            return EVERY_SPLIT
        if np.isinf(self.low) or np.isinf(self.high):
            limit, bound = (self.high, "<") if np.isinf(self.low) else (self.low, ">")
            return "-" if np.isinf(limit) else interval_text(limit, limit, limit, bound)
        return interval_text(self.elo, self.low, self.high)


def stopped_estimate(test: Sprt, counts: ArrayLike) -> StoppedEstimate:
    """Return the estimate of the difference after a test, ended or not.

    counts: shape (5,), the pairs from LL to WW at the end; ValueError for others.

    >>> stopped_estimate(Sprt(elo0=0, elo1=30), [20, 40, 120, 60, 40]).text
    '+35 [11, 58]'
    """
    played = np.asarray(counts)
    elo, low, high = stopped_estimates(test, played[None])
    split = bool(played[OUTCOMES // 2] == played.sum())
    return StoppedEstimate(float(elo[0]), float(low[0]), float(high[0]), split)


def stopped_estimates(test: Sprt, counts: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same of many tests; counts: shape (m, 5). Returns the median-unbiased estimates and the
    low and high ends of their intervals, Elo, each of shape (m,)."""
    elo, low, high = (_difference(test, counts, worse) for worse in (0.5, INSIDE, 1 - INSIDE))
    return elo, low, high


def _difference(test: Sprt, counts: ArrayLike, worse: float) -> FloatArray:
    """Return the Elo differences with the probability ``worse`` of a worse outcome."""
    course = BrownianPaths(test, counts)
    low = np.full(course.number, -_FARTHEST)
    high = np.full(course.number, _FARTHEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        weaker = course.worse(middle) > worse  # than the difference that is sought
        low, high = np.where(weaker, middle, low), np.where(weaker, high, middle)
    elo = (low + high) / 2
    return np.where(np.abs(elo) > _FARTHEST - 1, np.copysign(np.inf, elo), elo)


class BrownianPaths:
    """The course of m tests, as Brownian motions."""

    def __init__(self, test: Sprt, counts: ArrayLike) -> None:
        played = np.asarray(counts, dtype=float)
        llr = test.llrs(played)
        self.number, self._pairs = len(played), played.sum(axis=1)
        self._lost, self._won = llr <= test.lower, llr >= test.upper
        _, self._shares, under0, under1 = test.explained(played + _IMAGINED)
        # The LLR as a line in the number of pairs and in the sum of their shares of points.
        steps = np.log(under1 / under0)
        step, score = ((self._shares * part).sum(axis=1) for part in (steps, SHARES))
        away = self._shares * (SHARES - score[:, None])
        by_points = (away * steps).sum(axis=1) / (away * SHARES).sum(axis=1)
        self._slope = score - step / by_points  # of the bounds, in points a pair
        self._lower, self._upper = test.lower / by_points, test.upper / by_points
        self._reached = played @ SHARES - self._slope * self._pairs

    def worse(self, elo: FloatArray) -> FloatArray:
        """Return the probability of a worse outcome if the agents are ``elo`` apart, shape (m,). It
        is uniform from 0 to 1 if that is the truth, from 2.5 to 97.5 % within an interval, and more
        than a half above the estimate."""
        mean = expected_score(elo)
        likely = with_mean(self._shares, mean)
        deviation = np.sqrt((likely * (SHARES - mean[:, None]) ** 2).sum(axis=1))
        # in units of the deviation, so that the motion's variance is 1 a pair
        drift, reached = (mean - self._slope) / deviation, self._reached / deviation
        lower = np.where(self._lost, reached, self._lower / deviation - _OVERSHOOT)
        upper = np.where(self._won, reached, self._upper / deviation + _OVERSHOOT)
        fallen = _fallen(lower, upper, drift, self._pairs)
        risen = _fallen(-upper, -lower, -drift, self._pairs)
        between = _between(lower, upper, drift, self._pairs, reached)
        return np.where(self._won, 1 - risen, fallen + np.where(self._lost, 0, between))


def _fallen(
    lower: FloatArray, upper: FloatArray, drift: FloatArray, time: FloatArray
) -> FloatArray:
    """Return the probability that a Brownian motion from 0 with variance 1 has left at the lower of
    two bounds by some time; all of shape (m,).

    Its first passage has the density exp(drift lower - drift^2 t / 2) times a sum over images at x
    = -lower + 2 k (upper - lower) of x / sqrt(2 pi t^3) exp(-x^2 / 2t) (Borodin & Salminen 2002,
    Handbook of Brownian Motion, part II, 1.3.0.6), and each term has a closed integral.
    """
    image = -lower + 2 * _IMAGES[:, None] * (upper - lower)
    far, speed, root = np.abs(image), np.abs(drift), np.sqrt(time)
    along = -speed * far + scipy.special.log_ndtr((speed * time - far) / root)
    against = speed * far + scipy.special.log_ndtr((-speed * time - far) / root)
    terms = np.exp(drift * lower + along) + np.exp(drift * lower + against)
    return np.clip((np.sign(image) * terms).sum(axis=0), 0, 1)


def _between(
    lower: FloatArray, upper: FloatArray, drift: FloatArray, time: FloatArray, level: FloatArray
) -> FloatArray:
    """Return the probability that the motion has left at neither bound and is below ``level``."""
    root = np.sqrt(time)

    def inside(image: FloatArray) -> FloatArray:
        """Weight of the paths from an image, of drift and variance the motion's, that end there."""
        ends = [(end - image - drift * time) / root for end in (lower, level)]
        flipped = ends[0] > 0  # both in the right tail: mirrored, so that no digits are lost
        low = np.where(flipped, -ends[1], ends[0])
        high = np.where(flipped, -ends[0], ends[1])
        below, reached = (
            drift * image + scipy.special.log_ndtr(low),
            drift * image + scipy.special.log_ndtr(high),
        )
        return np.exp(np.minimum(reached, 50)) - np.exp(np.minimum(below, 50))

    turn = 2 * _IMAGES[:, None] * (upper - lower)
    return np.clip((inside(turn) - inside(2 * lower + turn)).sum(axis=0), 0, 1)
