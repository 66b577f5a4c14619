"""Edge stability, as in the programs Iago and Bill: a value for every possible edge.

An edge is ten squares: the eight of the edge and its two X-squares. Each is empty, the mover's or
the opponent's, so there are 3^10 = 59,049 edges. The table of their values is made in two steps:

1. A **static** value is a sum over discs. The worth of a disc depends on its square and on its
   class: safe for good (*stable*), in danger (*semi-stable*), or open to an immediate capture
   (*unstable*). The opponent's discs count negative (:data:`STATIC`).
2. Five times over, from the fullest edges to the emptiest, each value is **improved** by looking
   one move ahead. The mover may play on any empty square of the edge, each with the probability
   of a legal move there (:func:`_chance`), or elsewhere (probability 1, the present value). The
   possibilities are sorted by value, best first, and each takes its share of the remaining
   probability: value += left x p x v; left -= left x p.

Full edges have nothing to improve, and the empty edge stays 0.
Source: Norvig, *Paradigms of AI Programming* (1992), 18.12, after Rosenbloom's Iago (1982).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from othello_lab.agents.evaluation.evaluation import Evaluation, Feature
from othello_lab.core.bitboard import BYTE, ONE, TOP_BYTE, file_a_as_byte
from othello_lab.core.position import Position
from othello_lab.core.stability import base_3
from othello_lab.core.system.compile import Announce, Array, Int, Mask, kernel, prepare

SQUARES = 10
EDGES = 3**SQUARES
ROUNDS = 5
EMPTY, MINE, THEIRS = 0, 1, 2
STABLE, SEMI_STABLE, UNSTABLE = 0, 1, 2

_CORNER, _C, _A, _B = (700, 0, 0), (1200, 200, -25), (1000, 200, 75), (1000, 200, 50)
_X = (0, 0, -2000)
STATIC = np.array([_X, _CORNER, _C, _A, _B, _B, _A, _C, _CORNER, _X], dtype=np.float64)
"""Worth of a disc by square, from one X-square over the edge to the other, and by class (stable,
semi-stable, unstable)."""

NEIGHBOURS = np.array([[0.1, 0.4, 0.7], [0.05, 0.3, 0.0], [0.01, 0.0, 0.0]], dtype=np.float64)
"""Probability of a move that flips nothing on the edge, by own and opponent neighbours there."""

_POWERS = 3 ** np.arange(SQUARES)


@kernel
def _class(edge: np.ndarray, square: int) -> int:
    """Return the stability class of the disc on a square of an edge (an array of 10)."""
    if square == 0 or square == 9:
        corner = 1 if square == 0 else 8
        return UNSTABLE if edge[corner] == EMPTY else SEMI_STABLE
    if square == 1 or square == 8:
        return STABLE
    colour = edge[square]
    opponent = MINE + THEIRS - colour
    after = square
    while after <= 8 and edge[after] == colour:
        after += 1
    before = square
    while before >= 1 and edge[before] == colour:
        before -= 1
    # The squares beyond the run of own discs; -1 beyond the edge's end.
    one = edge[after] if after <= 8 else -1
    two = edge[before] if before >= 1 else -1
    if (one == EMPTY and two == opponent) or (two == EMPTY and one == opponent):
        return UNSTABLE
    if one == EMPTY and two == EMPTY:
        return SEMI_STABLE
    if one == opponent and two == opponent:
        for at in range(1, 9):
            if edge[at] == EMPTY:
                return SEMI_STABLE
    return STABLE


@kernel
def _play(edge: np.ndarray, square: int, colour: int, after: np.ndarray) -> int:
    """Copy an edge into ``after``, with a move on an empty square; return the number of flips."""
    opponent = MINE + THEIRS - colour
    for at in range(SQUARES):
        after[at] = edge[at]
    after[square] = colour
    flipped = 0
    if 1 <= square <= 8:
        for step in (-1, 1):
            at = square + step
            while 1 <= at <= 8 and edge[at] == opponent:
                at += step
            if 1 <= at <= 8 and edge[at] == colour:
                at -= step
                while at != square:
                    after[at] = colour
                    flipped += 1
                    at -= step
    return flipped


@kernel
def _chance(edge: np.ndarray, square: int, scratch: np.ndarray) -> float:
    """Return the probability that the mover can play on an empty square of an edge."""
    if square == 0 or square == 9:
        return 0.5
    if _play(edge, square, MINE, scratch) > 0:
        return 1.0
    if square == 1 or square == 8:
        neighbour = edge[0] if square == 1 else edge[9]
        if neighbour == THEIRS:
            return 0.9
        return 0.1 if neighbour == EMPTY else 0.001
    mine = (edge[square - 1] == MINE) + (edge[square + 1] == MINE)
    theirs = (edge[square - 1] == THEIRS) + (edge[square + 1] == THEIRS)
    chance = NEIGHBOURS[mine, theirs]
    if _play(edge, square, THEIRS, scratch) > 0:
        chance /= 2
    return chance


@kernel
def _improved(edge: np.ndarray, present: float, table: np.ndarray) -> float:
    """Return the value of an edge after looking one move ahead. present: its value until now."""
    after = np.empty(SQUARES, dtype=np.int64)
    values = np.empty(SQUARES + 1)
    chances = np.empty(SQUARES + 1)
    values[0], chances[0] = present, 1.0
    count = 1
    for square in range(SQUARES):
        if edge[square] != EMPTY:
            continue
        chances[count] = _chance(edge, square, after)
        _play(edge, square, MINE, after)
        number = 0  # of the edge, from the opponent's view
        for at in range(SQUARES):
            disc = after[at]
            number += _POWERS[at] * (disc if disc == EMPTY else MINE + THEIRS - disc)
        values[count] = -table[number]
        count += 1
    value, left = 0.0, 1.0
    for _ in range(count):
        best = 0
        for choice in range(1, count):
            if values[choice] > values[best]:
                best = choice
        value += left * chances[best] * values[best]
        left -= left * chances[best]
        values[best] = -np.inf
        chances[best] = 0.0
        if left == 0:
            break
    return np.rint(value)


@kernel
def _make_table() -> np.ndarray:
    table = np.zeros(EDGES, dtype=np.float64)
    edges = np.empty((EDGES, SQUARES), dtype=np.int64)
    discs = np.zeros(EDGES, dtype=np.int64)
    for number in range(EDGES):
        rest = number
        for square in range(SQUARES):
            edges[number, square] = rest % 3
            discs[number] += rest % 3 != EMPTY
            rest //= 3
        for square in range(SQUARES):
            colour = edges[number, square]
            if colour != EMPTY:
                worth = STATIC[square, _class(edges[number], square)]
                table[number] += worth if colour == MINE else -worth
    # A move leads to an edge with one disc more, so within one round the order of edges with the
    # same number of discs does not matter.
    for _ in range(ROUNDS):
        for held in range(SQUARES - 1, 0, -1):
            for number in range(EDGES):
                if discs[number] == held:
                    table[number] = _improved(edges[number], table[number], table)
    return table


@cache
def edge_values() -> np.ndarray:
    """Return the values of all edges for the mover, shape (59049,), int32.

    An edge's number has a digit in base 3 a square, the first X-square lowest: 0 empty, 1 mover,
    2 opponent. The first call computes them in a tenth of a second.
    """
    return _make_table().astype(np.int32)


# ---------------------------------------------------------------------- reading an edge off a board

_SEVEN = np.uint64(7)
_B2, _G2, _B7, _G7 = np.uint64(9), np.uint64(14), np.uint64(49), np.uint64(54)
_LAST_X = np.int64(3**9)


@kernel
def _half_number(parameters: Array, edge: Mask, first: Mask, last: Mask) -> Int:
    """Return a side's share of an edge's number. edge: a byte. first, last: X-squares, 0 or 1."""
    return np.int64(parameters[np.int64(edge)]) + np.int64(first) + _LAST_X * np.int64(last)


@kernel
def _halves(parameters: Array, mask: Mask) -> tuple[Int, Int, Int, Int]:
    """Return one side's share of the numbers of the four edges: row 1, row 8, file a, file h."""
    b2, g2 = mask >> _B2 & ONE, mask >> _G2 & ONE
    b7, g7 = mask >> _B7 & ONE, mask >> _G7 & ONE
    return (
        _half_number(parameters, mask & BYTE, b2, g2),
        _half_number(parameters, mask >> TOP_BYTE, b7, g7),
        _half_number(parameters, file_a_as_byte(mask), b2, b7),
        _half_number(parameters, file_a_as_byte(mask >> _SEVEN), g2, g7),
    )


