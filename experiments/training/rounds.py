"""Rounds: the games that a training plays against itself for positions to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from agents.config import ConfigError, evaluation_settings, load, unknown
from experiments.config import RunConfig
from experiments.training.base import TRAINED
from experiments.training.kept import player
from experiments.training.planning import GROUP, DataConfig

PLAYER = "player"
"""What the agent of a round is called; also the setting of a round with settings of its own."""
_OF_DATA = {each.name for each in fields(DataConfig)}
_OF_RUN = {"agent", PLAYER, "games", "depth", "evaluation", "minutes"}


def selfplay_settings(
    settings: Mapping[str, Any],
    name: str,
    seed: int,
    agent: str,
    trained: Mapping[str, Any] | None,
    plan_settings: RunConfig,
) -> dict[str, Any]:
    """What :func:`experiments.training.selfplay.make` is told to make a round.

    settings: of the round: ``agent`` (a name in conf/agent, or ``trained``), ``player`` (settings
    of its own), ``depth``, ``evaluation``, ``games``, and those of conf/data/selfplay.yaml. name:
    of the round. seed: of its games. agent: in conf/agent, which plays what was learned; trained:
    the settings of that evaluation. plan_settings: of the run, whose ruleset and executor it has.
    Raises ConfigError.
    """
    for key in settings:
        if key not in _OF_DATA | _OF_RUN:
            raise unknown(f"setting of train.rounds.{name}", key, _OF_DATA | _OF_RUN)
    depth = int(settings.get("depth", plan_settings.depth))
    asked = str(settings.get("agent", agent))
    own = dict(settings.get(PLAYER) or {})
    if asked == TRAINED:
        if trained is None:
            raise ConfigError(f"train.rounds.{name}.agent={TRAINED}: nothing is trained yet")
        plays = player(agent, trained, depth)
    else:
        plays = load("agent", asked)
        if "evaluation" in plays and "evaluation" in settings:
            plays = player(asked, evaluation_settings(settings["evaluation"]), depth)
    for key in own:
        if key not in plays:
            raise unknown(f"setting of train.rounds.{name}.{PLAYER}", key, plays)
    made: dict[str, Any] = {
        "agents": {PLAYER: plays | own},
        "depth": depth,
        "seed": seed,
        "executor": plan_settings.executor,
        "ruleset": {"name": plan_settings.ruleset.name},
        GROUP: {key: value for key, value in settings.items() if key in _OF_DATA},
    }
    return made | ({"games": settings["games"]} if "games" in settings else {})
