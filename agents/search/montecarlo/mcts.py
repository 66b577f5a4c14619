"""Monte-Carlo tree search: moves judged by the ends of games played on from them.

The method is explained in :mod:`agents.search.montecarlo.plain`, the reading twin; the kernels are
in :mod:`agents.search.montecarlo.tree` and :mod:`agents.search.montecarlo.rollout`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from othello_lab.agents.agent import Agent, Decision, Limits
from othello_lab.agents.evaluation import Evaluation, as_evaluation
from othello_lab.agents.search.limits import SHORTEST, allotment, clock_of
from othello_lab.agents.search.montecarlo.plain import (
    ROLLOUTS,
    MoveEstimate,
    PlainTree,
    TreeSettings,
    choose,
)
from othello_lab.agents.search.montecarlo.tree import WORDS, CompiledTree, NodePool
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.compile import Announce, prepare
from othello_lab.core.system.settings import (
    Choice,
    Number,
    Switch,
    Whole,
    check_settings,
    explained,
)

EXPLORATION = {"win": 0.7, "discs": 0.2}
"""The rewards, and the constant of UCT that suits rollouts with each."""
VALUE_EXPLORATION = {"win": 0.1, "discs": 0.03}
"""The same for an evaluation's values, which say more than a rollout does."""
_REUSED_DISCS = 4
"""The tree of the last decision is searched for a position with at most so many more discs."""


