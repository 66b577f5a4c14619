"""A training from end to end: a plan in, a folder with positions, weights, YAML, matches and report
out. It may be interrupted at any moment, and resumed: each step that is done stays done."""

from __future__ import annotations

import dataclasses
import shlex
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from othello_lab.core.rules import Ruleset
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import FIGURE_FILES, NO_FIGURES, RunConfig, chosen, settings_of
from othello_lab.experiments.jobs.job import LOG
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.jobs.stopping import signals_handled
from othello_lab.experiments.playing.tasks import TaskResult
from othello_lab.experiments.record.log import logging_to
from othello_lab.experiments.studies import study_session as studies
from othello_lab.experiments.studies.parts import play_part
from othello_lab.experiments.studies.study import Conclusion, RunRequest, changed
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.experiments.studies.study_session import RecordMaker, StudySession
from othello_lab.training.data import SPLITS, TRAIN, VALIDATION, Positions, needs_pyarrow
from othello_lab.training.learned_files import PREFIX, LearnedFigure, StepResult, player
from othello_lab.training.measuring import TrainingSteps, measure
from othello_lab.training.reporting import concluded
from othello_lab.training.rounds import make_round, parts_of, rounds_checked, selfplay_settings
from othello_lab.training.shipping import ship
from othello_lab.training.step_times import StepTimes
from othello_lab.training.steps import LearnStep, MatchStep, PlayStep, TrainingStep, steps_of
from othello_lab.training.training import (
    LearningResult,
    Training,
    TrainingContext,
    minutes_since,
    processor_seconds,
)

ROUNDS = "rounds"
"""The folder of positions that the training has made."""
TOLD_VERSIONS = ("python", "numpy", "numba", "code")
"""What the side file of weights says of versions."""
FEWEST = 100
"""Positions to learn from."""
LEAST_MINUTES = 0.02
"""Of learning, where what came before has used up the budget."""


