"""Monte-Carlo tree search: against its reading twin, against exact solutions, and against what its
docstrings promise."""

from __future__ import annotations

import copy
import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from boards import random_game, seeds, with_sight_of_the_end
from clocks import Clock
from hypothesis import given, note, settings
from refusals import refused
from scipy.stats import chisquare

from othello_lab import (
    MCTS,
    PASS,
    RULESETS,
    Color,
    DiscCount,
    Limits,
    Maximizer,
    Position,
    SquareWeights,
)
from othello_lab.agents.search import MoveEstimate
from othello_lab.agents.search.context import LEAVES, NODES, set_constants
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.agents.search.limits import MARGIN, SHORTEST, allotment
from othello_lab.agents.search.montecarlo import mcts, rollout
from othello_lab.agents.search.montecarlo.plain import CLEAR_WIN, FINE, SplitMix64, choose
from othello_lab.agents.search.montecarlo.tree import CompiledTree
from othello_lab.core.bitboard import bits

MIDGAME = Position.from_transcript("f5d6c3d3c4")

GREEDY: dict[str, Any] = {"rollout": "greedy", "evaluation": DiscCount()}
VALUE: dict[str, Any] = {"rollout": "value", "evaluation": DiscCount()}
SETTINGS: dict[str, dict[str, Any]] = {
    "as is": {},
    "win": {"reward": "win"},
    "unsolved": {"solve": False},
    "greedy": {**GREEDY, "epsilon": 0.3},
    "greedy only": {**GREEDY, "epsilon": 0, "reward": "win"},
    "no exploration": {"exploration": 0},
    "value": {**VALUE, "per_disc": 1.5},
    "value of a win": {**VALUE, "per_disc": 0.7, "reward": "win"},
}
ways = pytest.mark.parametrize("way", SETTINGS.values(), ids=SETTINGS)
boards = pytest.mark.parametrize("rules", RULESETS)


def sign(number: float) -> int:
    return (number > 0) - (number < 0)


def exact_values(position: Position) -> dict[int, int]:
    """The disc difference that each move leads to with perfect play."""
    return EndgameSolver(table_mb=1).analyse(position).scores


def late(rules: str, count: int, empties: int) -> list[Position]:
    """The positions with so many empty squares and a choice of moves of random games."""
    result: list[Position] = []
    seed = 0
    while len(result) < count:
        seed += 1
        game = random_game(rules, seed)
        result += [p for p in game if p.empties == empties and len(p.moves) > 1][:1]
    return result


# Some eight empties, so that much of the tree is proven.
ENDING = Position.from_obf("--OOOOO-XXOOOOX-XXOXOOXOXXOOXOXOXXXOOXOOXXXXOXO-XXXXXXX---XXXX-- O")


@boards
@ways
@settings(max_examples=4)
@given(seed=seeds)
def test_the_compiled_search_grows_the_twins_tree(
    rules: str, way: dict[str, Any], seed: int
) -> None:
    position = with_sight_of_the_end(rules, seed)
    note(f"\n{position}\n{position.to_obf()}")
    cases = [(position, 40)] + [(ENDING, 60)] * (rules == "standard")
    for start, playouts in cases:
        fast, slow = (MCTS(playouts=playouts, compiled=c, **way) for c in (True, False))
        assert fast.search(start, seed=seed) == slow.search(start, seed=seed)
        assert fast.moves == slow.moves


@ways
def test_twins_agree_through_a_game_with_a_kept_tree(way: dict[str, Any]) -> None:
    fast, slow = (MCTS(playouts=40, compiled=compiled, **way) for compiled in (True, False))
    for agent in (fast, slow):
        agent.begin_game(Color.BLACK, Position.start("mini6"), 4)
    position = Position.start("mini6")
    rng = random.Random(1)
    while not position.is_over:
        if not position.moves:
            position = position.play(PASS)
        elif position.to_move is Color.BLACK:
            decision = fast.decide(position, Limits())
            assert decision == slow.decide(position, Limits()), f"\n{position}"
            assert fast.moves == slow.moves
            position = position.play(decision.move)
        else:
            position = position.play(rng.choice(position.moves))


def test_twins_agree_when_the_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = MCTS(playouts=200).search(MIDGAME)
    monkeypatch.setattr(mcts, "WORDS", 1 << 15)  # a MiB is then 4 nodes
    fast, slow = (MCTS(200, memory_mb=5, tree_reuse=False, compiled=c) for c in (True, False))
    decision = fast.search(MIDGAME)
    assert decision == slow.search(MIDGAME) != whole
    assert fast.moves == slow.moves
    assert decision.stats.playouts == 200


