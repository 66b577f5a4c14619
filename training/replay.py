"""Many games followed in compiled code: the positions they went through, and where they ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves
from othello_lab.core.notation import PASS
from othello_lab.core.system.compile import Announce, Array, Int, Mask, kernel, prepare
from othello_lab.core.vector import popcount

LEGAL = -1
"""What is told of a game all of whose moves are legal."""
UNTOLD = 2
"""The turn of a move of which nobody has said whose it is."""


@dataclass(frozen=True)
class ReplayedGames:
    """The positions of games. A turn is 0 if the side that began is to move, 1 for the other.

    mover, opponent: uint64 masks of all positions in which somebody was to move, or to pass, those
        of a game together. turn: int8, game: int64, of each. move: int64, the number of the move
        that was made there, among the squares of all games; -1 where a pass was due.
    last_mover, last_opponent, last_turn: of each game, where it was left.
    over: bool, whether neither side can move there.
    fault: int64, the number, from 0, of the first move that is not legal, or LEGAL.
    """

    mover: np.ndarray
    opponent: np.ndarray
    turn: np.ndarray
    game: np.ndarray
    move: np.ndarray
    last_mover: np.ndarray
    last_opponent: np.ndarray
    last_turn: np.ndarray
    over: np.ndarray
    fault: np.ndarray


@kernel
def _replay(
    starts: Array,
    squares: Array,
    turns: Array,
    ends: Array,
    board: Mask,
    until: Int,
    masks: Array,
    plies: Array,
    lasts: Array,
    states: Array,
) -> Int:
    """Follow games; how many positions were written. See :func:`replay`.

    masks: two a position. plies: turn, game and move of each. lasts: two masks a game. states:
    turn, whether it is over, and fault of each.
    """
    row, move = np.int64(0), np.int64(0)
    for game in range(len(starts)):
        mover, opponent = starts[game, 0], starts[game, 1]
        turn, begin, fault, over = np.int64(0), move, np.int64(-1), np.int64(0)
        while True:
            if popcount(board & ~(mover | opponent)) <= until:
                break
            legal = legal_moves(mover, opponent) & board
            if legal == ZERO and legal_moves(opponent, mover) & board == ZERO:
                over = np.int64(1)
                break
            if legal != ZERO and move == ends[game]:
                break
            masks[row, 0], masks[row, 1] = mover, opponent
            plies[row, 0], plies[row, 1], plies[row, 2] = turn, game, np.int64(-1)
            row += 1
            if legal == ZERO:
                if move < ends[game] and squares[move] == PASS:
                    move += 1
                mover, opponent = opponent, mover
            else:
                square = squares[move]
                other_side = turns[move] < UNTOLD and turns[move] != turn
                if other_side or square >= PASS or (legal >> np.uint64(square)) & ONE == ZERO:
                    fault = move - begin
                    break
                plies[row - 1, 2] = move
                move += 1
                mover, opponent = after(mover, opponent, np.uint64(square))
            turn = np.int64(1) - turn
        while over == 1 and move < ends[game]:
            if squares[move] != PASS:
                fault = move - begin
                break
            move += 1
        move = ends[game]
        lasts[game, 0], lasts[game, 1] = mover, opponent
        states[game, 0], states[game, 1], states[game, 2] = turn, over, fault
    return row


def replay(
    mover: np.ndarray,
    opponent: np.ndarray,
    squares: np.ndarray,
    ends: np.ndarray,
    board: int,
    until: int = -1,
    turns: np.ndarray | None = None,
) -> ReplayedGames:
    """Follow games.

    mover, opponent: uint64 masks of each one's first position. squares: uint8, the moves of all
    games, one game after the other; forced passes may be among them or not. ends: one past each
    game's last. board: mask of the squares there are. until: a game is left as soon as at most this
    many squares are empty; -1 for never. turns: uint8, the side of each move in the source, 0, 1 or
    UNTOLD; a move of the wrong side is not legal.
    """
    most = 2 * len(squares) + len(ends) + 1  # between two moves there is at most one pass
    masks = np.zeros((most, 2), dtype=np.uint64)
    plies = np.zeros((most, 3), dtype=np.int64)
    lasts = np.zeros((len(ends), 2), dtype=np.uint64)
    states = np.zeros((len(ends), 3), dtype=np.int64)
    if turns is None:
        turns = np.full(len(squares), UNTOLD, dtype=np.uint8)
    rows = _replay(
        np.ascontiguousarray(np.stack([mover, opponent], axis=1)),
        np.ascontiguousarray(squares, dtype=np.uint8),
        np.ascontiguousarray(turns, dtype=np.uint8),
        np.ascontiguousarray(ends, dtype=np.int64),
        np.uint64(board),
        np.int64(until),
        masks,
        plies,
        lasts,
        states,
    )
    return ReplayedGames(
        masks[:rows, 0],
        masks[:rows, 1],
        plies[:rows, 0].astype(np.int8),
        plies[:rows, 1],
        plies[:rows, 2],
        lasts[:, 0],
        lasts[:, 1],
        states[:, 0].astype(np.int8),
        states[:, 1].astype(bool),
        states[:, 2],
    )


def prepare_replay(announce: Announce | None = None) -> None:
    """Load or compile the kernel."""
    none = np.zeros(0, dtype=np.uint64)
    nothing = np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int64)
    prepare("games followed", lambda: replay(none, none, *nothing, 0), announce)
