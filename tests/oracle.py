"""Boards of characters over the plain rules: what the tests hold the compiled kernels to.

A board is a list of rows of characters, ``board[row][column]``, where ``board[0][0]`` is the
square named a1. Squares are numbered 8 * row + column on every size of board, so that a1 = 0 and
b1 = 1 throughout. The one thing shared with the package is :mod:`core.plain_rules`, which has no
kernel. test_bitboard.py holds it to the kernels, and known counts of whole games hold those.

>>> board, to_move = start("standard")
>>> [name(square) for square in legal_moves(board, to_move)]
['d3', 'c4', 'f5', 'e6']
>>> board, to_move = start("wpi")
>>> draw(board, first_row_on_top=False).split()[3:5], to_move
(['...OX...', '...XO...'], 'O')
"""

from __future__ import annotations

import random

from othello_lab.core import plain_rules

BLACK, WHITE, EMPTY = "X", "O", "."

Board = list[list[str]]

# ruleset: (squares a side, who begins, whether row 1 is drawn at the top)
RULES = {
    "standard": (8, BLACK, True),
    "wpi": (8, WHITE, False),
    "mini6": (6, BLACK, True),
    "mini4": (4, BLACK, True),
}
CENTRE = ("OX", "XO")  # the four discs at the start, as seen on the drawn board, in every ruleset


def name(square: int) -> str:
    """``"d3"`` for 19."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def other(colour: str) -> str:
    """The opponent's colour."""
    return WHITE if colour == BLACK else BLACK


def empty_board(side: int) -> Board:
    """A board without discs."""
    return [[EMPTY] * side for _ in range(side)]


def declared(ruleset: str) -> tuple[int, str, bool]:
    """The facts of a ruleset that is not in the table above, as it declares them."""
    from othello_lab import RULESETS, Color

    rules = RULESETS[ruleset]
    return rules.side, BLACK if rules.begins is Color.BLACK else WHITE, rules.first_row_on_top


def start(ruleset: str) -> tuple[Board, str]:
    """The starting position and who begins."""
    side, begins, first_row_on_top = RULES.get(ruleset) or declared(ruleset)
    seen = empty_board(side)
    middle = side // 2 - 1
    for row in range(2):
        for column in range(2):
            seen[middle + row][middle + column] = CENTRE[row][column]
    return (seen if first_row_on_top else seen[::-1]), begins


def squares(board: Board) -> list[int]:
    """All squares in the order a1, b1, ..."""
    return [8 * row + column for row in range(len(board)) for column in range(len(board))]


def at(board: Board, square: int) -> str:
    """What is on a square."""
    return board[square // 8][square % 8]


def flips(board: Board, colour: str, square: int) -> set[int]:
    """The discs turned by a disc of ``colour`` on the empty ``square``; none if it is illegal."""
    return bits(plain_rules.flips(*masks(board, colour), square, len(board)))


def legal_moves(board: Board, colour: str) -> list[int]:
    """The empty squares on which a disc of ``colour`` turns at least one, in ascending order."""
    return sorted(bits(plain_rules.legal_moves(*masks(board, colour), len(board))))


def is_over(board: Board) -> bool:
    """Whether neither side can move."""
    return not legal_moves(board, BLACK) and not legal_moves(board, WHITE)


def play(board: Board, colour: str, square: int) -> Board:
    """A new board, after a legal move."""
    after = [row.copy() for row in board]
    for turned in flips(board, colour, square) | {square}:
        after[turned // 8][turned % 8] = colour
    return after


def count(board: Board, colour: str) -> int:
    """Number of discs of a colour, or of empty squares."""
    return sum(row.count(colour) for row in board)


def score(board: Board, colour: str) -> int:
    """Discs of ``colour`` minus those of the other, empty squares going to the winner."""
    ours, theirs, empty = count(board, colour), count(board, other(colour)), count(board, EMPTY)
    if ours > theirs:
        ours += empty
    if theirs > ours:
        theirs += empty
    return ours - theirs


def random_game(ruleset: str, seed: int) -> list[tuple[Board, str, int | None]]:
    """One game of random moves: every position from the start to the end, the side to move, and
    the move made there; None for a pass, and at the end."""
    rng = random.Random(seed)
    board, colour = start(ruleset)
    turns: list[tuple[Board, str, int | None]] = []
    while not is_over(board):
        moves = legal_moves(board, colour)
        move = rng.choice(moves) if moves else None
        turns.append((board, colour, move))
        if move is not None:
            board = play(board, colour, move)
        colour = other(colour)
    return [*turns, (board, colour, None)]


def random_board(side: int, seed: int) -> Board:
    """Discs strewn at random, sparsely or densely, as no game would leave them."""
    rng = random.Random(seed)
    filled, black = rng.random(), rng.random()
    board = empty_board(side)
    for row in range(side):
        for column in range(side):
            if rng.random() < filled:
                board[row][column] = BLACK if rng.random() < black else WHITE
    return board


def mask(chosen: list[int] | set[int]) -> int:
    """Squares as a bit mask, a1 = bit 0."""
    return sum(1 << square for square in chosen)


def masks(board: Board, colour: str) -> tuple[int, int]:
    """Bit masks of the discs of ``colour`` and of the other colour."""
    ours = {square for square in squares(board) if at(board, square) == colour}
    theirs = {square for square in squares(board) if at(board, square) == other(colour)}
    return mask(ours), mask(theirs)


def bits(mask: int) -> set[int]:
    """The squares of a bit mask."""
    return {square for square in range(64) if mask >> square & 1}


def draw(board: Board, first_row_on_top: bool = True) -> str:
    """The board as lines of text."""
    rows = board if first_row_on_top else board[::-1]
    return "\n".join("".join(row) for row in rows)
