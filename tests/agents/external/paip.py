"""Othello as PAIP's chapter 18 has it, in Python, written for the tests: strategies of a player and
a board of 100 squares, some made by others of evaluations."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

EMPTY, BLACK, WHITE, OUTER = ".", "@", "o", "?"
DIRECTIONS = (-11, -10, -9, -1, 1, 9, 10, 11)
SQUARES = [10 * row + column for row in range(1, 9) for column in range(1, 9)]
CORNERS = (11, 18, 81, 88)
WEIGHTS = (
    (120, -20, 20, 5),
    (-20, -40, -5, -5),
    (20, -5, 15, 3),
    (5, -5, 3, 3),
)
WIN = 10**6

Board = list[str]
Evaluation = Callable[[str, Board], int]
Strategy = Callable[[str, Board], int]


def opponent(player: str) -> str:
    return WHITE if player is BLACK else BLACK


def flipped(move: int, player: str, board: Board) -> list[int]:
    result = []
    for step in DIRECTIONS:
        line, square = [], move + step
        while board[square] == opponent(player):
            line.append(square)
            square += step
        if board[square] == player:
            result += line
    return result


def legal_moves(player: str, board: Board) -> list[int]:
    return [s for s in SQUARES if board[s] == EMPTY and flipped(s, player, board)]


def make_move(move: int, player: str, board: Board) -> Board:
    for square in (*flipped(move, player, board), move):
        board[square] = player
    return board


def score(player: str, board: Board) -> int:
    return board.count(player) - board.count(opponent(player))


def weighted_score(player: str, board: Board) -> int:
    total = 0
    for square in SQUARES:
        row, column = square // 10 - 1, square % 10 - 1
        weight = WEIGHTS[min(row, 7 - row)][min(column, 7 - column)]
        if board[square] == player:
            total += weight
        elif board[square] != EMPTY:
            total -= weight
    return total


def mean_weight(player: str, board: Board) -> float:
    return weighted_score(player, board) / 64


def random_strategy(player: str, board: Board) -> int:
    return random.choice(legal_moves(player, board))


def numpy_strategy(player: str, board: Board) -> np.int64:
    return np.random.choice(legal_moves(player, board))  # noqa: NPY002


def untidy_strategy(player: str, board: Board) -> int:
    """Makes its move on the board that it is given."""
    move = legal_moves(player, board)[0]
    make_move(move, player, board)
    board.clear()
    return move


def maximizer(evaluate: Evaluation) -> Strategy:
    def strategy(player: str, board: Board) -> int:
        def value(move: int) -> int:
            return evaluate(player, make_move(move, player, list(board)))

        return max(legal_moves(player, board), key=value)

    return strategy


def alphabeta_searcher(depth: int, evaluate: Evaluation) -> Strategy:
    def search(player: str, board: Board, low: float, high: float, left: int) -> tuple[float, int]:
        moves, other = legal_moves(player, board), opponent(player)
        if left == 0:
            return evaluate(player, board), 0
        if not moves:
            if not legal_moves(other, board):
                return WIN * score(player, board), 0
            return -search(other, board, -high, -low, left - 1)[0], 0
        best = moves[0]
        for move in moves:
            if low >= high:
                break
            after = make_move(move, player, list(board))
            value = -search(other, after, -high, -low, left - 1)[0]
            if value > low:
                low, best = value, move
        return low, best

    return lambda player, board: search(player, board, -(10**9), 10**9, depth)[1]


def forgetful(limit: int = 3) -> Strategy:
    """Plays the first legal move so often, and then none."""
    left = [limit]

    def strategy(player: str, board: Board) -> int | None:
        left[0] -= 1
        return legal_moves(player, board)[0] if left[0] >= 0 else None

    return strategy  # type: ignore[return-value]


def refuses(*reasons: object) -> Strategy:
    raise ValueError(f"no: {reasons}")
