"""A small engine of the NBoard protocol for tests, which plays the first legal move, and differs
from what is usual in the ways named on its command line: ``nboard_engine.py TRAIT ... [log=FILE]``.
"""

from __future__ import annotations

import re
import signal
import sys

from gtp_engine import Position

TRAITS = set(sys.argv[1:])
LOG = next((open(word[4:], "a", 1) for word in TRAITS if word.startswith("log=")), None)  # noqa: SIM115


class Engine:
    def __init__(self) -> None:
        self.position = Position.start()
        self.gone = 0

    def answer(self, word: str, rest: str) -> str | None:
        if word == "ping":
            return f"pong {1 if 'same-pong' in TRAITS else rest}"
        if word == "set" and rest.startswith("depth"):
            return None if "nameless" in TRAITS else f"set myname tiny{rest[6:]}"
        if word == "set" and rest.startswith("game"):
            if "sets-once" not in TRAITS or self.position.board == Position.start().board:
                self.set_game(rest)
        elif word == "move":
            if "deaf" not in TRAITS:
                self.position = self.position.play(rest.partition("/")[0])
        elif word == "go":
            return self.go()
        elif word == "hint" and "no-hints" not in TRAITS:
            return f"search {self.move()} 1.5 0 1"
        elif word == "learn" and "no-learning" not in TRAITS:
            return "learned"
        elif word not in ("nboard", "quit") and "answers-all" in TRAITS:
            return "=== a1"
        return None

    def set_game(self, text: str) -> None:
        board, turn = re.findall(r"BO\[8 (\S+) (\S)\]", text)[0]
        letters = board.replace("-", ".").replace("*", "X")
        rows = [list(letters[row : row + 8]) for row in range(0, 64, 8)]
        self.position = Position(rows, "X" if turn == "*" else "O")
        if "no-moves" not in TRAITS:
            for word in re.findall(r"\][BW]\[(\w\w)", text):
                self.position = self.position.play(word)

    def move(self) -> str:
        squares = self.position.moves
        return "abcdefgh"[squares[0] % 8].upper() + str(squares[0] // 8 + 1) if squares else "PA"

    def go(self) -> str:
        self.gone += 1
        move = self.move()
        if self.gone > 2:
            if "dies" in TRAITS:
                print("out of luck", file=sys.stderr)
                sys.exit(9)
            if "hangs" in TRAITS:
                signal.pause()
            move = {"illegal": "A1", "nonsense": "corner"}.get(min(TRAITS, default=""), move)
        if "moves-itself" in TRAITS:
            self.position = self.position.play(move)
        stats = "nodestats many 0" if "bad-nodes" in TRAITS else "nodestats 3.5e2 0.25"
        form = {"edax": f"=== {move} -1.50 0.0", "bare": f"=== {move}"}
        answer = form.get(min(TRAITS, default=""), f"=== {move}/-1.50/0.25")
        return "\n".join(["status thinking", stats, "search D3 99 0 1", answer])


def main() -> None:
    engine = Engine()
    for line in sys.stdin:
        if LOG:
            LOG.write(line)
        word, _, rest = line.strip().partition(" ")
        try:
            said = engine.answer(word, rest)
        except ValueError as error:
            said = f"status {error}"
        if said is not None:
            print(said, flush=True)
        if word == "quit" and "stays" not in TRAITS:
            return


if __name__ == "__main__":
    main()
