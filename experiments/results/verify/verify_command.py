"""The command: all checks of a record, a table of their extent, a line for each finding."""

from __future__ import annotations

import json
import logging
import math
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console

from othello_lab.agents.agent import Agent
from othello_lab.agents.config import ConfigError, build, one_line
from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.agents.search.search_agent import SearchAgent
from othello_lab.core.game import FAIR_ENDS, Limits
from othello_lab.core.position import prepare_rules
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.cli import Parser, whole_number
from othello_lab.core.system.cli import seconds as positive_seconds
from othello_lab.core.system.escaping import counted, plain
from othello_lab.experiments.config import (
    ALL,
    RunConfig,
    built_from,
    chosen_openings,
    draw_of,
    make_agent,
    scheduled_of,
    typed,
)
from othello_lab.experiments.jobs.kinds import check_single
from othello_lab.experiments.pairing.openings import Opening, Openings
from othello_lab.experiments.playing.conditions import GameConditions
from othello_lab.experiments.playing.trust import foreign_code
from othello_lab.experiments.record.provenance import differences, versions
from othello_lab.experiments.record.reading import DAMAGES, damages, reading
from othello_lab.experiments.record.store import AgentRow, GameRow, Record
from othello_lab.experiments.report.standings import matches, rated_as_asked, standings
from othello_lab.experiments.report.terminal import terminal_table
from othello_lab.experiments.results.verify import games as rules_alone
from othello_lab.experiments.results.verify.decisions import (
    asked_again,
    drawn_decisions,
    sides_of,
)
from othello_lab.experiments.results.verify.independent import (
    Deadline,
    PlainDecision,
    TimeIsUp,
    plain_decisions,
    plain_search,
    wrong_by_rules,
)
from othello_lab.experiments.results.verify.replaying import difference, drawn, played_again
from othello_lab.experiments.results.verify.schedule import half_pairs, strays

_SHOWN = 20  # findings of a check that are shown
_CHUNK = 1000  # games read at a time

FILE, SETTINGS, PAIRS, SCHEDULE, TOTALS, REPLAYED, ASKED, PLAIN_RULES, PLAIN_SEARCH = (
    "file", "settings", "pairs", "schedule", "totals", "played again", "asked again",
    "plain rules", "plain search",
)  # fmt: skip
_CHECKS = {
    FILE: "SQLite's own check, tables, types",
    SETTINGS: "what the run's settings, its agents and openings say of each other",
    PAIRS: "two games each, from one opening, colours swapped",
    SCHEDULE: "agents, openings and seeds are as drawn",
    rules_alone.TRANSCRIPTS: "legal by the rules, from their openings",
    rules_alone.RESULTS: "result, points, discs, end, from the last board",
    rules_alone.MOVES: "plies, agents and squares as in the transcripts",
    rules_alone.COUNTED: "there, possible, and none for a pass",
    TOTALS: "what reports say, added up anew",
    REPLAYED: "by agents whose moves follow from the seed: the same moves and counts",
    ASKED: "the lab's own agents among these, in all other games: the same moves and counts",
    PLAIN_RULES: "transcripts, results and moves, without the lab's kernels",
    PLAIN_SEARCH: "moves and values of minimax, alpha-beta and solver, without the lab's kernels",
}
"""The checks, and what each of them holds a record to."""


@dataclass
class _RecordCheck:
    """The extent of a check, its findings, and the reason for its limits.

    done, every: of a check by samples, the size of the sample and of the whole.
    """

    looked: str = ""
    done: int = 0
    every: int = 0
    note: str = ""
    found: list[str] = field(default_factory=list)
    count: int = 0

    def tell_extent(self, noun: str) -> None:
        """Write the size of the sample."""
        of_all = "" if self.done == self.every else f"{self.done:,} of "
        self.looked = f"{of_all}{counted(self.every, noun)}" if self.every else ""

    def power(self, what: str, how: str) -> str:
        """Return the extent in words, and the chance that one falsehood would be found.

        what: games or moves. how: a verb.
        """
        if self.done == self.every:
            return f"all {self.every:,} {what}s {how}"
        chance = 100 * self.done / self.every
        percent = "less than 1" if 0 < chance < 1 else f"{min(chance, 99):.0f}"
        extent = f"{self.done:,} of {self.every:,} {what}s {how}"
        return (
            f"{extent} (if one were false, this check would find it with {percent} % probability)"
        )

    def tell(self, findings: Iterable[str]) -> None:
        """Keep findings; of very many the first, and their number."""
        for finding in findings:
            self.count += 1
            if self.count <= _SHOWN:
                self.found.append(finding)


