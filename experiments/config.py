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
from agents.config import (
    ConfigError,
    build,
    build_agent,
    compose,
    fill_open,
    literal,
    load,
    one_line,
    unknown,
)
from agents.evaluation import Evaluation
from agents.search import SearchAgent
from agents.search.context import MAX_DEPTH
from core.game import Limits
from core.rules import RULESETS, Ruleset, ruleset
from core.settings import nearest
from experiments.pairing.openings import check_openings
from experiments.pairing.schedule import Pairing, gauntlet, round_robin
from experiments.statistics.sequential import Sprt

EXPORTS = ("csv", "parquet")
LOG_LEVELS = ("debug", "info", "warning", "error")


@dataclass
class RulesetConfig:
    name: str = "standard"


@dataclass
class OpeningsConfig:
    """kind: where they come from, one of ``KINDS`` in :mod:`experiments.pairing.openings`. plies:
    how long they are (of a file's games: at most). file: of transcripts, OBF positions or GGF
    games. shuffle: a file's order is drawn from the run's seed. repeats: whether openings may be used again when
    there are more pairs of games than openings."""

    kind: str = "random"
    plies: int | None = None
    file: str | None = None
    shuffle: bool = False
    repeats: bool = False


SCHEDULES = ("round_robin", "gauntlet", "sprt")


@dataclass
class ScheduleConfig:
    """kind: one of :data:`SCHEDULES`. champion: who meets all the others in a gauntlet, None for
    the first of the line-up. The others are the sequential test's, see
    :class:`~experiments.statistics.sequential.Sprt`; its Elo is the first agent's against the
    second."""

    kind: str = "round_robin"
    champion: str | None = None
    elo0: float = 0.0
    elo1: float = 30.0
    sprt_alpha: float = 0.05
    sprt_beta: float = 0.05
    model: str = "logistic"


EXECUTORS = ("processes", "serial", "dask")


@dataclass
class ExecutorConfig:
    """kind: one of :data:`EXECUTORS`. workers: None for as many as there are cores. address: of
    a Dask cluster's scheduler; None for a cluster of this machine."""

    kind: str = "processes"
    workers: int | None = None
    address: str | None = None


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
class StudyConfig:
    """positions: of the run's games, on which the report's studies count nodes: a number, no two
    from the same game, or ``all`` that its searches met. baseline: the agent whose counts are 1;
    depths: plies to count at, None for each agent's own."""

    positions: Any = 20
    baseline: str | None = None
    depths: list[int] | None = None

    @property
    def asked(self) -> bool:
        """Whether the study of searches was asked for, whatever the line-up."""
        return self.positions == "all" or self.baseline is not None or self.depths is not None


@dataclass
class TuningConfig:
    """agent: whose Elo against the one other agent a search over settings makes as high as it
    can, None where nothing is tuned. games, seed: of the best settings' second run, whose result
    no choice has been made by."""

    agent: str | None = None
    games: int = 400
    seed: int = 1001


