"""Training of trees: what is grown is what is exported, it learns, and goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from taught import taught_positions

from othello_lab.agents.learned import TreeEvaluation
from othello_lab.agents.learned.features import NAMES, features
from othello_lab.agents.learned.trees import QUESTIONS
from othello_lab.core.position import Position
from othello_lab.training.data import VALIDATION, Positions
from othello_lab.training.stages import MOST_EMPTIES, stages_of_empties
from othello_lab.training.training import LearningResult, TrainingContext
from othello_lab.training.tree_growing import SingleTree, TreeStage, answers, grow, importances
from othello_lab.training.trees import TreesTraining
from othello_lab.training.weights_figures import tree_figures

pytest.importorskip("sklearn")

SMALL = TreesTraining(data=["made up"], trees=12, stages=3, rate=0.3, smallest_leaf=20)


@pytest.fixture(scope="module")
def positions() -> Positions:
    return taught_positions()


@pytest.fixture(scope="module")
def trained(positions: Positions, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    work = TrainingContext(tmp_path_factory.mktemp("trees"), positions=positions)
    return work, SMALL.learn(work)


def test_what_is_exported_is_what_scikit_learn_grew(positions: Positions) -> None:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    given = features(positions.mover, positions.opponent)
    settings: dict[str, Any] = {"min_samples_leaf": 15, "learning_rate": 0.3}
    model = HistGradientBoostingRegressor(
        max_iter=7, max_depth=4, max_leaf_nodes=16, early_stopping=False, **settings
    )
    with threadpool_limits(1):  # several threads wait for each other most of the time
        model.fit(given, positions.score)
    none = given[:0], positions.score[:0]
    stage = grow(given, positions.score, *none, trees=7, depth=4, rate=0.3, smallest_leaf=15)
    foretold = stage.start + answers(stage, given).sum(axis=0)
    np.testing.assert_allclose(foretold, model.predict(given), atol=1e-9)
    missed = ((foretold - positions.score) ** 2).sum()
    assert stage.train_squares[-1] == pytest.approx(missed)
    assert stage.train_count == len(positions)


def test_it_learns(positions: Positions, trained: tuple[TrainingContext, LearningResult]) -> None:
    work, learned = trained
    history = [row["validation"] for row in work.history]
    assert len(history) == 12
    assert history[-1] < 0.5 * history[0]
    evaluation = TreeEvaluation(learned.weights)
    held = positions.part(VALIDATION)
    foretold = evaluation.values(held.mover, held.opponent) / 100
    # Answers are whole hundredths of a disc, the sum is clipped to the board.
    assert np.mean((foretold - held.score) ** 2) == pytest.approx(history[-1], rel=0.02)
    assert "brought most" in learned.findings[1]
    errors = [float(row[1]) for row in learned.tables[0].rows]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.integration
def test_the_single_tree_plays(trained: tuple[TrainingContext, LearningResult]) -> None:
    work, learned = trained
    file = work.saved("single_tree.npz")
    assert str(file) in learned.findings[0]
    assert TreeEvaluation(file).trees == 1


def test_a_stage_without_positions_answers_with_the_mean(
    positions: Positions, tmp_path: Path
) -> None:
    late = positions.stage(0, 30)
    learned = SMALL.learn(TrainingContext(tmp_path, positions=late))
    evaluation = TreeEvaluation(learned.weights)
    mean = float(np.mean(late.part(0).score))
    assert evaluation(Position.start()) == round(100 * mean)


@pytest.mark.parametrize("stages", [1, 6, 10, 61])
def test_stages_are_about_equally_long(stages: int) -> None:
    of_empties = stages_of_empties(stages)
    lengths = np.bincount(of_empties[: MOST_EMPTIES + 1])
    assert len(lengths) == stages
    assert lengths.max() - lengths.min() <= 1
    assert of_empties.tolist() == sorted(of_empties.tolist())


def test_what_trees_ask_about_is_told(positions: Positions) -> None:
    """Where the score is one feature, all that questions bring is that feature's."""
    given = features(positions.mover, positions.opponent)
    score = given[:, NAMES.index("mobility")].astype(np.float32)
    stage = grow(given, score, given, score, trees=3, depth=3, rate=1, smallest_leaf=5)
    shares = importances([stage, TreeStage.constant(3, 0.0)])
    assert shares[0, NAMES.index("mobility")] == pytest.approx(1, abs=0.01)
    assert shares[1].sum() == 0


def test_a_single_tree_counts_its_positions(positions: Positions) -> None:
    single = SingleTree.grown(positions, 6, np.random.default_rng(1))
    questions = [slot for slot in range(QUESTIONS) if single.stage.gain[0, slot] > 0]
    assert len(questions) == 5
    for slot in questions:
        assert single.counts[slot] == single.counts[2 * slot + 1] + single.counts[2 * slot + 2]
    assert single.counts[0] == len(positions)


def test_figures_are_drawn(trained: tuple[TrainingContext, LearningResult]) -> None:
    figures = {figure.name: figure for figure in trained[1].figures()}
    assert list(figures) == ["single_tree", "first_tree", "importances"]
    texts = [text.get_text() for text in figures["single_tree"].chart.axes[0].texts]
    assert any("?" in text for text in texts)
    assert sum("%" in text for text in texts) >= SMALL.drawn_leaves
    silent = TreeStage.constant(1, 0.0)
    leaf = next(iter(tree_figures(SingleTree(silent), [silent], np.zeros(65, int))))
    assert {text.get_text() for text in leaf.chart.axes[0].texts} == {"+0.0"}