class RecordVerification:
    """All checks of one record."""

    def __init__(self, record: Record, trust: bool, independent: bool) -> None:
        without = () if independent else (PLAIN_RULES, PLAIN_SEARCH)
        self.checks = {name: _RecordCheck() for name in _CHECKS if name not in without}
        self.record = record
        self._trust = trust
        self._about = record.run()
        self._illegal: set[int] = set()  # games whose transcripts cannot be followed

    @cached_property
    def settings(self) -> RunConfig:
        """The settings of the run, from its record; ConfigError."""
        return typed(self._about["config"])

    @property
    def _limits(self) -> Limits:
        """The limits of each move."""
        return self.settings.limits.of_moves()

    def read(self) -> None:
        """Check everything that needs no game to be played again."""
        self.checks[FILE].looked = f"{self.record.path.stat().st_size / 1e6:,.1f} MB"
        self.checks[FILE].tell(damages(self.record))
        if self.checks[FILE].count:
            for check in self.checks.values():
                check.note = check.note or "the file is damaged"
            self.checks[FILE].note = ""
            return
        self._check_settings()
        self._check_schedule()
        self._check_games()

    @property
    def holds(self) -> bool:
        """True if every check passed."""
        return not any(check.count for check in self.checks.values())

    # ------------------------------------------------------------------ settings and schedule

    def _check_settings(self) -> None:
        check, settings, about = self.checks[SETTINGS], self.settings, self._about
        said = {"name": settings.name, "seed": settings.seed, "ruleset": settings.ruleset.name}
        for name, value in said.items():
            if about[name] != value:
                check.tell([f"run.{name} is {about[name]!r}; its settings say {value!r}"])
        rows = self.record.rows("select agent, name, config from agents order by agent")
        check.looked = counted(len(rows), "agent")
        if [row[:2] for row in rows] != list(enumerate(settings.agents)):
            check.tell(["the agents are not the line-up of the settings"])
            return
        for number, name, config in rows:
            if json.loads(config) != settings.agents[name]:
                check.tell([f"agent {number}, '{name}': other settings than the run's"])
        openings = self.record.openings()
        try:
            chosen = self._chosen_again()
        except ConfigError as error:
            check.note = f"openings not chosen again: {error}"
            return
        if chosen != openings:
            check.tell(["its settings choose other openings"])

    def _chosen_again(self) -> list[str]:
        """The openings that the settings choose; ConfigError."""
        settings = self.settings
        self._refuse_foreign({"openings": settings.openings, "schedule": settings.schedule})
        openings = build(settings.openings, "openings", Openings)
        chosen = chosen_openings(settings, openings, scheduled_of(settings)[0])
        return [opening.text for opening in chosen]

    def _refuse_foreign(self, described: dict[str, Any]) -> None:
        foreign = [] if self._trust else foreign_code(described, self._about["versions"])
        if foreign:
            raise ConfigError(f"from outside the lab, --trust runs it: {foreign[0]}")

    def _check_schedule(self) -> None:
        check, settings = self.checks[SCHEDULE], self.settings
        try:
            self._refuse_foreign({"schedule": settings.schedule})
            schedule, most = scheduled_of(settings)
        except ConfigError as error:
            check.note = self.checks[PAIRS].note = str(error)
            return
        self.checks[PAIRS].tell(half_pairs(self.record, schedule.games_each))
        rules = ruleset(settings.ruleset.name)
        openings = [Opening.read(text, rules) for text in self.record.openings()]
        settled = self.record.settled(schedule.games_each)
        check.looked = f"{len(settled):,} of {most:,} pairs"
        check.tell(strays(self.record, draw_of(settings, schedule, openings), most))

    # ------------------------------------------------------------------ games

    def _walk(self) -> Iterator[tuple[GameRow, list[Any] | None]]:
        """Every game and its moves, in order; None where moves are not recorded."""
        with_moves = self.settings.record == ALL
        last = -1
        while rows := self.record.rows(
            f"select * from games where game > ? order by game limit {_CHUNK}", [last]
        ):
            for row in rows:
                game = GameRow._make(row)
                yield game, self.record.turns(game.game) if with_moves else None
            last = game.game

    def _check_games(self) -> None:
        rules = ruleset(self.settings.ruleset.name)
        games = moves = 0
        totals: dict[int, Counter[str]] = defaultdict(Counter)
        for game, rows in self._walk():
            for name, finding in rules_alone.flaws(game, rows, rules):
                self.checks[name].tell([finding])
                if name == rules_alone.TRANSCRIPTS:
                    self._illegal.add(game.game)
            games, moves = games + 1, moves + len(rows or ())
            _add(totals, game)
        for name in (PAIRS, rules_alone.TRANSCRIPTS, rules_alone.RESULTS):
            self.checks[name].looked = counted(games, "game")
        for name in (rules_alone.MOVES, rules_alone.COUNTED):
            if self.settings.record == ALL:
                self.checks[name].looked = counted(moves, "move")
            else:
                self.checks[name].note = f"not recorded: record={self.settings.record}"
        self.checks[TOTALS].looked = counted(len(totals), "agent")
        try:
            self.checks[TOTALS].tell(self._wrong_totals(totals))
        except DAMAGES as error:
            self.checks[TOTALS].tell([f"no report can be made of this: {one_line(error)}"])

    def _wrong_totals(self, totals: dict[int, Counter[str]]) -> Iterator[str]:
        """Yield standings, or matches of a complete run's report, that are not the sums."""
        if not totals:
            return
        names = list(self.settings.agents)
        parts = rated_as_asked(self.record, self.settings)
        for row in standings(self.record, parts).itertuples():
            own = totals[names.index(row.agent)]
            wanted = {name: own[name] for name in ("games", "wins", "draws", "losses", "forfeits")}
            for name, value in wanted.items():
                found = getattr(row, name)
                if found != value:
                    yield f"{row.agent}: {name} is {found} in reports, {value} added up"
            nodes = own["nodes"] / own["counted"] if own["counted"] else 0.0
            if own["counted"] and abs(row.nodes_per_move - nodes) > 1e-6 * nodes:
                yield f"{row.agent}: {row.nodes_per_move} nodes a move in reports, {nodes} added up"
        written = self.record.path.parent / "matches.csv"
        if self._about["complete"] and written.is_file():
            yield from self._wrong_matches(written)

    def _wrong_matches(self, written: Path) -> Iterator[str]:
        import csv

        counted = ("games", "wins", "draws", "losses", "pairs", "LL", "LD", "DD_WL", "WD", "WW")
        columns = ["agent", "opponent", *counted]
        own = matches(self.record)[columns].astype(str).to_numpy().tolist()
        try:
            with written.open(encoding="utf-8", newline="") as file:
                found = [[str(row.get(name)) for name in columns] for row in csv.DictReader(file)]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            yield f"{written.name} cannot be read: {error}"
            return
        if found != own:
            yield f"{written.name} is not what the games give"

    # ------------------------------------------------------------------ playing again

    def again(self, games: int | None, decisions: int | None, seconds: float, seed: int) -> None:
        """Play games again, and repeat decisions of all others, drawn with ``seed``. Call it after
        :meth:`read`, in a process of a single thread.

        games, decisions: the most of each; None for no limit but the time. seconds: for games, and
        again for decisions.
        """
        if self.checks[FILE].count:
            return
        self.checks[REPLAYED].every = self.record.count_games()
        changed = differences(self._about["versions"], versions(built_from(self.settings)))
        if changed:
            note = f"not done: {'; '.join(changed)}"
            self.checks[REPLAYED].note = self.checks[ASKED].note = note
            return
        players = self._players()
        replayed = self._replay(players, games, seconds, seed) if players else set()
        self.checks[REPLAYED].done = len(replayed)
        self.checks[REPLAYED].tell_extent("game")
        own = {n: agent for n, agent in players.items() if not isinstance(agent, ExternalAgent)}
        if own and self.settings.record == ALL:
            self._ask(own, decisions, seconds, seed, replayed)

    def _game(self, number: int) -> GameRow:
        return GameRow._make(self.record.rows("select * from games where game = ?", [number])[0])

    def _ask(
        self,
        players: dict[int, Agent],
        number: int | None,
        seconds: float,
        seed: int,
        replayed: Collection[int],
    ) -> None:
        check, conditions = self.checks[ASKED], self._conditions(players)
        sides = sides_of(self.record, list(players), replayed)
        check.every = sum(moves for *_, moves in sides)
        until = _end(number, seconds)
        for game, color, wanted in drawn_decisions(sides, number, seed):
            if game in self._illegal:
                continue
            row, turns = self._game(game), self.record.turns(game)
            agent = players[row.black if color is Color.BLACK else row.white]
            about = agent, color, row, turns, wanted, conditions.rules, conditions.limits
            try:
                for found in asked_again(*about):
                    check.done += 1
                    check.tell(f"game {game}, {said}" for said in found)
                    if time.monotonic() > until:
                        break
            except ValueError as error:
                check.tell([f"game {game}: {one_line(error)}"])
            if time.monotonic() > until:
                break
        check.tell_extent("move")

    def _replay(
        self, players: dict[int, Agent], most: int | None, seconds: float, seed: int
    ) -> set[int]:
        """Play games again; return their numbers. most: their largest number, None for any."""
        check = self.checks[REPLAYED]
        drawn_games = drawn(self.record, list(players), seed)[:most]
        games = (self._game(number) for number in drawn_games if number not in self._illegal)
        conditions, until = self._conditions(players), _end(most, seconds)
        replayed = set()
        for game, again in played_again(conditions, games, list(players), until):
            replayed.add(game.game)
            if said := difference(game, self.record.turns(game.game), again):
                check.tell([f"game {game.game}: {said}"])
        return replayed

    def _conditions(self, players: dict[int, Agent]) -> GameConditions:
        """Return the conditions of the games without time limits, which change no move of these
        agents."""
        settings, asked = self.settings, self.settings.limits
        names = [list(settings.agents)[number] for number in players]
        return GameConditions(
            names,
            list(players.values()),
            ruleset(settings.ruleset.name),
            Limits(asked.depth, asked.nodes),
            asked.grace,
            asked.hang,
            logging.CRITICAL,
            asked.prepare,
            asked.memory_mb,
            asked.processes,
            settings.isolation,
            private=[os.path.abspath(settings.results)],
        )

    def _players(self) -> dict[int, Agent]:
        """The agents that can play games again, by number; the check's note says of the others."""
        players: dict[int, Agent] = {}
        left_out = []
        for row in self._agents():
            try:
                agent = self._player(row)
                prepare_rules()
                agent.prepare(None)
                self._check_flags(row, agent)
                if not row.reproducible:
                    raise ConfigError("its moves do not follow from its seed alone")
                players[row.agent] = agent
            except ValueError as error:
                left_out.append(f"without '{row.name}': {one_line(error)}")
        self.checks[REPLAYED].note = "; ".join(left_out)
        return players

    def _agents(self) -> Iterator[AgentRow]:
        yield from map(AgentRow._make, self.record.rows("select * from agents order by agent"))

    def _player(self, row: AgentRow) -> Agent:
        """Return an agent of the record, not yet prepared; ConfigError."""
        described = self.settings.agents[row.name]
        if "object" in described:
            raise ConfigError("it was an object of a program")
        self._refuse_foreign({"agents": {row.name: described}})
        agent = make_agent(described, row.name, self.settings)
        if agent.version != row.version:
            raise ConfigError(f"it was of version {row.version}, and is of {agent.version}")
        return agent

    def _check_flags(self, row: AgentRow, agent: Agent) -> None:
        timed = agent.watches_clock and self._limits.timed
        flags = {"reproducible": agent.reproducible and not timed, "selective": agent.selective}
        for name, value in flags.items():
            if bool(getattr(row, name)) != value:
                recorded = bool(getattr(row, name))
                self.checks[SETTINGS].tell(
                    [f"agent '{row.name}': {name} is {recorded}, not {value}"]
                )

    # ------------------------------------------------------------------ without kernels

    def independently(self, seconds: float, seed: int) -> None:
        """Check games, and decisions in them, by plain Python alone. Call it after :meth:`read`.

        seconds: the time for games, and again for decisions.
        """
        rules_check, search_check = self.checks[PLAIN_RULES], self.checks[PLAIN_SEARCH]
        if self.checks[FILE].count:
            return
        settings, rules = self.settings, ruleset(self.settings.ruleset.name)
        with_moves = settings.record == ALL
        agents, left_out = self._plain_agents()
        notes = [f"without '{name}': {reason}" for name, reason in left_out.items()]
        if not with_moves:
            notes = [f"moves are not recorded: record={settings.record}"]
        search_check.note = "; ".join(notes)
        numbers = [number for (number,) in self.record.rows("select game from games order by game")]
        rules_check.every = len(numbers)
        decisions: list[tuple[int, PlainDecision]] = []
        deadline = Deadline(seconds)
        for number in random.Random(seed).sample(numbers, len(numbers)):
            game, rows = self._game(number), self.record.turns(number) if with_moves else None
            found = [f"game {number}: {said}" for said in wrong_by_rules(game, rows, rules)]
            rules_check.done += 1
            rules_check.tell(found)
            if rows and not found:
                of_game = plain_decisions(game, rows, agents, self._limits, rules)
                decisions += [(number, decision) for decision in of_game]
            if deadline.passed:
                break
        rules_check.tell_extent("game")
        if agents and with_moves:
            sides = sides_of(self.record, agents, ())
            search_check.every = sum(moves for *_, moves in sides)
            self._search_plainly(decisions, Deadline(seconds), seed)
            search_check.tell_extent("move")

    def _search_plainly(
        self, decisions: list[tuple[int, PlainDecision]], deadline: Deadline, seed: int
    ) -> None:
        check = self.checks[PLAIN_SEARCH]
        shuffled = random.Random(seed).sample(decisions, len(decisions))
        with suppress(TimeIsUp):
            for game, decision in sorted(shuffled, key=lambda pair: pair[1].work):
                found = decision.differences(deadline)
                check.done += found is not None
                ply = decision.row.ply
                check.tell(f"game {game}, ply {ply}: {said}" for said in found or ())

    def _plain_agents(self) -> tuple[dict[int, SearchAgent], dict[str, str]]:
        """Return the agents whose decisions plain searches make, by number, and the reason why the
        others are none, by name."""
        agents: dict[int, SearchAgent] = {}
        left_out = {}
        for row in self._agents():
            try:
                agents[row.agent] = plain_search(self._player(row))
            except ValueError as error:
                left_out[row.name] = one_line(error)
        return agents, left_out


