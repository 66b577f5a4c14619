"""The classic heuristics: against the slow rules, against their twins, and by hand."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import random
from collections.abc import Callable
from concurrent.futures import Executor
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle
import pytest
from rich.console import Console

from othello_lab import AlphaBeta, Maximizer, Position
from othello_lab.agents.config import ConfigError, load_evaluation
from othello_lab.agents.evaluation import (
    FEATURES,
    FINAL_UNIT,
    Composite,
    CornerCloseness,
    Corners,
    DiscCount,
    EdgeStability,
    Evaluation,
    FrontierDiscs,
    Iago,
    Mobility,
    ModifiedSquareWeights,
    Parity,
    PotentialMobility,
    SquareWeights,
    StableDiscs,
)
from othello_lab.agents.evaluation.arithmetic import rounded
from othello_lab.agents.evaluation.edge_stability import edge_values
from othello_lab.core import bitboard, plain_rules
from othello_lab.core.rules import ruleset
from othello_lab.experiments.config import check_board, read
from othello_lab.experiments.jobs.run import run

RandomGame = Callable[[str, int], list[Position]]


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


def swapped(position: Position) -> Position:
    """The same discs with the other side to move."""
    return Position(position.opponent, position.mover, position.to_move.other)


def forms(position: Position) -> list[Position]:
    """The position after each symmetry of the board but the identity."""
    found = []
    for _ in range(4):
        for change in (bitboard.mirror, bitboard.transpose):
            mover, opponent = change(position.mover), change(position.opponent)
            position = dataclasses.replace(position, mover=mover, opponent=opponent)
            found.append(position)
    return found[:-1]


def placed(names: str) -> int:
    return oracle.mask(
        {8 * (int(name[1]) - 1) + "abcdefgh".index(name[0]) for name in names.split()}
    )


def discs(own: str, other: str = "") -> Position:
    return Position(placed(own), placed(other))


def from_games(random_game: RandomGame, count: int, seed: int) -> list[Position]:
    found: list[Position] = []
    while len(found) < count:
        found += random_game("standard", seed)
        seed += 1
    return found[:count]


def strewn(count: int, seed: int) -> list[Position]:
    """Boards as no game leaves them, sparse and dense."""
    boards = (oracle.random_board(8, 1000 * seed + i) for i in range(count))
    found = [Position(*oracle.masks(board, oracle.BLACK)) for board in boards]
    return [position for position in found if position.discs >= 4]


# ------------------------------------------------------------------ what holds for all


@evaluations
def test_the_kernel_agrees_with_its_reading_twin(name: str, random_game: RandomGame) -> None:
    evaluation = EVALUATIONS[name]
    for position in from_games(random_game, 300, 1) + strewn(150, 1):
        assert evaluation(position) == evaluation.plain(position), f"\n{position}"


@pytest.mark.integration
@evaluations
def test_the_kernel_agrees_with_its_reading_twin_on_10000_positions(
    name: str, random_game: RandomGame
) -> None:
    evaluation = EVALUATIONS[name]
    for position in from_games(random_game, 10_000, 5000) + strewn(2000, 2):
        assert evaluation(position) == evaluation.plain(position), f"\n{position}"


@evaluations
def test_what_is_good_for_one_side_is_bad_for_the_other(name: str, random_game: RandomGame) -> None:
    evaluation = EVALUATIONS[name]
    differ = [
        position
        for position in from_games(random_game, 400, 300) + strewn(200, 3)
        if evaluation(position) != -evaluation(swapped(position))
    ]
    if name in SIDED:
        assert differ, "symmetric after all: its docstring says otherwise"
    else:
        assert not differ, f"\n{differ[0]}"
    # Whether it is one or the other is written where users look.
    if name != "composite":
        doc = " ".join((type(evaluation).__doc__ or "").split())
        assert ("Antisymmetric" in doc) == (name not in SIDED), doc
        assert ("Not antisymmetric" in doc) == (name in SIDED), doc


@evaluations
def test_values_do_not_change_with_the_boards_symmetries(
    name: str, random_game: RandomGame
) -> None:
    evaluation = EVALUATIONS[name]
    for position in from_games(random_game, 400, 700) + strewn(200, 4):
        value = evaluation(position)
        for form in forms(position):
            assert evaluation(form) == value, f"\n{position}\n{form}"


@evaluations
def test_values_stay_within_the_documented_range(name: str, random_game: RandomGame) -> None:
    evaluation, largest = EVALUATIONS[name], RANGES[name]
    full = 2**64 - 1
    extreme = [Position(full, 0), Position(0, full), Position(full ^ 1, 0), Position(15, 0)]
    for position in from_games(random_game, 400, 900) + strewn(400, 5) + extreme:
        assert abs(evaluation(position)) <= largest, f"\n{position}"
    assert largest < FINAL_UNIT


@evaluations
def test_a_maximizer_takes_the_first_of_the_best_moves(name: str, random_game: RandomGame) -> None:
    """By plain reasoning: each move tried, ends of the game before everything else."""
    evaluation = EVALUATIONS[name]
    agent = Maximizer(evaluation)
    for position in random_game("standard", 77)[::3] + random_game("standard", 78)[-6:]:
        if not position.moves:
            continue
        worth = {}
        for move in position.moves:
            after = position.play(move)
            unit = after.disc_difference * FINAL_UNIT
            worth[move] = -(unit if after.is_over else evaluation.plain(after))
        best = max(worth.values())
        decision = agent.search(position)
        assert decision.value == best, f"\n{position}"
        assert decision.move == min(m for m, v in worth.items() if v == best), f"\n{position}"


@evaluations
def test_alphabeta_with_it_is_its_twin(name: str, random_game: RandomGame) -> None:
    evaluation = EVALUATIONS[name]
    fast, slow = AlphaBeta(3, evaluation), AlphaBeta(3, evaluation, compiled=False)
    for position in random_game("standard", 5)[4:-1:13]:
        depth = 2 if position.empties > 8 else 3
        assert fast.search(position, depth) == slow.search(position, depth), f"\n{position}"


# ------------------------------------------------------------------ copies


@evaluations
def test_a_copy_of_an_agent_decides_alike(name: str, random_game: RandomGame) -> None:
    position = random_game("standard", 9)[20]
    agent = AlphaBeta(3, EVALUATIONS[name])
    decision = agent.search(position)
    for clone in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert clone.search(position) == decision
        own, original = clone.evaluation.parameters, agent.evaluation.parameters
        assert not np.shares_memory(own, original)
    assert agent.search(position) == decision


@pytest.mark.integration
def test_agents_can_be_sent_to_another_process(
    random_game: RandomGame, elsewhere: Executor
) -> None:
    position = random_game("standard", 9)[20]
    agents = [AlphaBeta(3, evaluation) for evaluation in EVALUATIONS.values()]
    decisions = [agent.search(position) for agent in agents]
    asked = [elsewhere.submit(agent.search, position) for agent in agents]
    assert [each.result(timeout=120) for each in asked] == decisions


# ------------------------------------------------------------------ boards


@evaluations
def test_boards_are_declared(name: str) -> None:
    assert EVALUATIONS[name].sides == ({4, 6, 8} if name == "disc_count" else {8})


@pytest.mark.parametrize("name", sorted(set(FEATURES) - {"disc_count"}))
@pytest.mark.parametrize("rules", ["mini6", "mini4"])
def test_a_board_it_is_not_made_for_is_refused(name: str, rules: str) -> None:
    agent = AlphaBeta(2, EVALUATIONS[name])
    with pytest.raises(ConfigError, match=f"8x8.*{rules}") as refusal:
        check_board(agent, "left", ruleset(rules))
    assert "\n" not in str(refusal.value)


# ------------------------------------------------------------------ against the slow rules


def reference(board: oracle.Board, own: str) -> dict[str, Fraction | int]:
    """Mobility, potential mobility, frontier, parity and corners, worked out on a list of rows."""
    theirs = oracle.other(own)
    cells = {(s // 8, s % 8): oracle.at(board, s) for s in oracle.squares(board)}

    def beside(place: tuple[int, int]) -> list[tuple[int, int]]:
        found = [(place[0] + down, place[1] + right) for down, right in plain_rules.DIRECTIONS]
        return [other for other in found if other in cells]

    def touching(colour: str) -> int:
        """Empty squares beside a disc of this colour."""
        return sum(
            kind == oracle.EMPTY and any(cells[near] == colour for near in beside(place))
            for place, kind in cells.items()
        )

    def frontier(colour: str) -> int:
        return sum(
            kind == colour and any(cells[near] == oracle.EMPTY for near in beside(place))
            for place, kind in cells.items()
        )

    def near_free_corners(colour: str) -> int:
        corners = [(0, 0), (0, 7), (7, 0), (7, 7)]
        free = [corner for corner in corners if cells[corner] == oracle.EMPTY]
        return sum(cells[near] == colour for corner in free for near in beside(corner))

    def ratio(mine: int, others: int) -> int:
        return round(Fraction(1000 * (mine - others), mine + others + 2))

    # Regions: every empty square starts as its own, and neighbours are merged.
    region = {place: place for place, kind in cells.items() if kind == oracle.EMPTY}
    for _ in region:
        merged = {
            p: min([region[p], *(region[n] for n in beside(p) if n in region)]) for p in region
        }
        if merged == region:
            break
        region = merged
    sizes = [list(region.values()).count(name) for name in set(region.values())]

    moves = len(oracle.legal_moves(board, own)), len(oracle.legal_moves(board, theirs))
    soon = touching(theirs), touching(own)
    corners = [cells[c] for c in ((0, 0), (0, 7), (7, 0), (7, 7))]
    return {
        "mobility": moves[0] - moves[1],
        "mobility_ratio": ratio(*moves),
        "potential_mobility": soon[0] - soon[1],
        "potential_mobility_ratio": ratio(*soon),
        "frontier_discs": frontier(theirs) - frontier(own),
        "corners": corners.count(own) - corners.count(theirs),
        "corner_closeness": near_free_corners(theirs) - near_free_corners(own),
        "disc_count": oracle.count(board, own) - oracle.count(board, theirs),
        "parity": sum(1 if size % 2 else -1 for size in sizes),
    }


def test_counts_are_those_of_the_slow_rules() -> None:
    boards = [turn[:2] for seed in range(4) for turn in oracle.random_game("standard", seed)]
    boards += [(oracle.random_board(8, seed), oracle.WHITE) for seed in range(60)]
    for board, own in boards:
        position = Position(*oracle.masks(board, own))
        for name, expected in reference(board, own).items():
            assert EVALUATIONS[name](position) == expected, f"{name}\n{position}"


# ------------------------------------------------------------------ by hand

START = Position.start()
# White to move: X d3 d4 e4 d5, O e5. Each side has three moves (c3 e3 c5; f5 e6 f6). Empty squares
# beside X: c2 d2 e2 c3 e3 f3 c4 f4 c5 f5 c6 d6 e6; beside O: f4 f5 d6 e6 f6.
AFTER_D3 = START.play("d3")


@pytest.mark.parametrize(
    ("name", "position", "value"),
    [
        ("mobility", START, 0),
        ("mobility", AFTER_D3, 0),
        ("mobility", discs("a1", "b1"), 1),
        ("mobility", discs("a1", "b1 a2 b2"), 3),
        ("mobility", discs("b1", "c1 e1"), 1 - 1),  # d1; a1
        ("mobility_ratio", discs("a1", "b1"), 333),  # 1 / 3
        ("mobility_ratio", discs("b1", "a1"), -333),
        ("mobility_ratio", discs("a1", "b1 a2 b2"), 600),  # 3 / 5
        ("potential_mobility", START, 0),
        ("potential_mobility", AFTER_D3, 13 - 5),
        ("potential_mobility_ratio", AFTER_D3, 400),  # 8 / 20
        ("potential_mobility", discs("a1", "h8"), 0),
        ("potential_mobility", discs("a1", "d4"), 8 - 3),
        ("potential_mobility_ratio", discs("a1", "d4"), 385),  # 5 / 13 = 0.3846
        ("frontier_discs", START, 0),
        ("frontier_discs", AFTER_D3, 4 - 1),
        ("frontier_discs", discs("d4", "c3 d3 e3 c4 e4 c5 d5 e5"), 8),  # d4 is inside
        ("frontier_discs", discs("a1 b1", "a2 b2 c1"), 3 - 1),  # a1 is inside, b1 touches c2
        ("frontier_discs", Position(2**64 - 1, 0), 0),
        ("parity", START, -1),  # 60 empty squares, all connected
        ("parity", AFTER_D3, 1),
        ("corners", discs("a1 h1 b2", "h8"), 2 - 1),
        ("corners", discs("", "a1 h1 a8 h8"), -4),
        ("corner_closeness", discs("b1"), -1),
        ("corner_closeness", discs("b2", "g1 h2"), 2 - 1),
        ("corner_closeness", discs("a1 b1 a2 b2", "g2"), 1),  # a1 taken: its three do not count
        ("corner_closeness", discs("b1 a2 b2", "a1"), 0),  # whoever took it
        ("corner_closeness", discs("g7 g8 h7 b7"), -4),
        ("corner_closeness", discs("", "b1 a2 b2 g1 h2 g2 a7 b8 b7 h7 g8 g7"), 12),
        ("square_weights", discs("a1 b1 b2", "a2"), 120 - 20 - 40 + 20),
        ("modified_square_weights", discs("a1 b1 b2", "a2"), 120 + 5 + 5 - 5),
        ("modified_square_weights", discs("b1 b2", "a2"), -20 - 40 + 20),
        ("modified_square_weights", discs("b1 b2", "a1 a2"), -120 + 5 + 5 - 5),
        ("modified_square_weights", discs("a1 g1 b7 g7", "b8 c3"), 120 - 20 - 40 - 40 + 20 - 15),
        ("modified_square_weights", discs("h8 g7 h7", "h1 g1 g2"), 120 + 5 + 5 - 120 - 5 - 5),
        ("modified_square_weights", discs("a8 b8 b7 a7 h1"), 120 + 5 + 5 + 5 + 120),
        ("modified_square_weights", Position(2**64 - 1, 0), 480 + 12 * 5 + 4 * 54),
        ("stable_discs", START, 0),
        ("stable_discs", discs("a1 b1 c1 a2 b2", "h8 g8 g7"), 5 - 2),  # g7: h7 and more are open
        ("stable_discs", discs("a1 b1", "c1"), 2),
    ],
)
def test_values_by_hand(name: str, position: Position, value: int) -> None:
    evaluation = EVALUATIONS[name]
    assert evaluation(position) == evaluation.plain(position) == value, f"\n{position}"


def all_but(empty: str) -> Position:
    """A full board of both colours but for these squares."""
    squares = 2**64 - 1 ^ placed(empty)
    return Position(squares & 0x55AA55AA55AA55AA, squares & ~0x55AA55AA55AA55AA)


@pytest.mark.parametrize(
    ("empty", "value"),
    [
        ("", 0),
        ("a1", 1),
        ("a1 b1", -1),
        ("a1 c1", 2),
        ("a1 b2", -1),  # connected diagonally: one region of two
        ("a1 b2 c3", 1),
        ("b1 a2", -1),
        ("h1 a2", 2),  # neighbours as numbers, not on the board
        ("h3 a4", 2),
        ("a1 b1 h8", -1 + 1),
        ("a1 b1 c1 a8 h8 g7 d4", 1 + 1 - 1 + 1),
        ("a1 b1 c1 c2 c3 b3 a3", 1),  # around a corner
        ("a1 h1 a8 h8", 4),
        ("a1 c1 e1 g1 a3 c3 e3 g3 a5 c5 e5 g5 a7 c7 e7 g7", 16),
    ],
)
def test_parity_by_hand(empty: str, value: int) -> None:
    position = all_but(empty)
    assert Parity()(position) == Parity().plain(position) == value, f"\n{position}"


@pytest.mark.parametrize("corner", ["a1", "h1", "a8", "h8"])
@pytest.mark.parametrize("owner", ["mover", "opponent"])
def test_each_corner_settles_its_neighbours_and_no_others(corner: str, owner: str) -> None:
    """For every square: its table value, or 5 for its owner beside an occupied corner."""
    taken = placed(corner)
    base = Position(taken, 0) if owner == "mover" else Position(0, taken)
    plain, modified = SquareWeights(), ModifiedSquareWeights()
    beside = {
        s
        for s in range(64)
        if max(abs(s % 8 - ord(corner[0]) + 97), abs(s // 8 - int(corner[1]) + 1)) == 1
    }
    assert len(beside) == 3
    for square in set(range(64)) - {taken.bit_length() - 1}:
        for mine in (True, False):
            more = (1 << square, 0) if mine else (0, 1 << square)
            position = Position(base.mover | more[0], base.opponent | more[1])
            weight = int(plain.weights.ravel()[square])
            # Norvig: add (5 - weight) for the mover's disc, subtract it for the opponent's.
            change = 5 - weight if square in beside else 0
            expected = plain.plain(position) + (change if mine else -change)
            assert modified(position) == modified.plain(position) == expected, f"\n{position}"


def test_the_largest_modified_square_weights() -> None:
    # Mover: corners and what is beside them, and every other square of a positive weight.
    weights = SquareWeights().weights.ravel()
    beside = placed("b1 a2 b2 g1 h2 g2 a7 b8 b7 h7 g8 g7")
    own = sum(1 << s for s in range(64) if weights[s] > 0) | beside
    assert ModifiedSquareWeights()(Position(own, 2**64 - 1 ^ own)) == 916


@pytest.mark.parametrize("kind", [Mobility, PotentialMobility])
@pytest.mark.parametrize("form", ["", "rato", "Ratio", None])
def test_an_unknown_form_is_refused(kind: type[Mobility], form: str) -> None:
    with pytest.raises(ValueError, match="choose from difference, ratio") as refusal:
        kind(form)
    assert "\n" not in str(refusal.value)


# ------------------------------------------------------------------ rounding


def test_rounding_is_to_the_nearest_and_half_to_even() -> None:
    for numerator, expected in ((1, 0), (3, 2), (5, 2), (7, 4), (-1, 0), (-3, -2), (-5, -2)):
        assert rounded(np.int64(numerator), np.int64(2)) == expected
    for numerator, expected in ((1, 0), (2, 1), (4, 1), (5, 2), (-1, 0), (-2, -1), (-4, -1)):
        assert rounded(np.int64(numerator), np.int64(3)) == expected


def test_rounding_equals_that_of_exact_fractions() -> None:
    rng = random.Random(8)
    ties = 0
    for _ in range(20_000):
        if rng.random() < 0.5:
            numerator, denominator = rng.randint(-(2**61), 2**61), rng.randint(1, 2**40)
        else:
            denominator = rng.choice([2, 2, 32_000, 10, rng.randint(1, 60)])
            numerator = rng.randint(-(10**6), 10**6) * rng.choice([1, denominator // 2 or 1])
        expected = round(Fraction(numerator, denominator))
        ties += Fraction(numerator, denominator) % 1 == Fraction(1, 2)
        given = rounded(np.int64(numerator), np.int64(denominator))
        assert given == expected, f"{numerator} / {denominator}"
    assert ties > 1000


# ------------------------------------------------------------------ Iago

# All inner squares but the X-squares are taken, all by X but for d4: 32 discs, m = 29. X cannot
# move; O can, on each of d4's eight lines (d1 d8 a4 h4 b2 g7 a7 g1). Empty squares: none beside
# d4; beside X the X-squares and the edges but for the corners, 28.
CROSS = placed(
    "c2 d2 e2 f2 b3 c3 d3 e3 f3 g3 b4 c4 d4 e4 f4 g4 "
    "b5 c5 d5 e5 f5 g5 b6 c6 d6 e6 f6 g6 c7 d7 e7 f7"
)


@pytest.mark.parametrize(
    ("position", "edges", "current", "potential"),
    [
        # m = 1, everything even.
        (START, 0, 0, 0),
        # m = 2: edges empty; (3 - 3); 20000 x (13 - 5) / 20.
        (AFTER_D3, 0, 0, 8000),
        # m = 29: 75000 + 29000 = 104000; x (0 - 8) / 10; 20000 x (0 - 28) / 30 = -18666.67.
        (Position(CROSS ^ placed("d4"), placed("d4")), 0, -83_200, -18_667),
        (Position(placed("d4"), CROSS ^ placed("d4")), 0, 83_200, 18_667),
        # m = 24: 50000 + 48000 = 98000. Without c2 d2 e2 f2 and f3, O's eight moves are d2 f2 b2 a4
        # h4 a7 d8 g7, and 27 empty squares are beside X: row 2, a3 to a7, h3 to h7, f3, b7, g7,
        # b8 to g8.
        (
            Position(CROSS ^ placed("c2 d2 e2 f2 f3 d4"), placed("d4")),
            0,
            -78_400,
            round(Fraction(-20_000 * 27, 29)),
        ),
    ],
)
def test_iago_by_hand(position: Position, edges: int, current: int, potential: int) -> None:
    evaluation = Iago()
    assert list(evaluation.parts(position).values()) == [edges, current, potential]
    assert evaluation(position) == edges + current + potential


EDGES = [
    "b2 a1 b1 c1 d1 e1 f1 g1 h1 g2",
    "b7 a8 b8 c8 d8 e8 f8 g8 h8 g7",
    "b2 a1 a2 a3 a4 a5 a6 a7 a8 b7",
    "g2 h1 h2 h3 h4 h5 h6 h7 h8 g7",
]


def iago(board: oracle.Board, own: str) -> list[int]:
    """The three terms by the formula, on a list of rows."""
    stones = 64 - oracle.count(board, oracle.EMPTY)
    m = stones - 3
    index = {own: "1", oracle.other(own): "2", oracle.EMPTY: "0"}
    total = 0
    for edge in EDGES:
        seen = [board[int(name[1]) - 1]["abcdefgh".index(name[0])] for name in edge.split()]
        total += int(edge_values()[int("".join(index[disc] for disc in reversed(seen)), 3)])
    counts = reference_counts(board, own)
    now = 50_000 + 2_000 * m if m < 25 else 75_000 + 1_000 * m
    return [
        round(Fraction((312_000 + 6_240 * m) * total, 32_000)),
        *(
            round(Fraction(weight * (mine - theirs), mine + theirs + 2))
            for weight, (mine, theirs) in zip((now, 20_000), counts, strict=True)
        ),
    ]


def reference_counts(board: oracle.Board, own: str) -> list[tuple[int, int]]:
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


def test_iago_is_its_formula() -> None:
    evaluation = Iago()
    seen = set()
    for seed in range(6):
        for board, own, _ in oracle.random_game("standard", 40 + seed):
            position = Position(*oracle.masks(board, own))
            terms = iago(board, own)
            assert list(evaluation.parts(position).values()) == terms, f"\n{position}"
            assert evaluation(position) == sum(terms), f"\n{position}"
            seen.add(position.discs - 3)
    assert {1, 24, 25, 60} <= seen


def test_the_parts_of_iago_say_how_they_came_about() -> None:
    edges, current, potential = Iago().parts(AFTER_D3)
    assert (edges, current) == ("edges 0 x 324480 / 32000", "current mobility (3 - 3) / 8 x 54000")
    assert potential == "potential mobility (13 - 5) / 20 x 20000"


def test_classes_and_names_belong_together() -> None:
    """Each feature's name is what its class is called."""
    for name, kind in {
        "corner_closeness": CornerCloseness,
        "corners": Corners,
        "disc_count": DiscCount,
        "edge_stability": EdgeStability,
        "frontier_discs": FrontierDiscs,
        "iago": Iago,
        "parity": Parity,
        "stable_discs": StableDiscs,
    }.items():
        assert type(FEATURES[name]()) is kind
        assert FEATURES[name]().name == name.replace("_", " ")


# ------------------------------------------------------------------ line-ups


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


@pytest.mark.integration
@pytest.mark.parametrize("line_up", ["heuristics", "heuristics_ab"])
def test_a_small_run_rates_everyone(line_up: str, tmp_path: Path) -> None:
    depth = ["depth=2"] if line_up == "heuristics_ab" else []
    plan = read([f"agents={line_up}", "games=2", "figures=false", *depth, f"results={tmp_path}"])
    result = run(plan, "test", Console(quiet=True))
    assert set(result.games["end_reason"]) == {"finished"}
    many = len(plan.agents)
    assert len(result.games) == many * (many - 1)
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    assert all(name in report for name in plan.agents)
    assert (result.folder / "report.html").is_file()
