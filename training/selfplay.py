"""Making positions to learn from: a plan in, a folder with them and how they were made out. It may
be interrupted at any moment, and resumed.

>>> import tempfile
>>> settings = {"games": 40, "depth": 1, "data": {"exact": 6}, "executor": "serial"}
>>> with tempfile.TemporaryDirectory() as place:
...     folder = make(settings, place + "/mine")
...     found = Positions.read(folder)
...     len(found) > 1000, bool(found.exact[found.empties <= 6].all())
(True, True)
"""

from __future__ import annotations

import functools
import shlex
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.replay import prepare_replay
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import counted, plain
from othello_lab.experiments.config import built_from
from othello_lab.experiments.jobs.replan import changes, moved_executor, refuse_changes
from othello_lab.experiments.jobs.stopping import RunStopped, guarded, stoppable
from othello_lab.experiments.playing.match import TaskFailed
from othello_lab.experiments.playing.tasks import Task
from othello_lab.experiments.playing.trial import try_agents
from othello_lab.experiments.playing.trust import check_trusted, foreign_code
from othello_lab.experiments.record.folder import locked, new_folder, write_safely
from othello_lab.experiments.record.log import logging_to
from othello_lab.experiments.record.provenance import file_hash, machine, versions
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.training import data as kept
from othello_lab.training.data import SPLITS, Positions
from othello_lab.training.data_plan import GROUP, DataPlan, of_data, with_defaults
from othello_lab.training.folder import FILE, about_of, is_selfplay
from othello_lab.training.labels import ROW, LabelledGames, levelled, prepare_labels
from othello_lab.training.playing import TABLE, GameBatch, make_piece
from othello_lab.training.task_log import TaskLog, read_log

FORMAT = 1
LOG, PIECES = "log.txt", "pieces.bin"
STOPPING = "stopping after the games under way"
_GAMES = 64
"""Of a piece: few enough that a piece of a slow agent ends soon, and the same for every number of
workers, as random numbers go by pieces."""
_MOST_OPENINGS = 100_000


@dataclass(frozen=True)
class SelfPlayResult:
    """What a self-play left behind. exit_code: of the command."""

    folder: Path
    complete: bool

    @property
    def exit_code(self) -> int:
        return 0 if self.complete else 130


# ---------------------------------------------------------------------- ways in


def make(
    settings: Mapping[str, Any], folder: str | Path | None = None, console: Console | None = None
) -> Path:
    """Make positions from Python, or by a training for itself; the folder, for
    :meth:`Positions.read`.

    settings: plain data as in ``conf/run.yaml`` (``agents``, ``games``, ``seed``, ``depth``,
    ``limits``, ``executor``, ...), and ``data`` as in ``conf/data/selfplay.yaml``; what is not
    said is as there. folder: the new folder, or one in which this was begun, which is then gone on
    with; None for a new one below ``results``. console: None for nothing on the terminal.

    Raises ConfigError, RunStopped, and KeyboardInterrupt after Ctrl-C.
    """
    console = console or Console(quiet=True)
    if folder is not None and is_selfplay(folder):
        result = resume(folder, console=console, trust=True)  # who asks has named its code
    else:
        where = None if folder is None else Path(folder)
        result = selfplay(with_defaults(settings), "othello_lab.training.make(...)", console, where)
    if not result.complete:
        raise KeyboardInterrupt
    return result.folder


def selfplay(
    plan: DataPlan, command: str, console: Console | None = None, folder: Path | None = None
) -> SelfPlayResult:
    """Play, or read games, and write the positions into a new folder.

    command: how it was asked for. Raises ConfigError before anything is written, and RunStopped.
    """
    console = console or Console()
    kept.needs_pyarrow()
    session = _SelfPlaySession(plan, console)
    settings, started = plan.settings, datetime.now()
    if folder is None:
        folder = Path(settings.results, settings.name, f"{started:%Y-%m-%d_%H-%M-%S}")
    folder = new_folder(folder)
    about = {
        "name": settings.name,
        "format": FORMAT,
        "command": command,
        "started": started.isoformat(timespec="seconds"),
        "versions": _versions(plan),
        "machine": machine(),
        "complete": False,
        "seconds": 0.0,
    }
    with locked(folder), _told_why(folder, plan):
        _write(folder / "config.yaml", plan.as_data)
        _write(folder / FILE, {**about, "config": plan.as_data})
        return session.go(folder, about)


