"""A match of two sides, from words or from objects of a program: its settings, plan and play."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.config import build_agent, compose
from othello_lab.agents.evaluation import Evaluation, as_evaluation
from othello_lab.agents.hydra_parts import typed_value
from othello_lab.agents.limited import Limited
from othello_lab.agents.naming import names_by_difference, names_by_files
from othello_lab.agents.sides import SEARCH, Side, side_of
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import (
    Plan,
    RunConfig,
    checked_settings,
    make_agent,
    match_name,
    plan_of,
    rename_agents,
)
from othello_lab.experiments.jobs.replan import about_object
from othello_lab.experiments.jobs.result import RunResult
from othello_lab.experiments.jobs.run import run
from othello_lab.experiments.jobs.side_check import MOST_SECONDS, check_side, is_checked

PLACES = ("first", "second")
SHORT = {
    **dict.fromkeys(("seconds", "cpu_seconds", "nodes", "clock"), "limits."),
    "workers": "executor.",
}
"""Settings that need no prefix in a match, with that prefix."""
_DECIDED = "until=decided"
_NO_BUDGET = "minutes=null"
_LIMITS = ("depth", "nodes", "seconds", "cpu_seconds", "clock")
_BY_TIME = ("depth_by_time", "endgame_by_time")
_USUAL_SECONDS = 0.1
"""Seconds of processor time a move of a search that goes by its time, where no limit is set."""


def match(
    first: Any, second: Any, *settings: str, check: bool = True, quiet: bool = True, **named: Any
) -> RunResult:
    """Play two sides against each other until it is decided which is better.

    first, second: an evaluation, an agent, a strategy or a program, by its name, path or command as
    in ``othello-lab match``; or an object: a function of ``(mover, opponent)``, an Evaluation, an
    Agent. settings, named: as there: ``games=200``, ``minutes=5``, ``depth=6``, ``seconds=0.05``,
    ``agent="pvs"``; those with a dot as words, ``"first.depth=6"``. check: first hold classes of
    agents in files to their contract, and their searches to minimax. quiet: False prints progress
    and results.

    Raises ConfigError (a ValueError).

    >>> from othello_lab.agents.evaluation.helpers import CORNERS, count
    >>> def corners(mover, opponent):
    ...     return count(mover & CORNERS) - count(opponent & CORNERS)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = match(corners, "iago", games=4, depth=1, results=folder, figures="none")
    ...     sorted(result.summary["agent"])
    ['corners', 'iago']
    """
    words = [*settings, *(f"{key}={typed_value(value)}" for key, value in named.items())]
    search, words = search_and_settings(words)
    sides = [_side(thing, search) for thing in (first, second)]
    return play_sides(sides, words, "othello_lab.match(...)", Console(quiet=quiet), check=check)


def play_sides(
    sides: Sequence[MatchSide],
    settings: Sequence[str],
    command: str,
    console: Console,
    folders: Sequence[str] = (),
    check: bool = True,
    lines: Sequence[str] = (),
) -> RunResult:
    """Check two sides, and play them against each other; raises ConfigError.

    settings: words of the configuration. command: as typed. folders: further ones of YAMLs. about:
    lines on the sides, printed if they can play.
    """
    plan, checks = planned(sides, settings, folders)

    def tell(*sentences: str) -> None:
        for sentence in sentences:
            console.print(plain(sentence), soft_wrap=True)

    tell(*lines, *checks)
    for side in (match_side.side for match_side in sides if check and is_checked(match_side.side)):
        tell(f"checking {side.target} (up to {MOST_SECONDS:g} s; --no-check plays at once)")
        verdicts = check_side(side)
        tell(*verdicts)
        checks += verdicts
    return run(plan, command, console, checks=checks)


# ------------------------------------------------------------------ sides


@dataclass(frozen=True)
class MatchSide:
    """A side, and the object that it is, if a program gave one: an Agent or an Evaluation."""

    side: Side
    thing: Agent | Evaluation | None = None


def _side(thing: Any, search: str) -> MatchSide:
    if isinstance(thing, str):
        return MatchSide(side_of(thing, search))
    if isinstance(thing, Agent):
        label = re.sub("_?agent$", "", type(thing).__name__.lower()) or "agent"
        return MatchSide(Side(label, "an agent", ["agent@PLACE=random"]), thing)
    try:
        evaluation = as_evaluation(thing)
    except ValueError as error:
        what = f"{thing!r:.80} is no side of a match"
        if not (inspect.isfunction(thing) or isinstance(thing, Evaluation)):
            raise ConfigError(
                f"{what}: a name, a function of (mover, opponent), an Evaluation or an Agent is "
                "needed"
            ) from None
        raise ConfigError(f"{what}: {error}") from error
    label = evaluation.name.replace(" ", "_")
    return MatchSide(Side(label, "an evaluation", [f"agent@PLACE={search}"]), evaluation)


# ------------------------------------------------------------------ settings


def search_and_settings(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the agent around evaluations, and the words of a run for those of a match.

    Raises ConfigError.
    """
    search, settings = SEARCH, []
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"cannot read '{word}': settings are written key=value")
        if key == "agent":
            search = value.strip("'")
        elif key in PLACES:
            raise ConfigError(
                f"{word}: {key} is a side of the match, with settings {key}.NAME=...; seconds=... "
                "limits a move"
            )
        elif key == "until":
            if word.replace("'", "") != _DECIDED:
                raise ConfigError(f"{word}: {_DECIDED} is the only choice; or games=N, minutes=M")
            settings.append(_NO_BUDGET)
        else:
            settings.append(f"{SHORT.get(key, '')}{word}")
    keys = {word.partition("=")[0] for word in settings}
    if "games" in keys and "minutes" not in keys:
        settings.append(_NO_BUDGET)
    return search, settings


