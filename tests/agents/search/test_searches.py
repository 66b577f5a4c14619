"""Tree searches: the compiled ones against their reading twins, against minimax, and against what
their docstrings promise."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from boards import random_game, seeds, with_sight_of_the_end
from hypothesis import given, note, settings
from hypothesis import strategies as st
from refusals import refused

from othello_lab import (
    PASS,
    PVS,
    AlphaBeta,
    Color,
    DiscCount,
    Evaluation,
    Limits,
    Maximizer,
    Minimax,
    Position,
    SearchStats,
    SquareWeights,
)
from othello_lab.agents.evaluation import FINAL_UNIT, ModifiedSquareWeights
from othello_lab.agents.search import SearchAgent, context
from othello_lab.agents.search.window import plain
from othello_lab.agents.search.window.alphabeta import alphabeta
from othello_lab.agents.search.window.proof import (
    NO_PROOF,
    fewest_leaves,
    fewest_leaves_plainly,
    smallest_tree,
)
from othello_lab.core.game import play_game
from othello_lab.core.notation import square_name

BOARDS = [
    pytest.param("standard", SquareWeights(), id="standard-SquareWeights"),
    pytest.param("standard", DiscCount(), id="standard-DiscCount", marks=pytest.mark.nightly),
    pytest.param("wpi", SquareWeights(), id="wpi-SquareWeights", marks=pytest.mark.nightly),
    pytest.param("mini6", DiscCount(), id="mini6-DiscCount"),
    pytest.param("mini4", DiscCount(), id="mini4-DiscCount"),
]
boards = pytest.mark.parametrize(("rules", "evaluation"), BOARDS)

searches = pytest.mark.parametrize("search", [Minimax, AlphaBeta])
ways = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])

PLAIN_NODES = 3_000
"""What a reading twin may visit in one example; it takes some 15 microseconds a node."""


def shown(position: Position, depth: int) -> None:
    """Printed with a failing example."""
    note(f"depth {depth}\n{position}\n{position.to_obf()}")


@boards
@settings(max_examples=40)
@given(seed=seeds, depth=st.integers(1, 6))
def test_alphabeta_finds_minimaxs_value_move_and_variation(
    rules: str, evaluation: Evaluation, seed: int, depth: int
) -> None:
    position = with_sight_of_the_end(rules, seed)
    shown(position, depth)
    full = Minimax(depth, evaluation).search(position)
    pruned = AlphaBeta(depth, evaluation).search(position)
    assert (pruned.value, pruned.move, pruned.pv) == (full.value, full.move, full.pv)
    assert pruned.stats.nodes <= full.stats.nodes
    assert pruned.stats.leaves <= full.stats.leaves
    assert pruned.stats.evaluations <= full.stats.evaluations


@boards
@searches
@settings(max_examples=30)
@given(seed=seeds, depth=st.integers(1, 5))
def test_decisions_and_counts_are_what_they_say_and_those_of_the_twin(
    search: type[SearchAgent],
    rules: str,
    evaluation: Evaluation,
    seed: int,
    depth: int,
) -> None:
    position = with_sight_of_the_end(rules, seed)
    shown(position, depth)
    decision = search(depth, evaluation).search(position)
    stats = decision.stats
    note(str(decision))
    assert decision.flaw() is None and decision.depth == depth
    assert stats.nodes > stats.leaves >= stats.evaluations >= 0
    assert stats.cutoffs >= stats.first_move_cutoffs >= 0
    assert search is AlphaBeta or stats.cutoffs == 0
    # The principal variation can be played, and ends at a leaf that is worth the value.
    assert decision.pv[0] == decision.move
    end = position
    for move in decision.pv:
        end = end.play(move)
    if end.is_over:
        value = end.disc_difference * FINAL_UNIT
    else:
        assert len(decision.pv) == depth
        value = evaluation.plain(end)
    assert decision.value == (value if end.to_move is position.to_move else -value)
    if stats.nodes <= PLAIN_NODES:
        assert decision == search(depth, evaluation, compiled=False).search(position)


def searched(
    evaluation: Evaluation, position: Position, depth: int, alpha: int, beta: int
) -> tuple[int, tuple[int, ...], SearchStats]:
    """The bare alpha-beta kernel's result within this window, its line and its counts."""
    scratch = context.new()
    context.set_constants(scratch, position.ruleset, evaluation)
    scratch[context.MADE] = -1  # the root
    window = np.int64(alpha), np.int64(beta)
    result = alphabeta(np.intp(scratch.ctypes.data), *position.masks, *window, np.int64(depth))
    return int(result), context.read_pv(scratch, depth), context.read_stats(scratch)


