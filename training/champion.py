"""The champion from nothing: its parts, made one after another, and what each of them changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from rich.console import Console

from othello_lab.agents.composing import load
from othello_lab.agents.config import build_agent, load_evaluation
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.agents.search.window.probcut import FITTED, ProbCut
from othello_lab.agents.search.window.probcut_fit import MIN_SAMPLES, fit
from othello_lab.agents.search.window.selective import DEEPEST
from othello_lab.core.position import Position
from othello_lab.core.system.plain_yaml import read_yaml
from othello_lab.core.system.processes import available_cores
from othello_lab.core.system.rows import RowMaker
from othello_lab.core.system.settings import (
    ConfigError,
    Constraint,
    Switch,
    Whole,
    explained,
    one_line,
)
from othello_lab.experiments.config import Plan, chosen
from othello_lab.experiments.pairing import ResultTable, balanced
from othello_lab.experiments.pairing.balanced import Recipe
from othello_lab.experiments.playing.tasks import Tables
from othello_lab.experiments.record.reading import reading
from othello_lab.experiments.report.standings import matches
from othello_lab.experiments.statistics.intervals import elo_words, interval_text
from othello_lab.experiments.statistics.means import Mean, mean_interval
from othello_lab.experiments.studies.parts import play_part
from othello_lab.experiments.studies.study import Conclusion, RunRequest, changed
from othello_lab.experiments.studies.study_plan import StudyPlan
from othello_lab.training.data import Positions
from othello_lab.training.learned_files import CHAMPION, PATTERNS, PREFIX, ChampionFiles, player
from othello_lab.training.measuring import predictions, ranges_of_empties
from othello_lab.training.reporting import EMPTIES, frame_table
from othello_lab.training.rounds import make_part
from othello_lab.training.shipping import ship_champion
from othello_lab.training.steps import STEPS, StepSession, TrainingStep
from othello_lab.training.training import CORES, TrainingStudy
from othello_lab.training.training_session import TrainingSession, part_plan, train_part

NEW, OLD = "new", "old"
"""The champion that plays with all that is new, and its opponent, in games that measure it."""
UNIT = 100
"""Value of a disc to evaluations that learned from scores."""


class Settings(Constraint):
    """Settings by name."""

    needed = "settings by name"

    def allows(self, value: object) -> bool:
        return isinstance(value, Mapping)


@explained
@dataclass(frozen=True, kw_only=True)
class ChampionTraining(TrainingStudy):
    """Make each part of the champion, one step after another, and tell the changes.

    Of the line-up the first agent plays with what is new, the second as it is.
    """

    patterns: Annotated[Mapping[str, Any], Settings()] = field(default_factory=dict)
    """Settings of the training of patterns that differ from conf/train/patterns.yaml."""
    probcut_depth: Annotated[int, Whole(3, DEEPEST)] = 16
    """Plies up to which ProbCut's parameters are fitted, to searches of the first agent."""
    probcut_positions: Annotated[int, Whole(MIN_SAMPLES)] = 3000
    """Positions that ProbCut's parameters are fitted to."""
    balanced: Annotated[Mapping[str, Any], Settings()] = field(default_factory=dict)
    """Options of the command openings, such as plies, depth and games, for balanced openings."""
    held_out: Annotated[int, Whole(2)] = 4000
    """Games whose positions the weights are measured on; nothing is learned from these."""
    held_out_depth: Annotated[int, Whole(1, MAX_DEPTH)] = 4
    """Plies that the players of these games look ahead."""
    endgames: Annotated[int, Whole(1)] = 200
    """Positions of these games that the solver solves with the old and the new weights."""
    endgame_empties: Annotated[int, Whole(1, 30)] = 20
    """Empty squares of these positions."""
    minutes: Annotated[Mapping[str, float], Settings()] = field(default_factory=dict)
    """About how many minutes each step takes on two cores, for the time left that is shown."""
    ship: Annotated[bool, Switch()] = False
    """Put the results into the lab itself at the end, in the place of what is there."""

    def check(self, plan: Plan) -> None:
        self.recipe.check()
        if len(plan.settings.agents) != 2:
            raise ValueError("agents: two are needed, the new champion and its opponent")
        if "evaluation" not in next(iter(plan.settings.agents.values())):
            raise ValueError("agents: the first has no evaluation that could be learned")

    @property
    def recipe(self) -> Recipe:
        """The recipe of the balanced openings. Raises ValueError for unknown options."""
        try:
            return Recipe(**{"evaluation": PATTERNS, **self.balanced})
        except TypeError as error:
            raise ValueError(f"balanced={dict(self.balanced)}: {error}") from error


