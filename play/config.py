"""What a game at the board is: its settings, and the one way to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from othello_lab.agents.config import (
    ConfigError,
    choices,
    compose,
    fill_open,
    literal,
    one_line,
    short_name,
    unknown,
)
from othello_lab.core.game import Limits
from othello_lab.core.rules import RULESETS, Color, Ruleset, ruleset
from othello_lab.core.system.settings import (
    Choice,
    Number,
    Switch,
    Text,
    Whole,
    check_settings,
    nearest,
)

HUMAN = "human"
AUTO, UNICODE, ASCII = BOARDS = ("auto", "unicode", "ascii")
_SIDES = ("black", "white", "hint")
_DEFAULTS = {"black": HUMAN}  # which Hydra has no word for

_Settings = TypeVar("_Settings")
Settings = dict[str, Any]
"""Of an agent, as :func:`agents.config.build_agent` takes them."""


@dataclass
class RulesetConfig:
    name: Annotated[str, Choice(*RULESETS)] = "standard"


@dataclass
class LimitsConfig:
    depth: Annotated[int | None, Whole(1)] = None
    nodes: Annotated[int | None, Whole(1)] = None
    seconds: Annotated[float | None, Number(above=0)] = None
    hang: Annotated[float, Number(above=0)] = 60.0


@dataclass
class SeriesConfig:
    games: Annotated[int | None, Whole(1)] = None
    points: Annotated[int | None, Whole(1)] = None


@dataclass
class WebConfig:
    host: Annotated[str, Text(r"[\w.:-]{1,255}", "an address or the name of a host")] = "127.0.0.1"
    port: Annotated[int, Whole(1, 65535)] = 8377
    browser: Annotated[bool, Switch()] = True
    folder: Annotated[str, Text(r".+", "a folder")] = "results/web"
    runs: Annotated[str, Text(r".+", "a folder")] = "results"
    games: Annotated[int, Whole(1, 10_000)] = 50
    kept: Annotated[int, Whole(1)] = 1000
    seconds: Annotated[float, Number(above=0)] = 600.0
    cores: Annotated[int | None, Whole(1)] = None
    memory_mb: Annotated[int, Whole(1)] = 256
    message_kb: Annotated[int, Whole(1, 1024)] = 64
    messages: Annotated[int, Whole(1)] = 20


@dataclass
class PlayConfig:
    """As written in ``conf/play.yaml``; the comments there explain each setting."""

    ruleset: RulesetConfig = field(default_factory=RulesetConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    series: SeriesConfig = field(default_factory=SeriesConfig)
    web: WebConfig = field(default_factory=WebConfig)
    depth: Annotated[int, Whole(1, 64)] = 4
    seed: Annotated[int, Whole(0, (1 << 62) - 1)] = 1
    pause: Annotated[bool, Switch()] = False
    board: Annotated[str, Choice(*BOARDS)] = AUTO
    marks: Annotated[bool, Switch()] = True


@dataclass(frozen=True)
class PlayerSettings:
    """One who plays. name: of the agent in ``conf/agent``, or ``human``. agent: its settings; None
    for a person."""

    name: str
    agent: Settings | None = None

    @property
    def is_human(self) -> bool:
        return self.agent is None


PERSON = PlayerSettings(HUMAN)


@dataclass(frozen=True)
class Table:
    """All that a game needs to begin. hint: who is asked for hints. fill: what agents take for
    settings they leave open. folders: where further YAMLs are."""

    settings: PlayConfig
    players: dict[Color, PlayerSettings]
    hint: PlayerSettings
    fill: Settings
    folders: Sequence[str]

    @property
    def rules(self) -> Ruleset:
        return ruleset(self.settings.ruleset.name)

    @property
    def limits(self) -> Limits:
        asked = self.settings.limits
        return Limits(asked.depth, asked.nodes, asked.seconds)


def read(overrides: Sequence[str], folders: Sequence[str] = ()) -> Table:
    """Compose ``conf/play.yaml`` with overrides; no agent is built yet. Raise ConfigError."""
    config = compose("play", _with_sides(overrides, folders), folders)
    try:
        chosen = dict(config.hydra.runtime.choices)
        ours = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
        raw: Any = OmegaConf.to_container(ours, resolve=True, throw_on_missing=False)
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error)) from error
    sides = {side: raw.pop(side, None) for side in _SIDES}
    evaluation = raw.pop("evaluation")
    settings = _typed(raw)
    fill = {"depth": settings.depth, "evaluation": evaluation}
    players = {}
    for side, agent in sides.items():
        players[side] = PERSON
        if agent is not None:
            name = chosen.get(f"agent@{side}") or short_name(str(agent.get("_target_", side)))
            players[side] = player(str(name), agent, fill)
    seats = {color: players[color.value] for color in Color}
    return Table(settings, seats, players["hint"], fill, folders)


def _with_sides(overrides: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Return overrides in which ``white=greedy`` is ``agent@white=greedy``; a side of a person has
    no agent. Raise ConfigError for an unknown player, and for settings of a person."""
    players = [HUMAN, *choices("agent", folders)]
    chosen: dict[str, str] = {}
    rest = []
    for word in overrides:
        side, equals, value = word.partition("=")
        if side not in _SIDES or not equals:
            rest.append(word)
        elif value in players or ":" in value:
            chosen[side] = value
        else:
            raise unknown("player", value, players)
    people = {side for side, name in (_DEFAULTS | chosen).items() if name == HUMAN}
    for word in rest:
        side, dot, _ = word.lstrip("+~").partition("=")[0].partition(".")
        if dot and side in people:
            raise ConfigError(f"{word}: {side} is {HUMAN}; {side}=NAME puts an agent there")
    if "hint" in people:
        raise ConfigError("hint=human: hints are an agent's to give")
    agents = [f"agent@{side}={name}" for side, name in chosen.items() if side not in people]
    return [*agents, *(f"~agent@{side}" for side in people - set(_DEFAULTS)), *rest]


