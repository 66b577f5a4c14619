"""Making positions to learn from: a plan in, a folder with them and how they were made out. It may
be interrupted at any moment, and resumed.

>>> import tempfile
>>> settings = {"games": 40, "depth": 1, "data": {"exact": 6}, "executor": "serial"}
>>> with tempfile.TemporaryDirectory() as folder:
...     positions = Positions.read(make(settings, folder + "/mine"))
...     len(positions) > 1000, bool(positions.exact[positions.empties <= 6].all())
(True, True)
"""

from __future__ import annotations

import copy
import functools
import json
import logging
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from othello_lab.agents.config import fill_open
from othello_lab.core.rules import Color, Ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import ConfigError, nearest
from othello_lab.core.whole_games import prepare_games
from othello_lab.experiments.config import OBJECTS, Plan, RunConfig, chosen, plan_of, typed
from othello_lab.experiments.jobs.job import JobResult
from othello_lab.experiments.jobs.kinds import SELFPLAY, kind_name
from othello_lab.experiments.jobs.replan import ResumeOptions
from othello_lab.experiments.jobs.stopping import RunStopped
from othello_lab.experiments.playing.conditions import GameConditions, RemoteConditions
from othello_lab.experiments.playing.tasks import WorkerContext
from othello_lab.experiments.playing.trust import names_no_more
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import Record, Tables
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.experiments.studies import study_plan, study_session
from othello_lab.experiments.studies.study import Conclusion, PositionStudy
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.experiments.studies.study_session import PositionSession, RecordMaker
from othello_lab.training.data import FILE, SPLITS, Positions, needs_pyarrow
from othello_lab.training.games import read_games
from othello_lab.training.labels import ROW, DataConfig, LabelledGames, levelled, prepare_labels
from othello_lab.training.playing import COUNTS, POSITIONS, GameBatch, made_of
from othello_lab.training.replay import prepare_replay

log = logging.getLogger("lab.data")

NAME = "selfplay"
"""The one option there is in the group of YAMLs."""
AGENT = "alphabeta"
"""Who plays where nobody is named."""
_GAMES = 64
"""Of a piece: few enough that a piece of a slow agent ends soon, and the same for every number of
workers, as random numbers go by pieces."""
_MOST_OPENINGS = 100_000


@dataclass(frozen=True, kw_only=True)
class SelfPlay(DataConfig, PositionStudy):
    """Positions to learn from; its pieces are games that are played, or were read."""

    def plan_of(self, settings: RunConfig) -> Plan:
        playing = copy.deepcopy(settings)
        playing.games += playing.games % 2  # which only matters where openings are played twice
        return replace(plan_of(playing, least=1), settings=settings)

    def conditions(self, plan: Plan, all_settings: Mapping[str, Any]) -> GameConditions:
        """Every agent is there twice, once for each side, as it meets itself; none if games are
        read."""
        made = plan.conditions()
        elsewhere = RemoteConditions(conditions_elsewhere, dict(all_settings))
        if self.read:
            return replace(made, names=[], agents=[], elsewhere=elsewhere)
        twins = self.plan_of(copy.deepcopy(plan.settings)).agents
        names = [*made.names, *(f"{name} (White)" for name in twins)]
        agents = [*made.agents, *twins.values()]
        return replace(made, names=names, agents=agents, elsewhere=elsewhere)

    def prepare(self, plan: Plan, announce: Announce) -> None:
        prepare_replay(announce)  # by which games that are read are checked
        prepare_labels(self, announce)
        conditions = plan.conditions()
        if not self.read and conditions.compiled_games and not conditions.limits.timed:
            prepare_games(announce)

    def pieces(self, plan: Plan, record: Record | None) -> Sequence[Any]:
        settings = plan.settings
        count = settings.games
        if self.read:
            return list(_games(tuple(self.read), plan.rules, self.partly).pieces(_GAMES))
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
            pieces.append(GameBatch(number, settings.seed, first, part[:, 0], part[:, 1], color))
        return pieces

    def work(self, place: WorkerContext, piece: Any) -> Tables:
        return made_of(piece, place, self)

    def conclude(self, plan: Plan, tables: Mapping[str, Any]) -> Conclusion:
        """A self-play concludes nothing: its positions are its result."""
        raise NotImplementedError


