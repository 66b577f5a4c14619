"""Jobs of a few long steps: each step that is done stays done, and its time is kept."""

from __future__ import annotations

import json
import signal
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, ClassVar

from othello_lab.core.system.escaping import plain
from othello_lab.core.system.files import read_text, write_file
from othello_lab.experiments.jobs.job import LOG
from othello_lab.experiments.jobs.stopping import signals_handled
from othello_lab.experiments.playing.tasks import Tables, TaskResult
from othello_lab.experiments.record.log import logging_to
from othello_lab.experiments.studies.study_session import StudySession
from othello_lab.training.training import minutes_since, processor_seconds

TIMES = "minutes.json"
"""The file with the minutes of each step, on two cores; also of one that is not done."""
STEPS = "steps"
"""The table of the record with a row for each step."""


@dataclass(frozen=True)
class TrainingStep:
    """A part of a job that is done, or not.

    key: its name, unique in the job. about: its work, in words.
    """

    key: str
    about: str


class StepSession(StudySession):
    """One go at a job of steps. word, line: of the heading of each step."""

    word: ClassVar[str] = "step"
    line: ClassVar[str] = "─"

    @abstractmethod
    def steps(self) -> Sequence[TrainingStep]:
        """Return all steps, in order."""

    @abstractmethod
    def do(self, step: TrainingStep) -> Tables:
        """Do a step, from its start or from where it was interrupted.

        Return rows for the record, by table; a row of :data:`STEPS` adds to the step's own.
        """

    def remark(self, number: int) -> str:
        """Return the end of the heading of the step of this number."""
        return ""

    def make(self) -> tuple[Mapping[str, Any], bool]:
        steps = self.steps()
        log = logging_to(self.folder / LOG, self.settings.log_level)
        # A closed terminal and SIGTERM end the work as Ctrl-C does.
        signals = signals_handled(_interrupt, signal.SIGTERM, signal.SIGHUP)
        with self.hint_after_interrupt(), signals, log:
            for number, step in self.missing(steps):
                heading = f"{self.plan.name}: {self.word} {number + 1} of {len(steps)}: "
                heading += f"{step.about}{self.remark(number)}"
                self.console.rule(plain(heading), characters=self.line)
                began, before = processor_seconds(), self.minutes(step)
                try:
                    tables = dict(self.do(step))
                finally:
                    times = self._times() | {step.key: before + minutes_since(began)}
                    write_file(self.folder / TIMES, json.dumps(times), durable=True)
                row = {"step": step.about, "key": step.key, "minutes": self.minutes(step)}
                (more,) = tables.pop(STEPS, [{}])
                self.record.add_pieces([TaskResult(number, {STEPS: [{**row, **more}], **tables})])
        return self.tables(), True

    def minutes(self, step: TrainingStep) -> float:
        """Return the minutes of a step so far, on two cores (processor time)."""
        return self._times().get(step.key, 0.0)

    def _times(self) -> dict[str, float]:
        try:
            times: dict[str, float] = json.loads(read_text(self.folder / TIMES))
        except FileNotFoundError:
            return {}
        return times


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