# ---------------------------------------------------------------------- the steps


class ChampionSession(StepSession):
    """One go at the champion."""

    line = "="

    @classmethod
    def first_look(cls, plan: StudyPlan, console: Console) -> None:
        TrainingSession.first_look(_patterns(plan), console)

    def steps(self) -> Sequence[TrainingStep]:
        self._study, self._files = _champion_of(self.plan), ChampionFiles(self.folder)
        self._steps = [TrainingStep(key, about) for key, (about, _) in self.TABLE.items()]
        if not self.done():
            for number, step in enumerate(self._steps, 1):
                minutes, time = self._study.minutes.get(step.key), ""
                if minutes is not None:
                    amount = f"{minutes:g} minutes" if minutes >= 1 else f"{60 * minutes:.0f} s"
                    time = f"  about {amount} on {CORES} cores"
                self.say(f"step {number}  {step.about}{time}")
        return self._steps

    def do(self, step: TrainingStep) -> Tables:
        _, make = self.TABLE[step.key]
        return make(self)

    def remark(self, number: int) -> str:
        """Return the time left in words. The expected times are stretched as the finished steps
        were."""
        expected = [self._study.minutes.get(step.key, 0.0) for step in self._steps]
        before, spent = sum(expected[:number]), sum(map(self.minutes, self._steps[:number]))
        minutes = sum(expected[number:]) * (spent / before if before else 1.0)
        minutes -= self.minutes(self._steps[number])
        return f" (about {minutes:.0f} minutes left, on {CORES} cores)" if minutes >= 1 else ""

    def conclude(self, tables: Any) -> Conclusion:
        if self._study.ship and not self.concludes:
            ship_champion(self._files, self.say)
        return concluded(self._study, self._files, tables)

    def _base(self) -> Mapping[str, Any]:
        """Return the settings of the champion, as they are before."""
        settings: Mapping[str, Any] = next(iter(self.settings.agents.values()))
        return settings

    # ------------------------------------------------------------------ what is made

    def _learn(self) -> Tables:
        train_part(self, _patterns(self.plan), self._files.patterns)
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
        openings = balanced.make(
            replace(recipe, evaluation=f"{PREFIX}{PATTERNS}"),
            int(self.settings.executor.get("workers") or available_cores()),
            self.console,
            [self._files.patterns / "conf"],
            self._files.rows("openings"),
        )
        balanced.write(openings, recipe, self.folder / f"balanced_{recipe.plies}.txt")
        return {}

    # ------------------------------------------------------------------ what changed

    def _compare(self) -> Tables:
        study, files, depth = self._study, self._files, self._study.held_out_depth
        evaluations = {
            NEW: files.learned().settings(files.patterns),
            OLD: load("evaluation", PATTERNS),
        }
        settings = {
            "agents": {name: player("alphabeta", e, depth) for name, e in evaluations.items()},
            "games": study.held_out,
            "seed": self.settings.seed + 1,
            "openings": "balanced",
            "executor": self.settings.executor,
            "data": {"random_plies": [0, 0], "exact": 12},
        }
        make_part(settings, files.held_out, self.console)
        new, old = files.learned().built(files.patterns), load_evaluation(PATTERNS)
        positions = Positions.read([files.held_out])
        return {"errors": errors_of_both(new, old, positions, self.settings.seed)}

    def _solve(self) -> Tables:
        files, study = self._files, self._study
        positions = Positions.read([files.held_out])
        late = positions[positions.empties == study.endgame_empties]
        sample = late.sample(study.endgames, np.random.default_rng([self.settings.seed, 1]))
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
        request, folder = RunRequest(settings, "match"), self._files.match
        if not play_part(request, folder, self.plan.title, self.console, self.options):
            raise KeyboardInterrupt
        return {}

    TABLE: ClassVar[Mapping[str, tuple[str, Callable[[ChampionSession], Tables]]]] = {
        "patterns": ("self-play and weights of patterns", _learn),
        "probcut": ("ProbCut's parameters", _fit),
        "openings": ("balanced openings", _balance),
        "held_out": ("error of the weights on held-out games", _compare),
        "solver": ("the solver, sorting by the weights", _solve),
        "match": ("a match against the old champion", _play),
    }
    """By key of each step: its work in words, and the method that does it."""


