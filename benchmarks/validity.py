"""Check the statistics by simulated matches, tests and pools with a known truth.

``python benchmarks/validity.py`` runs ``tests/experiments/statistics/test_validity.py``, which
prints the coverage of 95 % intervals, also after sequential tests, and the error rates of these
tests, and fails where they are not as promised. Pairs of matches are drawn from the model of
``plan`` (:func:`experiments.jobs.sample_size.pair_shares`), pairs of pools from
:class:`SharedOpenings`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from othello_lab.experiments.jobs.sample_size import pair_shares
from othello_lab.experiments.statistics.bradley_terry import fit
from othello_lab.experiments.statistics.elo import ELO, NELO, elo_of_score, expected_score
from othello_lab.experiments.statistics.match import match_statistics
from othello_lab.experiments.statistics.pairs import SHARES, FloatArray, IntArray
from othello_lab.experiments.statistics.pool import rate_pools
from othello_lab.experiments.statistics.sequential import Sprt, simulate
from othello_lab.experiments.statistics.stopped_match import BrownianPaths

MATCHES = [  # Elo, pairs, share of draws, share of pairs split by the opening
    *((elo, 100, 0.04, 0.0) for elo in (0, 50, 100, 200, 300, 400)),
    *((elo, pairs, 0.04, 0.0) for elo in (0, 200, 400) for pairs in (200, 1000)),
    (400, 100, 0.0, 0.0),
    (400, 100, 0.15, 0.0),
    (50, 100, 0.3, 0.0),
    (50, 100, 0.04, 0.6),
    (100, 200, 0.04, 0.4),
]

FEW_PAIRS = [(elo, pairs, 0.04, 0.0) for elo in (0, 200) for pairs in (4, 8, 16, 32)]

OPENINGS = (4, 8, 16, 50)

POOLS = [  # agents, Elo between neighbours, effect of openings on agents and on Black, Elo
    (4, 100, 0, 0),
    (4, 100, 200, 200),
    (8, 0, 0, 0),
    (8, 50, 200, 200),
    (8, 50, 400, 0),
]

TESTS = [  # model, elo0, elo1, alpha, beta, share of draws, share of split pairs
    ("logistic", 0, 50, 0.05, 0.05, 0.04, 0.0),
    ("logistic", 0, 30, 0.05, 0.1, 0.04, 0.4),
    ("logistic", -20, 20, 0.01, 0.05, 0.3, 0.0),
    ("normalized", 0, 50, 0.05, 0.05, 0.04, 0.0),
    ("normalized", -20, 40, 0.1, 0.05, 0.04, 0.4),
]


def normalised_elo(shares: FloatArray) -> float:
    """Return the normalised Elo of the true distribution of pairs."""
    mean = float(shares @ SHARES)
    return NELO / math.sqrt(2) * (mean - 0.5) / math.sqrt(shares @ (SHARES - mean) ** 2)


def coverage(
    elo: float, pairs: int, draws: float, split: float, matches: int, seed: int
) -> tuple[float, float, float]:
    """Return the share of matches whose 95 % interval, or bound, holds the true Elo.

    Also returns the same share for normalised Elo, over matches with an interval, and the share of
    matches with only a bound.
    """
    shares = pair_shares(elo, draws, split)
    nelo = normalised_elo(shares)
    held, nelo_held, bounds = [], [], 0
    for counts in np.random.default_rng(seed).multinomial(pairs, shares, size=matches):
        match = match_statistics(counts)
        if match.split:
            continue  # nothing is claimed
        if match.bound:
            bounds += 1
            held.append(elo >= match.elo if match.bound == ">" else elo <= match.elo)
        else:
            held.append(match.elo_low <= elo <= match.elo_high)
            if not math.isnan(match.nelo):
                nelo_held.append(match.nelo_low <= nelo <= match.nelo_high)
    nelo_share = float(np.mean(nelo_held)) if nelo_held else math.nan
    return float(np.mean(held)), nelo_share, bounds / matches


def truth(model: str, elo: float, draws: float, split: float) -> FloatArray:
    """Return the shares of pairs of agents exactly as far apart as a hypothesis states."""
    if model == "normalized":
        elo = brentq(lambda e: normalised_elo(pair_shares(e, draws, split)) - elo, -100, 100)
    return pair_shares(elo, draws, split)


def errors(
    test: Sprt, draws: float, split: float, matches: int, seed: int
) -> tuple[float, float, float, float]:
    """Return the rates of H1 accepted under H0 and of H0 under H1, and the mean pairs of each."""
    counts0, under0 = simulate(test, truth(test.model, test.elo0, draws, split), matches, seed)
    counts1, under1 = simulate(test, truth(test.model, test.elo1, draws, split), matches, seed + 1)
    wrong1 = float((under1 != 1).mean())
    pairs0, pairs1 = (float(counts.sum(axis=1).mean()) for counts in (counts0, counts1))
    return float((under0 != 0).mean()), wrong1, pairs0, pairs1


def stopped_truths(test: Sprt) -> tuple[float, ...]:
    """Return differences at and around a test's hypotheses, in Elo."""
    width = test.elo1 - test.elo0
    return tuple(test.elo0 + times * width for times in (-1, 0, 0.5, 1, 2, 4))


