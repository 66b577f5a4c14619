"""Move ordering: good moves are tried first, so that cutoffs come early.

An ordering is written as criteria joined by ``+``, the most important first; each later one decides
among moves the former hold equal, and in the end the order a1, b1, ... h8 does.

They are listed in :data:`CRITERIA`. Source of ``history``: J. Schaeffer, *The history heuristic and
alpha-beta search enhancements in practice* (1989).

One ply above the leaves ordering by looking costs as much as searching, so there only ``static``
orders; with the switch ``sort_leaves`` also ``sorted``, as in PAIP. The ``tt`` move is tried before
the others are even looked at.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.evaluation.square_weights import CORNER_TO_CENTRE
from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import count_evaluation, is_over
from othello_lab.core.bitboard import ONE, ZERO, after, bits, legal_moves, lowest_square, popcount
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Address, Index, Int, Mask, Square, kernel
from othello_lab.core.system.settings import unknown_choice
from othello_lab.core.vector import load, store

_SIX = np.int64(6)
_MASK = np.int64(63)

CRITERIA = {
    "none": "a1 to h8",
    "tt": "the best or refuting move that the transposition table remembers",
    "killer": "the two moves that last caused a cutoff as many plies from the root",
    "history": "moves by how often they caused cutoffs anywhere in this search, deep ones weighing "
    "more",
    "sorted": "by the evaluation of the position they lead to, which costs an evaluation a move",
    "mobility": "fewest replies first",
    "static": "by the square, in the classes of the square weights (corners first, X-squares last)",
}
"""What moves are ordered by."""
CRITERIA_NAMES = tuple(name for name in CRITERIA if name != "none")
# The kernel knows criteria by their places there. Then the bits each needs; with six for the square
# they fill the 63 bits of a positive number.
LOOKING = {"sorted", "mobility"}
"""The criteria that look at the position after a move."""
KILLER, HISTORY_COUNT, SORTED, MOBILITY, STATIC = range(1, 6)
_KILLER_BITS, _HISTORY_BITS, _SORTED_BITS, _MOBILITY_BITS, _STATIC_BITS = (
    np.int64(bits) for bits in (2, 20, 26, 6, 3)
)
HISTORY_CAP = (1 << 20) - 1
"""The highest history count; when one would pass it, all are halved."""
_MIDDLE = np.int64(1 << 25)


def read_ordering(text: str) -> tuple[str, ...]:
    """The criteria in ``"tt+killer+static"``, the most important first; none for ``none``. Raises
    ValueError naming the part that is no criterion."""
    words = [word.strip() for word in str(text).split("+")]
    if words == ["none"]:
        return ()
    for number, word in enumerate(words):
        if word not in CRITERIA_NAMES:
            unknown = unknown_choice("criterion", word, ("none", *CRITERIA_NAMES))
            raise ValueError(f"ordering={text}: {unknown}")
        if word in words[:number]:
            raise ValueError(f"ordering={text}: {word} is there twice")
    if "tt" in words[1:]:
        raise ValueError(f"ordering={text}: tt can only come first")
    return tuple(words)


def set_criteria(context: np.ndarray, criteria: Sequence[str]) -> None:
    """Put an ordering into a fresh context."""
    codes = [CRITERIA_NAMES.index(name) for name in criteria if name != "tt"]
    context[layout.CRITERIA : layout.CRITERIA + len(codes)] = codes
    context[layout.TABLE_MOVES] = "tt" in criteria
    context[layout.STATIC_FRONTIER] = "static" in criteria
    context[layout.LOOKS] = not LOOKING.isdisjoint(criteria)
    context[layout.SORTS] = codes[:1] == [SORTED]


# ------------------------------------------------------------------ static classes


def static_ranks(rules: Ruleset) -> list[int]:
    """The class of each square of a board by the square weights, 7 (corners) to 0 (X-squares);
    0 off the board. Small boards take each square's distances from the edges for its place."""
    weights = sorted({weight for row in CORNER_TO_CENTRE for weight in row})
    ranks = [0] * 64
    for row in range(rules.side):
        for column in range(rules.side):
            from_edge = min(row, rules.side - 1 - row), min(column, rules.side - 1 - column)
            weight = CORNER_TO_CENTRE[from_edge[0]][from_edge[1]]
            ranks[8 * row + column] = weights.index(weight)
    return ranks


@functools.cache
def _static_classes(rules: Ruleset) -> tuple[list[int], np.ndarray]:
    """Return the class of each square, and the classes as masks from the best one on, int64."""
    ranks = static_ranks(rules)
    masks = [0] * layout.STATIC_CLASSES
    for square in bits(rules.board):
        masks[layout.STATIC_CLASSES - 1 - ranks[square]] |= 1 << square
    return ranks, np.array(masks, dtype=np.uint64).view(np.int64)


def set_static(context: np.ndarray, rules: Ruleset) -> None:
    """Put the static classes of a board into a context: by square, and as masks."""
    ranks, masks = _static_classes(rules)
    context[layout.RANK_OF_SQUARE : layout.RANK_OF_SQUARE + len(ranks)] = ranks
    context[layout.KINDS_OF_SQUARE : layout.KINDS_OF_SQUARE + len(masks)] = masks