def _champion_of(plan: StudyPlan) -> ChampionTraining:
    assert isinstance(plan.study, ChampionTraining)
    return plan.study


def _patterns(plan: StudyPlan) -> StudyPlan:
    """Return the plan for training patterns, without matches: a later step plays one."""
    return part_plan(plan, PATTERNS, {"matches": False, **_champion_of(plan).patterns})


def _solved(solvers: Sequence[EndgameSolver], masks: Sequence[tuple[int, int]]) -> Iterator[Any]:
    """Yield the nodes of each solver for each position."""
    for mover, opponent in masks:
        position = Position(mover, opponent)
        yield [solver.solve(position).stats.nodes for solver in solvers]


# ---------------------------------------------------------------------- the changes in numbers


def errors_of_both(
    new: Evaluation, old: Evaluation, positions: Positions, seed: int
) -> list[dict[str, Any]]:
    """Return the mean absolute errors of two evaluations in discs, one row for each range of empty
    squares: fewest, most, positions, new, old; change, low and high of the difference with its
    95 % interval over games."""
    errors = [np.abs(predictions(e, UNIT, positions) - positions.score) for e in (new, old)]
    rows = []
    for fewest, most, there in ranges_of_empties(positions):
        of_new, of_old = (error[there] for error in errors)
        change = mean_interval(of_new - of_old, positions.game[there], seed)
        rows.append(
            {
                "fewest": fewest,
                "most": most,
                "positions": int(there.sum()),
                "new": float(of_new.mean()),
                "old": float(of_old.mean()),
                **{"change": change.value, "low": change.low, "high": change.high},
            }
        )
    return rows


def sigmas(parameters: ProbCut) -> dict[int, tuple[int, float]]:
    """Return the check and the mean standard deviation, in discs, of each depth; the stages of the
    game count by their positions."""
    result: dict[int, tuple[int, float]] = {}
    for depth in sorted({check.depth for check in parameters.checks}):
        deepest = max(check.check for check in parameters.checks if check.depth == depth)
        used = [c for c in parameters.checks if (c.depth, c.check) == (depth, deepest)]
        mean = np.average([c.sigma for c in used], weights=[c.positions for c in used])
        result[depth] = deepest, float(mean) / UNIT
    return result


def concluded(
    study: ChampionTraining, files: ChampionFiles, tables: Mapping[str, pd.DataFrame]
) -> Conclusion:
    """Return findings and tables. tables: the tables of the record."""
    return Conclusion(
        list(_findings(study, files, tables)),
        list(_tables(files, tables)),
        notes=list(_notes(files)),
        frames={name: tables[name] for name in ("errors", "solver") if name in tables},
    )


