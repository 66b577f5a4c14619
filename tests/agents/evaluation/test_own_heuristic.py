"""Heuristics of one's own: files as a user would write them, right ones and wrong ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import oracle
import pytest
from boards import random_game
from numba import njit
from refusals import refused
from runs import played

from othello_lab import MCTS, AlphaBeta, Position
from othello_lab.agents.evaluation import FunctionEvaluation, helpers
from othello_lab.agents.evaluation import function as function_module
from othello_lab.core import plain_rules
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read

Write = Callable[..., str]

GOOD = '''\
from othello_lab.agents.evaluation import heuristic
from othello_lab.agents.evaluation.helpers import ALL, CORNERS, NORTH, around, count, flips
from othello_lab.agents.evaluation.helpers import moves, shift, squares

CENTRE = squares("c3 f3 c6 f6")
WEIGHTS = (10, 3)


def freedom(mover, opponent):
    return count(moves(mover, opponent)) - count(moves(opponent, mover))


@heuristic
def hollow(mover, opponent):
    """Corners and freedom."""
    corners = count(mover & CORNERS) - count(opponent & CORNERS)
    return 10 * corners + count(moves(mover, opponent)) - count(moves(opponent, mover))


@heuristic
def share(mover, opponent):
    return (count(mover) - count(opponent)) / (count(mover) + count(opponent))


@heuristic
def everything(mover, opponent):
    empty = ALL & ~(mover | opponent)
    value = 0
    for square in range(64):
        if moves(mover, opponent) >> squares_type(square) & ONE:
            value += WEIGHTS[1] * count(flips(mover, opponent, square))
    value += count(around(opponent) & empty) - count(shift(mover, NORTH) & CENTRE)
    return value + WEIGHTS[0] * abs(count(mover & CENTRE) - 1)


@heuristic(boards=(4, 6, 8))
def anywhere(mover, opponent):
    return count(mover) - 2 * count(opponent)


def misspelt(m, o):
    return holow(m, o)


def silent(m, o):
    pass


import numpy as np

squares_type = np.uint64
ONE = np.uint64(1)
'''


START = "from othello_lab.agents.evaluation import heuristic\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write(code, name)``: a file of the user's; returns its path."""

    def make(code: str, name: str = "mine.py") -> str:
        path = tmp_path / name
        path.write_text(code, encoding="utf-8")
        return str(path)

    return make


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of good ones, which are compiled and tried once for all tests."""
    path = tmp_path_factory.mktemp("good") / "mine.py"
    path.write_text(GOOD, encoding="utf-8")
    return str(path)


@pytest.mark.integration
def test_an_integer_is_taken_as_it_is(mine: str) -> None:
    evaluation = FunctionEvaluation(f"{mine}:hollow")
    assert evaluation.name == "hollow"
    assert evaluation.sides == {8}
    assert evaluation.symmetric
    assert not evaluation.floating
    start = Position.start()
    assert evaluation(start) == evaluation.plain(start) == 0
    corner = Position(1, 2)  # a corner, and one move against none
    assert evaluation(corner) == evaluation.plain(corner) == 11
    assert evaluation(Position(2, 1)) == -11
    heard: list[str] = []
    evaluation.prepare(heard.append)
    FunctionEvaluation(f"{mine}:everything", compiled=False).prepare(heard.append)
    for told, words in ((heard[0], "hollow: compiled;"), (heard[-1], "everything: Python; not")):
        assert all(word in told for word in words.split())
        assert "symmetric" in told


@pytest.mark.integration
@pytest.mark.parametrize(
    ("result", "scale", "value"),
    [
        ("np.int32(-5)", 1000, -5),
        ("np.uint64(7)", 1000, 7),
        ("np.float32(0.25)", 1000, 250),
        ("-16777215", 1000, -16_777_215),
        ("16777.215", 1000, 16_777_215),
        ("1 / 3", 1000, 333),
        ("2.5", 1, 2),  # half to even
        ("-3.5", 1, -4),
        ("0.5", -3, -2),
    ],
)
def test_a_float_is_scaled_and_rounded(result: str, scale: int, value: int, write: Write) -> None:
    path = write(
        f"import numpy as np\n{START}@heuristic\ndef f(mover, opponent): return {result}\n"
    )
    for compiled in (True, False):
        evaluation = FunctionEvaluation(f"{path}:f", compiled, scale=scale)
        assert evaluation(Position.start()) == evaluation.plain(Position.start()) == value
        assert not evaluation.symmetric
        assert evaluation.floating is isinstance(eval(result), float | np.floating)


@pytest.mark.integration
def test_a_file_is_read_anew_and_a_module_may_be_named(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in (5, 105):
        path = write(f"{START}@heuristic\ndef constant(mover, opponent): return {value}\n")
        assert FunctionEvaluation(f"{path}:constant")(Position.start()) == value
    path = write(GOOD, "own_heuristic_module.py")
    monkeypatch.syspath_prepend(str(Path(path).parent))
    assert FunctionEvaluation("own_heuristic_module:hollow")(Position(1, 2)) == 11
    with refused("'holow'", "'hollow'"):
        FunctionEvaluation("own_heuristic_module:holow")


@pytest.mark.integration
@pytest.mark.parametrize("name", ["hollow", "share", "everything"])
def test_searches_with_it_are_the_same_compiled_and_plain(mine: str, name: str) -> None:
    evaluation = FunctionEvaluation(f"{mine}:{name}")
    slow = FunctionEvaluation(f"{mine}:{name}", compiled=False)
    assert (slow.compiled, evaluation.compiled) == (False, True)
    for position in random_game("standard", 3)[5:-1:18]:
        assert evaluation(position) == evaluation.plain(position) == slow(position)
        depth = 2 if name == "everything" else 3
        decision = AlphaBeta(depth, evaluation).search(position)
        assert decision == AlphaBeta(depth, evaluation, compiled=False).search(position)
        ordinary = AlphaBeta(depth, slow)
        assert not ordinary.compiled
        assert decision == ordinary.search(position)


def test_it_may_import_what_stands_beside_it(write: Write) -> None:
    write("WEIGHT = 7\n", "own_heuristic_weights.py")
    path = write(
        f"from own_heuristic_weights import WEIGHT\n{START}"
        "from othello_lab.agents.evaluation.helpers import count\n"
        "@heuristic\ndef weighed(mover, opponent):\n    return WEIGHT * count(mover)\n"
    )
    assert FunctionEvaluation(f"{path}:weighed")(Position(0b111, 0)) == 21


PAIP = Path(__file__).parents[1] / "external" / "paip.py"
LINE_UP = ["agents=ab_mirror", "evaluation=function"]


@pytest.mark.integration
@pytest.mark.parametrize("target", ["MINE:hollow", f"{PAIP}:weighted_score"])
def test_a_run_with_it(target: str, mine: str, tmp_path: Path) -> None:
    words = [*LINE_UP, f"evaluation.target={target.replace('MINE', mine)}", "games=4", "depth=2"]
    games = played(tmp_path, *words, "executor.workers=2").games
    assert games["end_reason"].tolist() == 4 * ["finished"]


@pytest.mark.integration
def test_in_a_line_up(mine: str) -> None:
    words = [*LINE_UP, f"evaluation.target={mine}:hollow"]
    plan = read(words)
    evaluations = [agent.evaluation for agent in plan.agents.values()]  # type: ignore[attr-defined]
    assert [evaluation.name for evaluation in evaluations] == ["hollow", "hollow"]
    plain = read([*words, "evaluation.compiled=false", "evaluation.scale=10"])
    agent = plain.agents["left"]
    assert isinstance(agent, AlphaBeta)
    assert not agent.compiled
    # On the boards that it declares.
    small = FunctionEvaluation(f"{mine}:anywhere")
    assert small.sides == {4, 6, 8}
    start = Position.start("mini4")
    assert AlphaBeta(3, small).search(start) == AlphaBeta(3, small, False).search(start)
    read([*LINE_UP, "ruleset=mini6", f"evaluation.target={mine}:anywhere"])
    with refused("8x8", "mini6", error=ConfigError):
        read([*words, "ruleset=mini6"])


HEAD = """\
import os, time
import numpy as np
from othello_lab.agents.evaluation import heuristic
from othello_lab.agents.evaluation.helpers import count, moves

