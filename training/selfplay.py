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
import json
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from othello_lab.agents.config import ConfigError
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.whole_games import prepare_games
from othello_lab.experiments.config import OBJECTS, built_from
from othello_lab.experiments.jobs.job import Job, progress_of
from othello_lab.experiments.jobs.kinds import SELFPLAY, kind_name
from othello_lab.experiments.jobs.replan import ResumeOptions
from othello_lab.experiments.jobs.stopping import RunStopped, guarded
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.match import TaskRunner
from othello_lab.experiments.playing.tasks import Task
from othello_lab.experiments.playing.trust import check_trusted, foreign_code, names_no_more
from othello_lab.experiments.record.folder import locked
from othello_lab.experiments.record.provenance import file_hash, versions
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import SKIPPED, Record
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.training import data as kept
from othello_lab.training.data import SPLITS, Positions
from othello_lab.training.data_plan import GROUP, DataPlan, of_data, with_defaults
from othello_lab.training.labels import ROW, LabelledGames, levelled, prepare_labels
from othello_lab.training.playing import COUNTS, POSITIONS, GameBatch, make_piece
from othello_lab.training.replay import prepare_replay

STOPPING = "stopping after the games under way"
_GAMES = 64
"""Of a piece: few enough that a piece of a slow agent ends soon, and the same for every number of
workers, as random numbers go by pieces."""
_MOST_OPENINGS = 100_000


@dataclass(frozen=True)
class SelfPlayResult:
    """The result of a self-play. exit_code: of the command."""

    folder: Path
    complete: bool

    @property
    def exit_code(self) -> int:
        return 0 if self.complete else 130


# ---------------------------------------------------------------------- ways in


def make(
    settings: Mapping[str, Any], folder: str | Path | None = None, console: Console | None = None
) -> Path:
    """Make positions from Python, or by a training for itself; return the folder, for
    :meth:`Positions.read`.

    settings: plain data as in ``conf/run.yaml`` (``agents``, ``games``, ``seed``, ``depth``,
    ``limits``, ``executor``, ...), and ``data`` as in ``conf/data/selfplay.yaml``; the rest has the
    defaults. folder: the new folder, or one of a self-play that was begun and is then continued;
    None for a new one below ``results``. console: None for nothing on the terminal.

    Raises ConfigError, RunStopped, and KeyboardInterrupt after Ctrl-C.
    """
    console = console or Console(quiet=True)
    where = None if folder is None else Path(folder)
    if where is not None and is_selfplay(where):
        asked = with_defaults(settings).as_data
        trust = names_no_more(about_of(where)["config"], asked)
        options = ResumeOptions(trust=trust)
        result = resume(where, "othello_lab.training.make(...)", console, options)
    else:
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
    kept.needs_pyarrow()
    return SelfPlayJob(plan, console or Console()).start(command, wanted=folder)


def resume(folder: Path, command: str, console: Console, options: ResumeOptions) -> SelfPlayResult:
    """Go on with a self-play that was interrupted, as :func:`experiments.jobs.run.resume` does
    with a run."""
    about = about_of(folder)
    if about["complete"]:
        console.print(plain(f"{folder} is complete"), soft_wrap=True)
        return SelfPlayResult(folder, True)
    with locked(folder):
        config = about["config"]
        of_run = {key: value for key, value in config.items() if key != GROUP}
        config = {**config, "executor": options.settings(folder, of_run).executor}
        described = {key: config.get(key) for key in (GROUP, *OBJECTS)}
        foreign = foreign_code(described, about["versions"])
        check_trusted(folder, foreign, options.trust, console)
        plan = of_data(config)
        options.check(folder, about, _versions(plan), (), console)
        return SelfPlayJob(plan, console).go_on(folder, command)


def _versions(plan: DataPlan) -> dict[str, str]:
    """Return the versions that the positions depend on: those of a run, and a hash of the files
    here that shape them."""
    room = Path(__file__).parent
    files = (room / name for name in ("data_plan.py", "labels.py", "playing.py", "games.py"))
    found = {**versions(built_from(plan.settings)), "selfplay": file_hash(*files)}
    for path in map(Path, plan.data.read):
        if path.is_file():
            found[str(path)] = file_hash(path)
    return found


# ---------------------------------------------------------------------- doing it


