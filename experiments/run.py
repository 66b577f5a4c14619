"""A run from end to end: a plan in, a folder with record, figures and report out. It may be
interrupted at any moment, and resumed: what is in the record stays, the rest is played."""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shlex
import signal
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import yaml
from omegaconf import OmegaConf
from rich.console import Console

from agents.base import Agent
from agents.config import ConfigError, build_agent, fill_open, load, one_line
from agents.evaluation import Evaluation
from core.game import FINISHED
from experiments import config as schema
from experiments.config import Plan, RunConfig, limits_of
from experiments.pairing.openings import Opening, check_openings, choose_openings
from experiments.pairing.schedule import schedule
from experiments.playing.executors import prepare, reached, table_of, workers_for
from experiments.playing.match import PairResult, TaskFailed, play_over, play_serially
from experiments.playing.player import FINISH_PAIRS, GO_ON, STOP_AT_ONCE, stop_signal
from experiments.record.folder import locked, logging_to, make_folder
from experiments.record.provenance import differences, machine, versions
from experiments.record.store import FORMAT, Record
from experiments.report.progress import progress_bar
from experiments.report.standings import pair_counts

if TYPE_CHECKING:
    import pandas as pd

    from experiments.playing.cluster import Cluster

log = logging.getLogger("lab.run")


@dataclass(frozen=True)
class RunResult:
    """What a run left behind.

    folder: its results folder. standings: one row an agent, best first (see
    :func:`experiments.report.standings.standings`). games, moves: the record's tables, read when
    asked for. complete: whether all scheduled games were played. interrupted: whether Ctrl-C was
    pressed.
    """

    folder: Path
    standings: pd.DataFrame
    complete: bool
    interrupted: bool = False

    @property
    def games(self) -> pd.DataFrame:
        """One row a game."""
        with Record.open(self.folder) as record:
            return record.games()

    @property
    def moves(self) -> pd.DataFrame:
        """One row a move."""
        with Record.open(self.folder) as record:
            return record.moves()


def run_match(
    agents: Mapping[str, Agent | Mapping[str, Any]] | Sequence[str],
    games: int = 100,
    *,
    seed: int = 1,
    depth: int = 4,
    evaluation: str = "square_weights",
    ruleset: str = "standard",
    openings: str | Mapping[str, Any] = "random",
    schedule: str | Mapping[str, Any] = "round_robin",
    nodes: int | None = None,
    seconds: float | None = None,
    clock: float | None = None,
    hang: float = 60.0,
    workers: int | None = None,
    results: str | Path = "results",
    name: str = "match",
    export: Sequence[str] = (),
    figures: bool = True,
    quiet: bool = False,
) -> RunResult:
    """Play a match, or a tournament, from Python, as ``python -m experiments run`` does, and return
    its tables.

    agents: names of agents in ``conf/agent`` (``["alphabeta", "greedy"]``), or a mapping from
        names of your choice to agent objects.
    games: per pairing, even; of a sequential test at most so many.
    openings, schedule: names in ``conf/openings`` and ``conf/schedule`` (``"balanced"``,
        ``"gauntlet"``), or a mapping with the name as ``kind`` and other settings
        (``{"kind": "random", "plies": 12}``, ``{"kind": "sprt", "elo1": 20}``).
    nodes, seconds: limits per move. clock: seconds per player and game.
    hang: seconds without an answer after which an agent counts as hung.
    workers: processes, default all cores; 0 plays in this process.
    export: what else to write the tables as, ``csv`` or ``parquet``.
    figures: whether to draw them, which takes about two seconds.
    The rest as in ``conf/run.yaml``.

    Raises ConfigError (a ValueError) for what cannot be played.

    >>> from agents import GreedyAgent, RandomAgent
    >>> line_up = {"greedy": GreedyAgent(), "random": RandomAgent()}
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run_match(line_up, games=20, workers=0, results=folder, quiet=True,
    ...                        figures=False)
    ...     len(result.games), result.standings["agent"].tolist()
    (20, ['greedy', 'random'])
    """
    settings = RunConfig(
        name=name,
        ruleset=schema.RulesetConfig(ruleset),
        openings=schema.choice("openings", openings),
        schedule=schema.choice("schedule", schedule),
        executor=schema.ExecutorConfig("processes", workers)
        if workers != 0
        else schema.ExecutorConfig("serial"),
        limits=schema.LimitsConfig(nodes=nodes, seconds=seconds, clock=clock, hang=hang),
        games=games,
        seed=seed,
        depth=depth,
        results=str(results),
        export=list(export),
        figures=figures,
    )
    if isinstance(agents, Mapping):
        built = {}
        for key, agent in agents.items():
            if not isinstance(agent, Agent):
                raise ConfigError(f"agent '{key}' is {agent!r}, which is no agents.Agent")
            built[key] = agent
            settings.agents[key] = _about_object(agent)
    else:
        if len(set(agents)) < len(agents):
            raise ConfigError("an agent is named twice; use a mapping to give each a name")
        loaded = {key: load("agent", key) for key in agents}
        filled, _ = fill_open(loaded, depth=depth, evaluation=load("evaluation", evaluation))
        settings.agents = filled
        built = {key: build_agent(agent, key) for key, agent in filled.items()}
    schema.check_numbers(settings)
    variant = schema.known_ruleset(ruleset)
    check_openings(settings.openings, variant)
    plan = schema.plan_of(settings, built, variant)
    return run(plan, "experiments.run_match(...)", Console(quiet=quiet))


