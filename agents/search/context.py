"""The scratch memory of a compiled search: one array of int64, handed around by its address.

Passing an array object through a deep recursion costs more than all else; an address costs one
register. First come the counters, the limit on them, and the constants of a search. In a window
search the principal variation follows, a triangle: row ``d`` holds the best line of a node at most
``d`` plies from the end of the search. Then come the words of its techniques.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from othello_lab.agents.agent import SearchStats
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT, Evaluation
from othello_lab.core.bitboard import (
    ZERO,
    disc_difference,
    has_short_move,
    legal_moves,
    lowest_square,
)
from othello_lab.core.clock import WALL_CLOCK, clock_nanoseconds
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import Address, Int, Mask, kernel
from othello_lab.core.vector import call_evaluation, load, store
from othello_lab.core.whole_games import COUNTS, DEPTH, JUDGED, VALUE


class ScratchLayout:
    """Hands out the words of a scratch memory, one after another.

    behind: how many words at its beginning are taken already.
    """

    def __init__(self, behind: int = 0) -> None:
        self.size = behind

    def word(self) -> int:
        """The place of one more word."""
        return self.block(1)

    def block(self, words: int) -> int:
        """Return the place of the first of this many more words."""
        self.size += words
        return self.size - words


_NAMES = [field.name for field in fields(SearchStats)]
COUNTERS = len(_NAMES)
"""The counters come first, in the order of SearchStats' fields."""


def counter(name: str) -> int:
    """The place of the counter that SearchStats calls so."""
    return _NAMES.index(name)


NODES = counter("nodes")
MADE = counter("made")
"""While a search runs, how many more positions were made than nodes entered. Most are made to be
entered, and :func:`read_stats` counts these; only the others are counted here: positions made and
not entered, and, as -1, nodes entered whose position was there already."""
EVALUATIONS = counter("evaluations")
LEAVES = counter("leaves")
CUTOFFS = counter("cutoffs")
FIRST_MOVE_CUTOFFS = counter("first_move_cutoffs")
TABLE_RETURNS = counter("table_returns")
PROBCUT_RETURNS = counter("probcut_returns")
STABILITY_RETURNS = counter("stability_returns")
PLAYOUTS = counter("playouts")

# What every search has after its counters.
_layout = ScratchLayout(behind=COUNTERS)
LIMIT = _layout.word()
"""Nodes after which the search is to stop; set to 0 when time is up."""
NEXT_LOOK = _layout.word()
"""Nodes after which the search looks at the limit and at the clock."""
DEADLINE = _layout.word()
"""Time of the clock at which the search is to stop, in nanoseconds; 0 for none."""
CLOCK = _layout.word()
"""The clock of the deadline, as the system numbers it."""
_LOOK = _layout.word()  # time of the last look
_STEP = _layout.word()  # nodes from look to look
_CLOCK_WORDS = _layout.block(2)
NO_LIMIT = (1 << 63) - 1
_SHORT, _LONG = np.int64(50_000), np.int64(200_000)  # nanoseconds from look to look
_LARGEST_STEP = np.int64(1 << 16)
BOARD = _layout.word()
SQUARES = _layout.word()
EVALUATION = _layout.word()
PARAMETERS = _layout.word()
PAIP_ENDS = _layout.word()
"""Not 0 where a finished game is only won, lost or drawn, and at the horizon not even that."""
SHARED = _layout.size
"""So many words all scratch memories have in common; the solver's and the Monte-Carlo search's go
on with their own from here."""

# What only the window searches have.
MAX_DEPTH = 64
"""The deepest search that fits; longer than any rest of a game with its passes in practice."""
PLIES = MAX_DEPTH + 1
END = np.int64(-1)
"""Marks the end of a principal variation."""
PV = _layout.block(PLIES * PLIES)

# What only :mod:`agents.search.window.negamax` and its techniques use: switches, then their tables.
NULL_WINDOWS = _layout.word()
TABLE = _layout.word()
TABLE_SHIFT = _layout.word()
TAGS = _layout.word()
GENERATION = _layout.word()
OLDEST = _layout.word()
ANY_DEPTH = _layout.word()
ENHANCED_CUTOFFS = _layout.word()
TABLE_MOVES = _layout.word()
STATIC_FRONTIER = _layout.word()
LOOKS = _layout.word()
SORTS = _layout.word()  # not 0 where the first criterion after the table's move is ``sorted``
SORT_LEAVES = _layout.word()
PROBCUT = _layout.word()
TAPERED = _layout.word()
SINGULAR_MARGIN = _layout.word()
SINGULAR_PLIES = _layout.word()
ROOT_MOVE = _layout.word()
ROOT_VALUE = _layout.word()

