"""A game tree that grows as it is looked at, shared by all searches of one position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from operator import eq

from othello_lab.agents.checks.search.questions import Board
from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.notation import PASS
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

Way = tuple[int, ...]
"""The numbers of the children that lead from a root to a node."""


class ReferenceNode:
    """A position, with its data for searches, each computed once.

    evaluation: the heuristic at the leaves. order: numbers of children as a search entered them,
    see :meth:`note_order`.
    """

    def __init__(self, position: Position, evaluation: Evaluation) -> None:
        self.position = position
        self.board: Board = (position.mover, position.opponent)
        self._evaluation = evaluation
        self.order: list[int] = []

    @cached_property
    def moves(self) -> tuple[int, ...]:
        """The legal moves from a1 to h8, empty where there is none."""
        return self.position.moves

    @cached_property
    def over(self) -> bool:
        """True if neither side can move."""
        return self.position.is_over

    @cached_property
    def children(self) -> tuple[ReferenceNode, ...]:
        """The positions after each of the moves, or after a pass."""
        if self.over:  # of interest to a search that does not notice it
            return (self.turned,)
        moves = self.moves or (PASS,)
        return tuple(ReferenceNode(self.position.play(move), self._evaluation) for move in moves)

    @property
    def replies(self) -> dict[int, ReferenceNode]:
        """The children by the move, or pass, that leads to them."""
        return dict(zip(self.moves or (PASS,), self.children, strict=True))

    @cached_property
    def turned(self) -> ReferenceNode:
        """The same board with the other side to move."""
        return ReferenceNode(
            Position(*self.board[::-1], self.position.to_move.other), self._evaluation
        )

    @cached_property
    def looks(self) -> int:
        """The heuristic's value of it, from the mover's view."""
        return self._evaluation(self.position)

    @cached_property
    def discs(self) -> int:
        """The mover's disc difference, the empty squares going to the winner."""
        return self.position.disc_difference

    @property
    def winner(self) -> int:
        """1 if the mover has more discs, -1 if fewer, else 0."""
        return (self.discs > 0) - (self.discs < 0)

    @property
    def counted(self) -> int:
        """The mover's disc difference, the empty squares going to nobody."""
        return self.position.mover.bit_count() - self.position.opponent.bit_count()

    @property
    def is_black(self) -> bool:
        """True if Black is to move."""
        return self.position.to_move is Color.BLACK

    def ways(self, depth: int) -> Iterator[tuple[Way, ReferenceNode]]:
        """Yield the nodes down to a depth, level by level, each with the way to it."""
        level: list[tuple[Way, ReferenceNode]] = [((), self)]
        for ply in range(depth + 1):
            yield from level
            level = [
                ((*way, number), child)
                for way, node in level
                if ply < depth and not node.over
                for number, child in enumerate(node.children)
            ]

    def along(self, way: Way) -> list[ReferenceNode]:
        """Return the nodes on a way, this root first."""
        nodes = [self]
        for number in way:
            nodes.append(nodes[-1].children[number])
        return nodes

    def within(self, plies: int) -> tuple[bool, bool]:
        """Return True if a side must pass, and if the game ends, in the next plies: at a node above
        the horizon of a search of ``plies``, and at one that it enters."""
        if self.over or plies == 0:
            return False, self.over
        below = [child.within(plies - 1) for child in self.children]
        passes = not self.moves or any(passed for passed, _ in below)
        return passes, any(ended for _, ended in below)

    def note_order(self, depth: int, calls: Sequence[Board]) -> None:
        """Note below this root the order in which calls of the heuristic show that children were
        entered.

        depth: of the search. calls: seen by either side; only those of the last ply count. A
        position on several ways is taken for that which shares most with the way before.
        """
        leaves: dict[frozenset[int], list[Way]] = {}
        for way, node in self.ways(depth):
            if len(way) == depth:
                leaves.setdefault(frozenset(node.board), []).append(way)
        before: Way = ()
        for call in calls:
            if ways := leaves.get(frozenset(call)):
                before = max(ways, key=lambda way: len([*takewhile(bool, map(eq, way, before))]))
                for node, number in zip(self.along(before), before, strict=False):
                    if number not in node.order:
                        node.order.append(number)
