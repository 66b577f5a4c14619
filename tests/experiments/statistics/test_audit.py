"""Blocks of a run against the rest of it."""

from __future__ import annotations

import numpy as np

from othello_lab.experiments.statistics.audit import OpeningCounts, self_audit
from othello_lab.experiments.statistics.pairs import IntArray

RATES = (0.1, 0.15, 0.4, 0.15, 0.2)


def by_opening(units: IntArray) -> OpeningCounts:
    counts, places = np.unique(units, axis=0, return_inverse=True)
    return OpeningCounts(counts, places.ravel())


def pairing(rng: np.random.Generator, *parts: tuple[int, tuple[float, ...]]) -> OpeningCounts:
    """A pair an opening. parts: so many openings, and the rates of their outcomes."""
    units = [rng.multinomial(1, rates, size=openings) for openings, rates in parts]
    return by_opening(np.concatenate(units))


def test_an_honest_run_holds_as_often_as_expected() -> None:
    rng = np.random.default_rng(2)
    audit = self_audit(pairing(rng, (250, RATES)) for _ in range(100))
    assert audit is not None
    assert audit[:3] == (10, 25, 1000)
    assert 0.92 <= audit.expected / audit.intervals <= 0.96
    assert abs(audit.held - audit.expected) < 30  # four standard deviations


def test_the_expectation_fits_results_that_are_nearly_all_alike() -> None:
    """With a lost pair in 40 every interval holds the rest, in any order."""
    rng = np.random.default_rng(5)
    rare = (0.0, 0.0, 0.025, 0.0, 0.975)
    audit = self_audit(pairing(rng, (150, rare)) for _ in range(15))
    assert audit is not None
    assert audit.held == audit.intervals and audit.expected > 0.99 * audit.intervals


def test_what_changes_during_a_run_is_seen() -> None:
    rng = np.random.default_rng(3)
    worse = (0.5, 0.2, 0.2, 0.1, 0.0)
    changed = [pairing(rng, (120, RATES), (120, worse)) for _ in range(20)]
    audit = self_audit(changed)
    assert audit is not None
    assert audit.held < 0.6 * audit.intervals


def test_too_few_openings_and_what_always_went_alike_say_nothing() -> None:
    rng = np.random.default_rng(4)
    assert self_audit([]) is None
    assert self_audit([pairing(rng, (39, RATES))]) is None
    assert self_audit([pairing(rng, (100, (0.0, 0.0, 1.0, 0.0, 0.0)))]) is None
    audit = self_audit([pairing(rng, (39, RATES)), pairing(rng, (40, RATES))])
    assert audit is not None
    assert audit[:3] == (4, 10, 4)
