"""Putting a training's result into the lab itself: weights with their provenance, and YAML."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
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
from othello_lab.training.champion import PATTERNS, ChampionFiles
from othello_lab.training.learned_files import StepResult
from othello_lab.training.steps import final_label

MOST_BYTES = 5_000_000
"""Of all weights that come with the lab."""


def ship(name: str, kept: StepResult, folder: Path, say: Callable[[str], None]) -> None:
    """Put the result of the training of this name, in this folder, into the lab: weights and side
    file into ``agents/learned/shipped``, and ``conf/evaluation/NAME.yaml`` with the numbers that
    are not in a file of weights. say: prints each file."""
    weights, shipped = kept.weights(folder), learned.SHIPPED
    values = {learned.VALUES: learned.values_of(kept.built(folder))}
    settings = dict(kept.evaluation)
    about = shipped / f"{name}{learned.ABOUT}"
    shipped.mkdir(exist_ok=True)
    if weights is not None:
        settings["weights"] = name
        weights = dataclasses.replace(weights, about={**weights.about, **values})
        say(f"ships  {weights.write(shipped / name)}")
    else:
        said = {**kept.about, **values}
        write_file(about, yaml.safe_dump(said, sort_keys=False, width=100), durable=True)
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
    head = f"# Learned by othello-lab train {name}\n"
    if conf.exists():
        lines = read_text(conf).splitlines(keepends=True)
        head = "".join(line for line in lines[: _comments(lines)])
    # Lists and mappings of numbers in a line each: a composite has one for each stage.
    nested = any(isinstance(value, list | dict) for value in settings.values())
    style = None if nested else False
    return head + yaml.safe_dump(
        settings, sort_keys=False, allow_unicode=True, default_flow_style=style, width=100
    )


def _comments(lines: list[str]) -> int:
    """Return the number of comment lines at the beginning."""
    return next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))


def ship_folder(folder: Path, say: Callable[[str], None]) -> None:
    """Ship the result of a complete training, or of all trainings in a folder; ConfigError."""
    with reading(folder, TRAINING.word) as record:
        about = record.head()
    if not about["complete"]:
        raise ConfigError(f"{folder}: this training is not complete; resume goes on with it")
    described = about["config"][TRAINING.group]
    if "trainings" in described:
        for name in described["trainings"]:
            ship_folder(folder / name, say)
        return
    if (files := ChampionFiles(folder)).probcut.is_file():
        ship_champion(files, say)
        return
    label = final_label(about["name"], described.get("curve") or ())
    ship(about["name"], StepResult.read(folder, label), folder, say)
    say(f"shipped {counted(1, 'training')}: {about['name']}")


def ship_champion(files: ChampionFiles, say: Callable[[str], None]) -> None:
    """Put the parts of the champion into the lab: weights of patterns (the solver sorts by them
    too), ProbCut's parameters, and balanced openings of the same length as the lab's."""
    ship_folder(files.patterns, say)
    places = {files.probcut: FITTED / f"{PATTERNS}.yaml"}
    if files.openings.stem == BALANCED.stem:
        for made in (files.openings, files.openings.with_suffix(".yaml")):
            places[made] = BALANCED.with_suffix(made.suffix)
    for made, place in places.items():
        write_file(place, read_text(made), durable=True)
        say(f"ships  {place}")
