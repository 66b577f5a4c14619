"""Positions of a study: from games of a run, or from openings that are played out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from othello_lab.agents.config import build
from othello_lab.agents.evaluation import DiscCount, Evaluation
from othello_lab.agents.search import AlphaBeta
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset, ruleset
from othello_lab.core.system.compile import Announce
from othello_lab.core.system.settings import ConfigError, Switch, Text, Whole
from othello_lab.experiments.config import Plan
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.record.store import FILE, Record
from othello_lab.experiments.report.late_moves import chosen_moves
from othello_lab.experiments.studies.study import PositionStudy

PHASES = ("opening", "midgame", "endgame")
"""The first, second and last third of the moves of a game."""
PLAYED_OUT = 3
"""Plies that both sides look ahead where openings are played out."""

_POSITIONS, _GAMES = 4, 5  # keep random numbers apart, and from those of runs


class SampledPosition(NamedTuple):
    """A position of a study, as plain data.

    ruleset: by name. opening: the opening of its game, the independent unit. phase: see PHASES.
    line: the position in OBF.
    """

    ruleset: str
    opening: str
    phase: str
    line: str

    @classmethod
    def of(cls, opening: str, position: Position) -> SampledPosition:
        """A position that a game from this opening came to."""
        return cls(position.ruleset.name, opening, phase_of(position), position.to_obf())

    @property
    def position(self) -> Position:
        """The position itself."""
        return Position.from_obf(self.line, ruleset(self.ruleset))

    def columns(self) -> dict[str, Any]:
        """Its columns in a table."""
        return {"opening": self.opening, "phase": self.phase, "empties": self.position.empties}


def phase_of(position: Position) -> str:
    """Return the third of a game's moves in which a position lies."""
    moves = position.ruleset.squares - 4
    made = moves - position.empties
    return PHASES[min(2, max(0, 3 * made // moves))]


@dataclass(frozen=True, kw_only=True)
class StudyOfRun(PositionStudy):
    """A study whose positions may come from the games of a run, that in the folder ``run``."""

    run: Annotated[str | None, Text(r".+", "the folder of a run")] = None

    def run_folder(self) -> Path | None:
        if self.run is None:
            return None
        if not (Path(self.run) / FILE).is_file():
            raise ConfigError(f"study.run={self.run}: there is no run in that folder")
        return Path(self.run)


class JudgedRun(NamedTuple):
    """The run whose moves a study judges.

    agents: their settings, by name. selective: True for agents that search so, by name. details:
    facts for the report, where they are not the plan's.
    """

    agents: Mapping[str, Mapping[str, Any]]
    selective: Mapping[str, bool]
    rules: Ruleset
    details: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class RecordedStudy(StudyOfRun):
    """A study of the moves in a run's games.

    run: the folder of a run whose moves are judged; None: the line-up plays first (agents=...,
    games=...).
    """

    asks_agents = False

    def needs_run(self, plan: Plan) -> bool:
        return self.run is None

    def judged_run(self, plan: Plan) -> JudgedRun:
        """Return the run that is judged: that of the folder, or the plan's."""
        if (folder := self.run_folder()) is None:
            selective = {name: agent.selective for name, agent in plan.agents.items()}
            return JudgedRun(plan.settings.agents, selective, plan.rules, {})
        with reading(folder) as record:
            head = record.head()
            selective = dict(record.rows("select name, selective from agents"))
        rules = ruleset(head["ruleset"])
        details = {"games of": str(folder), "ruleset": rules.name}
        return JudgedRun(head["config"]["agents"], selective, rules, details)


@dataclass(frozen=True, kw_only=True)
class SampledStudy(StudyOfRun):
    """A study of a sample of positions, some of each phase.

    run: the folder of a run with games to take positions from; None: from openings (openings=...).
    play_out: play the openings out by a shallow search, and take the positions from these games;
    false: the positions are the openings' own, such as those of a file (openings=file). positions:
    positions of each phase of the game (opening, midgame, endgame), no two from the same game.
    """

    play_out: Annotated[bool, Switch()] = True
    positions: Annotated[int, Whole(1)] = 10

    def prepare(self, plan: Plan, announce: Announce) -> None:
        if self.run is None and self.play_out:
            _player(plan).prepare(announce)

    def sampled(self, plan: Plan, record: Record | None, empties: int) -> list[SampledPosition]:
        """Return up to ``positions`` of each phase with more than ``empties`` empty squares and a
        legal move, all distinct, no two of a phase from the same game; drawn with the seed of the
        plan. Raises ValueError if there are none."""
        if record is not None:
            games = recorded(record, plan.rules, plan.settings.seed)
        elif self.play_out:
            games = played_out(plan, self.positions)
        else:
            games = suite(plan, len(PHASES) * self.positions)
        rng = np.random.default_rng([plan.settings.seed, _POSITIONS])
        sample: dict[Position, SampledPosition] = {}
        wanted = dict.fromkeys(PHASES, self.positions)
        for opening, positions in games:
            for phase in PHASES:
                fresh = [
                    position
                    for position in positions
                    if (phase_of(position) == phase and position.empties > empties)
                    and (position.moves and position not in sample)
                ]
                if fresh and wanted[phase]:
                    one = fresh[int(rng.integers(len(fresh)))]
                    sample[one] = SampledPosition.of(opening, one)
                    wanted[phase] -= 1
            if not any(wanted.values()):
                break
        if not sample:
            where = f"the games of {self.run}" if self.run else f"openings of {plan.openings.text}"
            raise ValueError(f"no positions with more than {empties} empty squares in {where}")
        return sorted(sample.values(), key=lambda position: PHASES.index(position.phase))


Game = tuple[str, list[Position]]
"""The opening of a game, as text, and all positions after it in which somebody was asked."""


def recorded(record: Record, rules: Ruleset, seed: int) -> Iterator[Game]:
    """The games of a record in an order drawn with ``seed``. Raises ValueError if they are of
    another ruleset."""
    if (played := record.head()["ruleset"]) != rules.name:
        raise ValueError(f"the run's games are of ruleset {played}; ruleset={played} is needed")
    numbers = [game for (game,) in record.rows("select game from games order by game")]
    for number in np.random.default_rng([seed, _GAMES]).permutation(numbers):
        ((text, transcript),) = record.rows(
            "select opening, transcript from games where game = ?", [int(number)]
        )
        made = chosen_moves(rules, text, transcript, choices=1)
        yield text, [position for _, position, _ in made]


def suite(plan: Plan, count: int) -> Iterator[Game]:
    """The positions of openings of the plan alone, as if they were games."""
    for opening in plan.openings.find(count, plan.rules, plan.settings.seed)[:count]:
        yield opening.text, [opening.reach(plan.rules)]


def played_out(plan: Plan, count: int) -> Iterator[Game]:
    """Return games from openings of the plan, played PLAYED_OUT plies deep by alpha-beta with the
    plan's heuristic (with the disc count on boards that it is not made for); ``count``, or fewer if
    there are fewer openings."""
    player = _player(plan)
    for opening in plan.openings.find(count, plan.rules, plan.settings.seed)[:count]:
        position, reached = opening.reach(plan.rules), []
        while not position.is_over:
            if position.moves:
                reached.append(position)
            position = position.play(player.search(position).move)
        yield opening.text, reached


def _player(plan: Plan) -> AlphaBeta:
    heuristic = build(plan.settings.evaluation, "evaluation", Evaluation)
    return AlphaBeta(PLAYED_OUT, heuristic if plan.rules.side in heuristic.sides else DiscCount())
