"""The tree that a search should search, and steps against the rules that lead out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from operator import eq

from othello_lab.agents.checks.search.questions import Board
from othello_lab.agents.evaluation import Evaluation
from othello_lab.core.bitboard import FLIPS, bits
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position
from othello_lab.core.rules import Color

Way = tuple[int, ...]
"""The numbers of the children that lead from a root to a node."""


class ReferenceNode:
    """A position, with its data for searches, each computed once. The tree below it grows as it is
    looked at, and all searches of one position share it.

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


# ------------------------------------------------------------------ steps against the rules

Line = tuple[int, ...]
"""Moves from a root."""

ILLEGAL, TWICE, FLIPPED, KEPT = (
    "illegal moves are played",
    "the same side moves twice",
    "wrong flips",
    "moves are not taken back",
)
FAULTS = {
    ILLEGAL: "a move has to be legal in the position where it is tried: a killer, or the move of "
    "a table, comes from another position",
    TWICE: "a pass is legal only where there is no move; a null move gives bounds that minimax "
    "does not have",
    FLIPPED: "a line of discs flips only if it ends at a disc of the mover, before the edge of the "
    "board, in each of the eight directions",
    KEPT: "discs of a move that was tried before are still there: copy the board for each move, "
    "or restore the square and all flipped discs",
}
"""Kinds of faults, with advice."""


@dataclass(frozen=True)
class Step:
    """A step against the rules.

    kind: a key of :data:`FAULTS`. move: its square, or a pass. before: the position where it was
    made. line: the legal moves to that. board: the position that was evaluated. left_over: True if
    the wrong discs are such as another move there flips.
    """

    kind: str
    move: int
    before: Position
    line: Line
    board: Board
    left_over: bool = False

    def describe(self) -> str:
        """Return the step in words, with both boards."""
        tried = "passes" if self.move == PASS else f"plays {square_name(self.move)}"
        evaluated = Position(*self.board, self.before.to_move.other)
        if sum(self.board) >> 64 or not self.before.legal_mask >> self.move & 1:
            right = "that is not legal there"
        else:
            right = f"right is\n{self.before.play(self.move)}"
        return (
            f"first difference: {after(self.line)}, at\n{self.before}\n"
            f"it {tried}, and evaluates\n{evaluated}\n{right}"
        )


def after(line: Line) -> str:
    """Return the place after some moves, in words."""
    moves = " ".join("pass" if move == PASS else square_name(move) for move in line)
    return f"after {moves}" if line else "at the root"


def step_before(start: Position, goal: Board, too_far: bool) -> Step | None:
    """Return the step against the rules on the way to a board; None if it can be reached.

    too_far: True for a board with too many discs to be looked for.
    """
    unknown = Step(KEPT, PASS, start, (), goal)
    if too_far:
        return unknown
    if next(legal_lines(start, goal), None) is not None:
        return None
    flips = min(_wrong_flips(start, goal), key=lambda pair: pair[0], default=None)
    broken = next(_broken_lines(start, goal), None)
    if broken and not (flips and flips[1].left_over):
        return broken
    return flips[1] if flips else unknown


def _prefixes(position: Position, goal: Board, line: Line = ()) -> Iterator[tuple[Line, Position]]:
    """Yield the legal lines whose squares have discs on a board, with the positions after them."""
    yield line, position
    for move in bits(position.legal_mask & sum(goal)):
        yield from _prefixes(position.play(move), goal, (*line, move))
    if position.must_pass:
        yield from _prefixes(position.play(PASS), goal, (*line, PASS))


def legal_lines(start: Position, goal: Board) -> Iterator[Line]:
    """Yield the legal lines from a position to a board, seen by either side."""
    for line, position in _prefixes(start, goal):
        if (position.mover, position.opponent) in (goal, goal[::-1]):
            yield line


def _wrong_flips(start: Position, goal: Board) -> Iterator[tuple[int, Step]]:
    """Yield last steps to a board that would be moves with wrong flips, each after the number of
    squares that are wrong."""
    for line, position in _prefixes(start, goal):
        mover, opponent = position.mover, position.opponent
        rest = sum(goal) & ~(mover | opponent)
        if rest.bit_count() != 1 or line[-1:] == (PASS,):
            continue
        square = rest.bit_length() - 1
        right = int(FLIPS.open(mover, opponent, square))
        others = 0
        for move in position.moves:
            others |= int(FLIPS.open(mover, opponent, move))
        for mine in goal:
            if mine & rest:
                wrong = (mine ^ (mover | right | rest)) & ~rest
                kind = FLIPPED if right or mine & opponent else ILLEGAL
                left_over = 0 < wrong == wrong & others
                yield wrong.bit_count(), Step(kind, square, position, line, goal, left_over)


def _broken_lines(start: Position, goal: Board) -> Iterator[Step]:
    """Yield the steps against the rules that together with legal moves lead to a board."""
    for line, position in _prefixes(start, goal):
        mover, opponent = position.mover, position.opponent
        steps: list[tuple[str, int, int]] = []  # kind, move, discs of the side that makes it
        for square in bits((sum(goal) & ~position.legal_mask) | mover):
            taken = (mover | opponent) >> square & 1
            flipped = int(FLIPS.open(mover, opponent, square)) & opponent if taken else 0
            if flipped or not taken:
                steps.append((ILLEGAL, square, mover | flipped | 1 << square))
        if position.legal_mask:
            steps.append((TWICE, PASS, mover))
        for kind, move, gained in steps:
            reached = Position(opponent & ~gained, gained, position.to_move.other)
            if next(legal_lines(reached, goal), None) is not None:
                yield Step(kind, move, position, line, goal)
