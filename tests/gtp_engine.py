"""A small GTP engine for tests, which plays the first legal move, and differs from what is usual in
the ways that are named on its command line: ``gtp_engine.py TRAIT ... [log=FILE]``.

It imports nothing of the lab, so it starts quickly, and its rules are not those it is held to."""

from __future__ import annotations

import os
import re
import signal
import sys

import oracle

TRAITS = set(sys.argv[1:])
LOG = next((open(word[4:], "a", 1) for word in TRAITS if word.startswith("log=")), None)  # noqa: SIM115
COLORS = {"b": "X", "black": "X", "w": "O", "white": "O"}
DIALECT_COLORS = {"short-colors": "bw", "capital-colors": "BW"}
PASS_WORDS = ("pass", "PASS", "PA")
ANSWERS = {"resigns": "resign", "illegal": "a1", "nonsense": "the corner", "pass-word": "pass"}
"""Of traits: answers to genmove from the fourth on."""
CHATTER = {
    "raw": "I am lost",
    "other-number": "=999 d3\n",
    "chatters": "=\n\n= thinking\n",
}
"""Of traits: what is printed before an answer to genmove, from the fourth on."""


class Position:
    """A board of the tests' own rules, and the letter of who is to move."""

    def __init__(self, board: oracle.Board, turn: str) -> None:
        self.board, self.turn = board, turn
        self.moves = oracle.legal_moves(board, turn)

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
            return Position(self.board, oracle.other(self.turn))
        column, row = "abcdefgh".index(word[0].lower()), "12345678".index(word[1:])
        if 8 * row + column not in self.moves:
            raise ValueError("illegal move")
        after = oracle.play(self.board, self.turn, 8 * row + column)
        flipped = oracle.flips(self.board, self.turn, 8 * row + column)
        if "flips-too-few" in TRAITS and len(flipped) > 7:
            after[min(flipped) // 8][min(flipped) % 8] = oracle.other(self.turn)
        return Position(after, oracle.other(self.turn))


class Engine:
    def __init__(self) -> None:
        self.positions = [Position.start()]
        self.generated = 0

    position = property(lambda self: self.positions[-1])

    def answer(self, name: str, words: list[str]) -> str:
        """What the engine says; raises Exception to refuse."""
        if f"no-{name}" in TRAITS or name not in NAMES:
            if "accepts-anything" in TRAITS:
                return ""
            raise ValueError("unknown command")
        return str(getattr(self, name)(*words) or "")

    def protocol_version(self) -> str:
        return "1" if "version-1" in TRAITS else "2"

    def name(self) -> str:
        return "" if "nameless" in TRAITS else "tiny"

    def known_command(self, name: str) -> str:
        return "true" if name in NAMES or "knows-all" in TRAITS else "false"

    def list_commands(self) -> str:
        names = [name for name in NAMES if f"no-{name}" not in TRAITS]
        return "\n".join(name.upper() if "upper" in TRAITS else name for name in names)

    def level(self, *numbers: str) -> None:
        [int(each) for each in numbers]

    version = quit = level

    def boardsize(self, size: str) -> None:
        if size != "8" and "any-size" not in TRAITS:
            raise ValueError("unacceptable size")

    def clear_board(self) -> None:
        if "never-clears" not in TRAITS:
            self.positions = [Position.start()]

    def set_game(self, name: str) -> None:
        if name != "Reversi" or "plays-go" in TRAITS:
            raise ValueError("unsupported game")

    def setboard(self, board: str, color: str) -> None:
        if "letters" in TRAITS and (color not in ("X", "O") or "-" in board):
            raise ValueError("syntax error")
        rows = [list(board[row : row + 8].replace("-", ".")) for row in range(0, 64, 8)]
        if "sets-nothing" not in TRAITS:
            self.positions = [Position(rows, COLORS.get(color.lower(), color))]

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
        wanted = COLORS[color if "no-capitals" in TRAITS else color.lower()]
        if "skips-passes" in TRAITS and self.position.must_pass:
            self.positions.append(self.position.play("pass"))
        if self.position.turn != wanted and "any-color" not in TRAITS:
            raise ValueError("wrong color")

    def play(self, color: str, square: str) -> None:
        if square in PASS_WORDS:
            if "skips-passes" in TRAITS or ("says-PA" in TRAITS and square != "PA"):
                raise ValueError("syntax error")
            if "passes-freely" in TRAITS:
                return
        if "capital-squares" in TRAITS and square != square.upper():
            raise ValueError("invalid vertex")
        self.turn(color)
        try:
            self.positions.append(self.position.play(square))
        except ValueError:
            if "plays-anything" not in TRAITS:
                raise

    def genmove(self, color: str) -> str:
        self.generated += 1
        if self.generated > 3:
            self.misbehave()
        answer = self.reg_genmove(color)
        if "forgets-its-moves" not in TRAITS:
            self.positions.append(self.position.play(answer))
        return answer.upper()

    def misbehave(self) -> None:
        if "dies" in TRAITS:
            print("out of luck", file=sys.stderr)
            os._exit(9)
        if "hangs" in TRAITS:
            signal.pause()
        if "refuses" in TRAITS:
            raise ValueError("no idea")
        for trait in TRAITS & set(ANSWERS):
            raise Answer(ANSWERS[trait])
        for trait in TRAITS & set(CHATTER):
            print(CHATTER[trait], flush=True)

    def reg_genmove(self, color: str) -> str:
        self.turn(color)
        if self.position.must_pass:
            return "a1" if "never-passes" in TRAITS else "pass"
        return oracle.name(self.position.moves[0])

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


NAMES = [name for name in vars(Engine) if not re.match("_|answer|position|turn|misbehave", name)]
"""Of the commands."""


class Answer(Exception):
    """Said instead of a move."""


def main() -> None:
    engine = Engine()
    if "garbage" in TRAITS:
        print("Welcome!\n", flush=True)
    for line in sys.stdin:
        if LOG:
            LOG.write(line)
        words = line.partition("#")[0].split()
        if "#" in line and "answers-comments" in TRAITS:
            words = ["#"]
        if not words and "answers-nothing" not in TRAITS:
            continue
        number = words.pop(0) if words and words[0].isdigit() else ""
        if number and "dies-at-numbers" in TRAITS:
            sys.exit("a command is needed")
        if number and "knows-no-numbers" in TRAITS:
            words, number = [number, *words], ""
        if words and "upper" in TRAITS:
            words[0] = words[0].lower() if words[0].isupper() else "unknown"
        number = "" if "no-numbers" in TRAITS else number
        number = f" {number}" if "blank-before-numbers" in TRAITS and number else number
        mark = "="
        try:
            said = engine.answer(words[0], words[1:]) if words else ""
        except Answer as answer:
            said = str(answer)
        except Exception as error:
            mark, said = "?", str(error)
            if "accepts-anything" in TRAITS:
                mark = "="
        print(f"{mark}{number} {said}\n", flush=True)
        if words and words[0] == "quit" and "stays" not in TRAITS:
            return


if __name__ == "__main__":
    main()
