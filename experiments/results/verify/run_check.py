"""The checks of a run, by the rules, its schedule, and by playing its games again."""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import islice, zip_longest
from typing import Any

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.core.game import FINISHED, SearchStats
from othello_lab.core.notation import PASS
from othello_lab.core.plain_position import PlainPosition
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import Color, Ruleset, ruleset
from othello_lab.core.system.escaping import counted
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.core.system.shared_memory import STOP_AT_ONCE
from othello_lab.experiments.config import ALL, Plan, RunConfig, built_from, make_agent, typed
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.pairing.schedule import Pair, ScheduledGame
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.executors import Processes
from othello_lab.experiments.playing.tasks import TaskRunner, pairs_of
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.flaws import COUNTED, MOVES, RESULTS, TRANSCRIPTS, flaws
from othello_lab.experiments.record.provenance import differences, versions
from othello_lab.experiments.record.reading import DAMAGES, damages
from othello_lab.experiments.record.store import CHANGED, AgentRow, GameRow, PlayedGame, Record
from othello_lab.experiments.record.turns import COUNTS
from othello_lab.experiments.report.plan_from_record import recorded_plan
from othello_lab.experiments.results.verify.derived import DerivedFiles

_OF_RUN = RunConfig.__dataclass_fields__
FILE, SETTINGS, REPLAYED, SCHEDULE, FILES = ["record", "settings", "replayed", "schedule", "files"]
RUNS, PIECES = "runs", "pieces"
CHECKS = {
    FILE: "SQLite's own check, tables, types",
    SETTINGS: "of the job, its agents and openings: they agree",
    RUNS: "each of them by itself, as verify FOLDER/NUMBER does",
    PIECES: "done again: the same rows",
    TRANSCRIPTS: "legal by the rules, from their openings",
    RESULTS: "result, points, discs, end, from the last board",
    MOVES: "plies, agents and squares as in the transcripts",
    COUNTED: "there, possible, none for a pass; totals add up",
    REPLAYED: "by agents whose moves follow from the seed: the same moves and counts",
    SCHEDULE: "pairs, agents, openings and seeds are as drawn",
    FILES: "tables, reports and settings are what the record gives",
}
"""The checks, and what each of them holds a run to."""


class Checked:
    """What was checked of a job.

    extents: of the checks that were done. wrong: what they found, by check. unchecked: what could
    not be checked. replayed: so many of its ``games`` were played again; power: that in words.
    checks: those of its kind of job.
    """

    checks: Sequence[str]

    def __init__(self, record: Record) -> None:
        self.extents: dict[str, str] = {}
        self.wrong: dict[str, list[str]] = defaultdict(list)
        self.unchecked: list[str] = []
        self.replayed, self.games, self.power = 0, 0, "no game replayed"
        self._record, self._head = record, record.head()
        self.extents[FILE] = f"{record.path.stat().st_size / 1e6:,.1f} MB"
        self.wrong[FILE] += damages(record)
        if self.wrong[FILE]:
            self.unchecked.append("all the rest")
            return
        self.wrong[FILE] += [CHANGED] * record.was_changed(read=True)
        config = {key: value for key, value in self._head["config"].items() if key in _OF_RUN}
        self._settings = typed(config)

    def _compare_settings(self, name: str) -> None:
        settings = self._settings
        due = {"name": name, "seed": settings.seed, "ruleset": settings.ruleset.name}
        for key, wanted in due.items():
            if (recorded := self._head[key]) != wanted:
                said = f"{self._head['kind']}: {key}: {recorded!r} is recorded, {wanted!r} is due"
                self.wrong[SETTINGS].append(said)

    def _compare_files(self, files: DerivedFiles) -> None:
        self.extents[FILES] = counted(files.count, "file") if files.count else ""
        self.wrong[FILES], self.unchecked = files.wrong, self.unchecked + files.unchecked


_TWINS = tuple(field.name for field in fields(SearchStats) if field.compare)


class RecordedAgent(Agent):
    """Stands for an agent that is not made again: it repeats its recorded moves. These are given
    without passes, by the seed of the side."""

    def __init__(self, moves: Mapping[int, Sequence[int]]) -> None:
        self._moves = moves

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        self._left = iter(self._moves[seed])

    def decide(self, position: Position, limits: Limits) -> Decision:
        return Decision(next(self._left))


