"""Sides of a match: what a word names."""

from __future__ import annotations

from pathlib import Path

import pytest
from bots import bot

from othello_lab.agents.sides import Side, protocol_of, side_of, with_open_settings
from othello_lab.core.system.settings import ConfigError

MINE = """
from othello_lab.agents.agent import Agent, Decision
from othello_lab.agents.evaluation import heuristic
from othello_lab.agents.evaluation.board_list import position_of

@heuristic
def hollow(mover, opponent):
    return int(mover & 1) - int(opponent & 1)

def bare(mover, opponent):
    return 0

class Student(Agent):
    def __init__(self, depth, evaluation):
        self.depth, self.evaluation = depth, evaluation
    def decide(self, position, limits):
        return Decision(position.moves[0])

class Needy(Agent):
    def __init__(self, colour):
        self.colour = colour

def first_legal(player, board):
    move = position_of(player, board).moves[0]
    return 11 + 10 * (move // 8) + move % 8

def count(player, board):
    return sum(piece == player for piece in board)

def searcher(plies, score):
    return first_legal

def add(left, right):
    return left + right
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return file


def chosen(side: Side) -> dict[str, str]:
    return dict(word.split("=", 1) for word in side.words("first"))


def test_names_of_the_lab() -> None:
    assert side_of("pvs").words("second") == ["agent@second=pvs"]
    assert chosen(side_of("iago")) == {"agent@first": "alphabeta", "first.evaluation": "'iago'"}
    assert chosen(side_of("iago", search="pvs"))["agent@first"] == "pvs"


@pytest.mark.parametrize(
    ("name", "agent", "setting"),
    [
        ("hollow", "alphabeta", "evaluation"),
        ("bare", "alphabeta", "evaluation"),
        ("count", "alphabeta", "evaluation"),
        ("first_legal", "function", "target"),
    ],
)
def test_functions_of_a_file(mine: Path, name: str, agent: str, setting: str) -> None:
    side = side_of(f"{mine}:{name}")
    assert chosen(side) == {"agent@first": agent, f"first.{setting}": f"'{mine}:{name}'"}
    assert (side.label, side.target) == (name, f"{mine}:{name}")


def test_a_marked_heuristic_counts_before_others_of_its_file(mine: Path) -> None:
    head, _, _ = MINE.partition("class Student")
    mine.write_text(head)
    assert side_of(str(mine)).label == "hollow"


def test_a_class_and_a_maker_get_the_depth_and_evaluation_of_the_match(mine: Path) -> None:
    for name in ("Student", "searcher"):
        side = side_of(f"{mine}:{name}")
        assert side.searches
        assert chosen(side)["first.depth"] == chosen(side)["first.evaluation"] == "'???'"


def test_a_run_may_fill_what_a_class_needs(mine: Path) -> None:
    first = f"agent@first={mine}:Student"
    opened = ["first.depth='???'", "first.evaluation='???'"]
    assert with_open_settings(["agents=duel", first]) == ["agents=duel", first, *opened]
    said = [first, "first.depth=2"]
    assert with_open_settings(said) == [*said, opened[1]]
    (extra,) = [f"+agent@agents.extra={mine}:Student"]
    assert "agents.extra.depth='???'" in with_open_settings([extra])
    for word in (f"agent@first={mine}:Needy", "agent@first=none.py:Student", "agent@first=pvs"):
        assert with_open_settings([word]) == [word]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("iaggo", ["'iaggo'", "file.py:NAME", "iago"]),
        ("{mine}", ["several", "hollow (evaluation)", "Student (agent)"]),
        ("{mine}:add", ["(left, right)", "@heuristic"]),
        ("{mine}:Needy", ["colour"]),
        ("{folder}/divides.py:h", ["line 2", "ZeroDivisionError", "(m, o)"]),
        ("{folder}/divides.py", ["function h", "line 2", "ZeroDivisionError", "no protocol"]),
        ("{mine}:nothing", ["nothing"]),
        ("none.py:hollow", ["no file none.py"]),
        ("{folder}/bad.py:hollow", ["ZeroDivisionError"]),
        ("{folder}/worse.py:hollow", ["ended"]),
        ("true", ["no protocol"]),
    ],
)
def test_what_is_no_side_is_told(mine: Path, word: str, parts: list[str]) -> None:
    (mine.parent / "bad.py").write_text("1 / 0")
    (mine.parent / "divides.py").write_text("def h(m, o):\n    return 1 / len(())\n")
    (mine.parent / "worse.py").write_text("import os; os._exit(3)")
    with pytest.raises(ConfigError) as refusal:
        side_of(word.format(mine=mine, folder=mine.parent))
    assert all(part in str(refusal.value) for part in parts)


@pytest.mark.integration
def test_a_program_is_asked_for_its_protocol(tmp_path: Path) -> None:
    command = bot(tmp_path, hear="line.split()[0] in ('game', 'move', 'played') or sys.exit()")
    assert protocol_of(command) == "line"
    program = tmp_path / "bot"
    program.write_text(f"#!/bin/sh\nexec {command}\n")
    program.chmod(0o755)
    side = side_of(str(program))
    assert (side.label, chosen(side)["agent@first"]) == ("bot", "line")
