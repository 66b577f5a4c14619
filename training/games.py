"""Reading games of others, to learn from: WTHOR, GGF, transcripts, and records of the lab's own
runs.

An error names its file, its place (a byte, or of text a line) and the expected content there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from othello_lab.core.game import FINISHED
from othello_lab.core.notation import (
    PASS,
    GgfGame,
    NotationError,
    find_ggf,
    is_ggf,
    parse_obf,
    parse_square,
    split_transcript,
    square_name,
)
from othello_lab.core.position import Position
from othello_lab.core.replay import LEGAL, UNTOLD, replay
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import ConfigError
from othello_lab.core.wthor import GAMES, numbered_games, offset
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import FILE
from othello_lab.training.labels import LabelledGames

MOST_TOLD = 10
"""Parts of a file that are left out, told one by one."""
_COMMENTS = ("#", "%")

Tell = Callable[[str], None]
"""Receives one line about what was left out."""


@dataclass(frozen=True, slots=True)
class _ParsedGame:
    """A game of a file. where: its place in its file. mover, opponent: masks of its first
    position. squares: its moves, a byte each. turns: the side of each move in the file, 0 for the
    side that begins, 1 for the other; empty if the file has none."""

    where: str
    mover: int
    opponent: int
    squares: bytes
    turns: bytes = b""


@dataclass
class _Refusals:
    """Unusable parts of a file: errors, or with ``partly`` messages."""

    path: Path
    partly: bool
    tell: Tell
    number: int = field(default=0, init=False)

    def __call__(self, why: str) -> None:
        if not self.partly:
            raise ConfigError(f"{self.path}, {why}")
        self.number += 1
        if self.number <= MOST_TOLD:
            self.tell(f"left out: {self.path}, {why}")

    def end(self) -> None:
        """Note the end of the file."""
        if self.number > MOST_TOLD:
            self.tell(f"left out: {self.path}, {self.number - MOST_TOLD:,} further games")


def read_games(
    paths: Sequence[str | Path], rules: Ruleset, partly: bool, tell: Tell
) -> LabelledGames:
    """Return the games of files, in their order: WTHOR (``.wtb``), text with games in GGF, or with
    a transcript a line, and folders of runs.

    partly: leave out unreadable games, with a message, instead of raising ConfigError. That is
    raised in any case if there is no game.
    """
    found: list[_ParsedGame] = []
    for path in map(Path, paths):
        refuse = _Refusals(path, partly, tell)
        found += _legal(list(_games_of(path, rules, refuse, tell)), rules, refuse)
        refuse.end()
    if not found:
        raise ConfigError(f"{', '.join(map(str, paths))}: there is no game to learn from")
    return _together(found)


def _together(games: Sequence[_ParsedGame]) -> LabelledGames:
    masks = np.array([(game.mover, game.opponent) for game in games], dtype=np.uint64)
    squares = np.frombuffer(b"".join(game.squares for game in games), dtype=np.uint8)
    ends = np.cumsum([len(game.squares) for game in games], dtype=np.int64)
    masks = masks.reshape(-1, 2)
    return LabelledGames(masks[:, 0], masks[:, 1], squares, ends)


def _legal(games: list[_ParsedGame], rules: Ruleset, refuse: _Refusals) -> list[_ParsedGame]:
    """Return the games with legal moves alone."""
    together = _together(games)
    turns = b"".join(game.turns or bytes([UNTOLD]) * len(game.squares) for game in games)
    followed = replay(
        together.mover,
        together.opponent,
        together.squares,
        together.ends,
        rules.board,
        turns=np.frombuffer(turns, dtype=np.uint8),
    )
    for number in np.flatnonzero(followed.fault != LEGAL).tolist():
        refuse(f"{games[number].where}: {_what(games[number], int(followed.fault[number]), rules)}")
    return [game for game, fault in zip(games, followed.fault, strict=True) if fault == LEGAL]


def _what(game: _ParsedGame, place: int, rules: Ruleset) -> str:
    """Return the error of the move in this place of a game."""
    position = Position(game.mover, game.opponent, ruleset=rules)
    words = [square_name(square) for square in game.squares[: place + 1]]
    try:
        position.follow(words)
    except ValueError as error:
        return str(error)
    return f"move {place + 1} of the transcript: {words[-1]}: it is the other side's turn"


# ---------------------------------------------------------------------- kinds of files


def _games_of(path: Path, rules: Ruleset, refuse: _Refusals, tell: Tell) -> Iterator[_ParsedGame]:
    if path.is_dir():
        yield from _of_run(path, rules, tell)
        return
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    if path.suffix.lower() == GAMES:
        yield from _of_wthor(content, rules, refuse)
    elif is_ggf(text := content.decode("latin-1")):  # in which a letter is a byte
        yield from _of_ggf(text, rules, refuse)
    else:
        yield from _of_transcripts(content, rules, refuse)


def _of_wthor(content: bytes, rules: Ruleset, refuse: _Refusals) -> Iterator[_ParsedGame]:
    if rules.side != 8 or Position.start(rules) != Position.start():
        refuse(f"byte 0: games of ruleset standard, and these are to be of {rules.name}")
        return
    mover, opponent = rules.start
    try:
        games = numbered_games(content, refuse if refuse.partly else None)
    except NotationError as error:
        refuse(str(error))
        return
    for number, game in games:
        where = f"byte {offset(number)}, game {number + 1}"
        yield _ParsedGame(where, mover, opponent, game.moves)


def _of_ggf(text: str, rules: Ruleset, refuse: _Refusals) -> Iterator[_ParsedGame]:
    for at, game in find_ggf(text):
        where = f"byte {at}"
        try:
            if isinstance(game, NotationError):
                raise game
            yield _in_ggf(game, where, rules)
        except ValueError as error:
            refuse(f"{where}: {error}")


def _in_ggf(game: GgfGame, where: str, rules: Ruleset) -> _ParsedGame:
    if game.side != rules.side:
        raise NotationError(
            f"a game on {game.side}x{game.side}; ruleset {rules.name} is {rules.side}x{rules.side}"
        )
    black, white, black_begins = parse_obf(game.start, rules.squares)
    first = Color.BLACK if black_begins else Color.WHITE
    mover, opponent = (black, white) if black_begins else (white, black)
    squares = bytes(_square(word, rules.side) for word in game.words)
    turns = bytes(color is not first for color in game.colors)
    return _ParsedGame(where, mover, opponent, squares, turns)


_square = cache(parse_square)  # of a few hundred words, 60 a game


def _of_transcripts(content: bytes, rules: Ruleset, refuse: _Refusals) -> Iterator[_ParsedGame]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(
            f"byte {error.start}: text is expected: games in GGF, or a transcript a line (a "
            f"file of WTHOR is called NAME{GAMES})"
        )
        return
    mover, opponent = rules.start
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith(_COMMENTS):
            continue
        try:
            squares = bytes(_square(word, rules.side) for word in split_transcript(line))
        except ValueError as error:
            refuse(f"line {number}: {error}")
        else:
            yield _ParsedGame(f"line {number}", mover, opponent, squares)


def _of_run(folder: Path, rules: Ruleset, tell: Tell) -> Iterator[_ParsedGame]:
    """Yield the games of a run, from their openings on; unfinished games are left out."""
    if not (folder / FILE).is_file():
        raise ConfigError(f"{folder} is no run: there is no {FILE} in it")
    unfinished = 0
    with reading(folder) as record:
        if (played := record.run()["ruleset"]) != rules.name:
            raise ConfigError(
                f"{folder}: its games are of ruleset {played}; ruleset={played} is needed"
            )
        columns = "game, end_reason, opening, transcript"
        for game, end, text, transcript in record.rows(
            f"select {columns} from games order by game"
        ):
            if end != FINISHED:
                unfinished += 1
                continue
            try:
                mover, opponent, before = _reached(text, rules)
                words = split_transcript(transcript)
                squares = bytes(_square(word, rules.side) for word in words)
            except ValueError as error:
                raise ConfigError(f"{folder}: game {game}: {error}") from error
            yield _ParsedGame(f"game {game}", mover, opponent, squares[before:])
    if unfinished:
        tell(f"left out: {folder}, {counted(unfinished, 'unfinished game')}")


@cache
def _reached(text: str, rules: Ruleset) -> tuple[int, int, int]:
    """Return the position after an opening, and the number of its squares in a transcript."""
    opening = Opening.read(text, rules)
    position = opening.reach(rules)
    return position.mover, position.opponent, sum(move != PASS for move in opening.moves)
