"""Strategies and evaluations written for PAIP's Othello play unchanged, and as they are."""

from __future__ import annotations

import builtins
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bots import in_game
from chosen import mostly_nightly
from records import query

from othello_lab import (
    AlphaBeta,
    Color,
    DiscCount,
    GreedyAgent,
    Maximizer,
    Position,
    SquareWeights,
    play_game,
)
from othello_lab.__main__ import main
from othello_lab.agents import contract
from othello_lab.agents.agent import Limits
from othello_lab.agents.command_line import main as agents_main
from othello_lab.agents.evaluation import FunctionEvaluation
from othello_lab.agents.evaluation.board_list import board_list, list_index, square_at
from othello_lab.agents.external import FunctionAgent
from othello_lab.agents.external_agent import ExternalAgent, is_outside
from othello_lab.agents.loading import load_module
from othello_lab.agents.sides import side_of
from othello_lab.core.game import FINISHED, GARBAGE, ILLEGAL, RAISED
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read

FILE = Path(__file__).with_name("paip.py")


def positions(games: int = 12, most: int = 45) -> list[Position]:
    """Of random games, with so many discs at most, and a move to be made."""
    rng, found = np.random.default_rng(4), []
    for _ in range(games):
        position = Position.start()
        while not position.is_over and position.discs < most:
            if position.moves:
                found.append(position)
            position = position.play(int(rng.choice(position.moves or (64,))))
    return found


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
        for each in (agent, same):
            each.begin_game(position.to_move, position, 1)
        ours, theirs = (each.decide(position, Limits()).move for each in (same, agent))
        assert theirs == ours, f"\n{position}"


@pytest.mark.integration
@pytest.mark.parametrize(
    "name",
    mostly_nightly(["numpy_strategy", "untidy_strategy"], ["untidy_strategy"]),
)
def test_it_keeps_to_the_contract(name: str) -> None:
    agent = FunctionAgent(f"{FILE}:{name}")
    assert is_outside(agent) and agent.reproducible
    verdict = contract.check(agent, patience=60)
    assert verdict.holds, f"\n{verdict}"
    asked = {finding.name for finding in verdict.findings if finding.outcome == contract.OK}
    assert {"seed", "memory", "twice"} <= asked


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