MOST_CRITERIA = 5
"""How many criteria a move ordering can have besides ``tt``."""
STATIC_CLASSES = 8
RANKS_KNOWN = 32
"""How many ranks of moves a tapered search tells apart."""
CRITERIA = _layout.block(MOST_CRITERIA)
RANK_OF_SQUARE = _layout.block(64)  # static class by square
KINDS_OF_SQUARE = _layout.block(STATIC_CLASSES)  # static classes as masks
KILLERS = _layout.block(2 * PLIES)  # two by ply
HISTORY = _layout.block(2 * 64)  # by side (even or odd ply) and square
MOVES = _layout.block(64 * PLIES)  # a list of 64 keys by ply
LOOKED_AT = _layout.block(64 * PLIES)  # by ply and square: the evaluation after this move
KNOWN = _layout.block(PLIES + 1)  # by ply: the evaluation of the node now searched, or UNKNOWN
WIDTHS = _layout.block(RANKS_KNOWN * PLIES)  # of a tapered search, by ply and rank
RANKS = _layout.block(PLIES)  # rank of the move that led to the node now searched at each ply
EXTENSIONS = _layout.block(PLIES)  # plies by which the line to it was extended

# What only whole games in compiled code use.
PLAYED_DEPTH = _layout.word()
"""Plies to look ahead."""
SIZE = _layout.size

INFINITY = np.int64(65 * FINAL_UNIT)
"""More than any value."""
UNKNOWN = np.int64(2 * INFINITY)
"""Stands for an evaluation that was not made."""


@kernel
def count(context: Address, counter: int) -> None:
    """Add one to a counter."""
    store(context, counter, load(context, counter) + 1)


@kernel
def count_more(context: Address, counter: int, number: Int) -> None:
    """Add to a counter."""
    store(context, counter, load(context, counter) + number)


@kernel
def enter_again(context: Address) -> None:
    """A position that was there already is entered next: a root, one that is searched once more, or
    one that was made to be looked at."""
    count_more(context, MADE, np.int64(-1))


@kernel
def out_of_budget(context: Address) -> bool:
    """Return True if the search is to stop; its result then means nothing. Called after each return
    from a deeper search, so a limit is exceeded by at most the nodes between two such returns."""
    return load(context, NODES) >= load(context, NEXT_LOOK) and _is_over(context)


