"""The checks of a run."""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from othello_lab.agents.agent import Agent
from othello_lab.agents.config import ConfigError, one_line
from othello_lab.core.game import Limits
from othello_lab.core.notation import PASS
from othello_lab.core.plain_position import PlainPosition
from othello_lab.core.position import Position, prepare_rules
from othello_lab.core.rules import ruleset
from othello_lab.core.system.escaping import counted
from othello_lab.experiments.config import ALL, Plan, built_from, make_agent
from othello_lab.experiments.pairing.openings import Opening
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.flaws import COUNTED, MOVES, RESULTS, TRANSCRIPTS, flaws
from othello_lab.experiments.record.provenance import differences, versions
from othello_lab.experiments.record.reading import DAMAGES
from othello_lab.experiments.record.store import AgentRow, GameRow, Record
from othello_lab.experiments.report.plan_from_record import recorded_plan
from othello_lab.experiments.results.verify.again import RecordedAgent, difference, played_again
from othello_lab.experiments.results.verify.checked import (
    CHECKS,
    FILES,
    PIECES,
    REPLAYED,
    RUNS,
    SCHEDULE,
    SETTINGS,
    Checked,
)
from othello_lab.experiments.results.verify.derived import DerivedFiles


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
        for game in map(GameRow._make, self._record.each("select * from games order by game")):
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