def test_the_generator_is_splitmix64() -> None:
    # The first outputs of Vigna's splitmix64.c for the seed 1234567.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    generator = SplitMix64(1234567)
    assert [generator.draw() for _ in range(3)] == expected
    context = np.zeros(64, dtype=np.int64)
    context[rollout.RANDOM] = 1234567
    drawn = [int(rollout.draw(np.intp(context.ctypes.data))) % 2**64 for _ in range(3)]
    assert drawn == expected


def test_random_moves_are_equally_likely() -> None:
    mask, draws = 0x0010_2004_0000_8103, 70_000
    context = np.zeros(64, dtype=np.int64)
    context[rollout.RANDOM] = 1
    address = np.intp(context.ctypes.data)
    squares = bits(mask)
    counts = Counter(
        squares[int(rollout.below(np.uint64(rollout.draw(address)), np.int64(len(squares))))]
        for _ in range(draws)
    )
    assert set(counts) == set(squares)
    assert chisquare([counts[square] for square in squares]).pvalue > 0.001


def test_the_tree_follows_from_the_game_seed_alone() -> None:
    def tree(seed: int) -> dict[int, MoveEstimate]:
        agent = MCTS(playouts=500)
        agent.begin_game(Color.WHITE, Position.start(), seed)
        agent.decide(MIDGAME, Limits())
        return agent.moves

    assert tree(1) == tree(1)
    assert tree(1) != tree(2)


@boards
def test_a_rollout_without_chance_is_the_maximizers_game(rules: str) -> None:
    evaluation = DiscCount()
    maximizer = Maximizer(evaluation)
    for position in random_game(rules, 2)[::3]:
        context = np.zeros(64, dtype=np.int64)
        set_constants(context, position.ruleset, evaluation)
        context[rollout.RANDOM] = 5
        result = int(rollout.greedy_rollout(np.intp(context.ctypes.data), *position.masks))
        end, nodes, weighed = position, 0, 0
        while not end.is_over:
            nodes += max(1, len(end.moves))
            weighed += max(0, len(end.moves) - 1)
            end = end.play(maximizer.search(end).move)
        difference = end.disc_difference
        assert result == (difference if end.to_move is position.to_move else -difference)
        assert (context[NODES], context[LEAVES]) == (nodes, weighed)


@pytest.mark.parametrize(("rules", "empties"), [("mini4", 6), ("mini6", 7), ("standard", 6)])
@pytest.mark.parametrize("reward", ["win", "discs"])
@pytest.mark.parametrize("way", ["random", "greedy"])
def test_what_is_proven_is_true(rules: str, empties: int, reward: str, way: str) -> None:
    evaluation = DiscCount() if way == "greedy" else None
    agent = MCTS(playouts=20_000, reward=reward, rollout=way, evaluation=evaluation)
    draws = 0
    for position in late(rules, 20 if rules == "mini4" else 10, empties):
        exact = exact_values(position)
        if reward == "win":
            exact = {move: sign(value) for move, value in exact.items()}
        most = position.ruleset.squares if reward == "discs" else 1
        decision = agent.search(position)
        best = max(exact.values())
        assert decision.value == best / most, f"\n{position}"
        assert exact[decision.move] == best
        for move, estimate in agent.moves.items():
            assert estimate.lower <= exact[move] / most <= estimate.upper
            if estimate.visits:
                assert estimate.value is not None
                assert estimate.lower <= estimate.value <= estimate.upper
        draws += best == 0
    if rules != "standard":
        assert draws  # the case that a proof by wins and losses alone would miss


def test_a_proven_search_ends() -> None:
    position = Position.from_obf("OXXX-OXX-XOXXXXO X", "mini4")
    decision = MCTS(playouts=10_000).search(position)
    assert decision.stats.playouts < 100
    unsolved = MCTS(playouts=10_000, solve=False)
    assert unsolved.search(position).stats.playouts == 10_000
    assert not any(estimate.proven for estimate in unsolved.moves.values())
    one = Position.from_obf("-OX-" + "-" * 12 + " X", "mini4")
    assert one.moves == (MCTS(playouts=1).search(one).move,)


@pytest.mark.integration
def test_it_finds_the_solvers_best_move_in_positions_with_8_empties() -> None:
    positions = late("standard", 100, 8)
    agent = MCTS(playouts=10_000)
    winner = MCTS(playouts=10_000, reward="win")
    best = outcomes = 0
    for position in positions:
        exact = exact_values(position)
        top = max(exact.values())
        best += exact[agent.search(position).move] == top
        outcomes += sign(exact[winner.search(position).move]) == sign(top)
    assert best >= 0.95 * len(positions)
    assert outcomes >= 0.95 * len(positions)