@explained
@dataclass(eq=False, repr=False)
class MCTS(Agent):
    """Monte-Carlo tree search with UCT: game after game is played to its end, first through a tree
    of those before, by moves that did well or were seldom tried, then on from its edge; the move
    tried most often is made.

    A decision's value is the mean result of its move, from -1 to 1; where the move is proven, it is
    exact. The decision's line is the most visited one, as far as there were visits. It has no
    depth, and limits on depth do not apply. A limit on nodes is looked at after each playout, so
    at most one playout exceeds it.

    What is counted: every position entered is a node, in the tree (root included) and in rollouts,
    and so is every position that a greedy move compares. Leaves are the ends of playouts (a
    finished game or a proven node), and the compared positions that were not moved to.

    Raises ValueError for settings that are not allowed or contradict each other.
    """

    watches_clock = True

    playouts: Annotated[int | None, Whole(1)] = None
    """Games played to the end for each move, on top of those in a tree kept from the move before.
    The same game seed then gives the same tree."""
    seconds: Annotated[float | None, Number(above=0)] = None
    """Seconds for each move instead. Set one of the two, or neither where a run limits nodes,
    seconds or the clock."""
    exploration: Annotated[float | None, Number(low=0)] = None
    """The constant c of UCT, ``value + c * sqrt(ln N / n)``, for results from -1 to 1. None means
    the best of those tried against one another: 0.7 for ``win``, 0.2 for ``discs``, whose results
    differ by less; with ``rollout`` ``value``, 0.1 and 0.03."""
    reward: Annotated[str, Choice(*EXPLORATION)] = "discs"
    """What a finished game counts. ``discs``: the disc difference, empties to the winner, divided
    by the number of squares. ``win``: 1, 0 or -1; proofs come sooner, but all winning moves are
    then alike, by however few discs they win."""
    rollout: Annotated[str, Choice(*ROLLOUTS)] = "random"
    """How games are played on below the tree. ``random``: every legal move equally likely.
    ``greedy``: with probability ``epsilon`` such a move, otherwise the one after which
    ``evaluation`` is best for the side that made it. ``value``: not at all; ``evaluation`` says
    what result it expects, and each such value counts as an evaluation."""
    epsilon: Annotated[float, Number(0, 1)] = 0.1
    evaluation: Evaluation | None = None
    per_disc: Annotated[float, Number(above=0)] = 100
    """With ``value``: how many units of the evaluation are a disc (100 in those that are learned).
    So many discs are the expected result with ``discs``; with ``win`` it is tanh(discs / 10)."""
    solve: Annotated[bool, Switch()] = True
    """Keep exact values of what is proven, and look no further there; a search ends when its root
    is proven. Otherwise finished games are averaged like any other result."""
    tree_reuse: Annotated[bool, Switch()] = True
    """Go on with the part of the tree below the position that the opponent's reply leads to."""
    memory_mb: Annotated[int, Whole(1)] = 64
    """Memory of the tree in MiB, 32 bytes a node. With ``tree_reuse`` half of it is kept free, to
    move a subtree there. A full tree grows no more, but goes on counting playouts."""
    compiled: Annotated[bool, Switch()] = True
    """False runs the reading twin in plain Python: the same moves and counts, some hundred times
    slower. It is always False with an evaluation that is not compiled."""

    def __post_init__(self) -> None:
        check_settings(self)
        if self.playouts is not None and self.seconds is not None:
            raise ValueError(
                f"playouts={self.playouts}: contradicts seconds={self.seconds}; set one of the two"
            )
        if self.rollout != "random":
            if self.evaluation is None:
                raise ValueError(f"evaluation=None: rollout {self.rollout} needs an Evaluation")
            self.evaluation = as_evaluation(self.evaluation)
        if self.rollout == "random" and self.evaluation is not None:
            raise ValueError(
                "evaluation is set, but random rollouts use none; say rollout greedy or value"
            )
        self.compiled = self.compiled and (self.evaluation is None or self.evaluation.compiled)
        self.reproducible = self.seconds is None
        self.rng = np.random.default_rng(0)
        self._pool: NodePool | None = None
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        # Addresses mean nothing to a copy, or in another process. A copy starts without a tree.
        return vars(self) | {"_tree": None, "_pool": None}

    def boards(self) -> frozenset[int]:
        return super().boards() if self.evaluation is None else self.evaluation.sides

    def prepare(self, announce: Announce | None = None) -> None:
        if self.evaluation is not None:
            self.evaluation.prepare(announce)
        if self.compiled:
            prepare("Monte-Carlo tree search", _load, announce)

    def begin_game(self, color: Color, start: Position, seed: int) -> None:
        super().begin_game(color, start, seed)
        self._forget()

    def _forget(self) -> None:
        self._tree: PlainTree | CompiledTree | None = None

    def decide(self, position: Position, limits: Limits) -> Decision:
        if not self.tree_reuse:
            self._forget()
        seed = int(self.rng.integers(1 << 64, dtype=np.uint64))
        return self._search(position, limits, seed)

    def search(self, position: Position, limits: Limits | None = None, seed: int = 0) -> Decision:
        """Search one position, with random numbers from this seed; for studies and notebooks.
        Nothing is remembered from other positions. If the mover must pass, the answer is the pass.
        Raises ValueError if the game is over."""
        if position.is_over:
            raise ValueError("the game is over; there is nothing to search")
        self._forget()
        return self._search(position, limits or Limits(), seed)

    @property
    def moves(self) -> dict[int, MoveEstimate]:
        """Return the last search's estimate of each legal move, in the order a1 to h8; empty before
        the first one."""
        return self._tree.estimates(()) if self._tree else {}

    def check_limits(self, limits: Limits) -> None:
        if self.playouts is None and self.seconds is None and not (limits.nodes or limits.timed):
            raise ValueError(
                "playouts: set it, or seconds, where a run limits neither nodes nor time"
            )

    def _search(self, position: Position, limits: Limits, seed: int) -> Decision:
        begun = time.perf_counter()
        self.check_limits(limits)
        tree = self._tree = self._tree_for(position)
        times = [allotment(limits, position.empties)]
        if self.seconds is not None:
            times.append(allotment(Limits(seconds=self.seconds), position.empties))
        seconds = min((t for t in times if t is not None), default=None)
        if seconds is not None:  # to find the tree again, and to move it, has taken some of it
            seconds = max(SHORTEST, seconds - (time.perf_counter() - begun))
        stats = tree.search(seed, self.playouts, limits.nodes, seconds, clock_of(limits))
        pv = _line(tree)
        return Decision(pv[0], tree.estimates(())[pv[0]].value, pv, None, stats)

    def _tree_for(self, position: Position) -> PlainTree | CompiledTree:
        """The tree to go on with: the last one, if it reaches this position, or a new one."""
        usual = VALUE_EXPLORATION if self.rollout == "value" else EXPLORATION
        method = TreeSettings(
            usual[self.reward] if self.exploration is None else self.exploration,
            self.reward == "discs",
            self.solve,
            self.rollout,
            self.epsilon,
            self.evaluation,
            self.per_disc,
            (self.memory_mb << 20) // (8 * WORDS) // (2 if self.tree_reuse else 1),
        )
        if self._tree is not None and self._tree.method == method:
            path = _path(self._tree, position)
            if path is not None:
                self._tree.move_to(path, position)
                return self._tree
        if not self.compiled:
            return PlainTree(method, position)
        if self._pool is None or self._pool.nodes != method.capacity:
            self._pool = NodePool(method.capacity)
        return CompiledTree(method, position, self._pool)


def _line(tree: PlainTree | CompiledTree) -> tuple[int, ...]:
    """The moves that would be chosen one after another, as far as they were visited."""
    line: tuple[int, ...] = ()
    while moves := tree.estimates(line):
        if not any(move.visits for move in moves.values()):
            break
        line += (choose(moves),)
    return line


def _path(tree: PlainTree | CompiledTree, position: Position) -> tuple[int, ...] | None:
    """Return the moves that lead through the tree to a position with expanded moves."""
    paths: list[tuple[tuple[int, ...], Position]] = [((), tree.position)]
    discs = position.mover | position.opponent
    if position.discs - tree.position.discs > _REUSED_DISCS:
        return None
    while paths:
        path, end = paths.pop()
        moves = tree.estimates(path)
        if end == position and moves:
            return path
        for move in moves:
            if move == PASS or discs >> move & 1:
                paths.append(((*path, move), end.play(move)))
    return None


def _load() -> None:
    """Run every kernel once."""
    agent = MCTS(playouts=200, memory_mb=1)
    start = Position.start()
    decision = agent.decide(start, Limits())
    agent.decide(start.play(decision.move), Limits())
