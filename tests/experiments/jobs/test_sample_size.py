"""How many pairs a question needs: the model, the sample size, the command."""

from __future__ import annotations

import numpy as np
import pytest

from othello_lab.__main__ import main
from othello_lab.agents.config import ConfigError
from othello_lab.experiments.jobs import sample_size as module
from othello_lab.experiments.jobs.sample_size import MatchQuestion
from othello_lab.experiments.statistics.elo import expected_score
from othello_lab.experiments.statistics.sequential import simulate

SHARE = np.arange(5) / 4


@pytest.mark.parametrize("split", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("draws", [0.0, 0.04, 0.1])
def test_the_model_has_the_score_and_the_draws_that_were_asked_for(
    split: float, draws: float
) -> None:
    pairs = MatchQuestion(elo=20, draws=draws, split=split).pairs(20)
    assert pairs.sum() == pytest.approx(1)
    assert pairs @ SHARE == pytest.approx(expected_score(20.0))
    assert pairs[2] >= split
    independent = MatchQuestion(elo=20, draws=draws).pairs(20)
    # LD and WD hold one draw each; what else is drawn are pairs of draws, within DD+WL
    if not split:
        game = draws * (1 - draws)
        assert independent[1] + independent[3] == pytest.approx(2 * game)


def test_a_fixed_match_finds_the_difference_as_often_as_promised() -> None:
    question = MatchQuestion(elo=40, draws=0.1, power=0.8, alpha=0.05, elo0=10, split=0.2)
    rng = np.random.default_rng(1)
    n = question.fixed()
    mean0 = float(question.pairs(10) @ SHARE)
    error = np.sqrt(question.pairs(10) @ (SHARE - mean0) ** 2 / n)
    found = {
        elo: ((rng.multinomial(n, question.pairs(elo), 20_000) @ SHARE / n - mean0) / error > 1.645)
        for elo in (10, 40)
    }
    assert found[40].mean() == pytest.approx(0.8, abs=0.015)
    assert found[10].mean() == pytest.approx(0.05, abs=0.01)


def test_splits_by_the_opening_save_pairs_and_draws_too() -> None:
    assert MatchQuestion(elo=20, split=0.5).fixed() < 0.6 * MatchQuestion(elo=20).fixed()
    assert MatchQuestion(elo=20, draws=0.5).fixed() < MatchQuestion(elo=20).fixed()
    assert MatchQuestion(elo=10).fixed() == pytest.approx(
        4 * MatchQuestion(elo=20).fixed(), rel=0.02
    )


def test_a_sequential_test_needs_fewer_pairs_on_average() -> None:
    question = MatchQuestion(elo=50)
    counts, accepted = simulate(question.test(), question.pairs(50), 150, seed=1)
    pairs = counts.sum(axis=1)
    assert pairs.mean() < 0.75 * question.fixed()
    assert (accepted == 1).mean() > 0.83
    again, _ = simulate(question.test(), question.pairs(50), 150, seed=1)
    assert (counts == again).all()
    coarse, _ = simulate(question.test(), question.pairs(50), 150, seed=1, every=10)
    assert (coarse.sum(axis=1) % 10 == 0).all()
    short, undecided = simulate(question.test(), question.pairs(50), 50, seed=1, most=5)
    assert (short.sum(axis=1) == 5).all() and (undecided == -1).all()


@pytest.mark.integration
def test_the_command_tells_pairs_and_minutes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMED_SECONDS", 0.05)
    words = "elo=60 draws=0.05 agents=classics depth_is_no_setting=1"
    assert main(["plan", *words.split()]) == 2
    assert "unknown setting 'depth_is_no_setting'" in capsys.readouterr().err
    words = "elo=60 draws=0.05 agents=duel agent@first=greedy agent@second=random openings=start"
    assert main(["plan", *words.split(), "executor=serial"]) == 0
    printed = capsys.readouterr().out
    fixed = MatchQuestion(elo=60, draws=0.05).fixed()
    assert f"fixed match {fixed} {2 * fixed} " in " ".join(printed.split())
    for expected in (
        "SPRT if it is 60 Elo",
        "SPRT if it is 0 Elo",
        "greedy, random",
        "workers: none (serial).",
    ):
        assert expected in printed
    assert "Not enough openings for the fixed match" in printed
    assert main(["plan", "--help"]) == 0
    assert "split" in capsys.readouterr().out


@pytest.mark.integration
def test_a_misbehaving_agent_is_timed_and_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMED_SECONDS", 0.05)
    duel = "agents=duel agent@first=greedy agent@second=random executor.workers=1"
    hangs = "second._target_=misbehaving.Hangs limits.hang=0.3"
    assert main(["plan", "elo=60", *duel.split(), *hangs.split()]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Games were forfeited" in printed


BAD = {
    "draws=0.1": "elo=... is needed",
    "elo=many": "elo=many: a number is needed",
    "elo=inf": "elo=inf: a finite number",
    "elo=-5": "elo=-5: more than elo0=0",
    "elo=5 elo0=8": "elo=5: more than elo0=8",
    "elo=5 elo1=-1": "elo0=0 elo1=-1: elo0 must be below elo1",
    "elo=5 power=1": "power=1.0: ",
    "elo=5 alpha=0.5": "alpha=0.5: ",
    "elo=5 draws=1": "draws=1.0: ",
    "elo=5 split=-0.1": "split=-0.1: ",
    "elo=400 draws=0.5": "too few games to make a difference of 400 Elo",
    "elo=5 agents=nobody": "unknown line-up 'nobody'",
}


@pytest.mark.parametrize("words", BAD, ids=str)
def test_bad_input_is_one_line(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *words.split()]) == 2
    complaint = capsys.readouterr().err
    assert BAD[words] in complaint
    assert complaint.count("\n") == 1


def test_a_question_of_its_own_is_checked_too() -> None:
    with pytest.raises(ConfigError, match="elo=0: more than elo0=0"):
        MatchQuestion(elo=0)
