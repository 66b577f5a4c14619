"""Making a study from end to end: a plan in, a folder with record, tables, figures and report out.
It may be interrupted at any moment, and resumed: what is in its record stays, the rest is done."""

from __future__ import annotations

import functools
import shlex
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

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

from agents.config import ConfigError, build, one_line
from core.shown import counted, plain
from experiments.config import RunConfig, plan_of, typed
from experiments.foreign import built_from, check_trusted, foreign_code
from experiments.playing.match import TaskFailed
from experiments.playing.pieces import Piece, Tables, Workplace
from experiments.playing.trial import try_agents
from experiments.record.folder import locked, new_folder, write_safely
from experiments.record.log import logging_to
from experiments.record.provenance import file_hash, machine, versions
from experiments.record.reading import reading
from experiments.record.store import Record
from experiments.recorded import changes, moved_executor, refuse_changes
from experiments.stopping import RunStopped, guarded, stoppable
from experiments.studies.base import Asked, MatchStudy, Played, PositionStudy, Study
from experiments.studies.parts import play_part
from experiments.studies.planning import GROUP, StudyPlan, planned
from experiments.studies.record import FORMAT, StudyRecord
from experiments.studies.reporting import conclude
from experiments.sweep.folder import has_begun

GAMES = "games"
"""The folder of the run that a study of positions plays first."""
LOG = "log.txt"
STOPPING = "stopping after the pieces under way"
MOST_TOLD = 10
"""Failures."""


@dataclass(frozen=True)
class StudyResult:
    """What a study left behind. exit_code: of the command: that of its conclusion, 1 where pieces
    failed, 130 where it was interrupted."""

    folder: Path
    complete: bool
    exit_code: int


# ---------------------------------------------------------------------- ways in


def study(plan: StudyPlan, command: str, console: Console | None = None) -> StudyResult:
    """Make a study, and write record, tables, figures and report into a new folder.

    command: how it was asked for, for the report. Nothing is written before everything that can be
    checked has been. Raises ConfigError, and RunStopped where the record can no longer be written
    or no worker be started; KeyboardInterrupt after Ctrl-C if nothing is there to conclude from.
    """
    console = console or Console()
    settings, started = plan.plan.settings, datetime.now()
    _first_look(plan, console)
    folder = new_folder(Path(settings.results, settings.name, f"{started:%Y-%m-%d_%H-%M-%S}"))
    with locked(folder), _told_why(folder, plan):
        _write_config(plan, folder)
        with StudyRecord.create(folder) as record:
            about = _session(plan, command, started)
            with record.transaction():
                head = {"name": plan.name, "format": FORMAT, "config": plan.as_data}
                record.write_row("study", {**head, **about})
                record.write_row("sessions", about)
            return _Session(plan, record, folder, console).go()


def resume(
    folder: str | Path,
    command: str = "experiments.resume(...)",
    console: Console | None = None,
    *,
    workers: int | None = None,
    executor: str | None = None,
    address: str | None = None,
    force: bool = False,
    retry_failed: bool = False,
    trust: bool = False,
) -> StudyResult:
    """Go on with a study that was interrupted, as :func:`experiments.run.resume` does with a run.

    retry_failed: do pieces again that failed.
    """
    console, folder = console or Console(), Path(folder)
    moved: dict[str, Any] = {"workers": workers, "executor": executor, "address": address}
    options = {**moved, "force": force, "trust": trust}
    with locked(folder):
        with StudyRecord.open(folder) as record:
            about = record.study()
        config = dict(about["config"])
        described = config.pop(GROUP, None)
        if not isinstance(described, dict):
            raise ConfigError(f"{folder}: its record does not say what study it is")
        settings = typed(config)
        settings.executor = moved_executor(settings.executor, **moved)
        if not force:
            now = _versions(settings, described)
            refuse_changes(folder, changes(folder, about["versions"], about["config"], now))
        foreign = foreign_code(_built(settings, described), about["versions"], (Study,))
        check_trusted(folder, foreign, trust, console)
        plan = planned(about["name"], described, plan_of(settings))
        with _told_why(folder, plan), StudyRecord.append(folder) as record:
            with record.transaction():
                record.go_on(plan.as_data, retry_failed)
                record.write_row("sessions", _session(plan, command, datetime.now()))
            _write_config(plan, folder)
            return _Session(plan, record, folder, console, options).go()


