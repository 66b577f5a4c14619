"""Claims: how they are written, and what becomes of them."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from runs import made
from students import HERE

from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read
from othello_lab.experiments.studies import claims, load
from othello_lab.experiments.studies.claims import HOLDS, UNDECIDED, Claims
from othello_lab.experiments.studies.grammar import parse

Patch = pytest.MonkeyPatch
READ = {
    "alphabeta(depth 4, iago) >= greedy + 200 Elo": None,
    "a<b": "a < b",
    "./mine.py:Bot(depth=2) > random -20 Elo": "./mine.py:Bot(depth 2) > random - 20 Elo",
    "nodes(a(order tt+static)) < 20 % x nodes(b)": "nodes(a(order tt+static)) < 0.2 x nodes(b)",
    "evaluations(pvs) <= 5000": None,
    "time(a) <= time(b)": None,
    "a(iterative true, table_mb null) >= b": None,
    "a(depth 1, patience 0, weight 1.0, solved false) > b": None,
    "a(depth 1, evaluation=iago) > b": "a(depth 1, iago) > b",
}


@pytest.mark.parametrize(("text", "read"), READ.items(), ids=list(READ))
def test_claims_are_read(text: str, read: str | None) -> None:
    claim = parse(text)
    assert str(claim) == (read or text) and parse(str(claim)) == claim


def test_all_wrong_claims_are_told_at_once() -> None:
    claims = Claims(claims=["greedy >= random + 20", "greedy > random", "random > random"])
    with pytest.raises(ValueError, match=r"^greedy >= random \+ 20: .*; random > random: "):
        _ = claims.parsed


WRONG = {
    "a >= b + 20": "Elo is needed",
    "a >= b + lots Elo": "'lots'",
    "a >=": "an agent",
    "a b": "'b' where one of >= <= > <",
    "nodes(a) <= 2 nodes(b)": "'nodes' where x",
    "nodes(a) <= 2 x b": "'b' where one of nodes,",
    "nodes(a) <= time(b)": "nodes and time",
    "a(depth 4 >= b": "'>=' where , or )",
    "a(iago, mobility) >= b": "'mobility' has no value, and iago",
    "a(iago, evaluation=mobility) >= b": "'mobility' is a second",
    "a() > b": "')' where a setting",
    "a > b - 5 Elo or so": "'or' is too much",
    "": "an agent",
}


@pytest.mark.parametrize(("text", "why"), WRONG.items(), ids=list(WRONG))
def test_what_is_no_claim_is_refused_in_a_line_that_names_it(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        parse(text)
    assert str(caught.value).startswith(f"{text}: ") and why in str(caught.value)


def study(results: Path, *words: str, code: int = 1) -> tuple[str, pd.DataFrame]:
    """Make a study of claims: what is told, and its table."""
    quick = ["executor=serial", "figures=false", "depth=2"]
    said, folder = made(results, "study", "claims", *quick, *words, code=code)
    return said, load(folder)["claims"]


@pytest.mark.integration
def test_claims_hold_fail_or_stay_undecided(tmp_path: Path) -> None:
    claims = tmp_path / "homework.yaml"
    claims.write_text(
        "claims:\n"
        "  - random > weighted + 200 Elo\n"
        "  - nodes(alphabeta) <= nodes(minimax)\n"
        "  - evaluations(minimax) > 1000000\n"
        "  - weighted(modified_square_weights) > weighted\n"
    )
    said, table = study(tmp_path, f"study.claims={claims}", "study.positions=40", "games=100")
    assert "4 claims 1 holds, 2 fail, 1 is undecided" in said
    assert table["verdict"].tolist() == ["fails", "holds", "fails", "undecided"]
    assert table["ratio"][1] < 1
    assert table["high"][0] < 0


@pytest.mark.integration
def test_all_claims_hold(tmp_path: Path) -> None:
    claims = 'study.claims=["weighted >= random", "nodes(weighted) <= 20"]'
    words = ["games=100", "study.tolerance=100", "study.positions=40"]
    _, table = study(tmp_path, claims, *words, code=0)
    strength, cost = table.to_dict("records")
    assert strength["low"] < strength["elo"] < strength["high"]
    assert cost["amount"] == "40 positions" and np.isnan(cost["ratio"])


@pytest.mark.integration
def test_a_students_class_is_handed_an_evaluation_and_no_claim_holds_by_forfeits(
    tmp_path: Path,
) -> None:
    claims = tmp_path / "claims.yaml"
    claims.write_text(
        f"- {HERE}:Student(depth 1, square_weights) > random - 300 Elo\n"
        f"- {HERE}:Broken(depth 1, evaluation=iago) <= random\n"
        f"- {HERE}:Broken(depth 1, iago) > random\n"
    )
    words = [f"study.claims={claims}", "games=100", "study.tolerance=200"]
    said, table = study(tmp_path, *words)
    assert table["verdict"].tolist() == ["holds", "undecided", "fails"]
    games = [int(amount.split()[0]) for amount in table["amount"]]
    assert table["forfeits"].tolist() == [0, *games[1:]]
    assert f"{games[1]} of {games[1]} games forfeited: " in said and "it is broken" in said
    assert table["amount"][1] == f"{games[1]} games, {games[1]} forfeited"
    assert "Forfeits do not show" in table["evidence"][1]


def judged(monkeypatch: Patch, forfeits: int, name: str = "greedy > random") -> list[str]:
    """The verdict on a claim by a run of this claim's name, most of whose pairs were won."""
    pairs = np.zeros((2, 2, 5), dtype=int)
    pairs[0, 1] = 0, 0, 5, 15, 30
    monkeypatch.setattr(claims, "pair_counts", lambda record, rated: pairs)
    monkeypatch.setattr(claims, "about_forfeits", lambda record: ["late"])
    record = SimpleNamespace(
        count_games=lambda forfeited=False: forfeits if forfeited else 100,
        head=lambda: {"config": {"name": f"claims: {name}"}},
    )
    played: Any = SimpleNamespace(number=0, folder="0", record=lambda: nullcontext(record))
    plan = read(["agents=duel", "agent@first=greedy", "agent@second=random"])
    conclusion = Claims(claims=["greedy > random"], tolerance=200).conclude(plan, [played])
    return list(conclusion.frames["claims"]["verdict"])


@pytest.mark.parametrize(("forfeits", "verdict"), [(0, HOLDS), (50, HOLDS), (51, UNDECIDED)])
def test_a_claim_holds_if_no_more_than_half_of_its_games_are_forfeited(
    forfeits: int, verdict: str, monkeypatch: Patch
) -> None:
    assert judged(monkeypatch, forfeits) == [verdict]


def test_claims_that_have_changed_are_not_judged_by_games_of_others(monkeypatch: Patch) -> None:
    with pytest.raises(ConfigError, match="claims have changed"):
        judged(monkeypatch, 0, "greedy > greedy")