def player(name: str, agent: Mapping[str, Any], fill: Mapping[str, Any]) -> PlayerSettings:
    """An agent with its settings, open ones filled; raises ConfigError."""
    return PlayerSettings(name, fill_open({name: agent}, **fill)[0][name])


def typed(kind: type[_Settings], raw: Mapping[str, Any]) -> _Settings:
    """Settings in plain data as a dataclass declares them; raises ConfigError."""
    try:
        schema = OmegaConf.structured(kind)
        settings: Any = OmegaConf.to_object(OmegaConf.merge(schema, literal(raw)))
        check_settings(settings)
    except OmegaConfBaseException as error:
        key = str(getattr(error, "full_key", None) or "")
        first = str(error).splitlines()[0]
        if "not in" in first:
            known: Any = getattr(kind, "__dataclass_fields__", ())
            raise ConfigError(f"unknown setting '{key}'.{nearest(key, known)}") from error
        raise ConfigError(f"{key}: {first}") from error
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return settings


def _typed(raw: Mapping[str, Any]) -> PlayConfig:
    settings = typed(PlayConfig, raw)
    if settings.series.games is not None and settings.series.points is not None:
        raise ConfigError("series: games or points, not both")
    return settings


def read_plain(kind: type[_Settings], words: Iterable[str]) -> _Settings:
    """Settings that are said as ``key=value`` alone, with no YAML of ours; raises ConfigError."""
    given: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word}: key=value is needed")
        try:
            given[key] = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError):
            given[key] = value
    return typed(kind, given)


def config_folders(words: Sequence[str], allowed: Sequence[str] = ()) -> tuple[list[str], Settings]:
    """Command line words without their options, and these: ``--config-dir DIR`` and those allowed,
    each of which takes a value, or none if it is written with a ``!`` at its end."""
    takes = {f"--{name.rstrip('!')}": not name.endswith("!") for name in (*allowed, "config-dir")}
    rest: list[str] = []
    options: Settings = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            rest.append(word)
        elif name not in takes:
            raise ConfigError(f"unknown option {name}; choose from {', '.join(takes)}, --help")
        elif not takes[name]:
            options[name[2:]] = True
        elif equals or waiting:
            options[name[2:]] = value if equals else waiting.pop(0)
        else:
            raise ConfigError(f"{name}: a value is needed")
    if "config-dir" in options and not Path(options["config-dir"]).is_dir():
        raise ConfigError(f"--config-dir {options['config-dir']}: no such folder")
    return rest, options


def settings_of(side: str, words: Sequence[str], known: Mapping[str, Any]) -> list[str]:
    """``key=value`` of an agent as Hydra is told of them, the evaluation apart; ConfigError for
    what is none, or is no setting of the agent."""
    told = []
    for word in words:
        key, equals, _ = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"cannot read '{word}': settings are written key=value")
        first = key.partition(".")[0]
        if first not in known:
            listed = ", ".join(name for name in known if name != "_target_")
            raise ConfigError(f"it has no setting '{key}'; it has: {listed or 'none'}")
        if key != "evaluation":
            told.append(f"{side}.{word}")
    return told
