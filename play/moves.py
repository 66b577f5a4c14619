"""Moves as people write them, and as a ruleset writes them.

``d3`` and ``D3``; row and column as numbers, ``3 4``; and as the file-protocol tournament writes
them, ``(B D 3)`` with the colour, a pass ``(B P 1)``.
"""

from __future__ import annotations

import re

from othello_lab.core.notation import PASS, IllegalMove, parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.wpi import move_text

_TOURNAMENT = re.compile(r"\(?\s*([BbWw])\s+([A-Za-z])\s+(\d+)\s*\)?")
_NUMBERS = re.compile(r"\(?\s*(\d+)[\s,]+(\d+)\s*\)?")
_LETTERS = {"b": Color.BLACK, "w": Color.WHITE}


def looks_like_move(text: str) -> bool:
    """Return True if a line is meant as a move, not as a command."""
    if _TOURNAMENT.fullmatch(text) or _NUMBERS.fullmatch(text):
        return True
    return bool(re.fullmatch(r"[A-Za-z]\d+|--|pass|pa|ps", text, re.IGNORECASE))


def read_move(text: str, position: Position) -> int:
    """Return the number of the move in a line; raises IllegalMove with the reason if it is none.
    The position decides on its legality."""
    side = position.ruleset.side
    if match := _TOURNAMENT.fullmatch(text):
        letter, column, row = match.groups()
        color = _LETTERS[letter.lower()]
        if color is not position.to_move:
            raise IllegalMove(f"{text}: {position.to_move.value} is to move")
        if column.lower() == "p":
            return PASS
        return parse_square(column + row, side)
    if match := _NUMBERS.fullmatch(text):
        row, number = map(int, match.groups())
        if not (1 <= row <= side and 1 <= number <= side):
            raise IllegalMove(f"{text}: row and column, each from 1 to {side}, are needed")
        return 8 * (row - 1) + number - 1
    return parse_square(text, side)


def written(move: int, color: Color, rules: Ruleset) -> str:
    """A move as the ruleset has it written."""
    if rules.name != "wpi":
        return "passes" if move == PASS else square_name(move)
    return move_text(move, color, rules)
