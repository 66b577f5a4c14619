"""A strategy as in PAIP, chapter 18, with a mistake: it loses a game, and its page shows where."""

DIRECTIONS = (-11, -10, -9, -1, 1, 9, 10, 11)


def is_legal(move, player, board):
    """Return True if a move turns a disc. Wrong: a line of discs may also end at the border."""
    opponent = "o" if player == "@" else "@"
    if board[move] != ".":
        return False
    for step in DIRECTIONS:
        square = move + step
        while board[square] == opponent:
            square += step
        if square != move + step and board[square] != ".":
            return True
    return False


def strategy(player, board):
    return next(move for move in range(11, 89) if is_legal(move, player, board))
