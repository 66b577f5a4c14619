# ruff: noqa
"""A strategy and an evaluation of a player and a board of 100 squares, written for Python 2."""

import old_rules

CENTRE = 9 / 2  # 4 in Python 2


def opponent(player):
    return {"@": "o", "o": "@"}[player]


def legal_moves(player, board):
    return filter(lambda square: old_rules.flips(player, square, board), xrange(11, 89))


def middle_strategy(player, board):
    """The legal move in the middle of the list."""
    moves = legal_moves(player, board)
    return moves[len(moves) / 2]


def maximizer(evaluate):
    def strategy(player, board):
        return max(legal_moves(player, board), key=lambda square: evaluate(player, board))

    return strategy


def half_score(player, board):
    """Half the discs of each side, rounded down."""
    mine, others = [
        reduce(lambda n, piece: n + (piece == who), board, 0) for who in (player, opponent(player))
    ]
    half = mine
    half /= 2
    return half - others / 2


def tie(player, board):
    return cmp(long(CENTRE), 4)
