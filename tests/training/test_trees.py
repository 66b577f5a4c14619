"""Training of trees: what is grown is what is exported, it learns, and goes on where it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from taught import taught_positions

from othello_lab.agents.learned import TreeEvaluation
from othello_lab.agents.learned.features import NAMES, features
from othello_lab.agents.learned.trees import QUESTIONS
from othello_lab.core.position import Position
from othello_lab.core.system.optional_libraries import needs
from othello_lab.training import trees as module
from othello_lab.training.data import VALIDATION, Positions
from othello_lab.training.stages import MOST_EMPTIES, stages_of_empties
from othello_lab.training.training import LearningResult, NotFinite, TrainingContext
from othello_lab.training.tree_figures import _TreeLayout, tree_figures
from othello_lab.training.tree_growing import (
    ALWAYS,
    SingleTree,
    TreeStage,
    answers,
    grow,
    importances,
)
from othello_lab.training.trees import TreesTraining

pytest.importorskip("sklearn")

SMALL = TreesTraining(data=["made up"], trees=12, stages=3, rate=0.3, smallest_leaf=20)


@pytest.fixture(scope="module")
def positions(random_game: Callable[[str, int], list[Position]]) -> Positions:
    return taught_positions(random_game)


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
    found = grow(
        given,
        positions.score,
        given[:0],
        positions.score[:0],
        trees=7,
        depth=4,
        rate=0.3,
        smallest_leaf=15,
    )
    foretold = found.start + answers(found, given).sum(axis=0)
    np.testing.assert_allclose(foretold, model.predict(given), atol=1e-9)
    missed = ((foretold - positions.score) ** 2).sum()
    assert found.train_squares[-1] == pytest.approx(missed)
    assert found.train_count == len(positions)


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


def test_the_single_tree_plays(trained: tuple[TrainingContext, LearningResult]) -> None:
    work, learned = trained
    file = work.saved("single_tree.npz")
    assert str(file) in learned.findings[0]
    assert TreeEvaluation(file).trees == 1


def test_an_interrupted_training_goes_on(
    positions: Positions,
    trained: tuple[TrainingContext, LearningResult],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grown = []
    grow_stage = module.grow

    def counted(*args: Any, **settings: Any) -> TreeStage:
        grown.append(1)
        if len(grown) == 3:
            raise KeyboardInterrupt
        return grow_stage(*args, **settings)

    monkeypatch.setattr(module, "grow", counted)
    with pytest.raises(KeyboardInterrupt):
        SMALL.learn(TrainingContext(tmp_path, positions=positions))
    again = TrainingContext(tmp_path, positions=positions)
    learned = SMALL.learn(again)
    assert len(grown) == 4  # the last stage twice
    for name, array in trained[1].weights.arrays.items():
        np.testing.assert_array_equal(learned.weights.arrays[name], array)
    first = trained[0].history
    assert [row["train"] for row in again.history] == [row["train"] for row in first]


def test_a_stage_without_positions_answers_with_the_mean(
    positions: Positions, tmp_path: Path
) -> None:
    late = positions.stage(0, 30)
    learned = SMALL.learn(TrainingContext(tmp_path, positions=late))
    evaluation = TreeEvaluation(learned.weights)
    mean = float(np.mean(late.part(0).score))
    assert evaluation(Position.start()) == round(100 * mean)


def test_scores_that_are_no_numbers_stop_it(positions: Positions, tmp_path: Path) -> None:
    score = positions.score.copy()
    score[::7] = np.nan
    broken = dataclasses.replace(positions, score=score)
    with pytest.raises(NotFinite, match=r"stage 0: scores: .* no longer finite") as refusal:
        SMALL.learn(TrainingContext(tmp_path, positions=broken))
    assert "\n" not in str(refusal.value)


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
    found = grow(given, score, given, score, trees=3, depth=3, rate=1, smallest_leaf=5)
    shares = importances([found, TreeStage.constant(3, 0.0)])
    assert shares[0, NAMES.index("mobility")] == pytest.approx(1, abs=0.01)
    assert shares[1].sum() == 0


def test_a_single_tree_counts_its_positions(positions: Positions) -> None:
    single = SingleTree.grown(positions, 6, np.random.default_rng(1))
    asked = [place for place in range(QUESTIONS) if single.stage.gain[0, place] > 0]
    assert len(asked) == 5
    for place in asked:
        assert single.counts[place] == single.counts[2 * place + 1] + single.counts[2 * place + 2]
    assert single.counts[0] == len(positions)


def test_figures_are_drawn(trained: tuple[TrainingContext, LearningResult]) -> None:
    figures = {figure.name: figure for figure in trained[1].figures()}
    assert list(figures) == ["single_tree", "first_tree", "importances"]
    told = [text.get_text() for text in figures["single_tree"].chart.axes[0].texts]
    assert any("?" in text for text in told)
    assert sum("%" in text for text in told) >= SMALL.drawn_leaves
    silent = TreeStage.constant(1, 0.0)
    leaf = next(iter(tree_figures(SingleTree(silent), [silent], np.zeros(65, int))))
    assert {text.get_text() for text in leaf.chart.axes[0].texts} == {"+0.0"}


def test_a_missing_library_is_named() -> None:
    with pytest.raises(ValueError, match=r"needs x; pip install '\.\[learn\]' in the folder"):
        needs("this training", "no_such_library", "learn", "x")


def test_a_tree_is_drawn_downwards_with_questions_over_the_middle_of_their_answers() -> None:
    threshold = np.full(QUESTIONS, ALWAYS)
    threshold[:2] = ALWAYS - 1  # the root, and its first answer
    layout = _TreeLayout(threshold)
    assert layout.where == {0: (1.25, 0), 1: (0.5, 1), 2: (2.0, 1), 3: (0.0, 2), 4: (1.0, 2)}
    assert (layout.depth, layout.leaves) == (2, 3)
