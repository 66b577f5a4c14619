"""A training that is part of something larger, in a folder of its own there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.core.system.files import make_folder
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.jobs.replan import ResumeOptions
from othello_lab.experiments.playing.trust import names_no_more
from othello_lab.experiments.record.reading import has_begun, reading
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.studies import study_session as studies
from othello_lab.experiments.studies.parts import rename_unfinished
from othello_lab.experiments.studies.study import changed
from othello_lab.experiments.studies.study_plan import StudyPlan, planned
from othello_lab.training.steps import read
from othello_lab.training.training import Training
from othello_lab.training.training_session import TRAININGS

SHARED = ("depth", "executor", "figures", "games", "limits", "results", "seed")
"""Settings of a run that a part has from the whole; the others are as its YAML has them."""


def part_plan(whole: StudyPlan, name: str, own: Mapping[str, Any], **settings: Any) -> StudyPlan:
    """Return the plan of the training of this name as a part. Raises ConfigError.

    own: settings of learning that differ from its YAML. settings: of a run; they replace the
    whole's.
    """
    alone = read(name, ())
    shared = {key: getattr(whole.plan.settings, key) for key in SHARED} | settings
    made = changed(alone.plan.settings, name=name, **shared)
    return planned(name, dict(alone.described) | dict(own), made, TRAINING, Training)


def train_part(
    plan: StudyPlan, folder: Path, command: str, console: Console, options: ResumeOptions
) -> None:
    """Train in this folder, or continue the training there. Raises KeyboardInterrupt.

    command: that asked for the whole. options: of a training that has begun.
    """
    if (folder / FILE).exists() and not has_begun(folder):
        rename_unfinished(folder)
    if has_begun(folder):
        with reading(folder, TRAINING.word) as record:
            trust = options.trust or names_no_more(record.head()["config"], plan.as_data)
        options = replace(options, trust=trust)
        studies.resume(folder, "part of a larger training", console, options, TRAININGS)
        return
    make_folder(folder)
    studies.study(plan, command, console, folder, TRAININGS)
