"""The time that each step of a job takes, kept in its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from othello_lab.core.system.files import read_text, write_file
from othello_lab.training.training import minutes_since, processor_seconds

TIMES = "minutes.json"
"""The file with the minutes of each step, on two cores; also of one that is not done."""


@dataclass(frozen=True)
class StepTimes:
    """Minutes on two cores (processor time) of steps, over all sessions. folder: of the job."""

    folder: Path

    @contextmanager
    def timed(self, key: str) -> Iterator[None]:
        """Time the step in the block; the time is added to that of earlier sessions."""
        began, before = processor_seconds(), self.minutes(key)
        try:
            yield
        finally:
            times = self._read() | {key: before + minutes_since(began)}
            write_file(self.folder / TIMES, json.dumps(times), durable=True)

    def minutes(self, key: str) -> float:
        """Return the minutes of a step so far."""
        return self._read().get(key, 0.0)

    def _read(self) -> dict[str, float]:
        try:
            times: dict[str, float] = json.loads(read_text(self.folder / TIMES))
        except FileNotFoundError:
            return {}
        return times