def _about_object(thing: Any) -> dict[str, Any]:
    """What can be written down of an agent that a program made: enough to tell another one, not
    enough to make it again, so that such a run is resumed with :func:`resume` alone."""
    kind = type(thing)
    settings: dict[str, Any] = {"object": f"{kind.__module__}.{kind.__name__}"}
    if isinstance(thing, Evaluation):
        settings["parameters"] = hashlib.sha256(thing.parameters.tobytes()).hexdigest()[:12]
    for key, value in vars(thing).items():
        found_out = isinstance(getattr(kind, key, None), functools.cached_property)
        if key.startswith("_") or key == "rng" or value is None or found_out:
            continue
        if isinstance(value, Evaluation):
            settings[key] = _about_object(value)
        elif isinstance(value, bool | int | float | str):
            settings[key] = value
        else:  # what it says of itself may differ from process to process
            settings[key] = type(value).__qualname__
    return settings


class RunStopped(RuntimeError):
    """A run ended early for a reason outside it; what it says names the way on."""


def run(
    plan: Plan, command: str, console: Console | None = None, folder: Path | None = None
) -> RunResult:
    """Play what was planned, and write record, figures and report.

    command: how the run was asked for, for the report. folder: where results go (default: a new
    one named by date and time). Nothing is written before everything that can be checked has
    been. Raises ConfigError, and RunStopped where the record can no longer be written or no
    worker be started.
    """
    console = console or Console()
    settings = plan.settings
    started = datetime.now()
    _prepare(plan, console)
    openings = choose_openings(settings.openings, settings.games // 2, plan.rules, settings.seed)
    with reached(plan, _line_to(console)) as cluster:
        parent = folder or Path(settings.results) / settings.name
        folder = make_folder(parent, started, folder is None)
        with locked(folder), _guarded(folder, plan):
            _write_config(plan, folder)
            with Record.create(folder / "games.sqlite") as record:
                with record.transaction():
                    _write_head(record, plan, openings, command, started)
                return _go_on(plan, openings, record, folder, console, cluster)


def resume(
    folder: str | Path,
    command: str = "experiments.resume(...)",
    console: Console | None = None,
    *,
    agents: Mapping[str, Agent] | None = None,
    games: int | None = None,
    workers: int | None = None,
    executor: str | None = None,
    address: str | None = None,
    force: bool = False,
) -> RunResult:
    """Go on with a run that was interrupted, or add games to it.

    agents: the agents of a run that was given objects, by the same names.
    games: so many a pairing from now on; at least as many as the run has.
    workers: processes, if not as many as before. executor, address: where to play, if not where it
        was: as in ``conf/executor``; the games are the same.
    force: go on even if the lab's code, a version, or an agent is no longer the same.

    The record is in the end that of an uninterrupted run, timings aside. Raises ConfigError and
    RunStopped.
    """
    console = console or Console()
    folder = Path(folder)
    if not folder.is_dir():
        raise ConfigError(f"{folder}: there is no such folder")
    if not (folder / "games.sqlite").is_file():
        raise ConfigError(f"{folder} is no run: there is no games.sqlite in it")
    with locked(folder):
        try:
            with Record.open(folder) as record:
                _check_format(record, folder)
                settings = _recorded_settings(record, folder, games)
                settings.executor = _executor(settings.executor, workers, executor, address)
                plan = _recorded_plan(settings, agents)
                _check_unchanged(record, plan, folder, force)
                openings = [Opening.read(text, plan.rules) for text in record.openings()]
        except sqlite3.Error as error:
            raise ConfigError(f"{folder / 'games.sqlite'}: {one_line(error)}") from error
        if 2 * len(openings) < plan.settings.games:
            openings = _more_openings(plan, openings)
        _prepare(plan, console)
        with (
            reached(plan, _line_to(console)) as cluster,
            _guarded(folder, plan),
            Record.append(folder) as record,
        ):
            with record.transaction():
                record.go_on(asdict(plan.settings))
                record.write_openings(opening.text for opening in openings)
                record.write_session(_session(plan, command, datetime.now()))
            _write_config(plan, folder)
            return _go_on(plan, openings, record, folder, console, cluster)


# ---------------------------------------------------------------------- before the games


def _prepare(plan: Plan, console: Console) -> None:
    """Load or compile all kernels of the run, saying so."""
    announced: set[str] = set()

    def announce(line: str) -> None:
        if line not in announced:  # agents may share a heuristic
            announced.add(line)
            console.print(line, highlight=False)

    prepare(plan, announce)


def _line_to(console: Console) -> Callable[[str], None]:
    return functools.partial(console.print, highlight=False, markup=False, soft_wrap=True)


def _write_config(plan: Plan, folder: Path) -> None:
    text = OmegaConf.to_yaml(OmegaConf.create(asdict(plan.settings)))
    written = folder / "config.yaml.new"
    written.write_text(text, encoding="utf-8")
    written.replace(folder / "config.yaml")  # at once, whatever happens meanwhile


def _write_head(
    record: Record, plan: Plan, openings: Sequence[Opening], command: str, started: datetime
) -> None:
    settings = plan.settings
    session = _session(plan, command, started)
    record.write_run(
        {
            "name": settings.name,
            "format": FORMAT,
            "ruleset": plan.rules.name,
            "seed": settings.seed,
            "config": asdict(settings),
            **session,
        }
    )
    record.write_session(session)
    record.write_agents(
        (
            number,
            name,
            settings.agents[name],
            agent.version,
            agent.reproducible and not (agent.watches_clock and limits_of(settings).timed),
            agent.selective,
        )
        for number, (name, agent) in enumerate(plan.agents.items())
    )
    record.write_openings(opening.text for opening in openings)


def _session(plan: Plan, command: str, started: datetime) -> dict[str, Any]:
    return {
        "command": command,
        "versions": versions(plan.settings.agents),
        "machine": machine(),
        "started": started.isoformat(timespec="seconds"),
    }


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


def _recorded_settings(record: Record, folder: Path, games: int | None) -> RunConfig:
    """The settings of the run in the record, with so many games."""
    settings = schema.from_record(record.run()["config"])
    if games is not None:
        if games < settings.games:
            raise ConfigError(
                f"games={games}: {folder} has {settings.games} games a pairing already; a run can "
                "only grow"
            )
        settings.games = games
    return settings


def _executor(
    before: schema.ExecutorConfig, workers: int | None, kind: str | None, address: str | None
) -> schema.ExecutorConfig:
    """Where a run is played from now on."""
    if kind is None and address is None:
        return replace(before, workers=before.workers if workers is None else workers)
    return schema.ExecutorConfig(kind or "dask", workers, address)


def _recorded_plan(settings: RunConfig, agents: Mapping[str, Agent] | None) -> Plan:
    """The plan of a run that has a record."""
    schema.check_numbers(settings)
    built = {}
    for name, agent in settings.agents.items():
        if agents is not None:
            if set(agents) != set(settings.agents):
                raise ConfigError(
                    f"agents {', '.join(agents)}: the run's are {', '.join(settings.agents)}"
                )
            built[name] = agents[name]
            if _about_object(built[name]) != agent:
                raise ConfigError(
                    f"agent '{name}': {_about_object(built[name])} is not what the run has, {agent}"
                )
        elif "object" in agent:
            raise ConfigError(
                f"agent '{name}' was an object of a Python program; go on from there with "
                "experiments.run.resume(folder, agents={...})"
            )
        else:
            built[name] = build_agent(agent, name)
    return schema.plan_of(settings, built, schema.known_ruleset(settings.ruleset.name))


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
            read = OmegaConf.to_container(OmegaConf.load(written))
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
    return rest | {"executor": config.get("executor", {}).get("kind")}


def _more_openings(plan: Plan, openings: Sequence[Opening]) -> list[Opening]:
    settings = plan.settings
    more = choose_openings(settings.openings, settings.games // 2, plan.rules, settings.seed)
    if more[: len(openings)] != openings:
        raise ConfigError(
            f"openings={settings.openings.kind}: they are no longer those the run began with"
        )
    return more


# ---------------------------------------------------------------------- playing


def _go_on(
    plan: Plan,
    openings: Sequence[Opening],
    record: Record,
    folder: Path,
    console: Console,
    cluster: Cluster | None,
) -> RunResult:
    """Play what the record does not have yet, and conclude."""
    clock = time.perf_counter()
    stop = stop_signal()
    # The workers come first: they are forked while there are no threads.
    with ExitStack() as hired, ExitStack() as stack:
        table = table_of(plan, stop)
        stack.enter_context(_stoppable(console, stop))
        workers = hired.enter_context(workers_for(plan, table, cluster))
        # When they are let go, for whatever reason, nobody needs what is still under way.
        hired.callback(setattr, stop, "value", STOP_AT_ONCE)
        stack.enter_context(logging_to(folder / "log.txt", plan.settings.log_level))
        settled = record.settled()
        log.info("begins, with %d of %d pairs to play", plan.pairs - len(settled), plan.pairs)
        missing = (n for n in range(plan.pairs) if n not in settled)
        pairs = schedule(plan.pairings, openings, plan.settings.seed)
        pairs = (pair for pair in pairs if pair[0].pair not in settled)

        def stopping() -> bool:
            return bool(stop.value != GO_ON)

        if workers is None:
            results = play_serially(table, pairs, stopping)
        else:
            results = play_over(workers, pairs, stopping)
        test = _Test(plan, record)
        if plan.sprt:
            results = test.until_decided(in_schedule_order(results, missing))
        _write_down(plan, record, iter(()) if test.decision else results, test, console)
        interrupted = stop.value == FINISH_PAIRS
        hired.close()
        complete = bool(test.decision) or len(record.settled()) == plan.pairs
        record.finish(time.perf_counter() - clock, complete)
        played = int(record.query("select count(*) from games").iloc[0, 0])
        log.info("%d of %d games", played, 2 * plan.pairs)
        if not complete:
            line = f"go on with  {_way_on(folder, plan)}"
            console.print(line, soft_wrap=True, highlight=False, markup=False)
        if not played:
            if complete:
                raise RunStopped(f"no game could be played: of every pair, {SKIPPED}")
            raise KeyboardInterrupt
        from experiments.report.report import conclude

        standings = conclude(record, plan, folder, console)
        if plan.settings.export:
            record.export(folder, plan.settings.export)
    return RunResult(folder, standings, complete, interrupted)


def _write_down(
    plan: Plan, record: Record, results: Iterator[list[PairResult]], test: _Test, console: Console
) -> None:
    """Write results into the record as they come, and show how far the run is."""
    counts = record.query("select count(*), sum(end_reason != ?) from games", [FINISHED]).iloc[0]
    played, forfeits = int(counts.iloc[0]), int(counts.iloc[1] or 0)
    skipped = len(record.skipped())
    with progress_bar(console) as progress:
        bar = progress.add_task(
            plan.settings.name,
            total=2 * plan.pairs,
            completed=played,
            before=played,
            note=test.note,
        )
        for batch in results:
            with record.transaction():
                record.write_games(row for result in batch for row in result.rows)
                for result in batch:
                    if not result.rows:
                        record.write_skipped(result.number, SKIPPED)
                        log.error("pair %d is skipped: %s", result.number, SKIPPED)
            rows = [row for result in batch for row in result.rows]
            played += len(rows)
            forfeits += sum(row.end_reason != FINISHED for row in rows)
            skipped += sum(not result.rows for result in batch)
            notes = [test.note] if test.note else []
            notes += [f"[red]{forfeits} forfeited[/]"] if forfeits else []
            notes += [f"[red]{skipped} pairs skipped[/]"] if skipped else []
            progress.update(bar, completed=played, note=", ".join(notes))


SKIPPED = "the worker that played it died three times"


def in_schedule_order(
    results: Iterator[list[PairResult]], numbers: Iterable[int]
) -> Iterator[list[PairResult]]:
    """The same results, each held back until those before it in the schedule are there.

    numbers: of the pairs to come, in the order of the schedule.
    """
    held: dict[int, PairResult] = {}
    order = iter(numbers)
    due = next(order, None)
    for batch in results:
        held.update((result.number, result) for result in batch)
        ready = []
        while due in held:
            ready.append(held.pop(due))
            due = next(order, None)
        if ready:
            yield ready


@contextmanager
def _guarded(folder: Path, plan: Plan) -> Iterator[None]:
    """Say in a line why a run cannot go on, and how to go on later."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        why = f"{folder} cannot be written: {one_line(error)}"
    except (BrokenExecutor, TaskFailed) as error:
        why = one_line(error)
    else:
        return
    way_on = "Nothing was played; start it again"
    with suppress(sqlite3.Error, OSError), Record.open(folder) as record:
        if record.format() is not None:
            way_on = f"What was played is kept; go on with: {_way_on(folder, plan)}"
    raise RunStopped(f"{why}. {way_on}")


def _way_on(folder: Path, plan: Plan) -> str:
    if any("object" in agent for agent in plan.settings.agents.values()):
        return f"experiments.resume({str(folder)!r}, agents={{...}})"
    return f"python -m experiments resume {shlex.quote(str(folder))}"


class _Test:
    """The sequential test of a run, if it has one: what it counts, and what it has decided.

    A pair that repeats an earlier one move for move says nothing new and is not counted.
    decision: "H0", "H1", or "" while it is open.
    """

    def __init__(self, plan: Plan, record: Record) -> None:
        self._sprt = plan.sprt
        self._counts = pair_counts(record)[0, 1]
        self._seen = set(record.transcripts_of_pairs()) if plan.sprt else set()
        self.decision = self._sprt.decide(self._counts) if self._sprt else ""

    @property
    def note(self) -> str:
        """The log-likelihood ratio and its bounds."""
        if self._sprt is None:
            return ""
        llr = self._sprt.llr(self._counts)
        return f"LLR {llr:+.2f} ({self._sprt.lower:.2f}, {self._sprt.upper:.2f}) {self.decision}"

    def until_decided(self, results: Iterator[list[PairResult]]) -> Iterator[list[PairResult]]:
        """Results up to the pair that decides the test."""
        for batch in results:
            for number, result in enumerate(batch, start=1):
                self._count(result)
                if self.decision:
                    yield batch[:number]
                    return
            yield batch

    def _count(self, result: PairResult) -> None:
        games = tuple(row.transcript for row in result.rows)
        if self._sprt is None or not games or games in self._seen:
            return
        self._seen.add(games)
        points = sum(row.points_of(0) for row in result.rows)
        self._counts[round(2 * points)] += 1
        self.decision = self._sprt.decide(self._counts)


@contextmanager
def _stoppable(console: Console, stop: Any) -> Iterator[None]:
    """Ctrl-C once asks for an orderly end, twice ends at once."""

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.value != GO_ON:
            stop.value = STOP_AT_ONCE
            raise KeyboardInterrupt
        stop.value = FINISH_PAIRS
        # Not through the console: it may be busy with a line just now, or be gone.
        with suppress(OSError):
            os.write(2, b"\nstopping after the pairs under way; Ctrl-C again to stop at once\n")

    try:
        before = signal.signal(signal.SIGINT, handle)
    except ValueError:  # not in the main thread, where signals do not arrive
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
