"""The way from a training's name and settings to a plan, and to the steps of carrying it out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from othello_lab.agents.composing import conf_folder, unknown
from othello_lab.core.system.plain_yaml import checked_text
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.studies import study_plan as studies
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.training.training import TRAINED, Training, TrainingStudy

MEASURED_BY = {"agents": "heuristics_ab", "openings": "balanced", "games": "1000"}
"""What of a run is otherwise in a training: the matches that measure it."""
_FIRST_ROUND = 8
"""The first round of a learning curve ends at this part of its first stop."""


def read(name: str, overrides: Sequence[str], folders: Sequence[str] = ()) -> StudyPlan:
    """The plan of the training of this name with overrides (``train.rate=0.1``, ``games=200``), and
    further folders of YAMLs; raises ConfigError."""
    said = {word.lstrip("+~").partition("=")[0].partition("@")[0] for word in overrides}
    said |= _said_by(name, folders)
    _check_rounds(name, overrides, folders)
    usual = [f"{key}={value}" for key, value in MEASURED_BY.items() if key not in said]
    asked = [each for word in overrides for each in _for_hydra(word)]
    return studies.read(name, [*usual, *asked], folders, TRAINING, TrainingStudy, ("depth",))


def _check_rounds(name: str, overrides: Sequence[str], folders: Sequence[str]) -> None:
    """Raise ConfigError for a setting of a round that there is not: Hydra would begin a new one."""
    rounds: Mapping[str, Any] = own_settings(name, folders).get("rounds") or {}
    for word in overrides if rounds else ():
        found = re.match(rf"{TRAINING.group}\.rounds\.([^.=]+)\.", word)
        if found and found[1] not in rounds:
            raise unknown(f"round of {name}", found[1], rounds)


def _said_by(name: str, folders: Sequence[str]) -> set[str]:
    """Return the settings of a run in a training's own YAML, and in those it is made of."""
    content = own_yaml(name, folders)
    said = set(content)
    for each in content.get("defaults", ()):
        if isinstance(each, dict):
            said |= {str(key).rpartition("/")[2] for key in each}
        elif each != "_self_":
            said |= _said_by(each, folders)
    return said


def own_settings(name: str, folders: Sequence[str] = ()) -> dict[str, Any]:
    """Return the settings of learning in the YAML of a training."""
    content = own_yaml(name, folders)
    return dict(content.get(TRAINING.group, content))  # a file may be of its group alone


def own_yaml(name: str, folders: Sequence[str] = ()) -> dict[str, Any]:
    """Return the content of a training's YAML itself, without the options it is composed of; empty
    for none."""
    for folder in [*folders, str(conf_folder())]:
        path = Path(folder, TRAINING.group, f"{name}.yaml")
        if path.is_file():
            made = OmegaConf.create(checked_text(path))
            content: Any = OmegaConf.to_container(made, resolve=False)
            return {str(key): value for key, value in content.items()}
    return {}


def _for_hydra(word: str) -> Iterator[str]:
    """Return an override in Hydra's form. Settings of every training are not in each one's file,
    but in its class; and a mapping replaces the one before, while Hydra would add to it."""
    if not word.startswith(f"{TRAINING.group}."):
        yield word
        return
    key, _, value = word.partition("=")
    if value.startswith("{"):
        yield f"++{key}=null"
    yield f"++{word}"


@dataclass(frozen=True)
class TrainingStep:
    """A part of a training that is done, or not.

    key: its name, unique in the training. about: its work, in words.
    """

    key: str
    about: str


@dataclass(frozen=True)
class PlayStep(TrainingStep):
    """A round of self-play. settings: of the round. trained: the label of the evaluation that plays
    as ``trained``. minutes: the stop of a learning curve that it leads to, on two cores, and share:
    its part of the time that the steps before have left until then; None: the number of games in
    the settings."""

    settings: Mapping[str, Any]
    trained: str | None = None
    minutes: float | None = None
    share: float = 1.0


