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
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.files import read_bytes
from othello_lab.core.system.settings import Switch
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.playing.tasks import Tables
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.statistics.intervals import elo_words
from othello_lab.experiments.studies.study import Conclusion
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.experiments.studies.study_session import RecordMaker, StudySession
from othello_lab.training.champion import ChampionSession, ChampionTraining
from othello_lab.training.learned_files import WEIGHTS
from othello_lab.training.reporting import Columns, frame_table
from othello_lab.training.rounds import parts_of
from othello_lab.training.shipping import ship_folder
from othello_lab.training.steps import STEPS, StepSession, TrainingStep, last_rounds
from othello_lab.training.training import CORES, RoundSettings, Training, TrainingStudy
from othello_lab.training.training_session import (
    ROOMS,
    ROUNDS,
    TrainingSession,
    part_plan,
    train_part,
)

DATA_OF = "data_of"
"""Instead of ``data``: the name of an earlier training, from whose positions it learns."""


_COLUMNS: Columns = {
    "training": lambda row: row.name,
    "minutes": lambda row: f"{row.minutes:.1f}",
    "kB": lambda row: f"{row.bytes / 1e3:,.0f}",
    "its weakest result": lambda row: row.weakest,
    "Elo [95 %]": lambda row: row.elo,
}


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


class TrainingGroupSession(StepSession):
    """One go at several trainings."""

    word, line = "training", "="

    @classmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        for name, settings in _group_of(plan).trainings.items():
            part = _part(plan, name, None)
            if DATA_OF not in settings:
                TrainingSession.first_look(part, console)

    def steps(self) -> Sequence[TrainingStep]:
        return [TrainingStep(name, name) for name in _group_of(self.plan).trainings]

    def do(self, step: TrainingStep) -> Tables:
        folder = self.folder / step.key
        train_part(self, _part(self.plan, step.key, self.folder), folder)
        return {"trainings": [_result(folder)]}

    def conclude(self, tables: Any) -> Conclusion:
        results = tables["trainings"]
        if _group_of(self.plan).ship and not self.concludes:
            for name in _group_of(self.plan).trainings:
                ship_folder(self.folder / name, self.say)
        minutes, size = results["minutes"].sum(), results["bytes"].sum()
        finding = (
            f"{counted(len(results), 'training')} took {minutes:.1f} minutes on {CORES} cores "
            f"(processor time); the weights take {size / 1e6:.2f} MB."
        )
        table = frame_table("Trainings", _COLUMNS, results, words=(0, 3))
        notes = ["Each has a report of its own, in the folder of its name."]
        return Conclusion([finding], [table], notes=notes, agents={})


def _group_of(plan: StudyPlan) -> TrainingGroup:
    assert isinstance(plan.study, TrainingGroup)
    return plan.study


def _part(plan: StudyPlan, name: str, folder: Path | None) -> StudyPlan:
    """The plan of one of the trainings. folder: of all of them; None for a look before anything is
    there. Raises ConfigError."""
    changes = dict(_group_of(plan).trainings[name])
    source = changes.pop(DATA_OF, None)
    if source is not None and folder is not None:
        with reading(folder / source, TRAINING.word) as record:
            head = record.head()
        training = build(head["config"][TRAINING.group], TRAINING.group, Training)
        rounds = last_rounds(head["name"], training)
        parts = (part for key in rounds for part in parts_of(folder / source / ROUNDS / key))
        changes["data"] = list(map(str, parts))
    return part_plan(plan, name, changes)


def _result(folder: Path) -> dict[str, Any]:
    """Return the row of a finished training."""
    with reading(folder, TRAINING.word) as record:
        name, steps = record.head()["name"], record.tables()[STEPS]
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
