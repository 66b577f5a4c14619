"""Descriptions of agents, from their settings and from the docstrings of their classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from othello_lab.agents.agent import Agent, Purpose
from othello_lab.agents.conf_folder import NEEDS_A_TARGET
from othello_lab.agents.config import (
    OPEN,
    ConfigError,
    build_agent,
    choices,
    compose,
    load_evaluation,
    one_line,
)
from othello_lab.agents.evaluation import Composite, Evaluation
from othello_lab.agents.learned.weights import ABOUT, SHIPPED
from othello_lab.agents.limited import Limited
from othello_lab.agents.search.limits import allotment
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.settings import Meanings, Setting, declared, summary
from othello_lab.experiments.config import settings_of

_ELSEWHERE = ("evaluation", "compiled")  # settings that are told of elsewhere, or change no move
_LONGEST = 80  # characters of a value of such a YAML

_ROLE = re.compile(r":\w+:`(?:~(?:[^`]*\.)?)?([^`]+)`")
_RAISES = re.compile(r"\s*\bRaises \w+Error .*$")
_SENTENCE = re.compile(r"(?<=[^.\d]\.)\s+(?=[A-Z`*(])")


# ---------------------------------------------------------------------- what docstrings say


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a docstring, each on one line, as Markdown."""
    lines = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    return [_ROLE.sub(r"`\1`", line).replace("``", "`") for line in lines if line]


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring as Markdown, without its full stop, or a reference
    to a page with more."""
    first = _SENTENCE.split(next(iter(paragraphs(text)), ""))[0]
    return re.sub("; see `[^`]*`", "", first.removesuffix("."))


# ---------------------------------------------------------------------- evaluations


@dataclass(frozen=True, eq=False)
class EvaluationDescription:
    """An evaluation. name: in ``conf/evaluation``, or in words where it is none of these. about:
    the first line there."""

    name: str
    about: str
    evaluation: Evaluation
    described: Mapping[str, Any]

    @cached_property
    def _paragraphs(self) -> list[str]:
        return paragraphs(summary(type(self.evaluation)))

    @property
    def text(self) -> list[str]:
        """Its formula, range and source."""
        told = [_RAISES.sub("", part) for part in self._paragraphs]
        return [part for part in told if part and not part.startswith("Why: ")]

    @property
    def why(self) -> str:
        """Why it is a good choice; "" where its docstring does not say."""
        found = (p.removeprefix("Why: ") for p in self._paragraphs if p.startswith("Why: "))
        return next((f"{part[:1].upper()}{part[1:]}" for part in found), "")

    @property
    def weights(self) -> tuple[list[str], list[list[str]]] | None:
        """Heads and rows of a table of its weights, or of the way they were learnt."""
        if isinstance(self.evaluation, Composite):
            return _composite_weights(self.evaluation)
        return _learned_from(self.described.get("weights"))


def _composite_weights(composite: Composite) -> tuple[list[str], list[list[str]]]:
    ranges = composite.ranges
    heads = [f"{low} to {high} empties" for low, high in ranges]
    heads = ["weight"] if len(heads) == 1 else heads
    rows = [
        [name, *(f"{stage.get(name, 0):g}" for stage in composite.stages)]
        for name in composite.features
    ]
    return ["feature", *heads], rows


def _learned_from(weights: Any) -> tuple[list[str], list[list[str]]] | None:
    """Yield the facts in the side file of learned weights, one a row; ConfigError."""
    if not isinstance(weights, str):
        return None
    beside = Path(weights).with_suffix(ABOUT)
    path = beside if beside.is_file() else SHIPPED / f"{weights}{ABOUT}"
    if not path.is_file():
        return None
    try:
        said = read_yaml(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {one_line(error)}") from error
    if not isinstance(said, Mapping):
        raise ConfigError(f"{path}: facts by name are needed, as the training writes them")
    return ["", ""], [[name, value] for name, value in _facts(said)]


def _facts(said: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, str]]:
    for key, value in said.items():
        name = f"{above}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _facts(value, f"{name}, ")
        else:
            listed = value if isinstance(value, list) else [value]
            text = ", ".join(f"{each:.4g}" if type(each) is float else str(each) for each in listed)
            yield name, text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


class EvaluationDescriptions:
    """All evaluations, by name."""

    def __init__(self, folders: Sequence[str] = ()) -> None:
        self._about = choices("evaluation", folders)
        self._names = {
            repr(load_evaluation(name)): name
            for name in choices("evaluation")
            if name != NEEDS_A_TARGET
        }

    def of(self, agent: Agent, settings: Mapping[str, Any]) -> EvaluationDescription | None:
        """Return that of an agent with these settings; None for an agent that has none."""
        evaluation = getattr(agent, "evaluation", None)
        if not isinstance(evaluation, Evaluation):
            return None
        name = self._names.get(repr(evaluation), evaluation.name)
        described = settings.get("evaluation")
        described = described if isinstance(described, Mapping) else {}
        return EvaluationDescription(name, self._about.get(name, ""), evaluation, described)


# ---------------------------------------------------------------------- searches


@dataclass(frozen=True)
class Technique:
    """A setting that is on, with a sentence on its effect. purpose: its purpose, None if none is
    declared."""

    purpose: Purpose | None
    setting: str
    does: str


def techniques(agent: Agent) -> list[Technique]:
    """Return the techniques that an agent adds to those of its class, by purpose."""
    taken = inspect.signature(type(agent)).parameters
    found = [
        Technique(setting.note(Purpose), _as_set(name, value), _does(setting, value))
        for name, setting in declared(type(agent)).items()
        if name in taken
        and name not in _ELSEWHERE
        and _is_on(setting, value := getattr(agent, name))
    ]
    order = [*Purpose, None]
    return sorted(found, key=lambda each: order.index(each.purpose))


def _is_on(setting: Setting, value: Any) -> bool:
    """Return True if a setting is worth mention: one with a purpose if it is in use, others if they
    differ from their default."""
    if setting.note(Purpose) is not None and (value is True or setting.note(Meanings) is not None):
        return True
    return value is not None and value is not False and value != setting.default


def _as_set(name: str, value: object) -> str:
    return name if value is True else f"{name}: {value}"


def _does(setting: Setting, value: Any) -> str:
    if (meanings := setting.note(Meanings)) is not None:
        return "; then ".join(meanings(value).values())
    return first_sentence(setting.about)


def how_it_searches(kind: type[Agent]) -> list[str]:
    """Return the paragraphs of a class's docstring on its way of choosing a move, and its
    sources."""
    first, *others = paragraphs(summary(kind)) or [""]
    return [first, *(part for part in others if part.startswith("Source"))]


def time_rule() -> str:
    """Return a search's rule for sharing out its time."""
    return paragraphs(str(allotment.__doc__))[-1]


