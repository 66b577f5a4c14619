"""The tree of a search, as text, for ``debug``.

Every node is a line, and so is every evaluation that was made to order moves, and every cut; so the
lines can be counted against the counts of the search.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from othello_lab.agents.agent import Decision
from othello_lab.agents.search import SearchAgent
from othello_lab.agents.search.window.plain import INFINITY
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color
from othello_lab.core.system.escaping import counted
from othello_lab.play.game import counts_in_words, value_text
from othello_lab.play.search_tree import Cutoff, OrderingLook, TracedNode, watched

MOST_LINES = 300_000
"""A larger tree is not kept whole."""


def _lines(
    node: TracedNode, color: Color, ply: int, chosen: Collection[TracedNode]
) -> Iterator[str]:
    star = "*" if node in chosen else " "
    indent = "  " * ply
    if node.move is None:
        text = f"now   {value_text(node.value)}"
    else:
        name = "pass" if node.move == PASS else square_name(node.move)
        bounded = f"{node.bound} {value_text(node.value)}".lstrip()
        text = f"{color.value[0].upper()} {name}  {bounded}"
    text += f"  {node.end}" if node.end else _window(node)
    yield f"{star} {indent}{text}".rstrip()
    for part in node.below:
        if isinstance(part, TracedNode):
            yield from _lines(part, color.other, ply + 1, chosen)
        else:
            yield f"  {indent}  {_note(part)}"
    if node.hidden:
        yield f"  {indent}  ... {node.hidden:,} game states below are not shown"


def _note(part: OrderingLook | Cutoff) -> str:
    if isinstance(part, Cutoff):
        left = len(part.unsearched)
        moves = counted(left, "move")
        condition = f"{value_text(part.value)} >= beta {value_text(part.beta)}"
        return f"cut: {condition}, {moves} not looked at"
    how = f"{value_text(part.value)}  evaluated to order the moves" if part.counted else "game over"
    return f"? {square_name(part.move)}  {how}"


def _window(node: TracedNode) -> str:
    """Return the window of a node that was looked beyond, to the side that makes the move, if there
    is one."""
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
    root, decision = watched(agent, position, depth, deepest)
    return _explained(root, position, decision)


def _explained(root: TracedNode, position: Position, decision: Decision) -> Iterator[str]:
    name = position.to_move.value.capitalize()
    yield f"The tree below {name}'s move. B d3 +5: Black plays d3, worth +5 to Black."
    yield "<= and >=: only a bound, as the rest was cut. *: the chosen line."
    yield from _lines(root, position.to_move.other, 0, set(root.line(decision.pv)))
    yield f"In all {', '.join(counts_in_words(decision.stats))}."