@functools.lru_cache(maxsize=1)  # they are looked at before anything is written
def _games(files: Sequence[str], rules: Ruleset, partly: bool) -> LabelledGames:
    return read_games(files, rules, partly, log.warning)


def conditions_elsewhere(config: Mapping[str, Any]) -> GameConditions:
    """Return the conditions of these settings, for a process elsewhere."""
    plan = _planned(config)
    assert isinstance(plan.study, SelfPlay)
    return plan.study.conditions(plan.plan, config)


# ---------------------------------------------------------------------- ways in


def read(overrides: Sequence[str], folders: Sequence[str] = ()) -> StudyPlan:
    """The plan of ``conf/data/selfplay.yaml`` with overrides (``games=5000``, ``agent=alphabeta``,
    ``data.exact=12``), and further folders of YAMLs; raises ConfigError."""
    words = [_of_player(word) for word in overrides]
    return study_plan.read(NAME, words, folders, SELFPLAY, SelfPlay)


def _of_player(word: str) -> str:
    """``agent=NAME`` and ``agent.KEY=VALUE`` mean the one that plays itself."""
    key, equals, value = word.partition("=")
    if key == "agent":
        return f"agent@player{equals}{value}"
    return f"player.{word.removeprefix('agent.')}" if key.startswith("agent.") else word


def with_defaults(settings: Mapping[str, Any]) -> StudyPlan:
    """Return the plan of some settings as plain data, the others as in the YAMLs; ConfigError.

    ``agents`` are described by name; ``depth`` and ``evaluation`` fill the settings they leave open
    (``???``). An agent, evaluation, or other object may be given by the name of its YAML.
    """
    made = read([]).as_data | {"agents": {AGENT: AGENT}}
    for key, value in settings.items():
        if key not in made:
            raise ConfigError(f"unknown setting '{key}'.{nearest(key, made)}")
        if key in OBJECTS:
            made[key] = value if key == "agents" else chosen(key, value)
        else:
            made[key] = {**made[key], **value} if isinstance(value, Mapping) else value
    agents = {name: chosen("agent", agent) for name, agent in made["agents"].items()}
    made["agents"], _ = fill_open(agents, depth=made["depth"], evaluation=made["evaluation"])
    return _planned(made)


def _planned(settings: Mapping[str, Any]) -> StudyPlan:
    of_run = {key: value for key, value in settings.items() if key != SELFPLAY.group}
    return study_plan.planned(NAME, settings[SELFPLAY.group], typed(of_run), SELFPLAY, SelfPlay)


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
    console, command = console or Console(quiet=True), "othello_lab.training.make(...)"
    where = None if folder is None else Path(folder)
    if where is not None and is_selfplay(where):
        with reading(where, SELFPLAY.word) as record:
            head = described(record)
            unwritten = record.rows("select 1 from rows where table_name = ? limit 1", [POSITIONS])
        if head["complete"] and not unwritten:
            return where
        options = ResumeOptions(
            trust=names_no_more(head["config"], with_defaults(settings).as_data)
        )
        result = study_session.resume(where, command, console, options, SELFPLAYS)
    else:
        result = selfplay(with_defaults(settings), command, console, where)
    if not result.complete:
        raise KeyboardInterrupt
    return result.folder


def selfplay(
    plan: StudyPlan, command: str, console: Console | None = None, folder: Path | None = None
) -> JobResult:
    """Play, or read games, and write the positions into a new folder.

    command: how it was asked for. Raises ConfigError before anything is written, and RunStopped.
    """
    needs_pyarrow()
    session = SelfPlaySession(plan, SELFPLAYS, console or Console())
    return session.start(command, wanted=folder)


# ---------------------------------------------------------------------- doing it