# ---------------------------------------------------------------------- portraits


@dataclass(frozen=True, eq=False)
class AgentDescription:
    """An agent of a line-up. settings: as the line-up leaves them, with some left open (``???``).
    filled: the same with all that a run fills in. judgement: its evaluation, if it has one."""

    name: str
    settings: Mapping[str, Any]
    filled: Mapping[str, Any]
    agent: Agent
    judgement: EvaluationDescription | None

    @property
    def kind(self) -> type[Agent]:
        """Its class."""
        return type(self.agent)

    @property
    def limits(self) -> str:
        """Limits of its own, used in every run; "" for none."""
        own = {key: self.filled.get(key) for key in ("nodes", "seconds", "cpu_seconds")}
        if not str(self.filled.get("_target_")).endswith(Limited.__name__):
            return ""
        words = {"cpu_seconds": "seconds of processor time"}
        parts = [f"{value:g} {words.get(key, key)}" for key, value in own.items() if value]
        return " and ".join(parts)

    @cached_property
    def techniques(self) -> list[Technique]:
        return techniques(self.agent)

    def named_in(self, recorded: Mapping[str, Mapping[str, Any]]) -> str | None:
        """Return its name in a record of these agents; None if it does not play.

        An agent with a setting that the line-up leaves open must have its own name there, because
        others may be alike in the rest.
        """
        closed = OPEN not in str(dict(self.settings))
        for name, settings in recorded.items():
            inner = settings
            while not _fits(self.settings, inner) and isinstance(inner.get("agent"), Mapping):
                inner = inner["agent"]
            if _fits(self.settings, inner) and (closed or name == self.name):
                return name
        return None

    def is_in(self, others: Iterable[AgentDescription]) -> bool:
        """Return True if one of the others is the same player."""
        return any(self.name == each.name and self.settings == each.settings for each in others)


def _fits(asked: Any, recorded: Any) -> bool:
    """Return True if settings are those of a record. A setting that is left open may have any value
    there."""
    if asked == OPEN:
        return True
    if isinstance(asked, Mapping) and isinstance(recorded, Mapping):
        return set(asked) == set(recorded) and all(_fits(asked[k], recorded[k]) for k in asked)
    if isinstance(asked, list | tuple) and isinstance(recorded, list | tuple):
        return len(asked) == len(recorded) and all(map(_fits, asked, recorded))
    return bool(asked == recorded)


def portraits(
    overrides: Sequence[str], judgements: EvaluationDescriptions, folders: Sequence[str] = ()
) -> list[AgentDescription]:
    """All agents of the line-up in these settings of a run (``agents=classics``); ConfigError."""
    left: Any = OmegaConf.to_container(compose("run", overrides, folders).agents, resolve=False)
    filled = settings_of(overrides, folders).agents
    made = []
    for name, settings in filled.items():
        agent, inner = build_agent(settings, name), settings
        while isinstance(agent, Limited):
            agent, inner = agent.agent, inner["agent"]
        made.append(
            AgentDescription(name, left[name], settings, agent, judgements.of(agent, inner))
        )
    return made
