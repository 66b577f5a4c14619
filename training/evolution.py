"""Linear heuristics by evolution: a composite's weights from the results of matches alone.

CMA-ES (Hansen) keeps a normal distribution over weights. Each generation it draws candidates, all
of them play the same openings, with both colours, against the same opponents, and the distribution
moves towards, and stretches along, the best candidates. No score of a position is ever used, so the
result may serve the search better than the best prediction of results.

The weights are given at a few numbers of empties (*knots*), between which they go in straight
lines, in units of each feature's root mean square. A search only compares two positions at the same
depth, so at each knot nothing but the direction counts: it is made of length 1.

Results of matches are noisy. Candidates of one generation share their openings, so that the same
luck befalls all of them; each generation has other openings, so that none is learned by heart; and
the mean of the distribution, better than its best candidate, is scored on openings that no
generation plays. The training's result is the mean that scored best there.

After an interruption the generations that were played are replayed into a new distribution of the
same seed. It is then equal to the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.agent import Limits, compiled_player
from othello_lab.agents.config import build, evaluation_settings, load_evaluation
from othello_lab.agents.evaluation import FEATURES, Composite, Evaluation
from othello_lab.agents.evaluation.composite import MOST_EMPTIES
from othello_lab.agents.search import AlphaBeta
from othello_lab.agents.search.context import MAX_DEPTH
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import RULESETS, Ruleset
from othello_lab.core.system.optional_libraries import needs
from othello_lab.core.system.settings import Choice, Each, Number, Text, Whole
from othello_lab.core.whole_games import prepare_games
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing import ResultTable
from othello_lab.training.duels import Starts, duel, points, starts_of
from othello_lab.training.linear import (
    DEFAULT_FEATURES,
    UNIT,
    Stages,
    as_composite,
    check_features,
    feature_values,
    sizes_figures,
    stages_of_width,
    weights_table,
)
from othello_lab.training.training import LearningResult, Training, TrainingContext, WorkerMap

STAGE = 4
"""Numbers of empties that share their weights."""
SIZE = 20.0
"""Discs by which weights of length 1 move values; it keeps rounding out of the way."""
_VALUES = "values of the composite"  # in which its weights are; they are no discs
_MOST_OPENINGS = 5000  # that candidates choose from
_SAMPLED = 100  # random games that tell how large features are
_MOST_ROWS = 12  # of generations in a table
_PARTS = 4  # into which a long match is cut, for as many workers
_GENERATION, _DISTRIBUTION = range(2)  # streams of random numbers


# ---------------------------------------------------------------------- vectors and weights


@dataclass(frozen=True)
class Genome:
    """The meaning of a candidate's numbers.

    features: names, from FEATURES. knots: numbers of empties, rising. sizes: the root mean square
    of each feature. A candidate has knots x features numbers.
    """

    features: tuple[str, ...]
    knots: tuple[int, ...]
    sizes: tuple[float, ...]

    @property
    def stages(self) -> Stages:
        """The stages of the composites."""
        return stages_of_width(STAGE)

    def normal(self, vector: np.ndarray) -> np.ndarray:
        """The direction at each knot, shape (knots, features); 0 where there is none."""
        rows = np.reshape(vector, (len(self.knots), -1))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths > 0, lengths, 1.0)

    def weights(self, vector: np.ndarray) -> np.ndarray:
        """The weights by stage, shape (stages, features)."""
        middles = [(first + last) / 2 for first, last in self.stages]
        rows = self.normal(vector)
        between = [np.interp(middles, self.knots, column) for column in rows.T]
        return SIZE * np.stack(between, axis=1) / np.array(self.sizes)

    def composite(self, vector: np.ndarray) -> dict[str, Any]:
        """The settings of the composite with these weights."""
        return as_composite(self.features, self.stages, self.weights(vector))

    def vector(self, composite: Composite) -> np.ndarray:
        """The numbers of a composite as far as these genes can say them."""
        rows = []
        for knot in self.knots:
            stage = composite.weights_at(knot)
            rows.append([stage.get(name, 0.0) for name in self.features])
        return self.normal(np.array(rows) * self.sizes).ravel()


def feature_sizes(features: Sequence[str], rules: Ruleset, seed: int) -> tuple[float, ...]:
    """The root mean square of each feature in positions of random games."""
    rng = np.random.default_rng(seed)
    masks = []
    for _ in range(_SAMPLED):
        position = Position.start(rules)
        while not position.is_over:
            masks.append(position.masks)
            moves = position.moves
            position = position.play(moves[int(rng.integers(len(moves)))] if moves else PASS)
    mover, opponent = np.array(masks, dtype=np.uint64).T
    values = feature_values(features, mover, opponent).astype(float)
    sizes = np.sqrt((values**2).mean(axis=0))
    return tuple(np.where(sizes > 0, sizes, 1.0).tolist())


# ---------------------------------------------------------------------- matches


@dataclass(frozen=True)
class CandidateMatches:
    """Matches that measure candidates: against these evaluations, in the same search.

    opponents: settings of evaluations, by name. plies: of the search of both sides.
    """

    genes: Genome
    opponents: Mapping[str, Mapping[str, Any]]
    plies: int
    ruleset: str

    @property
    def players(self) -> list[AlphaBeta]:
        """The opponents."""
        return [self.player(settings, name) for name, settings in self.opponents.items()]

    def player(self, evaluation: Mapping[str, Any], name: str) -> AlphaBeta:
        """The search with an evaluation of these settings."""
        return AlphaBeta(self.plies, build(evaluation, name, Evaluation))

    def fitness(self, task: tuple[np.ndarray, Starts]) -> float:
        """The mean score, 0 to 1, of a candidate from these openings against all opponents."""
        vector, starts = task
        player = self.player(self.genes.composite(vector), "candidate")
        rules = RULESETS[self.ruleset]
        scores = [points(duel(player, opponent, starts, rules)) for opponent in self.players]
        return float(np.mean(scores))

    def score(self, workers: WorkerMap, vector: np.ndarray, starts: Starts) -> float:
        """The same, by several workers."""
        parts = np.array_split(starts, min(_PARTS, len(starts)))
        scores = workers(self.fitness, [(vector, part) for part in parts])
        return float(np.average(scores, weights=[len(part) for part in parts]))


# ---------------------------------------------------------------------- evolution


class Evolution:
    """A distribution over vectors that generations are drawn from, by CMA-ES.

    Deterministic: the same start, seed and fitness lead to the same generations. means: of the
    distribution after each generation.
    """

    def __init__(
        self,
        start: np.ndarray,
        sigma: float,
        population: int | None = None,
        seed: int = 1,
        fitness: Iterable[Sequence[float]] = (),
    ) -> None:
        """start: the mean. sigma: the first standard deviation of each number. population:
        candidates of a generation; None for the number that CMA-ES recommends. fitness: of the
        candidates of generations to be replayed."""
        import cma

        rng = np.random.default_rng([seed, _DISTRIBUTION])
        options: dict[str, Any] = {
            "randn": lambda *shape: rng.standard_normal(shape),
            "seed": np.nan,  # none for numpy's global generator
            "verbose": -9,
        }
        if population is not None:
            options["popsize"] = population
        self._strategy = cma.CMAEvolutionStrategy(start, sigma, options)
        self.means: list[np.ndarray] = []
        for generation in fitness:
            self.draw()
            self.tell(generation)

    @property
    def sigma(self) -> float:
        """The width of the distribution."""
        return float(self._strategy.sigma)

    def draw(self) -> list[np.ndarray]:
        """The candidates of the next generation."""
        self._drawn = self._strategy.ask()
        return [np.array(candidate) for candidate in self._drawn]

    def tell(self, fitness: Sequence[float]) -> None:
        """Report the fitness of each candidate of the generation: more is better."""
        self._strategy.tell(self._drawn, [-value for value in fitness])
        self.means.append(np.array(self._strategy.mean))


def latest_best(checks: Sequence[float]) -> int:
    """Return the number of the generation with the best check; of equals the latest."""
    return len(checks) - 1 - int(np.argmax(checks[::-1]))


# ---------------------------------------------------------------------- the training


@dataclass(frozen=True, kw_only=True)
class Evolved(Training):
    """A composite's weights by CMA-ES on the results of matches."""

    needs_positions = False
    goes_on = True

    features: Annotated[list[str], Each(Choice(*FEATURES))] = field(
        default_factory=lambda: list(DEFAULT_FEATURES)
    )
    """What the composite is made of."""
    knots: Annotated[list[int], Each(Whole(0, MOST_EMPTIES))] = field(
        default_factory=lambda: [10, 25, 40]
    )
    """Numbers of empties at which there are weights; between them they go in straight lines."""
    start: Annotated[str | None, Text(r".+", "a composite")] = None
    """The composite (of conf/evaluation) whose weights it begins with; null: with none."""
    sigma: Annotated[float, Number(above=0)] = 0.3
    """How far from there candidates are at first: the standard deviation of each number, the
    weights at a knot being of length 1 together."""
    opponents: Annotated[list[str], Each(Text(r".+", "an evaluation"))] = field(
        default_factory=lambda: ["iago", "tuned"]
    )
    """Evaluations (of conf/evaluation) that all candidates play against."""
    plies: Annotated[int, Whole(1, MAX_DEPTH)] = 2
    """What all of them look ahead, in alpha-beta."""
    openings: Annotated[int, Whole(1, 2000)] = 60
    """Openings that a generation plays, with both colours against every opponent."""
    checks: Annotated[int, Whole(1, 2000)] = 250
    """Openings that are kept apart, on which the mean of each generation is scored."""
    population: Annotated[int | None, Whole(3)] = None
    """Candidates of a generation; null: as many as CMA-ES recommends for so many weights."""
    generations: Annotated[int, Whole(1)] = 80
    """Generations in all."""

    def check(self, plan: Plan) -> None:
        needs("this training", "cma", "learn")
        check_features(self.features, plan.rules)
        if not self.knots or len(set(self.knots)) < len(self.knots):
            raise ValueError(f"train.knots={self.knots}: at least one, and none twice, is needed")
        if not self.opponents:
            raise ValueError("train.opponents=[]: at least one evaluation is needed")
        openings = len(self._starts(plan))
        if openings <= self.checks:
            raise ValueError(
                f"train.checks={self.checks}: of {openings:,} openings ({plan.openings.text}) some "
                "are needed for the candidates"
            )
        arena = self._arena(plan.rules, plan.settings.seed)
        for player in arena.players:
            if compiled_player(player, plan.rules, Limits()) is None:
                raise ValueError(
                    f"train.opponents: {player.evaluation.name} does not play in compiled code"
                )
        self._beginning(arena.genes)

    def prepare(self, plan: Plan) -> None:
        prepare_games()
        arena = self._arena(plan.rules, plan.settings.seed)
        anything = np.ones(len(self.knots) * len(self.features))
        for player in (*arena.players, arena.player(arena.genes.composite(anything), "candidate")):
            player.prepare()

    def learn(self, work: TrainingContext) -> LearningResult:
        arena = self._arena(work.plan.rules, work.seed)
        self.prepare(work.plan)
        starts = self._starts(work.plan)
        # The first ones are those of the matches by which it will be measured.
        others, apart = starts[: -self.checks], starts[-self.checks :]
        begin = self._beginning(arena.genes)
        # begin: the first weights' score on the openings that are kept apart. fitness: of the
        # candidates of each generation. checks: the score of the distribution's mean after each, on
        # the openings that are kept apart. sigmas: its width.
        state = work.load_checkpoint("course") or {
            "begin": None,
            "fitness": [],
            "checks": [],
            "sigmas": [],
        }
        evolution = Evolution(begin, self.sigma, self.population, work.seed, state["fitness"])
        with work.workers() as workers:
            if begin.any() and state["begin"] is None:
                state["begin"] = arena.score(workers, begin, apart)
            for number in work.steps("course", self.generations, state, 1, "generations"):
                where = f"generation {number + 1}"
                rows = work.rng(_GENERATION, number).permutation(len(others))[: self.openings]
                tasks = [(candidate, others[rows]) for candidate in evolution.draw()]
                fitness = work.finite("fitness", workers(arena.fitness, tasks), where)
                evolution.tell(fitness)
                mean = work.finite("weights", evolution.means[-1], where)
                state["fitness"].append(fitness)
                state["checks"].append(arena.score(workers, mean, apart))
                state["sigmas"].append(evolution.sigma)
                work.note(
                    generation=number + 1,
                    fitness_best=max(fitness),
                    fitness_average=float(np.mean(fitness)),
                    fitness_mean=state["checks"][-1],
                    sigma=evolution.sigma,
                )
                work.tell(f"mean {100 * state['checks'][-1]:.1f} %")
        return self._learned(arena, state, evolution.means)

    def _starts(self, plan: Plan) -> Starts:
        openings = plan.openings.find(_MOST_OPENINGS, plan.rules, plan.settings.seed)
        return starts_of(openings[:_MOST_OPENINGS], plan.rules)

    def _arena(self, rules: Ruleset, seed: int) -> CandidateMatches:
        sizes = feature_sizes(self.features, rules, seed)
        genes = Genome(tuple(self.features), tuple(sorted(self.knots)), sizes)
        opponents = {name: evaluation_settings(name) for name in self.opponents}
        return CandidateMatches(genes, opponents, self.plies, rules.name)

    def _beginning(self, genes: Genome) -> np.ndarray:
        """The vector that evolution begins with."""
        if self.start is None:
            return np.zeros(len(genes.knots) * len(genes.features))
        composite = load_evaluation(self.start)
        if not isinstance(composite, Composite):
            raise ValueError(f"train.start={self.start}: a composite is needed")
        vector = genes.vector(composite)
        if not vector.any():
            raise ValueError(f"train.start={self.start}: it has none of train.features")
        return vector

    def _learned(
        self, arena: CandidateMatches, course: Mapping[str, Any], means: Sequence[np.ndarray]
    ) -> LearningResult:
        genes, checks, begin = arena.genes, course["checks"], course["begin"]
        best = latest_best(checks)
        weights = genes.weights(means[best])
        moved = UNIT * weights * genes.sizes
        games = 2 * self.checks * len(self.opponents)
        began = "" if begin is None else f", after {100 * begin:.1f} % to begin with"
        finding = (
            f"The mean of generation {best + 1} of {len(checks)} scores "
            f"{100 * checks[best]:.1f} % against {' and '.join(self.opponents)} at {self.plies} "
            f"plies{began}: {games:,} games from openings that no candidate had played, but the "
            "best of all generations, so a little less is to be expected elsewhere."
        )
        return LearningResult(
            genes.composite(means[best]),
            unit=None,
            findings=[finding],
            tables=[
                weights_table(genes.features, genes.stages, weights, _VALUES),
                _course_table(course),
            ],
            figures=lambda: sizes_figures(genes.features, genes.stages, moved, _VALUES),
            about={
                "generations": len(checks),
                "games": sum(map(len, course["fitness"])) * 2 * self.openings * len(self.opponents),
                "score": round(checks[best], 4),
            },
        )


def _course_table(course: Mapping[str, Any]) -> ResultTable:
    """Some generations, the last one among them."""
    fitness, checks, sigmas = (course[name] for name in ("fitness", "checks", "sigmas"))
    chosen = np.unique(np.linspace(0, len(checks) - 1, _MOST_ROWS).round().astype(int))
    rows = []
    for n in chosen.tolist():
        scores = max(fitness[n]), np.mean(fitness[n]), checks[n]
        rows.append([str(n + 1), *(f"{100 * score:.1f}" for score in scores), f"{sigmas[n]:.3f}"])
    return ResultTable(
        "Generations",
        ["generation", "fitness best", "average", "mean", "sigma"],
        rows,
        words=(),
        note="Scores in per cent. The candidates of a generation play openings of its own, so "
        "their best was lucky too; the mean of the distribution always plays the same ones, which "
        "no candidate plays. Sigma: how wide the distribution is.",
    )