def resume(
    folder: str | Path,
    command: str = "othello_lab.training.make(...)",
    console: Console | None = None,
    *,
    workers: int | None = None,
    executor: str | None = None,
    address: str | None = None,
    force: bool = False,
    trust: bool = False,
) -> SelfPlayResult:
    """Go on with a self-play that was interrupted, as :func:`experiments.jobs.run.resume` does
    with a run."""
    console, folder = console or Console(), Path(folder)
    about = about_of(folder)
    if about["complete"]:
        console.print(plain(f"{folder} is complete"), soft_wrap=True)
        return SelfPlayResult(folder, True)
    config = about.pop("config")
    moved = moved_executor(config["executor"], workers, executor, address)
    config = {**config, "executor": moved}
    plan = of_data(config)
    if not force:
        refuse_changes(folder, changes(folder, about["versions"], config, _versions(plan)))
    foreign = foreign_code(built_from(plan.settings), about["versions"])
    check_trusted(folder, foreign, trust, console)
    with locked(folder), _told_why(folder, plan):
        session = _SelfPlaySession(plan, console)
        _write(folder / "config.yaml", plan.as_data)
        about["resumed"] = [*about.get("resumed", []), command]
        return session.go(folder, about)


def _versions(plan: DataPlan) -> dict[str, str]:
    """What the positions depend on: the versions of a run, and a hash of the files here that shape
    them."""
    room = Path(__file__).parent
    files = (room / name for name in ("planning.py", "labels.py", "playing.py", "games.py"))
    found = {**versions(built_from(plan.settings)), "selfplay": file_hash(*files)}
    for path in map(Path, plan.data.read):
        if path.is_file():
            found[str(path)] = file_hash(path)
    return found


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_safely(path, yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True))


# ---------------------------------------------------------------------- doing it


class _SelfPlaySession:
    """One go at a self-play. What can be refused is refused when it is made."""

    def __init__(self, plan: DataPlan, console: Console) -> None:
        self._plan, self._console = plan, console
        self._conditions = plan.conditions()
        say = functools.cache(self._say)
        prepare_replay(say)  # by which games that are read are checked
        self._pieces, self._total = self._split()
        self._conditions.prepare(say)
        prepare_labels(plan.data, say)
        if plan.settings.trial and not plan.data.read:
            try_agents(self._conditions)

    def _say(self, line: str) -> None:
        self._console.print(plain(line), soft_wrap=True)

    def _split(self) -> tuple[list[Task], int]:
        """What there is to do, and how many games that is; ConfigError."""
        plan, settings = self._plan.plan, self._plan.settings
        count = settings.games
        if self._plan.data.read:
            from othello_lab.training.games import read_games

            games = read_games(self._plan.data.read, plan.rules, self._plan.data.partly, self._say)
            parts: list[Any] = list(games.pieces(_GAMES))
            return [Task(n, part) for n, part in enumerate(parts)], len(games)
        openings = plan.openings.find(min(count, _MOST_OPENINGS), plan.rules, settings.seed)
        if not openings:
            raise ConfigError(f"openings: there are none ({plan.openings.text})")
        reached = [opening.reach(plan.rules) for opening in openings[:count]]
        table = np.array(
            [(at.mover, at.opponent, at.to_move is Color.WHITE) for at in reached], dtype=np.uint64
        )
        which = np.fromiter(islice(cycle(range(len(table))), count), dtype=np.int64)
        pieces = []
        for number, first in enumerate(range(0, count, _GAMES)):
            part = table[which[first : first + _GAMES]]
            color = part[:, 2].astype(np.int64)
            batch = GameBatch(number, settings.seed, first, part[:, 0], part[:, 1], color)
            pieces.append(Task(number, batch))
        return pieces, count

    def go(self, folder: Path, about: dict[str, Any]) -> SelfPlayResult:
        """Make what is missing, and put all together. Raises KeyboardInterrupt if there is nothing
        yet when it is interrupted."""
        clock = time.perf_counter()
        with TaskLog(folder / PIECES) as made:
            left = [piece for piece in self._pieces if piece.number not in made.done]
            failures = self._work_on(left, made, folder) if left else []
            complete = len(made.done) == len(self._pieces)
        about["seconds"] = round(about["seconds"] + time.perf_counter() - clock, 1)
        about["complete"] = complete
        found = self._together(folder, about)
        _write(folder / FILE, {**about, "config": self._plan.as_data})
        if complete:
            (folder / PIECES).unlink()
        if found is not None:
            self._tell(found, folder, about)
        if failures:
            raise RunStopped(
                f"{len(failures):,} times {_GAMES} games could not be made: {failures[0]}. What "
                f"was made is kept; to try again: {way_on(folder, self._plan)}"
            )
        if not complete:
            self._say(f"go on with  {way_on(folder, self._plan)}")
            if found is None:
                raise KeyboardInterrupt
        return SelfPlayResult(folder, complete)

    def _work_on(self, left: Sequence[Task], made: TaskLog, folder: Path) -> list[str]:
        """Make what there is to do; why that failed, of each piece of which nothing came."""
        failures: list[str] = []
        plan, conditions = self._plan, self._conditions
        job = functools.partial(make_piece, plan.as_data[GROUP])
        with ExitStack() as stack:
            crew = stack.enter_context(plan.plan.executor.ready(conditions, self._say))
            stack.enter_context(stoppable(conditions.stop, STOPPING))
            stack.enter_context(logging_to(folder / LOG, plan.settings.log_level))
            progress = stack.enter_context(_progress(self._console))
            missing = sum(_games_of(piece) for piece in left)
            name = plan.settings.name
            bar = progress.add_task(name, total=self._total, completed=self._total - missing)
            sizes = {piece.number: _games_of(piece) for piece in left}
            with guarded(folder / PIECES, conditions.stop):
                for results in crew.work(job, left):
                    for result in results:
                        if result.failure:
                            failures.append(result.failure)
                            continue
                        made.add(result.number, result.tables[TABLE][0])
                        progress.advance(bar, sizes[result.number])
                    made.flush()
        return failures

    def _together(self, folder: Path, about: dict[str, Any]) -> Positions | None:
        """Write the positions of all pieces that are there; None if there is nothing."""
        made = read_log(folder / PIECES)
        rows = np.concatenate([np.zeros(0, dtype=ROW), *(each.rows for each in made)])
        left_out: Counter[str] = Counter()
        for each in made:
            left_out.update(each.left_out)
        about["games"] = sum(each.games for each in made)
        about["left_out"] = dict(left_out)
        about["positions_of_games"] = len(rows)
        if not len(rows):
            if about["complete"]:
                why = ", ".join(f"{number:,} {why}" for why, number in left_out.items())
                raise RunStopped(f"{folder}: no position came of {about['games']:,} games ({why})")
            return None
        first = np.array([each.number * _GAMES for each in made])
        game = np.repeat(first, [len(each.rows) for each in made]) + rows["game"]
        data, rules = self._plan.data, self._plan.plan.rules
        found = Positions.of_games(
            rows["mover"].copy(),
            rows["opponent"].copy(),
            levelled(rows, rules.squares),
            rows["exact"],
            game,
            validation=data.validation,
            test=data.test,
            side=rules.side,
        )
        provenance = {"made_by": "selfplay", **about, "config": self._plan.as_data}
        found.write(folder / kept.FILE, provenance)
        return found

    def _tell(self, found: Positions, folder: Path, about: Mapping[str, Any]) -> None:
        """What came of it."""
        for line in summary(found, about):
            self._say(line)
        if not self._console.quiet:
            self._console.print(stages(found))
        self._say(f"written to {folder / kept.FILE}")


