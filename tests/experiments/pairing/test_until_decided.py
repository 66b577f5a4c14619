"""Matches that end when it is decided which agent is better."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab.experiments.pairing import PairOutcomes, UntilDecided
from othello_lab.experiments.pairing.schedule import PairOutcome
from othello_lab.experiments.statistics.intervals import student

POINTS = np.arange(5) / 2


def ended_after(points: np.ndarray) -> tuple[int, str]:
    """Return the number of pairs after which the match ends, and its verdict."""
    schedule, results = UntilDecided(), PairOutcomes()
    for number, share in enumerate(points):
        results.add(PairOutcome(0, 1, float(share), (f"{number}", f"{number}'")))
        if verdict := schedule.verdict(results):
            return number + 1, verdict
    return len(points), ""


@pytest.mark.integration
def test_equal_agents_are_rarely_told_apart() -> None:
    chances = [0.15, 0.1, 0.5, 0.1, 0.15]
    matches = np.random.default_rng(1).choice(POINTS, size=(300, 400), p=chances)
    wrong = sum(bool(ended_after(points)[1]) for points in matches)
    assert wrong <= 15 + 8  # 5 % of 300, and twice the deviation


@pytest.mark.integration
def test_an_interval_at_the_end_holds_the_truth() -> None:
    """The usual 95 % interval held it in 88 to 96 % of matches, by the shape of the results."""
    rng = np.random.default_rng(3)
    chances, held = np.array([0.15, 0.0, 0.4, 0.45, 0.0]), 0
    for points in rng.choice(POINTS, size=(400, 800), p=chances):
        part = points[: ended_after(points)[0]]
        error = part.std(ddof=1) / np.sqrt(len(part))
        away = abs(part.mean() - chances @ POINTS)
        held += away <= student(len(part), UntilDecided.looks) * error
    assert held >= 0.95 * 400


@pytest.mark.parametrize(("points", "note"), [(1.5, "ann 75.0 %"), (0, "bob 100.0 %")])
def test_progress_names_the_leader(points: float, note: str) -> None:
    results = PairOutcomes()
    assert UntilDecided().note(["ann", "bob"], results) == ""
    results.add(PairOutcome(0, 1, points, ("a", "b")))
    assert UntilDecided().note(["ann", "bob"], results) == note


def test_the_larger_the_difference_the_sooner_it_ends() -> None:
    rng = np.random.default_rng(2)
    large, small = (
        rng.choice(POINTS, size=3200, p=chances)
        for chances in ([0.0, 0.05, 0.3, 0.25, 0.4], [0.1, 0.1, 0.5, 0.15, 0.15])
    )
    assert ended_after(large) == (50, "the first agent is better")
    assert ended_after(small)[0] > 50
    assert ended_after(2 - small)[1] == "the second agent is better"
