"""Sample sizes."""

from __future__ import annotations

import pytest
from scipy.stats import norm

from othello_lab.experiments.statistics.power import sample_size


def test_the_error_rate_goes_with_the_deviation_of_no_difference() -> None:
    wanted = ((norm.ppf(0.95) * 0.5 + norm.ppf(0.8) * 0.2) / 0.1) ** 2
    assert sample_size(0.1, 0.2, 0.5, alpha=0.05, power=0.8) == pytest.approx(wanted)
    swapped = sample_size(0.1, 0.5, 0.2, alpha=0.05, power=0.8)
    assert swapped == pytest.approx(((norm.ppf(0.95) * 0.2 + norm.ppf(0.8) * 0.5) / 0.1) ** 2)
