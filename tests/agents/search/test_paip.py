"""What makes the searches those of PAIP's chapter 18: its sorting, and its ends of games."""

from __future__ import annotations

from typing import Any

import pytest
from boards import random_game

from othello_lab import (
    PVS,
    AlphaBeta,
    Color,
    DiscCount,
    Maximizer,
    Minimax,
    Position,
    SquareWeights,
)
from othello_lab.agents.evaluation import FINAL_UNIT, ModifiedSquareWeights
from othello_lab.agents.search import SearchAgent
from othello_lab.core.game import play_game
from othello_lab.core.notation import square_name

# White is to move and lost; after b8 or d8 the game has two plies to go at most.
LATE = Position.from_obf("OOOOOOOOOXXOOOOXOXXXXOOXOOOXOXOOOOOOXXOOOXOXOOXOXXXXXOOOO-X-XOOO O")
SORTED = {"ordering": "sorted", "sort_leaves": True}


@pytest.mark.parametrize("final", ["discs", "win"])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [(Minimax, {}), (AlphaBeta, {}), (AlphaBeta, SORTED), (PVS, SORTED), (PVS, {})],
    ids=["minimax", "alphabeta", "alphabeta sorted", "pvs sorted", "pvs"],
)
def test_twins_count_the_same_to_the_end_of_games(
    kind: type[SearchAgent], settings: dict[str, Any], final: str
) -> None:
    over = 0
    for rules, evaluation in (("standard", SquareWeights()), ("mini6", DiscCount())):
        for depth in (1, 2, 3):
            fast = kind(depth, evaluation, final=final, **settings)
            slow = kind(depth, evaluation, compiled=False, final=final, **settings)
            for seed in range(2):
                for position in (
                    random_game(rules, seed)[24:-5:12] + random_game(rules, seed)[-5:-1]
                ):
                    decision = fast.search(position)
                    assert decision == slow.search(position), f"\n{position}"
                    over += abs(decision.value or 0) >= FINAL_UNIT
                    if final == "win":
                        assert abs(decision.value or 0) <= FINAL_UNIT
    assert over > 5


def test_every_position_is_evaluated_once_when_it_is_made() -> None:
    for position in random_game("standard", 3)[5:30:3]:
        found = AlphaBeta(4, SquareWeights(), **SORTED).search(position)
        usual = AlphaBeta(4, SquareWeights(), ordering="sorted").search(position)
        assert found.value == usual.value
        assert found.stats.evaluations == found.stats.made + 1  # the root
        assert found.stats.nodes < found.stats.made


def test_at_the_horizon_paip_asks_the_heuristic() -> None:
    """After d8 b8 the game is over; PAIP's search to two plies does not see that."""
    assert square_name(AlphaBeta(2, ModifiedSquareWeights()).search(LATE).move) == "d8"
    blind = AlphaBeta(2, ModifiedSquareWeights(), final="win").search(LATE)
    assert square_name(blind.move) == "b8"
    assert abs(blind.value or 0) < FINAL_UNIT
    assert blind.stats.evaluations == blind.stats.leaves
    best = Maximizer(ModifiedSquareWeights(), final="win")
    for position in (LATE, LATE.play(57)):
        if position.moves:
            assert best.search(position).stats.evaluations == len(position.moves)


def test_the_series_of_18_8() -> None:
    """``othello-series`` of two searches to 2 plies repeats these two games: -28 and 40, from the
    point of view of modified square weights."""
    modified = AlphaBeta(2, ModifiedSquareWeights(), final="win")
    weighted = AlphaBeta(2, SquareWeights(), final="win")
    scores = []
    for black, white in ((modified, weighted), (weighted, modified)):
        end = play_game({Color.BLACK: black, Color.WHITE: white}).final
        difference = end.black.bit_count() - end.white.bit_count()
        scores.append(difference if black is modified else -difference)
    assert scores == [-28, 40]
