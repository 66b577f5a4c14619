"""``othello-lab recover``: save the readable part of a damaged record in a new folder.

A damaged page takes only its own content with it. So games are read one by one, each with its
moves. A game is kept if it agrees with the rules and with its moves. The damaged folder stays as it
is.
"""

from __future__ import annotations

import itertools
import json
import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.rules import ruleset
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.escaping import plain
from othello_lab.experiments.config import ALL, scheduled_of, typed
from othello_lab.experiments.jobs.job import CONFIG, write_yaml
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.flaws import flaws
from othello_lab.experiments.record.folder import locked, new_folder
from othello_lab.experiments.record.reading import DAMAGES
from othello_lab.experiments.record.store import (
    FILE,
    FORMAT,
    AgentRow,
    GameRow,
    OpeningRow,
    PlayedGame,
    Record,
    SessionRow,
    SkippedRow,
    fits,
)
from othello_lab.experiments.record.turns import written

_BATCH = 500  # pairs written at a time


@dataclass(frozen=True)
class RecoveredRun:
    """A run that was saved. folder: the new one. games: the number saved. asked: the number that
    the run has in all."""

    folder: Path
    games: int
    asked: int


def recover_command(arguments: Sequence[str], console: Console) -> int:
    """Save the readable part of a damaged run; ConfigError if there is none."""
    parser = Parser(
        prog="othello-lab recover",
        description="Copy what can still be read of a run whose record is damaged into a new "
        "folder beside it, FOLDER-recovered: every game that can be read with all its moves and "
        "agrees with the rules. The damaged folder stays as it is. resume then plays what is "
        "missing.",
    )
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
    folder = parser.parse_args(arguments).folder
    found = recover(folder, console)
    console.print(
        plain(f"{found.games:,} of {found.asked:,} games are in {found.folder}"), soft_wrap=True
    )
    way_on = f"othello-lab resume {shlex.quote(str(found.folder))}"
    console.print(plain(f"go on with  {way_on}"), soft_wrap=True)
    return 0


def recover(folder: Path, console: Console | None = None) -> RecoveredRun:
    """Save the readable part of the run in a folder; ConfigError if there is none."""
    if not (folder / FILE).is_file():
        raise ConfigError(f"{folder} is no run: there is no {FILE} in it")
    try:
        with locked(folder), Record.open(folder) as record:
            return _DamagedRecord(record, folder, console or Console(quiet=True)).save()
    except ConfigError:
        raise
    except DAMAGES as error:
        raise ConfigError(
            f"{folder / FILE}: nothing can be read of it ({one_line(error)})"
        ) from error


class _DamagedRecord:
    """A record with parts that may be unreadable."""

    def __init__(self, record: Record, folder: Path, console: Console) -> None:
        self._record, self._folder, self._console = record, folder, console
        self._head = self._read_head()
        self._settings = typed(json.loads(self._head["config"]))
        self._rules = ruleset(self._settings.ruleset.name)
        if foreign_code({"schedule": self._settings.schedule}, {}):  # which is not to be run
            self._pairs = 1 + max(pair for (pair,) in record.rows("select max(pair) from games"))
            self._in_order = True
        else:
            schedule, self._pairs = scheduled_of(self._settings)
            self._in_order = schedule.listens

    def save(self) -> RecoveredRun:
        agents = list(self._table("agents", AgentRow))
        if len(agents) != len(self._settings.agents):
            raise ConfigError(f"{self._folder}: its agents cannot be read")
        openings = list(self._table("openings", OpeningRow))
        made = new_folder(self._folder.with_name(f"{self._folder.name}-recovered"))
        saved = 0
        with Record.create(made / FILE) as record:
            with record.transaction():
                record.write_row("run", self._head)
                for row in self._rows(f"select {', '.join(SessionRow._fields)} from sessions"):
                    record.write_row("sessions", SessionRow(*row)._asdict())
                record.write_agents(agents)
                # Those behind a gap would get other numbers; resuming draws them again.
                record.write_openings(row.text for n, row in enumerate(openings) if row.number == n)
                for skipped in self._table("skipped", SkippedRow):
                    record.write_skipped(*skipped)
            pairs = self._whole_pairs()
            while batch := list(itertools.islice(pairs, _BATCH)):
                games = [game for pair in batch for game in pair]
                with record.transaction():
                    record.write_games(games)
                saved += len(games)
        write_yaml(made / CONFIG, asdict(self._settings))
        return RecoveredRun(made, saved, 2 * self._pairs)

    # ------------------------------------------------------------------ reading

    def _read_head(self) -> dict[str, Any]:
        """Return the row of ``run``, marked as not complete."""
        names = [row[1] for row in self._record.rows("pragma table_info(run)")]
        (row,) = self._record.rows("select * from run")
        head = dict(zip(names, row, strict=True))
        if head["format"] != FORMAT:
            raise ConfigError(
                f"{self._folder}: its record has format {head['format']}; this version of the lab "
                f"reads format {FORMAT}"
            )
        return head | {"complete": 0}

    def _rows(self, sql: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, up to where it cannot be read."""
        with suppress(sqlite3.Error):
            yield from self._record.each(sql, parameters)

    def _table(self, name: str, kind: Any) -> Iterator[Any]:
        """The rows of a small table that can be read, by its first column: in one go, and from a
        damaged page on one by one."""
        key, begin = kind._fields[0], 0
        for found in self._rows(f"select * from {name} order by {key}"):
            if fits(row := kind._make(found)):
                begin = row[0] + 1
                yield row
        for number in range(begin, self._pairs + len(self._settings.agents)):
            for found in self._rows(f"select * from {name} where {key} = ?", number):
                if fits(row := kind._make(found)):
                    yield row

    def _whole_pairs(self) -> Iterator[list[PlayedGame]]:
        """The pairs that can be read; where the schedule goes by results those before a gap."""
        quiet, numbers = self._console.quiet, range(self._pairs)
        for pair in track(numbers, "reading pairs", console=self._console, disable=quiet):
            games = [self._game(number) for number in (2 * pair, 2 * pair + 1)]
            whole = [game for game in games if game is not None and game.game.pair == pair]
            if len(whole) == 2:
                yield whole
            elif self._in_order:
                return

    def _game(self, number: int) -> PlayedGame | None:
        """A game with its moves; None if any of it cannot be read, or has a flaw."""
        try:
            (found,) = self._record.rows("select * from games where game = ?", [number])
            game, rows = GameRow._make(found), self._record.moves_of(number)
            if not fits(game):
                return None
            with_moves = self._settings.record == ALL
            if any(flaws(game, rows if with_moves else None, self._rules)):
                return None
        except DAMAGES:
            return None
        return PlayedGame(game, written(number, game.black, rows) if with_moves else None)
