"""Stable discs: never flipped, whatever happens, and as many as the definition finds."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import oracle
import pytest
from boards import random_game, strewn_boards

from othello_lab import Position
from othello_lab.core.stability import edge_table, stable_discs


def stable(mover: int, opponent: int) -> int:
    """The mask that the kernel gives."""
    return int(stable_discs(np.uint64(mover), np.uint64(opponent), edge_table()))


def named(mask: int) -> set[str]:
    return {oracle.name(square) for square in range(64) if mask >> square & 1}


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
    edges = {edge}
    for square in range(8):
        if edge[square] == ".":
            for colour in "xo":
                edges |= reachable(played(edge, square, colour))
    return frozenset(edges)


@cache
def survivors(edge: Edge) -> frozenset[int]:
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
EDGES = [list(range(8)), list(range(56, 64)), list(range(0, 64, 8)), list(range(7, 64, 8))]


def obviously_stable(mover: int, opponent: int) -> int:
    """Edge discs that nothing on the edge can turn; then, again and again, inner discs that in each
    line have either no empty square or a stable disc of their colour beside them."""
    colour = {s: "x" if mover >> s & 1 else "o" if opponent >> s & 1 else "." for s in range(64)}
    result = set()
    for edge in EDGES:
        safe = survivors("".join(colour[square] for square in edge))
        result |= {edge[i] for i in safe if colour[edge[i]] == "x"}
    inner = [s for s in range(64) if colour[s] == "x" and not any(s in edge for edge in EDGES)]

    def holds(square: int, line: list[int]) -> bool:
        at = line.index(square)
        beside = {line[at - 1], line[at + 1]}  # an inner square is never at a line's end
        return bool(beside & result) or all(colour[on] != "." for on in line)

    grown = True
    while grown:
        more = {s for s in inner if s not in result and all(holds(s, line) for line in LINES[s])}
        result |= more
        grown = bool(more)
    return oracle.mask(result)


def test_every_edge_is_judged_as_by_trying_everything() -> None:
    table = edge_table()
    assert table.shape == (256 + 3**8,)
    for number in range(3**8):
        edge = "".join(".xo"[number // 3**square % 3] for square in range(8))
        mover = sum(1 << square for square in range(8) if edge[square] == "x")
        opponent = sum(1 << square for square in range(8) if edge[square] == "o")
        assert table[mover] + 2 * table[opponent] == number
        expected = sum(1 << square for square in survivors(edge) if edge[square] == "x")
        assert table[256 + number] == expected, edge


@pytest.mark.parametrize(
    ("seeds", "beginning", "boards"),
    [(range(6), 20, 300), pytest.param(range(1000, 1200), 0, 5000, marks=pytest.mark.nightly)],
    ids=["some", "many"],
)
def test_stable_discs_are_those_of_the_definition(
    seeds: range, beginning: int, boards: int
) -> None:
    positions = [p for seed in seeds for p in random_game("standard", seed)[beginning:]]
    for position in positions + strewn_boards(boards, seeds.stop):
        mover, opponent = position.mover, position.opponent
        expected, result = obviously_stable(mover, opponent), stable(mover, opponent)
        assert result == expected, f"\n{position}\n{named(expected ^ result)}"


def check_game(game: list[Position]) -> int:
    """No disc counted is flipped later, and what was counted stays so; returns how many were."""
    counted = 0
    before = {"black": 0, "white": 0}
    for position in game:
        for colour, mover, opponent in (
            ("black", position.black, position.white),
            ("white", position.white, position.black),
        ):
            now = stable(mover, opponent)
            assert now & ~mover == 0, f"\n{position}"
            flipped = before[colour] & ~mover
            assert not flipped, f"{named(flipped)} {colour}, flipped\n{position}"
            forgotten = before[colour] & ~now
            assert not forgotten, f"{named(forgotten)} {colour}, no longer counted\n{position}"
            before[colour] = now
            counted += now.bit_count()
    return counted


def random_play(position: Position, rng: random.Random) -> list[Position]:
    """Moves of either side in any order, as unlucky as chance can make them."""
    game = [position]
    while not game[-1].is_over:
        position = game[-1]
        if position.must_pass or rng.random() < 0.3:
            swapped = Position(position.opponent, position.mover, position.to_move.other)
            position = swapped if swapped.moves else position
        game.append(position.play(rng.choice(position.moves)))
    return game


@pytest.mark.parametrize("count", [300, pytest.param(9000, marks=pytest.mark.nightly)])
def test_no_disc_counted_is_ever_flipped(count: int) -> None:
    """Not even from boards that no game leaves."""
    rng = random.Random(3)
    starts = [*strewn_boards(count, 3), *count // 3 * [Position.start()]]
    counted = sum(check_game(random_play(start, rng)) for start in starts)
    assert counted > 50 * count
