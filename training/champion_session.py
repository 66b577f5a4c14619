"""The making of the champion, step by step, with a record of finished steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console

from othello_lab.agents.composing import load
from othello_lab.agents.config import build_agent, load_evaluation
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.agents.search.window.probcut_fit import fit
from othello_lab.core.position import Position
from othello_lab.core.system.escaping import plain
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.rows import RowMaker
from othello_lab.core.system.settings import ConfigError, one_line
from othello_lab.experiments.config import chosen
from othello_lab.experiments.jobs.job import LOG
from othello_lab.experiments.pairing import balanced
from othello_lab.experiments.playing.tasks import Tables, TaskResult
from othello_lab.experiments.record.log import logging_to
from othello_lab.experiments.studies.parts import play_part
from othello_lab.experiments.studies.study import Conclusion, RunRequest, changed
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.experiments.studies.study_session import StudySession
from othello_lab.training.champion import (
    NEW,
    OLD,
    PATTERNS,
    ChampionFiles,
    ChampionTraining,
)
from othello_lab.training.champion_report import concluded, errors_of_both
from othello_lab.training.data import Positions
from othello_lab.training.learned_files import PREFIX, player
from othello_lab.training.part import part_plan, train_part
from othello_lab.training.rounds import make_part
from othello_lab.training.shipping import ship_champion
from othello_lab.training.step_times import StepTimes
from othello_lab.training.training import CORES
from othello_lab.training.training_session import TrainingSession, signals_heeded


@dataclass(frozen=True)
class ChampionStep:
    """A step. key: its name in the record. about: its work, in words. make: does it, from its start
    or from where it was interrupted, and returns rows for the record, by table."""

    key: str
    about: str
    make: Callable[[], Tables]


class ChampionSession(StudySession):
    """One go at the champion."""

    @classmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        TrainingSession.first_look(_patterns(plan), console)

    def make(self) -> tuple[Mapping[str, Any], bool]:
        self._study, self._files = champion_of(self.plan), ChampionFiles(self.folder)
        self._times = StepTimes(self.folder)
        steps = self._steps()
        if not self.done():
            self._tell_plan(steps)
        level = self.settings.log_level
        with self.hint_after_interrupt(), signals_heeded(), logging_to(self.folder / LOG, level):
            for number, step in self.missing(steps):
                left = self._minutes_left(steps[number:], steps[:number])
                line = f"{self.plan.name}: step {number + 1} of {len(steps)}: {step.about}{left}"
                self.console.rule(plain(line), characters="=")
                with self._times.timed(step.key):
                    tables = step.make()
                minutes = self._times.minutes(step.key)
                row = {"step": step.about, "key": step.key, "minutes": minutes}
                self.record.add_pieces([TaskResult(number, {"steps": [row], **tables})])
        return self.tables(), True

    def conclude(self, found: Any) -> Conclusion:
        if self._study.ship and not self.concludes:
            ship_champion(self._files, self.say)
        return concluded(self._study, self._files, found)

    def _steps(self) -> list[ChampionStep]:
        return [
            ChampionStep("patterns", "self-play and weights of patterns", self._learn),
            ChampionStep("probcut", "ProbCut's parameters", self._fit),
            ChampionStep("openings", "balanced openings", self._balance),
            ChampionStep("held_out", "error of the weights on held-out games", self._compare),
            ChampionStep("solver", "the solver, sorting by the weights", self._solve),
            ChampionStep("match", "a match against the old champion", self._play),
        ]

    def _tell_plan(self, steps: Sequence[ChampionStep]) -> None:
        """Print the steps, with the minutes that each is expected to take."""
        for number, step in enumerate(steps, 1):
            minutes, time = self._study.minutes.get(step.key), ""
            if minutes is not None:
                amount = f"{minutes:g} minutes" if minutes >= 1 else f"{60 * minutes:.0f} s"
                time = f"  about {amount} on {CORES} cores"
            self.say(f"step {number}  {step.about}{time}")

    def _minutes_left(self, left: Sequence[ChampionStep], done: Sequence[ChampionStep]) -> str:
        """Return the time left in words. The expected times are stretched as the finished steps
        were."""
        expected = self._study.minutes
        before = sum(expected.get(step.key, 0.0) for step in done)
        spent = sum(self._times.minutes(step.key) for step in done)
        after = sum(expected.get(step.key, 0.0) for step in left)
        minutes = after * (spent / before if before else 1.0)
        minutes -= self._times.minutes(left[0].key)
        return f" (about {minutes:.0f} minutes left, on {CORES} cores)" if minutes >= 1 else ""

    def _base(self) -> Mapping[str, Any]:
        """Return the settings of the champion, as they are before."""
        settings: Mapping[str, Any] = next(iter(self.settings.agents.values()))
        return settings

    # ------------------------------------------------------------------ what is made

    def _learn(self) -> Tables:
        command = self.record.head()["command"]
        plan, folder = _patterns(self.plan), self._files.patterns
        train_part(plan, folder, command, self.console, self.options)
        return {}

    def _fit(self) -> Tables:
        study, evaluation = self._study, self._files.learned().built(self._files.patterns)
        evaluation.prepare(self.say)
        try:
            fit(
                evaluation,
                PATTERNS,
                study.probcut_depth,
                study.probcut_positions,
                self.settings.seed,
                self.record.head()["command"],
                RowMaker(self.console, self._files.rows("probcut")),
                glance=True,
                agent=self._base(),
            ).save(self._files.probcut)
        except ValueError as error:
            raise ConfigError(f"ProbCut's parameters: {one_line(error)}") from error
        build_agent(self._files.new_agent(self._base()), NEW)  # the match must not fail later
        name = self._files.write_agent(self._base())
        self.say(f"agent {name}: --config-dir {self._files.conf}")
        return {}

    def _balance(self) -> Tables:
        recipe = self._study.recipe
        trained = replace(recipe, evaluation=f"{PREFIX}{PATTERNS}")
        path = self.folder / f"balanced_{recipe.plies}.txt"
        found = balanced.make(
            trained,
            int(self.settings.executor.get("workers") or available_cores()),
            self.console,
            [self._files.patterns / "conf"],
            self._files.rows("openings"),
        )
        balanced.write(found, recipe, path)
        return {}

    # ------------------------------------------------------------------ what changed

    def _compare(self) -> Tables:
        study, files, depth = self._study, self._files, self._study.held_out_depth
        evaluations = {
            NEW: files.learned().settings(files.patterns),
            OLD: load("evaluation", PATTERNS),
        }
        asked = {
            "agents": {name: player("alphabeta", e, depth) for name, e in evaluations.items()},
            "games": study.held_out,
            "seed": self.settings.seed + 1,
            "openings": "balanced",
            "executor": self.settings.executor,
            "data": {"random_plies": [0, 0], "exact": 12},
        }
        make_part(asked, files.held_out, self.console)
        new, old = files.learned().built(files.patterns), load_evaluation(PATTERNS)
        positions = Positions.read([files.held_out])
        return {"errors": errors_of_both(new, old, positions, self.settings.seed)}

    def _solve(self) -> Tables:
        files, study = self._files, self._study
        positions = Positions.read([files.held_out])
        at = positions[positions.empties == study.endgame_empties]
        sample = at.sample(study.endgames, np.random.default_rng([self.settings.seed, 1]))
        masks = list(zip(sample.mover.tolist(), sample.opponent.tolist(), strict=True))
        solvers = [
            EndgameSolver(sorting=files.learned().weights_file(files.patterns).resolve()),
            EndgameSolver(),
        ]
        for solver in solvers:
            solver.prepare(self.say)
        make = RowMaker(self.console, files.rows("solver"))
        rows = make("solving", masks, partial(_solved, solvers))
        names = "nodes", "old_nodes"
        return {"solver": [dict(zip(names, row, strict=True)) for row in rows]}

    def _play(self) -> Tables:
        opponent = list(self.settings.agents.values())[1]
        agents = {NEW: self._files.new_agent(self._base()), OLD: opponent}
        settings = changed(self.settings, agents=agents, schedule=chosen("schedule", "round_robin"))
        asked, match = RunRequest(settings, "match"), self._files.match
        if not play_part(asked, match, self.plan.title, self.console, self.options):
            raise KeyboardInterrupt
        return {}


def champion_of(plan: StudyPlan) -> ChampionTraining:
    """The training of a plan."""
    assert isinstance(plan.study, ChampionTraining)
    return plan.study


def _patterns(plan: StudyPlan) -> StudyPlan:
    """Return the plan for training patterns, without matches: a later step plays one."""
    return part_plan(plan, PATTERNS, {"matches": False, **champion_of(plan).patterns})


def _solved(solvers: Sequence[EndgameSolver], masks: Sequence[tuple[int, int]]) -> Any:
    """Yield the nodes of each solver for each position."""
    for mover, opponent in masks:
        position = Position(mover, opponent)
        yield [solver.solve(position).stats.nodes for solver in solvers]
