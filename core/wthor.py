"""WTHOR, the binary format of the French federation's database of games (``.wtb``, ``.jou``,
``.trn``).

All numbers are little-endian. Every file begins with a header of 16 bytes: the century, year, month
and day it was written on (a byte each), the number of games (4 bytes), the number of names (2), the
year that the games were played in (2), the edge of the board (0 stands for 8), the kind (1 for
solitaires), the number of empty squares from which the best score is known, and a byte that is not
used. Then come

- in ``.wtb`` games of 68 bytes: the numbers of tournament, Black and White (2 bytes each), Black's
  discs at the end, and with best play (a byte each; empty squares count for the winner), and 60
  moves of a byte, 10 * row + column, so that a1 is 11, h1 is 18 and a8 is 81; 0 after the last.
  There are no passes, and every game begins at the usual start;
- in ``.jou`` the names of players, 20 bytes each, and in ``.trn`` those of tournaments, 26 bytes
  each; the last byte of a name is 0.

Sources: the definition by S. Quin, https://www.ffothello.org/informatique/la-base-wthor (in
French), as told by https://docs.rs/wthor, by the appendix on WTHOR of
http://hp.vector.co.jp/authors/VA015468/platina/algo/append_a.html, and by the source of C. Welty's
NBoard (``ThorGame8``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from othello_lab.core.notation import NotationError

GAMES, PLAYERS, TOURNAMENTS = ".wtb", ".jou", ".trn"
"""What the names of the files end with."""
NAME_BYTES = {PLAYERS: 20, TOURNAMENTS: 26}
"""The length of a name, its final 0 included."""

_HEADER = struct.Struct("<BBBBIHHBBBx")
_GAME = struct.Struct("<HHHBB60s")
_SIDE = 8
_SQUARES = bytes(10 * row + column for row in range(1, 9) for column in range(1, 9))
_TO_BYTE = bytes.maketrans(bytes(range(64)), _SQUARES)
_TO_SQUARE = bytes.maketrans(_SQUARES, bytes(range(64)))


@dataclass(frozen=True, slots=True)
class WthorGame:
    """A game as WTHOR writes it; whether its moves are legal is for the position to judge.

    moves: squares, 0 (a1) to 63 (h8), a byte each, without passes; at most 60.
    black_discs: Black's at the end, empty squares counted for the winner.
    black, white, tournament: numbers of names in the other two files, from 0.
    """

    moves: bytes
    black_discs: int
    black: int = 0
    white: int = 0
    tournament: int = 0


def format_wthor(games: Sequence[WthorGame], written: date, year: int) -> bytes:
    """The content of a ``.wtb``. year: in which the games were played.

    What would be the score with best play is known from the end on only, where it is the score.
    """
    return _header(written, len(games), 0, year) + b"".join(
        _GAME.pack(
            game.tournament,
            game.black,
            game.white,
            game.black_discs,
            game.black_discs,
            game.moves.translate(_TO_BYTE),
        )
        for game in games
    )


def format_names(names: Iterable[str], kind: str, written: date) -> bytes:
    """The content of a ``.jou`` or ``.trn`` (the ``kind``); see :func:`fitting`."""
    entries = [name.encode("latin-1").ljust(NAME_BYTES[kind], b"\0") for name in names]
    return _header(written, 0, len(entries), 0) + b"".join(entries)


def fitting(name: str, kind: str) -> str:
    """A name as a file of this kind can hold it: the letters of Latin-1, and not too many."""
    return name.encode("latin-1", "replace").decode("latin-1")[: NAME_BYTES[kind] - 1]


def _header(written: date, games: int, names: int, year: int) -> bytes:
    century, of_century = divmod(written.year, 100)
    return _HEADER.pack(
        century, of_century, written.month, written.day, games, names, year, _SIDE, 0, 0
    )


def offset(game: int) -> int:
    """Return the place of a game, counted from 0, in a ``.wtb``; bytes."""
    return _HEADER.size + _GAME.size * game


def is_wthor(content: bytes) -> bool:
    """Return True for the content of a whole ``.wtb``."""
    return len(content) > _HEADER.size and len(content) == offset(_HEADER.unpack_from(content)[4])


def numbered_games(
    content: bytes, refuse: Callable[[str], None] | None = None
) -> list[tuple[int, WthorGame]]:
    """Return the games of a ``.wtb``, each with its number, from 0. Raises NotationError with the
    byte of the bad part, and the expected content there: a file that is cut off or of another kind,
    another board, or no square.

    refuse: gets this for single games, left out then, and for a cut-off end of a file, instead of
    an exception.
    """

    def refused(why: str) -> None:
        if refuse is None:
            raise NotationError(why)
        refuse(why)

    if len(content) < _HEADER.size:
        raise NotationError(
            f"byte {len(content)}: the file ends in its header, which has {_HEADER.size} bytes"
        )
    *_, count, names, _, side, kind, _ = _HEADER.unpack_from(content)
    if names:
        raise NotationError(f"byte 8: {names} names; a file of games, which has none, is expected")
    if side not in (0, _SIDE):
        raise NotationError(f"byte 12: a board of {side}x{side}; 8x8 is expected")
    if kind:
        raise NotationError(f"byte 13: a file of kind {kind}; games, kind 0, are expected")
    if len(content) != offset(count):
        refused(
            f"byte {min(len(content), offset(count))}: {count:,} games make {offset(count):,} "
            f"bytes, and the file has {len(content):,}"
        )
    games = []
    whole = min(count, (len(content) - _HEADER.size) // _GAME.size)
    for number in range(whole):
        tournament, black, white, discs, _, moves = _GAME.unpack_from(content, offset(number))
        try:
            squares = _squares(moves, number)
        except NotationError as error:
            refused(str(error))
        else:
            games.append((number, WthorGame(squares, discs, black, white, tournament)))
    return games


def _squares(moves: bytes, game: int) -> bytes:
    moves = moves.rstrip(b"\0")
    if moves.translate(None, _SQUARES):
        at = next(i for i, move in enumerate(moves) if move not in _SQUARES)
        where = offset(game) + _GAME.size - 60 + at
        raise NotationError(
            f"byte {where}: {moves[at]} as move {at + 1} of game {game + 1}; "
            "11 (a1) to 88 (h8) is expected"
        )
    return moves.translate(_TO_SQUARE)
