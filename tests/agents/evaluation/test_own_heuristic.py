"""Heuristics of one's own: files as a user would write them, right ones and wrong ones."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import oracle
import pytest
from numba import njit
from rich.console import Console

from othello_lab import AlphaBeta, Maximizer, Position
from othello_lab.agents.config import ConfigError
from othello_lab.agents.evaluation import FINAL_UNIT, FunctionEvaluation, helpers
from othello_lab.agents.evaluation import function as function_module
from othello_lab.core.notation import square_name
from othello_lab.experiments.config import read
from othello_lab.experiments.jobs.run import run

RandomGame = Callable[[str, int], list[Position]]
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


import numpy as np

squares_type = np.uint64
ONE = np.uint64(1)
'''


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write(code, name)``: a file of the user's; returns its path."""

    def make(code: str, name: str = "mine.py") -> str:
        path = tmp_path / name
        path.write_text(textwrap.dedent(code), encoding="utf-8")
        return str(path)

    return make


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of good ones, which are compiled and tried once for all tests."""
    path = tmp_path_factory.mktemp("good") / "mine.py"
    path.write_text(GOOD, encoding="utf-8")
    return str(path)


def refusal(target: str, **settings: object) -> str:
    """The one line with which a heuristic is refused."""
    with pytest.raises(ValueError) as error:  # noqa: PT011
        FunctionEvaluation(target, **settings)  # type: ignore[arg-type]
    message = str(error.value)
    assert "\n" not in message
    assert not re.search(r"\x1b|Traceback|object at 0x|line None", message), message
    assert Path(target.partition(":")[0]).name in message
    return message


# ------------------------------------------------------------------ right ones


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


def test_a_float_is_scaled_and_rounded_half_to_even(mine: str, write: Write) -> None:
    evaluation = FunctionEvaluation(f"{mine}:share")
    assert evaluation.floating
    position = Position(0b11, 0b100)  # (2 - 1) / 3
    assert evaluation(position) == evaluation.plain(position) == 333
    assert FunctionEvaluation(f"{mine}:share", scale=1)(position) == 0
    assert FunctionEvaluation(f"{mine}:share", scale=-3)(position) == -1
    halves = write(
        """
        from othello_lab.agents.evaluation import heuristic
        from othello_lab.agents.evaluation.helpers import count

        @heuristic
        def half(mover, opponent):
            return (count(mover) - count(opponent)) / 2
        """,
        "halves.py",
    )
    half = FunctionEvaluation(f"{halves}:half", scale=1)
    for own, expected in ((1, 0), (2, 1), (3, 2), (5, 2), (7, 4)):
        one = Position((1 << own) - 1, 0)
        assert half(one) == half.plain(one) == expected
        other = Position(0, (1 << own) - 1)
        assert half(other) == half.plain(other) == -expected


def test_several_heuristics_in_one_file(mine: str) -> None:
    position = Position.from_transcript("f5d6c3d3c4")
    values = {n: FunctionEvaluation(f"{mine}:{n}")(position) for n in ("hollow", "share")}
    own, theirs = position.mover.bit_count(), position.opponent.bit_count()
    assert values["share"] == round(1000 * (own - theirs) / (own + theirs))
    board, colour = oracle.start("standard")
    for move in (37, 43, 18, 19, 26):
        board, colour = oracle.play(board, colour, move), oracle.other(colour)
    moves = [len(oracle.legal_moves(board, c)) for c in (colour, oracle.other(colour))]
    assert values["hollow"] == moves[0] - moves[1]


@pytest.mark.integration
@pytest.mark.parametrize("name", ["hollow", "share", "everything"])
def test_searches_with_it_are_the_same_compiled_and_plain(
    mine: str, name: str, random_game: RandomGame
) -> None:
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


def test_a_finished_game_counts_more_than_anything_it_says(write: Write) -> None:
    path = write(
        """
        from othello_lab.agents.evaluation import heuristic

        @heuristic
        def glad(mover, opponent):
            return 16777215
        """
    )
    # After b8 the game is over and won; after a8 it goes on.
    position = Position.from_obf(
        "XXXXXXXXXXOOOOXXXOXXOXOXXOXXXOOXXXXXOOOXXOXXOXXXXOOOXXXX--OXXXXX X"
    )
    for compiled in (True, False):
        decision = Maximizer(FunctionEvaluation(f"{path}:glad", compiled)).search(position)
        assert (square_name(decision.move), decision.value) == ("b8", 34 * FINAL_UNIT)


def test_it_may_import_what_stands_beside_it(write: Write) -> None:
    write("WEIGHT = 7\n", "own_heuristic_weights.py")
    path = write(
        """
        from own_heuristic_weights import WEIGHT
        from othello_lab.agents.evaluation import heuristic
        from othello_lab.agents.evaluation.helpers import count

        @heuristic
        def weighed(mover, opponent):
            return WEIGHT * count(mover)
        """
    )
    assert FunctionEvaluation(f"{path}:weighed")(Position(0b111, 0)) == 21


def test_a_module_can_be_named_instead(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(GOOD, "own_heuristic_module.py")
    monkeypatch.syspath_prepend(str(Path(path).parent))
    assert FunctionEvaluation("own_heuristic_module:hollow")(Position(1, 2)) == 11
    with pytest.raises(ValueError, match=r"no function 'holow'.*Did you mean 'hollow'"):
        FunctionEvaluation("own_heuristic_module:holow")


def test_an_edited_file_is_read_anew(write: Write) -> None:
    code = """
        from othello_lab.agents.evaluation import heuristic

        @heuristic
        def constant(mover, opponent):
            return {}
        """
    first = FunctionEvaluation(write(code.format(5)) + ":constant")
    second = FunctionEvaluation(write(code.format("5 + 100")) + ":constant")
    assert [first(Position.start()), second(Position.start())] == [5, 105]


@pytest.mark.parametrize(
    ("result", "value"),
    [
        ("np.int32(-5)", -5),
        ("np.uint64(7)", 7),
        ("np.float32(0.25)", 250),
        ("16777215", 16_777_215),
        ("-16777215", -16_777_215),
        ("16777.215", 16_777_215),
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_kinds_of_numbers(result: str, value: int, compiled: bool, write: Write) -> None:
    path = write(
        f"""
        import numpy as np
        from othello_lab.agents.evaluation import heuristic

        @heuristic
        def number(mover, opponent):
            return {result}
        """
    )
    evaluation = FunctionEvaluation(f"{path}:number", compiled)
    assert evaluation(Position.start()) == evaluation.plain(Position.start()) == value
    assert evaluation.symmetric is (value == 0)


def test_it_says_how_it_runs(mine: str) -> None:
    heard: list[str] = []
    FunctionEvaluation(f"{mine}:hollow").prepare(heard.append)
    FunctionEvaluation(f"{mine}:everything", compiled=False).prepare(heard.append)
    assert heard[0].startswith("hollow: compiled; symmetric in the colours")
    assert heard[-1].startswith("everything: run as ordinary Python; not symmetric in the colours")


# ------------------------------------------------------------------ in a run


def test_in_a_line_up(mine: str) -> None:
    words = ["agents=ab_mirror", "evaluation=function", f"evaluation.target={mine}:hollow"]
    plan = read(words)
    evaluations = [agent.evaluation for agent in plan.agents.values()]  # type: ignore[attr-defined]
    assert [evaluation.name for evaluation in evaluations] == ["hollow", "hollow"]
    plain = read([*words, "evaluation.compiled=false", "evaluation.scale=10"])
    agent = plain.agents["left"]
    assert isinstance(agent, AlphaBeta)
    assert not agent.compiled


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_with_it(mine: str, tmp_path: Path, workers: int) -> None:
    words = ["agents=ab_mirror", "evaluation=function", f"evaluation.target={mine}:hollow"]
    where = [f"executor.workers={workers}"] if workers else ["executor=serial"]
    plan = read(
        [*words, *where, "games=4", "depth=2", "figures=false", f"results={tmp_path / 'results'}"]
    )
    result = run(plan, "test", Console(quiet=True))
    assert set(result.games["end_reason"]) == {"finished"}
    assert len(result.games) == 4


def test_boards_are_declared(mine: str) -> None:
    small = FunctionEvaluation(f"{mine}:anywhere")
    assert small.sides == {4, 6, 8}
    start = Position.start("mini4")
    assert AlphaBeta(3, small).search(start) == AlphaBeta(3, small, False).search(start)
    words = ["agents=ab_mirror", "evaluation=function", "ruleset=mini6"]
    read([*words, f"evaluation.target={mine}:anywhere"])
    with pytest.raises(ConfigError, match=r"8x8.*mini6") as error:
        read([*words, f"evaluation.target={mine}:hollow"])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], r"evaluation\.target is left open; set evaluation\.target="),
        (["evaluation.target=nowhere.py:f"], r"there is no file nowhere\.py"),
        (["evaluation.target=nowhere"], r"path/to/file\.py:function"),
        (["evaluation.target=3"], r"path/to/file\.py:function"),
        (
            ["evaluation.target=MINE:hollow", "evaluation.scale=0"],
            r"scale=0: a finite number other than 0",
        ),
        (["evaluation.target=MINE:hollow", "evaluation.scale=nan"], r"scale=nan"),
        (["evaluation.target=MINE:hollow", "evaluation.scale=inf"], r"scale=inf"),
        (["evaluation.target=MINE:hollow", "evaluation.scale=big"], r"scale"),
        (["evaluation.target=MINE:hollow", "evaluation.scale=null"], r"scale"),
        (["evaluation.target=MINE:hollow", "evaluation.compiled=perhaps"], r"compiled"),
        (["evaluation.target=MINE:hollow", "evaluation.sacle=3"], r"sacle"),
    ],
)
def test_bad_settings_are_one_line(mine: str, words: list[str], complaint: str) -> None:
    words = [word.replace("MINE", mine) for word in words]
    with pytest.raises(ConfigError, match=complaint) as error:
        read(["agents=ab_mirror", "evaluation=function", *words])
    assert "\n" not in str(error.value)


# ------------------------------------------------------------------ wrong ones

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
        ("{folder}/nowhere.py:f", "there is no file"),
        ("{folder}:f", "cannot be loaded"),
        ("{mine}:", "path/to/file.py:function is needed"),
        ("{mine}", "path/to/file.py:function is needed"),
        (":hollow", "path/to/file.py:function is needed"),
        ("", "path/to/file.py:function is needed"),
        ("{mine}:holow", "Did you mean 'hollow'"),
        ("{mine}:holow", "its heuristics: hollow, share, everything, anywhere"),
        ("{mine}:squares", "'squares' is not marked with @heuristic"),
        ("{mine}:CENTRE", "'CENTRE' is not marked with @heuristic"),
        ("no_such_module:f", "No module named 'no_such_module'"),
    ],
)
def test_what_is_not_there(mine: str, tmp_path: Path, target: str, complaint: str) -> None:
    target = target.format(mine=mine, folder=tmp_path)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        FunctionEvaluation(target)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("x = 1\n\ndef f(:\n    pass\n", "line 3: "),
        ("x = 1\n  y = 2\n", "line 2: unexpected indent"),
        ("x = 1\n\n\ny = x / 0\n", "line 4: ZeroDivisionError: division by zero"),
        ("import nothing_of_this_name\n", "line 1: ModuleNotFoundError: No module named"),
        ("\nraise ValueError('one\\ntwo')\n", "line 2: ValueError: one two"),
        ("raise SystemExit(3)\n", "SystemExit"),
        ("x = 1\nf = 3\n", "has no @heuristic"),
        ("\0", "null bytes"),
        (
            "from othello_lab.agents.evaluation import heuristic\n\n@heuristic(boards=(5,))\n"
            "def f(mover, opponent):\n    return 1\n",
            "line 3: ValueError: boards [5]",
        ),
    ],
    ids=["syntax", "indent", "raises", "import", "lines", "exit", "nothing", "binary", "boards"],
)
def test_files_that_cannot_be_loaded(write: Write, code: str, complaint: str) -> None:
    assert complaint in refusal(write(code) + ":heur")


def test_a_mistake_in_a_file_beside_it_is_found_there(write: Write) -> None:
    write("x = 1\n\n\n\n\ndef f(:\n", "own_heuristic_broken.py")
    path = write("import own_heuristic_broken\n")
    message = refusal(f"{path}:f")
    assert "own_heuristic_broken" in message or "line 1:" in message


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("    pass", "returns None"),
        ("    if count(mover) > 9:\n        return 1", "returns None; an integer"),
        ("    raise ValueError('never')", "raises line 8: ValueError: never"),
        ("    return np.random.randint(0, 99)", "may neither draw random numbers nor remember"),
        ("    return count(mover) + (np.random.random() < 0.1)", "neither draw random numbers"),
        ("    return 'many'", "an integer or a float is needed"),
        ("    return count(mover) > count(opponent)", "an integer or a float is needed"),
        ("    return (1, 2)", "an integer or a float is needed"),
        ("    return 1j", "an integer or a float is needed"),
        ("    return float('nan')", "returns nan"),
        ("    return np.inf", "returns inf"),
        ("    return -1e9", "at most 16777215"),
        ("    return 16777216", "at most 16777215"),
        ("    return 16777.3", "at most 16777215"),
        ("    return np.uint64(2**63)", "at most 16777215"),
        (
            "    if count(mover) > 9:\n        raise ValueError('no\\nmore')\n    return 1",
            "no more",
        ),
        ("    x = 1\n    return 1 // (count(mover) - count(mover))", "line 9: ZeroDivisionError"),
        ("    if count(mover):\n        raise KeyError('x')\n    return 1", "line 9: KeyError"),
        ("    os._exit(1)\n    return 1", "ended its process"),
        ("    raise SystemExit\n    return 1", "ended its process"),
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_results_that_are_of_no_use(
    write: Write, body: str, complaint: str, compiled: bool
) -> None:
    message = refusal(write(HEAD + body + "\n") + ":wrong", compiled=compiled)
    if "cannot be compiled" in message:
        assert compiled
        assert re.search(r"line \d+", message)
    else:
        assert complaint in message


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("    x = 1\n    return os.getpid() % 2", "line 9, `return os.getpid() % 2`"),
        ("    return undefined_thing(mover)", "line 8, `return undefined_thing(mover)`"),
        ("    y = 3\n\n    x = mover.no_such_attribute\n    return 1", "line 10, `x = mover.no_s"),
    ],
)
def test_what_cannot_be_compiled_names_the_line_and_the_way_out(
    write: Write, body: str, line: str
) -> None:
    message = refusal(write(HEAD + body + "\n") + ":wrong")
    assert "cannot be compiled" in message
    assert line in message
    assert "compiled: false" in message
    assert len(message) < 500


def test_what_cannot_be_compiled_runs_as_ordinary_python(write: Write) -> None:
    path = write(HEAD + "    return len([s for s in bin(int(mover)) if s == '1'] + [*{}.keys()])\n")
    assert "compiled: false" in refusal(f"{path}:wrong")
    evaluation = FunctionEvaluation(f"{path}:wrong", compiled=False)
    assert AlphaBeta(2, evaluation).search(Position.start()).value is not None


@pytest.mark.parametrize("arguments", ["mover", "mover, opponent, more", ""])
@pytest.mark.parametrize("compiled", [True, False])
def test_the_wrong_number_of_arguments(write: Write, arguments: str, compiled: bool) -> None:
    path = write(HEAD.replace("mover, opponent", arguments) + "    return 1\n")
    assert "argument" in refusal(f"{path}:wrong", compiled=compiled)


@pytest.mark.parametrize(
    "body",
    [
        "    n = 0\n    while count(mover) > 3:\n        n += 1\n    return n\n",
        "    while True:\n        pass\n",  # of which the compiler says that it gives None
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_one_that_never_ends_is_stopped(
    write: Write, body: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_module, "CHECK_SECONDS", 0.2)
    path = write(HEAD + body)
    message = refusal(f"{path}:wrong", compiled=compiled)
    assert "did not end on 1000 positions" in message


def test_masks_that_compiled_code_takes_for_numbers_are_noticed(write: Write) -> None:
    # Compiled, a plain number turns the mask into a signed one, and >> drags its sign along.
    path = write(HEAD + "    return count((mover | 0x7FFFFFFFFFFFFFFF) >> 60)\n")
    try:
        evaluation = FunctionEvaluation(f"{path}:wrong")
    except ValueError as error:
        assert "squares(" in str(error)  # noqa: PT017
    else:
        for position in function_module.check_positions():
            assert evaluation(position) == evaluation.plain(position)


# ------------------------------------------------------------------ the helpers

STEPS = {
    "NORTH": (-1, 0),
    "SOUTH": (1, 0),
    "EAST": (0, 1),
    "WEST": (0, -1),
    "NORTH_EAST": (-1, 1),
    "NORTH_WEST": (-1, -1),
    "SOUTH_EAST": (1, 1),
    "SOUTH_WEST": (1, -1),
}


def random_masks(count: int) -> list[int]:
    rng = np.random.default_rng(6)
    found = [0, 2**64 - 1, 1, 1 << 7, 1 << 56, 1 << 63]
    while len(found) < count:
        bits = rng.random(64) < rng.random()
        found.append(sum(1 << int(s) for s in np.flatnonzero(bits)))
    return found


def squares_of(mask: int) -> set[tuple[int, int]]:
    return {(s // 8, s % 8) for s in range(64) if int(mask) >> s & 1}


def moved(mask: int, step: tuple[int, int]) -> set[tuple[int, int]]:
    to = {(row + step[0], column + step[1]) for row, column in squares_of(mask)}
    return {(row, column) for row, column in to if 0 <= row < 8 and 0 <= column < 8}


@njit
def compiled_count(mask):  # type: ignore[no-untyped-def]
    return helpers.count(mask)


@njit
def compiled_around(mask):  # type: ignore[no-untyped-def]
    return helpers.around(mask)


@njit
def compiled_moves(mover, opponent):  # type: ignore[no-untyped-def]
    return helpers.moves(mover, opponent)


@njit
def compiled_flips(mover, opponent, square):  # type: ignore[no-untyped-def]
    return helpers.flips(mover, opponent, square)


@njit
def compiled_shift(mask, direction):  # type: ignore[no-untyped-def]
    return helpers.shift(mask, direction)


@pytest.mark.parametrize("name", STEPS)
def test_shift(name: str) -> None:
    direction = getattr(helpers, name)
    for mask in map(np.uint64, random_masks(60)):
        expected = moved(int(mask), STEPS[name])
        for shift in (helpers.shift, compiled_shift):
            result = shift(mask, direction)
            assert squares_of(result) == expected, (name, hex(mask))
        assert isinstance(helpers.shift(mask, direction), np.uint64)


def test_count_and_around() -> None:
    for mask in map(np.uint64, random_masks(200)):
        inside = squares_of(int(mask))
        near = inside.union(*(moved(int(mask), step) for step in STEPS.values()))
        assert helpers.count(mask) == compiled_count(mask) == len(inside)
        assert squares_of(helpers.around(mask)) == squares_of(compiled_around(mask)) == near
        assert isinstance(helpers.around(mask), np.uint64)


def test_moves_and_flips() -> None:
    for seed in range(60):
        board = oracle.random_board(8, seed)
        mover, opponent = map(np.uint64, oracle.masks(board, oracle.BLACK))
        legal = oracle.mask(oracle.legal_moves(board, oracle.BLACK))
        assert helpers.moves(mover, opponent) == compiled_moves(mover, opponent) == legal
        for square in oracle.legal_moves(board, oracle.BLACK):
            turned = oracle.mask(oracle.flips(board, oracle.BLACK, square))
            assert helpers.flips(mover, opponent, square) == turned
            assert compiled_flips(mover, opponent, square) == turned


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
