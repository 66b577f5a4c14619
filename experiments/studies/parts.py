"""A run that is part of something larger, in a folder of its own there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rich.console import Console

from othello_lab.core.system.console import as_typed
from othello_lab.core.system.files import make_folder
from othello_lab.experiments.config import NO_FIGURES, plan_of
from othello_lab.experiments.jobs import run as runs
from othello_lab.experiments.jobs.replan import ResumeOptions
from othello_lab.experiments.playing.trust import names_no_more
from othello_lab.experiments.record.folder import numbered
from othello_lab.experiments.record.reading import has_begun, reading
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.studies.study import RunRequest


def rename_unfinished(folder: Path) -> None:
    """Rename a folder whose record has too little to be resumed."""
    stopped = folder.with_name(f"{folder.name}-stopped")
    folder.rename(next(path for path in numbered(stopped) if not path.exists()))


def play_part(
    request: RunRequest, folder: Path, whole: str, console: Console, options: ResumeOptions
) -> bool:
    """Play a run in this folder, or continue it, or take it as played; return True if it is
    complete, and Ctrl-C did not end it.

    whole: the job that it is part of: ``study scaling``. options: of a run that has begun. Recorded
    games stay, even if fewer are wanted.
    """
    settings, brief = request.settings, not request.command
    begun = has_begun(folder)
    if not begun and (folder / FILE).exists():
        rename_unfinished(folder)
    try:
        if begun:
            with reading(folder) as record:
                head = record.head()
                games = max(settings.games, int(head["config"]["games"]))
            if head["complete"] and head["config"]["games"] == games:
                return True
            trust = options.trust or names_no_more(head["config"], dataclasses.asdict(settings))
            options = dataclasses.replace(options, games=games, trust=trust)
            command = as_typed(["resume", str(folder)])
            result = runs.resume(folder, command, console, brief=brief, **vars(options))
        else:
            make_folder(folder)
            if brief:
                name = f"{whole.partition(' ')[2] or whole}: {request.title}"
                settings = dataclasses.replace(settings, name=name, figures=NO_FIGURES)
            command = request.command or f"part of {whole}"
            result = runs.run(plan_of(settings), command, console, folder, brief=brief)
    except KeyboardInterrupt:
        return False
    return result.complete and not result.interrupted
