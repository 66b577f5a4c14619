"""Small engines for tests, one of GTP and one of the NBoard protocol, which play the first legal
move, and differ from what is usual in the ways that are named on their command line:
``engines.py PROTOCOL TRAIT ... [log=FILE]``.

They import nothing of the lab. So they start quickly, and are held to other rules than theirs."""

from __future__ import annotations

import functools
import os
import re
import sys
from typing import Any

import oracle

TRAITS = set(sys.argv[2:])
LOG = next((open(word[4:], "a", 1) for word in TRAITS if word.startswith("log=")), None)  # noqa: SIM115
COLORS = {"b": "X", "black": "X", "w": "O", "white": "O"}
DIALECT_COLORS = {"short-colors": "bw", "capital-colors": "BW"}
PASS_WORDS = ("pass", "PASS", "PA")
ANSWERS = {"resigns": "resign", "illegal": "a1", "nonsense": "the corner", "pass-word": "pass"}
"""Of traits: answers to genmove from the fourth on."""
EDAX = (
    "blank-before-numbers remembers-numbers refuses-as-1 no-capitals plays-othello "
    "no-setboard no-final_score"
)
"""Traits of Edax 4.6."""
CHATTER = {
    "raw": "I am lost\n",
    "other-number": "=999 d3\n\n",
    "chatters": "=\n\n= thinking\n\n",
}
"""Of traits: what is printed before an answer to genmove, from the fourth on."""


@functools.cache
def legal_moves(board: str, turn: str) -> list[int]:
    """As the oracle has them, of a board as one text."""
    return oracle.legal_moves([list(board[row : row + 8]) for row in range(0, 64, 8)], turn)


