"""The settings of a run, and the one way from them to a plan that can be played."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from omegaconf import MISSING, DictConfig

from othello_lab.agents.agent import Agent
from othello_lab.agents.composing import FILLED_BY_RUN, compose, load, plain, unknown
from othello_lab.agents.config import RulesetConfig, build, build_agent, fill_open, short_name
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.external.submission import submissions
from othello_lab.agents.external.wpi import WpiAgent
from othello_lab.agents.external_agent import ExternalAgent, names_outside, own_kind
from othello_lab.agents.naming import names_by_difference
from othello_lab.agents.search import SearchAgent
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.core.game import Limits
from othello_lab.core.notation import split_transcript
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset, ruleset
from othello_lab.core.system.confinement import Confinement
from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.settings import (
    Choice,
    ConfigError,
    Each,
    Nameable,
    Number,
    Switch,
    Text,
    Whole,
    check_settings,
    from_plain,
    one_line,
)
from othello_lab.experiments.pairing import Openings, Schedule
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import PairQueue
from othello_lab.experiments.playing import Executor, Serial
from othello_lab.experiments.playing.conditions import (
    CLOSED,
    NONE,
    PROCESS,
    GameConditions,
    Isolation,
    RemoteConditions,
)

_EVEN_GAMES = Whole(2, even=True, why="each opening is played twice, colours swapped")
_AGENT_NAME = Text(r".+", "a name")
_SEED = Whole(0, (1 << 63) - 1)


@dataclass
class LimitsConfig:
    """The limits of all agents. The first one that a search reaches ends it."""

    depth: Annotated[int | None, Whole(1)] = None
    """Plies that a search may look ahead; None: no limit."""
    nodes: Annotated[int | None, Whole(1)] = None
    """Positions that it may enter, per move; None: no limit."""
    seconds: Annotated[float | None, Number(above=0)] = None
    """Seconds that it may take, per move; None: no limit."""
    cpu_seconds: Annotated[float | None, Number(above=0)] = None
    """Seconds of processor time that it may take, per move, so that it is as strong on a busy
    machine as on a free one; None: no limit."""
    clock: Annotated[float | None, Number(above=0)] = None
    """Seconds for all of a player's moves of a game; None: no limit."""
    grace: Annotated[float, Number(low=0)] = 0.02
    """Seconds of tolerance for the machine's scheduler when a limit is set."""
    hang: Annotated[float, Number(above=0)] = 60
    """Seconds without an answer after which an agent counts as hung where no limit is set."""
    prepare: Annotated[float, Number(above=0)] = 10
    """Seconds that an agent may take to prepare for a game, apart from its thinking time."""
    memory_mb: Annotated[int | None, Whole(1)] = None
    """MiB that an agent may take beyond the first size of its process; None: no limit. Of agents
    that may start others it is watched, without a promise."""
    processes: Annotated[int, Whole(0)] = 64
    """Processes that an agent may have started at once, if it may start any; this is watched."""
    ponder: Annotated[bool, Switch()] = False
    """Where time is limited: agents may think in their opponents' time, too."""

    @property
    def timed(self) -> bool:
        """True if time is limited."""
        return any(limit is not None for limit in (self.seconds, self.clock, self.cpu_seconds))

    def of_moves(self) -> Limits:
        """Return the limits that agents get; raises ValueError for limits that contradict each
        other."""
        return Limits(self.depth, self.nodes, self.seconds, self.clock, self.cpu_seconds)


