"""What a run is: the schema that the composed YAML is checked against, and the checks."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from agents.base import Agent
from agents.config import ConfigError, build, build_agent, compose, fill_open, one_line, unknown
from agents.evaluation import Evaluation
from agents.search import SearchAgent
from core.game import Limits
from core.rules import RULESETS, Ruleset, nearest, ruleset
from experiments.openings import check_openings

EXPORTS = ("csv", "parquet")
LOG_LEVELS = ("debug", "info", "warning", "error")


@dataclass
class RulesetConfig:
    name: str = "standard"


@dataclass
class OpeningsConfig:
    """kind: where they come from, one of :data:`experiments.openings.KINDS`. plies: how long they
    are (of a file's games: at most). file: of transcripts, OBF positions or GGF games. shuffle: a
    file's order is drawn from the run's seed. repeats: whether openings may be used again when
    there are more pairs of games than openings."""

    kind: str = "random"
    plies: int | None = None
    file: str | None = None
    shuffle: bool = False
    repeats: bool = False


@dataclass
class ExecutorConfig:
    """kind: ``processes`` or ``serial``. workers: None for as many as there are cores."""

    kind: str = "processes"
    workers: int | None = None


@dataclass
class LimitsConfig:
    """depth: plies, nodes: positions entered, seconds: wall time, each per move; clock: wall time
    per player and game; None for no limit. grace: seconds of tolerance when judged. hang: seconds
    without an answer after which a player counts as hung where time is not limited."""

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    clock: float | None = None
    grace: float = 0.02
    hang: float = 60.0


@dataclass
class RatingConfig:
    """anchor: name of the agent rated 0 Elo; None for the mean of the pool. colour_advantage:
    whether Black's advantage is fitted together with the ratings."""

    anchor: str | None = None
    colour_advantage: bool = False


@dataclass
class RunConfig:
    """A run, as written in ``conf/run.yaml``; the comments there explain each setting."""

    name: str = MISSING
    agents: dict[str, Any] = field(default_factory=dict)
    evaluation: dict[str, Any] = field(default_factory=dict)
    ruleset: RulesetConfig = field(default_factory=RulesetConfig)
    openings: OpeningsConfig = field(default_factory=OpeningsConfig)
    executor: ExecutorConfig = field(default_factory=ExecutorConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    rating: RatingConfig = field(default_factory=RatingConfig)
    games: int = 100
    seed: int = 1
    depth: int = 4
    results: str = "results"
    export: list[str] = field(default_factory=list)
    log_level: str = "info"


@dataclass(frozen=True)
class Plan:
    """A run that has passed all checks, with its agents built.

    settings: the resolved configuration as plain data; goes into the record.
    """

    settings: RunConfig
    agents: dict[str, Agent]
    rules: Ruleset
    workers: int


# Keys of the composed configuration that are not settings of the run: duel's two places.
_PLACES = ("first", "second")


def read(overrides: Sequence[str], extra_folders: Sequence[str | Path] = ()) -> Plan:
    """Compose ``conf/run.yaml`` with overrides and check it; raises ConfigError."""
    return check(compose("run", overrides, extra_folders), overrides)


def check(config: DictConfig, overrides: Sequence[str] = ()) -> Plan:
    """Check a composed configuration and build its agents.

    overrides: what was asked for on the command line; a ``depth`` or ``evaluation`` among them
    that reaches no agent is an error. Raises ConfigError with one line that names the bad part.
    """
    try:
        ours = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
        raw = OmegaConf.to_container(ours, resolve=True, throw_on_missing=False)
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error)) from error
    assert isinstance(raw, dict)
    # These two may still have open settings, which the schema's own check would not pass.
    agents, evaluation = raw.pop("agents", None), raw.pop("evaluation", None)
    if not isinstance(agents, dict):
        raise ConfigError(f"agents={agents}: a line-up is needed")
    if not isinstance(evaluation, dict):
        raise ConfigError(f"evaluation={evaluation}: one of the choices of --help is needed")
    settings = _typed({str(key): value for key, value in raw.items() if key not in _PLACES})
    check_numbers(settings)
    rules = known_ruleset(settings.ruleset.name)
    if settings.rating.anchor is not None and settings.rating.anchor not in agents:
        raise unknown("rating.anchor", settings.rating.anchor, agents)
    check_openings(settings.openings, rules)
    filled, used = fill_open(agents, depth=settings.depth, evaluation=evaluation)
    for key in ("depth", "evaluation"):
        asked = next((o for o in overrides if o.lstrip("+").split("=")[0].split(".")[0] == key), "")
        if asked and key not in used:
            raise ConfigError(
                f"{asked}: no agent of this line-up leaves its {key} open, so it has no effect; "
                f"set it for one agent with agents.NAME.{key}=..."
            )
    settings.agents = filled
    settings.evaluation = evaluation
    if "evaluation" in used and not isinstance(build(evaluation, "evaluation"), Evaluation):
        raise ConfigError(f"evaluation: {evaluation['_target_']} is no Evaluation")
    built = {name: build_agent(agent, name) for name, agent in filled.items()}
    return plan_of(settings, built, rules)


