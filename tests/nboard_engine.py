"""A small engine of the NBoard protocol for tests, which plays the first legal move, and differs
from what is usual in the ways named on its command line: ``nboard_engine.py TRAIT ... [log=FILE]``.
"""

from __future__ import annotations

import re
import sys

from gtp_engine import Position, main

TRAITS = set(sys.argv[1:])


class Engine:
    greeting = ""

    def __init__(self) -> None:
        self.position = Position.start()
        self.gone = self.pings = 0
        self.made: list[str] = []  # moves in the game that was set
        self.depth = ""
        self.is_new = self.ended = False  # is_new: a game was set, and nothing was asked of it

    def hear(self, line: str) -> str:
        """What the engine prints to a line."""
        word, _, rest = line.strip().partition(" ")
        try:
            said = self.answer(word, rest)
        except ValueError as error:
            said = f"status {error}"
        self.ended = word == "quit" and "stays" not in TRAITS
        return "" if said is None else f"{said}\n"

    def answer(self, word: str, rest: str) -> str | None:
        if word == "ping":
            return self.pong(rest)
        if word == "set" and rest.startswith("depth"):
            self.depth = rest[6:]
            name = "" if "anonymous" in TRAITS else f"tiny{self.depth}"
            return None if "nameless" in TRAITS else f"set myname {name}"
        if word == "set" and rest.startswith("game"):
            if "sets-once" not in TRAITS or not self.is_new:
                self.set_game(rest)
            self.is_new = True
        elif word == "move":
            if ("only-capitals" not in TRAITS or rest[:2].isupper()) and not (
                "no-notes" in TRAITS and "/" in rest
            ):
                self.position = self.position.play(rest.partition("/")[0])
        elif word == "go":
            self.is_new = False
            return self.go()
        elif word == "hint":
            self.is_new = False
            return f"search {'A1' if 'wrong-hints' in TRAITS else self.move()} 1.5 0 1"
        elif word == "learn" and "no-learning" not in TRAITS:
            return "=== D3" if "moves-to-learn" in TRAITS else "learned"
        elif {"": "answers-blank", "no_such_command": "answers-unknown"}.get(word) in TRAITS:
            return "=== A1"
        return None

    def pong(self, number: str) -> str | None:
        self.pings += 1
        if "mute" in TRAITS:
            return None
        number = str(int(number) % 65536) if "short-numbers" in TRAITS else number
        early = "=== D3\n" * ("volunteers" in TRAITS and self.pings == 3)
        TRAITS.difference_update({"volunteers"} if early else ())
        return f"{early}pong {1 if 'same-pong' in TRAITS else number}"

    def set_game(self, text: str) -> None:
        board, turn = re.findall(r"BO\[8 (\S+) (\S)\]", text)[0]
        letters = board.replace("-", ".").replace("*", "X")
        rows = [list(letters[row : row + 8]) for row in range(0, 64, 8)]
        self.position = Position(rows, "X" if turn == "*" else "O")
        if "usual-start" in TRAITS:
            self.position = Position.start()
        self.made = re.findall(r"\][BW]\[(\w\w)", text)
        for word in self.made:
            if not (word == "PA" and "no-passes-in-games" in TRAITS) and not (
                "two-moves" in TRAITS and len(self.made) == 3 and word == self.made[2]
            ):
                self.position = self.position.play(word)

    def move(self) -> str:
        squares = self.position.moves
        if not squares:
            return "D3" if "never-passes" in TRAITS else "PA"
        return "abcdefgh"[squares[0] % 8].upper() + str(squares[0] // 8 + 1)

    def go(self) -> str:
        self.gone += 1
        move, squares = self.move(), self.position.moves
        if self.gone > 2:
            if "dies" in TRAITS:
                print("out of luck", file=sys.stderr)
                sys.exit(9)
            move = {"illegal": "A1", "nonsense": "corner"}.get(min(TRAITS, default=""), move)
        empties = sum(row.count(".") for row in self.position.board)
        faults = {
            "stumbles": self.gone == 1,
            "lost-after-d3": self.made == ["D3"] and empties == 59,
            "deep-sinks": self.depth == "3",
            "tires": 5 < empties < 20,
        }
        if squares and any(faults[trait] for trait in TRAITS & set(faults)):
            move = "A1"
        if "moves-itself" in TRAITS:
            self.position = self.position.play(move)
        stats = "nodestats many 0" if "bad-nodes" in TRAITS else "nodestats 3.5e2 0.25"
        form = {"edax": " -1.50 0.0", "bare": "", "praise": "/good"}
        answer = f"=== {move}{form.get(min(TRAITS, default=''), '/-1.50/0.25')}"
        return "\n".join(["status thinking", stats, "search D3 99 0 1", answer])


if __name__ == "__main__":
    main(Engine())