@dataclass
class SearchesConfig:
    """The costs of searches on positions of the run, counted for the report."""

    positions: Annotated[Any, Whole(1, word="all")] = 20
    """Number of positions, no two from the same game; or all that searching agents had to
    decide."""
    baseline: str | None = None
    """The agent whose nodes and evaluations are 1; None: no agent."""
    depths: Annotated[list[int] | None, Each(Whole(1, MAX_DEPTH))] = None
    """Plies to count at, as a list; None: each agent's own depth."""

    @property
    def is_set(self) -> bool:
        """True if the user set any of them, which is for any line-up."""
        return self.positions == "all" or self.baseline is not None or self.depths is not None

    def check(self, agents: Mapping[str, Agent]) -> None:
        """Raise ConfigError if it cannot be made of this line-up."""
        searchers = [name for name, agent in agents.items() if isinstance(agent, SearchAgent)]
        if self.baseline is not None and self.baseline not in searchers:
            raise unknown("searches.baseline", self.baseline, searchers)


@dataclass
class JudgingConfig:
    """Moves of a match of two agents, judged for the report."""

    late: Annotated[int, Whole(0)] = 0
    """Most late moves of each agent, held to perfect play by the exact solver."""
    empties: Annotated[int, Whole(1, 20)] = 12
    """Largest number of empty squares of a late move."""
    disagreements: Annotated[int, Whole(0)] = 0
    """Most positions in which both agents moved, and differently, judged by the champion."""
    depth: Annotated[int, Whole(1, MAX_DEPTH)] = 12
    """Plies that the champion looks ahead there."""

    @property
    def is_set(self) -> bool:
        """True if any move is judged."""
        return bool(self.late or self.disagreements)

    def check(self, agents: Mapping[str, Agent]) -> None:
        """Raise ConfigError if there are no moves of two agents to judge."""
        if self.is_set and len(agents) != 2:
            raise ConfigError(f"judging: it is for two agents; this line-up has {len(agents)}")


@dataclass
class PublishedGame:
    """The one game behind an original's table of search costs, on the standard board.

    position: its start, an OBF line. moves: its plies, each a row of the table. made, evaluations:
    the table, for each agent a number a ply: positions made, and evaluations.
    """

    position: str
    moves: str
    made: dict[str, list[int]] = field(default_factory=dict)
    evaluations: dict[str, list[int]] = field(default_factory=dict)

    def plies(self) -> list[tuple[Position, int]]:
        """Each position and the move made there. Raises ValueError where there are none such."""
        position = Position.from_obf(self.position)
        plies = []
        for move in position.follow(split_transcript(self.moves))[1]:
            plies.append((position, move))
            position = position.play(move)
        return plies

    def check(self, agents: Mapping[str, Agent]) -> None:
        """Raise ConfigError if it is no game, or its table not one of searches of this line-up."""
        try:
            plies = len(self.plies())
        except ValueError as error:
            raise ConfigError(f"published.game: {error}") from None
        searchers = [name for name, agent in agents.items() if isinstance(agent, SearchAgent)]
        for measure in ("made", "evaluations"):
            for name, counts in getattr(self, measure).items():
                where = f"published.game.{measure}"
                if name not in searchers:
                    raise unknown(f"search in {where}", name, searchers)
                if len(counts) != plies:
                    raise ConfigError(f"{where}.{name}: {plies} numbers are needed, one a ply")


@dataclass
class PublishedConfig:
    """Published numbers of the same experiment, shown beside the run's own.

    source: the publication. notes: differences there. games: played by each pairing there. points:
    of the outer agent against the inner one, in these games. game: one with counts of searches.
    """

    source: str
    notes: list[str] = field(default_factory=list)
    games: Annotated[int, Whole(0)] = 0
    points: dict[str, Any] = field(default_factory=dict)
    game: PublishedGame | None = None

    def check(self, agents: Mapping[str, Agent]) -> None:
        """Raise ConfigError if it tells of agents that are not in this line-up."""
        for first, row in self.points.items():
            if not isinstance(row, Mapping):
                raise ConfigError(f"published.points.{first}={row}: points by opponent are needed")
            allowed = Number(0, self.games)
            for second, points in row.items():
                if not allowed.allows(points):
                    name = f"published.points.{first}.{second}"
                    raise ConfigError(allowed.refusal(name, points, optional=False))
        met = [name for row in self.points.values() for name in row]
        for name in (*self.points, *met):
            if name not in agents:
                raise unknown("agent in published", name, agents)
        if self.game is not None:
            self.game.check(agents)