def stopped_coverage(
    test: Sprt, elo: float, draws: float, split: float, matches: int, seed: int
) -> tuple[float, float, float]:
    """Simulate sequential tests of agents ``elo`` apart and check the estimates after them.

    Returns the share of 95 % intervals that hold ``elo``, the share of estimates below it, and the
    mean Elo of the plain scores, over scores with a finite Elo.
    """
    counts, _ = simulate(test, pair_shares(elo, draws, split), matches, seed)
    worse = BrownianPaths(test, counts).worse(np.full(len(counts), float(elo)))
    score = counts @ SHARES / counts.sum(axis=1)
    naive = elo_of_score(score[(score > 0) & (score < 1)]).mean()
    held = float(((worse >= 0.025) & (worse <= 0.975)).mean())
    return held, float((worse > 0.5).mean()), float(naive)


@dataclass(frozen=True)
class SharedOpenings:
    """Pools whose pairings share openings that suit some agents, and Black, better than others.

    elo: of each strategy. suits, colour: standard deviations, in Elo, of an opening's bonus for
        each strategy against everybody, and for Black. copies: number of further agents that play
        the first strategy, move for move, by other names.
    """

    elo: FloatArray
    suits: float
    colour: float
    copies: int = 0

    def expected(self, openings: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the first strategy's share of points with Black and with White.

        Each array has the shape (openings, pairings).
        """
        first, second = np.triu_indices(len(self.elo), 1)
        strength = self.elo + rng.normal(0, self.suits, (openings, len(self.elo)))
        gap, black = strength[:, first] - strength[:, second], rng.normal(0, self.colour, openings)
        return expected_score(gap + black[:, None]), expected_score(gap - black[:, None])

    def truth(self, rng: np.random.Generator) -> FloatArray:
        """Return the ratings of an infinite run, shape (strategies,)."""
        first, second = np.triu_indices(len(self.elo), 1)
        share = np.mean(
            [np.mean(self.expected(20_000, rng), axis=(0, 1)) for _ in range(20)], axis=0
        )
        start = np.zeros((1, len(self.elo) + 1))
        games = np.ones((1, 1, len(first)))
        return ELO * fit(share[None, None], games, first, second, start)[0, :-1]

    def play(self, openings: int, rng: np.random.Generator) -> IntArray:
        """Simulate the pairs of one run, shape (openings, strategies, strategies, 5)."""
        first, second = np.triu_indices(len(self.elo), 1)
        black, white = (rng.random(share.shape) < share for share in self.expected(openings, rng))
        half_points = 2 * (black.astype(int) + white)
        tables = np.zeros((openings, len(self.elo), len(self.elo), 5), dtype=int)
        opening = np.arange(openings)[:, None]
        tables[opening, first, second, half_points] = 1
        tables[opening, second, first, 4 - half_points] = 1
        return tables


def pool_coverage(
    model: SharedOpenings, openings: int, pools: int, seed: int
) -> tuple[float, float, float]:
    """Return the coverage of agents' 95 % intervals in pools without bounds.

    Also returns the share of pairs of agents with one wrongly called superior at 97.5 %, and the
    coverage of naive intervals. These take each pair for independent evidence, and copies for
    agents of their own.
    """
    rng = np.random.default_rng(seed)
    plays = np.append(np.zeros(model.copies, dtype=int), np.arange(len(model.elo)))
    truth = model.truth(rng)
    naive_truth = truth[plays] - truth[plays].mean()
    held, naive, wrong = [], [], []
    for number in range(pools):
        tables = model.play(openings, rng)
        ((_, ratings),) = rate_pools(tables, seed=number, strategies=plays)
        if any(ratings.bound):
            continue
        held.append((ratings.low <= truth[plays]) & (truth[plays] <= ratings.high))
        no_better = truth[plays][:, None] < truth[plays] + 1
        wrong.append(
            2 * ((ratings.superiority > 0.975) & no_better).sum() / len(plays) / (len(plays) - 1)
        )
        pairs = np.where(
            (plays[:, None] == plays)[..., None],
            openings * np.eye(5, dtype=int)[2],
            tables.sum(axis=0)[np.ix_(plays, plays)],
        )
        pairs[np.arange(len(plays)), np.arange(len(plays))] = 0
        ((_, alone),) = rate_pools(pairs, seed=number)
        naive.append((alone.low <= naive_truth) & (naive_truth <= alone.high))
    return float(np.mean(held)), float(np.mean(wrong)), float(np.mean(naive))


if __name__ == "__main__":
    ROOT = Path(__file__).parents[1]
    TEST = ROOT / "tests" / "experiments" / "statistics" / "test_validity.py"
    sys.exit(pytest.main(["-q", "-s", "-n", "0", "-m", "", str(TEST), *sys.argv[1:]]))
