"""Strategies and evaluations written for PAIP's Othello play unchanged, and as they are."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import played_out
from chosen import mostly_nightly
from runs import line_of

from othello_lab import (
    PASS,
    AlphaBeta,
    Color,
    DiscCount,
    GreedyAgent,
    Maximizer,
    Position,
    SquareWeights,
    play_game,
)
from othello_lab.agents import contract
from othello_lab.agents.agent import Limits
from othello_lab.agents.evaluation import FunctionEvaluation
from othello_lab.agents.evaluation.board_list import board_list, list_index, square_at
from othello_lab.agents.external import FunctionAgent
from othello_lab.agents.external_agent import ExternalAgent, is_outside
from othello_lab.agents.loading import load_module
from othello_lab.agents.sides import side_of
from othello_lab.core.game import FINISHED
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read

FILE = Path(__file__).with_name("paip.py")


def positions(games: int = 12, most: int = 45) -> list[Position]:
    """Of random games, with so many discs at most, and a move to be made."""
    turns = [turn for seed in range(games) for turn in played_out("standard", seed)]
    return [position for position, move in turns if move != PASS and position.discs < most]


def test_the_board_is_paips() -> None:
    start = Position.start()
    rows = [
        "".join(board_list(start.black, start.white)[row : row + 10]) for row in (0, 40, 50, 90)
    ]
    assert rows == ["??????????", "?...o@...?", "?...@o...?", "??????????"]
    assert [square_at(list_index(square)) for square in range(64)] == list(range(64))
    assert (list_index(0), list_index(7), list_index(63)) == (11, 18, 88)
    for index in (0, 10, 19, 20, 89, 91, 100, -11):
        with pytest.raises(ValueError, match="not a square"):
            square_at(index)


@pytest.mark.parametrize(
    ("target", "same"),
    [
        ("maximizer(score)", GreedyAgent()),
        ("maximizer(weighted_score)", Maximizer(SquareWeights())),
        ("alphabeta_searcher(2, score)", AlphaBeta(2, DiscCount())),
        ("alphabeta_searcher(depth=2, evaluate=weighted_score)", AlphaBeta(2, SquareWeights())),
    ],
)
def test_it_plays_what_our_own_agents_play(target: str, same: Any) -> None:
    agent = FunctionAgent(f"{FILE}:{target}")
    for position in positions(1 if "searcher" in target else 4, 30):
        for player in (agent, same):
            player.begin_game(position.to_move, position, 1)
        ours, theirs = (player.decide(position, Limits()).move for player in (same, agent))
        assert theirs == ours, f"\n{position}"


@pytest.mark.integration
@pytest.mark.parametrize(
    "name", mostly_nightly(["numpy_strategy", "untidy_strategy"], ["untidy_strategy"])
)
def test_it_keeps_to_the_contract(name: str) -> None:
    agent = FunctionAgent(f"{FILE}:{name}")
    assert is_outside(agent) and agent.reproducible
    verdict = contract.check(agent, patience=60)
    assert verdict.holds, f"\n{verdict}"
    names = {finding.name for finding in verdict.findings if finding.outcome == contract.OK}
    assert {"seed", "memory", "twice"} <= names


def transcript(black: FunctionAgent, white: FunctionAgent, seeds: Sequence[int]) -> str:
    record = play_game(
        {Color.BLACK: black, Color.WHITE: white},
        seeds={Color.BLACK: seeds[0], Color.WHITE: seeds[1]},
    )
    assert record.end_reason == FINISHED
    return record.transcript


def test_two_in_one_process_have_random_numbers_of_their_own() -> None:
    def agents() -> tuple[FunctionAgent, FunctionAgent]:
        return FunctionAgent(f"{FILE}:random_strategy"), FunctionAgent(f"{FILE}:random_strategy")

    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = random.getstate()
    first = transcript(*agents(), (1, 2))
    assert random.getstate() == before  # nobody else's are touched
    random.seed(6)
    assert transcript(*agents(), (1, 2)) == first
    assert transcript(*agents(), (1, 3))[:2] == first[:2]  # Black's first move is Black's alone
    others = {transcript(*agents(), (seed, 2)) for seed in range(5)}
    assert len(others) == 5


def test_a_strategy_is_made_anew_for_each_game() -> None:
    agent = FunctionAgent(f"{FILE}:forgetful(limit=1)")
    for _ in range(3):
        agent.begin_game(Color.BLACK, Position.start(), 1)
        assert agent.decide(Position.start(), Limits()).move == 19


def test_the_file_is_not_loaded_where_the_judge_is(tmp_path: Path) -> None:
    marker = tmp_path / "numbers"
    (tmp_path / "mine.py").write_text(
        f"import os\nopen({str(marker)!r}, 'a').write(f'{{os.getpid()}} ')\n"
        "def first(player, board):\n    return next(s for s in range(11, 89) if board[s] == '.')\n"
    )
    line_up = ["agents=duel", "agent@first=function", f"first.target={tmp_path}/mine.py:first"]
    plan = read([*line_up, "agent@second=random"])
    assert isinstance(plan.agents["function"], ExternalAgent)
    assert str(os.getpid()) not in marker.read_text().split()


# ------------------------------------------------------------------ evaluations


@pytest.mark.parametrize(
    ("name", "same"), [("score", DiscCount()), ("weighted_score", SquareWeights())]
)
def test_an_evaluation_gives_what_ours_gives(name: str, same: Any) -> None:
    evaluation = FunctionEvaluation(f"{FILE}:{name}")
    assert evaluation.sides == {8}
    for position in positions(2):
        assert evaluation(position) == same(position)
    scaled = FunctionEvaluation(f"{FILE}:mean_weight", scale=64)
    assert scaled(positions(1)[9]) == SquareWeights()(positions(1)[9])


def test_an_evaluation_of_lists_runs_as_ordinary_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FILE.parent)  # a long path is cut in the table
    evaluation = FunctionEvaluation(f"{FILE}:score")
    assert not evaluation.compiled and is_outside(Maximizer(evaluation))
    assert "score" in line_of(
        "agents", "evaluate", "f5d6c3", "--evaluation", f"./{FILE.name}:score"
    )


# ------------------------------------------------------------------ targets


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("FILE:maximiser(score)", "no 'maximiser' there. Did you mean 'maximizer'?"),
        ("FILE:maximizer(scor)", "no 'scor' there. Did you mean 'score'?"),
        ("FILE:maximizer", "it takes .*evaluate.*; \\(player, board\\) is needed.*to be called"),
        ("FILE:WEIGHTS", "is no function"),
        ("FILE:alphabeta_searcher(1 + 2, score)", "'1 \\+ 2' is neither a name"),
        ("FILE:maximizer(lambda p, b: 0)", "is neither a name, nor a call"),
        ("FILE:random.choice([1])", "'random.choice\\(\\[1\\]\\)' is neither"),
        ("FILE:maximizer(*SQUARES)", "'\\*SQUARES' is neither"),
        ("FILE:maximizer(**{})", "is neither"),
        ("FILE:__import__('os').system('x')", "is neither"),
        ("FILE:maximizer(", "is neither"),
        ("FILE:maximizer()", "cannot be made: TypeError: maximizer\\(\\) missing 1"),
        ("FILE:refuses(1, [2, 'x'], key=-3)", "cannot be made: TypeError"),
        (
            "FILE:refuses(-1, [2, 'x'])",
            r"cannot be made: line \d+: ValueError: no: \(-1, \[2, 'x'\]",
        ),
        ("FILE", "path/to/file.py:function is needed"),
    ],
)
def test_targets_that_are_none(target: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        FunctionAgent(target.replace("FILE", str(FILE)))
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------ Python 2


def test_a_file_finds_two_names_of_python_2(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def middle(player, board):\n    return [s for s in xrange(34, 36)][0]\n")
    assert FunctionAgent(f"{file}:middle").decide(Position.start(), Limits()).move == 19
    file.write_text("RESULT = xrange(2), raw_input\nxrange = None\n")
    assert load_module(str(file)).xrange is None  # its own one counts


HINT = "in Python 3 / divides"


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("return board[9 / 2]", True),
        ("return [0 for _ in range(8 / 2)]", True),
        ("return len(filter(None, board))", True),
        ("return map(ord, board)[0]", True),
        ("return 1 + 'a'", False),
        ("return undefined", False),
        ("return board[200]", False),
    ],
)
def test_an_error_of_a_file_for_python_2_has_a_hint(body: str, hint: bool, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"def wrong(player, board):\n    {body}\n")
    with pytest.raises((LookupError, NameError, TypeError)) as caught:
        FunctionAgent(f"{file}:wrong").decide(Position.start(), Limits())
    assert (HINT in str(caught.value)) == hint
    for ask, error in ((FunctionEvaluation, ValueError), (side_of, ConfigError)):
        with pytest.raises(error, match=r"mine\.py:wrong.*: line 2\b") as refused:  # type: ignore[arg-type]
            ask(f"{file}:wrong")  # type: ignore[operator]
        assert (HINT in str(refused.value)) == hint
