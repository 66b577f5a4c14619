"""Trainings: studies that learn, from positions or from games of their own.

A training is an object named by its ``_target_`` in ``conf/train/NAME.yaml``, as studies are: a
dataclass with its settings as fields. ``Annotated`` declares their ranges
(:mod:`core.system.settings`), and ``train.KEY=VALUE`` sets them on the command line. All else
(agents, ruleset, openings, executor, limits, seed, depth, games, figures) is as in
``conf/run.yaml``: the matches that measure the result.

The session makes or reads the positions, hands the training a :class:`TrainingContext`, writes the
result as weights and YAML that any run can use, and measures it. A training only learns::

    @dataclass(frozen=True, kw_only=True)
    class Mine(Training):
        steps: Annotated[int, Whole(1)] = 100

        def learn(self, work: TrainingContext) -> LearningResult:
            train = work.positions.part(TRAIN)
            state = work.load_checkpoint("weights") or {"weights": np.zeros(64), "step": 0}
            with work.progress("learning", self.steps, state["step"]) as progress:
                for step in range(state["step"], self.steps):
                    if work.over:
                        break
                    weights, loss = better(state["weights"], train)
                    work.finite("weights", weights, f"step {step}")
                    work.note(step=step, loss=loss)
                    state = {"weights": weights, "step": step + 1}
                    work.save_checkpoint("weights", state)
                    progress.advance()
            weights = LearnedWeights("mine", 1, 100, {"weights": state["weights"]})
            return LearningResult({"_target_": "..."}, weights)
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, TypeVar

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from othello_lab.core.system.escaping import plain
from othello_lab.core.system.files import make_folder
from othello_lab.core.system.processes import descendants
from othello_lab.core.system.settings import (
    Constraint,
    Each,
    Number,
    SettingError,
    Switch,
    Text,
    Whole,
    explained,
)
from othello_lab.experiments.config import Plan, chosen
from othello_lab.experiments.jobs.replan import ResumeOptions
from othello_lab.experiments.jobs.stopping import RunStopped
from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.playing.tasks import Tables, Task, WorkerContext
from othello_lab.experiments.playing.usage import cpu_time
from othello_lab.experiments.studies.parts import play_part
from othello_lab.experiments.studies.study import PlayedRun, RunRequest, Study, changed
from othello_lab.training.checkpoints import read_state, write_state

if TYPE_CHECKING:
    from othello_lab.agents.evaluation import Evaluation
    from othello_lab.agents.learned.weights import LearnedWeights
    from othello_lab.experiments.report.figures.drawing import ReportFigure
    from othello_lab.training.data import Positions

__all__ = ["LearningResult", "NotFinite", "Training", "TrainingContext"]

TRAINED = "trained"
"""The agent of a round that plays with what was learned from the rounds before."""
CORES = 2
"""Minutes of training are those of so many cores: a minute is two minutes of processor time."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class NotFinite(RunStopped):
    """Something that is being learned is no finite number any more."""


@dataclass(frozen=True, eq=False)
class LearningResult:
    """The result of a training.

    evaluation: the settings, with ``_target_``, to build it in a run. Weights are written to a
    file, and its path is added as ``weights``. weights: to be kept in a file, None if the settings
    are enough. unit: the value of one disc; None if values have no such unit, and it is estimated
    from the positions. findings: of the learning, sentences computed from numbers. tables: for
    terminal and report. figures: makes the figures of the report, called once, right after learning
    and only if the user wants figures; it imports its libraries itself. about: further facts, for
    the report and the weights' side file: plain data.
    """

    evaluation: Mapping[str, Any]
    weights: LearnedWeights | None = None
    unit: float | None = 100
    findings: Sequence[str] = ()
    tables: Sequence[ResultTable] = ()
    figures: Callable[[], Iterable[ReportFigure]] = tuple
    about: Mapping[str, Any] = field(default_factory=dict)


def disc_worth_figures(
    evaluation: Evaluation, positions: Positions, unit: float
) -> Iterator[ReportFigure]:
    """Yield the figure of a disc's worth, for :class:`LearningResult`. unit: value of a disc."""
    from othello_lab.training.drawing import disc_worth_figure  # which takes long to load

    yield disc_worth_figure(evaluation, positions, unit)


