"""The tree of a search, kept as it grows: printed by ``debug`` and shown by the web page.

The reading twin is observed; its counts are those of the compiled search. So the tree holds a node
for each game state examined, a look or a leaf for each evaluation, and a cut for each cutoff.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from othello_lab.agents.agent import Decision
from othello_lab.agents.search import SearchAgent
from othello_lab.agents.search.observer import SearchObserver
from othello_lab.agents.search.window.plain import INFINITY
from othello_lab.core.position import Position

EVALUATED, GAME_OVER = ENDS = ("evaluated", "game over")
"""How a node got its value that was not looked beyond."""


@dataclass(frozen=True, slots=True)
class OrderingLook:
    """A look at the position after a move, made to order the moves. value: to the side that makes
    the move. counted: True if it took an evaluation; a finished game takes none."""

    move: int
    value: int
    counted: bool


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The rest of the moves was left out, as the last one's value is ``beta`` or more."""

    value: int
    beta: int
    unsearched: tuple[int, ...]


@dataclass(slots=True, eq=False)
class TracedNode:
    """A move that was searched, or the root without one.

    alpha, beta: the window. value: to the side that makes the move; the root's is to the side to
    move. end: one of ENDS, empty for a node that was looked beyond. below: its events, in order:
    all looks, then nodes, then perhaps a cut. hidden: nodes below that are not kept.
    """

    move: int | None
    alpha: int = -INFINITY
    beta: int = INFINITY
    value: int = 0
    end: str = ""
    below: list[TracedNode | OrderingLook | Cutoff] = field(default_factory=list)
    hidden: int = 0

    @property
    def bound(self) -> str:
        """``<=`` or ``>=`` where the value is only a bound: it lies outside the window, and more
        than one position was looked at. Empty where it is exact."""
        if self.end or self.alpha < self.value < self.beta:
            return ""
        return "<=" if self.value <= self.alpha else ">="

    def line(self, moves: Iterable[int]) -> list[TracedNode]:
        """Return this node and those along a line of moves; of several searches of a move the last,
        since that one counted."""
        nodes = [self]
        for move in moves:
            below = (node for node in nodes[-1].below if isinstance(node, TracedNode))
            searches = [node for node in below if node.move == move]
            if not searches:
                break
            nodes.append(searches[-1])
        return nodes


class TracedTree(SearchObserver):
    """Keeps the observed events, ``deepest`` plies deep; None for all of them."""

    def __init__(self, deepest: int | None = None) -> None:
        self.root = TracedNode(None)
        self._deepest = deepest
        self._open = [self.root]

    @property
    def _is_stored(self) -> bool:
        """True if the events below the present node are kept."""
        return self._deepest is None or len(self._open) <= self._deepest

    def glance(self, move: int, value: int, counted: bool) -> None:
        if self._is_stored:
            self._open[-1].below.append(OrderingLook(move, value, counted))

    def enter(self, move: int, alpha: int, beta: int) -> None:
        node = TracedNode(move, alpha, beta)
        if self._is_stored:
            self._open[-1].below.append(node)
        elif self._deepest is not None:
            self._open[self._deepest].hidden += 1
        self._open.append(node)

    def leaf(self, value: int, over: bool) -> None:
        self._open[-1].end = GAME_OVER if over else EVALUATED

    def leave(self, value: int) -> None:
        self._open.pop().value = value

    def cut(self, value: int, beta: int, unsearched: Sequence[int]) -> None:
        if self._is_stored:
            self._open[-1].below.append(Cutoff(value, beta, tuple(unsearched)))


def watched(
    agent: SearchAgent, position: Position, depth: int, deepest: int | None = None
) -> tuple[TracedNode, Decision]:
    """Return the tree of a search with the reading twin, and its decision. ValueError if there is
    no twin."""
    tree = TracedTree(deepest)
    decision = agent.watched(position, depth, tree)
    tree.root.value = int(decision.value or 0)
    return tree.root, decision