class SelfPlaySession(PositionSession):
    """One go at a self-play: the pieces that its record lacks are made, and all put together."""

    retries = True
    concludable = False  # positions of pieces are dropped once they are written

    def make(self) -> tuple[Mapping[str, Any], bool]:
        """Return the description of what was made, empty if there is no position, and True if it is
        all."""
        complete = self.do_missing(None)
        complete = complete and not any(self.done().values())
        with self.reading():
            head = described(self.record)
        if complete and not head["positions_of_games"]:
            games = f"{head['games']:,} games ({_left_out(head)})"
            raise RunStopped(f"{self.folder}: no position came of {games}")
        return head if head["positions_of_games"] else {}, complete

    def report(self, found: Any, to: Path | None = None) -> int:
        """Write the positions, and print what they are."""
        with self.reading():
            head = described(self.record)
            positions = self._together(head)
        if head["complete"]:  # they are in their own file
            self.record.drop_rows(POSITIONS)
        for line in summary(positions, head):
            self.say(line)
        if not self.console.quiet:
            self.console.print(stages(positions))
        self.say(f"written to {self.folder / FILE}")
        if failures := [why for why in self.done().values() if why]:
            raise RunStopped(
                f"{len(failures):,} times {_GAMES} games could not be made: {failures[0]}. What "
                f"was made is kept; to try again: {self.resume_hint()}"
            )
        return 0

    def _together(self, head: Mapping[str, Any]) -> Positions:
        """Write and return the positions of all pieces."""
        sql = "select piece, row from rows where table_name = ? order by piece"
        parts = [np.zeros(0, dtype=ROW)]
        games = [np.zeros(0, dtype=np.int64)]
        for number, row in self.record.select(sql, [POSITIONS]):
            parts.append(np.frombuffer(b64decode(json.loads(row)["rows"]), dtype=ROW))
            games.append(number * _GAMES + parts[-1]["game"].astype(np.int64))
        rows = np.concatenate(parts)
        if not len(rows):  # they were written when it was complete
            return Positions.read(self.folder)
        data, rules = self._study, self.plan.plan.rules
        assert isinstance(data, SelfPlay)
        positions = Positions.of_games(
            rows["mover"].copy(),
            rows["opponent"].copy(),
            levelled(rows, rules.squares),
            rows["exact"],
            np.concatenate(games),
            validation=data.validation,
            test=data.test,
            side=rules.side,
        )
        positions.write(self.folder / FILE, {"made_by": "selfplay", **head})
        return positions


SELFPLAYS = RecordMaker(
    SELFPLAY, SelfPlay, lambda plan: SelfPlaySession, {"selfplay": Path(__file__).parent}
)


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
    counts = [json.loads(row) for (row,) in record.select(sql, [COUNTS])]
    left_out: Counter[str] = Counter()
    for count in counts:
        left_out.update(count["left_out"])
    return {
        **head,
        "complete": complete,
        "seconds": round(seconds, 1),
        "games": sum(count["games"] for count in counts),
        "left_out": dict(left_out),
        "positions_of_games": sum(count["positions"] for count in counts),
    }


def summary(positions: Positions, head: Mapping[str, Any]) -> Iterator[str]:
    """Yield the results, in words. head: of :func:`about_of`."""
    yield (
        f"{counted(head['games'], 'game')} in {head['seconds']:,.1f} s: "
        f"{head['positions_of_games']:,} positions, of which {len(positions):,} are distinct, "
        "also up to symmetry"
    )
    if head["left_out"]:
        yield f"left out: {_left_out(head)}"
    counts = dict(zip(SPLITS, np.bincount(positions.split, minlength=len(SPLITS)), strict=True))
    yield ", ".join(f"{name} {count:,}" for name, count in counts.items())
    if empty := [name for name, count in counts.items() if not count]:
        yield f"too few games for a split: there is nothing for {' and '.join(empty)}"


def _left_out(head: Mapping[str, Any]) -> str:
    return ", ".join(f"{number:,} {why}" for why, number in head["left_out"].items())


def stages(positions: Positions) -> Any:
    """A table of the positions by tens of empty squares."""
    table = terminal_table(["empty squares", "positions", "exact %", "mean |score|"])
    for low in range(0, positions.side**2 - 4, 10):
        part = positions.stage(low, low + 9)
        if len(part):
            share, mean = 100 * part.exact.mean(), np.abs(part.score).mean()
            table.add_row(f"{low}-{low + 9}", f"{len(part):,}", f"{share:.0f}", f"{mean:.1f}")
    return table
