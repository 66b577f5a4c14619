"""The settings of a game at the board, and the one way to them."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

from othello_lab.agents.composing import choices, compose, load, plain, typed_value, unknown
from othello_lab.agents.config import (
    RulesetConfig,
    evaluation_settings,
    fill_open,
    short_name,
)
from othello_lab.core.game import Limits
from othello_lab.core.rules import Color, Ruleset, ruleset
from othello_lab.core.system.plain_yaml import parse_yaml
from othello_lab.core.system.settings import (
    Choice,
    ConfigError,
    Nameable,
    Number,
    Switch,
    Text,
    Whole,
    from_plain,
)

HUMAN = "human"
AUTO, UNICODE, ASCII = BOARDS = ("auto", "unicode", "ascii")
ON_SMALL_BOARDS = "disc_count"
"""The default heuristic there, as most others know 8x8 alone."""
LEVEL = "level"
"""The group of the opponents for people."""
CHAMPION = "champion"
"""The agent that no other can advise against."""
_SIDES = ("black", "white", "hint")
_DEFAULTS = {"black": HUMAN}  # which Hydra has no word for

_Settings = TypeVar("_Settings")
Settings = dict[str, Any]
"""Of an agent, as :func:`agents.config.build_agent` takes them."""


@dataclass
class PlayLimitsConfig:
    """The limits of all agents. The first one that a search reaches ends it."""

    depth: Annotated[int | None, Whole(1)] = None
    """Plies that a search may look ahead; None: no limit."""
    nodes: Annotated[int | None, Whole(1)] = None
    """Positions that it may enter, per move; None: no limit."""
    seconds: Annotated[float | None, Number(above=0)] = None
    """Seconds that it may take, per move; None: no limit."""
    hang: Annotated[float, Number(above=0)] = 60
    """Seconds without an answer after which an agent from outside the lab counts as hung. The lab's
    own may think as long as they like; Ctrl-C stops them."""


@dataclass
class SeriesConfig:
    """A series of games at the terminal, colours changing; without a bound, a single game."""

    games: Annotated[int | None, Whole(1)] = None
    """Games that one player has to win; None: no such bound."""
    points: Annotated[int | None, Whole(1)] = None
    """Points that one player has to reach, the sum of the margins won by; None: no such bound."""


@dataclass
class WebConfig:
    """The board in the browser (othello-lab play web)."""

    host: Annotated[str, Text(r"[\w.:-]{1,255}", "an address or the name of a host")] = "127.0.0.1"
    """Where the page is served. 127.0.0.1: to this machine alone; 0.0.0.0: to everybody who can 
    reach it, and they may use its processors."""
    port: Annotated[int, Whole(1, 65535)] = 8377
    """Port of the page."""
    browser: Annotated[bool, Switch()] = True
    """Open the page in the browser."""
    folder: Annotated[str, Text(r".+", "a folder")] = "results/web"
    """Folder of visitors' games."""
    runs: Annotated[str, Text(r".+", "a folder")] = "results"
    """The folder of the runs whose games can be looked at."""
    games: Annotated[int, Whole(1, 10_000)] = 50
    """Games that are open at once."""
    kept: Annotated[int, Whole(1)] = 1000
    """Number of visitors' games that are kept, the latest ones."""
    seconds: Annotated[float, Number(above=0)] = 600
    """Seconds after which a search is ended."""
    cores: Annotated[int | None, Whole(1)] = None
    """Searches at once; None: one for each core."""
    memory_mb: Annotated[int, Whole(1)] = 256
    """The largest memory, in MB, that a visitor may give to an agent."""
    total_memory_mb: Annotated[int | None, Whole(1)] = None
    """Memory, in MB, that the agents of all games may use together; None: a quarter of the
    machine's. Agents that were not asked for the longest time are ended first, and begin anew."""
    message_kb: Annotated[int, Whole(1, 1024)] = 512
    """Kilobytes in a message of a page."""
    messages: Annotated[int, Whole(1)] = 20
    """Messages of a page a second."""


@dataclass
class PlayConfig(Nameable):
    """The settings of a game at the board, with their defaults; ``conf/play.yaml`` has the
    choices."""

    ruleset: RulesetConfig = field(default_factory=RulesetConfig)
    limits: PlayLimitsConfig = field(default_factory=PlayLimitsConfig)
    series: SeriesConfig = field(default_factory=SeriesConfig)
    """A series at the terminal: it goes on, colours changing, until one player has won it."""
    web: WebConfig = field(default_factory=WebConfig)
    """The board in the browser (othello-lab play web)."""
    depth: Annotated[int, Whole(1, 64)] = 4
    """Plies searched by every agent that leaves its depth open."""
    seed: Annotated[int, Whole(0, (1 << 62) - 1)] = 1
    """All randomness of a game comes from this number; the next game takes the next one."""
    pause: Annotated[bool, Switch()] = False
    """Two agents: stop before every move, instead of playing on."""
    board: Annotated[str, Choice(*BOARDS)] = AUTO
    """Drawing of the board at the terminal; auto: the best that the terminal can show."""
    marks: Annotated[bool, Switch()] = True
    """Mark the squares that may be played on."""


@dataclass(frozen=True)
class PlayerSettings:
    """A player.

    name: of the agent in ``conf/agent``, or ``human``. agent: its settings; None for a person.
    timed: its settings under a limit on time, if they are others.
    """

    name: str
    agent: Settings | None = None
    timed: Settings | None = None

    @property
    def is_human(self) -> bool:
        return self.agent is None


