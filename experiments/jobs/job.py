"""The lifecycle of every job: checks, a folder, its lock, a record, work, a report, and resuming.

:class:`Job` drives runs, studies (sweeps among them), trainings and self-plays. A kind of job is a
subclass. It checks and prepares, begins or continues its record, and does and reports the missing
work.
"""

from __future__ import annotations

import logging
import shlex
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import yaml
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from othello_lab.core.system.escaping import plain
from othello_lab.core.system.files import write_file
from othello_lab.core.system.processes import is_shortage
from othello_lab.core.system.settings import one_line
from othello_lab.experiments.config import RunConfig
from othello_lab.experiments.jobs.stopping import RunStopped, stoppable
from othello_lab.experiments.playing.tasks import TaskFailed
from othello_lab.experiments.record.folder import locked, new_folder
from othello_lab.experiments.record.log import logging_to
from othello_lab.experiments.record.provenance import machine
from othello_lab.experiments.record.reading import damage_told
from othello_lab.experiments.record.store import FORMAT, RUN, Record

if TYPE_CHECKING:
    import pandas as pd

CONFIG = "config.yaml"
"""The file of a folder with all settings of its job."""
LOG = "log.txt"

log = logging.getLogger("lab.record")

Result = TypeVar("Result")


@dataclass(frozen=True)
class JobResult:
    """The result of a job. exit_code: of the command: 0, that of its conclusion, 1 if pieces
    failed, 130 if it was interrupted."""

    folder: Path
    complete: bool
    exit_code: int