@heuristic
def wrong(mover, opponent):
"""  # so that the body starts in line 8


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("FOLDER/nowhere.py:f", "no file"),
        ("FOLDER:f", "cannot be loaded"),
        *((target, "path/to/file.py:function") for target in ("MINE:", "MINE", ":hollow", "")),
        ("MINE:holow", "'hollow'"),
        ("MINE:holow", "hollow, share, everything, anywhere"),
        ("MINE:squares", "'squares' is not marked with @heuristic"),
        ("MINE:CENTRE", "'CENTRE' is not marked with @heuristic"),
        ("no_such_module:f", "'no_such_module'"),
        ("MINE:misspelt", "no heuristic: line 42: NameError: name 'holow' is not defined"),
        ("MINE:silent", "no heuristic: it answers None"),
    ],
)
def test_what_is_not_there(mine: str, tmp_path: Path, target: str, complaint: str) -> None:
    with refused(complaint):
        FunctionEvaluation(target.replace("MINE", mine).replace("FOLDER", str(tmp_path)))


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("x = 1\n\ndef f(:\n    pass\n", "line 3: "),
        ("x = 1\n  y = 2\n", "line 2: unexpected indent"),
        ("x = 1\n\n\ny = x / 0\n", "line 4: ZeroDivisionError"),
        ("import nothing_of_this_name\n", "line 1: ModuleNotFoundError"),
        ("\nraise ValueError('one\\ntwo')\n", "line 2: ValueError: one two"),
        ("raise SystemExit(3)\n", "SystemExit"),
        ("x = 1\nf = 3\n", "@heuristic"),
        ("\0", "null bytes"),
        (f"{START}\n@heuristic(boards=(5,))\ndef f(mover, opponent): return 1\n", "line 3: "),
    ],
    ids=["syntax", "indent", "raises", "import", "lines", "exit", "nothing", "binary", "boards"],
)
def test_files_that_cannot_be_loaded(write: Write, code: str, complaint: str) -> None:
    with refused("mine.py", complaint):
        FunctionEvaluation(write(code) + ":heur")


def test_a_mistake_in_a_file_beside_it_is_found_there(write: Write) -> None:
    write("x = 1\n\n\n\n\ndef f(:\n", "own_heuristic_broken.py")
    path = write("import own_heuristic_broken\n")
    with pytest.raises(ValueError, match=r"own_heuristic_broken|line 1:"):
        FunctionEvaluation(f"{path}:f")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("    pass", "None"),
        ("    if count(mover) > 9:\n        return 1", "None"),
        ("    raise ValueError('never')", "line 8, .*ValueError: never"),
        ("    return np.random.randint(0, 99)", "random numbers"),
        ("    return count(mover) + (np.random.random() < 0.1)", "random numbers"),
        ("    return 'many'", "an integer or a float"),
        ("    return count(mover) > count(opponent)", "an integer or a float"),
        ("    return 1j", "an integer or a float"),
        ("    return float('nan')", "nan"),
        ("    return -1e9", "16777215"),
        ("    return 16777216", "16777215"),
        ("    return np.uint64(2**63)", "16777215"),
        (
            "    if count(mover) > 9:\n        raise ValueError('no\\nmore')\n    return 1",
            "no more",
        ),
        ("    x = 1\n    return 1 // (count(mover) - count(mover))", "line 9, .*ZeroDivisionError"),
        ("    os._exit(1)\n    return 1", "ended its process"),
        ("    raise SystemExit\n    return 1", "ended its process"),
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_results_that_are_of_no_use(
    write: Write, body: str, complaint: str, compiled: bool
) -> None:
    with pytest.raises(ValueError, match=f"{complaint}|cannot be compiled") as refusal:
        FunctionEvaluation(write(HEAD + body + "\n") + ":wrong", compiled)
    message = str(refusal.value)
    assert "mine.py" in message and "\n" not in message and "Traceback" not in message
    if "cannot be compiled" in message:
        assert compiled and re.search(r"line \d+", message)


def test_what_cannot_be_compiled_runs_as_ordinary_python(write: Write) -> None:
    path = write(HEAD + "    return len([s for s in bin(int(mover)) if s == '1'] + [*{}.keys()])\n")
    with refused(
        "mine.py", "cannot be compiled: line 8, `return len(", "@heuristic(compiled=False)"
    ):
        FunctionEvaluation(f"{path}:wrong")
    marked = write(Path(path).read_text().replace("@heuristic", "@heuristic(compiled=False)"))
    evaluation = FunctionEvaluation(f"{marked}:wrong")
    assert not evaluation.compiled
    guided = MCTS(playouts=5, rollout="greedy", evaluation=evaluation)
    assert AlphaBeta(2, evaluation).search(Position.start()).value is not None
    assert guided.search(Position.start()).stats.evaluations > 0


@pytest.mark.parametrize("arguments", ["mover", "mover, opponent, more", ""])
def test_the_wrong_number_of_arguments(write: Write, arguments: str) -> None:
    path = write(HEAD.replace("mover, opponent", arguments) + "    return 1\n")
    for compiled in (True, False):
        with refused("mine.py", "argument"):
            FunctionEvaluation(f"{path}:wrong", compiled)


@pytest.mark.parametrize(
    "body",
    [
        "    n = 0\n    while count(mover) > 3:\n        n += 1\n    return n\n",
        "    while True:\n        pass\n",  # of which the compiler says that it gives None
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.integration
def test_one_that_never_ends_is_stopped(
    write: Write, body: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_module, "CHECK_SECONDS", 0.2)
    with refused("did not end"):
        FunctionEvaluation(write(HEAD + body) + ":wrong", compiled)


def squares_of(mask: int) -> set[tuple[int, int]]:
    return {(s // 8, s % 8) for s in range(64) if int(mask) >> s & 1}


STEPS = {
    f"{north}{'_' if north and east else ''}{east}": (down, right)
    for north, down in (("NORTH", -1), ("", 0), ("SOUTH", 1))
    for east, right in (("WEST", -1), ("", 0), ("EAST", 1))
    if north or east
}


def moved(mask: int, step: tuple[int, int]) -> set[tuple[int, int]]:
    to = {(row + step[0], column + step[1]) for row, column in squares_of(mask)}
    return {(row, column) for row, column in to if 0 <= row < 8 and 0 <= column < 8}


compiled = SimpleNamespace(
    count=njit(lambda mask: helpers.count(mask)),
    around=njit(lambda mask: helpers.around(mask)),
    moves=njit(lambda mover, opponent: helpers.moves(mover, opponent)),
    flips=njit(lambda mover, opponent, square: helpers.flips(mover, opponent, square)),
    shift=njit(lambda mask, direction: helpers.shift(mask, direction)),
)


@pytest.mark.integration
@pytest.mark.parametrize("form", [helpers, compiled], ids=["plain", "compiled"])
def test_helpers(form: Any) -> None:
    boards = [oracle.masks(oracle.random_board(8, seed), oracle.BLACK) for seed in range(60)]
    for mover, opponent in [*boards, (2**64 - 1, 0), (1 << 63, 0)]:
        mask, inside = np.uint64(mover), squares_of(mover)
        for name, step in STEPS.items():
            result = form.shift(mask, getattr(helpers, name))
            assert squares_of(result) == moved(mover, step), (name, hex(mover))
        near = inside.union(*(moved(mover, step) for step in STEPS.values()))
        assert form.count(mask) == len(inside)
        assert squares_of(form.around(mask)) == near
        legal = Position(mover, opponent).moves
        assert form.moves(mask, np.uint64(opponent)) == oracle.mask([*legal])
        for square in legal:
            turned = plain_rules.flips(mover, opponent, square, 8)
            assert form.flips(mask, np.uint64(opponent), square) == turned
    assert isinstance(helpers.around(mask), np.uint64)
    assert isinstance(helpers.shift(mask, helpers.NORTH), np.uint64)


def test_squares_and_named_masks() -> None:
    assert helpers.squares("a1 h8 d4") == np.uint64(1 | 1 << 63 | 1 << 27)
    assert isinstance(helpers.squares("a1"), np.uint64)
    assert helpers.squares("") == 0
    assert squares_of(helpers.CORNERS) == {(0, 0), (0, 7), (7, 0), (7, 7)}
    assert squares_of(helpers.X_SQUARES) == {(1, 1), (1, 6), (6, 1), (6, 6)}
    board = {(row, column) for row in range(8) for column in range(8)}
    assert squares_of(helpers.ALL) == board
    assert squares_of(helpers.EDGES) == {(r, c) for r, c in board if {r, c} & {0, 7}}
    beside = {p for p in squares_of(helpers.around(helpers.CORNERS)) if set(p) & {0, 7}}
    assert squares_of(helpers.C_SQUARES) == beside - squares_of(helpers.CORNERS)
    for bad in ("a9", "i1", "a", "a1h8", "--", "pass"):
        with pytest.raises(ValueError, match="not a square"):
            helpers.squares(bad)
