# ruff: noqa
"""The rules for othello.py, which is written for Python 2 too."""


def flips(player, square, board):
    if board[square] != ".":
        return 0
    count = 0
    for step in (-11, -10, -9, -1, 1, 9, 10, 11):
        line = [board[square + step * n] for n in xrange(1, 11) if 0 <= square + step * n < 100]
        for length in xrange(len(line)):
            if line[length] == player:
                count += length
                break
            if line[length] in ".?":
                break
    return count / 1
