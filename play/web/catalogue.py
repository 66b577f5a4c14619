"""The agents that a page may choose: those of ``conf/agent``, and their settings.

An agent and a heuristic are chosen by name from a list, and a setting is a number, a switch, or a
word without any of the letters of paths. Only a page of this machine alone may name a file, of an
own agent in the server's folder.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from othello_lab.agents.composing import (
    NEEDS_A_TARGET,
    OPEN,
    choices,
    compose,
    conf_folder,
    load,
    unknown,
)
from othello_lab.agents.config import evaluation_settings
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.external_agent import names_outside, own_kind
from othello_lab.agents.ladder import levels
from othello_lab.agents.named_code import named_code
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS, Ruleset
from othello_lab.core.system.files import read_text
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.settings import (
    Choice,
    ConfigError,
    Constraint,
    Number,
    Switch,
    Whole,
    constraints,
    unknown_choice,
)
from othello_lab.play.agent_process import checked_agent
from othello_lab.play.config import (
    HUMAN,
    LEVEL,
    PERSON,
    GameSetup,
    PlayerSettings,
    is_local,
    levels_only,
    player,
)
from othello_lab.play.web.messages import LONGEST_TEXT

EVALUATION = "evaluation"
_WORD = re.compile(r"[A-Za-z0-9_+]{1,80}")
_SIZES = ("_mb",)  # how names of settings end that are megabytes
_THREADS = "_threads"


@dataclass(frozen=True)
class PageSetting:
    """One that the page may change. default: in the YAML. about: the comment above it there."""

    name: str
    default: Any
    description: str
    constraint: Constraint | None
    optional: bool

    def check(self, value: Any, memory_mb: int) -> None:
        """Raise ConfigError for a value that may not come from a page. The agent checks the
        rest."""
        allowed: Any
        if isinstance(value, str):
            allowed = isinstance(self.default, str) and _WORD.fullmatch(value)
        elif isinstance(value, list):
            allowed = isinstance(self.default, list) and _numbers_only(value)
        elif value is None:
            allowed = self.optional
        else:
            allowed = isinstance(value, bool | int | float) and math.isfinite(value)
        if not allowed:
            raise ConfigError(f"{self.name}={value!s:.60}: not a value that can be set here")
        if self.name.endswith(_SIZES) and isinstance(value, int) and value > memory_mb:
            raise ConfigError(f"{self.name}={value}: at most {memory_mb} here (web.memory_mb)")
        cores = available_cores()
        if self.name.endswith(_THREADS) and isinstance(value, int) and value > cores:
            raise ConfigError(f"{self.name}={value}: at most {cores} here, one a processor")

    @property
    def data(self) -> dict[str, Any]:
        """Return the data for a field of the page's form."""
        field: dict[str, Any] = {
            "name": self.name,
            "default": self.default,
            "about": self.description,
            "optional": self.optional,
            "kind": "text",
        }
        match self.constraint:
            case Switch():
                field["kind"] = "switch"
            case Choice(choices=words):
                field |= {"kind": "choice", "choices": words}
            case Whole(low=low, high=high):
                field |= {"kind": "whole", "low": low, "high": high}
            case Number(low=low, above=above, high=high, below=below):
                ends = max(low, above), min(high, below)
                least, most = (end if math.isfinite(end) else None for end in ends)
                field |= {"kind": "number", "low": least, "high": most}
            case Constraint() as sized if sized.allows(1):
                field |= {"kind": "whole", "low": 1, "high": None}
            case None if isinstance(self.default, bool):
                field["kind"] = "switch"
        return field


def _numbers_only(value: list[Any]) -> bool:
    return all(
        _numbers_only(item) if isinstance(item, list) else type(item) is int for item in value
    )


