"""A study as a kind of job; trainings are resumed and shown alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from othello_lab.core.system.console import as_typed
from othello_lab.core.system.json_output import print_json, rows_of
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.kinds import JobKind, JobSummary, labels, state_of
from othello_lab.experiments.studies.record import StudyRecord


class StudyKind(JobKind):
    """A study."""

    word = "study"
    hint = "its findings are in report.md, its matches in folders of their own"

    def summary(self, folder: Path) -> JobSummary:
        with StudyRecord.open(folder) as record:
            about = record.study()
        state = state_of(folder, bool(about["complete"]))
        return JobSummary(
            folder=str(folder),
            kind=record.kind.word,
            name=str(about["name"]),
            started=str(about["started"]),
            agents=len(about["config"].get("agents") or ()) or None,
            state=f"{record.kind.word} {about['name']}, {state}",
            **labels(about["config"]),
        )

    def show(self, folder: Path, console: Console, as_json: bool) -> None:
        if not as_json:
            raise ConfigError(
                f"{folder} is a {self.word}: its findings are in {folder / 'report.md'}"
            )
        print_json(_study_data(folder))

    def resume(self, folder: Path, command: str, console: Console, **options: Any) -> int:
        retry = options.pop("retry_skipped", False)
        options.pop("retry_starved", None)
        resume = self._sessions().resume
        code: int = resume(folder, command, console, retry_failed=retry, **options).exit_code
        return code

    def write_report(self, folder: Path, console: Console, figures: str | None) -> None:
        command = as_typed(["report", str(folder)])
        self._sessions().resume(folder, command, console, report=True)

    def look(self, folder: Path, console: Console) -> tuple[RenderableType, bool]:
        from othello_lab.experiments.studies.watching import look_at_study

        return look_at_study(folder, console)

    def _sessions(self) -> Any:
        """Return the module with the function that resumes it."""
        from othello_lab.experiments.studies import study_session

        return study_session


def _study_data(folder: Path) -> dict[str, Any]:
    """Return a study's record: its head, and all rows of its tables."""
    with StudyRecord.open(folder) as record:
        head, tables = record.study(), record.tables()
    return {
        "folder": str(folder),
        "kind": record.kind.word,
        "state": state_of(folder, bool(head["complete"])),
        **{key: head[key] for key in ("name", "command", "started")},
        "tables": {name: rows_of(table) for name, table in tables.items()},
        "settings": head["config"],
        "versions": head["versions"],
        "machine": head["machine"],
    }
