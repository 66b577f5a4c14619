"""Kinds of jobs: runs, sweeps, studies, trainings, self-plays.

Each writes a folder of its own below ``results/``, whose record says its kind. A kind has the
commands on such a folder: list, show, report, watch, resume, extend.
"""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.record.folder import is_locked
from othello_lab.experiments.record.reading import RUN, kind_in

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from othello_lab.experiments.jobs.replan import ResumeOptions


class KindEntry(NamedTuple):
    """One kind of job.

    word: its name, also in records. home: the :class:`JobKind`, as ``module:Class``. It is loaded
    when a folder of this kind is met, since some kinds stand above this room. group: of its YAMLs,
    and the part of a configuration with its own settings; also the command that makes one. piece:
    the name of its parts.
    """

    word: str
    home: str
    group: str = ""
    piece: str = "piece"


STUDY = KindEntry("study", "othello_lab.experiments.studies.kind:StudyKind", "study")
TRAINING = KindEntry("training", "othello_lab.training.kinds:TrainingKind", "train", "step")
SELFPLAY = KindEntry("self-play", "othello_lab.training.kinds:SelfPlayKind", "data")
SWEEP = KindEntry("sweep", "othello_lab.experiments.sweep.kind:SweepKind", "sweep", "run")
KINDS: Mapping[str, KindEntry] = {
    RUN: KindEntry(RUN, "othello_lab.experiments.jobs.run_kind:RunKind"),
    **{kind.word: kind for kind in (STUDY, TRAINING, SELFPLAY, SWEEP)},
}
"""Every kind by its name. A folder without a record counts as a run that has not begun."""


@dataclass(frozen=True)
class JobSummary:
    """A folder of results in one row.

    folder: where it is. kind: a key of :data:`KINDS`. name: of the experiment. started: date and
    time, "" if unknown. agents: how many. games: how many were played. leader: the agent with the
    largest share of points; empty for a sweep. score: that share in percent. state: complete,
    stopped, or the reason why the folder cannot be read. lineup: names of the agents. tags, note:
    as the job was given them.
    """

    folder: str
    kind: str
    name: str
    started: str
    agents: int | None = None
    games: int | None = None
    leader: str = ""
    score: float | None = None
    state: str = ""
    lineup: Sequence[str] = ()
    tags: Sequence[str] = ()
    note: str = ""


def summary_of(folder: Path, head: Mapping[str, Any], before: str = "", **facts: Any) -> JobSummary:
    """Return the row of a job that has begun.

    head: of its record. before: text before its state. facts: further fields.
    """
    config = head["config"]
    return JobSummary(
        folder=str(folder),
        kind=str(head["kind"]),
        name=str(head["name"]),
        started=str(head["started"]),
        state=before + state_of(folder, bool(head["complete"])),
        lineup=list(config.get("agents") or ()),
        tags=list(config.get("tags") or ()),
        note=str(config.get("note") or ""),
        **facts,
    )


def job_data(folder: Path, head: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job as plain data for a program to read. head: of its record."""
    return {
        "folder": str(folder),
        "kind": head["kind"],
        "state": state_of(folder, bool(head["complete"])),
        **{key: head[key] for key in ("name", "command", "started")},
        **results,
        "settings": head["config"],
        "versions": head["versions"],
        "machine": head["machine"],
    }


class JobKind(ABC):
    """The commands on the folder of one kind of job. Every method raises ConfigError."""

    word: ClassVar[str]
    """Its name in messages."""
    hint: ClassVar[str] = ""
    """Where its results are, for a command that needs a single run."""

    @abstractmethod
    def summary(self, folder: Path) -> JobSummary:
        """Return the folder's row in a list."""

    @abstractmethod
    def show(self, folder: Path, console: Console, as_json: bool) -> None:
        """Print its results."""

    @abstractmethod
    def resume(self, folder: Path, command: str, console: Console, options: ResumeOptions) -> int:
        """Continue it; returns the exit code."""

    def extend(self, folder: Path, command: str, console: Console, options: ResumeOptions) -> int:
        """Play more games, as many a pairing as the options say; returns the exit code."""
        raise ConfigError(f"{folder} is a {self.word}, which is not extended; start a larger one")

    def write_report(self, folder: Path, console: Console, figures: str | None) -> None:
        """Write its report anew. figures: as in ``run figures=...``; None as the job was asked."""
        raise ConfigError(f"{folder} is a {self.word}, which has no report; {self.hint}")

    def latex(self, folder: Path, console: Console) -> str:
        """Return its tables for a paper, in LaTeX."""
        raise ConfigError(f"{folder} is a {self.word}, which has no table for LaTeX; {self.hint}")

    def bibtex(self, folder: Path, console: Console) -> str:
        """Return a reference to it, in BibTeX."""
        raise ConfigError(f"{folder} is a {self.word}, which has no reference; {self.hint}")

    def look(self, folder: Path, console: Console) -> tuple[RenderableType, bool]:
        """Return its progress, and True if nobody works on it any more."""
        raise ConfigError(f"{folder} is a {self.word}, which cannot be watched; {self.hint}")


def kind_name(folder: Path | str) -> str:
    """Return the name of a folder's kind."""
    return word if (word := kind_in(folder)) in KINDS else RUN


def kind_of(folder: Path | str) -> JobKind:
    """Return the kind of a folder."""
    kind: JobKind = pkgutil.resolve_name(KINDS[kind_name(folder)].home)()
    return kind


def check_single(folder: Path) -> None:
    """Raise ConfigError if a folder is not that of a single run."""
    if kind_name(folder) != RUN:
        kind = kind_of(folder)
        raise ConfigError(f"{folder} is a {kind.word}, no single run; {kind.hint}")


def state_of(folder: Path, complete: bool) -> str:
    """Return the state of a job that has begun."""
    if is_locked(folder):
        return "being played"
    return "complete" if complete else "stopped"