def summary(found: Positions, about: Mapping[str, Any]) -> Iterator[str]:
    """What came of it, in words. about: of :func:`about_of`."""
    games, made = about["games"], about["positions_of_games"]
    yield (
        f"{counted(games, 'game')} in {about['seconds']:,.1f} s: {made:,} positions, of which "
        f"{len(found):,} are distinct, also up to symmetry"
    )
    if about["left_out"]:
        told = ", ".join(f"{number:,} {why}" for why, number in about["left_out"].items())
        yield f"left out: {told}"
    shares = np.bincount(found.split, minlength=len(SPLITS)).tolist()
    yield ", ".join(f"{name} {share:,}" for name, share in zip(SPLITS, shares, strict=True))
    empty = [name for name, share in zip(SPLITS, shares, strict=True) if not share]
    if empty:
        yield f"too few games for a split: there is nothing for {' and '.join(empty)}"


def stages(found: Positions) -> Any:
    """A table of the positions by tens of empty squares."""
    table = terminal_table(["empty squares", "positions", "exact %", "mean |score|"])
    for low in range(0, found.side * found.side - 4, 10):
        part = found.stage(low, low + 9)
        if len(part):
            share, mean = 100 * part.exact.mean(), np.abs(part.score).mean()
            table.add_row(f"{low}-{low + 9}", f"{len(part):,}", f"{share:.0f}", f"{mean:.1f}")
    return table


def _games_of(piece: Task) -> int:
    content = piece.content
    return len(content) if isinstance(content, LabelledGames) else len(content.mover)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games, left"),
        TimeRemainingColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        console=console,
        disable=console.quiet,
    )


def way_on(folder: Path, plan: DataPlan) -> str:
    """What to type to go on with it."""
    trust = " --trust" if foreign_code(built_from(plan.settings), {}) else ""
    return f"othello-lab resume {shlex.quote(str(folder))}{trust}"


@contextmanager
def _told_why(folder: Path, plan: DataPlan) -> Iterator[None]:
    """Say in a line why it cannot go on, and how to go on later."""
    try:
        yield
    except OSError as error:
        why = f"{folder} cannot be written: {one_line(error)}"
    except (BrokenExecutor, TaskFailed) as error:
        why = one_line(error)
    else:
        return
    raise RunStopped(f"{why}. What was made is kept; go on with: {way_on(folder, plan)}")
