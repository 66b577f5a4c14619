"""What comes with the lab: every learned evaluation still says what it said when it was shipped."""

from __future__ import annotations

import pytest
import yaml

from othello_lab.agents.config import choices, load_evaluation
from othello_lab.agents.learned.weights import ABOUT, SHIPPED, VALUES, values_of
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS

LEARNED = sorted(path.stem for path in SHIPPED.glob(f"*{ABOUT}"))


@pytest.mark.parametrize("name", LEARNED)
def test_shipped_evaluations_say_what_they_said(name: str) -> None:
    about = yaml.safe_load((SHIPPED / f"{name}{ABOUT}").read_text(encoding="utf-8"))
    evaluation = load_evaluation(name)
    assert about[VALUES] == values_of(evaluation)
    rules = next(rules for rules in RULESETS.values() if rules.side in evaluation.sides)
    for line, value in about[VALUES].items():
        assert evaluation.plain(Position.from_obf(line, rules)) == value
    # And tell how they were made.
    assert name in choices("evaluation")
    assert about["command"].startswith("othello-lab train ")
    assert isinstance(about["seed"], int) and about["versions"]
