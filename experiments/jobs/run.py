"""A run from end to end: a plan in, a folder with record, figures and report out. It may be
interrupted at any moment, and resumed: recorded games stay, the rest is played.

>>> from othello_lab.agents.simple import GreedyAgent, RandomAgent
>>> line_up = {"greedy": GreedyAgent(), "random": RandomAgent()}
>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     result = run_match(line_up, games=20, workers=0, results=folder, quiet=True, figures=False)
...     len(result.games), result.standings["agent"].tolist()
(20, ['greedy', 'random'])
"""

from __future__ import annotations

import functools
import gc
import importlib
import logging
import math
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.composing import load
from othello_lab.agents.config import fill_open, short_name
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.files import write_file
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.core.system.shared_memory import FINISH_PAIRS, STOPPING
from othello_lab.experiments.config import (
    IN_REPORT,
    NO_FIGURES,
    LimitsConfig,
    Plan,
    RunConfig,
    built_from,
    chosen,
    figures_choice,
    plan_of,
)
from othello_lab.experiments.jobs.job import Job
from othello_lab.experiments.jobs.replan import (
    ResumeOptions,
    about_object,
    replanned,
    untrusted_code,
)
from othello_lab.experiments.jobs.result import RunResult
from othello_lab.experiments.jobs.stopping import RunStopped, guarded
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import PairQueue
from othello_lab.experiments.playing import Serial
from othello_lab.experiments.playing.conditions import ISOLATES_LESS, GameConditions, Isolation
from othello_lab.experiments.playing.game import recordable
from othello_lab.experiments.playing.tasks import (
    MOST_DEATHS,
    PairResult,
    PairResults,
    TaskRunner,
    pairs_of,
)
from othello_lab.experiments.record import store
from othello_lab.experiments.record.folder import CHECKS, locked
from othello_lab.experiments.record.game_block import GameBlock, count_forfeits, count_results
from othello_lab.experiments.record.provenance import versions
from othello_lab.experiments.record.reading import way_out
from othello_lab.experiments.report.disagreements import Judge
from othello_lab.experiments.report.progress import Tally, progress_bar

log = logging.getLogger("lab.run")

Batches = Iterator[list[PairResults]]

DIED = f"the worker that played it died {MOST_DEATHS} times"


def run_match(
    agents: Mapping[str, Agent] | Sequence[str],
    games: int = 100,
    *,
    seed: int = 1,
    depth: int | None = None,
    evaluation: Any = "square_weights",
    ruleset: str = "standard",
    openings: str | Mapping[str, Any] = "random",
    schedule: str | Mapping[str, Any] = "round_robin",
    nodes: int | None = None,
    seconds: float | None = None,
    clock: float | None = None,
    hang: float = 60.0,
    isolation: str = "auto",
    trial: bool = True,
    workers: int | None = None,
    results: str | Path = "results",
    name: str = "match",
    export: Sequence[str] = (),
    figures: str | bool = IN_REPORT,
    quiet: bool = True,
) -> RunResult:
    """Play a match, or a tournament, from Python, as ``othello-lab run`` does.

    agents: names in ``conf/agent`` or ``path/to/file.py:Class``, or objects by names of your own.
    games: per pairing, even; the most of a sequential test.
    openings, schedule: names in ``conf/openings`` and ``conf/schedule``, or a mapping with the name
        as ``kind`` and other settings (``{"kind": "random", "plies": 12}``).
    nodes, seconds: limits per move. clock: seconds per player and game.
    isolation: agents that play in a process of their own; ``auto``: all that are not the lab's.
    trial: True if such an agent must first play in one of ten positions.
    workers: processes, default all cores; 0 plays in this process.
    export: further formats of the tables, ``csv`` or ``parquet``.
    figures: ``report``, ``files`` (PNG and SVG too) or ``none``; False is ``none``.
    quiet: False prints progress and results.
    The rest as in ``conf/run.yaml`` (no depth: 4, or by time). Raises ConfigError (a ValueError).
    """
    settings = RunConfig(name, games=games, seed=seed, export=list(export))
    settings.results, settings.figures = str(results), figures_choice(figures)
    settings.isolation, settings.trial = Isolation(isolation), trial
    settings.limits = LimitsConfig(nodes=nodes, seconds=seconds, clock=clock, hang=hang)
    settings.ruleset.name = ruleset
    settings.evaluation = load("evaluation", evaluation)
    settings.openings = chosen("openings", openings)
    settings.schedule = chosen("schedule", schedule)
    executor = "serial" if workers == 0 else {"kind": "processes", "workers": workers}
    settings.executor = chosen("executor", executor)
    objects = _line_up(settings, agents, depth)
    return run(plan_of(settings, objects), "othello_lab.run_match(...)", Console(quiet=quiet))


