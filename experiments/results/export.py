"""``othello-lab export``: the games of a run for other programs."""

from __future__ import annotations

import json
import re
import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import BinaryIO, ClassVar

from rich.console import Console
from rich.progress import track

from othello_lab.core import wthor
from othello_lab.core.game import FINISHED, LATE, RESIGNED
from othello_lab.core.notation import PASS, format_ggf, split_transcript, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color, Ruleset, ruleset
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.files import write_file, writing
from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import GameRow, Record

_SQUARES = 64


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A run and all its games from its record. names: of the agents, by their numbers."""

    name: str
    started: date
    rules: Ruleset
    names: dict[int, str]

    def follow(self, game: GameRow) -> tuple[Position, tuple[int, ...]]:
        """Return the first position of a game, and its plies, passes included; ValueError if it
        cannot be played."""
        start = Opening.read(game.opening, self.rules).begin(self.rules)
        return start, start.follow(split_transcript(game.transcript))[1]


class Format(ABC):
    """Writes the games of a run to files. Raises ConfigError for a run that it cannot hold."""

    meaning: ClassVar[str]
    """What it is, for the help."""
    endings: ClassVar[tuple[str, ...]]
    """Of the names of its files; the games' is the first."""

    def __init__(self, run: ExportedRun, files: Mapping[str, BinaryIO]) -> None:
        self.run, self.files = run, files

    @abstractmethod
    def add(self, game: GameRow) -> str | None:
        """Write a game; or return its kind, if this format has no place for such games. ValueError
        if it cannot be played."""

    def finish(self) -> None:  # noqa: B027
        """There are no more games."""

    def _write(self, text: str) -> None:
        self.files[self.endings[0]].write(text.encode())


class Ggf(Format):
    """One game a line, by any rules, from any position, passes and forfeits included."""

    meaning = "the format of the Generic Game Server"
    endings = (".ggf",)
    _ENDS: ClassVar = {FINISHED: "", LATE: ":t"}
    _RESIGNED = ":r"  # how GGF tells of any other loss that the board does not show

    def add(self, game: GameRow) -> None:
        position, plies = self.run.follow(game)
        start, moves = position, []
        for ply in plies:
            moves.append((position.to_move, ply))
            position = position.play(ply)
        tags = {
            "PC": self.run.name,
            "DT": self.run.started.isoformat(),
            "PB": self.run.names[game.black],
            "PW": self.run.names[game.white],
            "RE": self._result(game),
        }
        self._write(f"{format_ggf(start.to_obf(), moves, **tags)}\n")

    def _result(self, game: GameRow) -> str:
        """As Black sees it: discs, and for a forfeit a whole board and how it was lost."""
        end = self._ENDS.get(game.end_reason, self._RESIGNED)
        whole = _SQUARES if game.result == Color.BLACK.value else -_SQUARES
        return f"{whole if end else game.disc_difference:+.3f}{end}"


class Wthor(Format):
    """A file of games, with one of players and one of tournaments (the run's name) next to it."""

    meaning = "the database of the French federation"
    endings = (wthor.GAMES, wthor.PLAYERS, wthor.TOURNAMENTS)

    def __init__(self, run: ExportedRun, files: Mapping[str, BinaryIO]) -> None:
        if run.rules is not ruleset("standard"):
            raise ConfigError(
                f"wthor is for games from the usual start on 8x8 (ruleset standard), and these are "
                f"of ruleset {run.rules.name}; ggf holds them"
            )
        super().__init__(run, files)
        self._games: list[wthor.WthorGame] = []
        self._numbers = {agent: number for number, agent in enumerate(run.names)}

    def add(self, game: GameRow) -> str | None:
        if game.end_reason != FINISHED or game.disc_difference is None:
            return RESIGNED if game.end_reason == RESIGNED else "forfeited"
        start, plies = self.run.follow(game)
        if start != Position.start(self.run.rules):
            return "from positions of their own"
        self._games.append(
            wthor.WthorGame(
                bytes(ply for ply in plies if ply != PASS),
                (_SQUARES + game.disc_difference) // 2,
                self._numbers[game.black],
                self._numbers[game.white],
            )
        )
        return None

    def finish(self) -> None:
        started = self.run.started
        names = _distinct(self.run.names, lambda name: wthor.fitting(name, wthor.PLAYERS))
        self.files[wthor.GAMES].write(wthor.format_wthor(self._games, started, started.year))
        self.files[wthor.PLAYERS].write(wthor.format_names(names.values(), wthor.PLAYERS, started))
        tournament = wthor.fitting(self.run.name, wthor.TOURNAMENTS)
        self.files[wthor.TOURNAMENTS].write(
            wthor.format_names([tournament], wthor.TOURNAMENTS, started)
        )