@boards
@settings(max_examples=30)
@given(
    seed=seeds,
    depth=st.integers(1, 5),
    offset=st.one_of(st.integers(-3, 3), st.integers(-200, 200)),
    width=st.one_of(st.just(1), st.integers(1, 200)),
)
def test_a_result_outside_the_window_bounds_the_value(
    rules: str,
    evaluation: Evaluation,
    seed: int,
    depth: int,
    offset: int,
    width: int,
) -> None:
    position = with_sight_of_the_end(rules, seed)
    shown(position, depth)
    full = Minimax(depth, evaluation).search(position)
    value = full.value
    assert isinstance(value, int)
    unit = FINAL_UNIT if abs(value) >= FINAL_UNIT else 1
    alpha = value + offset * unit - width * unit // 2
    beta = alpha + width * unit
    result, line, counts = searched(evaluation, position, depth, alpha, beta)
    note(f"value {value}, window ({alpha}, {beta}), result {result}")
    if result <= alpha:
        assert value <= result
    elif result >= beta:
        assert value >= result
    else:
        assert (result, line) == (value, full.pv)
    if counts.nodes <= PLAIN_NODES:
        stats = SearchStats()
        order = plain.MoveOrder((), position.ruleset)
        search = plain.OrderedSearch(order, evaluation.plain, stats, null_windows=False)
        twin, _ = search.search(position, depth, alpha, beta)
        assert (twin, stats) == (result, counts)


# The corner a8 looks better by 120 points, but after b8 the game is over and won.
CORNER_OR_WIN = Position.from_obf(
    "XXXXXXXXXXOOOOXXXOXXOXOXXOXXXOOXXXXXOOOXXOXXOXXXXOOOXXXX--OXXXXX X"
)


@searches
def test_one_agent_can_change_its_board_and_its_evaluation(search: type[SearchAgent]) -> None:
    agent, other = search(4, DiscCount()), search(4, SquareWeights())
    for rules in ("standard", "mini4", "mini6", "standard", "wpi", "mini4"):
        start = Position.start(rules)
        assert agent.search(start) == search(4, DiscCount()).search(start), rules
    position = Position.from_transcript("f5d6c3d3c4")
    before = other.search(position)
    other.evaluation = DiscCount()
    assert other.search(position) == agent.search(position) != before


@searches
def test_a_copy_of_an_agent_searches_in_its_own_memory(search: type[SearchAgent]) -> None:
    # Kernels get the address of their memory, which a copy must not take over.
    original = search(4, SquareWeights())
    start = Position.start()
    decision = original.search(start)
    before = original._context.copy()
    clone = copy.deepcopy(original)
    assert clone.search(start.play("d3")) == search(4, SquareWeights()).search(start.play("d3"))
    assert (original._context == before).all()
    assert clone.search(start) == decision


def test_a_depth_limit_can_only_shorten_a_search() -> None:
    agent = AlphaBeta(3, DiscCount())
    start = Position.start()
    for limit, depth in ((None, 3), (1, 1), (2, 2), (3, 3), (9, 3)):
        assert agent.decide(start, Limits(depth=limit)).depth == depth


# The game is nearly over, so that even an unlimited search would end.
NEARLY_OVER = Position.from_obf("OXXX-OXX-XOXXXXO X", "mini4")


