"""The standings of a run in progress, from another terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live

from othello_lab.core.system.escaping import plain
from othello_lab.experiments.config import RunConfig, scheduled_of, typed
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.folder import is_locked
from othello_lab.experiments.record.reading import not_begun, reading
from othello_lab.experiments.report.standings import (
    ranked,
    rated_by_settings,
    standings,
    tournament_results,
)
from othello_lab.experiments.report.tables import standings_tables

Look = Callable[[Path, Console], tuple[RenderableType, bool]]
"""Says how far what is in a folder is, and whether nobody is playing any more."""
_EVERY = 2.0  # seconds from look to look


def watch(folder: Path, console: Console, look_at: Look, once: bool = False) -> None:
    """Print the progress of the job in a folder, again and again until nobody works on it any more
    (or ``once``). Raises ConfigError if there is no such job.
    """
    screen, ended = look_at(folder, console)
    if once or ended or not console.is_terminal:
        console.print(screen)
        return
    with Live(screen, console=console, auto_refresh=False) as live:
        while not ended:
            time.sleep(_EVERY)
            screen, ended = look_at(folder, console)
            live.update(screen, refresh=True)


def total_games(settings: RunConfig) -> str:
    """Return the number of games to be played. A schedule from outside the lab is not called: the
    record may be somebody else's, and looking at it must not run anything."""
    if foreign_code({"schedule": settings.schedule}, {}):
        return f"? (not known without {settings.schedule.get('_target_')})"
    schedule, pairs = scheduled_of(settings)
    return f"{'at most ' if schedule.may_end_early else ''}{schedule.games_each * pairs:,}"


def look(folder: Path, console: Console) -> tuple[RenderableType, bool]:
    """Return the present standings, and True if nobody is playing any more."""
    if not_begun(folder):
        return plain(f"{folder}: not begun yet"), not is_locked(folder)
    with reading(folder) as record:
        ended = not is_locked(record.path.parent)
        head = record.head()
        played = record.count_games()
        settings = typed(head["config"])
        line = f"{head['name']}: {played:,} of {total_games(settings)} games"
        if ended:
            line += ", complete" if head["complete"] else ", stopped (resume goes on with it)"
        if not played:
            return plain(line), ended
        table = standings(record, rated_by_settings(record, settings))
        tournament_columns: Mapping[str, Sequence[Any]] = {}
        if not foreign_code({"schedule": settings.schedule}, {}):
            names, (schedule, _) = list(settings.agents), scheduled_of(settings)
            tournament_columns = schedule.standings(
                names, tournament_results(record, settings, schedule)
            )
            table = ranked(table, names, tournament_columns)
        return Group(plain(line), *standings_tables(table, console, tournament_columns)), ended
