"""Games in files of others: WTHOR, GGF, and text with a transcript or a position a line. One reader
for openings, training, review, replay and the page.

An error names its file, its place there, and the expected content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from othello_lab.core import notation
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.files import read_bytes
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.wthor import GAMES, PLAYERS, TOURNAMENTS, is_wthor, numbered_games, offset

KINDS = "WTHOR (.wtb), GGF, or text with a transcript or a position a line"
MOST_TOLD = 10
"""Parts of a file that are left out, told one by one."""
_COMMENTS = ("#", "%")
_MOST_LINES = 60  # of a game that is written in several
_FOREIGN = {
    rb'\s*\[\w+ +"': "PGN of chess",
    rb"\s*([rnbqkpRNBQKP1-8]+/){7}": "FEN of chess",
    rb"\s*\(;[^)]*?(GM\[\s*\d|FF\[)": "SGF, in which Go is written",
    rb"SQLite format 3": "a database; a run is named by its folder",
    rb"PAR1": "Parquet, in which positions are kept",
    rb"PK\x03\x04|\x1f\x8b|BZh|\xfd7zXZ|7z\xbc\xaf|Rar!": "packed; unpack it first",
    rb"%PDF|\x89PNG|\xff\xd8\xff|GIF8": "a picture or a page of print",
    rb"\s*<[!?a-zA-Z]": "HTML or XML",
    rb"\s*(\{|\[\s*[\"\[{])": "JSON",
    rb"Othello game\r?\n": "a saved game, which play replay shows",
}
"""Beginnings of files of other kinds, and what each of these is."""
_MOVES = re.compile(r"(?<!\w)([a-hA-H][1-8])+(?!\w)|[-*.oOxX@][-*.oOxX@ ]{2}")  # or a board

_Entry = notation.GgfGame | notation.NotationError | str
Tell = Callable[[str], None]
"""Receives one line about what was left out."""


@dataclass(frozen=True, slots=True)
class ArchivedGame:
    """A game of a file, or a position without moves. Its moves may be illegal.

    where: its place in its file. number: among all of the file, from 1. start: its first position.
    squares: its moves, a byte each. turns: the side of each move where the file tells it, 0 for the
    side that begins, 1 for the other. players: their names where the file tells them. is_line:
    True for a transcript, which may be an opening alone.
    """

    where: str
    number: int
    start: Position
    squares: bytes
    turns: bytes = b""
    players: Mapping[Color, str] = field(default_factory=dict)
    is_line: bool = False

    def plies(self) -> tuple[int, ...]:
        """Return its moves with all passes; raises NotationError for an illegal one."""
        sides = self.start.to_move, self.start.to_move.other
        words = map(notation.square_name, self.squares)
        return self.start.follow(words, [sides[turn] for turn in self.turns])[1]


@dataclass
class Refusals:
    """Unusable parts of a file: errors, or with ``partly`` messages. cure: the words that leave
    them out."""

    path: Path | str
    partly: bool
    tell: Tell = print
    cure: str = "partly=true"
    number: int = field(default=0, init=False)

    def __call__(self, why: str) -> None:
        if not self.partly:
            cure = f"; {self.cure} leaves out what cannot be read" if self.cure else ""
            raise ConfigError(f"{self.path}, {why}{cure}")
        self.number += 1
        if self.number <= MOST_TOLD:
            self.tell(f"left out: {self.path}, {why}")

    def end(self) -> None:
        """Tell the number of all."""
        if self.number:
            self.tell(f"left out of {self.path}: {counted(self.number, 'game')} in all")


def games_in(path: Path, rules: Ruleset, refuse: Refusals) -> Iterator[ArchivedGame]:
    """Yield the games of a file; raises OSError, and ConfigError for a file of another kind."""
    yield from games_of(read_bytes(path), rules, refuse, path.suffix.lower())


def games_of(
    content: bytes, rules: Ruleset, refuse: Refusals, ending: str = ""
) -> Iterator[ArchivedGame]:
    """Yield the games of a file's content. ending: of its name."""
    if ending in (GAMES, PLAYERS, TOURNAMENTS) or is_wthor(content):
        yield from _of_wthor(content, rules, refuse)
        return
    if kind := next((kind for begin, kind in _FOREIGN.items() if re.match(begin, content)), None):
        raise ConfigError(_misread(refuse.path, kind))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = content.decode("latin-1")  # names may have any letters
        if not notation.is_ggf(text):
            refuse(f"byte {error.start}: not text in UTF-8; games are read from {KINDS}")
            return
    yield from _of_text(text, rules, refuse)


