"""A sweep as a kind of job."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType

from othello_lab.core.system.escaping import plain
from othello_lab.core.system.json_output import print_json, rows_of
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.kinds import JobSummary
from othello_lab.experiments.record.folder import is_locked
from othello_lab.experiments.studies.kind import StudyKind

if TYPE_CHECKING:
    from othello_lab.experiments.jobs.replan import ResumeOptions
    from othello_lab.experiments.studies.study_session import RecordMaker
    from othello_lab.experiments.sweep.sweep import RecordedSweep

_MOST_SHOWN = 40  # combinations, while they are played


class SweepKind(StudyKind):
    """A sweep: one run for each combination of settings."""

    word = "sweep"
    hint = "its runs are the numbered folders in it"

    def summary(self, folder: Path) -> JobSummary:
        sweep = _read(folder)
        playing = "being played, " if is_locked(folder) else ""
        state = f"sweep, {playing}{_counts(sweep.states)}"
        games = sum(run.games for run in sweep.played)
        return dataclasses.replace(super().summary(folder), games=games, state=state)

    def show(self, folder: Path, console: Console, as_json: bool) -> None:
        from othello_lab.experiments.sweep.sweep import sweep_table

        sweep = _read(folder)
        table = sweep.table()
        if as_json:
            print_json({"folder": str(folder), "kind": "sweep", "runs": rows_of(table)})
        else:
            console.print(sweep_table(table, sweep.study.values))

    def extend(self, folder: Path, command: str, console: Console, options: ResumeOptions) -> int:
        if any("games" in changes for changes in _read(folder).study.changes):
            raise ConfigError(f"{folder}: it varies games; extend one of its numbered folders")
        return self.resume(folder, command, console, options)

    def latex(self, folder: Path, console: Console) -> str:
        from othello_lab.experiments.sweep.sweep import latex_of_sweep

        sweep = _read(folder)
        return latex_of_sweep(sweep.head["name"], sweep.table(), sweep.study.values)

    def bibtex(self, folder: Path, console: Console) -> str:
        from othello_lab.experiments.report.citing import bibtex

        head = _read(folder).head
        return bibtex({**head, "seed": head["config"]["seed"]}, "Sweep")

    def _progress(self, folder: Path, runs: int, ended: bool) -> list[RenderableType]:
        from othello_lab.experiments.report.terminal import terminal_table
        from othello_lab.experiments.report.watch import total_games

        sweep = _read(folder)
        games = {
            run.number: f"{run.games:,} of {total_games(run.request.settings)}"
            for run in sweep.played
        }
        folders = {number: folder / str(number) for number in sweep.states}
        playing = {n: "playing" for n, path in folders.items() if path.is_dir() and is_locked(path)}
        states = sweep.states | playing
        table = terminal_table(["run", "settings", "state", "games"])
        table.columns[1].justify = table.columns[2].justify = "left"
        for number in sorted({*games, *playing})[-_MOST_SHOWN:]:
            settings = plain(sweep.requests[number].title)
            table.add_row(str(number), settings, states[number], games.get(number, ""))
        return [plain(f"{folder}: {_counts(states)}"), *[table] * bool(table.rows)]

    def maker(self) -> RecordMaker:
        from othello_lab.experiments.sweep.sweep import SWEEPS

        return SWEEPS


def _read(folder: Path) -> RecordedSweep:
    from othello_lab.experiments.sweep.sweep import RecordedSweep

    return RecordedSweep.read(folder)


def _counts(states: dict[int, str]) -> str:
    return ", ".join(f"{count} {state}" for state, count in Counter(states.values()).items())
