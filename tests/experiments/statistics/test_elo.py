"""Elo and expected scores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from othello_lab.experiments.statistics.elo import elo_of_score, expected_score


def test_expected_score_and_its_inverse() -> None:
    assert expected_score(0.0) == 0.5
    assert expected_score(400.0) == pytest.approx(10 / 11)
    differences = np.array([-800.0, -1.0, 0.0, 250.0])
    np.testing.assert_allclose(elo_of_score(expected_score(differences)), differences, atol=1e-9)
    for score in (0.0, 1.0, -0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="less than 1"):
            elo_of_score(score)
