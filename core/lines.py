"""Lines of play in compiled code: following one, and drawing many by chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from othello_lab.core.bitboard import ONE, ZERO, after, legal_moves, lowest_square
from othello_lab.core.notation import PASS
from othello_lab.core.random import draw_bit, state_of
from othello_lab.core.rules import RULESETS, Ruleset
from othello_lab.core.system.compile import Address, Announce, Array, Int, Mask, kernel, prepare

_TRIES = 1000


@kernel
def follow_line(mover: Mask, opponent: Mask, board: Mask, moves: Array) -> tuple[Mask, Mask, Int]:
    """The position after a line, and how many of its moves were made: fewer than there are where
    one is not legal.

    moves: squares and passes, uint8.
    """
    made = np.int64(0)
    for move in moves:
        legal = legal_moves(mover, opponent) & board
        if move == PASS:
            if legal != ZERO or legal_moves(opponent, mover) & board == ZERO:
                break
            mover, opponent = opponent, mover
        else:
            if move > PASS or (legal >> np.uint64(move)) & ONE == ZERO:
                break
            mover, opponent = after(mover, opponent, np.uint64(move))
        made += 1
    return mover, opponent, made


@kernel
def _draw_ply(
    generator: Address, mine: Mask, other: Mask, board: Mask
) -> tuple[Mask, Mask, Mask, bool]:
    """The position after a random ply or a forced pass, its move, and True if the game is over."""
    legal, square = legal_moves(mine, other) & board, np.uint64(PASS)
    if legal == ZERO:
        mine, other = other, mine
    else:
        square = lowest_square(draw_bit(generator, legal))
        mine, other = after(mine, other, square)
    over = legal_moves(mine, other) & board == ZERO and legal_moves(other, mine) & board == ZERO
    return mine, other, square, over


@kernel
def _draw_lines(
    generator: Address, mover: Mask, opponent: Mask, board: Mask, moves: Array, ends: Array
) -> None:
    for line in range(len(moves)):
        mine, other = mover, opponent
        made = 0
        over = False
        while made < moves.shape[1] and not over:
            mine, other, moves[line, made], over = _draw_ply(generator, mine, other, board)
            made += 1
        ends[line, 0], ends[line, 1] = mine, other
        ends[line, 2] = np.uint64(over)


class LineDrawer:
    """Draws lines of random legal plies from the start, a forced pass being a ply.

    Each move is drawn uniformly, as ``rng.integers(number of legal moves)`` would draw it among the
    moves from a1 to h8.
    """

    def __init__(self, rng: np.random.Generator, rules: Ruleset, plies: int) -> None:
        """``rng``: only its state is taken."""
        self.rules = rules
        self._generator = state_of(rng)
        self._masks = np.uint64(rules.start[0]), np.uint64(rules.start[1]), np.uint64(rules.board)
        self._plies = plies

    def draw(self, number: int) -> tuple[Any, Any]:
        """The next lines: their moves, uint8, shape (number, plies), and where they lead, uint64,
        shape (number, 3): mover, opponent, and 1 where the game is over, maybe before its last
        ply."""
        moves = np.zeros((number, self._plies), dtype=np.uint8)
        ends = np.zeros((number, 3), dtype=np.uint64)
        _draw_lines(np.intp(self._generator.ctypes.data), *self._masks, moves, ends)
        return moves, ends


@kernel
def _draw_on(
    generator: Address, masks: Array, numbers: Array, board: Mask, turns: Array, tries: Int
) -> None:
    for game in range(len(masks)):
        for _ in range(tries):
            mine, other, turn = masks[game, 0], masks[game, 1], np.int64(0)
            over = False
            for _ply in range(numbers[game]):
                mine, other, _, over = _draw_ply(generator, mine, other, board)
                turn = np.int64(1) - turn
                if over:
                    break
            if not over:
                masks[game, 0], masks[game, 1], turns[game] = mine, other, turn
                break


def draw_on(
    rng: np.random.Generator, masks: np.ndarray, plies: np.ndarray, board: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions after random plies, a forced pass being one: masks, and 1 if it is then
    the other side's turn (int64, else 0).

    rng: only its state is used. masks: uint64, shape (n, 2). plies: int64, of each. A line in which
    the game ends is drawn anew; if that happens again and again the position stays.
    """
    reached, turns = masks.copy(), np.zeros(len(masks), dtype=np.int64)
    generator = state_of(rng)
    address = np.intp(generator.ctypes.data)
    _draw_on(address, reached, plies, np.uint64(board), turns, np.int64(_TRIES))
    return reached, turns


def prepare_lines(announce: Announce | None = None) -> None:
    """Load or compile the kernels."""

    def load() -> None:
        lines = LineDrawer(np.random.default_rng(0), RULESETS["standard"], 1)
        moves, ends = lines.draw(1)
        follow_line(ends[0, 0], ends[0, 1], ends[0, 0], moves[0])
        draw_on(np.random.default_rng(0), ends[:, :2].copy(), np.zeros(1, dtype=np.int64), 0)

    prepare("lines of play", load, announce)