@dataclass
class RatingConfig:
    """The ratings of the agents."""

    anchor: str | None = None
    """Name of the agent rated 0 Elo; None: the mean of the pool."""
    colour_advantage: bool = False
    """Fit Black's advantage together with the ratings."""

    def check(self, agents: Mapping[str, Agent]) -> None:
        """Raise ConfigError if the anchor is not in this line-up."""
        if self.anchor is not None and self.anchor not in agents:
            raise unknown("rating.anchor", self.anchor, agents)


FIGURES = IN_REPORT, FIGURE_FILES, NO_FIGURES = "report", "files", "none"
"""Where figures are drawn: in the report alone, as files beside it too, or not at all."""
RECORDED = ALL, GAMES = "all", "games"
"""What is recorded: every move, or only games with their transcripts and totals."""


@dataclass
class RunConfig(Nameable):
    """The settings of a run, with their defaults; ``conf/run.yaml`` has the choices.

    ``agents``, ``evaluation``, ``openings``, ``schedule`` and ``executor`` describe objects, named
    by their ``_target_``. The classes of these objects declare their settings.
    """

    name: Annotated[str, Text(r"(?![/.]|\?{3}$)(?!.*\.\.).+", "a plain folder name")] = MISSING
    """Results are filed under results/NAME/DATE-TIME/; by default the name of the line-up."""
    tags: Annotated[list[str], Each(Text(r"[^\s,=\[\]]+", "a word"))] = field(default_factory=list)
    """Words to find the results by: tags=[thesis,draft], then list tags=thesis."""
    note: Annotated[str, Text(r"[^\n]*", "a line")] = ""
    """A line on the purpose of a run, for list, show and the report."""
    agents: dict[str, Any] = field(default_factory=dict)
    evaluation: dict[str, Any] = field(default_factory=dict)
    ruleset: RulesetConfig = field(default_factory=RulesetConfig)
    openings: dict[str, Any] = field(default_factory=dict)
    schedule: dict[str, Any] = field(default_factory=dict)
    executor: dict[str, Any] = field(default_factory=dict)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    rating: RatingConfig = field(default_factory=RatingConfig)
    games: Annotated[int, _EVEN_GAMES] = 100
    """Games per pairing."""
    minutes: Annotated[float | None, Number(above=0)] = None
    """Minutes of play after which no more pairs begin, if games are left; None: no limit. `resume`
    plays on for as long again."""
    seed: Annotated[int, _SEED] = 1
    """All randomness of a run comes from this number."""
    depth: Annotated[int, Whole(1)] = 4
    """Plies searched by every agent that leaves its depth open. An agent that leaves its evaluation
    open has that of the run: evaluation=square_weights, unless another is given."""
    isolation: Isolation = field(default_factory=Isolation)
    compiled_games: bool = True
    """Play games of agents that can play in compiled code throughout there: the same games, many
    times faster. false: every move passes through the judge in Python, for debugging."""
    record: Annotated[str, Choice(*RECORDED)] = ALL
    """all: every move and its cost; games: transcripts, and totals of each side, faster still and a
    third of the size."""
    trial: Annotated[bool, Switch()] = True
    """Before the run, let every agent from outside the lab play in up to ten positions; the run is
    refused if it fails in all of them."""
    results: Annotated[str, Text(r".+", "a folder")] = "results"
    """Folder of all results."""
    export: Annotated[list[str], Each(Choice("csv", "parquet"))] = field(default_factory=list)
    """Formats in which the record's tables are written too: export=[csv,parquet]."""
    figures: Annotated[str, Choice(*FIGURES)] = IN_REPORT
    """Figures: report (drawn in report.html), files (as PNG and SVG beside it, too), none (tables
    alone). true means report, false means none."""
    log_level: Annotated[str, Choice("debug", "info", "warning", "error")] = "info"
    """Least importance of a line of log.txt; debug: every game."""
    searches: SearchesConfig = field(default_factory=SearchesConfig)
    """Costs of searches on positions of the run, counted for the report."""
    judging: JudgingConfig = field(default_factory=JudgingConfig)
    """Moves of a match of two agents, judged for the report."""
    published: PublishedConfig | None = None
    """Published numbers of the same experiment; see conf/experiment/paip_1ply.yaml."""


