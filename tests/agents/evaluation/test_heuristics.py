"""Heuristics: against the slow rules, against their twins, and by hand."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Sequence
from concurrent.futures import Executor
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from boards import placed, random_game, strewn_boards
from refusals import refused

from othello_lab import MCTS, RULESETS, AlphaBeta, Maximizer, Minimax, Position
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.evaluation import (
    FEATURES,
    FINAL_UNIT,
    Composite,
    Corners,
    DiscCount,
    Evaluation,
    Iago,
    Mobility,
    ModifiedSquareWeights,
    PotentialMobility,
    SquareWeights,
)
from othello_lab.agents.evaluation.arithmetic import rounded
from othello_lab.agents.evaluation.edge_stability import edge_values
from othello_lab.core import plain_rules
from othello_lab.core.bitboard import symmetric_forms
from othello_lab.core.rules import ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import check_board, read

# Norvig, Paradigms of AI Programming, 18.3: the whole table of *weights*.
NORVIG = [
    [120, -20, 20, 5, 5, 20, -20, 120],
    [-20, -40, -5, -5, -5, -5, -40, -20],
    [20, -5, 15, 3, 3, 15, -5, 20],
    [5, -5, 3, 3, 3, 3, -5, 5],
]
NORVIG += NORVIG[::-1]
# A table without any symmetry, which shows a row or column in the wrong place.
LOPSIDED = [[10 * row + column - 30 for column in range(8)] for row in range(8)]

EVALUATIONS: dict[str, Evaluation] = {name: make() for name, make in FEATURES.items()} | {
    "composite": Composite(
        {"mobility": 8, "corners": 25, "frontier_discs": -0.37},
        [
            {"empties": [0, 20], "weights": {"disc_count": 5.5, "mobility": 0}},
            {"empties": [21, 60], "weights": {"iago": 0.01, "parity": 1 / 3}},
        ],
    ),
}
evaluations = pytest.mark.parametrize("name", EVALUATIONS)

# The largest absolute value.
RANGES = {name: feature.largest for name, (_, feature) in FEATURES.declared.items()}
RANGES["composite"] = FINAL_UNIT - 1
# These count on whose move it is.
SIDED = {n for n, (_, feature) in FEATURES.declared.items() if not feature.antisymmetric}
SIDED.add("composite")


def from_games(count: int, seed: int) -> list[Position]:
    """So many positions of random games, and boards that no game leaves."""
    found: list[Position] = []
    while len(found) < count:
        found += random_game("standard", seed)
        seed += 1
    strewn = [position for position in strewn_boards(count // 2, seed) if position.discs >= 4]
    return found[:count] + strewn


@evaluations
@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_kernel_twin_symmetries_and_range(name: str, count: int) -> None:
    evaluation, full = EVALUATIONS[name], 2**64 - 1
    extreme = [Position(full, 0), Position(0, full), Position(full ^ 1, 0), Position(15, 0)]
    one_sided = 0
    for position in from_games(count, 1) + extreme:
        value = evaluation(position)
        assert value == evaluation.plain(position), f"\n{position}"
        assert abs(value) <= RANGES[name] < FINAL_UNIT, f"\n{position}"
        for masks in symmetric_forms(position.mover, position.opponent, 8):
            assert evaluation(Position(*masks)) == value, f"\n{position}"
        swapped = Position(position.opponent, position.mover, position.to_move.other)
        one_sided += evaluation(swapped) != -value
    assert (one_sided > 0) == (name in SIDED)
    if name != "composite":  # whether it is one or the other is written where users look
        doc = " ".join((type(evaluation).__doc__ or "").split())
        assert ("Antisymmetric" in doc) == (name not in SIDED), doc
        assert ("Not antisymmetric" in doc) == (name in SIDED), doc


@evaluations
def test_searches_with_it(name: str) -> None:
    """Alpha-beta is its twin, and a copy decides alike."""
    evaluation = EVALUATIONS[name]
    fast, slow = AlphaBeta(3, evaluation), AlphaBeta(3, evaluation, compiled=False)
    for position in random_game("standard", 5)[4:-1:18]:
        depth = 2 if position.empties > 8 else 3
        decision = fast.search(position, depth)
        assert decision == slow.search(position, depth), f"\n{position}"
        for clone in (copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))):
            assert clone.search(position, depth) == decision
            assert not np.shares_memory(clone.evaluation.parameters, evaluation.parameters)


@pytest.mark.integration
def test_agents_can_be_sent_to_another_process(elsewhere: Executor) -> None:
    position = random_game("standard", 9)[20]
    agents: list[Any] = [AlphaBeta(3, evaluation) for evaluation in EVALUATIONS.values()]
    agents.append(Minimax(3, SquareWeights()))
    agents.append(MCTS(playouts=100, rollout="greedy", evaluation=SquareWeights()))
    decisions = [agent.search(position) for agent in agents]
    asked = [elsewhere.submit(agent.search, position) for agent in agents]
    assert [each.result() for each in asked] == decisions


@evaluations
def test_boards_are_declared(name: str) -> None:
    evaluation = EVALUATIONS[name]
    assert evaluation.sides == ({4, 6, 8} if name == "disc_count" else {8})
    if name != "composite":
        assert evaluation.name == name.removesuffix("_ratio").replace("_", " ")
    for rules in ("mini6", "mini4"):
        if name != "disc_count":
            with refused("8x8", rules, error=ConfigError):
                check_board(AlphaBeta(2, evaluation), "left", ruleset(rules))


def counted(board: oracle.Board, own: str) -> list[tuple[int, int]]:
    """Moves, and empty squares beside the other's discs: of ``own`` and of the other."""
    theirs = oracle.other(own)

    def touching(colour: str) -> int:
        found = set()
        for s in oracle.squares(board):
            if oracle.at(board, s) == colour:
                found |= {(s // 8 + down, s % 8 + right) for down, right in plain_rules.DIRECTIONS}
        on_board = {(r, c) for r, c in found if 0 <= r < 8 and 0 <= c < 8}
        return sum(board[r][c] == oracle.EMPTY for r, c in on_board)

    moves = len(oracle.legal_moves(board, own)), len(oracle.legal_moves(board, theirs))
    return [moves, (touching(theirs), touching(own))]


def ratio(weight: int, mine: int, others: int) -> int:
    return round(Fraction(weight * (mine - others), mine + others + 2))


def reference(board: oracle.Board, own: str) -> dict[str, int]:
    """Counts of discs, moves, neighbours, and regions, worked out on a list of rows."""
    theirs = oracle.other(own)
    cells = {(s // 8, s % 8): oracle.at(board, s) for s in oracle.squares(board)}

    def beside(place: tuple[int, int]) -> list[tuple[int, int]]:
        found = [(place[0] + down, place[1] + right) for down, right in plain_rules.DIRECTIONS]
        return [other for other in found if other in cells]

    def frontier(colour: str) -> int:
        return sum(
            kind == colour and any(cells[near] == oracle.EMPTY for near in beside(place))
            for place, kind in cells.items()
        )

    corners = [(0, 0), (0, 7), (7, 0), (7, 7)]
    taken = [cells[corner] for corner in corners]

    def near_free_corners(colour: str) -> int:
        free = [corner for corner in corners if cells[corner] == oracle.EMPTY]
        return sum(cells[near] == colour for corner in free for near in beside(corner))

    # Regions: every empty square starts as its own, and neighbours are merged.
    region = {place: place for place, kind in cells.items() if kind == oracle.EMPTY}
    merged: dict[tuple[int, int], tuple[int, int]] = {}
    while merged != region:
        region = merged or region
        merged = {
            p: min([region[p], *(region[n] for n in beside(p) if n in region)]) for p in region
        }
    sizes = [list(region.values()).count(name) for name in set(region.values())]
    moves, soon = counted(board, own)
    return {
        "mobility": moves[0] - moves[1],
        "mobility_ratio": ratio(1000, *moves),
        "potential_mobility": soon[0] - soon[1],
        "potential_mobility_ratio": ratio(1000, *soon),
        "frontier_discs": frontier(theirs) - frontier(own),
        "corners": taken.count(own) - taken.count(theirs),
        "corner_closeness": near_free_corners(theirs) - near_free_corners(own),
        "disc_count": oracle.count(board, own) - oracle.count(board, theirs),
        "parity": sum(1 if size % 2 else -1 for size in sizes),
    }


def test_counts_are_those_of_the_slow_rules() -> None:
    boards = [turn[:2] for seed in range(2) for turn in oracle.random_game("standard", seed)]
    boards += [(oracle.random_board(8, seed), oracle.WHITE) for seed in range(40)]
    for board, own in boards:
        position = Position(*oracle.masks(board, own))
        for name, expected in reference(board, own).items():
            assert EVALUATIONS[name](position) == expected, f"{name}\n{position}"
    for rules in RULESETS:  # discs are counted on every board
        for position in random_game(rules, 3):
            expected = position.mover.bit_count() - position.opponent.bit_count()
            assert DiscCount()(position) == DiscCount().plain(position) == expected


FULL = Position(2**64 - 1, 0)


@pytest.mark.parametrize("corner", ["a1", "h1", "a8", "h8"])
@pytest.mark.parametrize("mine", [True, False])
def test_each_corner_settles_its_neighbours_and_no_others(corner: str, mine: bool) -> None:
    """For every square: its table value, or 5 for its owner beside an occupied corner."""
    taken = placed(corner)
    at = taken.bit_length() - 1
    beside = {s for s in range(64) if max(abs(s % 8 - at % 8), abs(s // 8 - at // 8)) == 1}
    assert len(beside) == 3
    modified = ModifiedSquareWeights()
    for square in set(range(64)) - {at}:
        for own in (1 << square, 0):
            other = (1 << square) ^ own
            position = Position(own | taken * mine, other | taken * (not mine))
            # Norvig: add (5 - weight) for the mover's disc, subtract it for the opponent's.
            change = 5 - NORVIG[square // 8][square % 8] if square in beside else 0
            expected = SquareWeights().plain(position) + (change if own else -change)
            assert modified(position) == modified.plain(position) == expected, f"\n{position}"


def test_each_square_is_worth_its_weight() -> None:
    assert SquareWeights().weights.tolist() == NORVIG
    one, two = SquareWeights(NORVIG), SquareWeights(LOPSIDED)  # they share one compiled kernel
    for square in range(64):
        for evaluation, table in ((one, NORVIG), (two, LOPSIDED)):
            mine, theirs = Position(1 << square, 0), Position(0, 1 << square)
            weight = table[square // 8][square % 8]
            assert evaluation(mine) == evaluation.plain(mine) == weight, oracle.name(square)
            assert evaluation(theirs) == evaluation.plain(theirs) == -weight
    quarter = [[16 * row + column for column in range(4)] for row in range(4)]
    table = SquareWeights(quarter).weights.tolist()
    assert table == [
        [quarter[min(row, 7 - row)][min(column, 7 - column)] for column in range(8)]
        for row in range(8)
    ]


def test_the_largest_square_weights() -> None:
    weights = np.array(NORVIG).ravel()
    good = sum(1 << s for s in range(64) if weights[s] > 0)
    assert SquareWeights()(Position(good, ~good & 2**64 - 1)) == 1176
    # Mover: corners and what is beside them, and every other square of a positive weight.
    own = good | placed("b1 a2 b2 g1 h2 g2 a7 b8 b7 h7 g8 g7")
    assert ModifiedSquareWeights()(Position(own, 2**64 - 1 ^ own)) == 916
    for most in (100_000, -100_000):
        assert SquareWeights([[most] * 8] * 8)(FULL) == 64 * most


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ([[1, 2], [3, 4]], "(2, 2)"),
        ([1] * 16, "(16,)"),
        (7, "()"),
        ([], "(0,)"),
        (np.zeros((4, 8), int), "(4, 8)"),
        ([[1, 2, 3, 4]] * 3 + [[1, 2, 3]], "shape"),
        ([[0.5] * 4] * 4, "integers"),
        ([["a"] * 4] * 4, "integers"),
        ([[True] * 4] * 4, "integers"),
        ([[None] * 4] * 4, "integers"),
        ([[100_001] * 4] * 4, "100000"),
        ([[-100_001] * 8] * 8, "-100000"),
        ([[10**30] * 4] * 4, "100000"),
        ([[-(2**63)] * 4] * 4, "100000"),  # numpy cannot hold its absolute value
    ],
)
def test_bad_weights_are_refused(weights: Sequence[Sequence[int]], complaint: str) -> None:
    with refused(complaint):
        SquareWeights(weights)


@pytest.mark.parametrize("kind", [Mobility, PotentialMobility])
@pytest.mark.parametrize("form", ["", "rato", "Ratio", None])
def test_an_unknown_form_is_refused(kind: type[Mobility], form: str) -> None:
    with refused("difference, ratio"):
        kind(form)


class Half(Corners):
    @staticmethod
    def kernel(mover: Any, opponent: Any, parameters: Any) -> Any:
        return 0.5


class Undefined(Corners):
    @staticmethod
    def kernel(mover: Any, opponent: Any, parameters: Any) -> Any:
        return no_such_name(mover)  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(("kind", "named"), [(Half, "float64"), (Undefined, "no_such_name")])
def test_a_kernel_that_is_none_is_refused(kind: type[Evaluation], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        kind().prepare()


def test_rounding_equals_that_of_exact_fractions() -> None:
    rng = random.Random(8)
    ties = 0
    for _ in range(5_000):
        if rng.random() < 0.5:
            numerator, denominator = rng.randint(-(2**61), 2**61), rng.randint(1, 2**40)
        else:
            denominator = rng.choice([2, 2, 3, 32_000, 10, rng.randint(1, 60)])
            numerator = rng.randint(-(10**6), 10**6) * rng.choice([1, denominator // 2 or 1])
        expected = round(Fraction(numerator, denominator))
        ties += Fraction(numerator, denominator) % 1 == Fraction(1, 2)
        given = rounded(np.int64(numerator), np.int64(denominator))
        assert given == expected, f"{numerator} / {denominator}"
    assert ties > 250


EDGES = [
    "b2 a1 b1 c1 d1 e1 f1 g1 h1 g2",
    "b7 a8 b8 c8 d8 e8 f8 g8 h8 g7",
    "b2 a1 a2 a3 a4 a5 a6 a7 a8 b7",
    "g2 h1 h2 h3 h4 h5 h6 h7 h8 g7",
]


def iago(board: oracle.Board, own: str) -> list[int]:
    """The three terms by the formula, on a list of rows."""
    m = 64 - oracle.count(board, oracle.EMPTY) - 3
    index = {own: "1", oracle.other(own): "2", oracle.EMPTY: "0"}
    total = 0
    for edge in EDGES:
        seen = [board[int(name[1]) - 1]["abcdefgh".index(name[0])] for name in edge.split()]
        total += int(edge_values()[int("".join(index[disc] for disc in reversed(seen)), 3)])
    moves, soon = counted(board, own)
    now = 50_000 + 2_000 * m if m < 25 else 75_000 + 1_000 * m
    edges = round(Fraction((312_000 + 6_240 * m) * total, 32_000))
    return [edges, ratio(now, *moves), ratio(20_000, *soon)]


def test_iago_is_its_formula() -> None:
    evaluation = Iago()
    seen = set()
    for seed in range(4):
        for board, own, _ in oracle.random_game("standard", 40 + seed):
            position = Position(*oracle.masks(board, own))
            terms = iago(board, own)
            assert list(evaluation.parts(position).values()) == terms, f"\n{position}"
            assert evaluation(position) == sum(terms), f"\n{position}"
            seen.add(position.discs - 3)
    assert {1, 24, 25, 60} <= seen


@pytest.mark.parametrize(
    ("line_up", "kind"), [("heuristics", Maximizer), ("heuristics_ab", AlphaBeta)]
)
def test_the_line_ups_hold_every_heuristic(line_up: str, kind: type) -> None:
    plan = read([f"agents={line_up}"])
    wanted = {name for name in EVALUATIONS if not name.endswith("_ratio")}
    assert set(plan.agents) == wanted | ({"random"} if line_up == "heuristics" else set())
    for name in wanted:
        agent = plan.agents[name]
        assert type(agent) is kind
        assert type(agent.evaluation) is type(load_evaluation(name)), name
        assert agent.depth == (4 if kind is AlphaBeta else 1)
