"""A position drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import visible

_DISCS = {False: {Color.BLACK: "X", Color.WHITE: "O"}, True: {Color.BLACK: "●", Color.WHITE: "○"}}
_EMPTY = {False: ".", True: "·"}
_MARK = "*"
_STYLES = {Color.BLACK: "bold black on green4", Color.WHITE: "bold bright_white on green4"}
_BOARD = "grey70 on green4"
_LEGAL = "bold bright_yellow on green4"


def disc_counts(
    position: Position, names: Mapping[Color, str], unicode: bool, colours: bool
) -> Iterator[Text]:
    """Yield a line beside the board for each colour: a disc, the number of such discs, and their
    player."""
    for color, discs in ((Color.BLACK, position.black), (Color.WHITE, position.white)):
        text = Text()
        text.append(f" {_disc(color, unicode, colours)} ", _STYLES[color] if colours else "")
        words = f" {color.value.capitalize():5} {discs.bit_count():2}  {visible(names[color])}"
        yield text.append(words)


def _disc(color: Color, unicode: bool, colours: bool) -> str:
    return _DISCS[unicode][Color.BLACK if colours and unicode else color]


def draw(
    position: Position,
    last: int | None = None,
    marks: bool = True,
    unicode: bool = False,
    colours: bool = False,
    beside: Sequence[str | Text] = (),
) -> list[Text]:
    """The lines of a board, with the coordinates of its ruleset.

    last: the move just made, shown in brackets. marks: True to mark legal moves. unicode: round
    discs instead of letters. colours: a green board with discs of the same shape in both colours.
    beside: lines of text to its right.
    """
    side = position.ruleset.side
    rows = range(side) if position.ruleset.first_row_on_top else reversed(range(side))
    columns = Text("   " + "".join(f" {letter} " for letter in "abcdefgh"[:side]))
    lines = [columns]
    for row in rows:
        line = Text(f" {row + 1} ")
        for column in range(side):
            square = 8 * row + column
            sign, style = _sign(position, square, marks, unicode, colours)
            left, right = "[]" if square == last and last != PASS else "  "
            line.append(left + sign + right, style if colours else "")
        lines.append(line)
    for number, text in enumerate(beside, start=1):
        if number < len(lines):
            lines[number].append("   ").append(text)
    return lines


def _sign(
    position: Position, square: int, marks: bool, unicode: bool, colours: bool
) -> tuple[str, str]:
    """Return the sign on a square, and its style."""
    for color, discs in ((Color.BLACK, position.black), (Color.WHITE, position.white)):
        if discs >> square & 1:
            return _disc(color, unicode, colours), _STYLES[color]
    if marks and position.legal_mask >> square & 1:
        return _MARK, _LEGAL
    return _EMPTY[unicode], _BOARD
