"""Heuristics: the compiled kernels against their reading twins, and what each formula promises."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from othello_lab import RULESETS, DiscCount, Evaluation, Position, SquareWeights
from othello_lab.agents.evaluation import FINAL_UNIT
from othello_lab.core import bitboard
from othello_lab.core.notation import square_name

RandomGame = Callable[[str, int], list[Position]]

# Norvig, Paradigms of AI Programming, 18.3: the whole table of *weights*.
NORVIG = [
    [120, -20, 20, 5, 5, 20, -20, 120],
    [-20, -40, -5, -5, -5, -5, -40, -20],
    [20, -5, 15, 3, 3, 15, -5, 20],
    [5, -5, 3, 3, 3, 3, -5, 5],
    [5, -5, 3, 3, 3, 3, -5, 5],
    [20, -5, 15, 3, 3, 15, -5, 20],
    [-20, -40, -5, -5, -5, -5, -40, -20],
    [120, -20, 20, 5, 5, 20, -20, 120],
]
# A table without any symmetry, which shows a row or column in the wrong place.
LOPSIDED = [[10 * row + column - 30 for column in range(8)] for row in range(8)]

EVALUATIONS: dict[str, Evaluation] = {
    "disc count": DiscCount(),
    "square weights": SquareWeights(),
}
evaluations = pytest.mark.parametrize("evaluation", EVALUATIONS.values(), ids=EVALUATIONS)

masks = st.integers(0, 2**64 - 1)


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """Discs strewn over the 8x8 board."""
    filled, own = draw(masks), draw(masks)
    return Position(filled & own, filled & ~own)


def symmetric(position: Position) -> list[Position]:
    """The position after each symmetry of the board but the identity."""
    forms = []
    for _ in range(4):
        for change in (bitboard.mirror, bitboard.transpose):
            mover, opponent = change(position.mover), change(position.opponent)
            position = dataclasses.replace(position, mover=mover, opponent=opponent)
            forms.append(position)
    return forms[:-1]


@pytest.mark.parametrize(
    "evaluation",
    [*EVALUATIONS.values(), SquareWeights(LOPSIDED)],
    ids=[*EVALUATIONS, "lopsided weights"],
)
def test_the_kernel_agrees_with_its_reading_twin(
    evaluation: Evaluation, random_game: RandomGame
) -> None:
    rng = random.Random(1)
    found = [position for seed in range(85) for position in random_game("standard", seed)]
    for _ in range(5000):  # boards that no game leaves, sparse and dense
        filled, own = rng.getrandbits(64), rng.getrandbits(64)
        filled = rng.choice([filled, filled & rng.getrandbits(64), filled | rng.getrandbits(64)])
        found.append(Position(filled & own, filled & ~own))
    assert len(found) > 10_000
    for position in found:
        assert evaluation(position) == evaluation.plain(position), f"\n{position}"


@pytest.mark.parametrize("name", RULESETS)
def test_disc_count_is_made_for_every_board(name: str, random_game: RandomGame) -> None:
    evaluation = DiscCount()
    assert RULESETS[name].side in evaluation.sides
    for position in random_game(name, 3):
        expected = position.mover.bit_count() - position.opponent.bit_count()
        assert evaluation(position) == evaluation.plain(position) == expected, f"\n{position}"


def test_square_weights_are_made_for_the_large_board() -> None:
    assert SquareWeights().sides == {8}


@evaluations
@given(position=positions())
def test_what_is_good_for_one_side_is_bad_for_the_other(
    evaluation: Evaluation, position: Position
) -> None:
    swapped = dataclasses.replace(position, mover=position.opponent, opponent=position.mover)
    assert evaluation(position) == -evaluation(swapped), f"\n{position}"


@evaluations
@given(position=positions())
def test_values_do_not_change_with_the_boards_symmetries(
    evaluation: Evaluation, position: Position
) -> None:
    for form in symmetric(position):
        assert evaluation(form) == evaluation(position), f"\n{position}\n{form}"


@evaluations
@given(position=positions())
def test_values_stay_below_any_finished_game(evaluation: Evaluation, position: Position) -> None:
    assert abs(evaluation(position)) < FINAL_UNIT


# ------------------------------------------------------------------ square weights


def test_square_weights_are_norvigs() -> None:
    assert SquareWeights().weights.tolist() == NORVIG


@pytest.mark.parametrize("table", [NORVIG, LOPSIDED], ids=["Norvig", "lopsided"])
def test_each_square_is_worth_its_weight(table: list[list[int]]) -> None:
    evaluation = SquareWeights(table)
    for square in range(64):
        alone = Position(1 << square, 0)
        assert evaluation(alone) == table[square // 8][square % 8], square_name(square)
        assert evaluation(Position(0, 1 << square)) == -evaluation(alone)


def test_the_range_of_square_weights_is_reached() -> None:
    good = sum(1 << s for s in range(64) if NORVIG[s // 8][s % 8] > 0)
    assert SquareWeights()(Position(good, ~good & 2**64 - 1)) == 1176


def test_a_quarter_is_mirrored_both_ways() -> None:
    quarter = [[16 * row + column for column in range(4)] for row in range(4)]
    table = SquareWeights(quarter).weights
    assert table.shape == (8, 8)
    for row in range(8):
        for column in range(8):
            assert table[row][column] == quarter[min(row, 7 - row)][min(column, 7 - column)]


def test_the_largest_weights_do_not_overflow() -> None:
    largest = SquareWeights([[100_000] * 8] * 8)
    assert largest(Position(2**64 - 1, 0)) == 6_400_000 < FINAL_UNIT
    smallest = SquareWeights([[-100_000] * 8] * 8)
    assert smallest(Position(2**64 - 1, 0)) == -6_400_000


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ([[1, 2], [3, 4]], r"shape \(2, 2\)"),
        ([1] * 16, r"shape \(16,\)"),
        (7, r"shape \(\)"),
        ([], r"shape \(0,\)"),
        (np.zeros((4, 8), int), r"shape \(4, 8\)"),
        ([[1, 2, 3, 4]] * 3 + [[1, 2, 3]], "shape"),
        ([[0.5] * 4] * 4, "integers"),
        ([[float("nan")] * 4] * 4, "integers"),
        ([["a"] * 4] * 4, "integers"),
        ([[True] * 4] * 4, "integers"),
        ([[None] * 4] * 4, "integers"),
        ([[100_001] * 4] * 4, "between -100000 and 100000"),
        ([[-100_001] * 8] * 8, "between -100000 and 100000"),
        ([[10**30] * 4] * 4, "between -100000 and 100000"),
        # The one integer whose absolute value numpy cannot hold.
        ([[-(2**63)] * 4] * 4, "between -100000 and 100000"),
    ],
)
def test_bad_weights_are_refused(weights: Sequence[Sequence[int]], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refusal:
        SquareWeights(weights)
    assert "\n" not in str(refusal.value)


def test_two_tables_do_not_get_in_each_others_way() -> None:
    # Both share one compiled kernel, each with its own parameters.
    one, two = SquareWeights(NORVIG), SquareWeights(LOPSIDED)
    corner = Position(1, 0)
    assert [one(corner), two(corner), one(corner)] == [120, -30, 120]