@dataclass
class PublishedConfig:
    """What was published of the same experiment, shown beside the run's own numbers.

    source: where. notes: what differs there. games: played by each pairing there. points: of the
    outer agent against the inner one, in these games. nodes, evaluations: relative to the study's
    baseline, by agent.
    """

    source: str = MISSING
    notes: list[str] = field(default_factory=list)
    games: int = 0
    points: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, float] = field(default_factory=dict)
    evaluations: dict[str, float] = field(default_factory=dict)


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
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    executor: ExecutorConfig = field(default_factory=ExecutorConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    rating: RatingConfig = field(default_factory=RatingConfig)
    games: int = 100
    seed: int = 1
    depth: int = 4
    results: str = "results"
    export: list[str] = field(default_factory=list)
    figures: bool = True
    log_level: str = "info"
    study: StudyConfig = field(default_factory=StudyConfig)
    tuning: TuningConfig = field(default_factory=TuningConfig)
    published: PublishedConfig | None = None


@dataclass(frozen=True)
class Plan:
    """A run that has passed all checks, with its agents built.

    settings: the resolved configuration as plain data; goes into the record.
    """

    settings: RunConfig
    agents: dict[str, Agent]
    rules: Ruleset
    workers: int

    @property
    def crew(self) -> str:
        """Who plays, in words."""
        asked = self.settings.executor
        if asked.address is not None:
            return f"those of the Dask cluster at {asked.address}"
        if asked.kind == "serial":
            return "none (serial)"
        return f"{self.workers}" + (" (Dask)" if asked.kind == "dask" else "")

    @property
    def pairings(self) -> list[Pairing]:
        """Who meets whom, by number."""
        return pairings_of(self.settings)

    @property
    def pairs(self) -> int:
        """How many pairs the schedule has; a sequential test may end with fewer."""
        return scheduled(self.settings)

    @property
    def sprt(self) -> Sprt | None:
        """The sequential test that ends the run, if one does."""
        asked = self.settings.schedule
        if asked.kind != "sprt":
            return None
        return Sprt(asked.elo0, asked.elo1, asked.sprt_alpha, asked.sprt_beta, asked.model)


def pairings_of(settings: RunConfig) -> list[Pairing]:
    """Who meets whom in a run, by number."""
    asked = settings.schedule
    names = list(settings.agents)
    if asked.kind == "gauntlet":
        champion = names[0] if asked.champion is None else asked.champion
        return gauntlet(len(names), names.index(champion))
    return round_robin(len(names))


def scheduled(settings: RunConfig) -> int:
    """How many pairs the schedule of a run has."""
    return len(pairings_of(settings)) * (settings.games // 2)


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
    _check_studies(settings, built)
    return plan_of(settings, built, rules)


def from_record(config: Mapping[str, Any]) -> RunConfig:
    """The settings of a run, from the plain data that its record has; raises ConfigError."""
    raw = dict(config)
    agents, evaluation = raw.pop("agents"), raw.pop("evaluation")
    settings = _typed(raw)
    settings.agents, settings.evaluation = agents, evaluation
    return settings


def choice(group: str, asked: str | Mapping[str, Any]) -> Any:
    """The settings of an option of a group, as :class:`RunConfig` has them.

    asked: the option's name, or a mapping with the name as ``kind`` and the settings that are to be
    other than in its file. Raises ConfigError.
    """
    changes = {"kind": asked} if isinstance(asked, str) else dict(asked)
    settings = load(group, str(changes.get("kind", "")))
    for key in changes:
        if key not in settings:
            raise unknown(f"setting of {group}={changes['kind']}", key, settings)
    return getattr(_typed({"name": group, group: settings | changes}), group)


def plan_of(settings: RunConfig, agents: dict[str, Agent], rules: Ruleset) -> Plan:
    """The plan of a run with these agents, whether they can play it checked; ConfigError."""
    workers = plan_workers(settings.executor, agents, rules)
    _check_schedule(settings.schedule, agents)
    for name, agent in agents.items():
        try:
            agent.check_limits(limits_of(settings))
        except ValueError as error:
            raise ConfigError(f"agent '{name}': {one_line(error)}") from error
    return Plan(settings, agents, rules, workers)


def _check_studies(settings: RunConfig, agents: Mapping[str, Agent]) -> None:
    """Raise ConfigError for a study, tuning or comparison that cannot be made of this line-up."""
    study, tuning, published = settings.study, settings.tuning, settings.published
    searchers = [name for name, agent in agents.items() if isinstance(agent, SearchAgent)]
    if study.positions != "all" and (type(study.positions) is not int or study.positions < 1):
        raise ConfigError(f"study.positions={study.positions}: a number from 1 on, or all")
    if study.baseline is not None and study.baseline not in searchers:
        raise unknown("study.baseline", study.baseline, searchers)
    for depth in study.depths or ():
        if not 1 <= depth <= MAX_DEPTH:
            raise ConfigError(f"study.depths: {depth} is not from 1 to {MAX_DEPTH}")
    if tuning.agent is not None:
        if tuning.agent not in agents:
            raise unknown("tuning.agent", tuning.agent, agents)
        if len(agents) != 2:
            raise ConfigError(
                f"tuning needs two agents, the tuned and a fixed one, not {len(agents)}"
            )
    if tuning.games < 2 or tuning.games % 2:
        raise ConfigError(f"tuning.games={tuning.games}: an even number, 2 or more")
    if tuning.seed < 0:
        raise ConfigError(f"tuning.seed={tuning.seed}: 0 or more")
    if published is not None:
        for first, row in published.points.items():
            if not isinstance(row, Mapping):
                raise ConfigError(f"published.points.{first}={row}: points by opponent are needed")
            for second, points in row.items():
                if not isinstance(points, int | float) or not 0 <= points <= published.games:
                    raise ConfigError(
                        f"published.points.{first}.{second}={points}: 0 to published.games="
                        f"{published.games} points are needed"
                    )
        met = [name for row in published.points.values() for name in row]
        for name in (*published.points, *met, *published.nodes, *published.evaluations):
            if name not in agents:
                raise unknown("agent in published", name, agents)


def plan_workers(executor: ExecutorConfig, agents: Mapping[str, Agent], rules: Ruleset) -> int:
    """The number of worker processes here, 0 for none; checks that the agents can play here."""
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
    if executor.address is not None and executor.kind != "dask":
        raise ConfigError(f"executor.address={executor.address}: only executor=dask has an address")
    if executor.kind == "serial":
        if executor.workers not in (None, 1):
            raise ConfigError(f"executor.workers={executor.workers}: executor=serial uses one")
        return 0
    if executor.kind not in EXECUTORS:
        raise unknown("executor", executor.kind, EXECUTORS)
    if executor.kind == "dask" and importlib.util.find_spec("distributed") is None:
        raise ConfigError(
            "executor=dask needs distributed; pip install 'othello-strategy-lab[dask]' or "
            "distributed"
        )
    if executor.address is not None:
        if executor.workers is not None:
            raise ConfigError(
                f"executor.workers={executor.workers}: a cluster has the workers it has; without "
                "executor.address they are started here"
            )
        return 0
    if executor.workers is None:
        return available_cores()
    if executor.workers < 1:
        raise ConfigError(f"executor.workers={executor.workers}: at least one worker is needed")
    return executor.workers


def _check_schedule(asked: ScheduleConfig, agents: Mapping[str, Agent]) -> None:
    """Raise ConfigError for a schedule that is unknown, or not for these agents."""
    if asked.kind not in SCHEDULES:
        raise unknown("schedule", asked.kind, SCHEDULES)
    if asked.champion is not None:
        if asked.kind != "gauntlet":
            raise ConfigError(
                f"schedule.champion={asked.champion}: only schedule=gauntlet has a champion"
            )
        if asked.champion not in agents:
            raise unknown("schedule.champion", asked.champion, agents)
    if asked.kind != "sprt":
        return
    if len(agents) != 2:
        raise ConfigError(f"schedule=sprt tests two agents; this line-up has {len(agents)}")
    for key in ("sprt_alpha", "sprt_beta"):
        rate = getattr(asked, key)
        if not 0 < rate < 0.5:
            raise ConfigError(f"schedule.{key}={rate}: an error rate between 0 and 0.5 is needed")
    try:
        Sprt(asked.elo0, asked.elo1, asked.sprt_alpha, asked.sprt_beta, asked.model)
    except ValueError as error:
        raise ConfigError(f"schedule: {one_line(error)}") from error


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
        typed = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(RunConfig), literal(raw)))
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
