"""Several trainings, one after another: all weights of the lab, from nothing, by one command."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from rich.console import Console

from othello_lab.agents.composing import unknown
from othello_lab.agents.config import build
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.files import read_bytes
from othello_lab.core.system.settings import Switch
from othello_lab.experiments.jobs.job import JobResult
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.playing.tasks import TaskResult
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.statistics.intervals import elo_words
from othello_lab.experiments.studies import study_session as studies
from othello_lab.experiments.studies.study import Conclusion
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.experiments.studies.study_session import RecordMaker, StudySession
from othello_lab.training.champion import ChampionTraining
from othello_lab.training.champion_session import ChampionSession
from othello_lab.training.learned_files import WEIGHTS
from othello_lab.training.part import part_plan, train_part
from othello_lab.training.rounds import parts_of
from othello_lab.training.shipping import ship_folder
from othello_lab.training.steps import last_rounds
from othello_lab.training.training import CORES, RoundSettings, Training, TrainingStudy
from othello_lab.training.training_session import ROOMS, ROUNDS, TrainingSession

DATA_OF = "data_of"
"""Instead of ``data``: the name of an earlier training, from whose positions it learns."""


class NamedSettings(RoundSettings):
    """Settings of at least one training, by its name."""

    needed = "settings of trainings by name"

    def allows(self, value: object) -> bool:
        return bool(value) and super().allows(value)


@dataclass(frozen=True, kw_only=True)
class TrainingGroup(TrainingStudy):
    """Trainings, in their order.

    trainings: by name in ``conf/train``, each with settings that differ from its file; ``data_of``:
    the name of an earlier one, the source of its positions. ship: put the results into the lab
    itself at the end.
    """

    trainings: Annotated[Mapping[str, Any], NamedSettings()] = field(default_factory=dict)
    ship: Annotated[bool, Switch()] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        before: list[str] = []
        for name, settings in self.trainings.items():
            source = settings.get(DATA_OF)
            if source is not None and source not in before:
                raise unknown(f"training before {name}", source, before)
            before.append(name)


class TrainingGroupSession(StudySession):
    """One go at several trainings."""

    @classmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        for name, settings in several_of(plan).trainings.items():
            part = _part(plan, name, None)
            if DATA_OF not in settings:
                TrainingSession.first_look(part, console)

    def make(self) -> tuple[Sequence[Mapping[str, Any]], bool]:
        names = list(several_of(self.plan).trainings)
        with self.hint_after_interrupt():
            for number, name in self.missing(names):
                line = f"{self.plan.name}: training {number + 1} of {len(names)}: {name}"
                self.console.rule(plain(line), characters="=")
                self._train(name)
                row = _come_of(self.folder / name)
                self.record.add_pieces([TaskResult(number, {"trainings": [row]})])
        rows = self.tables()["trainings"].to_dict("records")
        return rows, True

    def _train(self, name: str) -> None:
        """Make one of the trainings, or go on with it. Raises KeyboardInterrupt."""
        plan = _part(self.plan, name, self.folder)
        train_part(
            plan, self.folder / name, self.record.head()["command"], self.console, self.options
        )

    def conclude(self, found: Any) -> Conclusion:
        rows = [
            [
                row["name"],
                f"{row['minutes']:.1f}",
                f"{row['bytes'] / 1e3:,.0f}",
                row["weakest"],
                row["elo"],
            ]
            for row in found
        ]
        heads = ["training", "minutes", "kB", "its weakest result", "Elo [95 %]"]
        if several_of(self.plan).ship and not self.concludes:
            for name in several_of(self.plan).trainings:
                ship_folder(self.folder / name, self.say)
        minutes, size = (sum(row[key] for row in found) for key in ("minutes", "bytes"))
        return Conclusion(
            [
                f"{counted(len(found), 'training')} took {minutes:.1f} minutes on {CORES} cores "
                f"(processor time); the weights take {size / 1e6:.2f} MB."
            ],
            [ResultTable("Trainings", heads, rows, words=(0, 3))],
            notes=["Each has a report of its own, in the folder of its name."],
            agents={},
        )


def several_of(plan: StudyPlan) -> TrainingGroup:
    """The trainings of a plan."""
    assert isinstance(plan.study, TrainingGroup)
    return plan.study


def _part(plan: StudyPlan, name: str, folder: Path | None) -> StudyPlan:
    """The plan of one of the trainings. folder: of all of them; None for a look before anything is
    there. Raises ConfigError."""
    own = dict(several_of(plan).trainings[name])
    source = own.pop(DATA_OF, None)
    if source is not None and folder is not None:
        made_by = _part(plan, source, None).as_data
        rounds = [
            folder / source / ROUNDS / each for each in _learned_from(folder / source, made_by)
        ]
        own["data"] = [str(part) for each in rounds for part in parts_of(each)]
    return part_plan(plan, name, own)


def _learned_from(folder: Path, asked: Mapping[str, Any]) -> Sequence[str]:
    """The rounds that the training in this folder, with these settings, learned from at last."""
    with reading(folder, TRAINING.word) as record:
        about = record.head()
    training = build(about["config"][TRAINING.group], TRAINING.group, Training)
    return last_rounds(about["name"], training)


def _come_of(folder: Path) -> dict[str, Any]:
    """Return the row of a finished training."""
    with reading(folder, TRAINING.word) as record:
        name, steps = record.head()["name"], record.tables()["steps"]
    row = {"name": name, "minutes": float(steps["minutes"].sum()), "weakest": "", "elo": ""}
    weights = folder / WEIGHTS / f"{name}.npz"
    row["bytes"] = weights.stat().st_size if weights.is_file() else 0
    if (folder / "matches.csv").is_file():
        content = io.BytesIO(read_bytes(folder / "matches.csv"))
        matches = pd.read_csv(content, keep_default_na=False, na_values=[""])
        worst = matches.loc[matches["score"].idxmin()]
        row["weakest"] = str(worst["opponent"])
        bound = worst["bound"] if isinstance(worst["bound"], str) else ""
        ends = worst["elo_low"], worst["elo_high"], bound, bool(worst["split"])
        row["elo"] = elo_words(worst["elo"], *ends)
    return row


# ---------------------------------------------------------------------- ways in


def _session_of(plan: StudyPlan) -> type[StudySession]:
    if isinstance(plan.study, ChampionTraining):
        return ChampionSession
    return TrainingGroupSession if isinstance(plan.study, TrainingGroup) else TrainingSession


MAKER = RecordMaker(TRAINING, TrainingStudy, _session_of, ROOMS)


def train(
    plan: StudyPlan, command: str, console: Console | None = None, folder: Path | None = None
) -> JobResult:
    """Train, and write everything into a new folder, or into one made already; see
    :func:`experiments.studies.study_session.study`."""
    return studies.study(plan, command, console, folder, MAKER)