def played_again(
    conditions: GameConditions, games: Iterable[GameRow], until: float
) -> Iterator[tuple[int, PlayedGame | None]]:
    """Play games of a record again, as in a run: in processes other than this one. Yield them by
    number, in no fixed order; None if the processes that led a game died.

    until: when to end, by the monotonic clock; games under way then are left out.
    """
    left = iter(games)

    def take(most: int) -> list[Pair]:
        return [(_scheduled(row, conditions.rules),) for row in islice(left, most)]

    def check_time() -> bool:
        if time.monotonic() > until:
            raise TimeoutError
        return False

    with Processes().workers_for(conditions, lambda line: None) as workers:
        try:
            for batch in TaskRunner(workers, check_time).play(take):
                for number, played in pairs_of(batch):
                    yield number, played[0] if played else None
        except TimeoutError:
            return
        finally:
            conditions.stop.value = STOP_AT_ONCE


def _scheduled(row: GameRow, rules: Ruleset) -> ScheduledGame:
    opening = Opening.read(row.opening, rules)
    return ScheduledGame(row.game, row.game, row.black, row.white, opening, row.seed)


def difference(
    game: GameRow,
    rows: Sequence[Any],
    again: PlayedGame | None,
    known: Collection[int],
    plainly: bool,
) -> str | None:
    """Return the first difference of a recorded game, with its moves, from the same game played
    again. known: numbers of the agents that were made again. plainly: as their reading twins, which
    do not count everything."""
    if again is None:
        return "the process that played it again died"
    same = ("square", "value", "depth", *(_TWINS if plainly else COUNTS))
    turns = zip(rows, again.moves(), strict=False)
    pairs = [(f"ply {row.ply}: ", same, row, now) for row, now in turns if row.agent in known]
    if game.end_reason == FINISHED and {game.black, game.white} <= {*known}:
        totals = ("moves", "nodes", "evaluations")
        sums = [f"{color.value}_{name}" for color in Color for name in totals]
        pairs.append(("", ("transcript", "end_reason", *sums), game, again.game))
    for where, names, one, other in pairs:
        for name in names:
            if (recorded := getattr(one, name)) != (now := getattr(other, name)):
                return f"{where}{name} is {recorded}; played again it is {now}"
    return None


