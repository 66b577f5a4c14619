"""How many pairs a question needs: the model, the sample size, the command."""

from __future__ import annotations

import numpy as np
import pytest
from runs import DUEL, line_of

from othello_lab.experiments.jobs import sample_size as module
from othello_lab.experiments.jobs.sample_size import MatchQuestion
from othello_lab.experiments.statistics.elo import expected_score
from othello_lab.experiments.statistics.sequential import simulate

SHARE = np.arange(5) / 4


@pytest.mark.parametrize("split", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("draws", [0.0, 0.1])
def test_the_model_has_the_score_and_the_draws_that_were_asked_for(
    split: float, draws: float
) -> None:
    pairs = MatchQuestion(elo=20, draws=draws, split=split).pairs(20)
    assert pairs.sum() == pytest.approx(1)
    assert pairs @ SHARE == pytest.approx(expected_score(20.0))
    assert pairs[2] >= split
    if not split:
        # LD and WD hold one draw each; what else is drawn are pairs of draws, within DD+WL
        assert pairs[1] + pairs[3] == pytest.approx(2 * draws * (1 - draws))


def test_a_fixed_match_finds_the_difference_as_often_as_promised() -> None:
    question = MatchQuestion(elo=40, draws=0.1, power=0.8, alpha=0.05, elo0=10, split=0.2)
    rng = np.random.default_rng(1)
    n = question.fixed()
    mean0 = float(question.pairs(10) @ SHARE)
    error = np.sqrt(question.pairs(10) @ (SHARE - mean0) ** 2 / n)
    for elo, share, tolerance in ((40, 0.8, 0.015), (10, 0.05, 0.01)):
        points = rng.multinomial(n, question.pairs(elo), 20_000) @ SHARE / n
        assert ((points - mean0) / error > 1.645).mean() == pytest.approx(share, abs=tolerance)


def test_splits_by_the_opening_save_pairs_and_draws_too() -> None:
    plain = MatchQuestion(elo=20).fixed()
    assert MatchQuestion(elo=20, split=0.5).fixed() < 0.6 * plain
    assert MatchQuestion(elo=20, draws=0.5).fixed() < plain
    assert MatchQuestion(elo=10).fixed() == pytest.approx(4 * plain, rel=0.02)


def test_a_sequential_test_needs_fewer_pairs_on_average() -> None:
    question = MatchQuestion(elo=50)
    arguments = question.test(), question.pairs(50)
    counts, accepted = simulate(*arguments, 150, seed=1)
    assert counts.sum(axis=1).mean() < 0.75 * question.fixed()
    assert (accepted == 1).mean() > 0.83
    assert (counts == simulate(*arguments, 150, seed=1)[0]).all()
    coarse, _ = simulate(*arguments, 20, seed=1, every=10)
    assert (coarse.sum(axis=1) % 10 == 0).all()
    short, undecided = simulate(*arguments, 20, seed=1, most=5)
    assert (short.sum(axis=1) == 5).all() and (undecided == -1).all()


@pytest.fixture
def timed_shortly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMED_SECONDS", 0.05)


@pytest.mark.integration
@pytest.mark.usefixtures("timed_shortly")
def test_the_command_tells_pairs_and_minutes() -> None:
    question = ["plan", "elo=60", "draws=0.05"]
    printed = line_of(*question, *DUEL, "openings=start", "executor=serial")
    fixed = MatchQuestion(elo=60, draws=0.05).fixed()
    for expected in (
        f"fixed match {fixed} {2 * fixed} ",
        *("SPRT if it is 60 Elo", "SPRT if it is 0 Elo"),
        *("greedy, random", "workers: none (serial)", "Not enough openings"),
        "+60 [19, 101]",  # 60 Elo are 1.64 + 1.28 standard errors
    ):
        assert expected in printed


@pytest.mark.integration
@pytest.mark.usefixtures("timed_shortly")
def test_a_misbehaving_agent_is_timed_and_told() -> None:
    hangs = ["second._target_=misbehaving.Hangs", "limits.hang=0.3", "executor.workers=1"]
    assert "forfeited" in line_of("plan", "elo=60", *DUEL, *hangs)
