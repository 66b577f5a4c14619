"""Which agents decide alike."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from othello_lab.__main__ import main
from othello_lab.core.rules import ruleset
from othello_lab.experiments import studies
from othello_lab.experiments.studies.agreement import agreements, choices_text, disagreement
from othello_lab.experiments.studies.figures.similarity import similarity_figures
from othello_lab.experiments.studies.record import FILE

ANSWERS = pd.DataFrame(
    {"one": ["a1", "b1", "c1"], "two": ["a1", "b1", None], "three": ["a1", "h8", "c1"]}
)


def test_agreement_leaves_out_who_did_not_answer() -> None:
    found = agreements(ANSWERS, pd.Series(["x", "y", "z"])).set_index(["first", "second"])
    assert found.loc[("one", "two"), ["positions", "agreement"]].tolist() == [2, 1]
    other = found.loc[("one", "three")]
    assert (other["positions"], other["agreement"]) == (3, pytest.approx(2 / 3))
    assert 0 <= other["low"] < other["high"] <= 1


def test_where_agents_differ() -> None:
    found = disagreement(ANSWERS)
    assert found["different"].tolist() == [1, 2, 1]
    assert found["entropy"].round(3).tolist() == [0, 0.918, 0]
    assert choices_text(ANSWERS.loc[1], 1) == ["b1: one and 1 more", "h8: three"]


def test_searches_with_one_value_decide_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["agents=classics", "executor=serial", "study.positions=3", f"results={tmp_path}"]
    assert main(["study", "similarity", *words, "figures=false"]) == 0
    assert "more than any other two" in " ".join(capsys.readouterr().out.split())
    (record,) = tmp_path.rglob(FILE)
    folder = record.parent
    tables = studies.load(folder)
    assert len(tables["positions"]) == 9 and (tables["positions"]["choices"] > 1).all()
    assert len(tables["moves"]) == 9 * tables["moves"]["agent"].nunique()
    rules = ruleset("standard")
    answers = tables["moves"].set_index(["piece", "agent"])["move"].unstack()  # noqa: PD010
    apart = tables["positions"].set_index("piece").head(2)
    drawn = similarity_figures(tables["similarity"], apart, answers, rules)
    assert [figure.name for figure in drawn] == ["similarity", "differences"]


def test_agents_of_chance_have_a_chance_of_their_own(tmp_path: Path) -> None:
    words = ["agents=duel", "agent@first=random", "agent@second=random", "study.positions=4"]
    more = ["executor=serial", "figures=false", f"results={tmp_path}"]
    made = studies.make("similarity", *words, *more, quiet=True)
    assert studies.load(made.folder)["similarity"]["agreement"].item() < 0.8


@pytest.mark.integration
def test_an_agent_from_outside_that_fails_is_told_and_spoils_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from othello_lab import Agent, Decision\n"
        "class Mine(Agent):\n"
        "    def decide(self, position, limits):\n"
        "        if position.empties < 20:\n"
        "            raise RuntimeError('no idea')\n"
        "        return Decision(position.moves[-1])\n"
    )
    words = ["agents=duel", f"agent@first={file}:Mine", "agent@second=greedy", "figures=false"]
    more = ["study.positions=3", f"results={tmp_path}", "executor.workers=1"]
    assert main(["study", "similarity", *words, *more]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Mine gave no move in 3 positions" in printed and "no idea" in printed
    (record,) = tmp_path.rglob(FILE)
    moves = studies.load(record.parent)["moves"]
    assert moves.loc[moves["agent"] == "greedy", "move"].notna().all()
