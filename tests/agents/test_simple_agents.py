"""Agents that look at most one move ahead."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pytest

from othello_lab import (
    PASS,
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


def random_agent(seed: int, rules: str = "standard") -> RandomAgent:
    agent = RandomAgent()
    agent.begin_game(Color.BLACK, Position.start(rules), seed)
    return agent


def moves_of_a_game(agent: RandomAgent, rules: str = "standard") -> Iterator[int]:
    """The moves of a game in which the agent plays both sides, one at a time."""
    position = Position.start(rules)
    while not position.is_over:
        move = PASS if position.must_pass else agent.decide(position, Limits()).move
        yield move
        position = position.play(move)


# ------------------------------------------------------------------ random moves


@pytest.mark.parametrize("name", RULESETS)
def test_the_seed_decides_the_moves(name: str) -> None:
    def moves(seed: int) -> list[int]:
        return list(moves_of_a_game(random_agent(seed, name), name))

    assert moves(1) == moves(1)
    assert len({tuple(moves(seed)) for seed in range(20)}) == 20


def test_a_new_game_forgets_the_one_before() -> None:
    agent = random_agent(1)
    moves = list(moves_of_a_game(agent))
    agent.begin_game(Color.WHITE, Position.start(), 1)
    assert list(moves_of_a_game(agent)) == moves


def test_all_moves_are_equally_likely() -> None:
    position = Position.from_transcript("f5d6c3d3c4f4")
    agent = random_agent(2024)
    draws = 200 * len(position.moves)
    seen = Counter(agent.decide(position, Limits()).move for _ in range(draws))
    assert set(seen) == set(position.moves)
    # Chi-square with some ten degrees of freedom passes 35 once in several thousand seeds; this
    # seed is always the same.
    assert sum((count - 200) ** 2 / 200 for count in seen.values()) < 35


def test_two_random_agents_do_not_disturb_each_other() -> None:
    one_by_one = [list(moves_of_a_game(random_agent(seed))) for seed in (1, 2)]
    games = [moves_of_a_game(random_agent(seed)) for seed in (1, 2)]
    interleaved: list[list[int]] = [[], []]
    while len(interleaved[0]) < len(one_by_one[0]) or len(interleaved[1]) < len(one_by_one[1]):
        interleaved[0].extend(islice(games[0], 1))
        interleaved[1].extend(islice(games[1], 3))
    assert interleaved == one_by_one


def test_global_random_generators_are_neither_read_nor_changed() -> None:
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    players = {color: RandomAgent() for color in Color}
    seeds = {Color.BLACK: 1, Color.WHITE: 2}
    first = play_game(players, seeds=seeds)
    assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002
    random.seed(6)
    np.random.seed(6)  # noqa: NPY002
    assert play_game(players, seeds=seeds).transcript == first.transcript


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