def _first_look(plan: StudyPlan, console: Console) -> None:
    """Find what is wrong before anything is written; ConfigError."""
    if isinstance(plan.study, MatchStudy):
        _runs(plan, [])
    elif isinstance(plan.study, PositionStudy) and not plan.study.needs_run(plan.plan):
        plan.study.prepare(plan.plan, lambda line: console.print(plain(line)))
        _pieces(plan, None)


def _session(plan: StudyPlan, command: str, started: datetime) -> dict[str, Any]:
    return {
        "command": command,
        "versions": _versions(plan.plan.settings, plan.described),
        "machine": machine(),
        "started": started.isoformat(timespec="seconds"),
    }


def _built(settings: RunConfig, described: Mapping[str, Any]) -> dict[str, Any]:
    """What of all settings describes objects that are built, the heuristic by which openings are
    played out among them."""
    return {**built_from(settings), "evaluation": settings.evaluation, GROUP: described}


def _versions(settings: RunConfig, described: Mapping[str, Any]) -> dict[str, str]:
    """What the numbers depend on: the versions of a run, and ``studies``, a hash of this room."""
    room = sorted(Path(__file__).parent.glob("*.py"))
    return {**versions(_built(settings, described)), "studies": file_hash(*room)}


def _write_config(plan: StudyPlan, folder: Path) -> None:
    text = yaml.safe_dump(plan.as_data, sort_keys=False, allow_unicode=True)
    write_safely(folder / "config.yaml", text)


# ---------------------------------------------------------------------- before anything is done


def _pieces(plan: StudyPlan, record: Record | None) -> list[Piece]:
    """What there is to do; ConfigError."""
    study = plan.study
    assert isinstance(study, PositionStudy)
    try:
        where = study.run_folder() if record is None else None
        if where is not None:
            with reading(where) as record:
                contents = study.pieces(plan.plan, record)
        else:
            contents = study.pieces(plan.plan, record)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"study {plan.name}: {one_line(error)}") from error
    return [Piece(number, content) for number, content in enumerate(contents)]


def _runs(plan: StudyPlan, played: Sequence[Played]) -> list[Asked]:
    """The runs that a study of matches asks for, their settings checked; ConfigError."""
    study = plan.study
    assert isinstance(study, MatchStudy)
    try:
        asked = list(study.runs(plan.plan, played))
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"study {plan.name}: {one_line(error)}") from error
    for each in asked[len(played) :]:
        plan_of(each.settings)
    return asked


# ---------------------------------------------------------------------- doing it