class TrainingSession(StudySession):
    """One go at a training."""

    @classmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        training = training_of(plan)
        if training.needs_positions and not training.data and not training.rounds:
            raise ConfigError("train.data=[...] or train.rounds is needed: what to learn from")
        player(training.player, {}, plan.plan.settings.depth)
        rounds_checked(training.rounds)
        if training.curve:
            ladder_of(training, plan.plan.settings)
        if training.data or training.rounds:
            needs_pyarrow()
        if training.data:
            told = Positions.read(
                training.data, training.partly, lambda line: console.print(plain(line))
            )
            enough(told, plan.plan.rules)

    def make(self) -> tuple[TrainingSteps, bool]:
        self._steps = steps_of(self.plan.name, training_of(self.plan))
        self._read: dict[tuple[str, ...], Positions] = {}
        level = self.plan.plan.settings.log_level
        with self.hint_after_interrupt(), signals_heeded(), logging_to(self.folder / LOG, level):
            for number, step in self.missing(self._steps):
                line = f"{self.plan.name}: step {number + 1} of {len(self._steps)}: {step.about}"
                self.console.rule(plain(line))
                with StepTimes(self.folder).timed(step.key):
                    row = self._do(step)
                about = {"step": step.about, "minutes": self._minutes(step), **row}
                self.record.add_pieces([TaskResult(number, {"steps": [about]})])
            return self._found(), True

    def conclude(self, found: Any) -> Conclusion:
        training, settings = training_of(self.plan), self.plan.plan.settings
        measured = measure(found, self.folder, settings.seed)
        if not self.concludes:
            shipped = bool(found.final.about.get("shipped"))
            about = {"scores": measured.scores, "shipped": shipped or training.ship}
            kept = found.final.told(self.folder, **about)
            if training.ship and not shipped:
                ship(self.plan.name, kept, self.folder, self.say)
        return concluded(self.plan.name, training, settings, found, measured)

    # ------------------------------------------------------------------ steps

    def _do(self, step: TrainingStep) -> dict[str, Any]:
        """Do a step; return its row of the record."""
        if isinstance(step, PlayStep):
            return self._play(step)
        if isinstance(step, LearnStep):
            return self._learn(step)
        assert isinstance(step, MatchStep)
        folder, title = self.folder / step.key, self.plan.title
        asked = RunRequest(self._match(step), step.about)
        if not play_part(asked, folder, title, self.console, self.options):
            raise KeyboardInterrupt
        return {}

    def _play(self, step: PlayStep) -> dict[str, Any]:
        training, settings = training_of(self.plan), self.plan.plan.settings
        trained = None
        if step.trained is not None:
            trained = StepResult.read(self.folder, step.trained).settings(self.folder)
        number = [each.key for each in self._steps].index(step.key)
        made = selfplay_settings(
            step.settings, step.key, settings.seed + number, training.player, trained, settings
        )
        began, before = processor_seconds(), self._minutes(step)
        folder = self._round(step.key)
        minutes = None if step.minutes is None else step.share * self._left(step, step.minutes)
        make_round(made, folder, self.console, minutes, lambda: before + minutes_since(began))
        return {"positions": len(Positions.read(parts_of(folder)))}

    def _learn(self, step: LearnStep) -> dict[str, Any]:
        training, settings = training_of(self.plan), self.plan.plan.settings
        positions = self._positions(step.rounds) if training.needs_positions else None
        work = TrainingContext(
            self.folder / step.folder,
            settings.seed,
            positions,
            self._budget(step),
            self.plan.plan,
            self.console,
            self.plan.title,
            self.options,
        )
        learned = training.learn(work)
        weights, about = learned.weights, self._made_of(positions, learned)
        last = step is [each for each in self._steps if isinstance(each, LearnStep)][-1]
        kept = StepResult(
            label=step.key,
            evaluation=learned.evaluation,
            kind=weights.kind if weights else None,
            version=weights.version if weights else None,
            unit=weights.unit if weights else learned.unit,
            minutes=work.spent,
            findings=learned.findings,
            tables=learned.tables,
            figures=self._drawn(learned) if last and settings.figures != NO_FIGURES else (),
            history=work.history,
            about=about,
        )
        if weights is not None:
            weights = dataclasses.replace(weights, about={**weights.about, **about})
        kept.write(self.folder, weights)
        return {} if positions is None else {"positions": len(positions)}

    # ------------------------------------------------------------------ what steps need

    def _match(self, step: MatchStep) -> RunConfig:
        """The settings of a run that measures."""
        training, settings = training_of(self.plan), self.plan.plan.settings
        agents = {
            PREFIX + label: StepResult.read(self.folder, label).player(
                self.folder, training.player, settings.depth
            )
            for label in step.labels
        }
        if step.curve:
            pool = agents | ladder_of(training, settings)
            return changed(settings, agents=pool, schedule=chosen("schedule", "round_robin"))
        schedule = chosen("schedule", {"kind": "gauntlet", "champion": next(iter(agents))})
        return changed(settings, agents=agents | settings.agents, schedule=schedule)

    def _round(self, key: str) -> Path:
        return self.folder / ROUNDS / key

    def _positions(self, rounds: Sequence[str]) -> Positions:
        """Return the positions of the training's data, or of these rounds."""
        training, key = training_of(self.plan), tuple(rounds)
        if key not in self._read:
            self._read.clear()
            made = [part for each in rounds for part in parts_of(self._round(each))]
            found = Positions.read(training.data or made, training.partly, self.say)
            self._read[key] = enough(found, self.plan.plan.rules)
        return self._read[key]

    def _budget(self, step: LearnStep) -> float | None:
        """Minutes of learning, on two cores; None without bound."""
        if step.minutes is None or not step.until:
            return step.minutes
        return self._left(step, step.minutes)

    def _left(self, step: TrainingStep, stop: float) -> float:
        """Minutes, on two cores, that the steps before this one have left until a stop."""
        before = self._steps[: self._steps.index(step)]
        return max(LEAST_MINUTES, stop - sum(self._minutes(each) for each in before))

    def _made_of(self, positions: Positions | None, learned: LearningResult) -> dict[str, Any]:
        """Return the provenance of the weights, for their side file."""
        head = self.record.head()
        about = {
            "training": self.plan.name,
            "command": _from_anywhere(head["command"]),
            "seed": self.plan.plan.settings.seed,
            "made": head["started"],
            "versions": {name: head["versions"][name] for name in TOLD_VERSIONS},
            "settings": dict(self.plan.described),
        }
        if positions is not None:
            about |= {"data_hash": positions.data_hash, "positions": len(positions)}
        return about | dict(learned.about)

    def _drawn(self, learned: LearningResult) -> list[LearnedFigure]:
        """The training's own figures, drawn now."""
        # Loading seaborn takes a second, which a training without figures does not need.
        from othello_lab.experiments.report.figures.drawing import draw_figures

        with self.console.status("drawing figures"):
            files = self.plan.plan.settings.figures == FIGURE_FILES
            figures = draw_figures(learned.figures(), self.folder, files)
        return [LearnedFigure(each.name, each.title, each.caption, each.svg) for each in figures]

    # ------------------------------------------------------------------ what has come of it

    def _found(self) -> TrainingSteps:
        training = training_of(self.plan)
        learned = [step for step in self._steps if isinstance(step, LearnStep)]
        played = [step for step in self._steps if isinstance(step, PlayStep)]
        examined = None
        if training.data or played:
            examined = self._positions(learned[-1].rounds or [step.key for step in played])
        snapshots, spent = {}, {}
        for step in learned:
            if step.mark is not None:
                snapshots[step.mark] = StepResult.read(self.folder, step.key)
                spent[step.mark] = self._spent(step)
        runs = {
            step.curve: self.folder / step.key
            for step in self._steps
            if isinstance(step, MatchStep)
        }
        return TrainingSteps(
            StepResult.read(self.folder, learned[-1].key),
            snapshots,
            spent,
            examined,
            runs.get(False),
            runs.get(True),
            self.tables()["steps"].to_dict("records"),
        )

    def _spent(self, step: LearnStep) -> float:
        """Return the minutes behind a result: of all steps up to it, or its own if each stop of a
        learning curve is learned from the same positions anew."""
        if not (step.until or training_of(self.plan).goes_on):
            return self._minutes(step)
        steps = self._steps[: self._steps.index(step) + 1]
        return sum(map(self._minutes, steps))

    def _minutes(self, step: TrainingStep) -> float:
        return StepTimes(self.folder).minutes(step.key)


