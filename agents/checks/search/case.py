"""One answer of a search, beside those of right searches and the tree that it should search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from othello_lab.agents.checks.check import Violation
from othello_lab.agents.checks.search.questions import Board, SearchAnswer, SearchQuestion
from othello_lab.agents.checks.search.references import FULL, INFINITY, NO_CUTS, Reply, Search
from othello_lab.agents.checks.search.tree import (
    Line,
    ReferenceNode,
    Step,
    after,
    legal_lines,
    step_before,
)
from othello_lab.agents.evaluation import Evaluation
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search.endgame.solver import EndgameSolver
from othello_lab.core.notation import PASS, square_name
from othello_lab.core.position import Position

_FURTHER = 3  # plies beyond the depth, at most, where a line to a position is looked for
_STRANGE = 8  # positions outside the tree, at most, that are looked at


@dataclass(frozen=True)
class Cause:
    """The probable cause of a failure.

    name: the mistake in a few words. advice: a place to look at. explained: the share of the
    answers that a search with this mistake gives too; None if it was found in another way.
    evidence: a position, the right answer and the given one.
    """

    name: str
    advice: str
    evidence: str
    explained: float | None = None


class Fault(Violation):
    """A failure with its probable cause."""

    def __init__(self, reason: str, cause: Cause) -> None:
        super().__init__(reason)
        self.cause = cause


Cases = Sequence["AnsweredQuestion"]


class AnsweredQuestion:
    """A question and its answer, with what it is compared with, found on demand.

    beyond: the largest heuristic value there is. kind: of the right searches that it is held to,
    one of :data:`~agents.checks.search.references.RIGHT`. solved: True if the answer is that of a
    search that plays the game to its end. unproven: True if it is right, but for no reason.
    """

    def __init__(
        self, question: SearchQuestion, answer: SearchAnswer, evaluation: Evaluation, beyond: int
    ) -> None:
        self.position, self.depth = question.position, question.depth
        self.answer, self.beyond = answer, beyond
        self.solved = self.unproven = False
        self._evaluation = evaluation
        self.kind: type[Search] = Search
        root = self.root()
        self.passes, self.ends = root.within(self.depth)
        self._known: dict[type[Search], Reply] = {}
        self.minimax = self._known[Search] = Search(NO_CUTS).reply(root, self.depth)

    def root(self, as_called: bool = False) -> ReferenceNode:
        """Return its position as the root of a tree, made anew each time. as_called: True to note
        the order of moves that the calls show."""
        root = ReferenceNode(self.position, self._evaluation)
        if as_called:
            root.note_order(self.depth, self.answer.calls)
        return root

    def right(self, kind: type[Search]) -> Reply:
        """Return the answer of the right search of this kind, with all moves that are best."""
        if kind not in self._known:
            same = not (self.passes or self.ends)  # where kinds have nothing to differ in
            self._known[kind] = self.minimax if same else kind(FULL).reply(self.root(), self.depth)
        return self._known[kind]

    @property
    def truth(self) -> Reply:
        return self.right(self.kind)

    @property
    def wrong_move(self) -> bool:
        unjudged = self.answer.trouble or self.solved
        return not unjudged and self.answer.move not in self.truth.moves

    @property
    def wrong_value(self) -> bool:
        value = self.answer.value
        if value is None or self.solved:
            return False
        return not agree(value, self.truth.value, self.beyond)

    @property
    def wrong(self) -> bool:
        return self.wrong_move or self.wrong_value or self.unproven

    def fits(self, search: Search, root: ReferenceNode, counted: bool) -> bool:
        """Return True if a search answers as this one did, with as many evaluations if these are
        ``counted``."""
        reply, value = search.reply(root, self.depth), self.answer.value
        if self.answer.move not in reply.moves:
            return False
        if value is not None and not agree(value, reply.value, self.beyond):
            return False
        if self.asks_above and reply.evaluations == reply.unfinished:
            return False
        return not counted or self.unfinished in (None, reply.unfinished)

    def is_solved(self, solver: EndgameSolver) -> bool:
        """Return True if the answer is right about the game's end, by discs or by the winner."""
        scores = solver.analyse(self.position).scores
        best, chosen = max(scores.values()), scores.get(self.answer.move, -INFINITY)
        value = self.answer.value
        if value is None or not agree(value, best * FINAL_UNIT, self.beyond):
            return False
        return (chosen > 0) == (best > 0) and (chosen < 0) == (best < 0)

    def describe(self) -> str:
        """Return the position, the right answer, and the given one, in words."""
        stated = self.answer.value is not None
        expected = _said(self.truth.moves, self.truth.value if stated else None)
        came = self.answer.trouble or _said([self.answer.move], self.answer.value)
        question = f"asked to look {plies(self.depth)} ahead at\n{self.position}\n"
        return f"{question}expected {expected}; answered {came}"

    # ------------------------------------------------------------------ evaluated positions

    @cached_property
    def plies(self) -> dict[Board, int]:
        """The greatest ply of each position of the tree."""
        return {node.board: len(way) for way, node in self.root().ways(self.depth)}

    def ply(self, call: Board) -> int | None:
        """Return the ply of a position, seen by either side; None for one outside the tree."""
        return self.plies.get(call, self.plies.get(call[::-1]))

    @cached_property
    def unfinished(self) -> int | None:
        """Calls of the heuristic about positions where the game is not over; None if not seen."""
        calls = self.answer.calls
        if not calls or not self.ends:
            return self.answer.seen
        return sum(not Position(*call).is_over for call in calls)

    @property
    def asks_finished(self) -> bool:
        """True if the search asks the heuristic about a finished game."""
        return self.ends and self.unfinished != self.answer.seen

    @cached_property
    def above(self) -> list[Board]:
        """The calls about positions that are not of the last ply."""
        return [call for call in self.answer.calls if self.ply(call) != self.depth]

    @cached_property
    def asks_above(self) -> bool:
        """True if above the last ply the heuristic is asked about finished games, and about them
        alone, so not to sort moves."""
        return bool(self.above) and all(Position(*call).is_over for call in self.above)

    @property
    def evaluated(self) -> int:
        """The number of different positions that were evaluated."""
        return len({frozenset(call) for call in self.answer.calls})

    @cached_property
    def outside(self) -> list[Board]:
        """Some evaluated positions outside the tree, those with the fewest discs."""
        strange = [call for call in dict.fromkeys(self.answer.calls) if self.ply(call) is None]
        return sorted(strange, key=lambda call: sum(call).bit_count())[:_STRANGE]

    def _further(self, call: Board) -> int:
        """Return the number of discs that a position has more than the last ply."""
        return sum(call).bit_count() - self.position.discs - self.depth

    @cached_property
    def deeper(self) -> Line:
        """A legal line to an evaluated position beyond the depth; empty if there is none."""
        beyond = (call for call in self.outside if 0 < self._further(call) <= _FURTHER)
        lines = (next(legal_lines(self.position, call), ()) for call in beyond)
        return next(filter(None, lines), ())

    @cached_property
    def fault(self) -> Step | None:
        """The step against the rules that leads to an evaluated position."""
        steps = (
            step_before(self.position, call, self._further(call) > _FURTHER)
            for call in self.outside
        )
        return next(filter(None, steps), None)

    @cached_property
    def discs_stay(self) -> bool:
        """True if the first position outside the tree has all the discs of the one before it."""
        for earlier, call in pairwise(self.answer.calls):
            if self.ply(call) is None:
                more = not sum(earlier) & ~sum(call) and sum(earlier) != sum(call)
                return more and self.ply(earlier) == self.depth
        return False

    @cached_property
    def after_deeper(self) -> list[tuple[Board, bool]]:
        """The calls in the tree, each with True if a deeper position was evaluated before it."""
        plies = [(call, ply) for call in self.answer.calls if (ply := self.ply(call)) is not None]
        deepest = accumulate((ply for _, ply in plies), max, initial=0)
        return [(call, ply < most) for (call, ply), most in zip(plies, deepest, strict=False)]

    @cached_property
    def ends_early(self) -> bool:
        """True if after a deeper position others were evaluated above it, and not all moves of a
        node together, as for an order of moves."""
        late = {board for call, is_late in self.after_deeper if is_late for board in _sides(call)}
        return bool(late) and any(
            0 < sum(child.board in late for child in node.children) < len(node.children)
            for _, node in self._tree.ways(self.depth - 2)
            if not node.over
        )

    # ------------------------------------------------------------------ proofs

    @cached_property
    def _tree(self) -> ReferenceNode:
        return self.root()

    @cached_property
    def _seen(self) -> set[Board]:
        return {board for call in self.answer.calls for board in _sides(call)}

    def _bounds(self, node: ReferenceNode, left: int, short: bool) -> tuple[int, int]:
        """Return the least and the greatest value that the evaluated positions leave possible.

        short: True if a position counts as a leaf that was evaluated above the last ply, and
        nothing below it.
        """
        if node.over:
            return (node.discs * FINAL_UNIT,) * 2
        if node.board in self._seen and (not left or (short and not self._entered(node, left))):
            return node.looks, node.looks
        if left == 0:
            return -INFINITY, INFINITY
        pairs = [self._bounds(child, left - 1, short) for child in node.children]
        return max(-high for _, high in pairs), max(-low for low, _ in pairs)

    def _entered(self, node: ReferenceNode, left: int, last_only: bool = False) -> bool:
        """Return True if a position below a node was evaluated. last_only: True if only those of
        the last ply count, and ends of the game."""
        if node.over or not left:
            return last_only and (node.over or node.board in self._seen)
        return any(
            (not last_only and child.board in self._seen)
            or self._entered(child, left - 1, last_only)
            for child in node.children
        )

    @cached_property
    def proven(self) -> bool:
        """True if the evaluated leaves are enough to know the value."""
        low, high = self._bounds(self._tree, self.depth, short=False)
        return low == high

    @cached_property
    def shallow(self) -> bool:
        """True if positions above the last ply, taken for leaves, give the answer."""
        if self.proven:
            return False
        low, high = self._bounds(self._tree, self.depth, short=True)
        return low == high == self.answer.value

    # ------------------------------------------------------------------ the first difference

    @cached_property
    def origin(self) -> tuple[Line, ReferenceNode, int] | None:
        """The lowest wrong node on the way to a leaf that has the answer's value.

        It is told as the line to it, the node, and the value that the search kept there; None if no
        such leaf was evaluated below the answer's move.
        """
        lowest, value = None, self.answer.value
        worth = None if value is None else int(value) * (-1) ** self.depth
        for way, leaf in self._tree.ways(self.depth) if worth is not None else ():
            if len(way) < self.depth or leaf.over or leaf.board not in self._seen:
                continue
            nodes = self._tree.along(way)
            if leaf.looks != worth or nodes[1] is not self._tree.replies.get(self.answer.move):
                continue
            for ply in reversed(range(self.depth)):
                stored = worth * (-1) ** (self.depth - ply)
                if Search().reply(nodes[ply], self.depth - ply).value != stored:
                    if lowest is None or ply > len(lowest[0]):
                        pairs = zip(nodes, way[:ply], strict=False)
                        line = tuple([*node.replies][number] for node, number in pairs)
                        lowest = line, nodes[ply], stored
                    break
        return lowest

    def difference(self) -> str:
        """Return the case in words, with the first node that differs."""
        said = self.describe()
        if self.origin is None or self.depth == 1:
            return said
        line, node, stored = self.origin
        left = self.depth - len(line)
        right = Search().reply(node, left)
        move, child = next(
            (pair for pair in node.replies.items() if pair[0] in right.moves),
            (PASS, node.children[0]),
        )
        name = "the pass" if move == PASS else square_name(move)
        searched = self._entered(child, left - 1, last_only=True)
        how = "was searched" if searched else "was never searched to the end"
        return (
            f"{said}\nfirst difference: {after(line)}, at\n{node.position}\n"
            f"{name} is worth {right.value:,} there and {how}; the search kept {stored:,}"
        )


