"""The line that says how far a run is."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from core.shown import plain


class _GamesPerSecond(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed and task.elapsed:  # rich needs two updates apart; a short run has one
            speed = (task.completed - task.fields["before"]) / task.elapsed
        if not speed:
            return Text("")
        return Text(f"{speed:,.0f} games/s" if speed >= 10 else f"{speed:.2f} games/s")


class _Description(ProgressColumn):
    def render(self, task: Task) -> Text:
        return plain(task.description)


class _Note(ProgressColumn):
    def render(self, task: Task) -> Text:
        note, warnings = task.fields["note"], task.fields["warnings"]
        shown = [plain(note)] if note else []
        return Text(", ").join([*shown, *(plain(warning, "red") for warning in warnings)])


def progress_bar(console: Console) -> Progress:
    """The line; a task has the fields ``note``, ``warnings`` (texts) and ``before``, games of an
    earlier session."""
    return Progress(
        _Description(),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        _GamesPerSecond(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        _Note(),
        console=console,
        disable=console.quiet,
    )