@kernel
def _is_over(context: Address) -> bool:
    """Look at the limit and at the clock. If the search may go on, note after how many nodes to
    look again: so many that 0.05 to 0.2 ms go by, as far as the nodes since the last look tell."""
    nodes, deadline = load(context, NODES), load(context, DEADLINE)
    if nodes >= load(context, LIMIT):
        return True
    if deadline == 0:
        return False
    now = clock_nanoseconds(load(context, CLOCK), context + 8 * _CLOCK_WORDS)
    if now >= deadline:
        store(context, LIMIT, np.int64(0))
        store(context, NEXT_LOOK, np.int64(0))
        return True
    since, step = now - load(context, _LOOK), load(context, _STEP)
    if since < _SHORT:
        step = min(2 * step, _LARGEST_STEP)
    elif since > _LONG:
        step = max(step // 2, np.int64(1))
    store(context, _LOOK, now)
    store(context, _STEP, step)
    store(context, NEXT_LOOK, min(nodes + step, load(context, LIMIT)))
    return False


@kernel
def count_evaluation(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Call the heuristic, and count the call."""
    count(context, EVALUATIONS)
    return call_evaluation(load(context, EVALUATION), mover, opponent, load(context, PARAMETERS))


@kernel
def final_value(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Return the worth of a finished game to the mover: its disc difference, or the sign of that,
    in units that no heuristic reaches."""
    discs = disc_difference(mover, opponent, load(context, SQUARES))
    if load(context, PAIP_ENDS) != 0:
        discs = np.int64(discs > 0) - np.int64(discs < 0)
    return discs * FINAL_UNIT


@kernel
def is_over(context: Address, mover: Mask, opponent: Mask) -> bool:
    """Return True if neither side can move. A look at short moves nearly always settles it."""
    board = np.uint64(load(context, BOARD))
    return (
        not has_short_move(mover, opponent, board)
        and (legal_moves(mover, opponent) | legal_moves(opponent, mover)) & board == ZERO
    )


@kernel
def leaf(context: Address, mover: Mask, opponent: Mask) -> Int:
    """Value of a node with no plies to go. Searches call this instead of themselves for their last
    ply, and save a quarter of the time; the node counts like any other."""
    count(context, NODES)
    count(context, LEAVES)
    if is_over(context, mover, opponent) and load(context, PAIP_ENDS) == 0:
        return final_value(context, mover, opponent)
    return count_evaluation(context, mover, opponent)


@kernel
def clear_pv(context: Address, row: Int) -> None:
    """Note that the node of this row has no best line yet."""
    store(context, PV + row * PLIES, END)


@kernel
def extend_pv(context: Address, row: Int, move: Int) -> None:
    """The best line of a node is this move and then its child's best line, one row below."""
    line = PV + row * PLIES
    child = line - PLIES
    store(context, line, move)
    for ply in range(row):
        reply = load(context, child + ply)
        store(context, line + ply + 1, reply)
        if reply == END:
            break


@kernel
def set_pv(context: Address, row: Int, move: Int) -> None:
    """Note that the best line of a node is this move, without known moves after it."""
    store(context, PV + row * PLIES, move)
    store(context, PV + row * PLIES + 1, END)


@kernel
def begin_decision(context: Address) -> Int:
    """Set the counters to 0, as the root is about to be entered; the depth that is to be
    searched."""
    for index in range(COUNTERS):
        store(context, index, np.int64(0))
    enter_again(context)
    return load(context, PLAYED_DEPTH)


@kernel
def end_decision(context: Address, value: Int, moves: Mask, answer: Address) -> Int:
    """Write the result into an answer (:mod:`core.whole_games`); return the move. A search that ran
    out of nodes has no value, and the best of the moves that it has looked at."""
    depth = load(context, PLAYED_DEPTH)
    complete = not out_of_budget(context)
    store(answer, VALUE, value)
    store(answer, JUDGED, np.int64(complete))
    store(answer, DEPTH, depth if complete else np.int64(0))
    for index in range(COUNTERS):
        store(answer, COUNTS + index, load(context, index))
    store(answer, COUNTS + MADE, load(context, NODES) + load(context, MADE))
    square = load(context, PV + depth * PLIES)
    return np.int64(lowest_square(moves)) if square == END else square


def new() -> np.ndarray:
    """A fresh context. Row 0 of the principal variation, that of the leaves, stays empty."""
    context = np.zeros(SIZE, dtype=np.int64)
    context[PV] = END
    set_limits(context)
    return context


def set_limits(
    context: np.ndarray,
    nodes: int | None = None,
    deadline: int | None = None,
    clock: int = WALL_CLOCK,
) -> None:
    """Let the search stop after a number of nodes, or at a deadline of a clock of the system in
    nanoseconds, whichever comes first."""
    context[CLOCK] = clock
    context[LIMIT] = NO_LIMIT if nodes is None else nodes
    context[DEADLINE] = 0 if deadline is None else deadline
    context[_LOOK] = 0
    context[_STEP] = 1
    context[NEXT_LOOK] = 0 if deadline is not None else context[LIMIT]


def stop(context: np.ndarray) -> None:
    """Let the search that goes on in another thread stop at once."""
    context[LIMIT] = context[NEXT_LOOK] = 0


def stopped(context: np.ndarray) -> bool:
    """Return True if the last search ran out of nodes or time, so that its result means nothing."""
    return bool(context[NODES] >= context[LIMIT])


def set_constants(
    context: np.ndarray, rules: Ruleset, evaluation: Evaluation | None = None
) -> None:
    """Write the numbers that are the same in all searches."""
    context[BOARD] = np.uint64(rules.board).view(np.int64)
    context[SQUARES] = rules.squares
    if evaluation is not None:
        context[EVALUATION] = evaluation.address
        context[PARAMETERS] = evaluation.parameters_address


def read_stats(context: np.ndarray) -> SearchStats:
    """Return the costs of the last search."""
    stats = SearchStats(*context[:COUNTERS].tolist())
    stats.made += stats.nodes
    return stats


def read_pv(context: np.ndarray, row: int) -> tuple[int, ...]:
    """The best line in a row."""
    line = context[PV + row * PLIES : PV + (row + 1) * PLIES].tolist()
    return tuple(line[: line.index(-1)])