OBJECTS = ("agents", "evaluation", "openings", "schedule", "executor")
"""Settings of a run that describe objects; what they may hold their classes say."""


@dataclass(frozen=True)
class Plan:
    """A run that has passed all checks, with its objects built.

    settings: the resolved configuration as plain data; goes into the record.
    """

    settings: RunConfig
    agents: dict[str, Agent]
    rules: Ruleset
    limits: Limits
    openings: Openings
    schedule: Schedule
    executor: Executor

    @property
    def names(self) -> list[str]:
        """The line-up."""
        return list(self.agents)

    def choose_openings(self) -> list[Opening]:
        """All that the schedule needs; ConfigError."""
        seed, settled = self.settings.seed, not self.schedule.can_grow
        count = self.schedule.openings_needed(self.names, self.settings.games // 2)
        return self.openings.choose(count, self.rules, seed, settled)

    @functools.cached_property
    def pairs(self) -> int:
        """The largest number of pairs of the schedule."""
        return self.schedule.length(self.names, self.settings.games // 2)

    @property
    def games(self) -> int:
        """The largest number of games of the schedule."""
        return self.pairs * self.schedule.games_each

    def draw(self, openings: Sequence[Opening]) -> PairQueue:
        """The pairs of the run, from these openings."""
        return draw_of(self.settings, self.schedule, openings)

    @property
    def as_data(self) -> dict[str, Any]:
        """The settings as the record has them."""
        return asdict(self.settings)

    @property
    def of_objects(self) -> bool:
        """True if its agents are objects of a program. Settings cannot make these again."""
        return any("object" in agent for agent in self.settings.agents.values())

    def conditions(self) -> GameConditions:
        """Return the conditions that all its games share."""
        limits = self.settings.limits
        return GameConditions(
            self.names,
            list(self.agents.values()),
            self.rules,
            self.limits,
            limits.grace,
            limits.hang,
            logging.getLevelName(self.settings.log_level.upper()),
            limits.prepare,
            limits.memory_mb,
            limits.processes,
            self.settings.isolation,
            self.settings.compiled_games,
            self.settings.record == ALL,
            None if self.of_objects else RemoteConditions(conditions_of, self.as_data),
            limits.ponder,
            [os.path.abspath(self.settings.results)],
        )


# ---------------------------------------------------------------------- ways to a plan


def plan_of(settings: RunConfig, agents: Mapping[str, Agent] | None = None, least: int = 2) -> Plan:
    """The one way to a plan: check the settings of a run and build its objects; ConfigError.

    agents: where they are objects of a program; otherwise they are built from the settings. least:
    how many there have to be.
    """
    check_settings(settings)
    settings.isolation.check(settings.agents if agents is None else agents)
    if "parquet" in settings.export:
        needs("export: parquet", "pyarrow", "parquet")
    rules, limited = ruleset(settings.ruleset.name), settings.limits
    limits = _checked("limits", limited.of_moves)
    openings, schedule, executor = (
        build(getattr(settings, name), name, kind)
        for name, kind in (("openings", Openings), ("schedule", Schedule), ("executor", Executor))
    )
    _checked("openings", openings.check, rules)
    if agents is None:
        agents = {
            name: make_agent(agent, name, settings) for name, agent in settings.agents.items()
        }
    if len(agents) < least:
        raise ConfigError(f"a line-up needs at least two agents; this one has {len(agents)}")
    for name, agent in agents.items():
        if not _AGENT_NAME.allows(name):
            raise ConfigError(_AGENT_NAME.refusal("agents", name, optional=False))
        check_board(agent, name, rules)
        _checked(f"agent '{name}'", agent.check_limits, limits)
        if agent.from_start and openings.find(1, rules, settings.seed)[:1] != [Opening()]:
            raise ConfigError(
                f"agent '{name}' knows no game that begins elsewhere than at the start, but these "
                f"begin from {openings.text}; openings=start is for everybody"
            )
    _check_mailboxes(agents, executor)
    _checked("schedule", schedule.check, list(agents))
    if settings.record == GAMES and settings.searches.is_set:
        raise ConfigError(f"record={GAMES}: searches.* needs the moves of the games; record={ALL}")
    parts = (settings.rating, settings.searches, settings.judging)
    for part in (*parts, settings.published):
        if part is not None:
            part.check(agents)
    return Plan(settings, dict(agents), rules, limits, openings, schedule, executor)


def _check_mailboxes(agents: Mapping[str, Agent], executor: Executor) -> None:
    """Raise ConfigError if two programs of the file protocol would share their files, or one in
    two games at a time."""
    owners: dict[tuple[Path, str], str] = {}
    for name, agent in agents.items():
        if not isinstance(agent, WpiAgent) or agent.folder is None:
            continue
        if executor.workers != 1 and not isinstance(executor, Serial):
            raise ConfigError(
                f"agent '{name}': folder={agent.folder}: the games of several workers would share "
                "it; executor.workers=1 is needed, or no folder=, so that each game has its own"
            )
        files = _checked(f"agent '{name}'", getattr, agent, "name")
        other = owners.setdefault((Path(agent.folder).resolve(), files), name)
        if other != name:
            raise ConfigError(
                f"agent '{name}': folder={agent.folder}: '{other}' has the files {files}.in and "
                f"{files}.out there; another name= or folder= is needed"
            )


def make_agent(described: Any, name: str, settings: RunConfig | None = None) -> Agent:
    """Return the agent that is described, or its proxy where its code must not run here.

    settings: of the run; None for their defaults. Raises ConfigError.
    """
    settings = settings or RunConfig()
    isolation, limits = settings.isolation, settings.limits
    if not plays_elsewhere(described, settings):
        return build_agent(described, name)
    closed = isolation.kind == CLOSED
    box = isolation.box(name, [os.path.abspath(settings.results)]) if closed else None
    return ExternalAgent(described, name, limits.prepare, Confinement(limits.memory_mb, box))


def plays_elsewhere(described: Any, settings: RunConfig) -> bool:
    """Return True if the code of the agent that is described must not run in this process."""
    kind, named = settings.isolation.kind, described
    if isinstance(described, Mapping):
        if getattr(own_kind(described), "closed", False):
            return False  # it runs nothing before it plays
        if kind not in (PROCESS, CLOSED):  # its class, or function, alone
            named = {key: value for key, value in described.items() if isinstance(value, str)}
    return kind != NONE and names_outside(named)


def scheduled_of(settings: RunConfig) -> tuple[Schedule, int]:
    """The schedule of a run, and how many pairs it has at most; ConfigError."""
    schedule = build(settings.schedule, "schedule", Schedule)
    return schedule, schedule.length(list(settings.agents), settings.games // 2)


def draw_of(settings: RunConfig, schedule: Schedule, openings: Sequence[Opening]) -> PairQueue:
    """The pairs of the run with these settings, from these openings."""
    names, pairs = list(settings.agents), settings.games // 2
    return PairQueue(schedule, names, openings, settings.seed, pairs)


def _checked(where: str, check: Any, *arguments: Any) -> Any:
    try:
        return check(*arguments)
    except ValueError as error:
        raise ConfigError(f"{where}: {one_line(error)}") from error


def check_board(agent: Agent, name: str, rules: Ruleset) -> None:
    """Raise ConfigError unless an agent is made for the board of a ruleset."""
    if rules.side in agent.boards():
        return
    sides = ", ".join(f"{side}x{side}" for side in sorted(agent.boards()))
    what = f"agent '{name}' plays on boards"
    if isinstance(agent, SearchAgent):
        what = f"evaluation {agent.evaluation.name} of agent '{name}' is made for boards"
    raise ConfigError(
        f"{what} of {sides}; ruleset {rules.name} is {rules.side}x{rules.side} "
        "(evaluation=disc_count is for all boards)"
    )


def settings_of(overrides: Sequence[str], extra_folders: Sequence[str | Path] = ()) -> RunConfig:
    """Return the settings that :func:`read` would plan; nothing that they name is imported. Raises
    ConfigError."""
    return _filled(compose("run", overrides, extra_folders), overrides)[0]


def read(overrides: Sequence[str], extra_folders: Sequence[str | Path] = ()) -> Plan:
    """Compose ``conf/run.yaml`` with overrides, and plan it; raises ConfigError."""
    return check(compose("run", overrides, extra_folders), overrides)


def check(config: DictConfig, overrides: Sequence[str] = ()) -> Plan:
    """The plan of a composed configuration; see :func:`checked_settings`. Raises ConfigError."""
    return plan_of(checked_settings(config, overrides))


def checked_settings(config: DictConfig, overrides: Sequence[str] = ()) -> RunConfig:
    """Return the settings in a composed configuration.

    overrides: the settings of the command line; a ``depth`` or ``evaluation`` among them that
    reaches no agent is an error. Raises ConfigError with one line that names the bad part.
    """
    settings, used = _filled(config, overrides)
    for key in FILLED_BY_RUN:
        word = next((o for o in overrides if o.lstrip("+").split("=")[0].split(".")[0] == key), "")
        if word and key not in used:
            raise ConfigError(
                f"{word}: no agent of this line-up leaves its {key} open, so it has no "
                f"effect; set it for one agent with agents.NAME.{key}=..., or of a duel with "
                f"first.{key}=..."
            )
    if "evaluation" in used:
        build(settings.evaluation, "evaluation", Evaluation)
    return settings


def _filled(config: DictConfig, overrides: Sequence[str]) -> tuple[RunConfig, set[str]]:
    """Return a composed configuration as settings, and the values that filled settings left open by
    agents."""
    said = plain(config)
    folder, protocol = (said.pop(name, None) for name in _HANDED_IN)
    seats = [seat for seat in _PLACES if seat in said]
    for seat in seats:
        del said[seat]
    settings = typed(said, recorded=False)
    if folder is not None:
        settings.agents = _handed_in(str(folder), str(protocol), settings)
    depth_given = any(word.lstrip("+").startswith("depth=") for word in overrides)
    settings.agents, used = fill_open(
        settings.agents,
        None if depth_given else settings.limits.timed,
        depth=settings.depth,
        evaluation=settings.evaluation,
    )
    if seats:
        _name_agents(settings, seats, config.hydra.runtime.choices)
    return settings, used


def _handed_in(folder: str, protocol: str, settings: RunConfig) -> dict[str, Any]:
    """The line-up with the programs of a folder; see :func:`submissions`."""
    if folder == MISSING:
        raise ConfigError("folder=FOLDER is needed: where the programs are")
    if settings.isolation.kind == NONE:
        raise ConfigError(
            "isolation=none: programs of a folder play in processes of their own; auto, closed or "
            "process is needed"
        )
    programs = submissions(folder, protocol)
    if both := sorted(set(programs) & set(settings.agents)):
        raise ConfigError(f"agents.{both[0]}: a program in folder={folder} is called so too")
    return settings.agents | programs


def _name_agents(settings: RunConfig, seats: Sequence[str], choices: Mapping[str, Any]) -> None:
    """Name the agents of a duel by what differs, see :func:`names_by_difference`. Settings that
    name them by their seat mean the same ones.

    settings: changed in seat. seats: the agents' names in it. choices: of Hydra's files.
    """
    agents = [settings.agents[seat] for seat in seats]
    options = [
        str(choices.get(f"agent@{seat}") or short_name(str(agent.get("_target_", seat))))
        for seat, agent in zip(seats, agents, strict=True)
    ]
    names = names_by_difference(agents, options)
    rename_agents(settings, dict(zip(seats, names, strict=True)))


def labelled(config: Mapping[str, Any]) -> str:
    """Return the note and the tags of a run in a line; "" without any.

    >>> labelled({"tags": ["thesis", "draft"], "note": "with the old weights"})
    'with the old weights (thesis, draft)'
    """
    note, tags = config.get("note") or "", ", ".join(config.get("tags") or ())
    return f"{note} ({tags})".strip() if tags else str(note)


def match_name(agents: Sequence[str]) -> str:
    """Return the name of a run that is a match of these agents; its folder is called so."""
    return "_vs_".join(agents).replace("/", "-").replace(" ", "_")


def rename_agents(settings: RunConfig, names: Mapping[str, str]) -> None:
    """Give agents other names, also in the settings that name them. names: new by old."""
    settings.agents = {names.get(name, name): agent for name, agent in settings.agents.items()}
    for group, key in _NAMING:
        part = getattr(settings, group)
        if isinstance(part, dict):
            if part.get(key) in names:
                part[key] = names[part[key]]
        elif getattr(part, key, None) in names:
            setattr(part, key, names[getattr(part, key)])


def conditions_of(config: Mapping[str, Any]) -> GameConditions:
    """The conditions of a run, from the plain data that its record has, for a process elsewhere."""
    return plan_of(typed(config)).conditions()


def chosen(group: str, option: str | Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an option of a group, as :class:`RunConfig` has them.

    option: its name, or a mapping with the name as ``kind`` and the settings that are to be other
    than in its file; or a mapping with a ``_target_`` of one's own. Raises ConfigError.
    """
    changes = {"kind": option} if isinstance(option, str) else dict(option)
    if "_target_" in changes:
        return changes
    return load(group, str(changes.pop("kind", ""))) | changes


# Keys of the composed configuration, but no settings of a run.
_PLACES = ("first", "second", "player")  # of a duel, and of who plays itself
_HANDED_IN = ("folder", "protocol")  # of a folder's programs
_NAMING = (("rating", "anchor"), ("schedule", "champion"), ("searches", "baseline"))
"""Settings that name one of the agents."""


def typed(config: Mapping[str, Any], recorded: bool = True) -> RunConfig:
    """The settings in plain data, with the types that RunConfig declares; raises ConfigError.

    recorded: True if they may come from a record of an earlier version.
    """
    raw, objects = dict(config), {}
    if recorded:
        raw.pop("tuning", None)  # in all records of versions 0.1 and 0.2
    if isinstance(raw.get("isolation"), str):
        raw["isolation"] = {"kind": raw["isolation"]}
    if "figures" in raw:
        raw["figures"] = figures_choice(raw["figures"])
    for name in OBJECTS:
        objects[name] = raw.pop(name, None)
        if not isinstance(objects[name], dict):
            needed = "a line-up" if name == "agents" else "one of the choices of --help"
            raise ConfigError(f"{name}={objects[name]}: {needed} is needed")
    settings = from_plain(RunConfig, raw)
    for name, described in objects.items():
        setattr(settings, name, described)
    return settings


def figures_choice(value: Any) -> Any:
    """Return one of FIGURES for ``true`` or ``false``, as in records and commands of version 0.1;
    any other value unchanged."""
    if isinstance(value, bool):
        return IN_REPORT if value else NO_FIGURES
    return value


def built_from(settings: RunConfig) -> dict[str, Any]:
    """Return the settings of a run that describe objects to be built."""
    return {
        name: getattr(settings, name) for name in ("agents", "openings", "schedule", "executor")
    }
