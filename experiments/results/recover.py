"""``othello-lab recover``: save the readable part of a damaged record in a new folder.

A damaged page takes only its own content with it, so behind one rows are read one by one. The
damaged folder stays as it is.
"""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from othello_lab.core.rules import ruleset
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.config import ALL, RunConfig, scheduled_of, typed
from othello_lab.experiments.jobs.job import CONFIG, write_yaml
from othello_lab.experiments.jobs.kinds import check_single
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.flaws import flaws
from othello_lab.experiments.record.folder import locked, new_folder
from othello_lab.experiments.record.reading import DAMAGES
from othello_lab.experiments.record.store import FILE, FORMAT, TABLES, GameRow, Record, misfit


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
    if not (folder / FILE).is_file():
        raise ConfigError(f"{folder} is no run: there is no {FILE} in it")
    check_single(folder)
    try:
        with locked(folder), Record.open(folder, cut_short=True) as record:
            made, games, total = _saved(record, folder, console)
    except ConfigError:
        raise
    except DAMAGES as error:
        why = f"nothing can be read of it ({one_line(error)})"
        raise ConfigError(f"{folder / FILE}: {why}") from error
    console.print(plain(f"{games:,} of {total:,} games are in {made}"), soft_wrap=True)
    way_on = f"othello-lab resume {shlex.quote(str(made))}"
    console.print(plain(f"go on with  {way_on}"), soft_wrap=True)
    return 0


def _saved(damaged: Record, folder: Path, console: Console) -> tuple[Path, int, int]:
    """Save what can be read of a run; return the new folder, the games in it, and those in all."""
    head = _head(damaged, folder)
    settings = typed(json.loads(head["config"]))
    pairs, games_each, in_order = _schedule(damaged, settings)
    rows = {name: list(_rows(damaged, name, pairs)) for name in ("agents", "openings", "pieces")}
    if len(rows["agents"]) != len(settings.agents):
        raise ConfigError(f"{folder}: its agents cannot be read")
    made = new_folder(folder.with_name(f"{folder.name}-recovered"))
    with Record.create(made / FILE) as record, record.transaction():
        record.write_row("job", head)
        for session in _rows(damaged, "sessions", pairs):
            record.write_row("sessions", session._asdict())
        record.write_agents(rows["agents"])
        # Those behind a gap would get other numbers; resuming draws them again.
        record.write_openings(row.text for n, row in enumerate(rows["openings"]) if row.number == n)
        record.write_pieces((row.piece, {}, row.failure) for row in rows["pieces"])
        for game in _games(damaged, settings, games_each * pairs, console):
            record.copy_game(damaged, game)
        record.continue_with(json.loads(head["config"]), games_each)
        if in_order:
            settled = record.settled(games_each)
            record.drop_pairs(next(pair for pair in range(pairs + 1) if pair not in settled))
        games = record.count_games()
    write_yaml(made / CONFIG, json.loads(head["config"]))
    return made, games, games_each * pairs


def _head(record: Record, folder: Path) -> dict[str, Any]:
    names = TABLES["job"]._fields
    (row,) = record.rows(f"select {', '.join(names)} from job")
    head = dict(zip(names, row, strict=True))
    if head["format"] != FORMAT:
        raise ConfigError(
            f"{folder}: its record has format {head['format']}; this version of the lab reads "
            f"format {FORMAT}"
        )
    return head


def _schedule(record: Record, settings: RunConfig) -> tuple[int, int, bool]:
    """Return the number of pairs, the games of each, and True if they go by earlier results."""
    if foreign_code({"schedule": settings.schedule}, {}):  # which is not to be run
        ((last,),) = record.rows("select max(pair) from games")
        return 1 + last, 2, True
    schedule, pairs = scheduled_of(settings)
    return pairs, schedule.games_each, schedule.listens


def _rows(record: Record, table: str, most: int) -> Iterator[Any]:
    """Yield readable rows of a table; behind a damaged page one by one, up to number ``most``."""
    kind = TABLES[table]
    key, last = kind._fields[0], -1
    with suppress(sqlite3.Error):
        for row in map(kind._make, record.select(f"select * from {table} order by {key}")):
            if misfit(row) is None:
                last = row[0]
                yield row
        return
    for number in range(last + 1, most + 1):
        with suppress(sqlite3.Error):
            one = record.rows(f"select * from {table} where {key} = ?", [number])
            yield from (row for row in map(kind._make, one) if misfit(row) is None)


def _games(record: Record, settings: RunConfig, most: int, console: Console) -> Iterator[GameRow]:
    """Yield the games that can be read with their moves, and have no flaw."""
    rules, moves = ruleset(settings.ruleset.name), settings.record == ALL
    rows = _rows(record, "games", most)
    for game in track(rows, "reading games", most, console=console, disable=console.quiet):
        with suppress(*DAMAGES):
            if not any(flaws(game, record.turns([game.game]).rows() if moves else None, rules)):
                yield game