PERSON = PlayerSettings(HUMAN)


@dataclass(frozen=True)
class GameSetup:
    """All that a game needs to begin. hint: the agent that gives hints. fill: values for settings
    that agents leave open. folders: places of further YAMLs."""

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
        limits = self.settings.limits
        return Limits(limits.depth, limits.nodes, limits.seconds)


def read(overrides: Sequence[str], folders: Sequence[str] = ()) -> GameSetup:
    """Compose ``conf/play.yaml`` with overrides; no agent is built yet. Raise ConfigError."""
    levels = levels_only(folders)
    named = {
        side: name
        for side, _, name in (word.partition("=") for word in overrides)
        if side in _SIDES and name in levels
    }
    config = compose("play", _with_sides(overrides, folders), folders)
    chosen, raw = dict(config.hydra.runtime.choices), plain(config)
    sides = {side: raw.pop(side, None) for side in _SIDES}
    evaluation = raw.pop("evaluation")
    settings = from_plain(PlayConfig, raw)
    if settings.series.games is not None and settings.series.points is not None:
        raise ConfigError("series: games or points, not both")
    said = any(word.partition("=")[0].startswith("evaluation") for word in overrides)
    if ruleset(settings.ruleset.name).side != 8 and not said:
        evaluation = evaluation_settings(ON_SMALL_BOARDS)
    deep = any(word.partition("=")[0] == "depth" for word in overrides)
    fill = {"depth": settings.depth, "evaluation": evaluation, "by_time": None if deep else True}
    players = {}
    for side, agent in sides.items():
        players[side] = PERSON
        if agent is not None:
            name = named.get(side) or chosen.get(f"agent@{side}")
            name = name or short_name(str(agent.get("_target_", side)))
            players[side] = player(str(name), agent, fill)
    seats = {color: players[color.value] for color in Color}
    return GameSetup(settings, seats, players["hint"], fill, folders)


def _with_sides(overrides: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Return overrides with ``agent@white=greedy`` in place of ``white=greedy``; a side of a person
    has no agent. Hints against the champion and against levels come from the champion. Raise
    ConfigError for an unknown player, and for settings of a person."""
    level_names = levels_only(folders)
    players = [HUMAN, *choices("agent", folders), *level_names]
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
    set_up = any(word.lstrip("+~").startswith("hint.") for word in rest)
    if {CHAMPION, *level_names} & set(chosen.values()) and "hint" not in chosen and not set_up:
        chosen["hint"] = CHAMPION
    people = {side for side, name in (_DEFAULTS | chosen).items() if name == HUMAN}
    for word in rest:
        side, dot, _ = word.lstrip("+~").partition("=")[0].partition(".")
        if dot and side in people:
            raise ConfigError(f"{word}: {side} is {HUMAN}; {side}=NAME puts an agent there")
    if "hint" in people:
        raise ConfigError("hint=human: hints are an agent's to give")
    agents = []
    for side, name in chosen.items():
        if name in level_names:
            agents += [f"~agent@{side}", level_word(side, name)]
        elif side not in people:
            agents.append(f"agent@{side}={name}")
    return [*agents, *(f"~agent@{side}" for side in people - set(_DEFAULTS)), *rest]


def level_word(where: str, name: str) -> str:
    """Return the override that puts a level at a where of a configuration."""
    return f"++{where}={typed_value(load(LEVEL, name))}"


def levels_only(folders: Sequence[str] = ()) -> list[str]:
    """Return the names of the levels (``conf/level``) that are no names of agents."""
    agents = choices("agent", folders)
    return [name for name in choices(LEVEL) if name not in agents]


def player(name: str, agent: Mapping[str, Any], fill: Mapping[str, Any]) -> PlayerSettings:
    """An agent with its settings, open ones filled; raises ConfigError."""
    return PlayerSettings(name, fill_open({name: agent}, **fill)[0][name])


def read_plain(kind: type[_Settings], words: Iterable[str]) -> _Settings:
    """Settings that are said as ``key=value`` alone, with no YAML of ours; raises ConfigError.

    A setting with settings of its own is one ``kind`` of them: ``isolation=process``.
    """
    given: dict[str, Any] = {}
    groups = {name for name, hint in get_type_hints(kind).items() if is_dataclass(hint)}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word}: key=value is needed")
        try:
            read = parse_yaml(value)
        except ValueError:
            read = value
        group, dot, inner = key.partition(".")
        if group in groups:
            given.setdefault(group, {})[inner if dot else "kind"] = read
        else:
            given[key] = read
    return from_plain(kind, given)


def is_local(host: str) -> bool:
    """Return True if a host can be reached from this machine alone."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def config_folders(
    words: Sequence[str], allowed: Sequence[str] = ()
) -> tuple[list[str], list[str], Settings]:
    """Return command line words without their options, the folder of ``--config-dir DIR``, if any,
    and the options that are allowed beside. Each takes a value, or none if it is written with a
    ``!`` at its end."""
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
    folders = [options.pop("config-dir")] if "config-dir" in options else []
    for folder in folders:
        if not Path(folder).is_dir():
            raise ConfigError(f"--config-dir {folder}: no such folder")
    return rest, folders, options
