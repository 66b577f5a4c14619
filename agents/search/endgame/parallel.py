"""Several threads that search one position together, over one large transposition table.

Every thread searches the same tree from the root, with a scratch memory and a table for few empty
squares of its own. What one thread has proven, the others find in the large table. Three things
keep them from doing the same work at the same time:

* **Marks**: a thread marks the child that it searches. Another thread at the same node searches a
  marked child after all others. (ABDADA, Weill 1996, as Kerrigan simplified it: the marks are in a
  small table of their own, and a mark that is lost costs time only.)
* **Messages**: a thread that has finished a node tells the threads that are below the same node.
  They leave it.
* **Shared bounds**: along the principal variation a thread writes each better score into the table
  at once. The others ask with it whether their next move is better still.

Nodes with fewer than SHARED_FROM empty squares are not shared: :mod:`agents.search.endgame.kernels`
searches them. Threads depend on each other's timing, so the number of nodes differs from run to
run. The score does not.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from othello_lab.agents.search import context as layout
from othello_lab.agents.search.context import MADE, count, count_more, enter_again, out_of_budget
from othello_lab.agents.search.endgame import memory
from othello_lab.agents.search.endgame.kernels import (
    next_move,
    principal,
    rank_moves,
    refuted_by_table,
)
from othello_lab.agents.search.endgame.last_squares import UNKNOWN, finished, stability_bound
from othello_lab.agents.search.endgame.memory import (
    LEAVE,
    LEAVING,
    MARK_BITS,
    MARKS,
    NO_MOVE,
    PATH,
    PEERS,
    SHARED_FROM,
    SolverMemory,
    best_move_of,
    bucket_of,
    look_up,
    lower_of,
    remember,
    upper_of,
)
from othello_lab.agents.search.table import GOLDEN_RATIO
from othello_lab.core.bitboard import ZERO, after_flips, legal_moves, popcount
from othello_lab.core.system.compile import Address, Int, Mask, Square, kernel
from othello_lab.core.vector import load, store

LEAST_EMPTIES = 13
"""The fewest empty squares of a shared node. A smaller node takes less time than its sharing."""

_MULTIPLIER = np.uint64(0xC2B2AE3D27D4EB4F)
_MARK_SHIFT = np.uint64(64 - MARK_BITS)
_WORD = np.int64(3)  # a word has 2^3 bytes


# ------------------------------------------------------------------ marks and messages


@kernel
def _key_of(mover: Mask, opponent: Mask) -> Int:
    """Return the mark of a position."""
    return np.int64(mover * GOLDEN_RATIO ^ opponent * _MULTIPLIER)


@kernel
def _mark_of(context: Address, key: Int) -> Address:
    """Return the address at which the threads mark a position."""
    return load(context, MARKS) + (np.int64(np.uint64(key) >> _MARK_SHIFT) << _WORD)


@kernel
def _unmark(mark: Address, key: Int) -> None:
    """Remove a mark, unless another position has overwritten it."""
    if load(mark, 0) == key:
        store(mark, 0, np.int64(0))


@kernel
def _enter(context: Address, mover: Mask, opponent: Mask, empties: Int) -> None:
    """Note for the other threads that this thread is at or below a node."""
    store(context, PATH + 2 * empties, np.int64(mover))
    store(context, PATH + 2 * empties + 1, np.int64(opponent))


@kernel
def _tell(context: Address, mover: Mask, opponent: Mask, empties: Int) -> None:
    """Tell the other threads at or below a node that it is finished."""
    words = PATH + 2 * empties
    number = np.int64(0)
    while load(context, PEERS + number) != 0:
        peer = load(context, PEERS + number)
        if load(peer, words) == np.int64(mover) and load(peer, words + 1) == np.int64(opponent):
            store(peer, LEAVE, max(load(peer, LEAVE), empties))
        number += 1


@kernel
def _leave(context: Address, mark: Address, key: Int, empties: Int) -> None:
    """Remove the mark of a child, and the note of the node that this thread leaves."""
    _unmark(mark, key)
    store(context, PATH + 2 * empties, np.int64(0))


@kernel
def _has_to_leave(context: Address, empties: Int) -> bool:
    """Return True if a node above this one is finished, to which the thread then goes back."""
    highest = max(load(context, LEAVE), load(context, LEAVING))
    if highest > empties:
        store(context, LEAVING, highest)
        return True
    return False


# ------------------------------------------------------------------ the search


@kernel
def _note_top_move(context: Address, move: Square, empties: Int) -> None:
    """Keep a move as the best one so far if the node is the root of the solving."""
    if empties == load(context, memory.TOP_EMPTIES):
        store(context, memory.TOP_MOVE, np.int64(move))


@kernel
def search_shared(
    context: Address, mover: Mask, opponent: Mask, alpha: Int, beta: Int, odd: Mask, empties: Int
) -> Int:
    """Score within the window (alpha, beta), fail-soft, searched by all threads that call this.

    One thread alone enters the nodes of :func:`agents.search.endgame.kernels.principal`.
    """
    if empties < load(context, SHARED_FROM):
        return principal(context, mover, opponent, alpha, beta, odd, empties)
    count(context, layout.NODES)
    null = beta - alpha == 1
    # Step 1: the opponent's stable discs.
    if null and alpha >= load(context, memory.STABILITY_FROM + empties):
        bound = stability_bound(context, opponent, mover)
        if bound <= alpha:
            count(context, layout.STABILITY_RETURNS)
            return bound
    # Step 2: the table.
    squares = load(context, layout.SQUARES)
    lower, upper, known_move = -squares, squares, NO_MOVE
    bucket = bucket_of(context, mover, opponent, empties)
    known = look_up(context, bucket, mover, opponent)
    if known != 0:
        lower, upper, known_move = lower_of(known), upper_of(known), best_move_of(known)
        if lower >= beta or upper <= alpha or lower == upper:
            count(context, layout.TABLE_RETURNS)
            _note_top_move(context, known_move, empties)  # another thread was quicker at the root
            return upper if upper <= alpha else lower
    # Step 3: no moves.
    board = np.uint64(load(context, layout.BOARD))
    moves = legal_moves(mover, opponent) & board
    if moves == ZERO:
        if legal_moves(opponent, mover) & board == ZERO:
            return finished(context, mover, opponent)
        return -search_shared(context, opponent, mover, -beta, -alpha, odd, empties)
    # Step 4: a child in the table.
    if null and empties >= load(context, memory.ETC_FROM):
        square, score = refuted_by_table(context, mover, opponent, alpha, moves, empties)
        if score != UNKNOWN:
            count(context, layout.TABLE_RETURNS)
            remember(context, bucket, mover, opponent, max(lower, score), upper, square, empties)
            return score
    else:
        count_more(context, MADE, popcount(moves))
    # Step 5: the moves, most promising first; those that another thread searches, last.
    hope = alpha if null else UNKNOWN
    number = rank_moves(context, mover, opponent, moves, odd, empties, known_move, hope)
    ranked = context + 8 * (memory.MOVES + 64 * empties)
    flipped_by = context + 8 * (memory.FLIPS + 64 * empties)
    _enter(context, mover, opponent, empties)
    best, best_move, bar = UNKNOWN, NO_MOVE, alpha
    deferred, turn, fewer = np.int64(0), np.int64(0), empties - np.int64(1)
    while turn < number + deferred:
        if turn < number:
            square = next_move(ranked, turn, number)
        else:
            square = np.uint64(load(ranked, turn - number))
        flipped = np.uint64(load(flipped_by, np.int64(square)))
        other, mine = after_flips(mover, opponent, square, flipped)
        odd_then = odd ^ np.uint64(load(context, memory.QUADRANT + np.int64(square)))
        key = _key_of(other, mine)
        mark = _mark_of(context, key)
        if 0 < turn < number and load(mark, 0) == key:
            store(ranked, deferred, np.int64(square))  # that place of the list is done with
            deferred, turn = deferred + np.int64(1), turn + np.int64(1)
            continue
        store(mark, 0, key)
        floor, top = bar, (beta if turn == 0 else bar + 1)
        while True:
            enter_again(context)
            score = -search_shared(context, other, mine, -top, -floor, odd_then, fewer)
            if out_of_budget(context) or _has_to_leave(context, empties):
                _leave(context, mark, key, empties)
                return score
            is_score = load(context, LEAVING) == 0
            if not is_score or load(context, LEAVE) == empties:
                store(context, LEAVE, np.int64(0))  # the thread is where it was to go back to
                store(context, LEAVING, np.int64(0))
            # Step 6: what other threads have proven of this node meanwhile.
            known = look_up(context, bucket, mover, opponent)
            if known != 0:
                proven, upper = lower_of(known), min(upper, upper_of(known))
                if proven >= beta or upper <= alpha or proven == upper:
                    _leave(context, mark, key, empties)
                    _note_top_move(context, best_move_of(known), empties)
                    return upper if upper <= alpha else proven
                if proven > max(lower, best, bar):
                    lower = best = bar = proven
                    best_move = best_move_of(known)
                    _note_top_move(context, best_move, empties)
            if is_score and (score < top or score >= beta):
                break
            if is_score and score > bar:
                floor, top = score - 1, beta  # it is better: by how much?
            elif bar > floor:
                floor, top = bar, bar + 1  # is it better than the move of another thread?
        _unmark(mark, key)
        turn += 1
        if score > best:
            best, best_move = score, square
            _note_top_move(context, square, empties)
            bar = max(bar, score)
            if score >= beta:
                break
            if not null and score > alpha:
                lower = max(lower, score)
                remember(context, bucket, mover, opponent, lower, upper, square, empties)
    # Step 7: what was proven.
    if best > alpha:
        lower = max(lower, best)
    if best < beta:
        upper = min(upper, best)
    remember(context, bucket, mover, opponent, lower, upper, best_move, empties)
    store(context, PATH + 2 * empties, np.int64(0))
    _tell(context, mover, opponent, empties)
    return best


# ------------------------------------------------------------------ threads


def search_together(
    team: Sequence[SolverMemory],
    position: tuple[np.uint64, np.uint64],
    window: tuple[np.int64, np.int64],
    odd: np.uint64,
    empties: np.int64,
) -> int:
    """Return the fail-soft score of a position within a window, searched by a thread for each
    memory of the team; the calling thread is the first.

    The score means nothing if the first memory's search was stopped. All threads have ended when
    this returns, and also when it raises.
    """
    first, *others = team
    for member in team:
        member.context[LEAVE] = member.context[LEAVING] = 0
        member.context[PATH : PATH + 2 * 65] = 0
        member.context[SHARED_FROM] = LEAST_EMPTIES
    for other in others:  # which the first one stops when its time is up
        layout.set_limits(other.context, int(first.context[layout.LIMIT]))
    arguments = (*position, *window, odd, empties)
    threads = [
        threading.Thread(target=search_shared, args=(other.address, *arguments), daemon=True)
        for other in others
    ]
    try:
        for thread in threads:
            thread.start()
        return int(search_shared(first.address, *arguments))
    finally:
        for other in others:
            layout.stop(other.context)
        for thread in threads:
            if thread.ident is not None:
                thread.join()