def _line_up(
    settings: RunConfig, agents: Mapping[str, Agent] | Sequence[str], depth: int | None
) -> Mapping[str, Agent] | None:
    """Write the agents into the settings; returns them where they are objects."""
    settings.depth = settings.depth if depth is None else depth
    if isinstance(agents, Mapping):
        for name, agent in agents.items():
            if not isinstance(agent, Agent):
                raise ConfigError(f"agent '{name}' is {agent!r}, which is no othello_lab.Agent")
        settings.agents = {name: about_object(agent) for name, agent in agents.items()}
        return agents
    if len(set(map(short_name, agents))) < len(agents):
        raise ConfigError("an agent is named twice; use a mapping to give each a name")
    loaded = {short_name(name): load("agent", name) for name in agents}
    by_time = settings.limits.timed if depth is None else None
    shared = {"depth": settings.depth, "evaluation": settings.evaluation}
    settings.agents, _ = fill_open(loaded, by_time, **shared)
    return None


def run(
    plan: Plan,
    command: str,
    console: Console | None = None,
    folder: Path | None = None,
    brief: bool = False,
    checks: Sequence[str] = (),
) -> RunResult:
    """Play the games of a plan, and write record, figures and report.

    command: the command or call that asked for the run, for the report. folder: a folder for the
    results that exists already (default: a new one named by date and time). brief: print progress,
    but no results. checks: sentences on checks of the agents before the run, for the report.

    Nothing is written before everything that can be checked has been. Raises ConfigError, and
    RunStopped if the record can no longer be written or no worker be started.
    """
    job = RunJob(plan, console or Console(), brief=brief, checks=checks)
    return job.start(command, folder)


def resume(
    folder: str | Path,
    command: str = "othello_lab.resume(...)",
    console: Console | None = None,
    *,
    agents: Mapping[str, Agent] | None = None,
    brief: bool = False,
    **options: Any,
) -> RunResult:
    """Continue a run that was interrupted, or add games to it.

    agents: the agents of a run that was given objects, by the same names. brief: print progress,
    but no results. options: of :class:`~experiments.jobs.replan.ResumeOptions`: ``games``,
    ``workers``, ``executor``, ``address``, ``force``, ``retry_skipped``, ``retry_starved``, and
    ``trust=True``, which a program without a terminal to ask on needs for foreign code.

    The record is in the end that of an uninterrupted run, timings aside. Raises ConfigError and
    RunStopped.
    """
    console, choices = console or Console(), ResumeOptions(**options)
    folder = Path(folder)
    if not folder.is_dir():
        raise ConfigError(f"{folder}: there is no such folder")
    if not (folder / store.FILE).is_file():
        raise ConfigError(f"{folder} is no run: there is no {store.FILE} in it")
    with locked(folder):
        plan, openings = replanned(folder, agents, choices, console)
        job = RunJob(plan, console, openings, choices.retry, brief)
        return job.go_on(folder, command)