def _misread(path: object, kind: str) -> str:
    return f"{path}: this is {kind}; games are read from {KINDS}"


def _of_wthor(content: bytes, rules: Ruleset, refuse: Refusals) -> Iterator[ArchivedGame]:
    if rules.side != 8:
        refuse(f"byte 0: games on 8x8; ruleset {rules.name} is {rules.side}x{rules.side}")
        return
    start = Position.from_obf(Position.start().to_obf(), rules)
    try:
        games = numbered_games(content, refuse)
    except notation.NotationError as error:
        refuse(str(error))
        return
    for number, game in games:
        where = f"game {number + 1}, byte {offset(number)}"
        yield ArchivedGame(where, number + 1, start, game.moves)


def _of_text(text: str, rules: Ruleset, refuse: Refusals) -> Iterator[ArchivedGame]:
    line, at, number = 1, 0, 0
    for begin, part in notation.find_ggf(text):
        line, at = line + text.count("\n", at, begin), begin
        entries = _lines(part, line, rules) if isinstance(part, str) else [(line, part)]
        for number_of_line, entry in entries:
            where, number = f"line {number_of_line}", number + 1
            try:
                yield _game(entry, where, number, rules)
            except ValueError as error:
                if number == 1 and not (notation.is_ggf(text) or _MOVES.search(text)):
                    begins = text.strip().splitlines()[0][:40]
                    kind = f"text without moves, which begins {begins!r}"
                    raise ConfigError(_misread(refuse.path, kind)) from None
                refuse(f"{where}: {error}")


def _lines(text: str, first: int, rules: Ruleset) -> Sequence[tuple[int, _Entry]]:
    """Return the lines with games, and their numbers; as one a game or board over several lines."""
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), start=first)
        if line.strip() and not line.lstrip().startswith(_COMMENTS) and not line.strip().isdigit()
    ]
    if 1 < len(lines) <= _MOST_LINES and not all(_is_legal(line, rules) for _, line in lines[:2]):
        whole = "\n".join(line for _, line in lines)
        try:
            is_whole = notation.read_drawing(whole, rules.side, rules.first_row_on_top)
        except notation.NotationError:  # a board without the side to move, as will be told
            is_whole = whole
        if is_whole or _is_legal(whole, rules):
            return [(lines[0][0], whole)]
    return lines


def _is_legal(text: str, rules: Ruleset) -> bool:
    try:
        return _game(text, "", 0, rules).plies() is not None
    except ValueError:
        return False


def _game(entry: _Entry, where: str, at: int, rules: Ruleset) -> ArchivedGame:
    if isinstance(entry, notation.NotationError):
        raise entry
    start, turns, players = Position.start(rules), b"", dict[Color, str]()
    if isinstance(entry, notation.GgfGame):
        if entry.side != rules.side:
            of, to = f"{entry.side}x{entry.side}", f"{rules.side}x{rules.side}"
            raise notation.NotationError(f"a game on {of}; ruleset {rules.name} is {to}")
        start, players = Position.from_obf(entry.start, rules), dict(entry.players)
        turns = bytes(color is not start.to_move for color in entry.colors)
    else:
        drawn = notation.read_drawing(entry, rules.side, rules.first_row_on_top)
        if obf := drawn or (entry if notation.is_obf(entry) else None):
            return ArchivedGame(where, at, Position.from_obf(obf, rules), b"")
    words = entry.words if isinstance(entry, notation.GgfGame) else notation.split_transcript(entry)
    try:
        squares = bytes(_square(word, rules.side) for word in words)
    except ValueError:
        start.follow(words)  # which knows the number of the move
        raise
    is_line = not isinstance(entry, notation.GgfGame)
    return ArchivedGame(where, at, start, squares, turns, players, is_line)


_square = cache(notation.parse_square)  # of a few hundred words, 60 a game