class RoundSettings(Constraint):
    """Rounds of self-play by name, each a mapping of settings."""

    needed = "settings of selfplay by name of the round"

    def allows(self, value: object) -> bool:
        return isinstance(value, Mapping) and all(isinstance(v, Mapping) for v in value.values())


@dataclass(frozen=True, kw_only=True)
class TrainingStudy(Study):
    """A study for the command ``train``: a training, or several."""


@explained
@dataclass(frozen=True, kw_only=True)
class Training(TrainingStudy, ABC):
    """A training with its settings. Raises ValueError for settings that are not allowed.

    needs_positions: True if it learns from positions; otherwise it makes its own experience.
    goes_on: True if with more minutes it continues its state, as one that plays itself does;
        otherwise each stop of a learning curve is learned from the beginning, from more positions.
    """

    needs_positions: ClassVar[bool] = True
    goes_on: ClassVar[bool] = False
    UNFILLED: ClassVar[tuple[str, ...]] = ()
    """Settings of all trainings; a composed configuration has only those that somebody set."""

    data: Annotated[list[str] | None, Each(Text(r".+", "a file or folder of positions"))] = None
    """Files or folders of positions to learn from (othello-lab selfplay makes such);
    without, the rounds are played first."""
    partly: Annotated[bool, Switch()] = False
    """Whether of damaged files of positions the rest is used."""
    rounds: Annotated[Mapping[str, Any], RoundSettings()] = field(default_factory=dict)
    """Rounds of self-play that are made first, by name: each with settings of selfplay. The agent
    "trained" of a later round is the player with what was learned from the rounds before."""
    recent: Annotated[int | None, Whole(1)] = None
    """How many rounds are learned from, the latest ones; None: all. Those who played the first
    rounds had learned little, and their games say less."""
    minutes: Annotated[float | None, Number(above=0)] = None
    """Of learning, on two cores (processor time); None: to its end."""
    curve: Annotated[list[float], Each(Number(above=0))] = field(default_factory=list)
    """Minutes on two cores at each of which what was learned until then is kept, and all of them
    measured: the learning curve. Rounds then last for minutes, each up to twice the time of all
    before it, as the rounds say in their order; the last of them is repeated."""
    playing: Annotated[float, Number(0, 0.95)] = 0.6
    """Of a learning curve, how much self-play takes of the minutes that are left until a stop."""
    player: Annotated[str, Text(r".+", "an agent")] = "alphabeta"
    """The agent (of conf/agent) that plays with what was learned, in measuring and in rounds."""
    matches: Annotated[bool, Switch()] = True
    """Whether it is measured by matches against the agents of the run's line-up."""
    ladder: Annotated[str, Text(r".+", "a line-up")] = "ladder"
    """The line-up (of conf/agents) that the stops of a learning curve are measured against."""
    ship: Annotated[bool, Switch()] = False
    """Whether what was learned goes into the lab itself at the end, in the place of what is there
    (see othello-lab train --help)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        first: Mapping[str, Any] = next(iter(self.rounds.values()), {})
        if first.get("agent") == TRAINED:
            named = ", ".join(self.rounds)
            raise SettingError(f"rounds={named}: in the first one nothing is trained yet")
        if list(self.curve) != sorted(set(self.curve)):
            raise SettingError(f"curve={list(self.curve)}: ascending minutes are needed")
        if self.curve and self.minutes is not None:
            raise SettingError(f"minutes={self.minutes:g}: the curve says already how many")

    @abstractmethod
    def learn(self, work: TrainingContext) -> LearningResult:
        """Learn from the data of the context.

        It is called anew after every interruption, and has to continue from the states it kept. For
        the same positions and seed it learns the same, interrupted or not, unless minutes end it.
        """


Training.UNFILLED = tuple(each.name for each in fields(Training))


class ProgressBar(Protocol):
    """A line of progress."""

    def advance(self, number: float = 1) -> None:
        """So much more is done."""
        ...

    def tell(self, text: str) -> None:
        """Show a few words, such as the loss, behind the bar."""
        ...


class TrainingContext:
    """The data and services for a training that learns.

    folder: for files of its own, see :meth:`saved`. seed: of all randomness, see :meth:`rng`.
    positions: to learn from; None for a training that needs none. minutes: budget of learning, on
    two cores (processor time); None: to the end. history: the rows of :meth:`note`.
    """

    def __init__(
        self,
        folder: Path,
        seed: int = 1,
        positions: Positions | None = None,
        minutes: float | None = None,
        plan: Plan | None = None,
        console: Console | None = None,
        whole: str = "training",
        options: ResumeOptions | None = None,
    ) -> None:
        """``plan``: of the run with the settings of matches. ``whole``: the job that this is part
        of. ``options``: of runs that have begun."""
        self.folder, self.seed, self.minutes = folder, seed, minutes
        self.history: list[dict[str, Any]] = []
        self.whole, self.console = whole, console or Console(quiet=True)
        self._positions, self._plan, self._options = positions, plan, options or ResumeOptions()
        self._last_kept: Path | None = None
        self._began = processor_seconds()
        self._before = 0.0  # minutes, in earlier sessions

    @property
    def positions(self) -> Positions:
        """To learn from."""
        assert self._positions is not None, "the training says that it needs none"
        return self._positions

    @property
    def plan(self) -> Plan:
        """The plan of the run with the settings of matches, with the executor."""
        assert self._plan is not None, "made without a plan"
        return self._plan

    def rng(self, *key: int) -> np.random.Generator:
        """Random numbers that follow from the seed, another stream for each key: those of a step
        (``work.rng(step)``) are then the same in a training that was interrupted."""
        return np.random.default_rng([self.seed, *key])

    # ------------------------------------------------------------------ time

    @property
    def spent(self) -> float:
        """Minutes of learning so far, on two cores (processor time)."""
        return self._before + minutes_since(self._began)

    @property
    def over(self) -> bool:
        """True if the minutes are used up."""
        return self.minutes is not None and self.spent >= self.minutes

    @property
    def left(self) -> float | None:
        """The share of the minutes that is left, 0 to 1; None without a budget."""
        return None if self.minutes is None else max(0.0, 1 - self.spent / self.minutes)

    # ------------------------------------------------------------------ telling

    @contextmanager
    def progress(self, text: str, total: float | None, done: int = 0) -> Iterator[ProgressBar]:
        """Show how far something is, with the time left; ``with work.progress("fit", 9) as bar``,
        then ``bar.advance()``. total: None where that is not known. done: so much is there."""
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} % left"),
            TimeRemainingColumn(),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            console=self.console,
            disable=self.console.quiet,
        )
        with bar:
            yield _RichProgress(bar, bar.add_task(text, total=total, completed=done, told=""))

    def say(self, line: str) -> None:
        """Print a line."""
        self.console.print(plain(line), soft_wrap=True)

    def note(self, **numbers: float | int | str) -> None:
        """Add a row to the history: a step, losses, fitness. The report draws its curves.
        ``minutes`` is added. Rows after the last :meth:`save_checkpoint` are lost in an
        interruption, and made again after it."""
        self.history.append({**numbers, "minutes": round(self.spent, 4)})

    # ------------------------------------------------------------------ keeping

    def saved(self, name: str) -> Path:
        """The path of a file of the training's own in its folder."""
        make_folder(self.folder)
        return self.folder / name

    def save_checkpoint(self, name: str, state: Mapping[str, Any]) -> Path:
        """Keep a state, in the place of the one of this name, together with the history so far.

        state: by name arrays of numbers, bytes, and JSON values.
        """
        path = self._checkpoint(name)
        own = {"state_history": self.history, "state_spent": self.spent}
        write_state(path, {**state, **own})
        self._last_kept = path
        return path

    def load_checkpoint(self, name: str) -> dict[str, Any] | None:
        """Return the state that was kept under this name, None for none, and restore its history.
        Raises ConfigError for a damaged file."""
        path = self._checkpoint(name)
        state = read_state(path)
        if state is not None:
            self.history = state.pop("state_history")
            self._before = max(self._before, state.pop("state_spent"))
            self._last_kept = path
        return state

    def finite(self, name: str, values: Any, where: str) -> Any:
        """Return the values, if all of them are finite numbers. Raises NotFinite, one line with the
        bad value, its place (``step 12 of stage 3``), and the states kept before."""
        found = np.asarray(values)
        if np.isfinite(found).all():
            return values
        bad = int((~np.isfinite(found)).sum())
        many = f"{bad:,} of {found.size:,} numbers" if found.size > 1 else "it"
        last = "nothing was kept before that"
        if self._last_kept is not None:
            last = f"what was learned before that is in {self._last_kept}"
        verb = "are" if found.size > 1 else "is"
        raise NotFinite(f"{where}: {name}: {many} {verb} no longer finite; stopped, and {last}")

    def _checkpoint(self, name: str) -> Path:
        return self.folder / f"{name}.checkpoint"

    # ------------------------------------------------------------------ others' work

    @contextmanager
    def workers(self) -> Iterator[WorkerMap]:
        """Yield workers: ``with work.workers() as workers: workers(function, items)`` returns the
        function's result for each item, in order, the same for any number of workers.

        Function, items and results are pickled. Enter it before :meth:`progress`, with all kernels
        of the function compiled, as it forks this process.
        """
        conditions = self.plan.conditions()
        with self.plan.executor.ready(conditions, self.say) as workers:

            def work_on(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
                pieces = [Task(number, item) for number, item in enumerate(items)]
                found: dict[int, Any] = {}
                for batch in workers.work(functools.partial(_one, function), pieces):
                    for result in batch:
                        if result.failure:
                            raise RuntimeError(f"item {result.number}: {result.failure}")
                        found[result.number] = result.tables["result"][0]
                return [found[piece.number] for piece in pieces]

            yield work_on

    def play(
        self,
        name: str,
        agents: Mapping[str, Mapping[str, Any]],
        games: int,
        openings: str | Mapping[str, Any] = "balanced",
        **settings: Any,
    ) -> PlayedRun:
        """Play an ordinary run in the folder ``name`` of the training's; one that was played
        before is taken as it is.

        agents: their settings, by name. games: a pairing. settings: others of
        :class:`experiments.config.RunConfig`, in place of the plan's, such as ``seed``, or
        ``schedule="gauntlet"``. Raises KeyboardInterrupt where it was interrupted.
        """
        parts = {"openings": openings, "schedule": "round_robin", **settings}
        for group in ("openings", "schedule"):
            parts[group] = chosen(group, parts[group])
        plain_agents = {each: dict(said) for each, said in agents.items()}
        wanted = changed(self.plan.settings, agents=plain_agents, games=games, **parts)
        asked, folder = RunRequest(wanted, name), self.folder / name
        if not play_part(asked, folder, self.whole, self.console, self._options):
            raise KeyboardInterrupt
        run = PlayedRun.read(0, folder, asked)
        assert run is not None, "it is complete"
        return run


class WorkerMap(Protocol):
    """Workers that do the same with each of several things."""

    def __call__(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> list[_Result]:
        """Return the function's result for each item, in order."""
        ...


class _RichProgress:
    """A task of a rich progress bar."""

    def __init__(self, bar: Progress, task: Any) -> None:
        self._bar, self._task = bar, task

    def advance(self, number: float = 1) -> None:
        self._bar.advance(self._task, number)

    def tell(self, text: str) -> None:
        self._bar.update(self._task, told=text)


def _one(function: Callable[[Any], Any], place: WorkerContext, item: Any) -> Tables:
    return {"result": [function(item)]}


def processor_seconds() -> float:
    """Return the seconds of processor time of this process and those below it; of ended ones only
    awaited ones."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = 0
    with contextlib.suppress(OSError):
        living = sum(map(cpu_time, descendants([os.getpid()])))
    return time.process_time() + ended.ru_utime + ended.ru_stime + living / 1e9


def minutes_since(began: float) -> float:
    """Minutes on two cores since :func:`processor_seconds` was so much."""
    return (processor_seconds() - began) / 60 / CORES