@dataclass(frozen=True)
class LearnStep(TrainingStep):
    """Learning; its key is the label of the result.

    folder: of its context. rounds: keys of those with the positions it learns from, if the training
    makes its own. minutes: budget, on two cores, None for no bound. until: True if that is a budget
    for all steps up to this one. mark: its stop of the learning curve, minutes.
    """

    folder: str
    rounds: tuple[str, ...] = ()
    minutes: float | None = None
    until: bool = False
    mark: float | None = None


@dataclass(frozen=True)
class MatchStep(TrainingStep):
    """A run that measures results; its key is the name of its folder. labels: of the players.
    curve: True if these are the stops of a learning curve."""

    labels: tuple[str, ...]
    curve: bool = False


def final_label(name: str, curve: Sequence[float]) -> str:
    """Return the label of a training's last result."""
    return f"{name}_{curve[-1]:g}min" if curve else name


def last_rounds(name: str, training: Training) -> tuple[str, ...]:
    """The rounds that a training learns from at last, as far as it makes its own."""
    return [step for step in steps_of(name, training) if isinstance(step, LearnStep)][-1].rounds


def steps_of(name: str, training: Training) -> list[TrainingStep]:
    """All steps of a training, in order."""
    own = dict(training.rounds) if not training.data else {}
    to_learn_from = own if training.needs_positions else {}
    way = _curve if training.curve else _whole
    steps = list(way(name, training, to_learn_from))
    if not training.needs_positions:
        steps += [PlayStep(each, _about_round(each), said) for each, said in own.items()]
    learned = [step for step in steps if isinstance(step, LearnStep)]
    if training.matches:
        steps.append(MatchStep("matches", "matches against every agent", (learned[-1].key,)))
        if training.curve:
            labels = tuple(step.key for step in learned if step.mark is not None)
            steps.append(MatchStep("ladder", "matches of the learning curve", labels, True))
    return steps


def _about_round(name: str) -> str:
    return f"self-play, round {name}"


def _whole(name: str, training: Training, rounds: Mapping[str, Any]) -> Iterator[TrainingStep]:
    """The rounds, learning in between where the next one plays with it, and at the end."""
    done: list[str] = []
    label = None
    for each, settings in rounds.items():
        if settings.get("agent") == TRAINED:
            label = f"{name}_{done[-1]}"
            about = f"learning from {', '.join(done)}"
            yield LearnStep(label, about, f"learn-{done[-1]}", _latest(training, done))
        yield PlayStep(each, _about_round(each), settings, label)
        done.append(each)
    yield LearnStep(name, "learning", "learn", _latest(training, done), training.minutes)


def _curve(name: str, training: Training, rounds: Mapping[str, Any]) -> Iterator[TrainingStep]:
    """Up to each stop of the learning curve rounds, as long as their share, and learning."""
    kinds, done = list(rounds.values()), list[str]()
    label = None
    stops = _stops(training.curve) if kinds else training.curve
    for number, stop in enumerate(stops):
        text = f"{stop:g}min"
        if kinds:
            settings = kinds[min(number, len(kinds) - 1)]
            about = f"self-play up to {stop:g} minutes"
            yield PlayStep(f"round-{text}", about, settings, label, stop, training.playing)
            done.append(f"round-{text}")
        label, about = f"{name}_{text}", f"learning up to {stop:g} minutes"
        folder = "learn" if training.goes_on else f"learn-{text}"
        mark = stop if stop in training.curve else None
        of_rounds = _latest(training, done)
        yield LearnStep(label, about, folder, of_rounds, stop, until=bool(kinds), mark=mark)


def _latest(training: Training, done: list[str]) -> tuple[str, ...]:
    """The rounds that are learned from, once these are done."""
    return tuple(done[-training.recent :] if training.recent else done)


def _stops(marks: Sequence[float]) -> list[float]:
    """Return the ends of rounds: each mark, and before it wherever that is twice as late as the end
    before, down to a part of the first mark."""
    first = marks[0] / _FIRST_ROUND
    stops = set(marks)
    for mark in marks:
        earlier = max([stop for stop in marks if stop < mark], default=first / 2)
        while mark / 2 > earlier:
            mark /= 2
            stops.add(mark)
    return sorted(stops)
