"""A sweep: a study of matches with one run for each combination of settings.

Hydra's grammar says which combinations there are.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.table import Table

from othello_lab.agents.composing import compose
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.config import Plan, checked_settings, typed
from othello_lab.experiments.jobs.job import LOG
from othello_lab.experiments.jobs.kinds import SWEEP
from othello_lab.experiments.jobs.stopping import RunStopped
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.playing.tasks import TaskResult
from othello_lab.experiments.record.log import logging_to
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.report.citing import LATEX_PACKAGES, latex_table
from othello_lab.experiments.report.markdown import link
from othello_lab.experiments.report.tables import COLUMNS, cells
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.experiments.studies.study import Conclusion, MatchStudy, PlayedRun, RunRequest
from othello_lab.experiments.studies.study_plan import planned
from othello_lab.experiments.studies.study_session import (
    MatchSession,
    RecordMaker,
    recorded_settings,
)
from othello_lab.experiments.sweep import composing
from othello_lab.experiments.sweep.results import grouped, table_of
from othello_lab.experiments.sweep.trend import findings

if TYPE_CHECKING:
    import pandas as pd

    from othello_lab.experiments.report.figures.drawing import ReportFigure

log = logging.getLogger("lab.sweep")


@dataclass(frozen=True, kw_only=True)
class Sweep(MatchStudy):
    """One run for each combination of settings.

    combinations: the words of each, ``key=value``. changes: the settings of each that differ from
    the plan's, so that going on needs none of the YAMLs. folders: further folders of YAMLs in its
    command.
    """

    combinations: list[list[str]]
    changes: list[dict[str, Any]]
    folders: list[str]

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], where: str) -> Self:
        try:
            made = cls(**settings)
            pairs = zip(made.combinations, made.changes, strict=True)
            fits = all(isinstance(changes, dict) and _are_words(words) for words, changes in pairs)
        except (TypeError, ValueError):
            fits = False
        if not (fits and _are_words(made.folders)):
            raise ConfigError(f"{where}: combinations, each with its settings, are needed")
        return made

    @property
    def values(self) -> composing.Values:
        """The settings that vary."""
        return composing.varied(self.combinations)

    def requests(self, base: Mapping[str, Any]) -> list[RunRequest]:
        """Return its runs. base: the settings of its plan, as plain data."""
        requests, values = [], self.values
        for number, (words, changes) in enumerate(
            zip(self.combinations, self.changes, strict=True)
        ):
            settings = typed({**base, **changes})
            command_words = [word for word in words if not word.lstrip("+").startswith("games=")]
            command_words += [f"games={settings.games}"]  # there may be more than at the beginning
            command = as_typed(
                ["run", *(f"--config-dir={folder}" for folder in self.folders), *command_words]
            )
            requests.append(RunRequest(settings, composing.in_a_line(values, number), command))
        return requests

    def runs(self, plan: Plan, played: Sequence[PlayedRun]) -> Sequence[RunRequest]:
        return self.requests(plan.as_data)

    def conclude(self, plan: Plan, played: Sequence[PlayedRun]) -> Conclusion:
        return concluded(table_of(played, self.values), self.values, len(self.combinations))


def _are_words(said: object) -> bool:
    return isinstance(said, list) and all(isinstance(word, str) for word in said)


class SweepSession(MatchSession):
    """One go at a sweep. A run that fails is written down, and the others are played."""

    retries = True

    def play(self, number: int, request: RunRequest) -> bool:
        try:
            return super().play(number, request)
        except (ConfigError, RunStopped) as error:
            why = getattr(error, "why", "") or one_line(error)  # the sweep is to be continued
        except Exception as error:
            why = f"{type(error).__name__}: {one_line(error)}"
            with logging_to(self.folder / LOG, self.settings.log_level):
                log.exception("run %d failed", number)
        self.say(f"failed: {why}")
        self.record.write_pieces([TaskResult(number, {}, f"{request.title}: {why}")])
        return True


SWEEPS = RecordMaker(SWEEP, Sweep, lambda plan: SweepSession, {}, reports_early=True)


def sweep(
    arguments: Sequence[str], overrides: Sequence[str], folders: Sequence[str], console: Console
) -> int:
    """Run all combinations and conclude; return the exit code.

    arguments: the words after ``run``. overrides, folders: the settings and further folders of
    YAMLs among them. Nothing is written before every combination has been checked. Raises
    ConfigError; KeyboardInterrupt after Ctrl-C if no game has ended.
    """
    places = [word for word in overrides if word.startswith("hydra.sweep.dir=")]
    known = composing.expand([word for word in overrides if word not in places])
    if len(known) == 1:
        raise ConfigError(
            "run -m: no setting has several values; write them with commas, such as depth=1,2,3"
        )
    settings = [
        checked_settings(compose("run", combination, folders), combination) for combination in known
    ]
    first, base = settings[0], asdict(settings[0])
    changes = [
        {key: value for key, value in asdict(combination).items() if value != base[key]}
        for combination in settings
    ]
    described = {"combinations": known, "changes": changes, "folders": list(folders)}
    plan = planned(first.name, described, first, SWEEP, Sweep)
    job = SweepSession(plan, SWEEPS, console)
    usual = f"{first.results}/{first.name}/{datetime.now():%Y-%m-%d_%H-%M-%S}-sweep"
    wanted = Path(places[-1].partition("=")[2].strip("'\"") if places else usual)
    return job.start(as_typed(["run", *arguments]), wanted=wanted).exit_code


@dataclass(frozen=True)
class RecordedSweep:
    """A sweep as its folder has it.

    head: of its record. requests: its runs. played: those with games. states: ``finished``,
    ``stopped`` (some of its games are there), ``failed`` or ``waiting``, by number of run.
    """

    folder: Path
    head: Mapping[str, Any]
    study: Sweep
    requests: list[RunRequest]
    played: list[PlayedRun]
    states: dict[int, str]

    @classmethod
    def read(cls, folder: Path) -> RecordedSweep:
        """Return the sweep in a folder; ConfigError if there is none."""
        with reading(folder, SWEEP.word) as record:
            head, failures = record.head(), record.pieces()
            config, described = recorded_settings(folder, head, SWEEP)
        study = Sweep.from_settings(described, str(folder))
        requests = study.requests(config)
        states, played = dict[int, str](), list[PlayedRun]()
        for number, request in enumerate(requests):
            run = PlayedRun.read(number, folder / str(number), request)
            if number in failures:
                states[number] = "failed"
            elif run is None:
                states[number] = "waiting"
            else:
                states[number] = "finished" if run.complete else "stopped"
                played.append(run)
        return cls(folder, head, study, requests, played, states)

    def table(self) -> pd.DataFrame:
        """Return the table of :func:`load`; ConfigError if there is none."""
        if not self.played:
            raise ConfigError(f"{self.folder}: no run of this sweep has any games yet")
        return table_of(self.played, self.study.values)


def load(folder: Path | str) -> pd.DataFrame:
    """The runs of a sweep that have games: one row a run and agent.

    Columns: run (the combination's number), folder (its name), one for each key that was varied,
    by its name (``games`` as games_per_pairing), numbers as numbers, then the standings' (see
    :func:`experiments.report.standings.standings`), reference, question (cost, match or ranks),
    alike (all agents of the run play the same moves), and complete. Elo is relative to the
    reference, so it can be compared between runs; it is an agent of all runs, or "" for the mean of
    each run, where there is none. In a run where the reference has no rating, Elo is that of the
    agent's own games against it. Raises ConfigError where the folder is no sweep's.
    """
    return RecordedSweep.read(Path(folder)).table()


_SHOWN = ("agent", "games", "score %", "Elo [95 %]", "discs", "nodes/move", "evals/move")
_PRINTED = ("agent", "Elo [95 %]", "score %", "games", "nodes/move")  # in a paper
_NOTES = {
    True: "Elo is the difference to {} in the same run, in brackets its 95 % interval.",
    False: "Elo is relative to the mean of the agents of its run, in brackets its 95 % interval: "
    "no agent is in all runs with a rating, to be the same reference in each.",
}


def concluded(table: pd.DataFrame, values: composing.Values, total: int) -> Conclusion:
    """Return the conclusion of a sweep of ``total`` runs. table: of
    :func:`experiments.sweep.load`."""
    finished = int(table.drop_duplicates("run")["complete"].sum())
    state = f"{finished:,} of {total:,} finished"
    warning = [f"Runs of this sweep: {state}."] if finished < total else []
    reference = table["reference"].iloc[0]
    note = f"{_NOTES[bool(reference)].format(reference)} More columns are in sweep.csv."
    runs = [link(name, f"{name}/report.md") for name in table["folder"]]
    texts = zip(runs, _in_words(table, values, _SHOWN), strict=True)
    rows = [[run, *row] for run, row in texts]
    columns = ["run", *composing.short_names(values).values(), *_SHOWN]
    return Conclusion(
        [*findings(table, values), *warning],
        [ResultTable("All runs", columns, rows, note=note)],
        {"sweep": table},
        lambda: _figures(table, values),
        agents={},
        details={"runs": state},
        screen=sweep_table(table, values),
    )


def sweep_table(table: pd.DataFrame, values: composing.Values) -> Table:
    """Return all runs of a sweep as a table for the terminal."""
    drawn = terminal_table(["settings", *_SHOWN])
    for number, rows in table.groupby("run"):
        for texts in cells({name: COLUMNS[name] for name in _SHOWN}, rows):
            drawn.add_row(*map(plain, (composing.in_a_line(values, number), *texts)))
        drawn.add_section()
    return drawn


def latex_of_sweep(name: str, table: pd.DataFrame, values: composing.Values) -> str:
    """Return all runs of a sweep as a LaTeX table."""
    reference = table["reference"].iloc[0] or "the mean of the agents of its run"
    caption = f"Sweep {name}; {reference} has 0 Elo."
    settings = (
        composing.COLUMN_OF.get(name, name) for name in composing.short_names(values).values()
    )
    rows = _in_words(table, values, _PRINTED)
    text = latex_table([*settings, *_PRINTED], rows, caption, "sweep")
    return "\n".join([LATEX_PACKAGES, text])


def _in_words(
    table: pd.DataFrame, values: composing.Values, names: Sequence[str]
) -> list[list[str]]:
    """Return the rows of a table with a column for each setting. names: of its other columns."""
    texts = cells({name: COLUMNS[name] for name in names}, table)
    return [
        [*(str(value.get(run, "")) for value in values.values()), *row]
        for run, row in zip(table["run"], texts, strict=True)
    ]


def _figures(table: pd.DataFrame, values: composing.Values) -> Iterator[ReportFigure]:
    from othello_lab.experiments.sweep.figures import setting_figures

    return setting_figures(table, grouped(table, values))