@dataclass(frozen=True)
class CatalogueEntry:
    """An agent of the list. raw: its YAML, open settings as they stand there."""

    name: str
    description: str
    raw: dict[str, Any]
    settings: dict[str, PageSetting]

    @property
    def takes_evaluation(self) -> bool:
        return self.raw.get(EVALUATION) == OPEN


class Catalogue:
    """The agents and heuristics that a page may name."""

    def __init__(self, setup: GameSetup) -> None:
        self._setup = setup
        self.own_agents = is_local(setup.settings.web.host)
        self.agents = _listed(setup)
        self.levels = levels()
        self._trusted = list(setup.players.values())
        self._level_agents = {name: load(LEVEL, name) for name in levels_only(setup.folders)}
        self.evaluations = dict(choices("evaluation"))
        self.evaluations.pop(NEEDS_A_TARGET, None)
        self._evaluation_settings = {name: evaluation_settings(name) for name in self.evaluations}

    def player(self, name: str, settings: Mapping[str, Any], rules: Ruleset) -> PlayerSettings:
        """The player that a page asks for; raises ConfigError."""
        if name == HUMAN:
            if settings:
                raise ConfigError(f"a person has no settings, such as '{next(iter(settings))}'")
            return PERSON
        if self.is_level(name) and settings:
            raise ConfigError(f"level {name} has no settings here; its agent has them")
        if not self.is_level(name) and name not in self.agents:
            raise unknown("player", name, [HUMAN, *self.agents, *self._level_agents])
        changed = dict(self._level_agents[name] if self.is_level(name) else self.agents[name].raw)
        for key, value in settings.items():
            listed = self.agents[name]
            if key == EVALUATION and listed.takes_evaluation:
                changed[key] = self.evaluation(value)
            elif key in listed.settings:
                listed.settings[key].check(value, self._setup.settings.web.memory_mb)
                changed[key] = value
            else:
                known = [*listed.settings, *[EVALUATION] * listed.takes_evaluation]
                raise ConfigError(unknown_choice(f"setting of {name}", key, known))
        chosen = self._filled(name, changed)
        checked_agent(chosen, rules, self._setup.limits)
        return chosen

    def _filled(self, name: str, raw: Mapping[str, Any]) -> PlayerSettings:
        return player(name, raw, self._setup.fill)

    def knows(self, player: PlayerSettings) -> bool:
        """Return True for a person, for an agent of the list, and for a level."""
        return player.is_human or player.name in self.agents or self.is_level(player.name)

    def is_level(self, name: str) -> bool:
        """Return True for the name of a level that is no agent's."""
        return name in self._level_agents

    def may_play(self, player: PlayerSettings) -> bool:
        """Return True for a player that may be taken from the file of a game: a person, one that
        this server has been told of, or an agent that consists of parts of the list alone."""
        if player.is_human or player in self._trusted:
            return True
        if player.name in self._level_agents:
            raw = self._level_agents[player.name]
        elif player.name in self.agents:
            raw = self.agents[player.name].raw
        else:
            return False
        # Code or a program from outside the lab has to be the very one of the list.
        if names_outside(raw) or getattr(own_kind(raw), "from_outside", True):
            return player.agent == self._filled(player.name, raw).agent
        known = _targets(raw).union(*map(_targets, self._evaluation_settings.values()))
        return _targets(player.agent) <= known

    def trust(self, player: PlayerSettings) -> None:
        """Let a player in that the command line or a page has named by its path."""
        self._trusted.append(player)

    def evaluation(self, name: Any) -> dict[str, Any]:
        """The settings of a heuristic that a page asks for by its name; raises ConfigError."""
        if not isinstance(name, str) or name not in self.evaluations:
            raise unknown(EVALUATION, str(name)[:80], self.evaluations)
        return self._evaluation_settings[name]

    def chosen(self, player: PlayerSettings) -> dict[str, Any]:
        """Return the settings of a player as a page would send them: the changed ones."""
        if player.agent is None or player.name not in self.agents:
            return {}
        listed = self.agents[player.name]
        changes = {
            key: player.agent[key]
            for key, setting in listed.settings.items()
            if key in player.agent and player.agent[key] != setting.default
        }
        if listed.takes_evaluation:
            for name, settings in self._evaluation_settings.items():
                if player.agent[EVALUATION] == settings:
                    changes[EVALUATION] = name
        return changes

    @property
    def data(self) -> dict[str, Any]:
        """All that a page needs for its forms."""
        return {
            "agents": [
                {
                    "name": listed.name,
                    "about": listed.description,
                    "evaluation": listed.takes_evaluation,
                    "settings": [setting.data for setting in listed.settings.values()],
                }
                for listed in self.agents.values()
            ],
            "levels": [
                {
                    "name": level.name,
                    "about": f"{level.summary}. Elo {level.elo} {level.interval}.",
                    "elo": level.elo,
                }
                for level in self.levels
            ],
            "evaluations": [
                {"name": name, "about": text} for name, text in self.evaluations.items()
            ],
            "rulesets": [
                {
                    "name": rules.name,
                    "side": rules.side,
                    "begins": rules.begins.value,
                    "first_row_on_top": rules.first_row_on_top,
                    "start": Position.start(rules).to_obf().split()[0],
                }
                for rules in RULESETS.values()
            ],
            "own_agents": self.own_agents,
            "depth": self._setup.settings.depth,
            "final": FINAL_UNIT,
            "longest_text": LONGEST_TEXT,
        }