@kernel
def edge_sum(mover: Mask, opponent: Mask, parameters: Array) -> Int:
    """Return the sum of the four edges' values, int64. parameters: of :class:`EdgeStability`."""
    mine, theirs = _halves(parameters, mover), _halves(parameters, opponent)
    value = np.int64(0)
    for i in range(4):
        value += parameters[256 + mine[i] + 2 * theirs[i]]
    return value


_EDGE_SQUARES = (
    (9, *range(8), 14),
    (49, *range(56, 64), 54),
    (9, *range(0, 64, 8), 49),
    (14, *range(7, 64, 8), 54),
)
"""The ten squares of each edge, X-squares first and last."""


def plain_edge_sum(position: Position) -> int:
    """Return the sum of the four edges' values, square by square in plain Python."""
    value = 0
    for squares in _EDGE_SQUARES:
        number = 0
        for power, square in enumerate(squares):
            disc = position.mover >> square & 1 or 2 * (position.opponent >> square & 1)
            number += disc * 3**power
        value += int(edge_values()[number])
    return value


class EdgeStability(Evaluation):
    """The sum of the four edges' values, from a table with the expected value of each edge.

    The table has 59,049 edges; the module's docstring explains it. Range -36340 to 36400, in the
    units of the static table (a corner held is 700). Not antisymmetric, since the table assumes
    that the mover has the move; unchanged under the board's symmetries.

    Why: corners are won and lost on edges. No sum over squares tells a safe edge from one that
    falls with the next move; a table of all edges does. It looks at nothing but edges.
    """

    as_features = (Feature("edge_stability", 36_400, antisymmetric=False, order=11),)

    sides = frozenset({8})

    def make_parameters(self) -> np.ndarray:
        """Return the share of each byte of discs in an edge's number, then all edges' values.

        The shape is (59305,).
        """
        of_bytes = [3 * base_3(mask) for mask in range(256)]  # the first digit is the X-square's
        return np.concatenate([np.array(of_bytes, dtype=np.int32), edge_values()])

    def prepare(self, announce: Announce | None = None) -> None:
        prepare("the table of edge stability", edge_values, announce)
        super().prepare(announce)

    @staticmethod
    def kernel(mover: Mask, opponent: Mask, parameters: Array) -> np.int32:
        return np.int32(edge_sum(mover, opponent, parameters))

    def plain(self, position: Position) -> int:
        return plain_edge_sum(position)
