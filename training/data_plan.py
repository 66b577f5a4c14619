"""Plans for making positions: the settings of ``selfplay``, and the way to a plan."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from othello_lab.agents.config import ConfigError, build, compose, fill_open, one_line
from othello_lab.core.system.settings import (
    Choice,
    Each,
    Nameable,
    Number,
    Switch,
    Text,
    Whole,
    check_settings,
    nearest,
)
from othello_lab.experiments.config import (
    OBJECTS,
    Plan,
    RunConfig,
    checked_settings,
    chosen,
    plan_of,
    typed,
)
from othello_lab.experiments.playing.conditions import GameConditions, RemoteConditions

GROUP = "data"
"""The group of YAMLs, and the part of a configuration, that says what the data are made of."""
NAME = "selfplay"
"""The one option there is in the group."""
AGENT = "alphabeta"
"""Who plays where nobody is named."""
ENDGAMES = PERFECT, PLAYED = "perfect", "played"
"""What follows once the exact solver gives the scores: perfect play, or the game's own moves."""
MOST_EXACT = 24
"""Empty squares; beyond these solving a position takes seconds."""


@dataclass(frozen=True, kw_only=True)
class DataConfig(Nameable):
    """The way from games to positions."""

    random_plies: Annotated[list[int], Each(Whole(0, 60))] = field(default_factory=lambda: [4, 24])
    """Each game begins with so many random plies after its opening, drawn for each game from this
    range, the least and the most."""
    exact: Annotated[int, Whole(0, MOST_EXACT)] = 10
    """From so many empty squares on the exact solver gives the scores; 0: the games' ends do."""
    trace: Annotated[float, Number(0, 1)] = 1.0
    """The weight of the end of the game against the values that the players' searches expected on
    the way: a score is (1 - trace) x the value expected there + trace x the score one move later.
    Below 1 the players' values must be in discs."""
    unit: Annotated[int, Whole(1)] = 100
    """The value of one disc in the players' searches (100 for evaluations that learned)."""
    endgames: Annotated[str, Choice(*ENDGAMES)] = PERFECT
    """The scores of solved endings: perfect (of perfect play), or played (of the game's own moves,
    each position solved)."""
    validation: Annotated[float, Number(0, 0.5)] = 0.1
    """The share of games kept for validation."""
    test: Annotated[float, Number(0, 0.5)] = 0.1
    """The share of games kept for the test."""
    read: Annotated[list[str], Each(Text(r".+", "a file"))] = field(default_factory=list)
    """Files to read games from, instead of playing: WTHOR (.wtb), GGF, transcripts, folders of
    runs."""
    partly: Annotated[bool, Switch()] = False
    """Use the rest of a file of which a part cannot be read."""

    def __post_init__(self) -> None:
        check_settings(self)
        if len(self.random_plies) != 2 or self.random_plies[0] > self.random_plies[1]:
            raise ValueError(
                f"random_plies={list(self.random_plies)}: the least and the most are needed, such "
                "as [4,24]"
            )


@dataclass(frozen=True)
class DataPlan:
    """A plan that has passed all checks. plan: of the games. settings: as the user gave
    them."""

    data: DataConfig
    plan: Plan
    settings: RunConfig

    @property
    def as_data(self) -> dict[str, Any]:
        """All settings as plain data."""
        return {GROUP: {"_target_": _target(), **asdict(self.data)}, **asdict(self.settings)}

    def conditions(self) -> GameConditions:
        """Return the conditions of all games: every agent is there twice, once for each side, as it
        meets itself; none if games are read."""
        made = self.plan.conditions()
        elsewhere = RemoteConditions(conditions_elsewhere, self.as_data)
        if self.data.read:
            return replace(made, names=[], agents=[], elsewhere=elsewhere)
        twins = plan_of(copy.deepcopy(self.plan.settings), least=1).agents
        names = [*made.names, *(f"{name} (White)" for name in twins)]
        agents = [*made.agents, *twins.values()]
        return replace(made, names=names, agents=agents, elsewhere=elsewhere)


def _target() -> str:
    return f"{DataConfig.__module__}.{DataConfig.__name__}"


def read(overrides: Sequence[str], folders: Sequence[str | Path] = ()) -> DataPlan:
    """The plan of ``conf/data/selfplay.yaml`` with overrides (``games=5000``, ``agent=alphabeta``,
    ``data.exact=12``), and further folders of YAMLs; raises ConfigError."""
    words = [_of_player(word) for word in overrides]
    config = compose("run", [f"+{GROUP}={NAME}", f"name={NAME}", *words], folders)
    try:
        described: Any = OmegaConf.to_container(config[GROUP], resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error)) from error
    of_run = OmegaConf.masked_copy(config, [str(key) for key in config if key != GROUP])
    return planned(described, checked_settings(of_run, words))


def _of_player(word: str) -> str:
    """``agent=NAME`` and ``agent.KEY=VALUE`` mean the one that plays itself."""
    key, equals, value = word.partition("=")
    if key == "agent":
        return f"agent@player{equals}{value}"
    return f"player.{word.removeprefix('agent.')}" if key.startswith("agent.") else word


def of_data(settings: Mapping[str, Any]) -> DataPlan:
    """The plan of all settings as plain data, such as :attr:`DataPlan.as_data`; ConfigError."""
    config = dict(settings)
    described = config.pop(GROUP, None)
    if not isinstance(described, dict):
        raise ConfigError(f"{GROUP} is missing among the settings")
    return planned(described, typed(config))


def with_defaults(settings: Mapping[str, Any]) -> DataPlan:
    """Return the plan of some settings as plain data, the others as in the YAMLs; ConfigError.

    ``agents`` are described by name; ``depth`` and ``evaluation`` fill the settings they leave open
    (``???``). An agent, evaluation, or other object may be given by the name of its YAML.
    """
    made = read([]).as_data
    made["agents"] = {AGENT: AGENT}
    for key, value in settings.items():
        if key not in made:
            raise ConfigError(f"unknown setting '{key}'.{nearest(key, made)}")
        if key in OBJECTS:
            made[key] = value if key == "agents" else chosen(key, value)
        else:
            made[key] = {**made[key], **value} if isinstance(value, Mapping) else value
    agents = {name: chosen("agent", agent) for name, agent in made["agents"].items()}
    depth, evaluation = made["depth"], made["evaluation"]
    made["agents"], _ = fill_open(agents, depth=depth, evaluation=evaluation)
    return of_data(made)


def planned(described: Mapping[str, Any], settings: RunConfig) -> DataPlan:
    """The plan of settings; raises ConfigError."""
    data = build(described, GROUP, DataConfig)
    playing = copy.deepcopy(settings)
    playing.games += playing.games % 2  # which only matters where openings are played twice
    return DataPlan(data, plan_of(playing, least=1), settings)


def conditions_elsewhere(config: Mapping[str, Any]) -> GameConditions:
    """The conditions of these settings, for a process elsewhere."""
    return of_data(config).conditions()
