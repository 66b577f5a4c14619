"""Trainings and self-plays as kinds of jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from othello_lab.core.system.escaping import plain
from othello_lab.core.system.json_output import print_json
from othello_lab.experiments.jobs.kinds import JobKind, JobSummary, state_of, summary_of
from othello_lab.experiments.studies.kind import StudyKind

if TYPE_CHECKING:
    from othello_lab.experiments.studies.study_session import RecordMaker


class TrainingKind(StudyKind):
    """A training, or several."""

    word = "training"

    def maker(self) -> RecordMaker:
        from othello_lab.training.training_group import MAKER

        return MAKER


class SelfPlayKind(StudyKind):
    """Positions to learn from, made by playing or by reading games."""

    word = "self-play"
    hint = "it holds positions to learn from; list and show tell about it, resume continues it"
    write_report = JobKind.write_report

    def summary(self, folder: Path) -> JobSummary:
        from othello_lab.training.selfplay import about_of

        head = about_of(folder)
        agents = len(head["config"]["agents"]) if not head["config"]["data"]["read"] else None
        facts = {"agents": agents, "games": head["games"]}
        return summary_of(folder, head, "positions, ", **facts)

    def show(self, folder: Path, console: Console, as_json: bool) -> None:
        from othello_lab.training.data import Positions
        from othello_lab.training.selfplay import about_of, stages, summary

        head = about_of(folder)
        if as_json:
            print_json(head)
            return
        positions, state = Positions.read(folder), state_of(folder, bool(head["complete"]))
        console.print(plain(f"{head['name']}, {head['started'].replace('T', ' ')}: {state}"))
        for line in summary(positions, head):
            console.print(plain(line), soft_wrap=True)
        console.print(stages(positions))

    def maker(self) -> RecordMaker:
        from othello_lab.training.selfplay import SELFPLAYS

        return SELFPLAYS
