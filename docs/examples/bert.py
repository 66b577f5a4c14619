"""A player of the file protocol that moves at random. Run it:

python3 bert.py

Its name is that of its file: bert.py reads bert.in and writes bert.out.
"""

import os
import random
import sys
import time

NAME = os.path.splitext(os.path.basename(sys.argv[0]))[0]  # bert.py reads bert.in
COLUMNS = "ABCDEFGH"
DIRECTIONS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]


def receive():
    """Wait for NAME.in, read it, and delete it."""
    while not os.path.exists(f"{NAME}.in"):
        time.sleep(0.1)
    with open(f"{NAME}.in") as file:
        text = file.read()
    os.remove(f"{NAME}.in")
    return text.strip("() \n").split()


def send(text):
    """Write NAME.out, so that nobody sees half of it."""
    with open(f"{NAME}.tmp", "w") as file:
        file.write(f"{text}\n")
    os.replace(f"{NAME}.tmp", f"{NAME}.out")


def flipped(board, colour, square):
    """The discs that turn if this colour plays here."""
    discs = []
    for x, y in DIRECTIONS if square not in board else []:
        line = []
        column, row = square[0] + x, square[1] + y
        while board.get((column, row), colour) != colour:
            line.append((column, row))
            column, row = column + x, row + y
        if (column, row) in board:
            discs += line
    return discs


def moves(board, colour):
    squares = [(column, row) for column in range(8) for row in range(8)]
    return [square for square in squares if flipped(board, colour, square)]


def play(board, colour, square):
    for disc in [*flipped(board, colour, square), square]:
        board[disc] = colour


def main():
    # Columns and rows from 0; the lowest row is the first.
    board = {(3, 3): "B", (4, 4): "B", (3, 4): "W", (4, 3): "W"}
    (mine,) = receive()
    other = "B" if mine == "W" else "W"
    turn = "W"
    while moves(board, "W") or moves(board, "B"):
        if turn == mine:
            choices = moves(board, mine)
            if choices:
                column, row = random.choice(choices)
                play(board, mine, (column, row))
                send(f"({mine} {COLUMNS[column]} {row + 1})")
            else:
                send(f"({mine} P 1)")
        else:
            _, column, row = receive()
            if column.upper() != "P":
                play(board, other, (COLUMNS.index(column.upper()), int(row) - 1))
        turn = "B" if turn == "W" else "W"


if __name__ == "__main__":
    main()
