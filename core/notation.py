"""Notations of squares, moves and games.

A square is a column letter and a row digit (``d3``); a pass is written ``--`` and read as ``--``,
``pass``, ``pa`` or ``ps``. A transcript is the squares one after another (``f5d6c3``); passes are
left out, since a player without a move can do nothing else. OBF writes a position as its squares
a1, b1, ... (``X`` black, ``O`` white, ``-`` empty), then the side to move. GGF, the format of the
Generic Game Server's archives, writes a game as properties: ``(;GM[Othello]PB[..]TY[8]BO[8
---...--- *]B[f5//0.1]W[d6]...;)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from othello_lab.core.rules import Color

PASS = 64
"""The move number of a pass; squares are 0 (a1) to 63 (h8)."""

_PASS_WORDS = ("--", "pass", "pa", "ps")
_LONGEST = 80  # letters of what cannot be read that a message shows


class NotationError(ValueError):
    """A square, transcript or position that cannot be read; the message names the bad part."""


class IllegalMove(ValueError):
    """A move the rules do not allow; the message says why."""


def _shown(text: str) -> str:
    """A text as a message quotes it, cut where it is long."""
    return repr(text) if len(text) <= _LONGEST else f"{text[:_LONGEST]!r}..."


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
    raise IllegalMove(f"{_shown(text)}: not a square (squares are a1 to {last})")


def split_transcript(text: str) -> list[str]:
    """Return the moves of a transcript, with or without blanks between them, as words of two
    letters. Numbers of moves, ``1.``, are left out.

    >>> split_transcript("1. f5 d6 2. c3d3")
    ['f5', 'd6', 'c3', 'd3']

    Raises NotationError if letters are left over. The position decides that each word is a square,
    and the move legal.
    """
    words = []
    text = re.sub(r"(?<![A-Za-z0-9])\d{1,3}(\.+|\))", " ", text)
    for part in re.split(r"[\s,;.]+", text.strip(" \t\n,;.")):
        if part.lower() in _PASS_WORDS:
            words.append(part)
            continue
        if len(part) % 2:
            raise NotationError(f"transcript {_shown(part)}: {part[-1]!r} is left over at its end")
        words += [part[i : i + 2] for i in range(0, len(part), 2)]
    return words


def is_obf(text: str) -> bool:
    """Return True if a line can only be an OBF position: names of squares, as in transcripts, hold
    digits."""
    words = text.split(";")[0].split()
    return bool(words) and not any(letter.isdigit() for letter in words[0])


def parse_obf(line: str, squares: int) -> tuple[int, int, bool]:
    """Read an OBF line: masks of the black and white discs, and True if Black is to move.

    ``squares`` is the size of the board (64, 36 or 16). Anything after the side to move, such as
    scores behind a ``;``, is ignored. Raises NotationError naming the bad part.
    """
    parts = line.split(";")[0].split()
    board = parts[0] if parts else ""
    turn = parts[1] if len(parts) > 1 else ""
    if len(board) == squares + 1 and not turn:
        board, turn = board[:-1], board[-1]
    if len(board) != squares:
        raise NotationError(f"position {_shown(board)}: {len(board)} squares instead of {squares}")
    side = round(squares**0.5)
    masks = {"X": 0, "O": 0, "-": 0}
    same = {"*": "X", "B": "X", "W": "O", ".": "-"}
    for i, letter in enumerate(board.upper()):
        letter = same.get(letter, letter)
        if letter not in masks:
            name = square_name(8 * (i // side) + i % side)
            raise NotationError(
                f"position {_shown(board)}: {letter!r} on {name}; "
                "squares are X (black), O (white) or - (empty)"
            )
        masks[letter] |= 1 << (8 * (i // side) + i % side)
    turn = same.get(turn.upper(), turn.upper())
    if turn not in ("X", "O"):
        raise NotationError(
            f"side to move {_shown(turn)}: X (black) or O (white) after the squares"
        )
    return masks["X"], masks["O"], turn == "X"


_CELLS = r"(?:[ \[(|]*[-.·_*xXoObBwW●○@#][\])|]*){%d}"
_TO_MOVE = re.compile(
    r"\b(black|white|x|o)(?=(?:\s*\(.\))?\s+(?:is )?to (?:move|play)|\W*$)", re.IGNORECASE
)
_BLACK, _WHITE = "xXbB●@#", "oOwW○"


def read_drawing(text: str, side: int, first_row_on_top: bool = True) -> str | None:
    """Return the OBF line of a board that is drawn in several lines, or None for another text.

    A row may have its number before it and anything behind it; the rows may come in any order if
    all have numbers. Black is ``X``, ``B``, ``●``; White ``O``, ``W``, ``○``; other signs are
    empty squares, and ``*`` is black where no other sign is. Below (or above) stands who is to
    move. Raises NotationError if nobody is.

    >>> read_drawing("1 ....\\n2 .OX.\\n3 .XO.\\n4 ....\\nBlack to move", 4)
    '-----OX--XO----- X'
    """
    pattern = re.compile(rf"\s*(\d)?\s*({_CELLS % side})(?![A-Za-z0-9])(.*)")
    rows: list[tuple[str | None, str]] = []
    rest = []
    for line in text.splitlines():
        if (match := pattern.fullmatch(line)) and len(rows) < side:
            rows.append((match[1], re.sub(r"[\s|()\[\]]", "", match[2])))
            rest.append(match[3])
        else:
            rest.append(line)
    if len(rows) < side:
        return None
    numbers = [number for number, _ in rows]
    if None not in numbers:
        rows.sort(key=lambda row: str(row[0]))
    elif not first_row_on_top:
        rows.reverse()
    squares = "".join(cells for _, cells in rows)
    stars = "-" if set(squares) & set(_BLACK) else "X"
    signs = {**dict.fromkeys(_BLACK, "X"), **dict.fromkeys(_WHITE, "O"), "*": stars}
    squares = "".join(signs.get(letter, "-") for letter in squares)
    turn = _TO_MOVE.search("\n".join(rest))
    if turn is None:
        raise NotationError("a board, but who is to move? Add a line: Black to move, or White")
    return f"{squares} {'X' if turn[1].lower() in ('black', 'x') else 'O'}"


# ---------------------------------------------------------------------- GGF


@dataclass(frozen=True, slots=True)
class GgfGame:
    """A game in GGF; the position checks that its squares and moves exist.

    side: squares along an edge of the board. start: its first position, as an OBF line. words: the
    moves as written, passes included; colors: the player of each. players: their names, as far as
    they are told.
    """

    side: int
    start: str
    words: tuple[str, ...]
    colors: tuple[Color, ...]
    players: Mapping[Color, str] = field(default_factory=dict)


_PROPERTY = re.compile(r"\s*([A-Z]+)\[([^\]]*)\]")
_GAME_BEGINS, _GAME_ENDS = re.compile(r"\s*\(;"), re.compile(r"\s*;\)")
_OPENS = "(;"
_WHOLE = re.compile(r"\(;(?:\s*[A-Z]+\[[^\]]*\])*\s*;\)")
_COUNT = re.compile(r"\s*[0-9]+(?=\s*\(;)")  # archives write how many games of a match follow
_VARIANTS = {"a": "in which the fewest discs win", "k": "with komi, discs given in advance"}
_MOVERS = {"B": Color.BLACK, "W": Color.WHITE}


def is_ggf(text: str) -> bool:
    """Return True if a line is meant to hold games in GGF."""
    return "(;" in text


def parse_ggf(text: str) -> list[GgfGame]:
    """Read the games of a text in GGF, one after another.

    Raises NotationError naming the bad part: text outside a property, a game of something other
    than Othello (or of its variant with the fewest discs winning), or no board (``BO``).
    """
    games: list[GgfGame] = []
    end = len(text.rstrip())
    at = 0
    while at < end:
        if match := _COUNT.match(text, at):
            at = match.end()
        at = _expect(_GAME_BEGINS, text, at, "a game, which begins with (;").end()
        properties: list[tuple[str, str]] = []
        while not (match := _GAME_ENDS.match(text, at)):
            match = _expect(_PROPERTY, text, at, "a property such as B[d3], or the end ;)")
            properties.append((match[1], match[2]))
            at = match.end()
        at = match.end()
        games.append(_game(properties))
    return games


def find_ggf(text: str) -> Iterator[tuple[int, GgfGame | NotationError | str]]:
    """Yield the games of an archive in GGF, each with its place; for an unreadable one the error of
    :func:`parse_ggf`, and any text between them."""
    at, end = 0, len(text.rstrip())
    while at < end:
        begin = text.find(_OPENS, at)
        between = text[at : begin if begin >= 0 else end]
        if between.strip() and not re.fullmatch(r"\s*[0-9]+\s*", between):
            yield at, between
        if begin < 0:
            return
        match = _WHOLE.match(text, begin)
        # A game that is cut off ends where the next one begins.
        following = text.find(_OPENS, begin + 1)
        at = match.end() if match else following if following > 0 else end
        try:
            yield begin, parse_ggf(text[begin:at])[0]
        except NotationError as error:
            yield begin, error


def _expect(pattern: re.Pattern[str], text: str, at: int, wanted: str) -> re.Match[str]:
    match = pattern.match(text, at)
    if match is None:
        there = text[at : at + 20].strip()
        raise NotationError(f"GGF: {wanted}, is expected at {there!r}" if there else _CUT_OFF)
    return match


_CUT_OFF = "GGF: the game is cut off; its end ;) has to stand on the same line"


def _property(name: str, properties: Mapping[str, str]) -> str:
    """A property as it is written, in one line, cut where it is long."""
    return f"{name}[{_shown(properties[name])[1:-1]}]"


def _game(properties: list[tuple[str, str]]) -> GgfGame:
    values = dict(properties)
    for name in ("GM", "BO"):
        if name not in values:
            raise NotationError(f"GGF: the game has no {name}[...]")
    if values["GM"].strip().lower() != "othello":
        raise NotationError(f"GGF: {_property('GM', values)}: only Othello is read")
    for letter, what in _VARIANTS.items():
        if letter in values.get("TY", "").lower():
            raise NotationError(f"GGF: {_property('TY', values)}: a game {what}")
    side, *board = values["BO"].split() or [""]
    squares, turn = "".join(board[:-1]), "".join(board[-1:])
    if not re.fullmatch("[1-9][0-9]?", side) or len(squares) != int(side) ** 2:
        raise NotationError(
            f"GGF: {_property('BO', values)}: the length of an edge, all squares, and the side to "
            "move are expected, such as BO[4 ---- -O*- -*O- ---- *]"
        )
    moves = [(name, value) for name, value in properties if name in _MOVERS]
    return GgfGame(
        int(side),
        f"{squares} {turn}",
        tuple(value.split("/")[0] for _, value in moves),  # then come evaluation and time
        tuple(_MOVERS[name] for name, _ in moves),
        {color: values[f"P{name}"] for name, color in _MOVERS.items() if values.get(f"P{name}")},
    )


def format_ggf(start: str, moves: Iterable[tuple[Color, int]], **properties: str) -> str:
    """Return a game in GGF, in one line. start: an OBF line. moves: with the player of each, passes
    included. properties: further ones, such as ``PB`` and ``PW``, the players' names.

    >>> format_ggf("-" * 6 + "OX--XO" + "-" * 4 + " X", [(Color.BLACK, 1)], PB="lab")
    '(;GM[Othello]PB[lab]TY[4]BO[4 ------O*--*O---- *]B[B1];)'
    """
    board, turn = start.replace("X", "*").split()
    side = round(len(board) ** 0.5)
    written = "".join(f"{name}[{_plain(text)}]" for name, text in properties.items())
    letters = {color: letter for letter, color in _MOVERS.items()}
    played = "".join(f"{letters[color]}[{ggf_word(move)}]" for color, move in moves)
    return f"(;GM[Othello]{written}TY[{side}]BO[{side} {board} {turn}]{played};)"


def ggf_word(move: int) -> str:
    """A move as GGF writes it: ``D3``, and ``PA`` for a pass."""
    return "PA" if move == PASS else square_name(move).upper()


def _plain(text: str) -> str:
    """Return a text without characters that would end a property."""
    return "".join(letter for letter in text if letter.isprintable() and letter not in "[]\\;")
