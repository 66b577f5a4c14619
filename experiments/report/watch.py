"""The standings of a run in progress, from another terminal."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live

from agents.config import ConfigError, one_line
from experiments.config import from_record, scheduled_of
from experiments.record.folder import is_locked
from experiments.record.store import FORMAT, Record
from experiments.report.standings import standings
from experiments.report.tables import standings_tables


def watch(folder: Path, console: Console, every: float = 2.0, once: bool = False) -> None:
    """Print the standings of a run, again and again until nobody plays any more (or ``once``).

    every: seconds between two looks. Raises ConfigError where there is no record of a run.
    """
    screen, ended = look(folder, console)
    if once or ended or not console.is_terminal:
        console.print(screen)
        return
    with Live(screen, console=console, auto_refresh=False) as live:
        while not ended:
            time.sleep(every)
            screen, ended = look(folder, console)
            live.update(screen, refresh=True)


def look(folder: Path, console: Console) -> tuple[RenderableType, bool]:
    """The standings as they are now, and whether nobody is playing any more."""
    try:
        with Record.open(folder) as record:
            ended = not is_locked(record.path.parent)
            written = record.format()
            if written is None:
                return f"{folder}: not begun yet", ended
            if written != FORMAT:
                raise ConfigError(
                    f"{folder} was written by another version of the lab (record format "
                    f"{written}; this one reads {FORMAT})"
                )
            head = record.run()
            played = record.count_games()
            settings = from_record(head["config"])
            schedule, pairs = scheduled_of(settings)
            total, most = 2 * pairs, "at most " if schedule.may_end_early else ""
            line = f"{head['name']}: {played:,} of {most}{total:,} games"
            if ended:
                line += ", complete" if head["complete"] else ", stopped (resume goes on with it)"
            if not played:
                return line, ended
            table = standings(record, settings.seed)
            return Group(line, *standings_tables(table, console)), ended
    except FileNotFoundError:
        raise ConfigError(f"{folder} is no run: there is no games.sqlite in it") from None
    except sqlite3.Error as error:
        raise ConfigError(f"{folder}: {one_line(error)}") from error
