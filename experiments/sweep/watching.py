"""The progress of a sweep, seen from another terminal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.console import Console, Group, RenderableType

from othello_lab.core.system.escaping import plain
from othello_lab.experiments.config import typed
from othello_lab.experiments.record.folder import is_locked
from othello_lab.experiments.record.reading import damage_told
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.report import watch
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.experiments.sweep.composing import in_a_line
from othello_lab.experiments.sweep.folder import Combination, Sweep

_PLAYING = "playing"
_MOST = 40  # combinations that are shown


def look_at_sweep(folder: Path, console: Console) -> tuple[RenderableType, bool]:
    """Return the state of each combination of a sweep with the standings of the one that is being
    played, and True if nobody is playing any more."""
    asked = Sweep.read(folder)
    with damage_told(folder):
        known = asked.combinations()
    values = asked.varied(known)
    playing = [each for each in known if each.folder.is_dir() and is_locked(each.folder)]
    states = {each.number: str(each.state) for each in known}
    states |= {each.number: _PLAYING for each in playing}
    ended = not playing and not is_locked(asked.folder)
    counts = ", ".join(f"{count} {state}" for state, count in Counter(states.values()).items())
    table = terminal_table(["run", "settings", "state", "games"])
    table.columns[1].justify = table.columns[2].justify = "left"
    shown = [each for each in known if each.has_games or each in playing][-_MOST:]
    for each in shown:
        games = _games(each) if each.has_games else ""
        table.add_row(
            str(each.number), plain(in_a_line(values, each.number)), states[each.number], games
        )
    parts: list[RenderableType] = [plain(f"{folder}: {counts or 'not begun yet'}")]
    parts += [table] if shown else []
    parts += [watch.look(each.folder, console)[0] for each in playing[:1]]
    return Group(*parts), ended


def _games(each: Combination) -> str:
    with damage_told(each.folder), Record.open(each.folder) as record:
        settings = typed(record.run()["config"])
        return f"{record.count_games():,} of {watch.total_games(settings)}"