def plan_of(settings: RunConfig, agents: dict[str, Agent], rules: Ruleset) -> Plan:
    """The plan of a run with these agents, whether they can play it checked; ConfigError."""
    workers = plan_workers(settings.executor, agents, rules)
    for name, agent in agents.items():
        try:
            agent.check_limits(limits_of(settings))
        except ValueError as error:
            raise ConfigError(f"agent '{name}': {one_line(error)}") from error
    return Plan(settings, agents, rules, workers)


def plan_workers(executor: ExecutorConfig, agents: Mapping[str, Agent], rules: Ruleset) -> int:
    """The number of worker processes, 0 for none; checks also that the agents can play here."""
    if len(agents) < 2:
        raise ConfigError(f"a line-up needs at least two agents; this one has {len(agents)}")
    for name, agent in agents.items():
        if rules.side not in agent.boards():
            sides = ", ".join(f"{side}x{side}" for side in sorted(agent.boards()))
            what = f"agent '{name}' plays on boards"
            if isinstance(agent, SearchAgent):
                what = f"evaluation {agent.evaluation.name} of agent '{name}' is made for boards"
            raise ConfigError(
                f"{what} of {sides}; ruleset {rules.name} is {rules.side}x{rules.side} "
                "(evaluation=disc_count is for all boards)"
            )
    if executor.kind == "serial":
        if executor.workers not in (None, 1):
            raise ConfigError(f"executor.workers={executor.workers}: executor=serial uses one")
        return 0
    if executor.kind != "processes":
        raise unknown("executor", executor.kind, ("processes", "serial"))
    if executor.workers is None:
        return available_cores()
    if executor.workers < 1:
        raise ConfigError(f"executor.workers={executor.workers}: at least one worker is needed")
    return executor.workers


def limits_of(settings: RunConfig) -> Limits:
    """What a move may cost in a run."""
    limits = settings.limits
    return Limits(limits.depth, limits.nodes, limits.seconds, limits.clock)


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _typed(raw: dict[str, Any]) -> RunConfig:
    try:
        typed = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(RunConfig), raw))
    except OmegaConfBaseException as error:
        key = getattr(error, "full_key", None) or ""
        first = str(error).splitlines()[0]
        if "not in" in first and "Key '" in first:
            leaf = first.split("'")[1]
            raise ConfigError(
                f"unknown setting '{key or leaf}'.{nearest(leaf, RunConfig.__dataclass_fields__)}"
            ) from error
        if "is not a ListConfig" in first:
            raise ConfigError(f"{key}={_at(raw, key)}: write a list, {key}=[...]") from error
        raise ConfigError(f"{key}={_at(raw, key)}: {first}") from error
    assert isinstance(typed, RunConfig)
    return typed


def _at(raw: Any, key: str) -> Any:
    for part in key.split("."):
        raw = raw.get(part) if isinstance(raw, Mapping) else None
    return raw


def check_numbers(settings: RunConfig) -> None:
    """Raise ConfigError for a setting outside its range."""
    limits = settings.limits
    for key, value, good, wanted in (
        ("depth", settings.depth, settings.depth >= 1, "1 or more"),
        (
            "games",
            settings.games,
            settings.games >= 2 and settings.games % 2 == 0,
            "an even number, 2 or more: each opening is played twice, colours swapped",
        ),
        ("seed", settings.seed, 0 <= settings.seed < 1 << 63, "0 or more, below 2^63"),
        (
            "limits.seconds",
            limits.seconds,
            limits.seconds is None or 0 < limits.seconds < float("inf"),
            "more than 0, or null for no limit",
        ),
        (
            "limits.clock",
            limits.clock,
            limits.clock is None or 0 < limits.clock < float("inf"),
            "more than 0, or null for no limit",
        ),
        (
            "limits.clock",
            limits.clock,
            limits.clock is None or limits.seconds is None,
            f"contradicts limits.seconds={limits.seconds}; a time per move or one for the game",
        ),
        ("limits.depth", limits.depth, limits.depth is None or limits.depth >= 1, "1 or more"),
        ("limits.nodes", limits.nodes, limits.nodes is None or limits.nodes >= 1, "1 or more"),
        ("limits.grace", limits.grace, 0 <= limits.grace < float("inf"), "0 or more"),
        ("limits.hang", limits.hang, 0 < limits.hang < float("inf"), "more than 0"),
    ):
        if not good:
            raise ConfigError(f"{key}={value}: {wanted}")
    for kind in settings.export:
        if kind not in EXPORTS:
            raise unknown("export", kind, EXPORTS)
    if "parquet" in settings.export and importlib.util.find_spec("pyarrow") is None:
        raise ConfigError(
            "export: parquet needs pyarrow; pip install 'othello-strategy-lab[parquet]' or pyarrow"
        )
    if settings.log_level not in LOG_LEVELS:
        raise unknown("log_level", settings.log_level, LOG_LEVELS)
    if not settings.results:
        raise ConfigError("results=: a folder is needed")
    if not settings.name or settings.name.startswith(("/", ".")) or ".." in settings.name:
        raise ConfigError(f"name={settings.name}: a plain folder name is needed")


def known_ruleset(name: str) -> Ruleset:
    """The ruleset called ``name``; raises ConfigError."""
    if name not in RULESETS:
        raise unknown("ruleset", name, RULESETS)
    return ruleset(name)
