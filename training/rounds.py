"""Rounds: the games that a training plays against itself for positions to learn from."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.composing import OPEN, load, unknown
from othello_lab.agents.config import build, evaluation_settings
from othello_lab.core.system.files import make_folder
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import RunConfig
from othello_lab.experiments.jobs.kinds import SELFPLAY
from othello_lab.training.data_plan import DataConfig
from othello_lab.training.learned_files import player
from othello_lab.training.selfplay import SelfPlay, about_of, is_selfplay, make
from othello_lab.training.training import TRAINED

PLAYER = "player"
"""What the agent of a round is called; also the setting of a round with settings of its own."""
_OF_DATA = {each.name for each in fields(DataConfig)}
_OF_RUN = {"agent", PLAYER, "games", "depth", "evaluation"}
_DATA = f"{SelfPlay.__module__}.{SelfPlay.__name__}"
_FIRST_GAMES = 256  # of a round that lasts for minutes, by which the next are measured
_MOST_TIMES = 8  # as many games as there are already, at most
_REST = 0.03  # of the minutes that are not worth another go


def selfplay_settings(
    settings: Mapping[str, Any],
    name: str,
    seed: int,
    agent: str,
    trained: Mapping[str, Any] | None,
    plan_settings: RunConfig,
) -> dict[str, Any]:
    """Return the settings for :func:`training.selfplay.make` that make a round.

    settings: of the round: ``agent`` (a name in conf/agent, or ``trained``), ``player`` (settings
    of its own), ``depth``, ``evaluation``, ``games``, and those of conf/data/selfplay.yaml. name:
    of the round. seed: of its games. agent: in conf/agent, the player of ``trained``; trained: the
    settings of that evaluation. plan_settings: of the run, with the ruleset and the executor.
    Raises ConfigError.
    """
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
    if plays.get("depth") == OPEN:
        plays["depth"] = depth
    made: dict[str, Any] = {
        "agents": {PLAYER: plays | own},
        "seed": seed,
        "executor": plan_settings.executor,
        "ruleset": {"name": plan_settings.ruleset.name},
        SELFPLAY.group: {key: value for key, value in settings.items() if key in _OF_DATA},
    }
    return made | ({"games": settings["games"]} if "games" in settings else {})


def rounds_checked(rounds: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ConfigError for rounds that cannot be made, as far as that can be seen before."""
    for name, settings in rounds.items():
        for key in settings:
            if key not in _OF_DATA | _OF_RUN:
                raise unknown(f"setting of train.rounds.{name}", key, _OF_DATA | _OF_RUN)
        if settings.get("agent", TRAINED) != TRAINED:
            load("agent", settings["agent"])
        build({"_target_": _DATA} | {k: settings[k] for k in _OF_DATA & set(settings)}, name)


def make_round(
    settings: Mapping[str, Any],
    folder: Path,
    console: Console,
    minutes: float | None,
    spent: Callable[[], float],
) -> None:
    """Make a round in this folder, or go on with it.

    settings: of :func:`selfplay_settings`. minutes: how long, on two cores, in place of a number of
    games: several goes, each with as many games as the time of those before lets expect. spent:
    minutes so far, in earlier sessions too. Raises KeyboardInterrupt.
    """
    make_folder(folder)
    if minutes is None:
        make_part(settings, folder / "0", console)
        return
    games, number = 0, 0
    while True:
        part = folder / str(number)
        if is_selfplay(part):
            count = 1  # it knows itself how many
        elif not games:
            count = _FIRST_GAMES
        else:
            left = minutes - spent()
            if left < _REST * minutes:
                return
            count = 2 * int(min(_MOST_TIMES * games, max(2.0, games * left / spent())) / 2)
        asked = {**settings, "games": count, "seed": settings["seed"] + (number << 32)}
        make_part(asked, part, console)
        games += int(about_of(part)["games"])
        number += 1


def make_part(settings: Mapping[str, Any], part: Path, console: Console) -> None:
    """Make a part of a round in this folder and no other, or go on with it."""
    if part.is_dir() and not is_selfplay(part):  # killed before it had begun
        shutil.rmtree(part)
    make(settings, part, console)


def parts_of(folder: Path) -> Iterator[Path]:
    """Yield the folders of positions that a round is made of, in their order.

    Only names that are numbers count: version 0.1 could leave further folders, such as ``0-2``.
    """
    numbers = sorted(int(part.name) for part in folder.iterdir() if part.name.isdecimal())
    yield from (part for part in (folder / str(n) for n in numbers) if is_selfplay(part))