@searches
@pytest.mark.parametrize("depth", [0, -1, 65])
def test_a_depth_for_which_there_is_no_memory_is_refused(
    search: type[SearchAgent], depth: int
) -> None:
    # A compiled kernel would write outside its context. The twin is asked first: if that is not
    # refused, this test fails before it does harm.
    for compiled in (False, True):
        agent = search(2, DiscCount(), compiled)
        with pytest.raises(ValueError, match=f"depth[ =]{depth}"):
            agent.search(NEARLY_OVER, depth)
        if depth < 65:  # a greater limit is no reason to look deeper than the agent does
            with pytest.raises(ValueError, match=f"depth[ =]{depth}"):
                agent.decide(NEARLY_OVER, Limits(depth=depth))
        deepest = search(context.MAX_DEPTH, DiscCount(), compiled).search(CORNER_OR_WIN)
        assert (deepest.value, deepest.depth) == (34 * FINAL_UNIT, 64)


@searches
@pytest.mark.parametrize("depth", [0, -1, 65, 2.0, "3", True, None])
def test_bad_depths_are_refused(search: type[SearchAgent], depth: Any) -> None:
    with refused(f"depth={'null' if depth is None else repr(depth)}:", "from 1 to 64"):
        search(depth, DiscCount())


def test_what_cannot_be_searched_is_refused() -> None:
    for evaluation in (None, "DiscCount", DiscCount, len):
        for build in (lambda e: Minimax(2, e), Maximizer):
            with refused("Evaluation"):
                build(evaluation)
    with refused("over"):
        Minimax(2, DiscCount()).search(Position.from_obf("X" * 16 + " O", "mini4"))
    assert Minimax(2, DiscCount()).boards() == {4, 6, 8}
    assert AlphaBeta(2, SquareWeights()).boards() == {8}


# ------------------------------------------------------------------ as in PAIP's chapter 18

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
    over = passes = 0
    for rules, evaluation in (("standard", SquareWeights()), ("mini6", DiscCount())):
        for depth in (1, 2, 3, 5):
            fast = kind(depth, evaluation, final=final, **settings)
            slow = kind(depth, evaluation, compiled=False, final=final, **settings)
            for seed in range(2):
                for position in (
                    random_game(rules, seed)[24:-5:12] + random_game(rules, seed)[-5:-1]
                ):
                    decision = fast.search(position)
                    assert decision == slow.search(position), f"\n{position}"
                    over += abs(decision.value or 0) >= FINAL_UNIT
                    passes += PASS in decision.pv
                    if final == "win":
                        assert abs(decision.value or 0) <= FINAL_UNIT
    assert over > 5 and passes > 3


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


# ------------------------------------------------------------------ smallest trees


def compiled(
    position: Position, depth: int, bound: int, at_least: bool, heuristic: Evaluation
) -> float:
    scratch = context.new()
    context.set_constants(scratch, position.ruleset, heuristic)
    question = np.int64(depth), np.int64(bound), np.int64(at_least)
    result = fewest_leaves(np.intp(scratch.ctypes.data), *position.masks, *question, NO_PROOF)
    return math.inf if result >= NO_PROOF else int(result)


def some() -> Iterator[tuple[Position, int]]:
    """Positions with passes and ends of games near, and depths."""
    for rules, heuristic_depth in (("standard", 3), ("mini4", 4)):
        for seed in range(3):
            game = [position for position in random_game(rules, seed) if not position.is_over]
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
                question = position, depth, bound, at_least, heuristic
                assert compiled(*question) == fewest_leaves_plainly(*question), question
    assert passes


def test_no_search_without_a_table_has_fewer_leaves() -> None:
    heuristic = SquareWeights()
    for position in random_game("standard", 5)[4:50:9]:
        for depth in (1, 2, 3, 4, 5):
            result = Minimax(depth, heuristic).search(position)
            least = smallest_tree(position, depth, result.value, heuristic)
            pruned = AlphaBeta(depth, heuristic, ordering="sorted").search(position)
            assert least <= pruned.stats.leaves and least <= result.stats.leaves
            if depth == 1:
                assert least == result.stats.leaves == len(position.moves or (PASS,))


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