class PgnResults(Format):
    """The tags of PGN without moves, for programs that rate players. "White" is the player of
    White, although Black begins."""

    meaning = "results only, as Ordo and BayesElo read them"
    endings = (".pgn",)
    _POINTS: ClassVar = {Color.BLACK.value: "0-1", Color.WHITE.value: "1-0"}
    _TERMINATIONS: ClassVar = {FINISHED: "normal", RESIGNED: "normal", LATE: "time forfeit"}

    def __init__(self, run: ExportedRun, files: Mapping[str, BinaryIO]) -> None:
        super().__init__(run, files)
        self._names = _distinct(run.names, _tag_text)

    def add(self, game: GameRow) -> None:
        result = self._POINTS.get(game.result, "1/2-1/2")
        tags = {
            "Event": _tag_text(self.run.name),
            "Site": "?",
            "Date": self.run.started.strftime("%Y.%m.%d"),
            "Round": str(game.game),
            "White": self._names[game.white],
            "Black": self._names[game.black],
            "Result": result,
            "Variant": "othello",
            "Termination": self._TERMINATIONS.get(game.end_reason, "rules infraction"),
        }
        lines = "".join(f'[{name} "{text}"]\n' for name, text in tags.items())
        self._write(f"{lines}\n{result}\n\n")


class JsonLines(Format):
    """One game a line, as an object with the columns of the record, agents by name."""

    meaning = "a JSON object a line, with the record's columns"
    endings = (".jsonl",)
    _COLUMNS = ("result", "disc_difference", "end_reason", "opening", "transcript")

    def add(self, game: GameRow) -> None:
        _, plies = self.run.follow(game)
        row = {
            "number": game.game,
            "black": self.run.names[game.black],
            "white": self.run.names[game.white],
            **{name: getattr(game, name) for name in self._COLUMNS},
            "moves": [square_name(ply) for ply in plies],
        }
        self._write(f"{json.dumps(row)}\n")


FORMATS: dict[str, type[Format]] = {"ggf": Ggf, "wthor": Wthor, "pgn-results": PgnResults}
FORMATS |= {"jsonl": JsonLines}
TABLES = {"csv": "games.csv", "parquet": "games.parquet", "sqlite": "tables.sqlite"}
"""Formats in which all tables of a record can be written, and a file of each."""


def _tag_text(text: str) -> str:
    """A text in the one line between the quotes of a PGN tag; not all programs know its escapes."""
    return "".join(letter for letter in text if letter.isprintable() and letter not in '"\\')


def _distinct(names: Mapping[int, str], form: Callable[[str], str]) -> dict[int, str]:
    """Return the names as a format has them; where two become one, the second gets a number."""
    formed: dict[int, str] = {}
    for agent, name in names.items():
        text = form(name)
        while text in formed.values():
            text = form(f"{agent}~{text}")
        formed[agent] = text
    return formed


