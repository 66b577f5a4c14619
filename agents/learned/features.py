"""Named features of a position, the input of decision trees.

Most are heuristics of the lab (:data:`agents.evaluation.FEATURES`); the others are counts of one
side, whose difference is a heuristic. One kernel computes all, as several need the same masks.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from othello_lab.agents.evaluation import FEATURES, Mobility, PotentialMobility
from othello_lab.agents.evaluation.edge_stability import edge_sum
from othello_lab.agents.evaluation.square_weights import SquareWeights
from othello_lab.agents.evaluation.stable_discs import plain_stable_discs
from othello_lab.core.bitboard import CORNERS, around, legal_moves, neighbours, popcount
from othello_lab.core.position import Position
from othello_lab.core.stability import EDGE_TABLE_SIZE, stable_discs_of_both
from othello_lab.core.system.compile import Address, Array, Mask, kernel
from othello_lab.core.vector import int32_at

TABLES = ("square_weights", "stable_discs", "edge_stability")
"""Heuristics with parameters, in the order of :func:`tables`."""
HEURISTICS = (
    *("corners", "disc_count", "edge_stability", "frontier_discs"),
    *("mobility", "potential_mobility", "square_weights", "stable_discs"),
)
NAMES = (
    *HEURISTICS,
    *("own_moves", "their_moves", "own_potential_moves", "their_potential_moves"),
    *("own_stable_discs", "their_stable_discs", "x_squares", "c_squares", "empties", "odd_empties"),
)
"""The features, in the order of their numbers. x_squares, c_squares: discs beside an empty corner,
on its X-square or its C-squares, the opponent's minus the mover's. odd_empties: 1 if the number of
empty squares is odd (then the mover has the last move unless somebody passes), otherwise 0. Parity
by regions is left out: it takes half as long as all the others together."""
_NUMBERS = [np.int64(number) for number in range(len(NAMES))]
CORNER_DISCS, DISCS, EDGES, FRONTIER, MOBILITY, POTENTIAL, SQUARES, STABLE = _NUMBERS[:8]
OWN_MOVES, THEIR_MOVES, OWN_POTENTIAL, THEIR_POTENTIAL = _NUMBERS[8:12]
OWN_STABLE, THEIR_STABLE, X_SQUARES, C_SQUARES, EMPTIES, ODD = _NUMBERS[12:]

_CORNERS = np.uint64(sum(1 << corner for corner in CORNERS))
_X_SQUARES = np.uint64(sum(1 << square for square in (9, 14, 49, 54)))
_SQUARE_TABLE = np.intp(0)
_STABLE_TABLE = np.intp(4 * len(SquareWeights().parameters))
_EDGE_TABLE = np.intp(_STABLE_TABLE + 4 * EDGE_TABLE_SIZE)
_worth_of_squares = kernel(SquareWeights.kernel)


@cache
def tables() -> np.ndarray:
    """Lookup tables of :func:`write_features`, int32, shape (n,)."""
    return np.concatenate([FEATURES[name]().parameters for name in TABLES])


@kernel
def write_features(mover: Mask, opponent: Mask, tables: Address, values: Array) -> None:
    """Write all features of a position, in the order of :data:`NAMES`.

    tables: address of :func:`tables`. values: the output, an array of int32 as long as
    :data:`NAMES`, or a pointer to its first element.
    """
    empty = ~(mover | opponent)
    mine, theirs = popcount(legal_moves(mover, opponent)), popcount(legal_moves(opponent, mover))
    values[OWN_MOVES] = np.int32(mine)
    values[THEIR_MOVES] = np.int32(theirs)
    values[MOBILITY] = np.int32(mine - theirs)
    mine, theirs = popcount(neighbours(opponent) & empty), popcount(neighbours(mover) & empty)
    values[OWN_POTENTIAL] = np.int32(mine)
    values[THEIR_POTENTIAL] = np.int32(theirs)
    values[POTENTIAL] = np.int32(mine - theirs)
    near = neighbours(empty)
    values[FRONTIER] = np.int32(popcount(opponent & near) - popcount(mover & near))
    edges = int32_at(tables + _STABLE_TABLE)
    stable, their_stable = stable_discs_of_both(mover, opponent, edges)
    mine, theirs = popcount(stable), popcount(their_stable)
    values[OWN_STABLE] = np.int32(mine)
    values[THEIR_STABLE] = np.int32(theirs)
    values[STABLE] = np.int32(mine - theirs)
    values[EDGES] = np.int32(edge_sum(mover, opponent, int32_at(tables + _EDGE_TABLE)))
    squares = int32_at(tables + _SQUARE_TABLE)
    values[SQUARES] = _worth_of_squares(mover, opponent, squares)
    values[CORNER_DISCS] = np.int32(popcount(mover & _CORNERS) - popcount(opponent & _CORNERS))
    values[DISCS] = np.int32(popcount(mover) - popcount(opponent))
    beside = neighbours(empty & _CORNERS)
    near, far = beside & _X_SQUARES, beside & ~_X_SQUARES
    values[X_SQUARES] = np.int32(popcount(opponent & near) - popcount(mover & near))
    values[C_SQUARES] = np.int32(popcount(opponent & far) - popcount(mover & far))
    values[EMPTIES] = np.int32(popcount(empty))
    values[ODD] = np.int32(popcount(empty) & np.int64(1))


@kernel
def _write_all(movers: Array, opponents: Array, tables: Address, values: Array) -> None:
    for n in range(len(movers)):
        write_features(movers[n], opponents[n], tables, values[n])


def features(movers: np.ndarray, opponents: np.ndarray) -> np.ndarray:
    """Compute the features of many positions, int32, shape (n, features).

    movers, opponents: masks, of equal length.
    """
    values = np.zeros((len(movers), len(NAMES)), dtype=np.int32)
    mine, theirs = (np.ascontiguousarray(masks, dtype=np.uint64) for masks in (movers, opponents))
    _write_all(mine, theirs, np.intp(tables().ctypes.data), values)
    return values


def plain_features(position: Position) -> dict[str, int]:
    """Compute the features by name, in plain Python."""
    other = position.other_side()
    occupied = position.mover | position.opponent
    beside = {
        square for corner in CORNERS if not occupied >> corner & 1 for square in around(corner)
    }

    def difference(squares: set[int]) -> int:
        mine = sum(position.mover >> square & 1 for square in squares)
        return sum(position.opponent >> square & 1 for square in squares) - mine

    x_squares = {square for square in beside if int(_X_SQUARES) >> square & 1}
    heuristics = {name: FEATURES[name]().plain(position) for name in HEURISTICS}
    return heuristics | {
        "own_moves": Mobility().count(position),
        "their_moves": Mobility().count(other),
        "own_potential_moves": PotentialMobility().count(position),
        "their_potential_moves": PotentialMobility().count(other),
        "own_stable_discs": len(plain_stable_discs(position.mover, position.opponent)),
        "their_stable_discs": len(plain_stable_discs(position.opponent, position.mover)),
        "x_squares": difference(x_squares),
        "c_squares": difference(beside - x_squares),
        "empties": 64 - position.discs,
        "odd_empties": position.discs % 2,
    }
