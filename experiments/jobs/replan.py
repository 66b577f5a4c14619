"""The plan of a recorded run again, and its changes since then."""

from __future__ import annotations

import functools
import hashlib
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from othello_lab.agents.agent import Agent
from othello_lab.agents.config import ConfigError, load
from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.system.files import MOST_TEXT, read_bytes
from othello_lab.core.system.plain_yaml import parse_yaml
from othello_lab.experiments.config import Plan, RunConfig, built_from, plan_of, typed
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.provenance import differences, versions
from othello_lab.experiments.record.reading import damage_told, damages, reading
from othello_lab.experiments.record.store import SKIPPED, STARVED_PAIRS


@dataclass(frozen=True)
class _RecordedRun:
    """The parts of a record that are needed to continue its run."""

    config: dict[str, Any]
    versions: dict[str, str]
    agents: dict[str, int]  # their versions, by name
    openings: list[str]
    skipped: bool  # whether any pair was

    @classmethod
    def read(cls, folder: Path) -> _RecordedRun:
        """From the record in a folder, after a look at all of it; ConfigError."""
        with reading(folder) as record:
            if damage := next(damages(record), None):
                raise sqlite3.DatabaseError(damage)
            about = record.head()
            agents = dict(record.rows("select name, version from agents order by agent"))
            skipped = bool(record.pieces())
            return cls(about["config"], about["versions"], agents, record.openings(), skipped)


