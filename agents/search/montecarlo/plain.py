"""The reading twin of Monte-Carlo tree search, in plain Python; and the part that both versions
share: judging and choosing a move once the playouts are done.

A playout is one walk from the root to a result:

1. *Selection*: as long as all is known of a node's moves, go to the child with the highest UCT
score ``value + exploration * sqrt(ln N / n)``, with n of the node's N visits through that child
(Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006). A child never visited comes
before all others. 2. *Expansion*: a node visited for the second time gets all its children, in
random order, so that no square is favoured while some are untried. A pass is the only child of its
node. 3. *Rollout*: from a node visited for the first time the game is played to its end; or, with
``value``, an evaluation's value there is the result. 4. *Back-up*: every node on the path counts a
visit and adds the result.

With ``solve`` each node also has bounds of its exact value (Cazenave and Saffidine, "Score bounded
Monte-Carlo tree search", CG 2010). A finished game is *proven*: its bounds are equal. A node's
bounds follow from its children's: the best of their lower bounds is certain, the best of their
upper bounds is the most there can be. That settles draws and disc differences like wins and losses.
A child is not selected again if it is proven, or cannot be better than the certain value of its
node. Then worse moves are tried; they must not spoil the node's mean. So a mean counts as no less
than the certain value and no more than the possible one, and on its way up a result is corrected in
the same way at every node it is added to.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT, Evaluation
from othello_lab.core.clock import WALL_CLOCK
from othello_lab.core.game import SearchStats
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset

# ------------------------------------------------------------------ what both versions share


@dataclass(frozen=True, slots=True)
class MoveEstimate:
    """A search's estimate of one move, all values to the side that makes it, from -1 to 1.

    visits: number of playouts through it. value: their mean result, within the bounds; None before
    the first visit. lower, upper: bounds of the move's exact value; -1 and 1 as long as nothing is
    proven.
    """

    visits: int
    value: float | None
    lower: float
    upper: float

    @property
    def proven(self) -> bool:
        """True if ``value`` is exact."""
        return self.lower == self.upper


def choose(moves: Mapping[int, MoveEstimate]) -> int:
    """Return the move to play, given an estimate of each.

    The highest lower bound of all moves is certain. Of the moves that can still be better than
    that, the most visited one is played; but if its mean is no more than the certain value, the
    certain move is played instead. So a proven win is taken, a proven loss is avoided, and a proven
    draw is preferred to a move that looks worse than a draw. If every move is proven lost, the one
    that took most visits to refute is played. Ties go to the first from a1 to h8.
    """
    squares = sorted(moves)
    safest = max(squares, key=lambda move: moves[move].lower)
    certain = moves[safest].lower
    if certain == -1:
        open_moves = [move for move in squares if moves[move].upper > -1] or squares
    else:
        open_moves = [move for move in squares if moves[move].upper > certain]
    if not open_moves:
        return safest
    likeliest = max(open_moves, key=lambda move: moves[move].visits)
    value = moves[likeliest].value
    if certain > -1 and (value is None or value <= certain):
        return safest
    return likeliest


# ------------------------------------------------------------------ the twin


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """Settings of a tree's search, with the meanings of :class:`~agents.search.MCTS`'s.

    discs: results are disc differences, not only won, drawn or lost. evaluation: the heuristic of
    ``greedy`` and ``value``, None for random rollouts. capacity: the most nodes there is room for.
    """

    exploration: float
    discs: bool
    solve: bool
    rollout: str
    epsilon: float
    evaluation: Evaluation | None
    per_disc: float
    capacity: int

    def most(self, rules: Ruleset) -> int:
        """The greatest result."""
        return rules.squares if self.discs else 1


ROLLOUTS = ("random", "greedy", "value")
"""How a position is judged that is new in the tree."""
FINE = 256
"""A result is a multiple of 1/256, of a disc or of a win; so sums of results are exact."""
CLEAR_WIN = 10
"""So many discs ahead an evaluation's promise counts as tanh(1) = 0.76 of a win. Chosen so that it
is near the mean result that the positions with such a promise had."""


class SplitMix64:
    """The random generator of :mod:`agents.search.montecarlo.rollout`."""

    CONSTANTS = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
    """The step of the counter, and the two factors of the scrambling, as in Vigna's public-domain
    splitmix64.c."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def draw(self) -> int:
        """64 random bits."""
        step, first_factor, second_factor = self.CONSTANTS
        self.state = self.state + step & 0xFFFFFFFFFFFFFFFF
        bits = (self.state ^ self.state >> 30) * first_factor & 0xFFFFFFFFFFFFFFFF
        bits = (bits ^ bits >> 27) * second_factor & 0xFFFFFFFFFFFFFFFF
        return bits ^ bits >> 31

    def below(self, count: int) -> int:
        """A number from 0 to ``count`` - 1."""
        return (self.draw() >> 32) * count >> 32


class PlayoutNode:
    """A node of the tree. Its total and bounds are worth that much to the side that moved here, in
    units of the result: discs, or 1 for a win."""

    def __init__(self, move: int, most: int) -> None:
        self.move = move
        self.visits = 0
        self.total: float = 0
        self.lower, self.upper = -most, most
        self.children: list[PlayoutNode] = []

    @property
    def proven(self) -> bool:
        return self.lower == self.upper

    @property
    def value(self) -> float:
        """Mean result, within the bounds."""
        return min(max(self.total / self.visits, self.lower), self.upper)

    def size(self) -> int:
        """Number of nodes of the tree below and with this one."""
        return 1 + sum(child.size() for child in self.children)


