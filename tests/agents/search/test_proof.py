"""The smallest tree that proves a value."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from boards import random_game
from refusals import refused

from othello_lab import PASS, Position
from othello_lab.agents.evaluation import DiscCount, Evaluation, SquareWeights
from othello_lab.agents.search import AlphaBeta, Minimax
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.window.proof import (
    NO_PROOF,
    fewest_leaves,
    fewest_leaves_plainly,
    smallest_tree,
)


def compiled(
    position: Position, depth: int, bound: int, at_least: bool, heuristic: Evaluation
) -> float:
    context = layout.new()
    layout.set_constants(context, position.ruleset, heuristic)
    asked = np.int64(depth), np.int64(bound), np.int64(at_least)
    found = fewest_leaves(np.intp(context.ctypes.data), *position.masks, *asked, NO_PROOF)
    return math.inf if found >= NO_PROOF else int(found)


def some() -> Iterator[tuple[Position, int]]:
    """Positions with passes and ends of games near, and depths."""
    for rules, heuristic_depth in (("standard", 3), ("mini4", 4)):
        for seed in range(3):
            game = [each for each in random_game(rules, seed) if not each.is_over]
            for position in game[:: max(1, len(game) // 6)] + game[-3:]:
                yield position, heuristic_depth


@pytest.mark.integration
def test_kernel_and_twin_count_the_same() -> None:
    heuristic = DiscCount()
    passes = 0
    for position, depth in some():
        value = Minimax(depth, heuristic).search(position).value
        passes += any(position.play(move).must_pass for move in position.moves)
        for bound in (value, value + 1, value - 1):
            for at_least in (True, False):
                asked = position, depth, bound, at_least, heuristic
                assert compiled(*asked) == fewest_leaves_plainly(*asked), asked
    assert passes


def test_no_search_without_a_table_has_fewer_leaves() -> None:
    heuristic = SquareWeights()
    for position in random_game("standard", 5)[4:50:9]:
        for depth in (1, 2, 3, 4, 5):
            found = Minimax(depth, heuristic).search(position)
            least = smallest_tree(position, depth, found.value, heuristic)
            pruned = AlphaBeta(depth, heuristic, ordering="sorted").search(position)
            assert least <= pruned.stats.leaves and least <= found.stats.leaves
            if depth == 1:
                assert least == found.stats.leaves == len(position.moves or (PASS,))


def test_only_the_value_itself_is_proven_from_both_sides() -> None:
    start, heuristic = Position.start(), SquareWeights()
    value = Minimax(4, heuristic).search(start).value
    assert smallest_tree(start, 4, value, heuristic) > 1
    for wrong in (value - 1, value + 1):
        with refused(str(wrong)):
            smallest_tree(start, 4, wrong, heuristic)


def test_an_even_tree_has_knuth_and_moores_leaves() -> None:
    """With b moves everywhere and all values alike any move is the best one, so that d plies need
    b^ceil(d/2) + b^floor(d/2) - 1 leaves; from the start on there are 4, then 3 moves each."""
    nothing = SquareWeights([[0] * 4] * 4)
    assert smallest_tree(Position.start(), 1, 0, nothing) == 4
    assert smallest_tree(Position.start(), 2, 0, nothing) == 4 + 3 - 1


def test_finished_games_are_worth_what_the_search_says() -> None:
    heuristic = DiscCount()
    for position in random_game("mini4", 3)[2:9]:
        if position.is_over:
            continue
        for depth in (2, 4):
            value = Minimax(depth, heuristic, final="win").search(position).value
            assert value is not None
            plainly = [
                fewest_leaves_plainly(position, depth, value, at_least, heuristic, "win")
                for at_least in (True, False)
            ]
            assert smallest_tree(position, depth, value, heuristic, "win") == sum(plainly) - 1
