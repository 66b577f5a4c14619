"""Games of runs: a list of them, and each as a game to look at and continue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from othello_lab.agents.agent import Decision, SearchStats
from othello_lab.core.game import FINISHED, RESIGNED
from othello_lab.core.notation import PASS, split_transcript
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.files import read_bytes
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.pairing.game_archives import Tell
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.reading import DAMAGES, RUN, kind_in
from othello_lab.experiments.record.store import FILE, FORMAT, Record
from othello_lab.experiments.record.turns import COUNTS
from othello_lab.play.game import GameState, decision_lines
from othello_lab.play.game_files import ReadGame, read_game

_MOST_RUNS = 500


def runs_below(folder: Path) -> list[str]:
    """Return the runs with records in a folder, as paths below it, the latest first."""
    runs = []
    for path in folder.glob(f"*/*/{FILE}"):
        if kind_in(path.parent) != RUN:
            continue
        try:
            runs.append((path.stat().st_mtime, str(path.parent.relative_to(folder))))
        except OSError:
            continue
    return [name for _, name in sorted(runs, reverse=True)[:_MOST_RUNS]]


def games_of_run(folder: Path, first: int, most: int) -> tuple[list[dict[str, Any]], int]:
    """Some games of a run: number, players and result of each; and how many there are in all.
    Raises ConfigError."""
    with _record(folder) as record:
        games = record.games()
        rows = games.iloc[first : first + most]
        columns = ["game", "black", "white", "result", "end_reason"]
        return [
            {key: int(row[key]) if key == "game" else str(row[key]) for key in columns}
            for row in rows[columns].to_dict("records")
        ], len(games)


def game_of_run(folder: Path, number: int) -> ReadGame:
    """A game of a run's record, by its number from 0; raises ConfigError."""
    with _record(folder) as record:
        games = record.games()
        chosen = games[games["game"] == number]
        if chosen.empty:
            last = f"0 to {games['game'].max()}" if len(games) else "none"
            raise ConfigError(f"game={number}: the record's games are {last}")
        row: dict[str, Any] = chosen.iloc[0].to_dict()
        rules = record.head()["config"]["ruleset"]["name"]
        stated = {turn.ply: turn for turn in record.turns([int(row["game"])]).rows()}
        players = {color: str(row[color.value]) for color in Color}
        opening = Opening.read(row["opening"], rules)
        shown = ReadGame(GameState(opening.begin(rules)), players)
        for ply, move in enumerate(_plies(shown.game.start, row["transcript"]), start=1):
            name = players[shown.game.position.to_move]
            turn = shown.game.play(move, name, *_stated(move, stated.get(ply)))
            shown.notes.append(decision_lines(turn) or ["(opening)"] * (ply not in stated))
    if row["end_reason"] != FINISHED and shown.notes:
        shown.notes[-1].append(_ending(row, players))
    return shown


def open_game(path: Path, number: int | None, rules: Ruleset, tell: Tell) -> ReadGame:
    """Return a game of a run, from 0, or of a file, see :func:`play.game_files.read_game`. Raises
    ConfigError."""
    if path.is_dir() or path.suffix == ".sqlite":
        return game_of_run(path, number or 0)
    try:
        content = read_bytes(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    return read_game(content, str(path), rules, number, tell, path.suffix.lower())


def _ending(row: Mapping[str, Any], players: Mapping[Color, str]) -> str:
    """Return the loser of an unfinished game and the reason, in a line."""
    loser = Color.WHITE if row["black_points"] == 1 else Color.BLACK
    why = f": {row['detail']}" if row["detail"] else ""
    name = f"{loser.value.capitalize()} ({players[loser]})"
    said = "resigns" if row["end_reason"] == RESIGNED else f"loses: {row['end_reason']}{why}"
    return f"Here the game ended: {name} {said}."


@contextmanager
def _record(folder: Path) -> Iterator[Record]:
    """Open the record of a run for reading; any error is a ConfigError."""
    try:
        with Record.open(folder) as record:
            if record.format() != FORMAT:
                raise ConfigError(f"{folder}: no record that this version of the lab can read")
            yield record
    except FileNotFoundError as error:
        raise ConfigError(str(error)) from error
    except DAMAGES as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{folder}: {one_line(error)}") from error


def _plies(start: Position, transcript: str) -> Iterator[int]:
    """The moves of a transcript, with the passes that it leaves out."""
    position, plies = start.follow(split_transcript(transcript))
    yield from plies
    if position.must_pass:
        yield PASS


def _stated(move: int, row: Any) -> tuple[Decision | None, float]:
    """Return the player's statements on a move, a MoveRow, and the seconds it took."""
    if row is None or row.nodes is None:
        return None, 0.0
    stats = SearchStats(*(getattr(row, name) for name in COUNTS))
    return Decision(move, row.value, (), row.depth, stats), row.nanoseconds / 1e9
