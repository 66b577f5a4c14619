"""A study as a kind of job; sweeps and trainings are resumed, reported and watched alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType

from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.json_output import print_json, rows_of
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.kinds import KINDS, JobKind, JobSummary, job_data, summary_of
from othello_lab.experiments.record.folder import is_locked
from othello_lab.experiments.record.reading import RUN, has_begun, kind_in, reading

if TYPE_CHECKING:
    from othello_lab.experiments.jobs.replan import ResumeOptions
    from othello_lab.experiments.studies.study_session import RecordMaker


class StudyKind(JobKind):
    """A study."""

    word = "study"
    hint = "its findings are in report.md, its matches in folders of their own"

    def summary(self, folder: Path) -> JobSummary:
        with reading(folder, self.word) as record:
            head = record.head()
        agents = len(head["config"].get("agents") or ()) or None
        return summary_of(folder, head, f"{self.word} {head['name']}, ", agents=agents)

    def show(self, folder: Path, console: Console, as_json: bool) -> None:
        if not as_json:
            raise ConfigError(
                f"{folder} is a {self.word}: its findings are in {folder / 'report.md'}"
            )
        with reading(folder, self.word) as record:
            head, tables = record.head(), record.tables()
        rows = {name: rows_of(table) for name, table in tables.items()}
        print_json(job_data(folder, head, {"tables": rows}))

    def resume(self, folder: Path, command: str, console: Console, options: ResumeOptions) -> int:
        from othello_lab.experiments.studies.study_session import resume

        if options.retry_starved:
            raise ConfigError(f"{folder} is a {self.word}; --retry-starved is for single runs")
        return resume(folder, command, console, options, self.maker()).exit_code

    def write_report(self, folder: Path, console: Console, figures: str | None) -> None:
        from othello_lab.experiments.studies.study_session import report

        report(folder, console, figures, self.maker())

    def look(self, folder: Path, console: Console) -> tuple[RenderableType, bool]:
        from rich.console import Group

        from othello_lab.experiments.report import watch

        ended = not is_locked(folder)
        runs = [path for path in folder.iterdir() if kind_in(path) == RUN and has_begun(path)]
        played = [watch.look(path, console)[0] for path in runs if is_locked(path)]
        return Group(*self._progress(folder, len(runs), ended), *played[:1]), ended

    def _progress(self, folder: Path, runs: int, ended: bool) -> list[RenderableType]:
        """Return how far it is. runs: the number of its runs that have begun."""
        with reading(folder, self.word) as record:
            head, done = record.head(), record.pieces()
        line = f"{self.word} {head['name']}: "
        if head["pieces"]:
            line += f"{len(done):,} of {counted(head['pieces'], KINDS[self.word].piece)}"
        else:
            line += f"{counted(runs, 'run')} so far"
        if failed := sum(map(bool, done.values())):
            line += f", {failed:,} failed"
        if ended:
            line += ", complete" if head["complete"] else ", stopped (resume goes on with it)"
        return [plain(line)]

    def maker(self) -> RecordMaker:
        """Return the maker of its records."""
        from othello_lab.experiments.studies.study_session import STUDIES

        return STUDIES