def planned(
    sides: Sequence[MatchSide], settings: Sequence[str], folders: Sequence[str] = ()
) -> tuple[Plan, list[str]]:
    """Return the plan of a match of two sides, and sentences on the limits that it adds.

    settings: further words of the configuration; they override those of the sides. Raises
    ConfigError.
    """
    said = {word.partition("=")[0] for word in settings}
    of_sides = [
        word
        for position, side in zip(PLACES, sides, strict=True)
        for word in side.side.words(position)
        if word.partition("=")[0] not in said
    ]
    words = [*dict.fromkeys(of_sides), *settings]
    config = checked_settings(compose("match", words, folders), words)
    names = [side.side.label for side in sides]
    if names[0] == names[1]:
        names = names_by_files([side.side.target for side in sides]) or names
    if names[0] == names[1]:
        names = names_by_difference(list(config.agents.values()), names)
    rename_agents(config, dict(zip(config.agents, names, strict=True)))
    if "name" not in said:
        config.name = match_name(list(config.agents))
    is_function = any(isinstance(side.thing, Evaluation) for side in sides)
    added = [] if is_function else _limit(config, said)
    return plan_of(config, _objects(config, sides)), added


def _limit(config: RunConfig, said: Collection[str]) -> list[str]:
    """Limit each search that goes by its time, where nothing does; return sentences on them."""
    if any(getattr(config.limits, name) is not None for name in _LIMITS):
        return []
    added = []
    for position, (name, agent) in zip(PLACES, config.agents.items(), strict=True):
        if any(agent.get(setting) for setting in _BY_TIME) and f"{position}.depth" not in said:
            limits = {"agent": agent, "cpu_seconds": _USUAL_SECONDS}
            config.agents[name] = {"_target_": f"{Limited.__module__}.{Limited.__name__}", **limits}
            added.append(
                f"{name} has {_USUAL_SECONDS:g} s of processor time a move, as no limit is set "
                f"(seconds=... limits both sides, {position}.depth=... this one)."
            )
    return added


def _objects(config: RunConfig, sides: Sequence[MatchSide]) -> Mapping[str, Agent] | None:
    """Return the agents of a match of objects, and describe them in its settings; else None."""
    if all(side.thing is None for side in sides):
        return None
    agents: dict[str, Agent] = {}
    for (name, settings), side in zip(config.agents.items(), sides, strict=True):
        if isinstance(side.thing, Agent):
            agents[name] = side.thing
        elif side.thing is not None:
            agents[name] = build_agent({**settings, "evaluation": side.thing}, name)
        else:
            agents[name] = make_agent(settings, name, config)
    config.agents = {name: about_object(agent) for name, agent in agents.items()}
    return agents
