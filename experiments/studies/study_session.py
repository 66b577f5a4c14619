"""Studies as jobs: a plan in, a folder with record, tables, figures and report out."""

from __future__ import annotations

import functools
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import yaml
from rich.console import Console

from othello_lab.agents.config import build
from othello_lab.agents.loading import only
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import Plan, RunConfig, built_from, plan_of, typed
from othello_lab.experiments.jobs.job import LOG, Job, JobResult, progress_of
from othello_lab.experiments.jobs.kinds import STUDY, KindEntry
from othello_lab.experiments.jobs.replan import ResumeOptions
from othello_lab.experiments.jobs.stopping import RunStopped, guarded
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.tasks import Task, TaskRunner, WorkerContext
from othello_lab.experiments.playing.trust import foreign_code, foreign_targets
from othello_lab.experiments.record.folder import locked, write_table
from othello_lab.experiments.record.provenance import file_hash, machine_in_words, versions
from othello_lab.experiments.record.reading import has_begun, reading
from othello_lab.experiments.record.store import SKIPPED, AgentRow, Record, Tables
from othello_lab.experiments.report.markdown import drawn_figures, write_report
from othello_lab.experiments.report.page import Drawing
from othello_lab.experiments.report.plan_from_record import settled_plan
from othello_lab.experiments.report.tables import described, result_table
from othello_lab.experiments.report.terminal import print_files
from othello_lab.experiments.studies.parts import play_part
from othello_lab.experiments.studies.study import (
    Conclusion,
    MatchStudy,
    PlayedRun,
    PositionStudy,
    RunRequest,
    Study,
)
from othello_lab.experiments.studies.study_plan import StudyPlan, planned

_Step = TypeVar("_Step")

GAMES = "games"
"""The folder of the run that a study of positions plays first."""
MOST_TOLD = 10
"""Failures."""


class StudySession(Job[JobResult]):
    """A study as a job: the missing part of its record is done, and the study concluded.

    options: how it, and runs in it that have begun, are continued. concludes: only conclude from
    what is there. retries: True if pieces that failed are always done again. concludable: False if
    its result is not made of the record alone.
    """

    concludable: ClassVar[bool] = True

    retries: ClassVar[bool] = False

    def __init__(
        self,
        plan: StudyPlan,
        maker: RecordMaker,
        console: Console,
        options: ResumeOptions | None = None,
        concludes: bool = False,
    ) -> None:
        super().__init__(plan.plan.settings, plan.as_data, console)
        self.plan, self.maker, self.concludes = plan, maker, concludes
        self.options = options or ResumeOptions()
        self.kind, self.name = plan.kind.word, plan.name

    @classmethod
    @abstractmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        """Raise ConfigError for all that can be found wrong before anything is written."""

    @abstractmethod
    def make(self) -> tuple[Any, bool]:
        """Do the missing part of the record; return the material to conclude from, and True if it
        is all."""

    def conclude(self, material: Any) -> Conclusion:
        """Return the conclusion from the result of :meth:`make`."""
        study: Any = self.plan.study  # of the class that concludes from this
        made: Conclusion = study.conclude(self.plan.plan, material)
        return made

    def material(self) -> Any:
        """Return the material to conclude from, of a session that concludes; ConfigError."""
        material, _ = self.make()
        if not material:
            raise ConfigError(f"{self.folder}: nothing of this {self.kind} is done yet")
        return material

    def report(self, material: Any, to: Path | None = None) -> int:
        """Conclude, print and write the report; return the exit code of the conclusion. to: the
        folder for it, if it is not that of the job."""
        conclusion = self.conclude(material)
        tell(self.plan, self.record, conclusion, to or self.folder, self.console)
        return conclusion.exit_code

    def missing(self, steps: Sequence[_Step]) -> Iterator[tuple[int, _Step]]:
        """Yield the steps that the record lacks, each with its number; none if it concludes."""
        if not self.concludes:
            self.record.expect(len(steps))
            done = self.done()
            yield from (step for step in enumerate(steps) if step[0] not in done)

    def prepare(self, stack: ExitStack) -> None:
        if not self.resumed:
            self.first_look(self.plan, self.console)

    def versions(self) -> dict[str, str]:
        return study_versions(self.settings, self.plan.described, self.maker)

    def foreign(self) -> list[str]:
        built = _built(self.settings, self.plan.described, self.plan.kind)
        return foreign_code(built, {})

    def write_head(self) -> None:
        if self.resumed:
            retry = [SKIPPED] * (self.retries or self.options.retry_skipped)
            self.record.continue_with(self.plan.as_data, retry=retry)

    def work(self, stack: ExitStack) -> JobResult:
        record, clock = self.record, time.perf_counter()
        material, complete = self.make()
        record.finish(time.perf_counter() - clock, complete)
        code = self.report(material) if material else 0
        failed = [(number, why) for number, why in self.done().items() if why]
        for number, why in failed[:MOST_TOLD]:
            self.say(f"failed  {self.plan.kind.piece} {number}: {why}")
        if not complete:
            self.tell_hint()
            if not material:
                raise KeyboardInterrupt
            return JobResult(self.folder, complete, 130)
        return JobResult(self.folder, complete, 1 if failed else code)


