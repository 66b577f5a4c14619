"""A run from end to end: a plan in, a folder with record, figures and report out."""

from __future__ import annotations

import logging
import multiprocessing
import os
import platform
import shlex
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from omegaconf import OmegaConf
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from agents.base import Agent
from agents.config import ConfigError, build_agent, fill_open, load, one_line
from core.compile import processor
from core.game import FINISHED
from core.position import prepare_rules
from experiments import config as schema
from experiments.config import Plan, RunConfig, limits_of
from experiments.match import play_in_pool, play_serially, pool
from experiments.openings import Opening, choose_openings
from experiments.player import (
    FINISH_PAIRS,
    GO_ON,
    LOG_FORMAT,
    STOP_AT_ONCE,
    Table,
    name_game,
    stop_signal,
)
from experiments.schedule import pairs_in_round_robin, round_robin
from experiments.store import FORMAT, GameRow, Record

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("lab.run")


@dataclass(frozen=True)
class RunResult:
    """What a run left behind.

    folder: its results folder. standings: one row an agent, best first (see
    :func:`experiments.standings.standings`). games, moves: the record's tables, read when asked
    for. complete: whether all scheduled games were played.
    """

    folder: Path
    standings: pd.DataFrame
    complete: bool

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
    opening_plies: int = 8,
    nodes: int | None = None,
    seconds: float | None = None,
    clock: float | None = None,
    hang: float = 60.0,
    workers: int | None = None,
    results: str | Path = "results",
    name: str = "match",
    quiet: bool = False,
) -> RunResult:
    """Play a round robin from Python, as ``python -m experiments run`` does, and return its tables.

    agents: names of agents in ``conf/agent`` (``["alphabeta", "greedy"]``), or a mapping from
        names of your choice to agent objects.
    games: per pairing, even.
    nodes, seconds: limits per move. clock: seconds per player and game.
    hang: seconds without an answer after which an agent counts as hung.
    workers: processes, default all cores; 0 plays in this process.
    The rest as in ``conf/run.yaml``.

    Raises ConfigError (a ValueError) for what cannot be played.

    >>> from agents import GreedyAgent, RandomAgent
    >>> line_up = {"greedy": GreedyAgent(), "random": RandomAgent()}
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run_match(line_up, games=20, workers=0, results=folder, quiet=True)
    ...     len(result.games), result.standings["agent"].tolist()
    (20, ['greedy', 'random'])
    """
    settings = RunConfig(
        name=name,
        ruleset=schema.RulesetConfig(ruleset),
        openings=schema.OpeningsConfig(plies=opening_plies),
        executor=schema.ExecutorConfig("processes", workers)
        if workers != 0
        else schema.ExecutorConfig("serial"),
        limits=schema.LimitsConfig(nodes=nodes, seconds=seconds, clock=clock, hang=hang),
        games=games,
        seed=seed,
        depth=depth,
        results=str(results),
    )
    if isinstance(agents, Mapping):
        built = {}
        for key, agent in agents.items():
            if not isinstance(agent, Agent):
                raise ConfigError(f"agent '{key}' is {agent!r}, which is no agents.Agent")
            built[key] = agent
            settings.agents[key] = {"_target_": f"{type(agent).__module__}.{type(agent).__name__}"}
    else:
        if len(set(agents)) < len(agents):
            raise ConfigError("an agent is named twice; use a mapping to give each a name")
        loaded = {key: load("agent", key) for key in agents}
        filled, _ = fill_open(loaded, depth=depth, evaluation=load("evaluation", evaluation))
        settings.agents = filled
        built = {key: build_agent(agent, key) for key, agent in filled.items()}
    schema.check_numbers(settings)
    variant = schema.known_ruleset(ruleset)
    plan = schema.plan_of(settings, built, variant)
    return run(plan, "experiments.run_match(...)", Console(quiet=quiet))


def run(
    plan: Plan, command: str, console: Console | None = None, folder: Path | None = None
) -> RunResult:
    """Play what was planned, and write record, figures and report.

    command: how the run was asked for, for the report. folder: where results go (default: a new
    one named by date and time). Nothing is written before everything that can be checked has
    been. Raises ConfigError.
    """
    console = console or Console()
    settings = plan.settings
    with _opened(plan, command, console, folder) as (record, folder, openings):
        clock = time.perf_counter()
        stop = stop_signal()
        with _stoppable(console, stop):
            played, forfeits = _play(plan, openings, record, console, stop)
        total = 2 * pairs_in_round_robin(len(plan.agents), len(openings))
        record.finish(time.perf_counter() - clock, played == total)
        log.info("%d of %d games, %d forfeits", played, total, forfeits)
        if not played:
            raise KeyboardInterrupt
        from experiments.report import conclude

        table = conclude(record, plan, folder, console)
        if settings.export:
            record.export(folder, settings.export)
    return RunResult(folder, table, played == total)