class Position:
    """A board of the tests' own rules, and the letter of who is to move."""

    def __init__(self, board: oracle.Board, turn: str, line: str = "") -> None:
        self.board, self.turn, self.line = board, turn, line
        self.moves = legal_moves("".join(map("".join, board)), turn)

    @classmethod
    def start(cls) -> Position:
        return cls(*oracle.start("standard"))

    @property
    def must_pass(self) -> bool:
        return not self.moves and not oracle.is_over(self.board)

    def play(self, word: str) -> Position:
        """After a move; raises ValueError."""
        if word in PASS_WORDS:
            if not self.must_pass:
                raise ValueError("illegal move")
            return Position(self.board, oracle.other(self.turn), self.line + word)
        column, row = "abcdefgh".index(word[0].lower()), "12345678".index(word[1:])
        if 8 * row + column not in self.moves:
            raise ValueError("illegal move")
        after = oracle.play(self.board, self.turn, 8 * row + column)
        if "flips-too-few" in TRAITS:
            flipped = oracle.flips(self.board, self.turn, 8 * row + column)
            if len(flipped) == 8:
                after[min(flipped) // 8][min(flipped) % 8] = oracle.other(self.turn)
        return Position(after, oracle.other(self.turn), self.line + word.lower())


class GtpEngine:
    def __init__(self) -> None:
        self.positions = [Position.start()]
        self.games = self.generated = self.passes = 0
        self.last = ""  # move generated
        self.number = self.before = ""  # the command's, and what is printed before the answer
        self.ended = False

    greeting = property(lambda self: "Welcome!\n\n" * ("garbage" in TRAITS))
    position = property(lambda self: self.positions[-1])

    def hear(self, line: str) -> str:
        """What the engine prints to a line."""
        words = line.partition("#")[0].split()
        if "#" in line and "answers-comments" in TRAITS:
            words = ["#"]
        if not words:
            return ""
        number = words.pop(0) if words[0].isdigit() else ""
        if number and "dies-at-numbers" in TRAITS:
            sys.exit("a command is needed")
        if number and "knows-no-numbers" in TRAITS:
            words, number = [number, *words], ""
        if "remembers-numbers" in TRAITS:
            number = self.number = number or self.number
        if words and "upper" in TRAITS:
            words[0] = words[0].lower() if words[0].isupper() else "unknown"
        mark, self.before = "=", ""
        try:
            said = self.answer(words[0], words[1:]) if words else ""
        except Answer as answer:
            said = str(answer)
        except Exception as error:
            mark, said = "?", str(error)
        if "refuses-as-1" in TRAITS and number and said in ("wrong color", "cannot undo"):
            number = "1"
        number = "" if "no-numbers" in TRAITS else number
        number = f" {number}" if "blank-before-numbers" in TRAITS and number else number
        self.ended = words[:1] == ["quit"] and "stays" not in TRAITS
        return f"{self.before}{mark}{number} {said}\n\n"

    def answer(self, name: str, words: list[str]) -> str:
        """What the engine says; raises Exception to refuse."""
        if f"no-{name}" in TRAITS or name not in NAMES:
            if f"allows-{name}" in TRAITS:
                return ""
            raise ValueError("unknown command")
        return str(getattr(self, name)(*words) or "")

    def protocol_version(self) -> str:
        return "1" if "version-1" in TRAITS else "2"

    def name(self) -> str:
        return "" if "nameless" in TRAITS else "tiny"

    def version(self) -> str:
        return "2.5"

    def quit(self) -> None:
        pass

    def known_command(self, name: str) -> str:
        return "true" if name in NAMES or "knows-all" in TRAITS else "false"

    def list_commands(self) -> str:
        names = [name for name in NAMES if not {f"no-{name}", f"hides-{name}"} & TRAITS]
        return "\n".join(name.upper() if "upper" in TRAITS else name for name in names)

    def level(self, *numbers: str) -> None:
        [int(number) for number in numbers]

    def boardsize(self, size: str) -> None:
        if size != "8" and "any-size" not in TRAITS:
            raise ValueError("unacceptable size")

    def clear_board(self) -> None:
        self.games += 1
        if (trait := f"stuck-after-{len(self.positions) - 1}") in TRAITS:
            TRAITS.remove(trait)
            return
        self.positions, self.last = [Position.start()], ""

    def set_game(self, name: str) -> None:
        known = "Othello" if "plays-othello" in TRAITS else "Reversi"
        if name != known or "plays-go" in TRAITS:
            raise ValueError("unsupported game")

    def setboard(self, board: str, color: str) -> None:
        if "letters" in TRAITS and (color not in ("X", "O") or "-" in board):
            raise ValueError("syntax error")
        rows = [list(board[row : row + 8].replace("-", ".")) for row in range(0, 64, 8)]
        if "sets-nothing" not in TRAITS:
            self.positions = [Position(rows, COLORS.get(color.lower(), color), "set ")]

    def showboard(self) -> str:
        return "" if "shows-nothing" in TRAITS else oracle.draw(self.position.board)

    def undo(self) -> None:
        if len(self.positions) == 1 and "undoes-all" not in TRAITS:
            raise ValueError("cannot undo")
        del self.positions[-1:]
        self.positions = self.positions or [Position.start()]

    def turn(self, color: str) -> None:
        for trait, words in DIALECT_COLORS.items():
            if trait in TRAITS and color not in words:
                raise ValueError("invalid color")
        if color == "green" and "color-blind" in TRAITS:
            return
        wanted = COLORS[color if "no-capitals" in TRAITS else color.lower()]
        if "skips-passes" in TRAITS and self.position.must_pass and self.position.turn != wanted:
            self.passes += 1
            if self.passes > 1 or "skips-one-late" not in TRAITS:
                self.positions.append(self.position.play("pass"))
        if "white-begins" in TRAITS and len(self.positions) == 1 and wanted == "O":
            self.positions = [Position(self.position.board, wanted)]
        if "black-is-alone" in TRAITS and self.games == 1 and wanted == "O":
            raise ValueError("White comes later")
        if self.position.turn != wanted:
            raise ValueError("wrong color")

    def play(self, color: str, square: str) -> None:
        if "repeats" in TRAITS and square.lower() == self.last:
            return
        if square in PASS_WORDS:
            if "skips-passes" in TRAITS or ("says-PA" in TRAITS and square != "PA"):
                raise ValueError("syntax error")
            if "passes-freely" in TRAITS and self.position.moves:
                return
        if "capital-squares" in TRAITS and square != square.upper():
            raise ValueError("invalid vertex")
        self.turn(color)
        try:
            self.positions.append(self.position.play(square))
        except ValueError:
            if "plays-on-discs" not in TRAITS or square != "d4":
                raise

    def genmove(self, color: str) -> str:
        self.generated += 1
        if {f"resigns={self.generated}", "gives-up"} & TRAITS:
            return "RESIGN"
        if self.generated > 3:
            self.misbehave()
        self.turn(color)
        if "tires" in TRAITS and len(self.positions) > 40 and self.position.moves:
            return "pass"
        if (trait := f"lost-after-{self.position.line}") in TRAITS:
            TRAITS.remove(trait)
            return "a1"
        self.last = self.reg_genmove(color) if "reg-plays" not in TRAITS else self.chosen
        self.positions.append(self.position.play(self.last))
        return self.last.upper()

    def misbehave(self) -> None:
        if "dies" in TRAITS:
            print("out of luck", file=sys.stderr)
            os._exit(9)
        if "refuses" in TRAITS:
            raise ValueError("no idea")
        self.before = "".join(CHATTER[trait] for trait in TRAITS & set(CHATTER))
        for trait in TRAITS & set(ANSWERS):
            raise Answer(ANSWERS[trait])

    @property
    def chosen(self) -> str:
        if self.position.must_pass:
            return "a1" if "never-passes" in TRAITS else "pass"
        return oracle.name(self.position.moves[0])

    def reg_genmove(self, color: str) -> str:
        self.turn(color)
        chosen = self.chosen
        if "reg-plays" in TRAITS:
            self.positions.append(self.position.play(chosen))
        return chosen

    def time_settings(self, *times: str) -> None:
        self.level(*times)
        if "no-clock" in TRAITS:
            raise ValueError("no clock")

    def time_left(self, color: str, *times: str) -> None:
        self.level(*times)

    def final_score(self) -> str:
        if not oracle.is_over(self.position.board):
            raise ValueError("cannot score")
        black = oracle.score(self.position.board, "X")
        black = -black if "scores-wrongly" in TRAITS else black
        return f"B+{black}" if black > 0 else f"W+{-black}" if black else "0"


NO_COMMANDS = "_|greeting|position|hear|answer|turn|misbehave|chosen"
NAMES = [name for name in vars(GtpEngine) if not re.match(NO_COMMANDS, name)]
"""Of the commands."""


class Answer(Exception):
    """Said instead of a move."""


class NBoardEngine:
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


ENGINES: dict[str, Any] = {"gtp": GtpEngine, "nboard": NBoardEngine}


def main(protocol: str) -> None:
    engine = ENGINES[protocol]()
    print(engine.greeting, end="", flush=True)
    for line in sys.stdin:
        if LOG:
            LOG.write(line)
        print(engine.hear(line), end="", flush=True)
        if engine.ended:
            return


if __name__ == "__main__":
    main(sys.argv[1])