class RecordMaker(NamedTuple):
    """The making of studies of one kind of record.

    of: their class. session: returns the StudySession of a plan. rooms: folders with sources that
    the numbers depend on, by their names in the record's versions. reports_early: True if a report
    can be asked for before all is done.
    """

    kind: KindEntry
    of: type[Study]
    session: Callable[[StudyPlan], type[StudySession]]
    rooms: Mapping[str, Path]
    reports_early: bool = False


def study(
    plan: StudyPlan,
    command: str,
    console: Console | None = None,
    folder: Path | None = None,
    maker: RecordMaker | None = None,
) -> JobResult:
    """Make a study, and write record, tables, figures and report.

    command: the command or call that asked for it, for the report. folder: a folder for the results
    that exists already (default: a new one named by date and time). maker: of another kind of
    record. Nothing is written before everything that can be checked has been. Raises ConfigError,
    and RunStopped if the record can no longer be written or no worker be started; KeyboardInterrupt
    after Ctrl-C if there is nothing to conclude from.
    """
    maker = maker or STUDIES
    return maker.session(plan)(plan, maker, console or Console()).start(command, folder)


def resume(
    folder: Path, command: str, console: Console, options: ResumeOptions, maker: RecordMaker
) -> JobResult:
    """Continue a study that was interrupted, as :func:`experiments.jobs.run.resume` does a run.
    maker: as in :func:`study`."""
    with locked(folder):
        with reading(folder, maker.kind.word) as record:
            head = record.head()
        config, described = recorded_settings(folder, head, maker.kind)
        settings = options.settings(folder, config)
        built = _built(settings, described, maker.kind)
        now, foreign = (
            study_versions(settings, described, maker),
            foreign_code(built, head["versions"]),
        )
        options.check(folder, head, now, foreign, console)
        # Other files of the folder may name code, too.
        with only(None if options.trust else foreign_targets(built)):
            plan = planned(head["name"], described, settings, maker.kind, maker.of)
            return maker.session(plan)(plan, maker, console, options).go_on(folder, command)


def report(folder: Path, console: Console, figures: str | None, maker: RecordMaker) -> None:
    """Write the report of a study anew, from its record alone; agents from outside the lab have
    stand-ins. Raises ConfigError.

    figures: where to draw them; None as the study was asked. maker: as in :func:`study`.
    """
    with reading(folder, maker.kind.word) as record:
        head = record.head()
        if not (head["complete"] or maker.reports_early):
            raise ConfigError(
                f"{folder}: this {maker.kind.word} is not complete; resume writes its report too"
            )
        with only(()):
            session = concluding(record, console, figures, maker)
            session.report(session.material())


def concluding(
    record: Record, console: Console, figures: str | None, maker: RecordMaker
) -> StudySession:
    """Return the session of a recorded study that does nothing but conclude. The arguments are as
    :func:`report` has them."""
    folder, head = record.path.parent, record.head()
    config, described = recorded_settings(folder, head, maker.kind)
    settings = typed(config)
    settings.figures = figures or settings.figures
    settled = _settled(folder, settings)
    plan = planned(head["name"], described, settings, maker.kind, maker.of, settled)
    session = maker.session(plan)(plan, maker, console, concludes=True)
    session.folder, session.record = folder, record
    return session