class PlainTree:
    """A tree, grown playout by playout from one root."""

    def __init__(self, method: TreeSettings, position: Position) -> None:
        self.method = method
        self.most = method.most(position.ruleset)
        self.position = position
        self.root = PlayoutNode(PASS, self.most)
        self.used = 1

    def search(
        self,
        seed: int,
        playouts: int | None,
        nodes: int | None,
        seconds: float | None,
        clock: int = WALL_CLOCK,
    ) -> SearchStats:
        """Add playouts until their number is reached, the root is proven, or the limit of nodes or
        seconds has passed; at least one. Return their costs. clock: of the seconds."""
        now = time.perf_counter if clock == WALL_CLOCK else time.thread_time
        started = now()
        self.random = SplitMix64(seed)
        stats = self.stats = SearchStats()
        if not self.root.children:
            self._expand(self.root, self.position)
        while True:
            self._playout()
            if (
                self.root.proven
                or (playouts is not None and stats.playouts >= playouts)
                or (nodes is not None and stats.nodes >= nodes)
                or (seconds is not None and now() - started >= seconds)
            ):
                return stats

    def _playout(self) -> None:
        node, position = self.root, self.position
        path = [node]
        self.stats.playouts += 1
        self.stats.nodes += 1
        self.stats.leaves += 1
        while not node.proven:
            if not node.children and (node.visits == 0 or not self._expand(node, position)):
                break
            node = self._select(node)
            position = position.play(node.move)
            path.append(node)
            self.stats.nodes += 1
            self.stats.made += 1
        settled = False
        if node.proven:
            result: float = node.lower
        elif self.method.rollout == "value" and not position.is_over:
            result = -self._expected(position)
        else:
            result = -self._rollout(position)
            if self.method.solve and position.is_over:
                node.lower = node.upper = int(result)
                settled = True
        for number, node in enumerate(reversed(path)):
            if settled and number > 0:
                settled = self._settle(node)
            result = min(max(result, node.lower), node.upper)
            node.visits += 1
            node.total += result
            result = -result

    def _select(self, node: PlayoutNode) -> PlayoutNode:
        """The child to visit next."""
        certain = -node.upper  # what the side to move is sure to get
        best, best_score = node.children[0], -math.inf
        for child in node.children:
            if child.proven or child.upper <= certain:
                continue
            if child.visits == 0:
                return child
            bonus = math.sqrt(math.log(node.visits) / child.visits)
            score = child.value + self.method.exploration * self.most * bonus
            if score > best_score:
                best, best_score = child, score
        return best

    def _expand(self, node: PlayoutNode, position: Position) -> bool:
        """Give a node its children; False if the game is over or the memory full."""
        if position.is_over:
            return False
        moves = list(position.moves) or [PASS]
        if self.used + len(moves) > self.method.capacity:
            return False
        for last in range(len(moves) - 1, 0, -1):
            other = self.random.below(last + 1)
            moves[last], moves[other] = moves[other], moves[last]
        node.children = [PlayoutNode(move, self.most) for move in moves]
        self.used += len(moves)
        return True

    @staticmethod
    def _settle(node: PlayoutNode) -> bool:
        """Derive a node's bounds from its children's; return True if that changed them."""
        before = node.lower, node.upper
        node.lower = -max(child.upper for child in node.children)
        node.upper = -max(child.lower for child in node.children)
        return (node.lower, node.upper) != before

    def _rollout(self, position: Position) -> int:
        """Play to the end; the result there, to the side to move here."""
        mover = position.to_move
        while not position.is_over:
            position = self._next(position)
        result = position.disc_difference * (1 if position.to_move is mover else -1)
        return result if self.method.discs else (result > 0) - (result < 0)

    def _expected(self, position: Position) -> float:
        """The result that the evaluation expects, to the side to move."""
        assert self.method.evaluation is not None
        self.stats.evaluations += 1
        discs = self.method.evaluation.plain(position) / self.method.per_disc
        if self.method.discs:
            result = min(max(discs, -self.most), self.most)
        else:
            result = math.tanh(discs / CLEAR_WIN)
        return round(result * FINE) / FINE

    def _next(self, position: Position) -> Position:
        """The position after a move of the rollout."""
        moves = position.moves
        evaluation = self.method.evaluation
        if not moves:
            self.stats.nodes += 1
            self.stats.made += 1
            return position.play(PASS)
        if evaluation is None or (
            len(moves) == 1 or self.random.draw() >> 11 < int(self.method.epsilon * 2**53)
        ):
            self.stats.nodes += 1
            self.stats.made += 1
            return position.play(moves[self.random.below(len(moves))])
        candidates = [position.play(move) for move in moves]
        self.stats.nodes += len(moves)
        self.stats.made += len(moves)
        self.stats.leaves += len(moves) - 1
        return min(candidates, key=lambda after: self._worth(after, evaluation))

    def _worth(self, position: Position, evaluation: Evaluation) -> int:
        """The value to its mover of a position that a greedy move may lead to."""
        if position.is_over:
            return position.disc_difference * FINAL_UNIT
        self.stats.evaluations += 1
        return evaluation.plain(position)

    # -------------------------------------------------------------- what came of it

    def _at(self, path: Sequence[int]) -> PlayoutNode:
        """The node after these moves."""
        node = self.root
        for move in path:
            node = next(child for child in node.children if child.move == move)
        return node

    def estimates(self, path: Sequence[int]) -> dict[int, MoveEstimate]:
        """Return the estimate of each move after these ones, in the order a1 to h8."""
        moves = {
            child.move: MoveEstimate(
                child.visits,
                child.value / self.most if child.visits else None,
                child.lower / self.most,
                child.upper / self.most,
            )
            for child in self._at(path).children
        }
        return dict(sorted(moves.items()))

    def move_to(self, path: Sequence[int], position: Position) -> None:
        """Make the node after these moves, with this ``position``, the root; forget all else."""
        self.root = self._at(path)
        self.position = position
        self.used = self.root.size()
