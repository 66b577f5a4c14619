"""A training from end to end: a plan in, a folder with positions, weights, YAML, matches and report
out. It may be interrupted at any moment, and resumed."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from othello_lab.core.rules import Ruleset
from othello_lab.core.system.escaping import counted, plain
from othello_lab.core.system.files import make_folder
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import FIGURE_FILES, NO_FIGURES, RunConfig, chosen, settings_of
from othello_lab.experiments.jobs.kinds import TRAINING
from othello_lab.experiments.playing.tasks import Tables
from othello_lab.experiments.playing.trust import names_no_more
from othello_lab.experiments.record.reading import has_begun, reading
from othello_lab.experiments.record.store import FILE
from othello_lab.experiments.studies import study_session as studies
from othello_lab.experiments.studies.parts import play_part, rename_unfinished
from othello_lab.experiments.studies.study import Conclusion, RunRequest, changed
from othello_lab.experiments.studies.study_plan import StudyPlan, planned
from othello_lab.experiments.studies.study_session import RecordMaker, StudySession
from othello_lab.training.data import SPLITS, TRAIN, VALIDATION, Positions, needs_pyarrow
from othello_lab.training.learned_files import PREFIX, LearnedFigure, StepResult, player
from othello_lab.training.measuring import TrainingSteps, measure
from othello_lab.training.reporting import concluded
from othello_lab.training.rounds import check_rounds, make_round, parts_of, selfplay_settings
from othello_lab.training.shipping import ship
from othello_lab.training.steps import (
    STEPS,
    LearnStep,
    MatchStep,
    PlayStep,
    StepSession,
    TrainingStep,
    read,
    steps_of,
)
from othello_lab.training.training import (
    LearningResult,
    Training,
    TrainingContext,
    minutes_since,
    processor_seconds,
)

ROUNDS = "rounds"
"""The folder of positions that the training has made."""
SHARED = ("depth", "executor", "figures", "games", "limits", "results", "seed")
"""Settings of a run that a part has from the whole; the others are as its YAML has them."""
_VERSIONS = ("python", "numpy", "numba", "code")  # in the side file of weights
_FEWEST = 100  # positions to learn from
_LEAST_MINUTES = 0.02  # of learning, where what came before has used up the budget


class TrainingSession(StepSession):
    """One go at a training."""

    @classmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        training = training_of(plan)
        if training.needs_positions and not training.data and not training.rounds:
            raise ConfigError("train.data=[...] or train.rounds is needed: what to learn from")
        player(training.player, {}, plan.plan.settings.depth)
        check_rounds(training.rounds)
        if training.curve:
            _ladder(training, plan.plan.settings)
        if training.data or training.rounds:
            needs_pyarrow()
        if training.data:
            positions = Positions.read(
                training.data, training.partly, lambda line: console.print(plain(line))
            )
            _enough(positions, plan.plan.rules)

    def steps(self) -> Sequence[TrainingStep]:
        self._training = training_of(self.plan)
        self._steps = steps_of(self.plan.name, self._training)
        self._learned = [step for step in self._steps if isinstance(step, LearnStep)]
        self._read: dict[tuple[str, ...], Positions] = {}
        return self._steps

    def do(self, step: TrainingStep) -> Tables:
        if isinstance(step, PlayStep):
            return self._play(step)
        if isinstance(step, LearnStep):
            return self._learn(step)
        assert isinstance(step, MatchStep)
        request = RunRequest(self._match(step), step.about)
        folder, title = self.folder / step.key, self.plan.title
        if not play_part(request, folder, title, self.console, self.options):
            raise KeyboardInterrupt
        return {}

    def conclude(self, tables: Any) -> Conclusion:
        steps = self._results(tables[STEPS])
        measured = measure(steps, self.folder, self.settings.seed)
        if not self.concludes:
            shipped = bool(steps.final.about.get("shipped"))
            facts = {"scores": measured.scores, "shipped": shipped or self._training.ship}
            result = steps.final.described(self.folder, **facts)
            if self._training.ship and not shipped:
                ship(self.plan.name, result, self.folder, self.say)
        return concluded(self.plan.name, self._training, self.settings, steps, measured)

    # ------------------------------------------------------------------ steps

    def _play(self, step: PlayStep) -> Tables:
        trained = None
        if step.trained is not None:
            trained = StepResult.read(self.folder, step.trained).settings(self.folder)
        seed = self.settings.seed + self._steps.index(step)
        settings = selfplay_settings(
            step.settings, step.key, seed, self._training.player, trained, self.settings
        )
        began, before = processor_seconds(), self.minutes(step)
        folder = self.folder / ROUNDS / step.key
        minutes = None if step.minutes is None else step.share * self._left(step, step.minutes)
        make_round(settings, folder, self.console, minutes, lambda: before + minutes_since(began))
        return {STEPS: [{"positions": len(Positions.read(parts_of(folder)))}]}

    def _learn(self, step: LearnStep) -> Tables:
        training, figures = self._training, self.settings.figures
        positions = self._positions(step.rounds) if training.needs_positions else None
        minutes = step.minutes
        if minutes is not None and step.until:
            minutes = self._left(step, minutes)
        work = TrainingContext(
            self.folder / step.folder,
            self.settings.seed,
            positions,
            minutes,
            self.plan.plan,
            self.console,
            self.plan.name,
        )
        with closing(work), self.plan.refusals():
            learned = training.learn(work)
        weights, facts = learned.weights, self._provenance(positions, learned)
        drawn = step is self._learned[-1] and figures != NO_FIGURES
        result = StepResult(
            label=step.key,
            evaluation=learned.evaluation,
            kind=weights.kind if weights else None,
            version=weights.version if weights else None,
            unit=weights.unit if weights else learned.unit,
            minutes=work.spent,
            findings=learned.findings,
            tables=learned.tables,
            figures=self._drawn(learned, figures == FIGURE_FILES) if drawn else (),
            history=work.history,
            about=facts,
        )
        if weights is not None:
            weights = dataclasses.replace(weights, about={**weights.about, **facts})
        result.write(self.folder, weights)
        return {} if positions is None else {STEPS: [{"positions": len(positions)}]}

    def _match(self, step: MatchStep) -> RunConfig:
        """The settings of a run that measures."""
        training, settings, agents = self._training, self.settings, {}
        for label in step.labels:
            evaluation = StepResult.read(self.folder, label).settings(self.folder)
            agents[PREFIX + label] = player(training.player, evaluation, settings.depth)
        if step.curve:
            pool = agents | _ladder(training, settings)
            return changed(settings, agents=pool, schedule=chosen("schedule", "round_robin"))
        schedule = chosen("schedule", {"kind": "gauntlet", "champion": next(iter(agents))})
        return changed(settings, agents=agents | settings.agents, schedule=schedule)

    # ------------------------------------------------------------------ what steps need

    def _positions(self, rounds: Sequence[str]) -> Positions:
        """Return the positions of the training's data, or of these rounds."""
        training, key = self._training, tuple(rounds)
        if key not in self._read:
            self._read.clear()
            parts = [part for name in rounds for part in parts_of(self.folder / ROUNDS / name)]
            positions = Positions.read(training.data or parts, training.partly, self.say)
            self._read[key] = _enough(positions, self.plan.plan.rules)
        return self._read[key]

    def _left(self, step: TrainingStep, stop: float) -> float:
        """Minutes, on two cores, that the steps before this one have left until a stop."""
        return max(_LEAST_MINUTES, stop - sum(map(self.minutes, self._before(step))))

    def _before(self, step: TrainingStep) -> Sequence[TrainingStep]:
        return self._steps[: self._steps.index(step)]

    def _provenance(self, positions: Positions | None, learned: LearningResult) -> dict[str, Any]:
        """Return the provenance of the weights, for their side file."""
        head = self.record.head()
        # The folder of the results is of no use to others.
        words = (w for w in shlex.split(head["command"]) if not w.startswith("results="))
        facts = {
            "training": self.plan.name,
            "command": shlex.join(words),
            "seed": self.settings.seed,
            "made": head["started"],
            "versions": {name: head["versions"][name] for name in _VERSIONS},
            "settings": dict(self.plan.described),
        }
        if positions is not None:
            facts |= {"data_hash": positions.data_hash, "positions": len(positions)}
        return facts | dict(learned.about)

    def _drawn(self, learned: LearningResult, files: bool) -> list[LearnedFigure]:
        """The training's own figures, drawn now."""
        # Loading seaborn takes a second, which a training without figures does not need.
        from othello_lab.experiments.report.figures.drawing import draw_figures

        with self.console.status("drawing figures"):
            figures = draw_figures(learned.figures(), self.folder, files)
        return [
            LearnedFigure(drawn.name, drawn.title, drawn.caption, drawn.svg) for drawn in figures
        ]

    # ------------------------------------------------------------------ results

    def _results(self, rows: pd.DataFrame) -> TrainingSteps:
        """Return what the steps have made. rows: of the record."""
        played = [step for step in self._steps if isinstance(step, PlayStep)]
        examined = None
        if self._training.data or played:
            rounds = self._learned[-1].rounds or [step.key for step in played]
            examined = self._positions(rounds)
        snapshots, spent = {}, {}
        for step in self._learned:
            if step.mark is not None:
                snapshots[step.mark] = StepResult.read(self.folder, step.key)
                # Without rounds, each stop is learned from the same positions anew.
                whole = step.until or self._training.goes_on
                steps = [*self._before(step), step] if whole else [step]
                spent[step.mark] = sum(map(self.minutes, steps))
        runs = {
            step.curve: self.folder / step.key
            for step in self._steps
            if isinstance(step, MatchStep)
        }
        final = StepResult.read(self.folder, self._learned[-1].key)
        return TrainingSteps(
            final, snapshots, spent, examined, runs.get(False), runs.get(True), rows
        )


