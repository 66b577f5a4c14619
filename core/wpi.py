"""Moves as the file-protocol tournament writes them: ``(W D 3)``, and a pass ``(W P 1)``.

There White begins. So that its programs can play by every ruleset, the side that begins is the one
that is called ``W``.

>>> start = Position.start("wpi")
>>> read_move(" (w d 3) ", start) == parse_square("d3")
True
>>> move_text(parse_square("d3"), start.to_move, start.ruleset)
'(W D 3)'
"""

from __future__ import annotations

import re

from othello_lab.core.notation import PASS, IllegalMove, parse_square, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset

FIRST, SECOND = "W", "B"
"""The side that begins, and the other."""
LONGEST = 1000
"""Characters of a text that may be a move."""

_PASS_COLUMN = "P"
_MOVE = re.compile(r"\(\s*([WB])\s+([A-Z])\s+([0-9]{1,9})\s*\)", re.IGNORECASE | re.ASCII)
_BEGINNING = re.compile(
    r"(\(\s*([WB](\s+([A-Z](\s+([0-9]{1,9}\s*)?)?)?)?)?)?", re.IGNORECASE | re.ASCII
)
_SHOWN = 60


def color_letter(color: Color, rules: Ruleset) -> str:
    """Return the letter of a side: ``W`` or ``B``."""
    return FIRST if color is rules.begins else SECOND


def move_text(move: int, color: Color, rules: Ruleset) -> str:
    """A move of this side, or a pass, as it is written."""
    letter = color_letter(color, rules)
    if move == PASS:
        return f"({letter} {_PASS_COLUMN} 1)"
    name = square_name(move).upper()
    return f"({letter} {name[0]} {name[1:]})"


def may_go_on(text: str) -> bool:
    """Return True if a text that is no whole move yet may be the beginning of one."""
    return len(text) <= LONGEST and bool(_BEGINNING.fullmatch(text.strip()))


def read_move(text: str, position: Position) -> int:
    """The move that a text names, or PASS.

    Capital or not, blanks more or fewer, the row of a pass: no matter. Raises IllegalMove, which
    quotes the text and says what is wrong: *malformed*, *wrong colour*, *not on the board*, or what
    :meth:`Position.play` says of a move that the rules forbid.
    """
    said = " ".join(text[:LONGEST].split())
    quoted = f"'{said:.{_SHOWN}}{'...' if len(said) > _SHOWN else ''}'"
    match = _MOVE.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if match is None:
        raise IllegalMove(f"{quoted}: malformed; one move such as (W D 3) is needed")
    letter, column, row = match.groups()
    expected, rules = color_letter(position.to_move, position.ruleset), position.ruleset
    if letter.upper() != expected:
        raise IllegalMove(f"{quoted}: wrong colour; {expected} is to move")
    move = PASS
    if column.upper() != _PASS_COLUMN:
        try:
            move = parse_square(f"{column}{int(row)}", rules.side)
        except IllegalMove:
            raise IllegalMove(
                f"{quoted}: not on the board (columns A to {'ABCDEFGH'[rules.side - 1]}, "
                f"rows 1 to {rules.side})"
            ) from None
    try:
        position.play(move)
    except IllegalMove as error:
        raise IllegalMove(f"{quoted}: {str(error).partition(': ')[2] or error}") from None
    return move