class _Session:
    """One go at a study: what its record does not have yet is done, and the study concluded.

    options: how runs that have begun are gone on with, see :func:`experiments.run.resume`.
    """

    def __init__(
        self,
        plan: StudyPlan,
        record: StudyRecord,
        folder: Path,
        console: Console,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._plan, self._record, self._folder = plan, record, folder
        self._console, self._options = console, dict(options or {})

    def go(self) -> StudyResult:
        """Do what is missing, and conclude. Raises KeyboardInterrupt if nothing was done before
        Ctrl-C, RunStopped if nothing can be."""
        plan, record, clock = self._plan, self._record, time.perf_counter()
        of_positions = isinstance(plan.study, PositionStudy)
        found, complete = self._work() if of_positions else self._play()
        record.finish(time.perf_counter() - clock, complete)
        if not found:
            self._tell_way_on()
            raise KeyboardInterrupt
        conclusion = conclude(plan, record, found, self._folder, self._console)
        failed = [(number, why) for number, why in record.done().items() if why]
        for number, why in failed[:MOST_TOLD]:
            self._say(f"failed  piece {number}: {why}")
        if not complete:
            self._tell_way_on()
            return StudyResult(self._folder, complete, 130)
        return StudyResult(self._folder, complete, 1 if failed else conclusion.exit_code)

    def _say(self, line: str) -> None:
        self._console.print(plain(line), soft_wrap=True)

    def _tell_way_on(self) -> None:
        self._say(f"go on with  {way_on(self._folder, self._plan)}")

    # ------------------------------------------------------------------ positions

    def _work(self) -> tuple[Mapping[str, Any], bool]:
        """Work on the pieces that the record does not have; all tables, and whether nothing is
        left to do."""
        plan, record, study = self._plan, self._record, self._plan.study
        assert isinstance(study, PositionStudy)
        if study.needs_run(plan.plan):
            if not self._play_one(Asked(plan.plan.settings, GAMES), self._folder / GAMES):
                return {}, False
            study.prepare(plan.plan, self._say)
            with reading(self._folder / GAMES) as games:
                pieces = _pieces(plan, games)
        else:
            study.prepare(plan.plan, self._say)
            pieces = _pieces(plan, None)
        record.expect(len(pieces))
        done = record.done()
        if left := [piece for piece in pieces if piece.number not in done]:
            self._work_on(left, len(pieces))
            done = record.done()
        complete = len(done) == len(pieces)
        if complete and all(done.values()):
            raise RunStopped(
                f"nothing came of any of {counted(len(pieces), 'piece')}: {done[0]}; see "
                f"{self._folder / LOG}"
            )
        return record.tables(), complete

    def _work_on(self, left: Sequence[Piece], total: int) -> None:
        """Work on these pieces of so many."""
        plan, study, conditions = self._plan, self._plan.study, self._plan.plan.conditions()
        assert isinstance(study, PositionStudy)
        if study.asks_agents:
            conditions.prepare(functools.cache(self._say))
            if plan.plan.settings.trial:
                try_agents(conditions)
        job = functools.partial(job_of, dict(plan.described))
        with ExitStack() as stack:
            crew = stack.enter_context(plan.plan.executor.ready(conditions, self._say))
            stack.enter_context(self._way_on_told())
            stack.enter_context(stoppable(conditions.stop, STOPPING))
            stack.enter_context(logging_to(self._folder / LOG, plan.plan.settings.log_level))
            progress = stack.enter_context(_progress(self._console))
            bar = progress.add_task(plan.name, total=total, completed=total - len(left))
            with guarded(self._record.path, conditions.stop):
                for results in crew.work(job, left):
                    self._record.write_pieces(results)
                    progress.advance(bar, len(results))

    @contextmanager
    def _way_on_told(self) -> Iterator[None]:
        """Within it Ctrl-C may end everything at once."""
        try:
            yield
        except KeyboardInterrupt:
            self._tell_way_on()
            raise

    # ------------------------------------------------------------------ matches

    def _play(self) -> tuple[list[Played], bool]:
        """Play the runs that are not there, or not complete, as long as any are asked for; those
        with games, and whether they are all there."""
        plan, played = self._plan, list[Played]()
        asked = _runs(plan, played)
        while True:
            for number, each in enumerate(asked):
                if number < len(played) and played[number].asked == each:
                    continue
                line = f"{plan.name}: run {number + 1} of {len(asked)}: {each.about}"
                self._console.rule(plain(line))
                where = self._folder / str(number)
                complete = self._play_one(each, where)
                if _has_games(where):
                    played[number : number + 1] = [Played(number, where, each, complete)]
                if not complete:
                    return played, False
            before, asked = asked, _runs(plan, played)
            if asked == before:
                return played, True

    def _play_one(self, asked: Asked, folder: Path) -> bool:
        """Play a run in this folder, or go on with it, or take it as played; whether it is
        complete."""
        whole = f"study {self._plan.name}"
        return play_part(asked.settings, folder, whole, asked.about, self._console, self._options)


def _has_games(folder: Path) -> bool:
    if not has_begun(folder):
        return False
    with Record.open(folder) as record:
        return record.count_games() > 0


def job_of(described: Mapping[str, Any], place: Workplace, content: Any) -> Tables:
    """Do a piece of the study with these settings, in a worker."""
    return _study_of(yaml.safe_dump(described)).work(place, content)


@functools.lru_cache(maxsize=4)
def _study_of(described: str) -> PositionStudy:
    made: PositionStudy = build(yaml.safe_load(described), GROUP, PositionStudy)
    return made


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("pieces, left"),
        TimeRemainingColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        console=console,
        disable=console.quiet,
    )


# ---------------------------------------------------------------------- the way on


def way_on(folder: Path, plan: StudyPlan) -> str:
    """What to type to go on with a study."""
    built = _built(plan.plan.settings, plan.described)
    trust = " --trust" if foreign_code(built, {}, (Study,)) else ""
    return f"python -m experiments resume {shlex.quote(str(folder))}{trust}"


@contextmanager
def _told_why(folder: Path, plan: StudyPlan) -> Iterator[None]:
    """Say in a line why a study cannot go on, and how to go on later."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        why = f"{folder} cannot be written: {one_line(error)}"
    except (BrokenExecutor, TaskFailed) as error:
        why = one_line(error)
    else:
        return
    raise RunStopped(f"{why}. What was done is kept; go on with: {way_on(folder, plan)}")