class RunJob(Job[RunResult]):
    """A run as a job: the pairs that the record lacks are played, and the run concluded."""

    def __init__(
        self,
        plan: Plan,
        console: Console,
        openings: Sequence[Opening] = (),
        retry: Collection[str] = (),
        brief: bool = False,
        checks: Sequence[str] = (),
    ) -> None:
        """openings, retry: of a run that is continued. brief: print no results. checks: see
        :func:`run`."""
        super().__init__(plan.settings, plan.as_data, console)
        self._plan, self._openings, self._retry = plan, openings, retry
        self._results = Console(quiet=True) if brief else console
        self._hint_told = brief
        self._time_up = False
        self._checks = checks
        self._play: TaskRunner
        self._conditions: GameConditions

    def prepare(self, stack: ExitStack) -> None:
        plan = self._plan
        self._conditions = plan.conditions()
        # Agents may share a heuristic, whose line is printed once.
        self._conditions.prepare(functools.cache(lambda line: self.console.print(plain(line))))
        if lacks := "; ".join(self._conditions.lacks()):
            self.say(f"{ISOLATES_LESS} {lacks}. othello-lab agents isolation tells more.")
        if plan.settings.judging.disagreements:
            Judge(plan.settings.judging.depth).prepare(self.say)
        if not self.resumed:
            self._openings = plan.choose_openings()
        trial = plan.settings.trial and not self.resumed
        # Workers before the record: a process that is forked would have it open too.
        self._play = stack.enter_context(plan.executor.ready(self._conditions, self.say, trial))

    def versions(self) -> dict[str, str]:
        return versions(built_from(self._plan.settings))

    def foreign(self) -> list[str]:
        return untrusted_code(self._plan.settings)

    def write_head(self) -> None:
        plan, record = self._plan, self.record
        record.write_openings(opening.text for opening in self._openings)
        if self.resumed:
            record.continue_with(plan.as_data, plan.schedule.games_each, self._retry)
            return
        record.write_agents(
            store.AgentRow.of(
                number,
                name,
                plan.settings.agents[name],
                agent.version,
                agent.reproducible and not (agent.watches_clock and plan.limits.timed),
                agent.selective,
            )
            for number, (name, agent) in enumerate(plan.agents.items())
        )
        if self._checks:
            write_file(self.folder / CHECKS, "\n".join([*self._checks, ""]), durable=True)

    def work(self, stack: ExitStack) -> RunResult:
        clock = time.perf_counter()
        plan, record, stop = self._plan, self.record, self._conditions.stop
        with self.interruptible(stop, STOPPING):
            with self.reading():
                draw = self._drawn(self._openings)
            with guarded(record.path, stop), _freeze_old_objects():
                batches = self._play(draw)
                if not isinstance(plan.executor, Serial):
                    batches = _loading_report(batches, plan.settings.figures != NO_FIGURES)
                self._write_down(batches, draw)
            interrupted = stop.value == FINISH_PAIRS and not self._time_up
            stack.close()  # the last words of the workers belong in the log
            complete = draw.complete(record.count_settled(plan.schedule.games_each), plan.pairs)
            # A million games have 500,000 openings, whose memory the report can have.
            self._openings = ()
            del draw, batches
            record.finish(time.perf_counter() - clock, complete)
            if record.was_changed():
                self.say(store.CHANGED)
            self._check_played(complete, interrupted)
            if not complete:
                self.tell_hint()
            # The first game need not wait for that; see _loading_report.
            from othello_lab.experiments.report.report import conclude

            with self.reading():
                standings = conclude(record, plan, self.folder, self._results)
            if plan.settings.export:
                record.export(self.folder, plan.settings.export)
        return RunResult(self.folder, standings, complete, interrupted)

    def _check_played(self, complete: bool, interrupted: bool) -> None:
        played = self.record.count_games()
        log.info("%d of %d games", played, played if complete else self._plan.games)
        if not played and interrupted and not complete:
            raise KeyboardInterrupt
        if not played:
            why = f"of every pair, {DIED}" if complete else "its record and settings do not agree"
            raise RunStopped(f"no game could be played: {why}")

    def resume_hint(self) -> str:
        if not self._plan.of_objects:
            return super().resume_hint()
        trust = ", trust=True" if self.foreign() else ""
        return f"othello_lab.resume({str(self.folder)!r}, agents={{...}}{trust})"

    def tell_hint(self) -> None:
        if not self._hint_told:
            super().tell_hint()
        self._hint_told = True

    def rescue(self, error: Exception) -> str:
        return way_out(self.folder, error)

    def _drawn(self, openings: Sequence[Opening]) -> PairQueue:
        plan = self._plan
        draw, games_each = plan.draw(openings), plan.schedule.games_each
        settled = self.record.settled(games_each)
        draw.skip(settled)
        if draw.listens:
            for number, games in self.record.pairs(games_each):
                draw.tell(number, games)
        noun, most = "pairs" if games_each > 1 else "games", "at most " * draw.listens
        log.info("begins, with %s%d of %d %s", most, plan.pairs - len(settled), plan.pairs, noun)
        return draw

    def _write_down(self, results: Batches, draw: PairQueue) -> None:
        """Write results into the record as they come, and show how far the run is."""
        plan, record = self._plan, self.record
        minutes = plan.settings.minutes
        end = math.inf if minutes is None else time.monotonic() + 60 * minutes
        played, forfeits = record.count_games(), record.count_games(forfeited=True)
        skipped = len(record.pieces())
        tally = Tally(plan.names)
        with self.reading():
            tally.tell(record.results())
        with progress_bar(self.console, tally, lambda: self._conditions.stopping) as progress:
            state: dict[str, Any] = {"completed": played, "before": played, "warnings": []}
            state |= {"total": plan.games, "note": draw.note}
            bar = progress.add_task(plan.settings.name, **state)
            for batch in in_order(results, draw):
                for games in self._write(batch):
                    tally.tell(count_results(games))
                    played += len(games)
                    forfeits += count_forfeits(games)
                    skipped += not games
                warnings = [f"{forfeits} forfeited"] if forfeits else []
                warnings += [f"{counted(skipped, 'pair')} skipped"] if skipped else []
                progress.update(bar, completed=played, note=draw.note, warnings=warnings)
                if time.monotonic() > end and not self._conditions.stopping:
                    self._time_up, self._conditions.stop.value = True, FINISH_PAIRS
            if draw.complete(record.count_settled(plan.schedule.games_each), plan.pairs):
                progress.update(bar, total=played)  # there may have been more

    def _write(self, batch: Sequence[PairResults]) -> list[Sequence[store.PlayedGame]]:
        """Write results; return the games of each. What the record cannot hold is a forfeit."""
        try:
            self._write_once(batch)
        except store.UNWRITABLE as error:
            pairs = [*pairs_of(batch)]
            stored = [
                pair._replace(games=[recordable(game, self._plan.rules) for game in pair.games])
                for pair in pairs
            ]
            if stored == pairs:
                raise
            log.error("a game could not be written: %s", one_line(error))
            batch = stored
            self._write_once(batch)
        return [result.games if isinstance(result, PairResult) else result for result in batch]

    def _write_once(self, batch: Sequence[PairResults]) -> None:
        pairs, games = [result for result in batch if isinstance(result, PairResult)], list[int]()
        skipped = [pair.number for pair in pairs if not pair.games]
        with self.record.transaction():
            for result in batch:
                if isinstance(result, GameBlock):
                    result.write(self.record)
                    games += result.games
            self.record.write_games(game for pair in pairs for game in pair.games)
            games += [game.game.game for pair in pairs for game in pair.games]
            self.record.write_pieces((number, {}, DIED) for number in skipped)
            self.record.count_in(games, skipped)
        for number in skipped:
            log.error("pair %d is skipped: %s", number, DIED)


