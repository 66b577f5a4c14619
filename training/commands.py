"""``othello-lab train``, ``selfplay`` and ``positions``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from othello_lab.agents.composing import settings_text
from othello_lab.agents.loading import resolve
from othello_lab.core.system.cli import Parser
from othello_lab.core.system.console import as_typed
from othello_lab.core.system.escaping import plain, visible
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.command_line import SettingsParser
from othello_lab.experiments.jobs.kinds import SELFPLAY, TRAINING
from othello_lab.experiments.studies.study_command import help_of, named_command
from othello_lab.experiments.studies.study_session import study
from othello_lab.training import selfplay
from othello_lab.training.shipping import ship_folder
from othello_lab.training.steps import MEASURED_BY, own_settings, read
from othello_lab.training.training import Training
from othello_lab.training.training_group import MAKER

TRAIN_USAGE = """\
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
        return study(plan, as_typed(["train", *arguments]), console, maker=MAKER).exit_code

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
    text = help_of(TRAINING, TRAIN_USAGE, name, folders, Training.UNFILLED)
    if name is None or not _has_common_settings(name, folders):
        return text
    common = inspect.cleandoc(Training.__doc__ or "").partition("Settings:")[2].strip("\n")
    other = ", ".join(f"{key}={value}" for key, value in MEASURED_BY.items())
    return (
        f"{text}\nOtherwise than there: {other}.\n\nWhat every training can be told besides, as "
        f"train.KEY=VALUE:\n{common}\n"
    )


def _has_common_settings(name: str, folders: Sequence[str]) -> bool:
    """Return True for one training, False for several."""
    target = own_settings(name, folders).get("_target_")
    return target is None or issubclass(resolve(str(target)), Training)


SELFPLAY_USAGE = """\
usage: othello-lab selfplay [key=value ...]
       othello-lab positions FILE ... [key=value ...]

Make positions to learn from, each with its score: of games that an agent plays against itself, or
that files hold: WTHOR (.wtb), GGF, transcripts a line each, and folders of runs. They are written
to results/NAME/DATE/positions.parquet, split by game into train, validation and test. It can be
interrupted and resumed (othello-lab resume FOLDER).

  othello-lab selfplay --yes                       (with all defaults)
  othello-lab selfplay games=100000 depth=4 evaluation=composite
  othello-lab selfplay agent=mcts limits.nodes=1000 data.exact=12
  othello-lab selfplay agents=classics data.random_plies=[8,16]
  othello-lab positions WTH_2023.wtb games.ggf results/classics/2026-01-01_00-00-00

== Settings, here with their defaults; those of a run can be given too (run --help) ==
"""

PLAYED = (
    *("games", "agent", "agents", "depth", "evaluation", "openings", "limits"),
    *(f"{SELFPLAY.group}.{name}" for name in ("random_plies", "trace", "unit")),
)
"""Settings that only games which are played have."""
MEASURED = (
    *("schedule", "rating", "record", "export", "figures"),
    *("searches", "published"),
)
"""Settings of a run that say who is compared with whom, and what is told of it."""


def selfplay_command(arguments: Sequence[str], console: Console) -> int:
    """``selfplay [key=value ...]``; the exit code."""
    return _made("selfplay", arguments, console)


def positions_command(arguments: Sequence[str], console: Console) -> int:
    """``positions FILE ... [key=value ...]``; the exit code."""
    return _made("positions", arguments, console)


def _made(command: str, arguments: Sequence[str], console: Console) -> int:
    parser = SettingsParser(command)
    parser.add_argument("--yes", action="store_true")
    options = parser.parsed(arguments)
    if options.help:
        print(visible(selfplay_help(), keep="\n"), end="")
        return 0
    words = list(options.words)
    if command == "positions":
        files = [word for word in words if "=" not in word or Path(word).exists()]
        if not files:
            raise ConfigError("positions: FILE is needed: a .wtb, a .ggf, or the folder of a run")
        quoted = ",".join(_quoted(file) for file in files)
        words = [word for word in words if word not in files]
        words = [
            f"{SELFPLAY.group}.{word}" if word.startswith("partly=") else word for word in words
        ]
        reason = "games that are read are taken as they are"
        _refuse(words, PLAYED, f"{reason}, so it has no effect; it is a setting of selfplay")
        words = [f"name={command}", f"{SELFPLAY.group}.read=[{quoted}]", *words]
    reason = "positions are made here, and nobody is measured"
    _refuse(words, MEASURED, f"{reason}, so it has no effect; it is a setting of run")
    plan = selfplay.read(words, options.folders)
    if not words and not options.yes:
        settings = plan.plan.settings
        players = ", ".join(settings.agents)
        raise ConfigError(
            f"{command} would play {settings.games:,} games of {players} against itself and write "
            f"their positions to {settings.results}/{settings.name}/; say how many, such as "
            "games=1000, or --yes"
        )
    return selfplay.selfplay(plan, as_typed([command, *arguments]), console).exit_code


def _refuse(words: Sequence[str], settings: Sequence[str], why: str) -> None:
    """Raise ConfigError where a word sets one of these, or a part of it."""
    for word in words:
        key = word.lstrip("+~").partition("=")[0]
        if key in settings or key.partition(".")[0].partition("@")[0] in settings:
            raise ConfigError(f"{word}: {why}")


def _quoted(file: str) -> str:
    """Return a text quoted for Hydra."""
    escaped = file.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def selfplay_help() -> str:
    """Return the usage of the commands, and their settings as SelfPlay declares them."""
    return SELFPLAY_USAGE + "\n".join(settings_text(SELFPLAY.group, selfplay.NAME)) + "\n"
