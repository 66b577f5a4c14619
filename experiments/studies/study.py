"""Studies: questions that need more than one run, or no games at all.

A study is an object named by its ``_target_`` in ``conf/study/NAME.yaml``, as schedules and
executors are: a dataclass with its settings as fields. ``Annotated`` declares their ranges
(:mod:`core.system.settings`), and ``study.KEY=VALUE`` sets them on the command line. All else
(agents, evaluation, ruleset, openings, executor, limits, seed, depth, games, figures) is as in
``conf/run.yaml``, and the YAML of a study may give it other defaults (``# @package _global_``).

There are two kinds:

- a :class:`PositionStudy` lists its *pieces* of work, and does one. The job does them over any
  executor, writes the rows of each into the record as it ends, and repeats a piece whose worker
  was killed;
- a :class:`MatchStudy` lists the *runs* it needs, also from the results of earlier ones. The job
  plays each by :func:`experiments.jobs.run.run` in a numbered folder inside the study's own, and
  continues it by :func:`experiments.jobs.run.resume`.

Both conclude from the finished part, complete or not.
"""

from __future__ import annotations

import copy
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from othello_lab.agents.config import build
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.settings import Nameable, check_settings
from othello_lab.experiments.config import Plan, RunConfig, plan_of
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.tasks import Tables, WorkerContext
from othello_lab.experiments.record.reading import has_begun, reading
from othello_lab.experiments.record.store import Record

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

    from othello_lab.experiments.report.figures.drawing import ReportFigure

__all__ = [
    "Conclusion",
    "MatchStudy",
    "PlayedRun",
    "PositionStudy",
    "ResultTable",
    "RunRequest",
    "Study",
]


@dataclass(frozen=True, eq=False)
class Conclusion:
    """The conclusion of a study.

    findings: in words, sentences computed from the numbers, the most important first.

    tables: for terminal and report: title, columns, rows of texts, the columns with words, and a
    note in Markdown.

    frames: written as ``NAME.csv`` into the study's folder, and returned by
    :func:`experiments.studies.load`.

    screen: the tables as a terminal shows them; None for those of ``tables``.

    figures: makes the figures, in their order on the page. It is only called if the user wants
    figures. It imports its libraries itself, since that takes a second.

    notes: the making of the numbers, paragraphs of Markdown below the figures.

    agents: the settings of the agents in the report, by name; None for the plan's.

    details: further facts on the making of the numbers, or other ones than the plan's, by name.

    exit_code: of the command if the study is complete: 0, 1 if something to be shown does not
    hold, or 3 if it is undecided.
    """

    findings: Sequence[str]
    tables: Sequence[ResultTable] = ()
    frames: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: Callable[[], Iterable[ReportFigure]] = tuple
    notes: Sequence[str] = ()
    agents: Mapping[str, Mapping[str, Any]] | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    exit_code: int = 0
    screen: RenderableType | None = None


@dataclass(frozen=True, kw_only=True)
class Study(Nameable):
    """A study with its settings. Raises ValueError for settings that are not allowed."""

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], where: str) -> Self:
        """Return the study with these settings, plain data. where: their name in messages. Raises
        ConfigError."""
        made: Self = build(settings, where, cls)
        return made

    def plan_of(self, settings: RunConfig) -> Plan:
        """Return the plan of the settings of a run; ConfigError."""
        return plan_of(settings)

    def check(self, plan: Plan) -> None:
        """Raise ValueError if the study cannot be made of this plan; called before anything is
        written."""


