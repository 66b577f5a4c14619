"""What a record says of its run: the same plan again, and whether it is still the same."""

from __future__ import annotations

import functools
import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agents.base import Agent
from agents.config import ConfigError, load, one_line
from agents.evaluation import Evaluation
from experiments.config import Plan, RunConfig, from_record, plan_of
from experiments.pairing.openings import Opening
from experiments.record.provenance import differences, versions
from experiments.record.store import FILE, FORMAT, Record


def replanned(
    folder: Path,
    agents: Mapping[str, Agent] | None,
    games: int | None,
    moved: Mapping[str, Any],
    force: bool,
) -> tuple[Plan, list[Opening]]:
    """The plan of the run in a folder, and its openings; ConfigError.

    agents: those of a run of objects. games: so many a pairing from now on. moved: what is said of
    the executor: ``workers``, ``executor`` (its name), ``address``. force: whether a plan that is
    no longer the same will do.
    """
    try:
        with Record.open(folder) as record:
            _check_format(record, folder)
            settings = from_record(record.run()["config"])
            if games is not None and games < settings.games:
                raise ConfigError(
                    f"games={games}: {folder} has {settings.games} games a pairing already; a run "
                    "can only grow"
                )
            settings.games = settings.games if games is None else games
            settings.executor = _executor(settings.executor, **moved)
            _check_objects(settings, agents)
            plan = plan_of(settings, agents)
            _check_unchanged(record, plan, folder, force)
            openings = [Opening.read(text, plan.rules) for text in record.openings()]
    except sqlite3.Error as error:
        raise ConfigError(f"{folder / FILE}: {one_line(error)}") from error
    if len(openings) < plan.rounds:
        openings = _more_openings(plan, openings)
    return plan, openings


def _check_format(record: Record, folder: Path) -> None:
    found = record.format()
    if found is None:
        raise ConfigError(f"{folder}: the run was stopped before it had begun; start it again")
    if found != FORMAT:
        age = "a newer" if found > FORMAT else "an older"
        raise ConfigError(
            f"{folder} was written by {age} version of the lab (record format {found}; this one "
            f"goes on with format {FORMAT})"
        )


def _executor(
    before: dict[str, Any], workers: int | None, executor: str | None, address: str | None
) -> dict[str, Any]:
    """Where a run is played from now on."""
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
                "experiments.resume(folder, agents={...})"
            )


def _check_unchanged(record: Record, plan: Plan, folder: Path, force: bool) -> None:
    """ConfigError if games would now be played by something else than before."""
    changed = differences(record.run()["versions"], versions(plan.settings.agents))
    for row in record.agents().itertuples():
        version = plan.agents[row.name].version
        if version != row.version:
            changed.append(f"agent '{row.name}' version {row.version} -> {version}")
    written = folder / "config.yaml"
    if written.is_file():
        try:
            read = yaml.safe_load(written.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError):
            read = None
        if _essence(read) != _essence(record.run()["config"]):
            changed.append("config.yaml, which is not what the record says")
    if changed and not force:
        raise ConfigError(
            f"{folder}: changed since its first games: {'; '.join(changed)}. Mixing them would be "
            "dishonest; --force does it and says so in the report"
        )


def _essence(config: Any) -> Any:
    """A configuration without what may change in the life of a run; both the record and the file
    have it, and an interruption may come after only one of them was written."""
    if not isinstance(config, dict):
        return config
    rest = {key: value for key, value in config.items() if key not in ("games", "executor")}
    return rest | {"executor": config.get("executor", {}).get("_target_")}


def _more_openings(plan: Plan, openings: Sequence[Opening]) -> list[Opening]:
    more = plan.openings.choose(plan.rounds, plan.rules, plan.settings.seed)
    if more[: len(openings)] != openings:
        raise ConfigError(f"openings ({plan.openings.text}): no longer those the run began with")
    return more


def about_object(thing: Any) -> dict[str, Any]:
    """What can be written down of an agent that a program made: enough to tell another one, not
    enough to make it again, so that such a run is resumed with :func:`experiments.resume` alone."""
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