@pytest.mark.parametrize(
    ("code", "reason", "told"),
    [
        ("return None", GARBAGE, "None"),
        ("return 19", GARBAGE, "19"),
        ("return 'd3'", GARBAGE, "'d3'"),
        ("return 34.0", GARBAGE, "34.0"),
        ("return 44", ILLEGAL, "occupied"),
        ("return board[100]", RAISED, "IndexError"),
        ("import sys; sys.exit(3)", RAISED, "SystemExit"),
    ],
)
def test_a_strategy_that_does_wrong_loses(
    code: str, reason: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(f"def wrong(player, board):\n    {code}\n")
    record = in_game(FunctionAgent(f"{tmp_path}/mine.py:wrong"))
    assert (record.winner, record.end_reason) == (Color.WHITE, reason)
    assert told in record.detail


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


@pytest.mark.integration
def test_an_evaluation_plays_in_a_search(tmp_path: Path) -> None:
    words = ["run", "agents=duel", "agent@first=minimax", "agent@second=minimax", "depth=2"]
    words += [f"second.evaluation={FILE}:weighted_score"]
    more = ["games=2", "figures=false", "searches.positions=1", f"results={tmp_path}"]
    assert main([*words, *more]) == 0
    (folder,) = (path.parent for path in tmp_path.rglob("games.sqlite"))
    rows = query(folder, "select name, agent from agents")
    nodes = {
        name: query(folder, f"select sum(evaluations) > 0 from moves where agent = {number}")
        for name, number in rows
    }
    assert nodes == {"square_weights": [(1,)], "weighted_score": [(1,)]}


def test_an_evaluation_of_lists_runs_as_ordinary_python(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FILE.parent)  # a long path is cut in the table
    evaluation = FunctionEvaluation(f"{FILE}:score")
    assert not evaluation.compiled and is_outside(Maximizer(evaluation))
    assert agents_main(["evaluate", "f5d6c3", "--evaluation", f"./{FILE.name}:score"]) == 0
    assert "score" in capsys.readouterr().out


def test_an_evaluation_that_raises_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def bad(player, board):\n    return board[100]\n")
    with pytest.raises(ValueError, match="raises line 2: IndexError"):
        FunctionEvaluation(f"{tmp_path}/mine.py:bad")


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
        ("FILE:", "path/to/file.py:function is needed"),
        ("FILE", "path/to/file.py:function is needed"),
        ("nowhere.py:f", "there is no file nowhere.py"),
        ("no_such_module:f", "No module named 'no_such_module'"),
    ],
)
def test_targets_that_are_none(target: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        FunctionAgent(target.replace("FILE", str(FILE)))
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------ Python 2


OLD = Path(__file__).parents[2] / "data" / "python2" / "othello.py"


def test_a_strategy_for_python_2_plays_with_its_names_and_its_division() -> None:
    agent = FunctionAgent(f"{OLD}:middle_strategy", python2=True)
    for position in positions(4):
        agent.begin_game(position.to_move, position, 1)
        moves = sorted(position.moves)
        assert agent.decide(position, Limits()).move == moves[len(moves) // 2]


def test_an_evaluation_for_python_2_gives_what_it_gave() -> None:
    half = FunctionEvaluation(f"{OLD}:half_score", python2=True)
    assert not half.compiled and not half.floating
    for position in positions(2):
        mine, others = (mask.bit_count() for mask in (position.mover, position.opponent))
        assert half(position) == mine // 2 - others // 2
    assert FunctionEvaluation(f"{OLD}:tie", python2=True)(Position.start()) == 0


@pytest.mark.parametrize(
    ("line", "now", "then"),
    [
        ("7 / 2, -7 / 2, True / 2, 7 / 2.0", (3.5, -3.5, 0.5, 3.5), (3, -4, 0, 3.5)),
        ("numpy.int64(7) / 2, 7 / numpy.int32(2)", (3.5, 3.5), (3, 3)),
        ("(numpy.arange(4) / 2).tolist(),", ([0, 0.5, 1, 1.5],), ([0, 0, 1, 1],)),
        ("(numpy.arange(4.0) / 2).tolist(),", ([0, 0.5, 1, 1.5],), ([0, 0.5, 1, 1.5],)),
        ("type(map(abs, [1])), type(filter(None, 'a'))", (map, filter), (list, str)),
        ("type(zip()), type(range(2)), type(filter(None, (0,)))", (zip, range, filter),
         (list, list, tuple)),
    ],
)  # fmt: skip
def test_a_file_is_read_as_python_2_only_where_that_is_set(
    line: str, now: Any, then: Any, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"import numpy\nRESULT = {line}\n")
    assert now == load_module(str(file)).RESULT
    assert then == load_module(str(file), python2=True).RESULT
    file.write_text(f"from __future__ import division\nimport numpy\nRESULT = {line}\n")
    divided = load_module(str(file), python2=True).RESULT
    assert divided == (now if "/" in line else then)


def test_nothing_of_python_2_stays_for_other_files(tmp_path: Path) -> None:
    FunctionAgent(f"{OLD}:middle_strategy", python2=True)
    assert "xrange" not in vars(load_module(str(OLD)).old_rules)["__builtins__"]
    (tmp_path / "mine.py").write_text("RESULT = xrange(3)\n")
    with pytest.raises(ValueError, match="line 1: NameError"):
        load_module(str(tmp_path / "mine.py"))
    assert not hasattr(builtins, "xrange") and type(map(abs, [])) is map


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return raw_input()", "raw_input is a name of Python 2: agent.python2=true reads the"),
        ("return board[9 / 2]", "/ between whole numbers rounds down in Python 2: agent.python2="),
        ("return undefined", "name 'undefined' is not defined$"),
        ("return 1 + 'a'", "unsupported operand type"),
    ],
)
def test_an_error_of_python_2_names_its_cure(body: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"def wrong(player, board):\n    {body}\n")
    agent = FunctionAgent(f"{tmp_path}/mine.py:wrong")
    with pytest.raises((NameError, TypeError), match=told) as caught:
        agent.decide(Position.start(), Limits())
    assert ("python2" in told) == ("python2" in str(caught.value))


@pytest.mark.integration
def test_the_cure_is_told_in_one_line_by_a_run_an_evaluation_and_a_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "def strategy(player, board):\n    return [s for s in xrange(11, 89)][0]\n"
        "def score(player, board):\n    return len(xrange(3))\n"
        "def searcher(depth):\n    return xrange(depth) and strategy\n"
    )
    for words, told in (
        (["agent@first=function", "first.target=./mine.py:strategy"], "agent.python2=true"),
        (["agent@first=maximizer", "first.evaluation=./mine.py:score"], "evaluation.python2=true"),
        (["agent@first=function", "'first.target=\"./mine.py:searcher(3)\"'"], ": python2=true"),
    ):
        words = [word.replace("./mine.py", f"{tmp_path}/mine.py").strip("'") for word in words]
        line_up = ["run", "agents=duel", *words, "agent@second=random", f"results={tmp_path}"]
        assert main(line_up) == 2
        printed = capsys.readouterr().err.strip()
        *_, last = printed.splitlines()
        assert f"xrange is a name of Python 2: {told.lstrip(': ')} reads the file so" in last


def test_a_side_of_a_match_is_read_as_python_2_by_itself() -> None:
    strategy, score = (side_of(f"{OLD}:{name}") for name in ("middle_strategy", "half_score"))
    assert (strategy.kind, score.kind) == ("a strategy", "an evaluation, in alphabeta")
    assert "first.python2=true" in strategy.words("first")
    assert "first.evaluation.python2=true" in score.words("first")
    assert not [word for word in side_of(f"{FILE}:score").words("first") if "python2" in word]


def test_a_side_that_raises_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def wrong(player, board):\n    return board[200]\n")
    with pytest.raises(ConfigError, match=r"mine\.py:wrong: line 2: IndexError"):
        side_of(f"{tmp_path}/mine.py:wrong")