def _enough(positions: Positions, rules: Ruleset) -> Positions:
    """The positions, if they can be learned from; ConfigError."""
    if positions.side != rules.side:
        raise ConfigError(
            f"the positions are of a board of {positions.side}x{positions.side}; ruleset "
            f"{rules.name} is {rules.side}x{rules.side}"
        )
    for part, needed in ((TRAIN, _FEWEST), (VALIDATION, 1)):
        if (count := int((positions.split == part).sum())) < needed:
            raise ConfigError(
                f"{counted(count, 'position')} for {SPLITS[part]}, where {needed} or more are "
                "needed: more games"
            )
    return positions


def training_of(plan: StudyPlan) -> Training:
    """The training of a plan."""
    assert isinstance(plan.study, Training)
    return plan.study


def _ladder(training: Training, settings: RunConfig) -> dict[str, Any]:
    """The agents that a learning curve is measured against; ConfigError."""
    return settings_of([f"agents={training.ladder}", f"depth={settings.depth}"]).agents


ROOMS = {"studies": Path(studies.__file__).parent, "training": Path(__file__).parent}
TRAININGS = RecordMaker(TRAINING, Training, lambda plan: TrainingSession, ROOMS)


# ---------------------------------------------------------------------- as a part


def part_plan(whole: StudyPlan, name: str, changes: Mapping[str, Any]) -> StudyPlan:
    """Return the plan of the training of this name as a part of something larger. Raises
    ConfigError.

    changes: settings of learning that differ from its YAML.
    """
    alone = read(name, ())
    shared = {key: getattr(whole.plan.settings, key) for key in SHARED}
    settings = changed(alone.plan.settings, name=name, **shared)
    return planned(name, dict(alone.described) | dict(changes), settings, TRAINING, Training)


def train_part(whole: StudySession, plan: StudyPlan, folder: Path) -> None:
    """Train in this folder, or continue the training there. Raises KeyboardInterrupt."""
    if has_begun(folder):
        with reading(folder, TRAINING.word) as record:
            named = names_no_more(record.head()["config"], plan.as_data)
        options = dataclasses.replace(whole.options, trust=whole.options.trust or named)
        command = "part of a larger training"
        studies.resume(folder, command, whole.console, options, TRAININGS)
        return
    if (folder / FILE).exists():
        rename_unfinished(folder)
    make_folder(folder)
    studies.study(plan, whole.record.head()["command"], whole.console, folder, TRAININGS)
