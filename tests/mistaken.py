"""Students' searches with mistakes: changes of a line or two to the right ones in
``agents/diagnosis/students``."""

# ruff: noqa: E501
from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

STUDENTS = Path(__file__).parent / "agents" / "diagnosis" / "students"
NEGAMAX, TWO_SIDED, DEEP, MTDF, BOARD = (
    f"{name}.py" for name in ("negamax", "two_sided", "deep", "mtdf", "board")
)


class Seed(NamedTuple):
    """A mistake: its cause, the student's file, the right text, and the wrong text for it."""

    cause: str
    file: str
    right: str
    wrong: str


def written(seed: Seed, folder: Path, states_values: bool = True) -> Path:
    """Write the student's file with the mistake in it and return its path."""
    text = (STUDENTS / seed.file).read_text(encoding="utf-8")
    assert seed.right in text, "that is not what the student has written"
    text = text.replace(seed.right, seed.wrong) if seed.right else text
    if not states_values:
        text = re.sub(r"return Decision\(([^,]*), best, .*\)", r"return Decision(\1)", text)
    path = folder / seed.file
    path.write_text(text, encoding="utf-8")
    return path


NULL = "                value = -self.search(child, depth - 1, ply + 1, -alpha - 1, -alpha)\n"
AGAIN = """                if alpha < value < beta:
                    value = -self.search(child, depth - 1, ply + 1, -beta, -value)
"""
WINDOW_AGAIN = """            if best <= alpha or best >= beta:
                best = self.search(board, depth, 0, -INFINITY, INFINITY)
"""
KIND = "UPPER if best <= low else LOWER if best >= beta else EXACT"
ON_BOARD = "if 0 <= x < 8 and 0 <= y < 8 and mover"
LEAF = """        if depth == 0:
            return self.evaluate(board, ply)
"""
TAKE_BACK = "            self.board.take_back(move, turned, side)\n"
CUT = """            if alpha >= beta:
                break
        return alpha if"""

WINDOW = "aspiration window not searched again"
NOT_LEGAL = "illegal moves are played"
FLIPS = "wrong flips"
REDUCED = "some lines are searched less deep"
BUDGET = "the search stops before it is complete"
EXTENDED = "some lines are searched deeper"
TABLE_DEPTH = "a table's entry is used for another depth"
TABLE_BOUND = "a bound is taken for a value"
LOST = "ordering loses moves"

