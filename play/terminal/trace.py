"""The tree of a search, as text: what ``debug`` shows.

Every node is a line, and so is every evaluation that was made to order moves, and every cut; so
the lines can be counted against what the search states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.base import Decision
from agents.search import SearchAgent
from agents.search.watch import Watch
from agents.search.window.plain import INFINITY
from core.notation import PASS, square_name
from core.position import Position
from core.rules import Color
from play.game import value_text

MOST_LINES = 300_000
"""A larger tree is not kept whole."""


@dataclass(slots=True)
class Node:
    """A move that was searched. value: to who makes the move. end: how it was valued, if it was not
    looked beyond. below: what was done there, in order: nodes and lines of text. hidden: nodes
    below that are not kept."""

    move: int | None
    alpha: int = -INFINITY
    beta: int = INFINITY
    value: int = 0
    end: str = ""
    below: list[Node | str] = field(default_factory=list)
    hidden: int = 0


class Tree(Watch):
    """Keeps what it is told of, ``deepest`` plies deep; None for all of it."""

    def __init__(self, deepest: int | None = None) -> None:
        self.root = Node(None)
        self._deepest = deepest
        self._open = [self.root]

    @property
    def _kept(self) -> bool:
        """Whether what is below the node under way is kept."""
        return self._deepest is None or len(self._open) <= self._deepest

    def glance(self, move: int, value: int, counted: bool) -> None:
        if self._kept:
            how = f"{value_text(value)}  evaluated to order the moves" if counted else "game over"
            self._open[-1].below.append(f"? {square_name(move)}  {how}")

    def enter(self, move: int, alpha: int, beta: int) -> None:
        node = Node(move, alpha, beta)
        if self._kept:
            self._open[-1].below.append(node)
        elif self._deepest is not None:
            self._open[self._deepest].hidden += 1
        self._open.append(node)

    def leaf(self, value: int, over: bool) -> None:
        self._open[-1].end = "game over" if over else "evaluated"

    def leave(self, value: int) -> None:
        self._open.pop().value = value

    def cut(self, value: int, beta: int, unsearched: int) -> None:
        if self._kept:
            moves = "1 move" if unsearched == 1 else f"{unsearched} moves"
            condition = f"{value_text(value)} >= beta {value_text(beta)}"
            self._open[-1].below.append(f"cut: {condition}, {moves} not looked at")

    def lines(self, to_move: Color, chosen: Sequence[int]) -> Iterator[str]:
        """The tree, indented; the chosen line marked by a star."""
        yield from _lines(self.root, to_move.other, 0, list(chosen))


def _lines(node: Node, color: Color, ply: int, chosen: list[int] | None) -> Iterator[str]:
    """chosen: what is left of the chosen line after this node; None if it is not on it."""
    star = " " if chosen is None else "*"
    indent = "  " * ply
    if node.move is None:
        about = f"now   {value_text(node.value)}"
    else:
        name = "pass" if node.move == PASS else square_name(node.move)
        about = f"{color.value[0].upper()} {name}  {_bounded(node)}"
    about += f"  {node.end}" if node.end else _window(node)
    yield f"{star} {indent}{about}".rstrip()
    followed = _followed(node, chosen)
    for part in node.below:
        if isinstance(part, str):
            yield f"  {indent}  {part}"
        else:
            rest = chosen[1:] if chosen and part is followed else None
            yield from _lines(part, color.other, ply + 1, rest)
    if node.hidden:
        yield f"  {indent}  ... {node.hidden:,} game states below are not shown"


def _followed(node: Node, chosen: list[int] | None) -> Node | None:
    """The node below that the chosen line goes on with: of several searches of a move the last."""
    found = None
    for part in node.below if chosen else ():
        if isinstance(part, Node) and chosen and part.move == chosen[0]:
            found = part
    return found


def _bounded(node: Node) -> str:
    """The value of a move. Outside the window it is only a bound, unless nothing is below."""
    sign = ""
    if not node.end:
        sign = "<= " if node.value <= node.alpha else ">= " if node.value >= node.beta else ""
    return sign + value_text(node.value)


def _window(node: Node) -> str:
    """The window of a node that was looked beyond, to who makes the move, where there is one."""
    parts = []
    if node.alpha > -INFINITY:
        parts.append(f"alpha {value_text(node.alpha)}")
    if node.beta < INFINITY:
        parts.append(f"beta {value_text(node.beta)}")
    return f"  ({', '.join(parts)})" if parts else ""


def traced(
    agent: SearchAgent, position: Position, depth: int, deepest: int | None
) -> Iterator[str]:
    """Search with the reading twin; the lines that show how. ValueError where there is no twin."""
    tree = Tree(deepest)
    decision = agent.watched(position, depth, tree)
    tree.root.value = int(decision.value or 0)
    return _explained(tree, position, decision)


def _explained(tree: Tree, position: Position, decision: Decision) -> Iterator[str]:
    name = position.to_move.value.capitalize()
    yield f"The tree below {name}'s move. B d3 +5: Black plays d3, worth +5 to Black."
    yield "<= and >=: only a bound, as the rest was cut. *: the chosen line."
    yield from tree.lines(position.to_move, decision.pv)
    stats = decision.stats
    yield (
        f"In all {stats.nodes:,} game states, {stats.evaluations:,} evaluations, "
        f"{stats.cutoffs:,} cutoffs."
    )
