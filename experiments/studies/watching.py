"""The progress of a study, seen from another terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console, Group, RenderableType

from othello_lab.core.system.escaping import counted, plain
from othello_lab.experiments.record.folder import is_locked
from othello_lab.experiments.report import watch
from othello_lab.experiments.studies.record import StudyRecord
from othello_lab.experiments.sweep.folder import has_begun


def look_at_study(folder: Path, console: Console) -> tuple[RenderableType, bool]:
    """Return the finished part of a study with the standings of the run that is being played, and
    True if nobody is working on it any more."""
    with StudyRecord.open(folder) as record:
        about, done = record.study(), record.done()
    ended = not is_locked(folder)
    runs = [each for each in folder.iterdir() if each.is_dir() and has_begun(each)]
    line = f"{record.kind.word} {about['name']}: "
    if about["pieces"]:
        line += f"{len(done):,} of {counted(about['pieces'], record.kind.piece)}"
    else:
        line += f"{counted(len(runs), 'run')} so far"
    if failed := sum(map(bool, done.values())):
        line += f", {failed:,} failed"
    if ended:
        line += ", complete" if about["complete"] else ", stopped (resume goes on with it)"
    played = [watch.look(each, console)[0] for each in runs if is_locked(each)]
    return Group(plain(line), *played[:1]), ended
