"""Evolution of weights: the distribution, the matches, the training, and its duels."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from taught import plan

from othello_lab import MCTS, AlphaBeta, GreedyAgent, RandomAgent
from othello_lab.agents.agent import Agent
from othello_lab.agents.config import build
from othello_lab.agents.evaluation import Composite, Iago
from othello_lab.core.game import play_game
from othello_lab.core.rules import RULESETS, Color
from othello_lab.core.whole_games import prepare_games
from othello_lab.experiments.pairing import BalancedOpenings, RandomOpenings
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.training.duels import duel, points, starts_of
from othello_lab.training.evolution import (
    CandidateMatches,
    Evolution,
    Evolved,
    Genome,
    feature_sizes,
    latest_best,
)
from othello_lab.training.training import LearningResult, NotFinite, TrainingContext

pytest.importorskip("cma", reason="cma is not installed")

FEATURES = ("corners", "disc_count", "mobility")
GENES = Genome(FEATURES, (10, 40), (0.5, 20.0, 4.0))
SMALL = Evolved(
    features=list(FEATURES),
    knots=[20],
    opponents=["disc_count"],
    plies=1,
    openings=12,
    checks=40,
    population=6,
    generations=4,
)


def learned(training: Evolved, folder: Path, executor: str = "serial") -> LearningResult:
    work = TrainingContext(folder, plan=plan(f"executor={executor}"))
    return training.learn(work)


# ------------------------------------------------------------------ vectors


def test_a_vector_and_its_composite_say_the_same() -> None:
    vector = np.array([3.0, 4.0, 0.0, 1.0, -2.0, 2.0])
    assert np.allclose(GENES.normal(vector), [[0.6, 0.8, 0], [1 / 3, -2 / 3, 2 / 3]])
    composite = build(GENES.composite(vector), "evaluation", Composite)
    assert composite.weights_at(40)["mobility"] > 0 > composite.weights_at(40)["disc_count"]
    assert composite.weights_at(0) == composite.weights_at(8), "flat outside the knots"
    # The stages of the knots reach from 8 to 11 and from 40 to 43, so lines are followed a little.
    assert np.allclose(GENES.vector(composite).reshape(2, 3), GENES.normal(vector), atol=0.05)


def test_only_the_direction_at_a_knot_counts() -> None:
    vector = np.array([3.0, 4.0, 0.0, 1.0, -2.0, 2.0])
    scaled = vector * [10, 10, 10, 0.1, 0.1, 0.1]
    assert np.allclose(GENES.weights(scaled), GENES.weights(vector))
    assert (GENES.weights(np.zeros(6)) == 0).all()


def test_sizes_are_root_mean_squares() -> None:
    sizes = feature_sizes(FEATURES, RULESETS["standard"], 1)
    assert sizes == feature_sizes(FEATURES, RULESETS["standard"], 1)
    assert 0.3 < sizes[0] < 2 and 5 < sizes[1] < 20 and 2 < sizes[2] < 10


# ------------------------------------------------------------------ the distribution


def evolved(generations: int) -> tuple[Evolution, list[list[float]]]:
    evolution, fitness = Evolution(np.zeros(3), 0.5, seed=4), []
    for _ in range(generations):
        drawn = np.array(evolution.draw())
        fitness.append((-((drawn - [1, -2, 0.5]) ** 2).sum(axis=1)).tolist())
        evolution.tell(fitness[-1])
    return evolution, fitness


def test_the_distribution_climbs() -> None:
    evolution, fitness = evolved(60)
    assert np.allclose(evolution.means[-1], [1, -2, 0.5], atol=1e-3)
    assert evolution.sigma < 0.01
    assert np.mean(fitness[-1]) > np.mean(fitness[0])


def test_a_replayed_distribution_is_the_old_one() -> None:
    before = np.random.get_state()[1]  # noqa: NPY002
    evolution, fitness = evolved(12)
    again = Evolution(np.zeros(3), 0.5, seed=4, fitness=fitness)
    assert np.array_equal(again.means, evolution.means) and again.sigma == evolution.sigma
    assert all(map(np.array_equal, again.draw(), evolution.draw()))
    after = np.random.get_state()[1]  # noqa: NPY002
    assert np.array_equal(after, before), "numpy's global generator was used"


def test_the_best_mean_is_the_latest_of_equals() -> None:
    assert latest_best([0.4, 0.7, 0.6, 0.7, 0.5]) == 3


# ------------------------------------------------------------------ the training


@pytest.mark.integration
def test_evolution_beats_what_it_plays_against(tmp_path: Path) -> None:
    """From no weights at all, in four generations of six: greedy takes at most a third."""
    work = TrainingContext(tmp_path, plan=plan())
    result = SMALL.learn(work)
    assert result.about["score"] > 0.66
    assert result.about["score"] == pytest.approx(max(row["fitness_mean"] for row in work.history))
    assert [row["generation"] for row in work.history] == [1, 2, 3, 4]
    assert (result.about["generations"], result.about["games"]) == (4, 4 * 6 * 12 * 2)
    assert "disc_count at 1 plies" in result.findings[0]
    composite = build(result.evaluation, "evaluation", Composite)
    assert composite.weights_at(20)["corners"] > 0
    assert [figure.name for figure in result.figures()] == ["weights"]


@pytest.mark.integration
def test_evolution_is_the_same_on_any_number_of_workers(tmp_path: Path) -> None:
    short = dataclasses.replace(SMALL, start="composite", generations=2)
    alone = learned(short, tmp_path / "alone")
    assert learned(short, tmp_path / "two", "processes").evaluation == alone.evaluation
    assert "% to begin with: 80 games" in alone.findings[0]


def test_a_fitness_that_is_no_number_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CandidateMatches, "fitness", lambda self, task: float("nan"))
    with pytest.raises(NotFinite, match="generation 1: fitness: 6 of 6"):
        learned(SMALL, tmp_path)


# ------------------------------------------------------------------ duels


STANDARD = RULESETS["standard"]


def judged(one: Agent, other: Agent, opening: Opening) -> list[float]:
    """The differences of the two games, played by the judge."""
    result = []
    for color in Color:
        record = play_game({color: one, color.other: other}, opening.reach("standard"))
        difference = record.final.disc_difference
        result.append(difference if record.final.to_move is color else -difference)
    return result


def test_a_duel_is_what_the_judge_would_see() -> None:
    openings = [
        *BalancedOpenings().find(12, STANDARD, 5),
        *RandomOpenings(plies=7).find(8, STANDARD, 5),
    ]
    starts, one, other = starts_of(openings, STANDARD), AlphaBeta(2, Iago()), GreedyAgent()
    for agent in (one, other):
        agent.prepare()
    prepare_games()
    result = duel(one, other, starts, STANDARD)
    assert result.tolist() == [judged(one, other, opening) for opening in openings]
    assert np.array_equal(duel(other, one, starts, STANDARD)[:, ::-1], -result)


def test_points_are_those_of_both_games() -> None:
    differences = np.array([[2.0, 64.0], [0.0, -2.0], [-1.0, 1.0], [0.0, 0.0]])
    assert points(differences).tolist() == [1.0, 0.25, 0.5, 0.5]


def test_chance_follows_from_the_seed() -> None:
    starts = starts_of(BalancedOpenings().find(300, STANDARD, 1), STANDARD)
    one, two = RandomAgent(), RandomAgent()
    for agent in (one, two):
        agent.prepare()
    result = [duel(one, two, starts, STANDARD, *seed) for seed in ((), (0,), (1,))]
    assert np.array_equal(result[0], result[1]) and not np.array_equal(result[0], result[2])
    assert abs(points(result[0]).mean() - 0.5) < 4 * 0.5 / np.sqrt(600)


def test_agents_that_decide_in_python_are_refused() -> None:
    with pytest.raises(ValueError, match="MCTS"):
        duel(MCTS(playouts=1), GreedyAgent(), starts_of([Opening()], STANDARD), STANDARD)