class Verification(Checked):
    """All checks of one run."""

    checks = tuple(name for name in CHECKS if name not in (RUNS, PIECES))

    def __init__(
        self,
        record: Record,
        games: int | None = None,
        seconds: float = 30.0,
        seed: int = 1,
        trust: bool = False,
        independent: bool = False,
    ) -> None:
        """Do all checks; ConfigError.

        games: the most to be played again, drawn with ``seed``; None for as many as ``seconds``
        allow. trust: run code from outside the lab. independent: use the plain rules and the
        reading twins of the searches.
        """
        super().__init__(record)
        if self.unchecked:
            return
        if not record.count_games():
            raise ConfigError(f"{record.path.parent}: no game of this run has ended yet")
        self._trust, self._independent = trust, independent
        self.games = record.count_games()
        self._rules = ruleset(self._settings.ruleset.name)
        self._with_moves = self._settings.record == ALL
        self._check_settings()
        flawed = self._check_games()
        changed = differences(self._head["versions"], versions(built_from(self._settings)))
        if changed and not independent:
            self.unchecked.append(f"games: other versions played them: {'; '.join(changed)}")
        elif agents := self._agents():
            rows = [*map(GameRow._make, record.rows("select * from games order by game"))]
            drawn = [
                game
                for game in random.Random(seed).sample(rows, len(rows))
                if game.game not in flawed and {game.black, game.white} & agents.keys()
            ]
            self._play(agents, drawn[:games], seconds if games is None else math.inf)
        self._check_files()

    def _check_settings(self) -> None:
        settings, sql = self._settings, "select name, config from agents order by agent"
        recorded = [(name, json.loads(config)) for name, config in self._record.rows(sql)]
        self.extents[SETTINGS] = counted(len(recorded), "agent")
        self._compare_settings(settings.name)
        for row, wanted in zip_longest(recorded, settings.agents.items()):
            if row != wanted:
                self.wrong[SETTINGS].append(f"agent: {row} is recorded, {wanted} is due")

    def _check_games(self) -> set[int]:
        """Check all games by the rules; return those that cannot be followed."""
        flawed, moves, kind = set(), 0, PlainPosition if self._independent else Position
        for game in map(GameRow._make, self._record.select("select * from games order by game")):
            rows = self._record.turns([game.game]).rows()
            moves += len(rows)
            for name, said in flaws(game, rows if self._with_moves else None, self._rules, kind):
                self.wrong[name].append(f"game {game.game}: {said}")
                if name in (TRANSCRIPTS, MOVES):
                    flawed.add(game.game)
        games = counted(self._record.count_games(), "game")
        self.extents |= {TRANSCRIPTS: games, RESULTS: games}
        if self._with_moves:
            self.extents |= dict.fromkeys((MOVES, COUNTED), counted(moves, "move"))
        else:
            self.unchecked.append("moves: they are not recorded")
        return flawed

    def _agents(self) -> dict[int, Agent]:
        """Return the agents whose moves follow from their seed, made again, by number."""
        agents = {}
        for row in map(AgentRow._make, self._record.rows("select * from agents order by agent")):
            try:
                agent = self._agent(row)
                timed = agent.watches_clock and self._settings.limits.of_moves().timed
                flags = agent.reproducible and not timed, agent.selective
                if flags != (bool(row.reproducible), bool(row.selective)):
                    said = f"agent '{row.name}': reproducible and selective should be {flags}"
                    self.wrong[SETTINGS].append(said)
                if not row.reproducible:
                    raise ConfigError("they do not follow from its seed alone")
                agents[row.agent] = agent
            except ValueError as error:
                self.unchecked.append(f"moves of '{row.name}': {one_line(error)}")
        return agents

    def _agent(self, row: AgentRow) -> Agent:
        described = self._settings.agents.get(row.name, {"object": None})
        if "object" in described:
            raise ConfigError("it was an object of a program")
        self._refuse(foreign_code({"agents": {row.name: described}}, self._head["versions"]))
        plainly = {"compiled": False} if self._independent else {}
        agent = make_agent(described | plainly, row.name, self._settings)
        if agent.version != row.version:
            raise ConfigError(f"it was of version {row.version}, and is of {agent.version}")
        prepare_rules()
        agent.prepare(None)
        return agent

    def _refuse(self, foreign: Sequence[str]) -> None:
        if foreign and not self._trust:
            raise ConfigError(f"from outside the lab, --trust runs it: {foreign[0]}")

    def _play(self, agents: dict[int, Agent], games: Sequence[GameRow], seconds: float) -> None:
        """Play games again as far as these agents moved in them."""
        moves: dict[int, list[int]] = defaultdict(list)  # of the others
        for game in games:
            for turn in self._record.turns([game.game]).rows():
                if turn.agent not in agents and turn.square != PASS:
                    moves[game.seed + (turn.agent == game.white)].append(turn.square)
        names, limits = self._settings.agents, self._settings.limits
        players = {name: agents.get(n, RecordedAgent(moves)) for n, name in enumerate(names)}
        nowhere: list[Any] = [None] * 3  # openings, schedule and executor, of which it needs none
        within = Limits(limits.depth, limits.nodes)  # time changes no move of these agents
        plan = Plan(self._settings, players, self._rules, within, *nowhere)
        conditions = replace(plan.conditions(), log_level=logging.CRITICAL)
        done, every = 0, self._record.count_games()
        rows, said = {game.game: game for game in games}, dict[int, str | None]()
        for number, again in played_again(conditions, games, time.monotonic() + seconds):
            done, row = done + 1, rows[number]
            turns = self._record.turns([number]).rows()
            said[number] = difference(row, turns, again, agents, self._independent)
        self.wrong[REPLAYED] += [f"game {game}: {why}" for game, why in sorted(said.items()) if why]
        self.extents[REPLAYED] = f"{done:,} of {counted(every, 'game')}"
        self.replayed, self.games = done, every
        self.power = f"{f'{done:,} of' if done < every else 'all'} {every:,} games replayed"
        if len(agents) < len(names):
            self.power += f", as far as {len(agents)} of {len(names)} agents played them"
        elif done < every:
            share = "less than 1" if 0 < 100 * done < every else f"{100 * done / every:.0f}"
            self.power += (
                f" (if one were false, this check would find it with {share} % probability)"
            )

    def _check_files(self) -> None:
        try:
            settings = built_from(self._settings)
            places = {key: settings[key] for key in ("schedule", "openings")}
            self._refuse(foreign_code(places, self._head["versions"]))
            plan = recorded_plan(self._record, self._trust)
            recorded = self._record.openings()
            try:
                if [opening.text for opening in plan.choose_openings()] != recorded:
                    self.wrong[SETTINGS].append("they choose other openings")
            except ConfigError as error:
                self.unchecked.append(f"openings: {one_line(error)}")
            draw = plan.draw([Opening.read(text, plan.rules) for text in recorded])
            settled = self._record.count_settled(plan.schedule.games_each)
            self.extents[SCHEDULE] = f"{settled:,} of {plan.pairs:,} pairs"
            self.wrong[SCHEDULE] += draw.strays(self._record, plan.pairs)
            now = versions(built_from(plan.settings))
            self._compare_files(DerivedFiles(self._record, plan, now))
        except ConfigError as error:
            self.unchecked.append(f"schedule, files: {one_line(error)}")
        except DAMAGES as error:
            self.wrong[FILES].append(f"no report can be made of this: {one_line(error)}")
