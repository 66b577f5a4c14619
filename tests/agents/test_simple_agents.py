"""Agents that look at most one move ahead."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from othello_lab import (
    RULESETS,
    Color,
    DiscCount,
    GreedyAgent,
    Limits,
    Maximizer,
    Position,
    RandomAgent,
    SquareWeights,
    play_game,
)
from othello_lab.agents.evaluation import FINAL_UNIT, Mobility
from othello_lab.core.notation import square_name

RandomGame = Callable[[str, int], list[Position]]

# A win that looks no better than another move: Black has 12 discs to 3 after a2 as well as after
# a3, but only a3 leaves nobody a move (13 to 3 with the empty square).
QUIET_WIN = Position.from_obf("OXXX-OXX-XOXXXXO X", "mini4")
# A loss that looks no worse: one disc behind after b1, which ends the game, and after c1.
QUIET_LOSS = Position.from_obf("X--OXOOOXXOOXOOO X", "mini4")
# Square weights promise 446 for the corner a8, and 326 for b8, after which nobody can move.
CORNER_OR_WIN = Position.from_obf(
    "XXXXXXXXXXOOOOXXXOXXOXOXXOXXXOOXXXXXOOOXXOXXOXXXXOOOXXXX--OXXXXX X"
)


# ------------------------------------------------------------------ random moves


def random_moves(name: str, black: int, white: int = 1) -> str:
    """The moves of a game of two random agents with these seeds."""
    players = {color: RandomAgent() for color in Color}
    seeds = {Color.BLACK: black, Color.WHITE: white}
    return play_game(players, Position.start(name), seeds=seeds).transcript


@pytest.mark.parametrize("name", RULESETS)
def test_the_seeds_decide_the_moves(name: str) -> None:
    assert len({random_moves(name, seed) for seed in range(20)}) == 20
    assert len({random_moves(name, 1, seed) for seed in range(20)}) > 10


def test_global_random_generators_are_neither_read_nor_changed() -> None:
    games = []
    for seed in (5, 6):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        games.append(random_moves("standard", 1, 2))
        assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002
    assert games[0] == games[1]


def test_all_moves_are_equally_likely() -> None:
    position = Position.from_transcript("f5d6c3d3c4f4")
    agent = RandomAgent()
    agent.begin_game(Color.BLACK, position, 2024)
    draws = 200 * len(position.moves)
    seen = Counter(agent.decide(position, Limits()).move for _ in range(draws))
    assert set(seen) == set(position.moves)
    # Chi-square with some ten degrees of freedom passes 35 once in several thousand seeds; this
    # seed is always the same.
    assert sum((count - 200) ** 2 / 200 for count in seen.values()) < 35


# ------------------------------------------------------------------ one move ahead


@pytest.mark.parametrize("compiled", [True, False])
def test_a_maximizer_takes_the_highest_value(compiled: bool, random_game: RandomGame) -> None:
    evaluation = SquareWeights()
    agent = Maximizer(evaluation, compiled)
    for seed in range(10):
        for position in random_game("standard", seed):
            values = []
            for move in position.moves:
                after = position.play(move)
                final = after.disc_difference * FINAL_UNIT
                values.append(-(final if after.is_over else evaluation.plain(after)))
            if values:
                decision = agent.decide(position, Limits())
                assert decision.value == max(values), f"\n{position}"
                first = position.moves[values.index(max(values))]
                assert decision.move == first, f"\n{position}"
                assert decision.pv == (first,)


def test_greedy_takes_most_discs() -> None:
    agent = GreedyAgent()
    position = Position.from_transcript("f5d6c3d3c4")
    flipped = {
        move: position.play(move).opponent.bit_count() - position.play(move).mover.bit_count()
        for move in position.moves
    }
    decision = agent.decide(position, Limits())
    assert flipped[decision.move] == max(flipped.values()) == decision.value


def test_among_equal_moves_the_first_is_taken() -> None:
    for name, first in (("standard", "d3"), ("wpi", "d3"), ("mini6", "c2"), ("mini4", "b1")):
        start = Position.start(name)  # all four moves are equal by symmetry
        assert square_name(GreedyAgent().decide(start, Limits()).move) == first
        assert first == start.legal_moves()[0]


def test_a_won_end_counts_more_than_any_promise() -> None:
    greedy = GreedyAgent().decide(QUIET_WIN, Limits())
    assert square_name(greedy.move) == "a3"
    assert greedy.value == 10 * FINAL_UNIT
    assert DiscCount()(QUIET_WIN.play("a2")) == DiscCount()(QUIET_WIN.play("a3")) == -9

    weighing = Maximizer(SquareWeights()).decide(CORNER_OR_WIN, Limits())
    assert square_name(weighing.move) == "b8"
    assert weighing.value == 34 * FINAL_UNIT
    assert SquareWeights()(CORNER_OR_WIN.play("a8")) == -446
    assert SquareWeights()(CORNER_OR_WIN.play("b8")) == -326


def test_a_lost_end_counts_less_than_any_threat() -> None:
    greedy = GreedyAgent().decide(QUIET_LOSS, Limits())
    assert square_name(greedy.move) == "c1"
    assert greedy.value == -1
    assert -DiscCount()(QUIET_LOSS.play("b1")) == -1
    assert QUIET_LOSS.play("b1").is_over


def test_looking_further_than_one_ply_is_not_for_them() -> None:
    start = Position.start()
    assert GreedyAgent().decide(start, Limits(depth=5)).depth == 1
    assert Maximizer(DiscCount()).decide(start, Limits(depth=5)).depth == 1


def test_a_maximizer_of_own_mobility_does_as_in_paip(random_game: RandomGame) -> None:
    """The move after which the same player would have most moves, the first of equals."""
    agent = Maximizer(Mobility("own"))

    def moves_of_the_one_who_moved(after: Position) -> int:
        swapped = Position(after.opponent, after.mover, after.to_move.other)
        return len(swapped.moves)

    looked_at = 0
    for seed in range(4):
        for position in random_game("standard", seed):
            after = {move: position.play(move) for move in position.moves}
            if not after or any(each.is_over for each in after.values()):
                continue
            best = max(after, key=lambda move: moves_of_the_one_who_moved(after[move]))
            assert agent.search(position).move == best, f"\n{position}"
            looked_at += 1
    assert looked_at > 100
