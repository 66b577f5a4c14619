"""Heuristics of one's own: compiled, tried, and refused in one line where they cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from agents import AlphaBeta, Limits, Maximizer
from agents.config import choices, load_evaluation
from agents.evaluation import FINAL_UNIT, Corners, Evaluation, FunctionEvaluation
from agents.evaluation.function import check_positions
from core import Position

NAMES = sorted(set(choices("evaluation")) - {"function"})
every_evaluation = pytest.mark.parametrize("name", NAMES)


def check_twin(evaluation: Evaluation, positions: tuple[Position, ...]) -> None:
    for position in positions:
        assert evaluation(position) == evaluation.plain(position), f"\n{position}"


# A move that ends the game with a win, in a position where every heuristic has its own taste.
LAST_MOVE = Position.from_obf("XXXXXXXX" * 3 + "XXXOOOOO" + "OOOOOOOO" * 3 + "OOOOOOX- X")


@every_evaluation
def test_a_finished_game_is_worth_its_result_in_a_one_ply_maximizer(name: str) -> None:
    decision = Maximizer(load_evaluation(name)).decide(LAST_MOVE, Limits())
    after = LAST_MOVE.play(decision.move)
    assert after.is_over
    assert decision.value == -after.disc_difference * FINAL_UNIT


MINE = """
import os, time
from agents.evaluation import heuristic
from agents.evaluation.helpers import CORNERS, EAST, count, moves, shift, squares

CENTRE = squares("d4 e4 d5 e5")

@heuristic
def hollow(mover, opponent):
    corners = count(mover & CORNERS) - count(opponent & CORNERS)
    return 10 * corners + count(moves(mover, opponent)) - count(moves(opponent, mover))

@heuristic
def share(mover, opponent):
    return (count(mover) - count(opponent)) / (count(mover) + count(opponent))

@heuristic
def lopsided(mover, opponent):
    return count(shift(mover, EAST) & ~opponent) + count(mover & CENTRE)

@heuristic
def process(mover, opponent):
    return os.getpid() % 7

@heuristic
def nothing(mover, opponent):
    pass

@heuristic
def picky(mover, opponent):
    if count(mover) > 10:
        raise ValueError("ten is enough")
    return 1

@heuristic
def endless(mover, opponent):
    n = 0
    while count(mover) > 5:
        n += 1
    return n

@heuristic
def huge(mover, opponent):
    return 1 << 40

@heuristic
def signed(mover, opponent):
    return count((mover | 0x7FFFFFFFFFFFFFFF) >> 63) + count(-1 & (mover >> 3)) * 0 + len("abc")

def unmarked(mover, opponent):
    return 1
"""


@pytest.fixture
def mine(tmp_path: pytest.TempPathFactory) -> str:
    path = tmp_path / "mine.py"  # type: ignore[operator]
    path.write_text(MINE, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", ["hollow", "share", "lopsided"])
def test_a_heuristic_from_a_file_runs_in_the_compiled_search(mine: str, name: str) -> None:
    evaluation = FunctionEvaluation(f"{mine}:{name}")
    slow = FunctionEvaluation(f"{mine}:{name}", compiled=False)
    check_twin(evaluation, check_positions(200))
    assert evaluation.symmetric == slow.symmetric == (name != "lopsided")
    for position in check_positions()[3::150]:
        decision = AlphaBeta(3, evaluation).search(position)
        agent = AlphaBeta(3, slow)
        assert not agent.compiled
        assert agent.search(position) == decision


def test_floats_are_scaled(mine: str) -> None:
    position = check_positions()[30]
    share = (position.mover.bit_count() - position.opponent.bit_count()) / position.discs
    assert FunctionEvaluation(f"{mine}:share")(position) == round(1000 * share)
    assert FunctionEvaluation(f"{mine}:share", scale=10)(position) == round(10 * share)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("process", r"line 23, `return os.getpid\(\) % 7`: .*compiled: false"),
        ("nothing", "returns None; an integer or a float"),
        ("picky", "line 32: ValueError: ten is enough"),
        ("huge", "returns 1099511627776 .*at most 16777215"),
        ("unmarked", "not marked with @heuristic"),
        ("holow", "its heuristics: hollow, share, .* Did you mean 'hollow'"),
        ("endless", "did not end on 1000 positions within 1 s"),
    ],
)
def test_a_heuristic_that_cannot_be_used_is_refused_in_one_line(
    mine: str, name: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.evaluation.function.CHECK_SECONDS", 1.0)
    with pytest.raises(ValueError, match=complaint) as refusal:
        FunctionEvaluation(f"{mine}:{name}")
    assert "\n" not in str(refusal.value)


class Half(Corners):
    @staticmethod
    def kernel(mover: Any, opponent: Any, parameters: Any) -> Any:
        return 0.5


class Undefined(Corners):
    @staticmethod
    def kernel(mover: Any, opponent: Any, parameters: Any) -> Any:
        return no_such_name(mover)  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [(Half, "gives float64; an integer is needed"), (Undefined, "no_such_name.* is not defined")],
)
def test_a_kernel_of_ones_own_that_is_none_is_refused(
    kind: type[Evaluation], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        kind().prepare()
