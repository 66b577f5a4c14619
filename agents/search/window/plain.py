"""The reading twins: the searches as one would explain them, in plain Python.

They count what the compiled searches count, node for node, and tests hold the two equal. Run an
agent with ``compiled: false`` to play with them; a :class:`~agents.search.observer.SearchObserver`
receives each step (``debug on`` in ``othello-lab play terminal`` shows them).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search.observer import UNWATCHED, SearchObserver
from othello_lab.agents.search.window.ordering import HISTORY_CAP, LOOKING, static_ranks
from othello_lab.core.game import SearchStats
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Ruleset

Line = tuple[int, ...]
Evaluate = Callable[[Position], int]

INFINITY = 65 * FINAL_UNIT


def final_value(position: Position, final: str = "discs") -> int:
    """Return the worth of a finished game to its mover; ``final`` as in
    :class:`~agents.search.search_agent.SearchAgent`."""
    discs = position.disc_difference
    return FINAL_UNIT * (discs if final == "discs" else (discs > 0) - (discs < 0))


def leaf(
    position: Position,
    evaluate: Evaluate,
    stats: SearchStats,
    watch: SearchObserver = UNWATCHED,
    final: str = "discs",
    above: bool = False,
) -> int:
    """Return the value of a position without looking further: its result, or its evaluation. above:
    True if it lies above the horizon, so that its game must be over."""
    stats.leaves += 1
    over = position.is_over and (above or final == "discs")
    if over:
        value = final_value(position, final)
    else:
        stats.evaluations += 1
        value = evaluate(position)
    watch.leaf(value, over)
    return value


def minimax(
    position: Position,
    depth: int,
    evaluate: Evaluate,
    stats: SearchStats,
    watch: SearchObserver = UNWATCHED,
    final: str = "discs",
) -> tuple[int, Line]:
    """Value to the mover and principal variation, looking at every line of ``depth`` plies."""
    stats.nodes += 1
    if position.is_over or depth == 0:
        return leaf(position, evaluate, stats, watch, final, depth > 0), ()
    best = -INFINITY
    best_line: Line = ()
    for move in position.moves or (PASS,):
        stats.made += 1
        watch.enter(move, -INFINITY, INFINITY)
        value, line = minimax(position.play(move), depth - 1, evaluate, stats, watch, final)
        watch.leave(-value)
        if -value > best:
            best, best_line = -value, (move, *line)
    return best, best_line


class MoveOrder:
    """The memory of an ordering, and its way of arranging moves; see
    :mod:`agents.search.window.ordering`.

    seen: by move, the value of the position after it when the moves were last arranged, to the side
    to move there.
    """

    def __init__(
        self,
        criteria: Sequence[str],
        rules: Ruleset,
        sort_leaves: bool = False,
        final: str = "discs",
    ) -> None:
        self.criteria = criteria
        self.sort_leaves = sort_leaves
        self.final = final
        self.seen: dict[int, int] = {}
        self.ranks = static_ranks(rules)
        self.killers: dict[int, list[int]] = defaultdict(list)
        self.history: dict[tuple[int, int], int] = defaultdict(int)

    def arranged(
        self,
        position: Position,
        depth: int,
        ply: int,
        evaluate: Evaluate,
        stats: SearchStats,
        watch: SearchObserver = UNWATCHED,
    ) -> Sequence[int]:
        """The legal moves, the one to be tried first first."""
        criteria = self._criteria_at(depth, ply)
        keys = {}
        self.seen = {}
        stats.made += len(position.moves) if self.looks(depth, ply) else 0
        if self.sort_leaves and ply == 0:  # nobody has looked at the root yet
            stats.evaluations += 1
            watch.leaf(evaluate(position), False)
        for move in position.moves:
            after = position.play(move)
            key: list[int] = []
            for name in criteria:
                if name == "killer":
                    killers = self.killers[ply]
                    key.append(-(killers + [PASS] * 2).index(move) if move in killers else -2)
                elif name == "history":
                    key.append(self.history[ply % 2, move])
                elif name == "sorted":
                    self.seen[move] = glance(after, evaluate, stats, self.final)
                    key.append(-self.seen[move])
                    watch.glance(move, key[-1], not after.is_over or self.final == "win")
                elif name == "mobility":
                    key.append(-len(after.moves))
                else:
                    key.append(self.ranks[move])
            keys[move] = key
        return sorted(position.moves, key=keys.__getitem__, reverse=True)

    def looks(self, depth: int, ply: int) -> bool:
        """Return True if all positions after the moves are made to arrange these."""
        return not LOOKING.isdisjoint(self._criteria_at(depth, ply))

    def _criteria_at(self, depth: int, ply: int) -> Sequence[str]:
        if depth == 1 and ply > 0 and not self.sort_leaves:
            return [name for name in self.criteria if name == "static"]
        return self.criteria

    def remember_cutoff(self, move: int, depth: int, ply: int) -> None:
        """Note a move that caused a cutoff."""
        if not self.criteria:
            return
        killers = self.killers[ply]
        if killers[:1] != [move]:
            self.killers[ply] = [move, *killers][:2]
        if self.history[ply % 2, move] + depth * depth > HISTORY_CAP:
            for key in self.history:
                self.history[key] //= 2
        self.history[ply % 2, move] += depth * depth


def glance(position: Position, evaluate: Evaluate, stats: SearchStats, final: str = "discs") -> int:
    """Return the worth of a position to its mover without searching it."""
    if position.is_over and final == "discs":
        discs = position.mover.bit_count() - position.opponent.bit_count()
        return 0 if discs == 0 else discs + (FINAL_UNIT if discs > 0 else -FINAL_UNIT)
    stats.evaluations += 1
    return evaluate(position)


@dataclass
class OrderedSearch:
    """Alpha-beta, with the moves in the order of ``order``: :func:`minimax` without the moves that
    cannot change the value.

    The mover already has a line worth ``alpha``; the opponent already has one that holds the mover
    to ``beta``. Once a move is worth ``beta`` or more, the opponent will not let this position
    arise, and the remaining moves need not be looked at: a cutoff.

    null_windows: principal variation search. Once a move has been searched, each other one first
        has to show, in a window of width 1, that it is better at all.
    """

    order: MoveOrder
    evaluate: Evaluate
    stats: SearchStats
    null_windows: bool
    watch: SearchObserver = UNWATCHED
    final: str = "discs"

    def search(
        self,
        position: Position,
        depth: int,
        alpha: int = -INFINITY,
        beta: int = INFINITY,
        ply: int = 0,
        seen: int | None = None,
    ) -> tuple[int, Line]:
        """Value to the mover and principal variation; seen: a leaf's evaluation, if known."""
        self.stats.nodes += 1
        if position.is_over or depth == 0:
            return self._leaf(position, depth, seen), ()

        def child(move: int, alpha: int, beta: int) -> tuple[int, Line]:
            self.watch.enter(move, alpha, beta)
            seen = self.order.seen.get(move) if depth == 1 and self.order.sort_leaves else None
            value, line = self.search(position.play(move), depth - 1, -beta, -alpha, ply + 1, seen)
            self.watch.leave(-value)
            return -value, line

        if not position.moves:
            self.stats.made += 1
            value, line = child(PASS, alpha, beta)
            return value, (PASS, *line)
        moves = self.order.arranged(position, depth, ply, self.evaluate, self.stats, self.watch)
        looked = self.order.looks(depth, ply)
        best = -INFINITY
        best_line: Line = ()
        for number, move in enumerate(moves, start=1):
            self.stats.made += not looked
            if self.null_windows and number > 1 and beta - alpha > 1 and depth > 1:
                value, line = child(move, alpha, alpha + 1)
                if alpha < value < beta:
                    value, line = child(move, alpha, beta)
            else:
                value, line = child(move, alpha, beta)
            if value > best:
                best = value
                if value > alpha:
                    alpha, best_line = value, (move, *line)
            if alpha >= beta:
                if number < len(moves):
                    self.stats.cutoffs += 1
                    self.stats.first_move_cutoffs += number == 1
                    self.watch.cut(best, beta, moves[number:])
                if depth > 1 or ply == 0:
                    self.order.remember_cutoff(move, depth, ply)
                break
        return best, best_line

    def _leaf(self, position: Position, depth: int, seen: int | None) -> int:
        if seen is None or (position.is_over and self.final == "discs"):
            return leaf(position, self.evaluate, self.stats, self.watch, self.final, depth > 0)
        self.stats.leaves += 1
        return seen