class SelfPlayJob(Job[SelfPlayResult]):
    """A self-play as a job: the pieces that its record lacks are made, and all put together."""

    kind = SELFPLAY.word

    def __init__(self, plan: DataPlan, console: Console) -> None:
        super().__init__(plan.settings, plan.as_data, console)
        self._plan = plan
        self._conditions: GameConditions
        self._runner: TaskRunner
        self._pieces: list[Task]
        self._total: int

    def prepare(self, stack: ExitStack) -> None:
        self._conditions = self._plan.conditions()
        say = functools.cache(self.say)
        prepare_replay(say)  # by which games that are read are checked
        self._pieces, self._total = self._split()
        self._conditions.prepare(say)
        if self._conditions.compiled_games and not self._conditions.limits.timed:
            prepare_games(say)
        prepare_labels(self._plan.data, say)
        trial = self.settings.trial and not self._plan.data.read
        ready = self._plan.plan.executor.ready(self._conditions, self.say, trial)
        self._runner = stack.enter_context(ready)

    def versions(self) -> dict[str, str]:
        return _versions(self._plan)

    def foreign(self) -> list[str]:
        return foreign_code(built_from(self.settings), {})

    def write_head(self) -> None:
        if self.resumed:
            self.record.continue_with(self._plan.as_data, retry=[SKIPPED])

    def _split(self) -> tuple[list[Task], int]:
        """Return all pieces of work, and the number of games; ConfigError."""
        plan, settings = self._plan.plan, self._plan.settings
        count = settings.games
        if self._plan.data.read:
            from othello_lab.training.games import read_games

            games = read_games(self._plan.data.read, plan.rules, self._plan.data.partly, self.say)
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

    def work(self, stack: ExitStack) -> SelfPlayResult:
        clock, record = time.perf_counter(), self.record
        record.expect(len(self._pieces))
        done = self.done()
        if left := [piece for piece in self._pieces if piece.number not in done]:
            self._work_on(left)
        done = self.done()
        failures = [why for why in done.values() if why]
        complete = len(done) == len(self._pieces) and not failures
        seconds = time.perf_counter() - clock
        with self.reading():
            about = described(record)
            about["seconds"] = round(about["seconds"] + seconds, 1)
            found = self._together({**about, "complete": complete})
        record.finish(seconds, complete)
        if complete:  # its positions are in their own file
            record.drop_rows(POSITIONS)
        if found is not None:
            self._tell(found, about)
        if failures:
            raise RunStopped(
                f"{len(failures):,} times {_GAMES} games could not be made: {failures[0]}. What "
                f"was made is kept; to try again: {self.resume_hint()}"
            )
        if not complete:
            self.tell_hint()
            if found is None:
                raise KeyboardInterrupt
        return SelfPlayResult(self.folder, complete)

    def _work_on(self, left: Sequence[Task]) -> None:
        """Make these pieces."""
        plan, conditions = self._plan, self._conditions
        job = functools.partial(make_piece, plan.as_data[GROUP])
        with ExitStack() as stack:
            stack.enter_context(self.interruptible(conditions.stop, STOPPING))
            progress = stack.enter_context(progress_of(self.console, "games"))
            sizes = {piece.number: _games_of(piece) for piece in left}
            before = self._total - sum(sizes.values())
            bar = progress.add_task(plan.settings.name, total=self._total, completed=before)
            with guarded(self.record.path, conditions.stop):
                for results in self._runner.work(job, left):
                    self.record.add_pieces(results)
                    made = sum(sizes[each.number] for each in results if not each.failure)
                    progress.advance(bar, made)

    def _together(self, about: Mapping[str, Any]) -> Positions | None:
        """Write and return the positions of all pieces; None if there is no position yet."""
        sql = "select piece, row from rows where table_name = ? order by piece"
        numbers, parts = list[int](), [np.zeros(0, dtype=ROW)]
        for number, row in self.record.each(sql, [POSITIONS]):
            numbers.append(number)
            parts.append(np.frombuffer(b64decode(json.loads(row)["rows"]), dtype=ROW))
        rows = np.concatenate(parts)
        if not len(rows):
            if about["complete"]:
                why = ", ".join(f"{number:,} {why}" for why, number in about["left_out"].items())
                raise RunStopped(
                    f"{self.folder}: no position came of {about['games']:,} games ({why})"
                )
            return None
        first = np.array([number * _GAMES for number in numbers])
        game = np.repeat(first, [len(part) for part in parts[1:]]) + rows["game"]
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
        found.write(self.folder / kept.FILE, {"made_by": "selfplay", **about})
        return found

    def _tell(self, found: Positions, about: Mapping[str, Any]) -> None:
        """Print a summary of the positions."""
        for line in summary(found, about):
            self.say(line)
        if not self.console.quiet:
            self.console.print(stages(found))
        self.say(f"written to {self.folder / kept.FILE}")


def is_selfplay(folder: Path | str) -> bool:
    """Return True if a folder is that of a self-play."""
    return kind_name(folder) == SELFPLAY.word


def about_of(folder: Path) -> dict[str, Any]:
    """Return the description of a self-play in its folder; see :func:`described`. Raises
    ConfigError."""
    with reading(folder, SELFPLAY.word) as record:
        return described(record)


def described(record: Record) -> dict[str, Any]:
    """Return the head of a self-play's record, its ``seconds``, and the sums of what came of its
    pieces: ``games``, ``left_out`` of these by reason, and ``positions_of_games``."""
    head = record.head()
    seconds, complete = head.pop("wall_seconds") or 0.0, bool(head.pop("complete"))
    sql = "select row from rows where table_name = ? order by piece"
    counts = [json.loads(row) for (row,) in record.each(sql, [COUNTS])]
    left_out: Counter[str] = Counter()
    for each in counts:
        left_out.update(each["left_out"])
    return {
        **head,
        "complete": complete,
        "seconds": round(seconds, 1),
        "games": sum(each["games"] for each in counts),
        "left_out": dict(left_out),
        "positions_of_games": sum(each["positions"] for each in counts),
    }


def summary(found: Positions, about: Mapping[str, Any]) -> Iterator[str]:
    """Yield the results, in words. about: of :func:`about_of`."""
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