# ------------------------------------------------------------------ kernels


@kernel
def glance(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Return the worth of a position to its mover without searching it: its evaluation, counted as
    one, or its result, brought down to just beyond any evaluation."""
    if is_over(context, mover, opponent) and load(context, layout.PAIP_ENDS) == 0:
        discs = popcount(mover) - popcount(opponent)
        if discs == 0:
            return np.int64(0)
        return FINAL_UNIT + discs if discs > 0 else discs - FINAL_UNIT
    return count_evaluation(context, mover, opponent)


@kernel
def move_key(context: Address, mover: Mask, opponent: Mask, square: Square, ply: Int) -> Int:
    """A number that is higher the earlier the move is to be tried. Its lowest six bits hold 63
    minus the square, so that keys differ and a1 comes before h8."""
    key = np.int64(0)
    other, mine = after(mover, opponent, square)
    for slot in range(layout.MOST_CRITERIA):
        criterion = load(context, layout.CRITERIA + slot)
        if criterion == 0:
            break
        move = np.int64(square)
        if criterion == KILLER:
            rank = np.int64(0)
            if load(context, layout.KILLERS + 2 * ply) == move:
                rank = np.int64(2)
            elif load(context, layout.KILLERS + 2 * ply + 1) == move:
                rank = np.int64(1)
            key = (key << _KILLER_BITS) | rank
        elif criterion == HISTORY_COUNT:
            side = (ply & 1) << _SIX
            key = (key << _HISTORY_BITS) | load(context, layout.HISTORY + side + move)
        elif criterion == SORTED:
            value = glance(context, other, mine)
            store(context, layout.LOOKED_AT + (ply << _SIX) + move, value)
            key = (key << _SORTED_BITS) | (_MIDDLE - value)
        elif criterion == MOBILITY:
            replies = legal_moves(other, mine) & np.uint64(load(context, layout.BOARD))
            key = (key << _MOBILITY_BITS) | (_MASK - popcount(replies))
        else:
            key = (key << _STATIC_BITS) | load(context, layout.RANK_OF_SQUARE + move)
    return (key << _SIX) | (_MASK - np.int64(square))


@kernel
def list_moves(
    context: Address, mover: Mask, opponent: Mask, moves: Mask, ply: Int, enough: Int
) -> Int:
    """Write the keys of all ``moves`` into the list of this ply; return how many there are.

    enough: a value of the glance to the side that moves next. The list ends with the first move of
    so low a glance; -INFINITY for none. The killer comes first: it is probably such a move.
    """
    base = layout.MOVES + (ply << _SIX)
    number = np.int64(0)
    killer = load(context, layout.KILLERS + 2 * ply)
    first = ZERO if killer < 0 else moves & (ONE << np.uint64(killer))
    while moves != ZERO:
        square = lowest_square(moves if first == ZERO else first)
        first = ZERO
        moves ^= ONE << square
        store(context, base + number, move_key(context, mover, opponent, square, ply))
        number += 1
        if glanced(context, ply, square) <= enough:
            break
    return number


@kernel
def listed_move(context: Address, ply: Int, number: Index) -> Square:
    """Return the move at place ``number`` of this ply's list."""
    return np.uint64(_MASK - (load(context, layout.MOVES + (ply << _SIX) + number) & _MASK))


@kernel
def next_move(context: Address, ply: Int, number: Index, total: Int) -> Square:
    """Bring the best of the moves ``number`` to ``total - 1`` of this ply's list to place
    ``number``. One step of a selection sort: after a cutoff the rest was never sorted."""
    base = layout.MOVES + (ply << _SIX)
    best = load(context, base + number)
    index = number
    for i in range(number + 1, total):
        key = load(context, base + i)
        if key > best:
            best, index = key, i
    store(context, base + index, load(context, base + number))
    store(context, base + number, best)
    return listed_move(context, ply, number)


@kernel
def glanced(context: Address, ply: Int, square: Square) -> Int:
    """Return the value of the glance after a move of this ply's list, to the side that moves next;
    for orderings with ``sorted``."""
    return load(context, layout.LOOKED_AT + (ply << _SIX) + np.int64(square))


@kernel
def remember_cutoff(context: Address, square: Square, depth: Int, ply: Int) -> None:
    """Note a move that caused a cutoff as killer of its ply, and in the history."""
    move = np.int64(square)
    if load(context, layout.KILLERS + 2 * ply) != move:
        store(context, layout.KILLERS + 2 * ply + 1, load(context, layout.KILLERS + 2 * ply))
        store(context, layout.KILLERS + 2 * ply, move)
    counter = layout.HISTORY + ((ply & 1) << _SIX) + move
    weight = load(context, counter) + depth * depth
    if weight > HISTORY_CAP:
        for i in range(128):
            store(context, layout.HISTORY + i, load(context, layout.HISTORY + i) >> np.int64(1))
        weight = load(context, counter) + depth * depth
    store(context, counter, weight)


def forget_cutoffs(context: np.ndarray) -> None:
    """No killers and an empty history."""
    context[layout.KILLERS : layout.KILLERS + 2 * layout.PLIES] = -1
    context[layout.HISTORY : layout.HISTORY + 2 * 64] = 0