def test_the_choice_among_moves() -> None:
    """Of moves 3 and 9, each told by its visits, value, and proven bounds."""
    for why, three, nine, best in (
        ("most visits", (5, 0.9, -1, 1), (8, 0.1, -1, 1), 9),
        ("first of equals", (5, 0.1, -1, 1), (5, 0.9, -1, 1), 3),
        ("a proven win", (99, 0.9, -1, 1), (1, 1.0, 1, 1), 9),
        ("no proven loss", (99, -1.0, -1, -1), (1, -0.9, -1, 1), 9),
        ("all lost", (5, -1.0, -1, -1), (8, -1.0, -1, -1), 9),
        ("a draw rather than worse", (99, -0.2, -1, 1), (1, 0.0, 0, 0), 9),
        ("better than a draw", (99, 0.2, -1, 1), (1, 0.0, 0, 0), 3),
        ("no better than a draw", (99, -0.1, -1, 0), (1, 0.0, 0, 0), 9),
        ("at least a draw", (9, 0.3, 0, 1), (5, 0.0, 0, 0), 3),
    ):
        moves = {9: MoveEstimate(*nine), 3: MoveEstimate(*three)}
        assert choose(moves) == best, why


@pytest.mark.parametrize("compiled", [True, False])
def test_visits_carry_over_to_the_position_after_the_reply(compiled: bool) -> None:
    def visits(agent: MCTS) -> int:
        return sum(estimate.visits for estimate in agent.moves.values())

    reusing, fresh = (MCTS(playouts=200, compiled=compiled, tree_reuse=r) for r in (True, False))
    start = Position.start()
    for agent in (reusing, fresh, reusing):  # a new game forgets the tree
        agent.begin_game(Color.BLACK, start, 1)
        decision = agent.decide(start, Limits())
        assert visits(agent) == 200
        after = start.play(decision.move).play(decision.pv[1])
        agent.decide(after, Limits())
        assert 200 < visits(agent) < 400 if agent is reusing else visits(agent) == 200
    reusing.exploration = 0.3  # and so does a changed setting
    reusing.decide(after, Limits())
    assert visits(reusing) == 200
    reusing.search(start)
    assert visits(reusing) == 200


def test_a_tree_is_kept_through_a_forced_pass() -> None:
    count = 0
    for seed in range(40):
        game = random_game("mini6", seed)
        for before, passing, after in zip(game[1:], game[2:], game[3:], strict=False):
            if passing.must_pass and before.moves:
                agent = MCTS(playouts=3000, solve=False)
                agent.begin_game(before.to_move, before, 1)
                agent.decide(before, Limits())
                agent.decide(after, Limits())
                count += sum(estimate.visits for estimate in agent.moves.values()) > 3000
    assert count > 10


@pytest.mark.parametrize("compiled", [True, False])
def test_a_limit_on_nodes_is_exceeded_by_one_playout_at_most(compiled: bool) -> None:
    longest = 128
    for nodes in (1, 100, 5000):
        stats = MCTS(compiled=compiled).search(Position.start(), Limits(nodes=nodes)).stats
        assert nodes <= stats.nodes < nodes + longest
        assert stats.playouts >= nodes // longest
        # It is the search with that many playouts.
        assert MCTS(playouts=stats.playouts).search(Position.start()).stats == stats


@pytest.mark.parametrize("limits", [Limits(seconds=0.1), Limits(clock=0.3)])
def test_time_is_respected(limits: Limits, timers: list[float], clock: Clock) -> None:
    agent = MCTS(playouts=1 << 40)  # without the timer it would not end
    decision = agent.decide(MIDGAME, limits)
    assert timers == [allotment(limits, MIDGAME.empties)]
    assert decision.stats.playouts > 0
    assert decision.flaw() is None
    for seconds, given_ in ((0.02, 60.0), (60.0, 0.02)):  # the shorter one counts
        MCTS(seconds=seconds).decide(MIDGAME, Limits(seconds=given_))
    assert timers[1:] == pytest.approx([0.018, 0.018])
    assert MCTS(playouts=5).reproducible
    assert not MCTS(seconds=1).reproducible
    assert MCTS.watches_clock


