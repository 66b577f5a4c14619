"""``othello-lab train``: train, or list all trainings."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from othello_lab.agents.loading import resolve
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import plain
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.studies.study_command import help_of, named_command
from othello_lab.training.shipping import ship_folder
from othello_lab.training.steps import MEASURED_BY, own_settings, read
from othello_lab.training.training import Training
from othello_lab.training.training_group import train

USAGE = """\
usage: othello-lab train NAME [key=value ...]

Learn an evaluation from games of the lab's own, and measure it. Each training has settings of its
own, train.key=value, and takes all of those of a run (othello-lab run --help), which are
those of the matches that measure it. Everything goes into a folder of results/: positions, weights,
YAMLs that any run can use, matches and a report. It can be interrupted at any moment and resumed
(othello-lab resume FOLDER).

  othello-lab train NAME --help    the settings of one
  othello-lab run --config-dir FOLDER/conf evaluation=trained_NAME ...    its evaluation
  othello-lab train all            all weights that come with the lab, one after another
  othello-lab train --ship FOLDER  put weights and YAML of a training into the lab itself
"""


def train_command(arguments: Sequence[str], console: Console) -> int:
    """``train NAME [key=value ...]``, or ``train --ship FOLDER``; the exit code."""

    def make(name: str, settings: Sequence[str], folders: Sequence[str]) -> int:
        plan = read(name, settings, folders)
        return train(plan, as_typed(["train", *arguments]), console).exit_code

    if "--ship" in arguments:
        parser = Parser(prog="othello-lab train")
        parser.add_argument("--ship", metavar="FOLDER", type=Path)
        folder = parser.parse_args(arguments).ship
        ship_folder(folder, lambda line: console.print(plain(line), soft_wrap=True))
        return 0
    return named_command(TRAINING, arguments, make, train_help)


def train_help(name: str | None = None, folders: Sequence[str] = ()) -> str:
    """Return a list of all trainings; or the settings of the one of this name, and those of every
    training. Raises ConfigError."""
    told = help_of(TRAINING, USAGE, name, folders, Training.UNFILLED)
    if name is None or not _has_common_settings(name, folders):
        return told
    common = inspect.cleandoc(Training.__doc__ or "").partition("Settings:")[2].strip("\n")
    other = ", ".join(f"{key}={value}" for key, value in MEASURED_BY.items())
    return (
        f"{told}\nOtherwise than there: {other}.\n\nWhat every training can be told besides, as "
        f"train.KEY=VALUE:\n{common}\n"
    )


def _has_common_settings(name: str, folders: Sequence[str]) -> bool:
    """Return True for one training, False for several."""
    target = own_settings(name, folders).get("_target_")
    return target is None or issubclass(resolve(str(target)), Training)