@dataclass(frozen=True, kw_only=True)
class PositionStudy(Study, ABC):
    """A study of positions: pieces of work that do not need each other.

    The result must not depend on the number of workers: all chance in a piece comes from the
    piece's own content.

    asks_agents: True if pieces need the agents of the plan, prepared before.
    """

    asks_agents: ClassVar[bool] = True

    def conditions(self, plan: Plan, all_settings: Mapping[str, Any]) -> GameConditions:
        """Return what :meth:`work` finds at its place. all_settings: as the record has them."""
        return plan.conditions()

    def needs_run(self, plan: Plan) -> bool:
        """Return True if the run of the plan is to be played first, in the folder ``games`` of the
        study's; :meth:`pieces` then gets its record."""
        return False

    def run_folder(self) -> Path | None:
        """Return the folder of the run whose record :meth:`pieces` gets; None for none but the one
        played first."""
        return None

    def prepare(self, plan: Plan, announce: Announce) -> None:
        """Load or compile the kernels of :meth:`pieces` and :meth:`work` that agents don't have;
        called before both, and before workers fork."""

    @abstractmethod
    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        """Return all pieces of work: small objects that can be pickled, a second's work each or
        less, and always the same ones for the same plan and record. Raises ValueError if there are
        none."""

    @abstractmethod
    def work(self, context: WorkerContext, piece: Any) -> Tables:
        """Do a piece, in any process: return its rows, by the name of their table. An exception is
        written down in their stead, and the others go on."""

    @abstractmethod
    def conclude(self, plan: Plan, tables: Mapping[str, pd.DataFrame]) -> Conclusion:
        """Return the conclusion of the pieces that are done, at least one.

        tables: all rows, by table, in the order of the pieces, each with the column ``piece``.
        """


@dataclass(frozen=True)
class RunRequest:
    """A run that a study of matches asks for.

    settings: all of them; :func:`changed` makes them of the plan's. title: its difference from the
    study's other runs, in few words, such as ``depth=3, evaluation=iago``. command: that plays it
    alone; a run with one prints its results, and has its own name and figures.
    """

    settings: RunConfig
    title: str
    command: str = ""


@dataclass(frozen=True)
class PlayedRun:
    """A run of a study of matches. number: from 0, the name of its folder. games: how many it has.
    complete: True if these are all."""

    number: int
    folder: Path
    request: RunRequest
    games: int
    complete: bool

    @classmethod
    def read(cls, number: int, folder: Path, request: RunRequest) -> PlayedRun | None:
        """Return the run in a folder; None if it has no games. ConfigError if it is damaged."""
        if not has_begun(folder):
            return None
        with reading(folder) as record:
            head, games = record.head(), record.count_games()
            complete = bool(head["complete"]) and head["config"]["games"] >= request.settings.games
        return cls(number, folder, request, games, complete) if games else None

    def record(self) -> AbstractContextManager[Record]:
        """Its record, to be opened (``with played.record() as record``); see :func:`reading`."""
        return reading(self.folder)


@dataclass(frozen=True, kw_only=True)
class MatchStudy(Study, ABC):
    """A study of matches."""

    @abstractmethod
    def runs(self, plan: Plan, played: Sequence[PlayedRun]) -> Sequence[RunRequest]:
        """Return the runs that are needed, by number, given those that were played: at first with
        none, then again whenever all runs so far are complete, until there is no new one.

        The answer must follow from the plan and the records alone. It begins with the runs of the
        call before; one of these may now have more ``games``, and is then extended. All settings
        are checked before the first game. Raises ValueError.
        """

    @abstractmethod
    def conclude(self, plan: Plan, played: Sequence[PlayedRun]) -> Conclusion:
        """Return the conclusion of the runs with games, at least one; the last may not be
        complete."""


def changed(settings: RunConfig, **changes: Any) -> RunConfig:
    """A copy of a run's settings with some of them changed (``agents=``, ``games=``, ``seed=``,
    ...), for :class:`RunRequest`. What agents leave open in their YAML is filled in already:
    ``depth`` and ``evaluation`` of a study's plan are among the settings of each of its
    ``agents``."""
    made = copy.deepcopy(settings)
    for name, value in changes.items():
        assert hasattr(made, name), name
        setattr(made, name, copy.deepcopy(value))
    return made


def drawn_by(maker: str, *arguments: Any) -> Callable[[], Iterable[ReportFigure]]:
    """Return the ``figures`` of a :class:`Conclusion`: those of ``module:function`` in this room's
    ``figures``, called with these arguments. It is loaded only where figures are wanted."""
    return lambda: pkgutil.resolve_name(f"{__package__}.figures.{maker}")(*arguments)


def without_depth(agents: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the settings of agents for the report of a study that varies their depth."""
    return {
        name: {k: v for k, v in settings.items() if k != "depth"}
        for name, settings in agents.items()
    }