def _end(most: int | None, seconds: float) -> float:
    """Return the end of a check by the monotonic clock: none where its extent is given."""
    return time.monotonic() + seconds if most is None else math.inf


def _add(totals: dict[int, Counter[str]], game: GameRow) -> None:
    """Add a game to its agents' totals."""
    for agent, won, lost, nodes, moves in (
        (game.black, "black", "white", game.black_nodes, game.black_moves),
        (game.white, "white", "black", game.white_nodes, game.white_moves),
    ):
        ended = {won: "wins", lost: "losses"}.get(game.result, "draws")
        totals[agent].update(["games", ended])
        totals[agent]["forfeits"] += game.end_reason not in FAIR_ENDS and game.result == lost
        totals[agent].update({"nodes": nodes, "counted": moves})


# ---------------------------------------------------------------------- command


def _parser() -> Parser:
    parser = Parser(
        prog="othello-lab verify",
        description="Check whether what a run's record says is true: by the rules, by its "
        "schedule, and by playing its games again. The last line says how much was checked, and "
        "how likely that finds one falsehood. The record is only read.",
    )
    parser.add_argument("folder", type=Path, help="the run's folder, results/NAME/DATE")
    parser.add_argument(
        "--seconds",
        type=positive_seconds,
        default=30.0,
        help="time for playing games again, and as much for each other check by samples (30)",
    )
    parser.add_argument(
        "--games",
        type=whole_number(0),
        help="number of games to play again, regardless of the time (default: until time is up)",
    )
    parser.add_argument(
        "--decisions",
        type=whole_number(0),
        help="number of moves of other games for which to ask the lab's own agents again, "
        "regardless of the time (default: until the time is up)",
    )
    parser.add_argument(
        "--independent",
        action="store_true",
        help="check games and decisions also without the lab's kernels: by rules, minimax and "
        "solver in plain Python",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, help="of the choice of all these (1)"
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="run what the record names from outside the lab too, with your rights",
    )
    return parser