@pytest.mark.parametrize("limits", [Limits(seconds=0.1), Limits(clock=2.3)])
def test_time_is_respected_by_the_twin(limits: Limits, clock: Clock) -> None:
    agent = MCTS(playouts=1 << 40, compiled=False)
    clock.tick = 0.03  # what a playout takes
    decision = agent.decide(MIDGAME, limits)
    assert decision.stats.playouts == 3  # 0.097 s and 0.103 s, of which 0.03 s are gone before
    assert decision.flaw() is None


@pytest.mark.parametrize("seconds", [0.1, 0.05])
def test_the_time_that_moving_the_tree_takes_counts(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, timers: list[float], seconds: float
) -> None:
    """A tree of 1 GiB takes 65 ms."""
    agent = MCTS(memory_mb=1)
    first, reply, *_ = agent.decide(MIDGAME, Limits(nodes=5000)).pv
    moved = CompiledTree.move_to

    def slowly(*args: Any) -> None:
        clock.seconds += 0.065
        moved(*args)

    monkeypatch.setattr(CompiledTree, "move_to", slowly)
    agent.decide(MIDGAME.play(first).play(reply), Limits(seconds=seconds))
    assert timers == [pytest.approx(max(SHORTEST, seconds - MARGIN - 0.065))]


def test_values_are_what_the_evaluation_expects() -> None:
    """After one playout of each move, its value is that of the position it leads to."""
    for reward in ("discs", "win"):
        way = {"rollout": "value", "evaluation": SquareWeights(), "per_disc": 12, "reward": reward}
        agent = MCTS(playouts=len(MIDGAME.moves), **way)  # type: ignore[arg-type]
        agent.search(MIDGAME)
        for move, estimate in agent.moves.items():
            discs = -SquareWeights()(MIDGAME.play(move)) / 12
            expected = discs / 64 if reward == "discs" else math.tanh(discs / CLEAR_WIN)
            assert estimate.visits == 1
            assert estimate.value == pytest.approx(expected, abs=1 / FINE)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"playouts": 0}, "playouts=0: 1"),
    ({"playouts": 2.5}, "playouts=2.5"),
    ({"playouts": True}, "playouts=True"),
    ({"seconds": 0}, "seconds=0: 0"),
    ({"seconds": float("nan")}, "seconds=nan"),
    ({"seconds": "1"}, "seconds='1':"),
    ({"playouts": 5, "seconds": 1}, "playouts=5: seconds=1"),
    ({"exploration": -1}, "exploration=-1: 0"),
    ({"exploration": float("inf")}, "exploration=inf"),
    ({"reward": "wins"}, "reward 'wins'; win, discs. 'win'"),
    ({"rollout": "gredy"}, "rollout 'gredy'; 'greedy'"),
    ({"epsilon": 1.5}, "epsilon=1.5: 0 1"),
    ({"rollout": "greedy"}, "evaluation=None: greedy"),
    ({"rollout": "value"}, "evaluation=None: value"),
    ({"per_disc": 0}, "per_disc=0: 0"),
    ({"evaluation": DiscCount()}, "evaluation random"),
    ({"memory_mb": 0}, "memory_mb=0: 1"),
    ({"solve": "yes"}, "solve=yes: true false"),
    ({"tree_reuse": 1}, "tree_reuse=1: true false"),
]


@pytest.mark.parametrize(("way", "words"), BAD, ids=[next(iter(way)) for way, _ in BAD])
def test_bad_settings_are_refused_in_one_line(way: dict[str, Any], words: str) -> None:
    with refused(*words.split()):
        MCTS(**way)


def test_what_cannot_be_searched_is_refused() -> None:
    with refused("playouts", "seconds"):
        MCTS().decide(Position.start(), Limits(depth=3))
    with refused("over"):
        MCTS(playouts=5).search(Position.from_obf("X" * 16 + " O", "mini4"))
    assert MCTS(playouts=5).boards() == {4, 6, 8}
    assert MCTS(playouts=5, rollout="greedy", evaluation=SquareWeights()).boards() == {8}


@ways
def test_a_copy_searches_in_its_own_memory(way: dict[str, Any]) -> None:
    original = MCTS(playouts=100, **way)
    original.begin_game(Color.BLACK, Position.start(), 7)
    decision = original.decide(MIDGAME, Limits())
    before = original.moves
    clone = copy.deepcopy(original)
    assert clone.moves == {}
    clone.decide(Position.start(), Limits())
    assert original.moves == before
    clone.begin_game(Color.BLACK, Position.start(), 7)
    assert clone.decide(MIDGAME, Limits()) == decision