@contextmanager
def _opened(
    plan: Plan, command: str, console: Console, folder: Path | None
) -> Iterator[tuple[Record, Path, list[Opening]]]:
    """Everything ready to play: kernels compiled, openings drawn, folder made, record begun."""
    settings = plan.settings
    started = datetime.now()
    announced: set[str] = set()

    def announce(line: str) -> None:
        if line not in announced:  # agents may share a heuristic
            announced.add(line)
            console.print(line, highlight=False)

    prepare_rules(announce)
    for name, agent in plan.agents.items():
        try:
            agent.prepare(announce)
        except ValueError as error:
            raise ConfigError(f"agent '{name}': {one_line(error)}") from error
    openings = choose_openings(settings.openings, settings.games // 2, plan.rules, settings.seed)
    folder = _make_folder(folder or Path(settings.results) / settings.name, started, folder is None)
    (folder / "config.yaml").write_text(OmegaConf.to_yaml(OmegaConf.create(asdict(settings))))
    with (
        _logging(folder / "log.txt", settings.log_level),
        Record.create(folder / "games.sqlite") as record,
    ):
        _write_head(record, plan, command, started)
        record.write_openings(opening.text for opening in openings)
        yield record, folder, openings


# ---------------------------------------------------------------------- playing


def _play(
    plan: Plan,
    openings: Sequence[Opening],
    record: Record,
    console: Console,
    stop: Any,
) -> tuple[int, int]:
    """Play all games into the record; returns how many, and how many were forfeited."""
    settings = plan.settings
    table = Table(
        list(plan.agents),
        list(plan.agents.values()),
        plan.rules,
        limits_of(settings),
        settings.limits.grace,
        settings.limits.hang,
        stop,
    )

    def stopping() -> bool:
        return bool(stop.value != GO_ON)

    pairs = round_robin(len(plan.agents), openings, settings.seed)
    total = 2 * pairs_in_round_robin(len(plan.agents), len(openings))
    progress = _progress(console)
    bar = progress.add_task(settings.name, total=total, note="")
    played = forfeits = 0
    with pool(table, plan.workers) if plan.workers else nullcontext() as executor:
        if executor is None:
            progress.start()
            batches: Iterator[list[GameRow]] = play_serially(table, pairs, stopping)
        else:
            # The bar refreshes itself from a thread, which must not exist before the workers do.
            batches = play_in_pool(executor, plan.workers, pairs, progress.start, stopping)
        try:
            for batch in batches:
                record.write_games(batch)
                played += len(batch)
                forfeits += sum(row.end_reason != FINISHED for row in batch)
                note = f"[red]{forfeits} forfeited" if forfeits else ""
                progress.update(bar, completed=played, note=note)
        finally:
            progress.stop()
    return played, forfeits


class _GamesPerSecond(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if speed is None:
            return Text("")
        return Text(f"{speed:,.0f} games/s" if speed >= 10 else f"{speed:.2f} games/s")


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        _GamesPerSecond(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
        disable=console.quiet,
    )


@contextmanager
def _stoppable(console: Console, stop: Any) -> Iterator[None]:
    """Ctrl-C once asks for an orderly end, twice ends at once."""

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.value != GO_ON:
            stop.value = STOP_AT_ONCE
            raise KeyboardInterrupt
        stop.value = FINISH_PAIRS
        console.print("stopping after the pairs under way; Ctrl-C again to stop at once")

    try:
        before = signal.signal(signal.SIGINT, handle)
    except ValueError:  # not in the main thread, where signals do not arrive
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------------- what surrounds the games


def _make_folder(parent: Path, started: datetime, dated: bool) -> Path:
    stamp = started.strftime("%Y-%m-%d_%H-%M-%S")
    names = [stamp, *(f"{stamp}-{n}" for n in range(2, 100))] if dated else [""]
    for name in names:
        folder = parent / name if name else parent
        try:
            folder.mkdir(parents=True, exist_ok=not dated)
        except FileExistsError:
            if not dated or not parent.is_dir():
                raise ConfigError(f"results: {parent} exists and is no folder") from None
            continue
        except OSError as error:
            raise ConfigError(f"results: cannot write {folder}: {error.strerror}") from None
        if not os.access(folder, os.W_OK):
            raise ConfigError(f"results: cannot write in {folder}")
        return folder
    raise ConfigError(f"results: {parent} has too many runs of this second")


@contextmanager
def _logging(path: Path, level: str) -> Iterator[None]:
    """Send what this process and its workers log to one file."""
    import multiprocessing_logging

    if multiprocessing.get_start_method(allow_none=True) != "fork":
        multiprocessing.set_start_method("fork", force=True)
    root = logging.getLogger()
    before, level_before = list(root.handlers), root.level
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter(LOG_FORMAT))
    handler.addFilter(name_game)
    for other in before:
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(level.upper())
    # matplotlib and others have much to say at these levels that is not about the run
    for noisy in ("matplotlib", "PIL", "fontTools", "numba"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    multiprocessing_logging.install_mp_handler()
    try:
        yield
    finally:
        for ours in list(root.handlers):
            root.removeHandler(ours)
            ours.close()
        for other in before:
            root.addHandler(other)
        root.setLevel(level_before)


def _write_head(record: Record, plan: Plan, command: str, started: datetime) -> None:
    settings = plan.settings
    record.write_run(
        {
            "name": settings.name,
            "format": FORMAT,
            "ruleset": plan.rules.name,
            "seed": settings.seed,
            "config": asdict(settings),
            "command": command,
            "versions": versions(),
            "machine": machine(),
            "started": started.isoformat(timespec="seconds"),
        }
    )
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


def versions() -> dict[str, str]:
    """Versions of Python, of the lab and of what its numbers depend on."""
    found = {"python": platform.python_version()}
    for package in ("othello-strategy-lab", "numba", "llvmlite", "numpy", "scipy", "pandas"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine() -> dict[str, Any]:
    """What the run was played on."""
    name, _ = processor()
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": name,
        "cores": schema.available_cores(),
    }


def as_typed(arguments: Sequence[str]) -> str:
    """The command line that starts the same run."""
    return "python -m experiments " + shlex.join(arguments)
