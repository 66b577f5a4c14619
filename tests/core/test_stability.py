"""Stable discs: never flipped, whatever happens, and as many as the definition finds."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import numpy as np
import oracle
import pytest

from othello_lab import Position
from othello_lab.core.stability import edge_table, stable_discs

RandomGame = Callable[[str, int], list[Position]]


def stable(own: int, other: int) -> int:
    """The mask that the kernel gives."""
    return int(stable_discs(np.uint64(own), np.uint64(other), edge_table()))


def named(mask: int) -> set[str]:
    return {oracle.name(square) for square in range(64) if mask >> square & 1}


def placed(names: str) -> int:
    return oracle.mask(
        {8 * (int(name[1]) - 1) + "abcdefgh".index(name[0]) for name in names.split()}
    )


def strewn(count: int, seed: int) -> list[tuple[int, int]]:
    """Masks of boards as no game leaves them."""
    boards = (oracle.random_board(8, 1000 * seed + i) for i in range(count))
    return [oracle.masks(board, oracle.BLACK) for board in boards]


# ------------------------------------------------------------------ what is stable, by brute force

Edge = str  # eight letters: "x", "o" or "."


def played(edge: Edge, square: int, colour: str) -> Edge:
    """A disc put on an edge, with the runs it brackets turned."""
    left, right = edge[:square], edge[square + 1 :]
    against = "o" if colour == "x" else "x"
    run = len(right) - len(right.lstrip(against))
    if right[run : run + 1] == colour:
        right = colour * run + right[run:]
    run = len(left) - len(left.rstrip(against))
    if left[: len(left) - run][-1:] == colour:
        left = left[: len(left) - run] + colour * run
    return left + colour + right


@cache
def reachable(edge: Edge) -> frozenset[Edge]:
    """All edges that can come of this one, by any moves of either side in any order."""
    found = {edge}
    for square in range(8):
        if edge[square] == ".":
            for colour in "xo":
                found |= reachable(played(edge, square, colour))
    return frozenset(found)


@cache
def kept(edge: Edge) -> frozenset[int]:
    """The squares whose disc is the same in everything that can come."""
    return frozenset(
        square
        for square in range(8)
        if edge[square] != "." and {later[square] for later in reachable(edge)} == {edge[square]}
    )


def rays(square: int) -> list[list[int]]:
    """The four lines through a square, each as the squares on it."""
    row, column = divmod(square, 8)
    lines = []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        along = ((row + k * down, column + k * right) for k in range(-7, 8))
        lines.append([8 * r + c for r, c in along if 0 <= r < 8 and 0 <= c < 8])
    return lines


LINES = {square: rays(square) for square in range(64)}
EDGES = [
    list(range(8)),
    list(range(56, 64)),
    list(range(0, 64, 8)),
    list(range(7, 64, 8)),
]


def obviously_stable(own: int, other: int) -> int:
    """Edge discs that nothing on the edge can turn; then, again and again, inner discs that in each
    line have either no empty square or a stable disc of their colour beside them."""
    colour = {s: "x" if own >> s & 1 else "o" if other >> s & 1 else "." for s in range(64)}
    found = set()
    for edge in EDGES:
        safe = kept("".join(colour[square] for square in edge))
        found |= {edge[i] for i in safe if colour[edge[i]] == "x"}
    inner = [s for s in range(64) if colour[s] == "x" and not any(s in edge for edge in EDGES)]

    def holds(square: int, line: list[int]) -> bool:
        at = line.index(square)
        beside = {line[at - 1], line[at + 1]}  # an inner square is never at a line's end
        return bool(beside & found) or all(colour[on] != "." for on in line)

    grown = True
    while grown:
        more = {s for s in inner if s not in found and all(holds(s, line) for line in LINES[s])}
        found |= more
        grown = bool(more)
    return oracle.mask(found)


def test_every_edge_is_judged_as_by_trying_everything() -> None:
    table = edge_table()
    assert table.shape == (256 + 3**8,)
    for number in range(3**8):
        edge = "".join(".xo"[number // 3**square % 3] for square in range(8))
        own = sum(1 << square for square in range(8) if edge[square] == "x")
        other = sum(1 << square for square in range(8) if edge[square] == "o")
        assert table[own] + 2 * table[other] == number
        expected = sum(1 << square for square in kept(edge) if edge[square] == "x")
        assert table[256 + number] == expected, edge


def check_definition(positions: list[tuple[int, int]]) -> None:
    for own, other in positions:
        expected = obviously_stable(own, other)
        assert stable(own, other) == expected, (
            f"\n{Position(own, other)}\n{named(expected ^ stable(own, other))}"
        )


def test_stable_discs_are_those_of_the_definition(random_game: RandomGame) -> None:
    games = [p for seed in range(12) for p in random_game("standard", seed)[20:]]
    check_definition([(p.mover, p.opponent) for p in games] + strewn(500, 1))


@pytest.mark.integration
def test_stable_discs_are_those_of_the_definition_in_many_positions(
    random_game: RandomGame,
) -> None:
    games = [p for seed in range(1000, 1200) for p in random_game("standard", seed)]
    check_definition([(p.mover, p.opponent) for p in games] + strewn(5000, 2))


# ------------------------------------------------------------------ soundness


def check_game(game: list[Position]) -> int:
    """No disc counted is flipped later, and what was counted stays so; returns how many were."""
    counted = 0
    before = {"black": 0, "white": 0}
    for position in game:
        for colour, own, other in (
            ("black", position.black, position.white),
            ("white", position.white, position.black),
        ):
            now = stable(own, other)
            assert now & ~own == 0, f"\n{position}"
            flipped = before[colour] & ~own
            assert not flipped, f"{named(flipped)} {colour}, flipped\n{position}"
            forgotten = before[colour] & ~now
            assert not forgotten, f"{named(forgotten)} {colour}, no longer counted\n{position}"
            before[colour] = now
            counted += now.bit_count()
    return counted


def test_no_disc_counted_is_ever_flipped(random_game: RandomGame) -> None:
    counted = [check_game(random_game("standard", seed)) for seed in range(400)]
    assert sum(counted) > 50_000


@pytest.mark.integration
def test_no_disc_counted_is_ever_flipped_in_thousands_of_games(random_game: RandomGame) -> None:
    for seed in range(10_000, 14_000):
        check_game(random_game("standard", seed))


def random_play(own: int, other: int, rng: random.Random) -> list[Position]:
    """Moves of either side in any order, as unlucky as chance can make them."""
    game = [Position(own, other)]
    while not game[-1].is_over:
        position = game[-1]
        if position.must_pass or rng.random() < 0.3:
            swapped = Position(position.opponent, position.mover, position.to_move.other)
            position = swapped if swapped.moves else position
        game.append(position.play(rng.choice(position.moves)))
    return game


def test_not_even_from_boards_that_no_game_leaves() -> None:
    rng = random.Random(3)
    counted = sum(check_game(random_play(own, other, rng)) for own, other in strewn(300, 3))
    assert counted > 3000


def test_not_by_any_line_of_play(random_game: RandomGame) -> None:
    """Every order of moves, by either side at any time, in the last moves of many games."""
    lines = 0

    def try_all(position: Position, kept_by: dict[bool, int]) -> None:
        nonlocal lines
        lines += 1
        for mine, own in ((True, position.mover), (False, position.opponent)):
            assert not kept_by[mine] & ~own, f"\n{position}"
        swapped = Position(position.opponent, position.mover, position.to_move.other)
        for side, mine in ((position, True), (swapped, False)):
            for move in side.moves:
                # After the move it is the other side's turn: what was its own is the opponent's.
                try_all(side.play(move), {True: kept_by[not mine], False: kept_by[mine]})

    for seed in range(40):
        position = next(p for p in random_game("standard", seed) if p.empties == 5)
        own, other = position.mover, position.opponent
        try_all(position, {True: stable(own, other), False: stable(other, own)})
    assert lines > 5000


# ------------------------------------------------------------------ by hand


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("", "", ""),
        ("d4 e5", "e4 d5", ""),
        ("a1", "", "a1"),
        ("a1 h1 a8 h8", "", "a1 h1 a8 h8"),
        ("b1 c1", "", ""),  # a1 and h1 are free, so both ways in are
        ("a1 b1 c1 d1", "", "a1 b1 c1 d1"),
        ("a1 a2 a3 h8 g8", "", "a1 a2 a3 h8 g8"),
        ("a1 c1", "", "a1"),  # O at b1 is flipped at once, but O at d1 first and then at b1 is not
        ("a1 c1", "b1", "a1"),  # once d1 and beyond are White's, c1 can be lost
        ("b1 c1 d1 e1 f1 g1", "a1 h1", "b1 c1 d1 e1 f1 g1"),  # no empty square left
        ("a1 b1 c1 d1", "e1 f1 g1 h1", "a1 b1 c1 d1"),
        ("a1 b1", "c1", "a1 b1"),
        ("b2", "", ""),
        ("a1 b2", "", "a1"),  # b2 can be taken along the row
        ("a1 b1 a2 b2", "", "a1 b1 a2"),  # along a3-b2-c1 it can still be
        ("a1 b1 c1 a2 b2", "", "a1 b1 c1 a2 b2"),
        ("a1 b1 c1 a2 b2 c2", "", "a1 b1 c1 a2 b2"),  # c2: b3-c2-d1 is open
        ("a1 b1 c1 d1 a2 b2 c2", "", "a1 b1 c1 d1 a2 b2 c2"),
        ("h8 g8 f8 h7 g7", "", "h8 g8 f8 h7 g7"),
        ("h1 g1 f1 h2 g2", "", "h1 g1 f1 h2 g2"),
        ("a8 b8 c8 a7 b7", "", "a8 b8 c8 a7 b7"),
    ],
)
def test_stable_discs_by_hand(own: str, other: str, expected: str) -> None:
    assert named(stable(placed(own), placed(other))) == set(expected.split())


def test_a_disc_whose_four_lines_are_full_is_stable() -> None:
    lines = oracle.mask({on for line in LINES[27] for on in line})  # those through d4
    assert named(stable(1 << 27, lines ^ 1 << 27)) == {"d4"}
    for line in LINES[27]:
        for on in {line[0], line[-1]}:
            assert stable(1 << 27, lines & ~(1 << 27 | 1 << on)) == 0, oracle.name(on)


def test_on_a_full_board_every_disc_is_stable() -> None:
    rng = random.Random(5)
    everything = 2**64 - 1
    for _ in range(200):
        own = rng.getrandbits(64)
        assert stable(own, everything ^ own) == own
    assert stable(everything, 0) == everything
    assert stable(0, everything) == 0


def test_a_corner_is_always_stable() -> None:
    corners = 1 | 1 << 7 | 1 << 56 | 1 << 63
    for own, other in strewn(2000, 4):
        assert stable(own, other) & corners == own & corners
