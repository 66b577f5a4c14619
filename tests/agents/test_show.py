"""``agents show``: terms with their ranges, settings, source, and the place on the ladder."""

from __future__ import annotations

import pytest
from runs import told

from othello_lab.agents.commands.show import described_names, description
from othello_lab.agents.evaluation.catalogue import FEATURES
from othello_lab.agents.ladder import ladder, levels


def test_an_evaluation_is_shown_term_by_term() -> None:
    text = told("agents", "show", "composite")
    for term, weight in {"corners": 25, "mobility": 8, "stable_discs": 12}.items():
        largest = FEATURES.declared[term][1].largest
        assert f"{term}, {-largest} to {largest}, weight {weight}." in text
    assert "parity" not in text, "its weight is 0"
    row = next(row for row in ladder() if row.name == "heuristics_ab.composite")
    assert row.name in text and f": {row.elo} {row.interval}, above " in text
    assert "Range -1176 to 1176" in told("agents", "show", "square_weights")
    assert "Buro" in (text := told("agents", "show", "patterns")) and "othello-lab train" in text


@pytest.mark.integration
def test_an_agent_is_shown_with_settings_and_evaluation() -> None:
    assert "depth: to be given. Plies to look ahead" in told("agents", "show", "alphabeta")
    text = told("agents", "show", "search_family.ab_killer")
    assert "ordering: killer. the two moves that last caused a cutoff" in text
    assert "depth: 4." in text and "Evaluation square_weights" in text and "etc=false" in text
    text = told("agents", "show", "beginner")
    level = next(level for level in levels() if level.name == "beginner")
    assert "share: 0.25." in text and "Maximizer" in text and "Norvig" in text
    assert f"beginner: {level.elo} {level.interval} (level)" in text


@pytest.mark.integration
def test_all_that_is_in_conf_can_be_described() -> None:
    for name in described_names():
        assert "## On the ladder" in description(name)


def test_without_a_name_the_ladder_is_printed() -> None:
    text = told("agents", "show")
    assert text.index("champion") < text.index("starter")
    assert "classics.minimax_2" in text and "strong" in text
