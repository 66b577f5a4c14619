"""A bot of the line protocol that takes a corner if it can, and keeps away from their neighbours.

Run it: python3 bot.py
"""

import random
import sys

CORNERS = {"a1", "h1", "a8", "h8"}
NEAR_CORNERS = {"b1", "a2", "b2", "g1", "g2", "h2", "a7", "b7", "b8", "g7", "g8", "h7"}


def main():
    for line in sys.stdin:
        word, *rest = line.split() or [""]
        if word == "game":
            random.seed(int(rest[2]))  # after the colour and the squares a side
            print("ready", flush=True)
        elif word == "move":
            moves = rest[3:]  # after the colour, the board and the time
            good = [move for move in moves if move in CORNERS]
            fair = [move for move in moves if move not in NEAR_CORNERS]
            print(random.choice(good or fair or moves), flush=True)
        elif word == "quit":
            break


if __name__ == "__main__":
    main()