class Job(ABC, Generic[Result]):
    """A job at work in its folder.

    settings: of the job; its folder and log level follow from them. config: all settings as plain
    data, for the folder's :data:`CONFIG`. folder: its folder, unset before :meth:`start` has made
    it. resumed: True if its record was begun by an earlier session. begun: True if it has a record
    that says what job it is. kind, name: of the job, in its record. record: unset before
    :meth:`open_record`.
    """

    folder: Path
    record: Record
    kind = RUN

    def __init__(self, settings: RunConfig, config: Mapping[str, Any], console: Console) -> None:
        self.settings, self.config, self.console = settings, config, console
        self.resumed = self.begun = False
        self.name = settings.name

    # ------------------------------------------------------------------ said by each kind

    @abstractmethod
    def prepare(self, stack: ExitStack) -> None:
        """Check, compile and start all that the work needs. Nothing is written before.

        stack: closed when the job ends. Raises ConfigError.
        """

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return the versions of all that the results depend on, by name."""

    @abstractmethod
    def foreign(self) -> list[str]:
        """Return the code from outside the lab that the settings name, a line each."""

    @abstractmethod
    def write_head(self) -> None:
        """Write what a new record says before any piece is done, or, if ``resumed``, what it says
        anew."""

    @abstractmethod
    def work(self, stack: ExitStack) -> Result:
        """Do the missing part of the record, and report. stack: as in :meth:`prepare`.

        Raises RunStopped if nothing can be done, KeyboardInterrupt after Ctrl-C if there is nothing
        to report.
        """

    def resume_advice(self) -> str:
        """Return how to continue after an error, as a sentence."""
        if not self.begun:
            return "Nothing was done; start it again"
        return f"What was done is kept; go on with: {self.resume_hint()}"

    def rescue(self, error: Exception) -> str:
        """Return a way out of a damaged record, empty if there is none."""
        return ""

    # ------------------------------------------------------------------ the same for all kinds

    @contextmanager
    def open_record(self, session: Mapping[str, Any]) -> Iterator[None]:
        """Begin the record, or continue it if ``resumed``.

        session: command, versions, machine and start of this session.
        """
        opened = Record.append if self.resumed else Record.create
        with opened(self.folder, self.tell_waiting) as self.record:
            record, settings = self.record, self.settings
            with record.transaction(), self.reading():
                of_others = record.was_changed(read=True)
                if not self.resumed:
                    head = {"kind": self.kind, "name": self.name, "format": FORMAT}
                    head |= {"ruleset": settings.ruleset.name, "seed": settings.seed}
                    head |= {"config": self.config, **session, "complete": False}
                    record.write_row("job", head)
                self.write_head()
                record.write_row("sessions", session)
                record.keep_sum(of_others)
            yield

    def done(self) -> dict[int, str]:
        """Return the pieces that are done, by number, each with its failure (empty: none)."""
        with self.reading():
            return self.record.pieces()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all rows of the pieces, by table."""
        with self.reading():
            return self.record.tables()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within it something is read that another session may have recorded."""
        with damage_told(self.folder) if self.resumed else nullcontext():
            try:
                yield
            except Exception:
                # Of no warning's level, or it would stand on the terminal before there is a log.
                log.info("what the record says cannot be used", exc_info=True)
                raise

    def start(self, command: str, folder: Path | None = None, wanted: Path | None = None) -> Result:
        """Do the job in a new folder.

        command: the command or call that asked for it. folder: a folder that exists already.
        wanted: the name of the folder to make, by default one named by experiment, date and time.
        Raises ConfigError before anything is written, then as :meth:`work`.
        """
        started = datetime.now()
        with ExitStack() as stack:
            self.prepare(stack)
            session = self._session(command, started)
            experiment = Path(self.settings.results, self.settings.name)
            self.folder = folder or new_folder(
                wanted or experiment / f"{started:%Y-%m-%d_%H-%M-%S}"
            )
            with locked(self.folder), self._errors_explained():
                write_yaml(self.folder / CONFIG, self.config)
                with self.open_record(session):
                    self.begun = True
                    return self.work(stack)

    def go_on(self, folder: Path, command: str) -> Result:
        """Continue the job in its folder. The caller holds the folder's lock."""
        self.folder, self.resumed, self.begun = folder, True, True
        session = self._session(command, datetime.now())
        with ExitStack() as stack, self._errors_explained():
            self.prepare(stack)
            with self.open_record(session):
                write_yaml(self.folder / CONFIG, self.config)
                return self.work(stack)

    def say(self, line: str) -> None:
        """Print a line."""
        self.console.print(plain(line), soft_wrap=True)

    def tell_waiting(self, line: str) -> None:
        """Print and log a line while another program has locked the record."""
        self.say(line)
        log.warning(line)

    def resume_hint(self) -> str:
        """Return the command that continues the job."""
        trust = " --trust" if self.foreign() else ""
        return f"othello-lab resume {shlex.quote(str(self.folder))}{trust}"

    def tell_hint(self) -> None:
        """Print the command that continues the job."""
        self.say(f"go on with  {self.resume_hint()}")

    @contextmanager
    def hint_after_interrupt(self) -> Iterator[None]:
        """Print the hint if Ctrl-C ends the block at once."""
        try:
            yield
        except KeyboardInterrupt:
            self.tell_hint()
            raise

    @contextmanager
    def interruptible(self, stop: Any, message: str) -> Iterator[None]:
        """Log the block to the job's file; Ctrl-C ends it after the pieces under way.

        stop: the number that workers look at. message: printed at the first Ctrl-C.
        """
        log = logging_to(self.folder / LOG, self.settings.log_level)
        with self.hint_after_interrupt(), stoppable(stop, message), log:
            yield

    def _session(self, command: str, started: datetime) -> dict[str, Any]:
        return {
            "command": command,
            "versions": self.versions(),
            "machine": machine(),
            "started": started.isoformat(timespec="seconds"),
        }

    @contextmanager
    def _errors_explained(self) -> Iterator[None]:
        """Turn errors of the system, the disk and of workers into a line with the way on."""
        try:
            yield
        except RunStopped as error:
            if not error.why:
                raise
            why = error.why  # of a part of this job
            raise RunStopped(f"{why}. {self.resume_advice()}", why) from error
        except (sqlite3.Error, OSError, MemoryError, RuntimeError, TaskFailed) as error:
            why, rescue = one_line(error), ""
            if is_shortage(error):
                why = why or "no memory is left"
            elif isinstance(error, sqlite3.Error | OSError):
                why = f"{self.folder} cannot be written: {why}"
                rescue = self.rescue(error)
            elif not isinstance(error, BrokenExecutor | TaskFailed):
                raise
            raise RunStopped(
                f"{why}{rescue or f'. {self.resume_advice()}'}", "" if rescue else why
            ) from error


def write_yaml(path: Path, content: Mapping[str, Any]) -> None:
    """Write settings into a file, so that an interruption leaves the old file or the new one."""
    text = yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True)
    write_file(path, text, durable=True)


def progress_of(console: Console, unit: str) -> Progress:
    """Return a line of progress with the time left. unit: the things counted, in the plural."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit}, left"),
        TimeRemainingColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        console=console,
        disable=console.quiet,
    )
