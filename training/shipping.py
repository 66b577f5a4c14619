"""Putting a training's result into the lab itself: weights with their provenance, and YAML."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

import yaml

from othello_lab.agents.composing import conf_folder
from othello_lab.agents.learned import weights as learned
from othello_lab.agents.search.window.probcut import FITTED
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.files import read_text, write_file
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.pairing.openings import BALANCED
from othello_lab.experiments.record.reading import reading
from othello_lab.training.learned_files import PATTERNS, ChampionFiles, StepResult
from othello_lab.training.steps import final_label

MOST_BYTES = 5_000_000
"""Of all weights that come with the lab."""


def ship(name: str, result: StepResult, folder: Path, say: Callable[[str], None]) -> None:
    """Put the result of the training of this name, in this folder, into the lab: weights and side
    file into ``agents/learned/shipped``, and ``conf/evaluation/NAME.yaml`` with the numbers that
    are not in a file of weights. say: prints each file."""
    weights, shipped = result.weights(folder), learned.SHIPPED
    values = {learned.VALUES: learned.values_of(result.built(folder))}
    settings = dict(result.evaluation)
    about = shipped / f"{name}{learned.ABOUT}"
    shipped.mkdir(exist_ok=True)
    if weights is not None:
        settings["weights"] = name
        weights = dataclasses.replace(weights, about={**weights.about, **values})
        say(f"ships  {weights.write(shipped / name)}")
    else:
        text = yaml.safe_dump({**result.about, **values}, sort_keys=False, width=100)
        write_file(about, text, durable=True)
    say(f"ships  {about}")
    conf = conf_folder() / "evaluation" / f"{name}.yaml"
    if weights is None or not conf.exists():
        write_file(conf, _yaml(name, conf, settings), durable=True)
        say(f"ships  {conf}")
    total = sum(path.stat().st_size for path in shipped.glob(f"*{learned.ARRAYS}"))
    if total > MOST_BYTES:
        say(f"all weights take {total:,} bytes, more than the {MOST_BYTES:,} that are wanted")


def _yaml(name: str, conf: Path, settings: dict[str, object]) -> str:
    """Return the file of an evaluation; a person's comments at its beginning stay."""
    head = [f"# Learned by othello-lab train {name}\n"]
    if conf.exists():
        lines = read_text(conf).splitlines(keepends=True)
        head = list(takewhile(lambda line: line.startswith("#"), lines))
    # Lists and mappings of numbers in a line each: a composite has one for each stage.
    nested = any(isinstance(value, list | dict) for value in settings.values())
    style = None if nested else False
    return "".join(head) + yaml.safe_dump(
        settings, sort_keys=False, allow_unicode=True, default_flow_style=style, width=100
    )


def ship_folder(folder: Path, say: Callable[[str], None]) -> None:
    """Ship the result of a complete training, or of all trainings in a folder; ConfigError."""
    with reading(folder, TRAINING.word) as record:
        head = record.head()
    if not head["complete"]:
        raise ConfigError(f"{folder}: this training is not complete; resume goes on with it")
    settings = head["config"][TRAINING.group]
    if "trainings" in settings:
        for name in settings["trainings"]:
            ship_folder(folder / name, say)
        return
    if (files := ChampionFiles(folder)).probcut.is_file():
        ship_champion(files, say)
        return
    label = final_label(head["name"], settings.get("curve") or ())
    ship(head["name"], StepResult.read(folder, label), folder, say)
    say(f"shipped {counted(1, 'training')}: {head['name']}")


def ship_champion(files: ChampionFiles, say: Callable[[str], None]) -> None:
    """Put the parts of the champion into the lab: weights of patterns (the solver sorts by them
    too), ProbCut's parameters, and balanced openings of the same length as the lab's."""
    ship_folder(files.patterns, say)
    targets = {files.probcut: FITTED / f"{PATTERNS}.yaml"}
    if files.openings.stem == BALANCED.stem:
        for source in (files.openings, files.openings.with_suffix(".yaml")):
            targets[source] = BALANCED.with_suffix(source.suffix)
    for source, target in targets.items():
        write_file(target, read_text(source), durable=True)
        say(f"ships  {target}")