def export_command(arguments: Sequence[str], console: Console) -> int:
    """Write the games of a run to a file; ConfigError."""
    kinds = "; ".join(f"{name}, {kind.meaning}" for name, kind in FORMATS.items())
    parser = Parser(
        prog="othello-lab export",
        description=f"Write the games of a run to a file that other programs read: {kinds}. "
        "openings=file reads the first two. csv, parquet and sqlite: the tables agents, games and "
        "moves, a file each, or one file of SQLite.",
    )
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
    parser.add_argument("format", choices=(*FORMATS, *TABLES))
    parser.add_argument(
        "--output",
        type=Path,
        metavar="PATH",
        help="the file, or the folder for tables (default: in the run's folder)",
    )
    options = parser.parse_args(arguments)
    if options.format in TABLES:
        if options.format == "parquet":
            needs(options.format, "pyarrow", options.format)
        output = options.output or options.folder
        try:
            output.mkdir(parents=True, exist_ok=True)
            with reading(options.folder) as record:
                names = export_tables(record, options.format, output)
        except OSError as error:
            path = error.filename or output
            raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error
        console.print(plain(f"{', '.join(names)} in {output}"), soft_wrap=True)
        return 0
    output = options.output or options.folder / f"games{FORMATS[options.format].endings[0]}"
    count, left_out = export(options.folder, options.format, output, console)
    summary = f"{counted(count, 'game')} in {output}"
    if others := FORMATS[options.format].endings[1:]:
        summary += f", with {' and '.join(others)} beside it"
    if left_out:
        these = ", ".join(f"{number:,} {what}" for what, number in left_out.items())
        summary += f"; left out, as {options.format} cannot tell of them: {these}"
    console.print(plain(summary), soft_wrap=True)
    return 0


def export_tables(record: Record, kind: str, folder: Path) -> list[str]:
    """Write all tables of a record in one of TABLES; return the names of the files."""
    if kind != "sqlite":
        return record.export(folder, [kind])
    with closing(sqlite3.connect(":memory:")) as tables:
        for name in ("agents", "games", "moves"):
            getattr(record, name)().to_sql(name, tables, index=False)
        write_file(folder / TABLES[kind], tables.serialize())
    return [TABLES[kind]]


def export(
    folder: Path, format: str, output: Path, console: Console | None = None
) -> tuple[int, Counter[str]]:
    """Write the games of a run in one of :data:`FORMATS`, whole or not at all. Return their number,
    and the number left out of each kind. ConfigError.

    If a format has more than one file, the others stand beside ``output`` with their own endings.
    console: of a progress bar with the time left; None for no bar.
    """
    first, *others = FORMATS[format].endings
    paths = {first: output} | {ending: output.with_suffix(ending) for ending in others}
    count, left_out = 0, Counter[str]()
    with reading(folder) as record, _whole(paths) as files:
        head = record.head()
        run = ExportedRun(
            str(head["name"]),
            date.fromisoformat(re.sub(r"[T_ ].*", "", str(head["started"]))),
            ruleset(head["config"]["ruleset"]["name"]),
            dict(record.rows("select agent, name from agents order by agent")),
        )
        writer = FORMATS[format](run, files)
        rows = track(
            map(GameRow._make, record.select("select * from games order by game")),
            "exporting games",
            record.count_games(),
            console=console,
            transient=True,
            disable=console is None or not console.is_terminal,
        )
        for game in rows:
            try:
                what = writer.add(game)
            except ValueError as error:
                raise ConfigError(f"{folder}: game {game.game}: {error}") from error
            if what is None:
                count += 1
            else:
                left_out[what] += 1
        writer.finish()
    return count, left_out


@contextmanager
def _whole(paths: Mapping[str, Path]) -> Iterator[dict[str, BinaryIO]]:
    """Files that are there under these names once all has been written; ConfigError."""
    if len(set(paths.values())) < len(paths):
        output, endings = next(iter(paths.values())), " and ".join(list(paths)[1:])
        raise ConfigError(f"{output}: files that end with {endings} are written beside it")
    path = Path()
    try:
        with ExitStack() as stack:
            files: dict[str, BinaryIO] = {}
            for ending, path in paths.items():
                files[ending] = stack.enter_context(writing(path))
            yield files
            for file in files.values():
                file.flush()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error
