"""Games to learn from: of files, and of records of the lab's own runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from othello_lab.core.game import FINISHED
from othello_lab.core.notation import PASS, parse_square, split_transcript
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.pairing.game_archives import ArchivedGame, Refusals, Tell, games_in
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import FILE
from othello_lab.training.labels import LabelledGames
from othello_lab.training.replay import LEGAL, UNTOLD, replay


def read_games(
    paths: Sequence[str | Path], rules: Ruleset, partly: bool, tell: Tell
) -> LabelledGames:
    """Return the games of files, in their order (see :func:`games_in`), and of folders of runs.

    partly: leave out unreadable games, with a message, instead of raising ConfigError. That is
    raised in any case if there is no game.
    """
    read: list[ArchivedGame] = []
    for path in map(Path, paths):
        refuse = Refusals(path, partly, tell, "data.partly=true")
        try:
            games = _of_run(path, rules, tell) if path.is_dir() else games_in(path, rules, refuse)
            read += _legal(list(games), rules, refuse)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
        refuse.end()
    if not read:
        raise ConfigError(f"{', '.join(map(str, paths))}: there is no game to learn from")
    return _together(read)


def _together(games: Sequence[ArchivedGame]) -> LabelledGames:
    masks = np.array([game.start.masks for game in games], dtype=np.uint64)
    squares = np.frombuffer(b"".join(game.squares for game in games), dtype=np.uint8)
    ends = np.cumsum([len(game.squares) for game in games], dtype=np.int64)
    masks = masks.reshape(-1, 2)
    return LabelledGames(masks[:, 0], masks[:, 1], squares, ends)


def _legal(games: list[ArchivedGame], rules: Ruleset, refuse: Refusals) -> list[ArchivedGame]:
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
        refuse(f"{games[number].where}: {_error_of(games[number], int(followed.fault[number]))}")
    return [game for game, fault in zip(games, followed.fault, strict=True) if fault == LEGAL]


def _error_of(game: ArchivedGame, move: int) -> str:
    """Return the error of a game's move of this number, from 0."""
    try:
        game.plies()
    except ValueError as error:
        return str(error)
    return f"move {move + 1} of the transcript: it is the other side's turn"


def _of_run(folder: Path, rules: Ruleset, tell: Tell) -> Iterator[ArchivedGame]:
    """Yield the games of a run, from their openings on; unfinished games are left out."""
    if not (folder / FILE).is_file():
        raise ConfigError(f"{folder} is no run: there is no {FILE} in it")
    unfinished = 0
    with reading(folder) as record:
        if (played := record.head()["ruleset"]) != rules.name:
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
                start, before = _reached(text, rules)
                words = split_transcript(transcript)
                squares = bytes(parse_square(word, rules.side) for word in words)
            except ValueError as error:
                raise ConfigError(f"{folder}: game {game}: {error}") from error
            yield ArchivedGame(f"game {game}", game, start, squares[before:])
    if unfinished:
        tell(f"left out: {folder}, {counted(unfinished, 'unfinished game')}")


@cache
def _reached(text: str, rules: Ruleset) -> tuple[Position, int]:
    """Return the position after an opening, and the number of its squares in a transcript."""
    opening = Opening.read(text, rules)
    return opening.reach(rules), sum(move != PASS for move in opening.moves)
