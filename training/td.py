"""Learning from nothing but games against itself: temporal differences on patterns.

No solver and nobody else's games take part, nor any position that was labelled. The result is the
weights of a pattern evaluation; :mod:`training.kernels.selfplay` describes the method. Progress is
measured on a fixed ladder: matches against agents that look one move ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.agent import Agent, Limits, compiled_player
from othello_lab.agents.config import load_evaluation
from othello_lab.agents.learned.geometry import board_of, geometry
from othello_lab.agents.learned.patterns import (
    CONSTANT,
    CONTENTS,
    KIND,
    MOST_MOVES,
    OWN_MOVES,
    STAGES,
    THEIR_MOVES,
    UNIT,
    VERSION,
    PatternEvaluation,
)
from othello_lab.agents.learned.weights import LearnedWeights
from othello_lab.agents.simple import GreedyAgent, Maximizer, RandomAgent
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset
from othello_lab.core.system.compile import prepare
from othello_lab.core.system.settings import Each, Number, Text, Whole
from othello_lab.core.whole_games import prepare_games
from othello_lab.experiments.config import Plan
from othello_lab.experiments.pairing import ResultTable
from othello_lab.training.duels import Starts, duel, points, starts_of
from othello_lab.training.kernels.selfplay import (
    CLASSES_AT,
    OWN_AT,
    SQUARES,
    THEIRS_AT,
    BoardArrays,
    LearnedArrays,
    LearningSettings,
    learn_games,
)
from othello_lab.training.training import LearningResult, Training, TrainingContext

_MOST = np.iinfo(np.int16).max
_RANDOM = {"random": RandomAgent, "greedy": GreedyAgent}
"""Rungs of the ladder that are no evaluations."""
_SCORE = "score_"  # begins the columns of the history that have the rungs' scores


def board(rules: Ruleset, stage: int) -> BoardArrays:
    """Return the kernel's data of a ruleset's board.

    stage: numbers of empty squares that share their weights.
    """
    shapes = geometry(rules.side)
    begins, classes, contents = [], [], 0
    for pattern, first in zip(shapes.patterns, shapes.first, strict=True):
        begins += [contents] * len(pattern.places)
        classes.append(pattern.classes + np.int32(first))
        contents += pattern.contents
    # As elsewhere, of a small board the squares that it lacks count as empty too.
    moves, lacking = rules.side**2 - 4, SQUARES - rules.side**2
    empties = np.clip(np.arange(SQUARES + 1) - lacking, 0, moves)
    return BoardArrays(
        np.uint64(board_of(rules.side)),
        np.int64(rules.side**2),
        *Position.start(rules).masks,
        shapes.rows,
        np.array(begins, dtype=np.int64),
        np.concatenate(classes, dtype=np.int32),
        np.minimum(empties // stage, max(0, moves // stage - 1)),
    )


def nothing(known: BoardArrays) -> LearnedArrays:
    """Return the weights before the first game, all 0."""
    shape = int(known.stages.max()) + 1, CLASSES_AT + int(known.classes.max()) + 1
    weights, errors, sizes = (np.zeros(shape, dtype=np.float32) for _ in range(3))
    return LearnedArrays(weights, errors, sizes)


def as_weights(learning: LearnedArrays, known: BoardArrays) -> LearnedWeights:
    """The weights of a :class:`PatternEvaluation`, in hundredths of a disc."""
    units = np.rint(UNIT * learning.weights).clip(-_MOST, _MOST).astype(np.int16)
    arrays = {
        STAGES: known.stages.astype(np.uint8),
        CONSTANT: units[known.stages, np.arange(SQUARES + 1)],
        OWN_MOVES: units[:, OWN_AT : OWN_AT + MOST_MOVES + 1],
        THEIR_MOVES: units[:, THEIRS_AT : THEIRS_AT + MOST_MOVES + 1],
        CONTENTS: units[:, CLASSES_AT:],
    }
    about = {"side": int(np.sqrt(int(known.squares)))}
    return LearnedWeights(KIND, VERSION, UNIT, arrays, about)


# ---------------------------------------------------------------------- the ladder


@dataclass(frozen=True, eq=False)
class Ladder:
    """Agents of one move that everything learned is measured against, from the same openings.

    rungs: by name. starts: where games begin.
    """

    rungs: dict[str, Agent]
    starts: Starts
    rules: Ruleset

    def climb(self, work: TrainingContext, weights: LearnedWeights, **noted: Any) -> None:
        """Measure the weights, and add the score against each rung, 0 to 1, to the history."""
        path = weights.write(work.saved("snapshot.npz"), compressed=False)
        player = Maximizer(PatternEvaluation(path))
        player.prepare()
        for name, agent in self.rungs.items():
            results = duel(player, agent, self.starts, self.rules, work.seed)
            noted[_SCORE + name] = score = float(points(results).mean())
            work.tell(f"{100 * score:.0f} % against {name}")
        work.note(**noted)


def rung(name: str, rules: Ruleset) -> Agent:
    """The agent of this name: ``random``, ``greedy``, or an evaluation (of conf/evaluation) that
    looks one move ahead. Raises ValueError for one that cannot be a rung."""
    agent = _RANDOM[name]() if name in _RANDOM else Maximizer(load_evaluation(name))
    if rules.side not in agent.boards():
        raise ValueError(f"train.rungs: {name} is not made for the board of {rules.name}")
    if compiled_player(agent, rules, Limits()) is None:
        raise ValueError(f"train.rungs: {name} does not play in compiled code")
    return agent


# ---------------------------------------------------------------------- the training


@dataclass(frozen=True, kw_only=True)
class TemporalDifferences(Training):
    """A pattern evaluation by TD(lambda) from games of an agent against itself."""

    needs_positions = False
    goes_on = True

    games: Annotated[int, Whole(1)] = 1_000_000
    """Played against itself in all."""
    batch: Annotated[int, Whole(1)] = 5000
    """Games between two looks at the clock."""
    stage: Annotated[int, Whole(1, 60)] = 6
    """Numbers of empties that share their weights."""
    rate: Annotated[float, Number(above=0, high=2)] = 1.0
    """Share of its error that a position's value is corrected by at first; later each weight's own
    coherence makes it less."""
    trace: Annotated[float, Number(0, 1)] = 0.6
    """Lambda: 0 learns from the next position alone, 1 from the end of the game alone."""
    chance: Annotated[float, Number(0, 1)] = 0.1
    """Share of moves that are drawn by chance."""
    opening: Annotated[int, Whole(0, 50)] = 20
    """Each game begins with 0 to so many moves that are drawn."""
    rungs: Annotated[list[str] | None, Each(Text(r".+", "random, greedy or an evaluation"))] = None
    """The ladder: random, greedy, and evaluations (of conf/evaluation) that look one move ahead;
    null: random, greedy, square_weights and iago, as far as they are made for the board."""
    climbs: Annotated[int, Whole(1)] = 200
    """Openings of the matches against each rung."""

    def check(self, plan: Plan) -> None:
        self._ladder(plan)

    def prepare(self, plan: Plan) -> None:
        prepare_games()
        known = board(plan.rules, self.stage)
        none = np.int64(0), np.uint64(0)
        prepare(
            "learning self-play", lambda: learn_games(known, nothing(known), self._manner, *none)
        )
        for agent in self._ladder(plan).rungs.values():
            agent.prepare()

    def learn(self, work: TrainingContext) -> LearningResult:
        self.prepare(work.plan)
        known, ladder = board(work.plan.rules, self.stage), self._ladder(work.plan)
        # squared: the sum of squared errors, with the number of positions, since the last matches.
        state = work.load_checkpoint("learning") or {
            **nothing(known)._asdict(),
            "squared": 0.0,
            "positions": 0,
        }
        learning = LearnedArrays(*(state[name] for name in LearnedArrays._fields))
        batches = -(-self.games // self.batch)
        games = min(self.games, self.batch * state.get("step", 0))

        def climb() -> None:
            error = float(np.sqrt(state["squared"] / max(1, state["positions"])))
            state["squared"], state["positions"] = 0.0, 0
            ladder.climb(work, as_weights(learning, known), games=games, error=error)

        for batch in work.steps("learning", batches, state, 1, "batches", save_all=False):
            count = min(self.batch, self.games - games)
            seed = work.rng(games).integers(1 << 62, dtype=np.uint64)
            squared, positions = learn_games(known, learning, self._manner, np.int64(count), seed)
            games += count
            state["squared"] += float(squared)
            state["positions"] += int(positions)
            # Matches come after 1, 2, 4, 8, ... batches, and at the end.
            if games == self.games or (batch + 1).bit_count() == 1:
                climb()
        if work.history[-1]["games"] != games:
            climb()
        return self._learned(work, learning, known, ladder)

    @property
    def _manner(self) -> LearningSettings:
        return LearningSettings(self.rate, self.trace, self.chance, self.opening)

    def _ladder(self, plan: Plan) -> Ladder:
        rules = plan.rules
        names = self.rungs
        if names is None:
            names = ["random", "greedy", *(["square_weights", "iago"] if rules.side == 8 else [])]
        if not names:
            raise ValueError("train.rungs=[]: at least one is needed")
        rungs = {name: rung(name, rules) for name in names}
        openings = plan.openings.find(self.climbs, rules, plan.settings.seed)[: self.climbs]
        return Ladder(rungs, starts_of(openings, rules), rules)

    def _learned(
        self, work: TrainingContext, learning: LearnedArrays, known: BoardArrays, ladder: Ladder
    ) -> LearningResult:
        games = work.history[-1]["games"]
        climbs = [[row[_SCORE + name] for name in ladder.rungs] for row in work.history]
        last = dict(zip(ladder.rungs, climbs[-1], strict=True))
        scores = ", ".join(f"{100 * score:.0f} % against {name}" for name, score in last.items())
        finding = (
            f"After {games:,} games against itself, and nothing else, it scores {scores} "
            f"(all of them looking one move ahead, {2 * len(ladder.starts):,} games each)."
        )
        used = float((learning.sizes[:, CLASSES_AT:] > 0).mean())
        rows = []
        for row, climb in zip(work.history, climbs, strict=True):
            percents = [f"{100 * score:.1f}" for score in climb]
            rows.append([f"{row['games']:,}", f"{row['error']:.2f}", *percents])
        table = ResultTable(
            "The ladder, climbed while learning",
            ["games", "error", *ladder.rungs],
            rows,
            words=(),
            note="Scores in per cent, all looking one move ahead. Error: by how many discs values "
            "missed their targets (root mean square) since the row before.",
        )
        return LearningResult(
            {"_target_": "othello_lab.agents.learned.PatternEvaluation"},
            as_weights(learning, known),
            findings=[finding, f"{100 * used:.0f} % of the weights of patterns were ever used."],
            tables=[table],
            about={"games": games, "ladder": last},
        )