def _targets(settings: Any) -> set[str]:
    """Return all code that settings name."""
    return {code.target for code in named_code(settings)}


def _listed(setup: GameSetup) -> dict[str, CatalogueEntry]:
    """Return all agents, composed at once: it takes Hydra as long as a single one. Agents that need
    a program or a file are left out: no page may name one."""
    descriptions = choices("agent", setup.folders)
    composed = compose(None, [f"+agent@all.{name}={name}" for name in descriptions], setup.folders)
    raw: Any = OmegaConf.to_container(composed.all, resolve=False)
    comments = _comments(setup)
    return {
        name: CatalogueEntry(
            name, descriptions[name], raw[name], _settings(raw[name], setup.fill, comments)
        )
        for name in descriptions
        if not any(value == OPEN and key not in setup.fill for key, value in raw[name].items())
    }


def _settings(
    raw: Mapping[str, Any], fill: Mapping[str, Any], comments: Mapping[str, str]
) -> dict[str, PageSetting]:
    """Return the settings of an agent with this YAML that a page may change."""
    declared: dict[str, tuple[Constraint, bool]] = {}
    kind: Any = own_kind(raw)
    if kind is not None:
        if kind.from_outside:
            return {}  # a program, or a function: what it is told is its owner's to say
        declared = dict(constraints(kind))
        if inspect.isfunction(kind.__init__):  # a class without one has object's
            declared |= constraints(kind.__init__)
    settings = {}
    for key, value in raw.items():
        if key in ("_target_", EVALUATION) or isinstance(value, Mapping):
            continue
        constraint, optional = declared.get(key, (None, value is None))
        default = fill.get(key) if value == OPEN else value
        settings[key] = PageSetting(key, default, comments.get(key, ""), constraint, optional)
    return settings


def _comments(setup: GameSetup) -> dict[str, str]:
    """The comments above settings in the YAMLs of agents, by name of the setting."""
    comments: dict[str, str] = {"depth": "Plies that it looks ahead."}
    folders = [conf_folder(), *map(Path, setup.folders)]
    for path in (path for folder in folders for path in sorted((folder / "agent").glob("*.yaml"))):
        above: list[str] = []
        for line in read_text(path).splitlines():
            if line.startswith("#"):
                above.append(line[1:].strip())
                continue
            if (match := re.match(r"(\w+):", line)) and above and match[1] != "_target_":
                comments.setdefault(match[1], " ".join(above))
            above = []
    return comments
