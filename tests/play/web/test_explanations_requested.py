"""What a page may ask of the section "Why", as the server takes it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra play is not installed")

from served import HUMAN, Page

GREEDY = {"name": "greedy", "settings": {}}


def alphabeta(**settings: Any) -> dict[str, Any]:
    return {"name": "alphabeta", "settings": settings}


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("values", {}, "player"),
        ("values", {"player": HUMAN}, "person"),
        ("values", {"player": {"name": "../greedy"}}, "name"),
        ("values", {"player": {"name": "nobody"}}, "nobody"),
        ("course", {"player": {**GREEDY, "agent": {"_target_": "os.abort"}}}, "'agent'"),
        ("tree", {"player": alphabeta(evaluation={"_target_": "os.abort"})}, "evaluation"),
        ("tree", {"player": alphabeta(depth=10**9)}, "depth=1000000000"),
        ("tree", {"player": alphabeta(), "depth": 3}, "'depth'"),
        ("parts", {"evaluation": "mine.py:f"}, "evaluation"),
        ("parts", {"evaluation": "function"}, "'function'"),
        ("parts", {"evaluation": {"_target_": "os.abort"}}, "evaluation"),
        ("values", {"player": GREEDY, "ply": 201}, "ply=201"),
        ("decide", {}, "'decide'"),
        ("texts", {"ply": -1}, "ply=-1"),
        ("games", {}, "run"),
        ("games", {"run": "../../etc"}, "../../etc"),
    ],
)
def test_what_is_refused(page: Page, name: str, options: dict[str, Any], why: str) -> None:
    answer = page.ask(name, **options)
    assert why in answer["trouble"]
    assert "\n" not in answer["trouble"]
    assert page.move("d3") is None


def test_what_is_answered(page: Page) -> None:
    for move in ("d3", "c5"):
        assert page.move(move) is None
    values = page.ask("values", player=GREEDY)["ok"]
    assert values["to_move"] == "black"
    assert [each["move"] for each in values["moves"]]
    before = page.ask("values", player=GREEDY, ply=1)["ok"]
    assert before["to_move"] == "white"
    parts = page.ask("parts", evaluation="mobility", ply=0)["ok"]
    assert [each["move"] for each in parts["moves"]] == ["d3", "c4", "f5", "e6"]
    course = page.ask("course", player=alphabeta(depth=2))["ok"]
    assert len(course["points"]) == 3
    tree = page.ask("tree", player=alphabeta(depth=2, ordering="static", evaluation="iago"))["ok"]
    assert tree["counts"] == {name: tree["engine"][name] for name in tree["counts"]}
    assert tree["ordering"] == "static"


@pytest.mark.integration
def test_a_question_is_answered_while_an_agent_thinks(page: Page) -> None:
    """Analysis and play have a desk each, and a slow question can be called off."""
    minimax = {"name": "minimax", "settings": {"depth": 40}}
    seats = {"black": minimax, "white": HUMAN}
    assert page.tell("players", **seats) is None
    page.wait_for(lambda state: state["thinking"])
    assert page.ask("values", player=GREEDY)["ok"]["moves"]
    page.number += 1
    options = {"player": minimax}
    page.send({"type": "ask", "id": page.number, "name": "values", "options": options})
    page.send({"type": "cancel", "id": page.number})
    answer = page.hear_until(lambda message: message.get("id") == page.number)
    while answer["type"] == "note":
        answer = page.hear_until(lambda message: message.get("id") == page.number)
    assert answer["trouble"] == "stopped"
    assert page.ask("values", player=GREEDY)["ok"]["moves"]
    assert page.tell("stop") is None