def replanned(
    folder: Path,
    agents: Mapping[str, Agent] | None,
    games: int | None,
    moved: Mapping[str, Any],
    force: bool,
    retry: Collection[str],
    trusted: Callable[[Sequence[str]], None],
) -> tuple[Plan, list[Opening]]:
    """Return the plan of the run in a folder, and its openings; ConfigError.

    agents: those of a run of objects. games: games a pairing from now on. moved: new settings of
    the executor: ``workers``, ``executor`` (its name), ``address``. force: accept a plan that has
    changed. retry: pairs to be played again. trusted: gets the foreign code that the plan needs
    before anything of it is imported, and raises ConfigError to refuse it.
    """
    recorded = _RecordedRun.read(folder)  # and closed again: building agents may fork
    with damage_told(folder):
        settings = typed(recorded.config)
        settings.games = grown_games(folder, settings.games, games)
        settings.executor = moved_executor(settings.executor, **moved)
        _check_objects(settings, agents)
        now = versions(built_from(settings))
        check_again(folder, recorded.versions, recorded.config, now, force)
        trusted(_foreign(settings, recorded, moved))
        plan = plan_of(settings, agents)
        if list(plan.agents) != list(recorded.agents):
            raise ValueError("its table agents is not the line-up of its settings")
        if not force:
            refuse_changes(folder, _changed_agents(recorded, plan))
        openings = [Opening.read(text, plan.rules) for text in recorded.openings]
    _refuse_what_schedule_does_not(plan, recorded, retry)
    needed = plan.schedule.openings_needed(plan.names, plan.settings.games // 2)
    if len(openings) < needed:
        more = plan.choose_openings()
        if more[: len(openings)] != openings:
            raise ConfigError(
                f"openings ({plan.openings.text}): no longer those the run began with"
            )
        openings = more
    return plan, openings


def _refuse_what_schedule_does_not(
    plan: Plan, recorded: _RecordedRun, retry: Collection[str]
) -> None:
    games = plan.settings.games
    if games != typed(recorded.config).games and not plan.schedule.can_grow:
        raise ConfigError(
            f"games={games}: in this run's schedule those who met went by the games before; a new "
            "run with more games is needed"
        )
    for pairs, some in ((SKIPPED, recorded.skipped), (STARVED_PAIRS, True)):
        if pairs in retry and some and plan.schedule.listens:
            raise ConfigError(
                f"--retry-{pairs}: this run's schedule goes by results, and the pairs after the "
                f"{pairs} ones were decided without theirs"
            )


def grown_games(folder: Path, before: int, games: int | None) -> int:
    """Return the games a pairing from now on; None where nothing is said of them. ConfigError if
    these are fewer."""
    if games is not None and games < before:
        raise ConfigError(
            f"games={games}: {folder} has {before} games a pairing already; it can only grow"
        )
    return before if games is None else games


def moved_executor(
    before: dict[str, Any], workers: int | None, executor: str | None, address: str | None
) -> dict[str, Any]:
    """The settings of where a run is played from now on; None where nothing is said of it."""
    changes = {"workers": workers, "address": address}
    asked = {key: value for key, value in changes.items() if value is not None}
    if executor is None and address is None:
        return before | asked
    return load("executor", executor or "dask") | asked


def _check_objects(settings: RunConfig, agents: Mapping[str, Agent] | None) -> None:
    """ConfigError unless a run of objects is given the same ones again, and no other run any."""
    for name, agent in settings.agents.items():
        if agents is not None:
            if set(agents) != set(settings.agents):
                raise ConfigError(
                    f"agents {', '.join(agents)}: the run's are {', '.join(settings.agents)}"
                )
            if about_object(agents[name]) != agent:
                raise ConfigError(
                    f"agent '{name}': {about_object(agents[name])} is not what the run has, {agent}"
                )
        elif "object" in agent:
            raise ConfigError(
                f"agent '{name}' was an object of a Python program; go on from there with "
                "othello_lab.resume(folder, agents={...})"
            )


def _foreign(settings: RunConfig, recorded: _RecordedRun, moved: Mapping[str, Any]) -> list[str]:
    """Return the code from outside the lab that a plan of these settings would run. Objects of a
    program, and a scheduler that was named just now, are not the record's choice."""
    described = built_from(settings)
    if any("object" in agent for agent in settings.agents.values()):
        del described["agents"]
    if moved["address"] is not None:
        described["executor"] = described["executor"] | {"address": None}
    return foreign_code(described, recorded.versions)


def changes(
    folder: Path, before: Mapping[str, str], config: Mapping[str, Any], now: Mapping[str, str]
) -> list[str]:
    """Return the changes of all that games depend on, as far as they can be found without importing
    code that the settings name.

    before, config: versions and configuration in the record. now: the versions of today.
    """
    changed = differences(before, now)
    try:
        text = read_bytes(folder / "config.yaml", MOST_TEXT).decode(errors="replace")
    except FileNotFoundError:
        text = ""
    # A file that is empty, or all zeros, is what a power cut leaves: the record knows better.
    if text.strip("\0\n "):
        try:
            read = parse_yaml(text)
        except ValueError:
            read = None
        if _essence(read) != _essence(config):
            changed.append("config.yaml, which differs from the record")
    return changed


def _changed_agents(recorded: _RecordedRun, plan: Plan) -> list[str]:
    return [
        f"agent '{name}' version {version} -> {plan.agents[name].version}"
        for name, version in recorded.agents.items()
        if plan.agents[name].version != version
    ]


def check_again(
    folder: Path,
    recorded: Mapping[str, str],
    config: Mapping[str, Any],
    now: Mapping[str, str],
    force: bool,
) -> None:
    """Raise ConfigError if a job would now give other results than before. force: don't look.

    recorded, config: versions and settings in its record. now: the versions of today.
    """
    if not force:
        refuse_changes(folder, changes(folder, recorded, config, now))


def refuse_changes(folder: Path, changed: Sequence[str]) -> None:
    """ConfigError if anything has changed."""
    if changed:
        raise ConfigError(
            f"{folder}: changed since its first games: {'; '.join(changed)}. Mixing them would be "
            "dishonest; --force does it and says so in the report"
        )


def _essence(config: Any) -> Any:
    """Return a configuration without the settings that may change in the life of a run. Both the
    record and the file have these, and an interruption may come after only one of them was written.
    """
    if not isinstance(config, dict):
        return config
    rest = {key: value for key, value in config.items() if key not in ("games", "executor")}
    executor = config.get("executor")
    return rest | {"executor": executor.get("_target_") if isinstance(executor, dict) else None}


def about_object(thing: Any) -> dict[str, Any]:
    """Return a description of an agent that a program made: enough to recognise it, not enough to
    make it again. Such a run is resumed with :func:`resume` alone."""
    kind = type(thing)
    settings: dict[str, Any] = {"object": f"{kind.__module__}.{kind.__name__}"}
    if isinstance(thing, Evaluation):
        settings["parameters"] = hashlib.sha256(thing.parameters.tobytes()).hexdigest()[:12]
    for key, value in vars(thing).items():
        found_out = isinstance(getattr(kind, key, None), functools.cached_property)
        if key.startswith("_") or key == "rng" or value is None or found_out:
            continue
        if isinstance(value, Evaluation):
            settings[key] = about_object(value)
        elif isinstance(value, bool | int | float | str):
            settings[key] = value
        else:  # what it says of itself may differ from process to process
            settings[key] = type(value).__qualname__
    return settings
