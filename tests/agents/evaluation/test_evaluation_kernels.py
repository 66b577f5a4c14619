"""Evaluations as classes: what a search makes of them, and kernels that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from othello_lab import Limits, Maximizer, Position
from othello_lab.agents.config import choices, load_evaluation
from othello_lab.agents.evaluation import FINAL_UNIT, Corners, Evaluation

every_evaluation = pytest.mark.parametrize(
    "name", sorted(set(choices("evaluation")) - {"function"})
)


# A move that ends the game with a win, in a position where every heuristic has its own taste.
LAST_MOVE = Position.from_obf("XXXXXXXX" * 3 + "XXXOOOOO" + "OOOOOOOO" * 3 + "OOOOOOX- X")


@every_evaluation
def test_a_finished_game_is_worth_its_result_in_a_one_ply_maximizer(name: str) -> None:
    decision = Maximizer(load_evaluation(name)).decide(LAST_MOVE, Limits())
    after = LAST_MOVE.play(decision.move)
    assert after.is_over
    assert decision.value == -after.disc_difference * FINAL_UNIT


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