def verify_command(arguments: Sequence[str], console: Console) -> int:
    """``verify``: 0 where everything holds, 1 where something is wrong; ConfigError."""
    options = _parser().parse_args(arguments)
    check_single(options.folder)
    with reading(options.folder) as record:
        verification = RecordVerification(record, options.trust, options.independent)
        with console.status("reading"):
            verification.read()
        if verification.holds and not record.count_games():
            raise ConfigError(f"{options.folder}: no game of this run has ended yet")
        extent = options.games, options.decisions, options.seconds
        verification.again(*extent, options.seed)
        if options.independent:
            with console.status("checking in plain Python"):
                verification.independently(options.seconds, options.seed)
    return _show(verification.checks, options.folder, console)


def _show(checks: dict[str, _RecordCheck], folder: Path, console: Console) -> int:
    table = terminal_table()
    for heading in ("check", "holds", "of", "what, or why not"):
        table.add_column(heading, overflow="fold")
    for name, check in checks.items():
        skipped = not check.count and not (check.done if check.every else check.looked)
        holds = plain(f"{check.count:,} wrong", "bold red") if check.count else plain("yes")
        about = plain(_CHECKS[name] + (f" ({check.note})" if check.note else ""))
        row = (plain(name), plain("-") if skipped else holds, plain(check.looked), about)
        table.add_row(*row)
    console.print(table)
    wrong = 0
    for name, check in checks.items():
        wrong += check.count
        for finding in check.found:
            console.print(plain(f"{name}: {finding}"), soft_wrap=True)
        if check.count > len(check.found):
            more = check.count - len(check.found)
            console.print(plain(f"{name}: and {more:,} more"), soft_wrap=True)
    verdict = f"{wrong:,} things are wrong" if wrong > 1 else "one thing is wrong"
    verdict = verdict if wrong else "all of this holds"
    console.print(plain(f"{folder}: {'; '.join([verdict, *_powers(checks)])}"), soft_wrap=True)
    return 1 if wrong else 0


def _powers(checks: dict[str, _RecordCheck]) -> Iterator[str]:
    """Yield the extent of each check by samples in words."""
    for name, noun, how in (
        (REPLAYED, "game", "replayed"),
        (ASKED, "move", "of other games asked again"),
        (PLAIN_RULES, "game", "checked by the plain rules"),
        (PLAIN_SEARCH, "move", "checked by plain searches"),
    ):
        if name in checks and checks[name].every:
            yield checks[name].power(noun, how)
