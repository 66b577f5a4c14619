"""The plan of a recorded run again, and its changes since then."""

from __future__ import annotations

import functools
import hashlib
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.composing import load
from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.system.files import MOST_TEXT, read_bytes
from othello_lab.core.system.plain_yaml import parse_yaml
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import Plan, RunConfig, built_from, plan_of, typed
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.playing.trust import check_trusted, foreign_code
from othello_lab.experiments.record.provenance import differences, versions
from othello_lab.experiments.record.reading import damage_told, damages, reading
from othello_lab.experiments.record.store import SKIPPED, STARVED_PAIRS


@dataclass(frozen=True)
class ResumeOptions:
    """Options of a job that is continued.

    games: a pairing from now on, not fewer than before; None for as many. workers, executor,
    address: processes, and a new place to work, as in ``conf/executor``; None for those before. The
    games are the same. force: continue even if the lab's code, a version, or an agent has changed.
    retry_skipped: play the pairs that were skipped; of a study, do again what failed.
    retry_starved: play again the pairs in which an agent had less than 70 % of its time on a
    processor. trust: run the code from outside the lab that the record names, with your rights,
    without asking.
    """

    games: int | None = None
    workers: int | None = None
    executor: str | None = None
    address: str | None = None
    force: bool = False
    retry_skipped: bool = False
    retry_starved: bool = False
    trust: bool = False

    @property
    def retry(self) -> list[str]:
        """The pairs to be played again."""
        wanted = {SKIPPED: self.retry_skipped, STARVED_PAIRS: self.retry_starved}
        return [pairs for pairs, again in wanted.items() if again]

    def settings(self, folder: Path, config: Mapping[str, Any]) -> RunConfig:
        """Return the settings in a record as they are from now on; ConfigError."""
        settings = typed(config)
        if self.games is not None:
            if self.games < settings.games:
                raise ConfigError(
                    f"games={self.games}: {folder} has {settings.games} games a pairing already; "
                    "it can only grow"
                )
            settings.games = self.games
        if self.executor is not None or self.address is not None:
            settings.executor = load("executor", self.executor or "dask")
        places = {"workers": self.workers, "address": self.address}
        settings.executor |= {key: value for key, value in places.items() if value is not None}
        return settings

    def check(
        self,
        folder: Path,
        head: Mapping[str, Any],
        now: Mapping[str, str],
        foreign: Sequence[str],
        console: Console,
    ) -> None:
        """Raise ConfigError if the job would now give other results than before, or runs foreign
        code that is not trusted.

        head: versions and config in its record. now: the versions of today. foreign: the code, a
        line each.
        """
        if not self.force:
            _refuse_changes(folder, _changes(folder, head["versions"], head["config"], now))
        check_trusted(folder, foreign, self.trust, console)


def replanned(
    folder: Path,
    agents: Mapping[str, Agent] | None,
    options: ResumeOptions,
    console: Console,
) -> tuple[Plan, list[Opening]]:
    """Return the plan of the run in a folder, and its openings; ConfigError.

    agents: those of a run of objects. Foreign code that the plan needs is asked for on the console
    before anything of it is imported.
    """
    with reading(folder) as record:  # and closed again: building agents may fork
        if damage := next(damages(record), None):
            raise sqlite3.DatabaseError(damage)
        head, texts = record.head(), record.openings()
        numbers = dict(record.rows("select name, version from agents order by agent"))
        skipped = bool(record.pieces())
    with damage_told(folder):
        games = typed(head["config"]).games
        settings = options.settings(folder, head["config"])
        _check_objects(settings, agents)
        foreign = untrusted_code(settings, head["versions"], options.address is not None)
        options.check(folder, head, versions(built_from(settings)), foreign, console)
        plan = plan_of(settings, agents)
        if list(plan.agents) != list(numbers):
            raise ValueError("its table agents is not the line-up of its settings")
        changed = [
            f"agent '{name}' version {version} -> {plan.agents[name].version}"
            for name, version in numbers.items()
            if plan.agents[name].version != version
        ]
        if not options.force:
            _refuse_changes(folder, changed)
        openings = [Opening.read(text, plan.rules) for text in texts]
    _check_schedule(plan, games, skipped, options.retry)
    needed = plan.schedule.openings_needed(plan.names, plan.settings.games // 2)
    if len(openings) >= needed:
        return plan, openings
    more = plan.choose_openings()
    if more[: len(openings)] != openings:
        raise ConfigError(f"openings ({plan.openings.text}): no longer those the run began with")
    return plan, more


def _check_schedule(plan: Plan, before: int, skipped: bool, retry: Collection[str]) -> None:
    """ConfigError for a change that the schedule does not allow; before: games a pairing so far."""
    games = plan.settings.games
    if games != before and not plan.schedule.can_grow:
        raise ConfigError(
            f"games={games}: in this run's schedule those who met went by the games before; a new "
            "run with more games is needed"
        )
    for pairs, some in ((SKIPPED, skipped), (STARVED_PAIRS, True)):
        if pairs in retry and some and plan.schedule.listens:
            raise ConfigError(
                f"--retry-{pairs}: this run's schedule goes by results, and the pairs after the "
                f"{pairs} ones were decided without theirs"
            )


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


def untrusted_code(
    settings: RunConfig, recorded: Mapping[str, str] = MappingProxyType({}), moved: bool = False
) -> list[str]:
    """Return the code from outside the lab that a plan of these settings would run. Objects of a
    program, and a scheduler that was named just now, are not the record's choice.

    recorded: the versions in the record. moved: True if the scheduler was named just now.
    """
    described = built_from(settings)
    if any("object" in agent for agent in settings.agents.values()):
        del described["agents"]
    if moved:
        described["executor"] = described["executor"] | {"address": None}
    return foreign_code(described, recorded)


def _changes(
    folder: Path, before: Mapping[str, str], config: Mapping[str, Any], now: Mapping[str, str]
) -> list[str]:
    """Return the changes of all that games depend on, without importing code that settings name."""
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


def _refuse_changes(folder: Path, changed: Sequence[str]) -> None:
    if changed:
        raise ConfigError(
            f"{folder}: changed since its first games: {'; '.join(changed)}. Mixing them would be "
            "dishonest; --force does it and says so in the report"
        )


def _essence(config: Any) -> Any:
    """Return a configuration without the settings that change in the life of a run: an interruption
    may come after only one of record and file was written."""
    if not isinstance(config, dict):
        return config
    rest = {key: value for key, value in config.items() if key not in ("games", "executor")}
    executor = config.get("executor")
    return rest | {"executor": executor.get("_target_") if isinstance(executor, dict) else None}


def about_object(thing: Any) -> dict[str, Any]:
    """Return a description of an agent that a program made: enough to recognise it, not enough to
    make it again. Such a run is resumed with :func:`experiments.jobs.run.resume` alone."""
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