def enough(positions: Positions, rules: Ruleset) -> Positions:
    """The positions, if they can be learned from; ConfigError."""
    if positions.side != rules.side:
        raise ConfigError(
            f"the positions are of a board of {positions.side}x{positions.side}; ruleset "
            f"{rules.name} is {rules.side}x{rules.side}"
        )
    for part, needed in ((TRAIN, FEWEST), (VALIDATION, 1)):
        if (there := int((positions.split == part).sum())) < needed:
            raise ConfigError(
                f"{counted(there, 'position')} for {SPLITS[part]}, where {needed} or more are "
                "needed: more games"
            )
    return positions


def training_of(plan: StudyPlan) -> Training:
    """The training of a plan."""
    assert isinstance(plan.study, Training)
    return plan.study


def ladder_of(training: Training, settings: RunConfig) -> dict[str, Any]:
    """The agents that a learning curve is measured against; ConfigError."""
    return settings_of([f"agents={training.ladder}", f"depth={settings.depth}"]).agents


@contextmanager
def signals_heeded() -> Iterator[None]:
    """Within it a closed terminal and SIGTERM end the work as Ctrl-C does."""

    def handle(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with signals_handled(handle, signal.SIGTERM, signal.SIGHUP):
        yield


ROOMS = {"studies": Path(studies.__file__).parent, "training": Path(__file__).parent}
TRAININGS = RecordMaker(TRAINING, Training, lambda plan: TrainingSession, ROOMS)


def _from_anywhere(command: str) -> str:
    """Return a command without the folder of its results, of no use to others."""
    words = shlex.split(command)
    return shlex.join(word for word in words if not word.startswith("results="))