@contextmanager
def _freeze_old_objects() -> Iterator[None]:
    """Let the garbage collector pass over all objects from before the block, such as openings."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _loading_report(batches: Batches, figures: bool) -> Batches:
    """Yield the batches; after the first one load what the end of the run needs, for 0.7 s."""
    reports = "othello_lab.experiments.report"
    parts = ["pandas", "scipy.sparse.csgraph", "scipy.special", f"{reports}.report"]
    parts += [f"{reports}.figures"] * figures

    def load() -> None:
        for part in parts:
            importlib.import_module(part)

    loading = threading.Thread(target=load, name="report", daemon=True)
    for batch in batches:
        if loading.ident is None:
            loading.start()
        yield batch


def in_order(results: Batches, draw: PairQueue) -> Batches:
    """Yield results in the order of recording, and tell them to the schedule.

    If the schedule may end the run they come pair by pair in its order, up to the pair that ends
    it, so that the record is the same on any number of workers; otherwise as they come.
    """
    held: dict[int, PairResult] = {}
    if draw.verdict:
        return
    for batch in results:
        if not draw.listens:
            yield batch
            continue
        pairs = [*pairs_of(batch)]
        for pair in pairs:
            draw.tell(pair.number, [played.game for played in pair.games])
        if not draw.schedule.may_end_early:
            yield batch
            continue
        held.update((pair.number, pair) for pair in pairs)
        ready: list[PairResults] = [
            held.pop(number) for number in sorted(held) if number < len(draw.results)
        ]
        if ready:
            yield ready
        if draw.verdict:
            return
