"""Whether the statistics say the truth: simulated matches, tests and pools whose truth is known.

Prints how often 95 % intervals hold it, how often sequential tests are wrong, how well a ladder is
recovered, and how long the bootstrap takes. Pairs are drawn from the model of ``plan``
(:func:`experiments.sample_size.pair_shares`).
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from scipy.optimize import brentq

from experiments.sample_size import pair_shares
from experiments.statistics.elo import NELO
from experiments.statistics.match import match_statistics
from experiments.statistics.pairs import SHARES, FloatArray
from experiments.statistics.pool import rate
from experiments.statistics.sequential import Sprt, simulate

MATCHES = [  # Elo, pairs, share of draws, share of pairs split by the opening
    *((elo, 100, 0.04, 0.0) for elo in (0, 50, 100, 200, 300, 400)),
    *((elo, pairs, 0.04, 0.0) for elo in (0, 200, 400) for pairs in (200, 1000)),
    (400, 100, 0.0, 0.0),
    (400, 100, 0.15, 0.0),
    (50, 100, 0.3, 0.0),
    (50, 100, 0.04, 0.6),
    (100, 200, 0.04, 0.4),
]

TESTS = [  # model, elo0, elo1, alpha, beta, share of draws, share of split pairs
    ("logistic", 0, 50, 0.05, 0.05, 0.04, 0.0),
    ("logistic", 0, 30, 0.05, 0.1, 0.04, 0.4),
    ("logistic", -20, 20, 0.01, 0.05, 0.3, 0.0),
    ("normalized", 0, 50, 0.05, 0.05, 0.04, 0.0),
    ("normalized", -20, 40, 0.1, 0.05, 0.04, 0.4),
]


def normalised_elo(shares: FloatArray) -> float:
    """Of the true distribution of pairs."""
    mean = float(shares @ SHARES)
    return NELO / math.sqrt(2) * (mean - 0.5) / math.sqrt(shares @ (SHARES - mean) ** 2)


def coverage(
    elo: float, pairs: int, draws: float, split: float, matches: int, seed: int
) -> tuple[float, float, float]:
    """How often a match's 95 % interval, or the bound in its place, holds the true Elo; the same
    for normalised Elo, where it is given; and how often there was only a bound."""
    shares = pair_shares(elo, draws, split)
    nelo = normalised_elo(shares)
    held, nelo_held, bounds = [], [], 0
    for counts in np.random.default_rng(seed).multinomial(pairs, shares, size=matches):
        found = match_statistics(counts)
        if found.split:
            continue  # nothing is claimed
        if found.bound:
            bounds += 1
            held.append(elo >= found.elo if found.bound == ">" else elo <= found.elo)
        else:
            held.append(abs(found.elo - elo) <= found.elo_margin)
            nelo_held.append(abs(found.nelo - nelo) <= found.nelo_margin)
    return float(np.mean(held)), float(np.mean(nelo_held)), bounds / matches


def truth(model: str, elo: float, draws: float, split: float) -> FloatArray:
    """The pairs of agents that are exactly as far apart as a hypothesis says."""
    if model == "normalized":
        elo = brentq(lambda e: normalised_elo(pair_shares(e, draws, split)) - elo, -100, 100)
    return pair_shares(elo, draws, split)


def errors(
    test: Sprt, draws: float, split: float, matches: int, seed: int
) -> tuple[float, float, float, float]:
    """How often a test accepts H1 under H0, and H0 under H1; the mean pairs under H0 and H1."""
    pairs0, under0 = simulate(test, truth(test.model, test.elo0, draws, split), matches, seed)
    pairs1, under1 = simulate(test, truth(test.model, test.elo1, draws, split), matches, seed + 1)
    wrong1 = float((under1 != 1).mean())
    return float((under0 != 0).mean()), wrong1, float(pairs0.mean()), float(pairs1.mean())


def round_robin(ladder: FloatArray, pairs: int, seed: int) -> np.ndarray:
    """Counts of a simulated round robin, shape (n, n, 5)."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((len(ladder), len(ladder), 5), dtype=int)
    for i in range(len(ladder)):
        for j in range(i + 1, len(ladder)):
            counts[i, j] = rng.multinomial(pairs, pair_shares(ladder[i] - ladder[j], draws=0.01))
            counts[j, i] = counts[i, j][::-1]
    return counts


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    matches, seed = options.matches, options.seed

    print(f"How often a 95 % interval holds the truth, {matches:,} simulated matches each")
    print("   Elo  pairs  draws  split    Elo held  nElo held  only a bound")
    for elo, pairs, draws, split in MATCHES:
        held, nelo_held, bounds = coverage(elo, pairs, draws, split, matches, seed)
        print(
            f"{elo:6} {pairs:6} {draws:6.2f} {split:6.2f} {100 * held:9.1f} % "
            f"{100 * nelo_held:8.1f} % {100 * bounds:11.2f} %"
        )

    print(f"\nHow often a sequential test is wrong, {matches:,} simulated tests each")
    print("model       elo0 elo1  draws split   H0 rejected (limit)  H1 rejected (limit)  pairs")
    for model, elo0, elo1, alpha, beta, draws, split in TESTS:
        test = Sprt(elo0, elo1, alpha, beta, model)
        wrong0, wrong1, pairs0, pairs1 = errors(test, draws, split, matches, seed)
        print(
            f"{model:10} {elo0:5} {elo1:4} {draws:6.2f} {split:5.2f} "
            f"{100 * wrong0:9.2f} % ({100 * alpha / (1 - beta):5.2f} %) "
            f"{100 * wrong1:8.2f} % ({100 * beta / (1 - alpha):5.2f} %) "
            f"{pairs0:5.0f} / {pairs1:.0f}"
        )

    ladder = np.linspace(-450, 450, 10)
    ratings = rate(round_robin(ladder, 2000, seed))
    held = ((ratings.low <= ladder) & (ladder <= ratings.high)).sum()
    print(
        f"\nA ladder of 10 agents 100 Elo apart, 2,000 pairs a pairing: the largest error is "
        f"{np.abs(ratings.elo - ladder).max():.1f} Elo; {held} of 10 intervals hold the truth"
    )

    table = round_robin(np.linspace(-300, 300, 20), 100, seed)
    begun = time.perf_counter()
    rate(table, replicates=1000)
    print(f"1,000 replicates of 20 agents: {time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    main()