def recorded_settings(
    folder: Path, head: Mapping[str, Any], kind: KindEntry
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of a run in a record, and those of the study itself; ConfigError.

    head: of the record.
    """
    config = dict(head["config"])
    described = config.pop(kind.group, None)
    if not isinstance(described, dict):
        raise ConfigError(f"{folder}: its record does not say what {kind.word} it is")
    return config, described


def _settled(folder: Path, settings: RunConfig) -> Plan:
    rows = [AgentRow.of(n, name, {}, 1, True, False) for n, name in enumerate(settings.agents)]
    if has_begun(folder / GAMES):
        with reading(folder / GAMES) as games:
            rows = list(games.agents().itertuples())
    return settled_plan(settings, rows)


def _built(settings: RunConfig, described: Mapping[str, Any], kind: KindEntry) -> dict[str, Any]:
    """Return the settings that describe objects, with the heuristic that plays openings out."""
    return {**built_from(settings), "evaluation": settings.evaluation, kind.group: described}


def study_versions(
    settings: RunConfig, described: Mapping[str, Any], maker: RecordMaker
) -> dict[str, str]:
    """Return the versions of a run, and a hash of each room that makes the numbers, and of each
    file that the study reads."""
    rooms = {name: file_hash(*sorted(room.glob("*.py"))) for name, room in maker.rooms.items()}
    read = filter(os.path.isfile, described.get("read", ()))
    files = {path: file_hash(Path(path)) for path in read}
    return {**versions(_built(settings, described, maker.kind)), **rooms, **files}


def pieces_of(plan: StudyPlan, folder: Path | None) -> list[Task]:
    """Return all pieces of work. folder: of the run whose games they are of; ConfigError."""
    assert isinstance(plan.study, PositionStudy)
    with nullcontext() if folder is None else reading(folder) as record, plan.refusals():
        contents = plan.study.pieces(plan.plan, record)
    return [Task(number, content) for number, content in enumerate(contents)]


def _runs(
    plan: StudyPlan, played: Mapping[int, PlayedRun], checked: bool = True
) -> list[RunRequest]:
    """Return the runs that a study asks for, the settings of new ones ``checked``; ConfigError."""
    study = plan.study
    assert isinstance(study, MatchStudy)
    with plan.refusals():
        requests = list(study.runs(plan.plan, list(played.values())))
    for request in requests[len(played) :] if checked else ():
        plan_of(request.settings)
    return requests


class PositionSession(StudySession):
    """One go at a study of positions."""

    @classmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        assert isinstance(plan.study, PositionStudy)
        if not plan.study.needs_run(plan.plan):
            plan.study.prepare(plan.plan, lambda line: console.print(plain(line)))
            pieces_of(plan, plan.study.run_folder())

    def prepare(self, stack: ExitStack) -> None:
        super().prepare(stack)
        self._ready: tuple[GameConditions, TaskRunner] | None = None
        if not (self.resumed or self._study.needs_run(self.plan.plan)):
            self._ready = self._started(stack)  # a trial may fail, and nothing is written yet

    def make(self) -> tuple[Any, bool]:
        """Work on the pieces that the record lacks; return all tables, and True if none is left."""
        if self.concludes:
            return self.tables(), True
        folder = self._study.run_folder()
        if self._study.needs_run(self.plan.plan):
            folder, request = self.folder / GAMES, RunRequest(self.settings, GAMES)
            if not play_part(request, folder, self.plan.title, self.console, self.options):
                return {}, False
        complete = self.do_missing(folder)
        return self.tables(), complete

    @property
    def _study(self) -> PositionStudy:
        assert isinstance(self.plan.study, PositionStudy)
        return self.plan.study

    def do_missing(self, folder: Path | None) -> bool:
        """Work on the pieces that the record lacks; return True if none is left. folder: of the run
        whose games they are of."""
        record = self.record
        self._study.prepare(self.plan.plan, self.say)
        pieces = pieces_of(self.plan, folder)
        record.expect(len(pieces))
        done = self.done()
        if left := [piece for piece in pieces if piece.number not in done]:
            self._work_on(left, len(pieces))
            done = self.done()
        complete = len(done) == len(pieces)
        if complete and all(done.values()):
            raise RunStopped(
                f"nothing came of any of {counted(len(pieces), 'piece')}: {done[0]}; see "
                f"{self.folder / LOG}"
            )
        return complete

    def _work_on(self, left: Sequence[Task], total: int) -> None:
        plan = self.plan
        job = functools.partial(job_of, dict(plan.described))
        with ExitStack() as stack:
            conditions, runner = self._ready or self._started(stack)
            message = "stopping after the pieces under way"
            stack.enter_context(self.interruptible(conditions.stop, message))
            progress = stack.enter_context(progress_of(self.console, "pieces"))
            bar = progress.add_task(plan.name, total=total, completed=total - len(left))
            with guarded(self.record.path, conditions.stop):
                for results in runner.work(job, left):
                    self.record.add_pieces(results)
                    progress.advance(bar, len(results))

    def _started(self, stack: ExitStack) -> tuple[GameConditions, TaskRunner]:
        """Start workers, after the agents' trial; return their conditions, too."""
        plan, study = self.plan, self._study
        conditions = study.conditions(plan.plan, plan.as_data)
        if study.asks_agents:
            conditions.prepare(functools.cache(self.say))
        trial = study.asks_agents and plan.plan.settings.trial
        ready = plan.plan.executor.ready(conditions, self.say, trial)
        return conditions, stack.enter_context(ready)


class MatchSession(StudySession):
    """One go at a study of matches."""

    @classmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        _runs(plan, {})

    def make(self) -> tuple[list[PlayedRun], bool]:
        """Play missing and incomplete runs until no further run is needed; return those with games,
        and True if they are all there."""
        played = dict[int, PlayedRun]()
        requests = _runs(self.plan, played, self.resumed)
        while True:
            for number, request in enumerate(requests):
                if number in played and played[number].request == request:
                    continue
                run = PlayedRun.read(number, self.folder / str(number), request)
                goes_on = self.concludes or (run is not None and run.complete)
                if not goes_on:
                    line = f"{self.plan.name}: run {number + 1} of {len(requests)}: {request.title}"
                    self.console.rule(plain(line))
                    goes_on = self.play(number, request)
                    run = PlayedRun.read(number, self.folder / str(number), request)
                if run is not None and number not in self.done():  # with its failure
                    played[number] = run
                if not goes_on:
                    return list(played.values()), False
            before, requests = requests, _runs(self.plan, played, not self.concludes)
            if requests == before:
                return list(played.values()), True

    def play(self, number: int, request: RunRequest) -> bool:
        """Play or continue a run; return True if the study can go on."""
        folder = self.folder / str(number)
        return play_part(request, folder, self.plan.title, self.console, self.options)


def job_of(described: Mapping[str, Any], context: WorkerContext, content: Any) -> Tables:
    """Do a piece of the study with these settings, in a worker."""
    return _study_of(yaml.safe_dump(described)).work(context, content)


@functools.lru_cache(maxsize=4)
def _study_of(described: str) -> PositionStudy:
    made: PositionStudy = build(yaml.safe_load(described), STUDY.group, PositionStudy)
    return made


STUDIES = RecordMaker(
    STUDY,
    Study,
    lambda plan: PositionSession if isinstance(plan.study, PositionStudy) else MatchSession,
    {"studies": Path(__file__).parent},
)


def tell(plan: StudyPlan, record: Record, end: Conclusion, folder: Path, console: Console) -> None:
    """Print the end, and write tables, figures and report."""
    settings = plan.plan.settings
    tables = [result_table(table, end=False) for table in end.tables]
    for screen in tables if end.screen is None else [end.screen]:
        console.print(screen)
    for finding in end.findings:
        console.print(plain(finding))
    for name, frame in end.frames.items():
        write_table(frame, folder / f"{name}.csv")
        if "parquet" in settings.export:
            write_table(frame, folder / f"{name}.parquet")
    figures = drawn_figures(end.figures, settings.figures, folder, console)
    _write(plan, record, end, figures, folder)
    names = {"report": "report.html", "record": record.path.name}
    if end.frames:
        names["tables"] = ", ".join(f"{name}.csv" for name in end.frames)
    print_files(names, folder, console)


def _write(
    plan: StudyPlan,
    record: Record,
    end: Conclusion,
    figures: list[Drawing],
    folder: Path,
) -> None:
    head, done = record.head(), record.pieces()
    settings = plan.plan.settings
    failed = [(number, why) for number, why in done.items() if why]
    details = {
        plan.kind.word: plan.name,
        **({"pieces": f"{len(done):,}"} if head["pieces"] else {}),
        **({"failed": f"{len(failed):,}"} if failed else {}),
        "ruleset": plan.plan.rules.name,
        "seed": settings.seed,
        "started": head["started"].replace("T", " "),
        "workers": plan.plan.executor.text,
        "machine": machine_in_words(head["machine"]),
        "versions": ", ".join(f"{key} {value}" for key, value in head["versions"].items()),
        **end.details,
    }
    write_report(
        "study",
        folder,
        title=settings.name,
        kind=plan.kind.word.capitalize(),
        name=plan.name,
        findings=end.findings,
        tables=end.tables,
        figures=figures,
        notes=end.notes,
        agents=described(settings.agents if end.agents is None else end.agents),
        failed=[(plan.kind.piece, *failure) for failure in failed],
        command=head["command"],
        details=details,
        settings=yaml.safe_dump(plan.as_data, sort_keys=False, allow_unicode=True),
    )