def _findings(
    study: ChampionTraining, files: ChampionFiles, tables: Mapping[str, pd.DataFrame]
) -> Iterator[str]:
    with reading(files.match) as record:
        (match,) = matches(record, winners=False).to_dict("records")
    elo = elo_words(*(match[key] for key in ("elo", "elo_low", "elo_high", "bound", "split")))
    yield (
        f"Elo of the new champion less that of the old one: {elo}, in {match['games']:,} games "
        f"({100 * match['score']:.1f} % of the points)."
    )
    if (errors := tables.get("errors")) is not None:
        counts = errors["positions"]
        new, old = (float(np.average(errors[name], weights=counts)) for name in ("new", "old"))
        yield (
            f"The new weights miss the score by {new:.2f} discs, the old ones by {old:.2f}, on "
            f"{counts.sum():,} held-out positions."
        )
    if (solver := tables.get("solver")) is not None:
        # The geometric mean over positions.
        logs = np.log(solver["nodes"] / solver["old_nodes"])
        ratio = Mean(*np.exp(mean_interval(logs, np.arange(len(logs)))).tolist())
        yield (
            f"Sorting by the new weights the solver visits {ratio.text()} times the nodes, on "
            f"{len(solver):,} positions with {study.endgame_empties} empty squares."
        )
    minutes = tables[STEPS]["minutes"].sum()
    yield f"All of it took {minutes:.1f} minutes of {CORES} cores (processor time)."


_ERRORS: Mapping[str, Callable[[Any], str]] = {
    **EMPTIES,
    "new": lambda row: f"{row.new:.2f}",
    "old": lambda row: f"{row.old:.2f}",
    "change [95 %]": lambda row: interval_text(row.change, row.low, row.high, digits=2),
}
_STEP: Mapping[str, Callable[[Any], str]] = {
    "step": lambda row: row.step,
    f"minutes on {CORES} cores": lambda row: f"{row.minutes:.1f}",
}


def _tables(files: ChampionFiles, tables: Mapping[str, pd.DataFrame]) -> Iterator[ResultTable]:
    if (errors := tables.get("errors")) is not None:
        yield frame_table("Error of the weights, discs", _ERRORS, errors)
    yield _deviations(files)
    about = read_yaml(files.openings.with_suffix(".yaml"))
    check = about["check"]
    rows = [
        ["openings kept", f"{about['kept']:,} of {about['candidates']:,}"],
        ["Black's score in games from some of them", _percent(check["black_score"])],
        ["the score expected there", _percent(check["black_score_expected"])],
    ]
    yield ResultTable("Balanced openings", ["", ""], rows, words=(0, 1))
    yield frame_table("Steps", _STEP, tables[STEPS])


def _deviations(files: ChampionFiles) -> ResultTable:
    """The table of ProbCut's checks."""
    paths = files.probcut, FITTED / f"{PATTERNS}.yaml"
    both = [sigmas(ProbCut.load(path)) for path in paths]
    rows = []
    for depth in sorted({*both[0], *both[1]}):
        row = [str(depth)]
        for deviations in both:
            check, sigma = deviations.get(depth, (None, None))
            row += ["-", "-"] if sigma is None else [str(check), f"{sigma:.2f}"]
        rows.append(row)
    heads = ["depth", "check, new", "deviation, new", "check, old", "deviation, old"]
    return ResultTable("ProbCut: standard deviation of a check, discs", heads, rows)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _notes(files: ChampionFiles) -> Iterator[str]:
    name, folder = f"{PREFIX}{CHAMPION}", files.folder
    weights = files.patterns / "weights" / f"{PATTERNS}.npz"
    yield (
        f"To play with it: `--config-dir {folder}/conf agent@first={name}`, or "
        f"`agent@first=champion first.evaluation.weights={weights} first.probcut={files.probcut}`. "
        f"`othello-lab train --ship {folder}` puts all of it in the place of what is there."
    )
    yield (
        "Errors are mean absolute ones, of games that both evaluations played from balanced "
        "openings without random moves; from 12 empty squares on the score is that of perfect "
        "play. The standard deviations of a depth are a mean over the stages of the game. The "
        "match is played with the solver's old sorting, as that comes with the lab."
    )
