"""A run that is part of something larger, in a folder of its own there."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.core.system.files import make_folder
from othello_lab.experiments.config import NO_FIGURES, RunConfig, plan_of
from othello_lab.experiments.jobs import run as runs
from othello_lab.experiments.record.reading import has_begun, reading
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.sweep.folder import put_aside


def play_part(
    settings: RunConfig,
    folder: Path,
    whole: str,
    about: str,
    console: Console,
    options: Mapping[str, Any],
) -> bool:
    """Play a run in this folder, or continue it, or take it as played; return True if it is
    complete.

    whole: the job that it is part of: ``study scaling``. about: its difference from the other
    parts. options: of a run that has begun, see :func:`experiments.jobs.run.resume`. Recorded games
    stay, even if fewer are wanted.
    """
    begun = has_begun(folder)
    if not begun and (folder / FILE).exists():
        put_aside(folder)
    try:
        if begun:
            with reading(folder) as record:
                head = record.head()
            games = max(settings.games, int(head["config"]["games"]))
            if head["complete"] and head["config"]["games"] == games:
                return True
            command = f"othello-lab resume {shlex.quote(str(folder))}"
            going_on = {**options, "games": games, "brief": True}
            return runs.resume(folder, command, console, **going_on).complete
        make_folder(folder)
        name = f"{whole.partition(' ')[2] or whole}: {about}"
        part = plan_of(dataclasses.replace(settings, name=name, figures=NO_FIGURES))
        return runs.run(part, f"part of {whole}", console, folder, brief=True).complete
    except KeyboardInterrupt:
        return False
