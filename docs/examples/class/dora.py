"""A strategy as in PAIP, chapter 18: the move that turns most discs.

The board is a list of 100 squares, 11 to 88 inside a border of "?".
"""

DIRECTIONS = (-11, -10, -9, -1, 1, 9, 10, 11)


def turned(move, player, board):
    """Return the number of discs that a move turns; 0 if it is illegal."""
    if board[move] != ".":
        return 0
    opponent = "o" if player == "@" else "@"
    total = 0
    for step in DIRECTIONS:
        square, length = move + step, 0
        while board[square] == opponent:
            square, length = square + step, length + 1
        if board[square] == player:
            total += length
    return total


def strategy(player, board):
    return max(range(11, 89), key=lambda move: turned(move, player, board))