def _sides(call: Board) -> tuple[Board, Board]:
    return call, call[::-1]


def _said(moves: Iterable[int], value: float | None) -> str:
    names = " or ".join(square_name(move) if 0 <= move <= PASS else "?" for move in sorted(moves))
    if value is None:
        return names
    if abs(value) < FINAL_UNIT or value % FINAL_UNIT or abs(value) > 64 * FINAL_UNIT:
        return f"{names} with the value {value:,}"
    discs = int(value) // FINAL_UNIT
    return f"{names} with the value {int(value):,} (the game ends {discs:+d} discs)"


def agree(value: float, expected: int, beyond: int) -> bool:
    """Return True if a value is the expected one. Of a finished game the sign has to be right; its
    size is everybody's own choice, if that is ``beyond`` all values of the heuristic."""
    if value == expected:
        return True
    final = abs(expected) >= FINAL_UNIT
    return final and abs(value) > beyond and (value > 0) == (expected > 0)


def plies(depth: int) -> str:
    """Return a depth in words."""
    return "1 ply" if depth == 1 else f"{depth} plies"


def simplicity(case: AnsweredQuestion) -> tuple[int, int]:
    """Small for a case that is easily followed."""
    return case.depth, case.minimax.nodes


def simplest(cases: Cases) -> AnsweredQuestion:
    """Of these cases the one most easily followed."""
    return min(cases, key=simplicity)
