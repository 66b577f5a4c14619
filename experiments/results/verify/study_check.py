"""The checks of a study, of a sweep, or of a training."""

from __future__ import annotations

import functools
import json
import random
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.config import built_from
from othello_lab.experiments.jobs.kinds import kind_name
from othello_lab.experiments.playing.tasks import WorkerContext, work_on
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.provenance import differences
from othello_lab.experiments.record.reading import has_begun, reading
from othello_lab.experiments.record.store import FILE as RECORD
from othello_lab.experiments.record.store import RUN, Record, Tables
from othello_lab.experiments.results.verify import run_check
from othello_lab.experiments.results.verify.derived import StudyFiles
from othello_lab.experiments.studies import study_session
from othello_lab.experiments.studies.study import PositionStudy


class StudyVerification(run_check.Checked):
    """All checks of a study, sweep or training, and of the runs in its folder."""

    checks = (run_check.FILE, run_check.SETTINGS, run_check.RUNS, run_check.PIECES, run_check.FILES)

    def __init__(
        self,
        record: Record,
        maker: study_session.RecordMaker,
        seconds: float = 30.0,
        seed: int = 1,
        **options: Any,
    ) -> None:
        """Do all checks; ConfigError. maker: of its kind of record. The rest as in
        :class:`run_check.Verification`, for each run; ``seconds`` are for all of them together, and
        as many for pieces that are done again."""
        super().__init__(record)
        if self.unchecked:
            return
        self.extents[run_check.SETTINGS] = counted(len(self._settings.agents), "agent")
        session = study_session.concluding(record, Console(quiet=True), None, maker)
        self._compare_settings(record.head()["name"])
        folders = sorted(path.parent for path in record.path.parent.glob(f"**/{RECORD}"))
        runs = [path for path in folders if kind_name(path) == RUN and has_begun(path)]
        for run in runs:
            self._check_run(run, seconds=seconds / len(runs), seed=seed, **options)
        if runs:
            self.extents[run_check.RUNS] = counted(len(runs), "run")
            self.power = f"{self.replayed:,} of {self.games:,} games replayed"
        if isinstance(session.plan.study, PositionStudy):
            self._check_pieces(session, random.Random(seed), seconds)
        if not session.concludable:
            self.unchecked.append(f"files: the record of a {maker.kind.word} does not give them")
            return
        try:
            self._compare_files(StudyFiles(session))
        except ConfigError as error:
            self.unchecked.append(f"files: {one_line(error)}")

    def _check_run(self, folder: Path, **options: Any) -> None:
        name = folder.relative_to(self._record.path.parent)
        try:
            with reading(folder) as record:
                verification = run_check.Verification(record, **options)
        except ConfigError as error:
            self.unchecked.append(f"run {name}: {one_line(error)}")
            return
        self.replayed += verification.replayed
        self.games += verification.games
        for check, said in verification.wrong.items():
            self.wrong[run_check.RUNS] += [f"{name}: {check}: {line}" for line in said]
        self.unchecked += [f"run {name}: {said}" for said in verification.unchecked]

    def _check_pieces(
        self, session: study_session.StudySession, rng: random.Random, seconds: float
    ) -> None:
        plan, study = session.plan, session.plan.study
        assert isinstance(study, PositionStudy)
        folder = self._record.path.parent / study_session.GAMES
        changed = differences(self._head["versions"], session.versions())
        foreign = foreign_code(built_from(session.settings), self._head["versions"])
        if changed or foreign or session.settings.limits.timed:
            why = f"other versions did them: {'; '.join(changed)}" if changed else "of foreign code"
            self.unchecked.append(f"pieces: {why if changed or foreign else 'time is limited'}")
            return
        study.prepare(plan.plan, lambda line: None)
        tasks = study_session.pieces_of(
            plan, folder if study.needs_run(plan.plan) else study.run_folder()
        )
        conditions = study.conditions(plan.plan, plan.as_data)
        if study.asks_agents:
            conditions.prepare(lambda line: None)
        done = {number for number, why in self._record.pieces().items() if not why}
        drawn = [task for task in rng.sample(tasks, len(tasks)) if task.number in done]
        count, until = 0, time.monotonic() + seconds
        job = functools.partial(study_session.job_of, dict(plan.described))
        for task in drawn:
            count += 1
            (again,) = work_on(job, WorkerContext(conditions), [task])
            recorded, now = self._rows(task.number), timeless_rows(again.tables)
            if not recorded or recorded != {table: now.get(table) for table in recorded}:
                self.wrong[run_check.PIECES].append(f"piece {task.number}: it gives other rows")
            if time.monotonic() > until:
                break
        self.extents[run_check.PIECES] = f"{count:,} of {counted(len(done), 'piece')}"

    def _rows(self, piece: int) -> dict[str, list[Any]]:
        """Return the recorded rows of a piece, by table, without times."""
        rows: dict[str, list[Any]] = defaultdict(list)
        sql = "select table_name, row from rows where piece = ? order by table_name, number"
        for table, row in self._record.rows(sql, [piece]):
            rows[table].append(json.loads(row))
        return timeless_rows(rows)


def timeless_rows(tables: Tables) -> dict[str, list[Any]]:
    """Return rows as a record gives them back, by table, without times."""
    return {
        table: [{k: v for k, v in row.items() if "seconds" not in k} for row in rows]
        for table, rows in json.loads(json.dumps(tables)).items()
        if rows
    }