FOLLOWED = [
    Seed(WINDOW, DEEP, WINDOW_AGAIN, ""),
    Seed(WINDOW, DEEP, "if best <= alpha or best >= beta", "if best >= beta"),
    Seed(WINDOW, DEEP, "if best <= alpha or best >= beta", "if best <= alpha"),
    Seed(NOT_LEGAL, DEEP, "is not None and is_legal(mover, opponent, killer)", "is not None"),
    Seed(
        NOT_LEGAL,
        DEEP,
        "is_legal(mover, opponent, killer)",
        "not (mover | opponent) >> killer & 1",
    ),
    Seed(NOT_LEGAL, DEEP, "return not (mover | opponent) >> square & 1 and ", "return "),
    Seed(FLIPS, DEEP, "0 <= x < 8 and 0 <= y < 8 and", "0 <= 8 * y + x < 64 and"),
    Seed(FLIPS, DEEP, ON_BOARD, "if not (0 <= x < 8 and 0 <= y < 8) or mover"),
    Seed(FLIPS, DEEP, "if x or y]", "if x or y > 0]"),
    Seed(FLIPS, BOARD, "found += line", "found = line"),
    Seed("moves are not taken back", BOARD, TAKE_BACK, ""),
    Seed(
        "moves are not taken back",
        BOARD,
        TAKE_BACK,
        "            self.board.take_back(move, turned[:2], side)\n",
    ),
    Seed(
        REDUCED,
        DEEP,
        NULL + AGAIN,
        NULL.replace("depth - 1", "max(0, depth - 1 - (number > 2))") + AGAIN,
    ),
    Seed(
        REDUCED,
        DEEP,
        NULL,
        NULL.replace("depth - 1", "depth - 1 - (number > 2 and depth > 2)"),
    ),
    Seed(BUDGET, DEEP, LEAF, LEAF.replace("depth == 0", "depth == 0 or self.nodes > 400")),
    Seed(
        REDUCED,
        DEEP,
        LEAF,
        LEAF + "        if depth == 1 and self.evaluate(board, ply) - 30 >= beta:\n"
        "            return beta\n",
    ),
    Seed(
        "the same side moves twice",
        DEEP,
        "        first = [stored",
        "        if depth > 2 and ply:\n"
        "            value = -self.search((opponent, mover), depth - 3, ply + 1, -beta, 1 - beta)\n"
        "            if value >= beta:\n"
        "                return value\n"
        "        first = [stored",
    ),
    Seed(
        EXTENDED,
        DEEP,
        "        first = [stored",
        "        depth += ply > 0 and len(moves) == 1\n        first = [stored",
    ),
    Seed(
        EXTENDED,
        DEEP,
        "if depth == 0:",
        "if depth == -1 or depth == 0 and not {0, 7, 56, 63} & set(moves):",
    ),
    Seed(
        "the position before the move is evaluated",
        NEGAMAX,
        LEAF.replace("board, ply", "position"),
        """        if depth == 1 and position.moves:
            return max(self.evaluate(position) for move in position.moves)
        if depth == 0:
            return self.evaluate(position)
""",
    ),
    Seed(
        "the position before the move is evaluated",
        BOARD,
        "            turned = self.board.put(move, side)\n            value = self.value(",
        "            if depth == 1:\n"
        "                value = self.leaf(side)\n"
        "                alpha, beta = (max(alpha, value), beta) if side is self.me else (alpha, min(beta, value))\n"
        "                continue\n"
        "            turned = self.board.put(move, side)\n            value = self.value(",
    ),
    Seed(TABLE_DEPTH, DEEP, "stored and stored[0] == depth and ply", "stored and ply"),
    Seed(TABLE_DEPTH, DEEP, "stored[0] == depth and ply", "stored[0] >= depth - 1 and ply"),
    Seed(TABLE_DEPTH, MTDF, "key = position, depth", "key = position"),
    Seed(
        "a table's entry is used for the other side",
        DEEP,
        "key = mover, opponent",
        "key = frozenset(board)",
    ),
    Seed(
        "a table's entry is used for another position", DEEP, "key = mover, opponent", "key = mover"
    ),
    Seed(TABLE_BOUND, DEEP, KIND, "EXACT"),
    Seed(TABLE_BOUND, DEEP, "kind == UPPER and value <= alpha", "kind == UPPER"),
    Seed(
        TABLE_BOUND,
        DEEP,
        KIND,
        KIND.replace("UPPER", "L").replace("LOWER", "UPPER").replace("L ", "LOWER "),
    ),
    Seed(TABLE_BOUND, DEEP, AGAIN, ""),
    Seed(
        TABLE_BOUND,
        MTDF,
        "        if best >= beta:\n            lower = best\n        else:\n            upper = best\n",
        "        lower = upper = best\n",
    ),
    Seed(
        "the window begins too narrow",
        NEGAMAX,
        "alpha, beta = -INFINITY, INFINITY",
        "alpha, beta = -60, 60",
    ),
    Seed(
        LOST,
        DEEP,
        "            first.append(killer)\n        moves = ",
        "            moves[0] = killer\n        moves = ",
    ),
    Seed(LOST, DEEP, "fromkeys(first + moves))", "fromkeys(first + moves))[:6]"),
    Seed(
        LOST,
        BOARD,
        "square for square in range(64) if self.turned",
        "square for square in range(63) if self.turned",
    ),
    Seed(
        "wrong side evaluated",
        BOARD,
        "Position(mine, others, self.me)",
        "Position(others, mine, self.me)",
    ),
    Seed(
        "wrong side evaluated", DEEP, "Position(*board, ", "Position(*board[:: 1 - 2 * (ply % 2)], "
    ),
    Seed("cutoff at the wrong bound", BOARD, CUT, CUT.replace("alpha >= beta", "alpha <= beta")),
    Seed(
        "a window's end is returned",
        BOARD,
        "                alpha = max(alpha, value)\n            else:\n                beta = min(beta, value)",
        "                beta = min(beta, value)\n            else:\n                alpha = max(alpha, value)",
    ),
    Seed(
        "sign error at a pass",
        DEEP,
        "value = -self.search((opponent",
        "value = self.search((opponent",
    ),
    Seed(
        "no pass handling",
        BOARD,
        "        if not moves:\n            return self.value(side.other, depth - 1, alpha, beta)\n",
        "",
    ),
    Seed(
        "finished game evaluated by the heuristic",
        BOARD,
        "if not moves and not self.board.moves(side.other)",
        "if not True",
    ),
    Seed(
        "finished game counted for the wrong side",
        BOARD,
        "(mine - others)",
        "(mine - others) * (1 if side is self.me else -1)",
    ),
    Seed("depth off by one", DEEP, "range(1, self.depth + 1)", "range(1, max(2, self.depth))"),
]
"""Mistakes that the calls of the heuristic show."""
