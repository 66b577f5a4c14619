"""How squares, moves and games are written.

A square is a column letter and a row digit (``d3``); a pass is written ``--`` and read as ``--``,
``pass`` or ``ps``. A transcript is the squares one after another (``f5d6c3``); passes are left
out, since a player without a move can do nothing else. OBF writes a position as its squares a1,
b1, ... (``X`` black, ``O`` white, ``-`` empty), then the side to move.
"""

from __future__ import annotations

import re

PASS = 64
"""The move number of a pass; squares are 0 (a1) to 63 (h8)."""

_PASS_WORDS = ("--", "pass", "ps")


class NotationError(ValueError):
    """A square, transcript or position that cannot be read; the message names the bad part."""


class IllegalMove(ValueError):
    """A move the rules do not allow; the message says why."""


def square_name(square: int) -> str:
    """``"d3"`` for 19, ``"--"`` for :data:`PASS`."""
    if square == PASS:
        return _PASS_WORDS[0]
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def parse_square(text: str, side: int = 8) -> int:
    """The number of a square (or :data:`PASS`) on a board of ``side`` squares a side.

    Raises IllegalMove, *not a square*, for anything else.
    """
    word = text.strip().lower()
    if word in _PASS_WORDS:
        return PASS
    columns = "abcdefgh"[:side]
    if len(word) == 2 and word[0] in columns and word[1] in "12345678"[:side]:
        return columns.index(word[0]) + 8 * (int(word[1]) - 1)
    last = square_name(9 * (side - 1))
    raise IllegalMove(f"{text!r}: not a square (squares are a1 to {last})")


def split_transcript(text: str) -> list[str]:
    """The moves of a transcript, with or without blanks between them, as words of two letters.

    Raises NotationError where letters are left over; whether each word is a square, and the move
    legal, is for the position to judge.
    """
    words = []
    for part in re.split(r"[\s,;.]+", text.strip(" \t\n,;.")):
        if part.lower() in _PASS_WORDS:
            words.append(part)
            continue
        if len(part) % 2:
            raise NotationError(f"transcript {part!r}: {part[-1]!r} is left over at its end")
        words += [part[i : i + 2] for i in range(0, len(part), 2)]
    return words


def parse_obf(line: str, squares: int) -> tuple[int, int, bool]:
    """Read an OBF line: masks of the black and white discs, and whether Black is to move.

    ``squares`` is the size of the board (64, 36 or 16). Anything after the side to move, such as
    scores behind a ``;``, is left alone. Raises NotationError naming the bad part.
    """
    parts = line.split(";")[0].split()
    board = parts[0] if parts else ""
    turn = parts[1] if len(parts) > 1 else ""
    if len(board) == squares + 1 and not turn:
        board, turn = board[:-1], board[-1]
    if len(board) != squares:
        raise NotationError(f"position {board!r}: {len(board)} squares instead of {squares}")
    side = round(squares**0.5)
    masks = {"X": 0, "O": 0, "-": 0}
    same = {"*": "X", "B": "X", "W": "O", ".": "-"}
    for i, letter in enumerate(board.upper()):
        letter = same.get(letter, letter)
        if letter not in masks:
            raise NotationError(
                f"position {board!r}: {letter!r} on {square_name(8 * (i // side) + i % side)}; "
                "squares are X (black), O (white) or - (empty)"
            )
        masks[letter] |= 1 << (8 * (i // side) + i % side)
    turn = same.get(turn.upper(), turn.upper())
    if turn not in ("X", "O"):
        raise NotationError(f"side to move {turn!r}: X (black) or O (white) after the squares")
    return masks["X"], masks["O"], turn == "X"
