"""Right searches, and searches with a usual mistake.

Each mistaken search differs from the right one, :class:`Search`, in the few lines of its mistake. A
student's answers are compared with theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from othello_lab.agents.diagnosis.tree import ReferenceNode
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.agents.search.window.ordering import static_ranks
from othello_lab.core.rules import Color

INFINITY = 65 * FINAL_UNIT


@dataclass(frozen=True)
class Reply:
    """The answer of a search.

    moves: the moves that it may play, each as good as the others to it. value: to the mover. nodes,
    leaves, evaluations: as :class:`~agents.agent.SearchStats` counts them.
    """

    moves: frozenset[int]
    value: int
    nodes: int
    leaves: int
    evaluations: int


class Search:
    """Alpha-beta, fail-soft, from a1 to h8 or ``backwards``; without ``prunes`` it is minimax.

    right_root: True if the mistake is made below the root only, as in a program with a loop of its
    own there.

    cause: the mistake in a few words, the same for all forms of it. advice: its usual origin.
    """

    cause = ""
    advice = ""
    lowest = -INFINITY
    """What the best value begins with."""

    def __init__(
        self, prunes: bool = True, backwards: bool = False, right_root: bool = False
    ) -> None:
        self.prunes, self.backwards, self.right_root = prunes, backwards, right_root
        self.nodes = self.leaves = self.evaluations = 0
        self.tried: list[tuple[int, int]] = []

    def reply(self, root: ReferenceNode, depth: int) -> Reply:
        """Its answer, ``depth`` plies deep."""
        self.nodes = self.leaves = self.evaluations = 0
        self.tried = []
        value = self.search(root, self.plies(depth), -INFINITY, INFINITY, 0)
        moves = frozenset(self.chosen(root))
        return Reply(moves, self.stated(root, value), self.nodes, self.leaves, self.evaluations)

    def search(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Value to the mover, ``ply`` plies from the root."""
        self.nodes += 1
        if node.over:
            return self.finished(node, depth, ply)
        if depth <= 0:
            return self.looked(node, ply)
        if not node.moves:
            return self.passed(node, depth, alpha, beta, ply)
        here = Search if ply == 0 and self.right_root else type(self)
        best = here.lowest
        for number, (move, child) in enumerate(here.considered(self, node, ply)):
            value = here.value(self, child, number, depth, alpha, beta, ply)
            if ply == 0:
                self.tried.append((move, value))
            best = here.better(self, best, value)
            if self.prunes:
                if here.cut(self, value, alpha, beta):
                    break
                alpha = here.raised(self, alpha, value, ply)
        return best

    # ------------------------------------------------------------------ what may be mistaken

    def plies(self, depth: int) -> int:
        """Return the plies it really looks ahead for a ``depth``."""
        return depth

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        self.leaves += 1
        return node.discs * FINAL_UNIT

    def looked(self, node: ReferenceNode, ply: int) -> int:
        self.leaves += 1
        self.evaluations += 1
        return node.looks

    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return -self.search(node.children[0], depth - 1, -beta, -alpha, ply + 1)

    def considered(self, node: ReferenceNode, ply: int) -> Sequence[tuple[int, ReferenceNode]]:
        """The moves that it looks at, with the positions after them."""
        pairs = tuple(zip(node.moves, node.children, strict=True))
        return pairs[::-1] if self.backwards else pairs

    def value(
        self, child: ReferenceNode, number: int, depth: int, alpha: int, beta: int, ply: int
    ) -> int:
        """Return the worth of a move, the ``number``-th from 0."""
        return -self.search(child, depth - 1, -beta, -alpha, ply + 1)

    def better(self, best: int, value: int) -> int:
        return max(best, value)

    def cut(self, value: int, alpha: int, beta: int) -> bool:
        return max(alpha, value) >= beta

    def raised(self, alpha: int, value: int, ply: int) -> int:
        return max(alpha, value)

    def chosen(self, root: ReferenceNode) -> Sequence[int]:
        """The moves that it may play. With pruning, values that equal the best are but bounds."""
        if not self.tried:  # it has not looked at any
            return root.moves[:1]
        best = self.tried[0][1]
        for _, value in self.tried:
            best = (Search if self.right_root else type(self)).better(self, best, value)
        equal = [move for move, value in self.tried if value == best]
        return equal[:1] if self.prunes else equal

    def stated(self, root: ReferenceNode, value: int) -> int:
        """The value that it says."""
        return value


# ------------------------------------------------------------------ right in another way


class WinOrLoss(Search):
    """A finished game is won, lost or drawn, by however many discs."""

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        self.leaves += 1
        return ((node.discs > 0) - (node.discs < 0)) * FINAL_UNIT


class PaipEnds(WinOrLoss):
    """As PAIP has it: the test of the depth comes before that of the end."""

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        return self.looked(node, ply) if depth <= 0 else super().finished(node, depth, ply)


class FreePass(Search):
    """A pass costs no ply."""

    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return -self.search(node.children[0], depth, -beta, -alpha, ply + 1)


class FreePassWinOrLoss(FreePass, WinOrLoss):
    """Both."""


RIGHT = {
    Search: "",
    WinOrLoss: "a finished game counts as won, lost or drawn, by however many discs",
    PaipEnds: "as in PAIP, where no depth is left finished games too are judged by the heuristic",
    FreePass: "a pass costs no ply (in the lab it is one)",
    FreePassWinOrLoss: "a pass costs no ply, and a finished game counts as won, lost or drawn",
}
"""What may be chosen, and what is said of it."""


# ------------------------------------------------------------------ passes


class _NoPass(Search):
    cause = "no pass handling"
    advice = (
        "where the mover has no move but the other side has one, the search has to go on with the "
        "other side"
    )


class PassLooked(_NoPass):
    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return self.looked(node, ply)


class PassFinished(_NoPass):
    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return self.finished(node, depth, ply)


class PassLost(_NoPass):
    """The best of no moves."""

    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return self.lowest


class PassNothing(_NoPass):
    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return 0


class PassStays(_NoPass):
    """The same side moves again, until no depth is left."""

    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        value = self.looked(node, ply)
        return -value if depth % 2 else value


class SignAtPass(Search):
    cause = "sign error at a pass"
    advice = (
        "after a pass the other side moves: its value has to be negated as after any move "
        "(value = -search(...)), or the level changes from max to min"
    )

    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return self.search(node.children[0], depth - 1, alpha, beta, ply + 1)


class SignAtPassWindowNegated(SignAtPass):
    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return self.search(node.children[0], depth - 1, -beta, -alpha, ply + 1)


class SignAtFreePass(SignAtPass):
    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return self.search(node.children[0], depth, alpha, beta, ply + 1)


class LevelAtPass(SignAtPass):
    """With a level for each side: after a pass the same level goes on."""

    sign = 1

    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        self.sign = -self.sign
        value = self.search(node.children[0], depth - 1, alpha, beta, ply + 1)
        self.sign = -self.sign
        return value

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        return self.sign * super().finished(node, depth, ply)

    def looked(self, node: ReferenceNode, ply: int) -> int:
        return self.sign * super().looked(node, ply)


class WindowAtPass(Search):
    cause = "window not negated at a pass"
    advice = "after a pass the other side's window is (-beta, -alpha), as after any move"

    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return -self.search(node.children[0], depth - 1, alpha, beta, ply + 1)


# ------------------------------------------------------------------ windows and cutoffs


class _Window(Search):
    cause = "window not negated"
    advice = "a child's window is (-beta, -alpha): negated, and its ends exchanged"


class WindowHandedOn(_Window):
    def value(
        self, child: ReferenceNode, number: int, depth: int, alpha: int, beta: int, ply: int
    ) -> int:
        return -self.search(child, depth - 1, alpha, beta, ply + 1)


class WindowNotExchanged(_Window):
    def value(
        self, child: ReferenceNode, number: int, depth: int, alpha: int, beta: int, ply: int
    ) -> int:
        return -self.search(child, depth - 1, -alpha, -beta, ply + 1)


class WindowExchangedOnly(_Window):
    def value(
        self, child: ReferenceNode, number: int, depth: int, alpha: int, beta: int, ply: int
    ) -> int:
        return -self.search(child, depth - 1, beta, alpha, ply + 1)


class _CutByValue(Search):
    """The value compared with beta matters only in a window that is upside down."""

    def cut(self, value: int, alpha: int, beta: int) -> bool:
        return value >= beta


class WindowHandedOnByValue(_CutByValue, WindowHandedOn):
    pass


class WindowNotExchangedByValue(_CutByValue, WindowNotExchanged):
    pass


class WindowExchangedOnlyByValue(_CutByValue, WindowExchangedOnly):
    pass


class CutAtAlpha(Search):
    cause = "cutoff at the wrong bound"
    advice = "a node is left when a move is worth beta or more, not when one is worth alpha or less"

    def cut(self, value: int, alpha: int, beta: int) -> bool:
        return value <= alpha


class AlphaFollows(Search):
    cause = "alpha is lowered again"
    advice = "alpha becomes a move's value only if that is more: alpha = max(alpha, value)"

    def raised(self, alpha: int, value: int, ply: int) -> int:
        return value


class BoundForValue(Search):
    cause = "a bound is taken for a value"
    advice = (
        "in a narrowed window a result at or beyond its ends is only a bound (fail-hard and "
        "fail-soft alike): a move is better only if its value is more than alpha, and what fails "
        "high in a null window has to be searched again"
    )

    def chosen(self, root: ReferenceNode) -> Sequence[int]:
        """The last that is no worse."""
        best = max(value for _, value in self.tried) if self.tried else 0
        return [move for move, value in self.tried if value == best][-1:]


class HardBoundForValue(BoundForValue):
    """The same with values that stay within the window."""

    def search(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return min(max(super().search(node, depth, alpha, beta, ply), alpha), beta)


class NoSecondLook(BoundForValue):
    """A null window for all moves but the first, and no search of better ones."""

    def value(
        self, child: ReferenceNode, number: int, depth: int, alpha: int, beta: int, ply: int
    ) -> int:
        if number and alpha > -INFINITY:
            beta = alpha + 1
        return -self.search(child, depth - 1, -beta, -alpha, ply + 1)

    def chosen(self, root: ReferenceNode) -> Sequence[int]:
        return Search.chosen(self, root)


class AlphaReturned(BoundForValue):
    """A node without a better move, and a cutoff, return alpha as it came in."""

    def search(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        found = super().search(node, depth, alpha, beta, ply)
        return alpha if found >= beta and depth > 0 and not node.over else found

    def chosen(self, root: ReferenceNode) -> Sequence[int]:
        return Search.chosen(self, root)


# ------------------------------------------------------------------ depth


class _Depth(Search):
    cause = "depth off by one"
    advice = (
        "at depth 1 each move is made and the position after it evaluated: the root hands depth - "
        "1 to its children, and the test is depth == 0"
    )
    more = 0

    def plies(self, depth: int) -> int:
        return depth + self.more


class OnePlyMore(_Depth):
    more = 1


class OnePlyLess(_Depth):
    more = -1


class OnePlyLessBelow(OnePlyLess):
    """At a root that makes its moves anyway, one ply cannot become fewer."""

    def plies(self, depth: int) -> int:
        return max(1, super().plies(depth))


class DepthIgnored(Search):
    cause = "the depth that is asked for is not obeyed"
    advice = "it looks equally far whatever it is asked; see the setting depth, or limits.depth"
    always = 1

    def plies(self, depth: int) -> int:
        return self.always


class TwoPliesAlways(DepthIgnored):
    always = 2


class ThreePliesAlways(DepthIgnored):
    always = 3


# ------------------------------------------------------------------ what leaves are worth


class _Side(Search):
    cause = "wrong side evaluated"
    advice = "in negamax a leaf is evaluated from the view of the side that is to move there"


class OtherSide(_Side):
    def looked(self, node: ReferenceNode, ply: int) -> int:
        return -super().looked(node, ply)


class OtherSideAlways(OtherSide):
    """At the end of the game, too."""

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        return -super().finished(node, depth, ply)


class RootSide(_Side):
    """The side that moves at the root, in a search that negates values."""

    def looked(self, node: ReferenceNode, ply: int) -> int:
        return -super().looked(node, ply) if ply % 2 else super().looked(node, ply)


class RootSideAlways(RootSide):
    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        value = super().finished(node, depth, ply)
        return -value if ply % 2 else value


class BlackSide(_Side):
    def looked(self, node: ReferenceNode, ply: int) -> int:
        return _to_black(node, super().looked(node, ply))


class BlackSideAlways(BlackSide):
    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        return _to_black(node, super().finished(node, depth, ply))


class ForBlack(Search):
    """With White to move at the root it chooses the best for Black."""

    cause = "plays for Black, whoever is to move"
    advice = "the side to move is the one that chooses the best for itself, White too"
    sign = 1

    def reply(self, root: ReferenceNode, depth: int) -> Reply:
        self.sign = _to_black(root, 1)
        return super().reply(root, depth)

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        return self.sign * super().finished(node, depth, ply)

    def looked(self, node: ReferenceNode, ply: int) -> int:
        return self.sign * super().looked(node, ply)


class SaysBlacks(Search):
    cause = "the value that is told is Black's, not the mover's"
    advice = "the moves are right; where White moves the value has the wrong sign"

    def stated(self, root: ReferenceNode, value: int) -> int:
        return _to_black(root, value)


class SaysOthers(Search):
    cause = "the value that is told is the opponent's, not the mover's"
    advice = "the moves are right; the value has the wrong sign"

    def stated(self, root: ReferenceNode, value: int) -> int:
        return -value


def _to_black(node: ReferenceNode, value: int) -> int:
    return value if node.position.to_move is Color.BLACK else -value


class _Finished(Search):
    cause = "finished game evaluated by the heuristic"
    advice = (
        "whether the game is over has to be asked first; what counts then is who has won, beyond "
        "any heuristic value"
    )


class FinishedLooked(_Finished):
    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        return self.looked(node, ply)


class FinishedStays(_Finished):
    """Passes until no depth is left."""

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        value = self.looked(node, ply)
        return -value if depth % 2 else value


class FinishedNothing(_Finished):
    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        self.leaves += 1
        return 0


class FinishedOtherSide(Search):
    cause = "finished game counted for the wrong side"
    advice = "the result is the mover's, as a heuristic value is"

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        return -super().finished(node, depth, ply)


class FinishedWonOtherSide(FinishedOtherSide, WinOrLoss):
    pass


class FinishedInDiscs(Search):
    cause = "a finished game's discs are mixed with heuristic values"
    advice = "a won game has to be worth more than any heuristic value, however few the discs"

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        self.leaves += 1
        return node.discs


class FinishedInDiscsCounted(FinishedInDiscs):
    """The empty squares to nobody."""

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        self.leaves += 1
        return node.position.mover.bit_count() - node.position.opponent.bit_count()


# ------------------------------------------------------------------ levels, moves


class _Maximizes(Search):
    cause = "maximizes at every level"
    advice = (
        "what is good for the opponent is bad for the mover: negate a child's value, or take turns "
        "with max and min"
    )


class NoMinus(_Maximizes):
    def value(
        self, child: ReferenceNode, number: int, depth: int, alpha: int, beta: int, ply: int
    ) -> int:
        return self.search(child, depth - 1, alpha, beta, ply + 1)

    def passed(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        return self.search(node.children[0], depth - 1, alpha, beta, ply + 1)


class NoMinusButAtPass(NoMinus):
    passed = Search.passed


class NoMinusForRoot(NoMinus):
    """All for the side that moves at the root."""

    def looked(self, node: ReferenceNode, ply: int) -> int:
        return -super().looked(node, ply) if ply % 2 else super().looked(node, ply)

    def finished(self, node: ReferenceNode, depth: int, ply: int) -> int:
        value = super().finished(node, depth, ply)
        return -value if ply % 2 else value


class Minimizes(Search):
    cause = "minimizes where it should maximize"
    advice = "the side to move takes the move with the greatest value"
    lowest = INFINITY

    def better(self, best: int, value: int) -> int:
        return min(best, value)

    def cut(self, value: int, alpha: int, beta: int) -> bool:
        return value <= alpha

    def raised(self, alpha: int, value: int, ply: int) -> int:
        return alpha


class BestFromNothing(Search):
    cause = "the best value begins at 0"
    advice = "it has to begin below any value: positions may be bad in every way"
    lowest = 0


class BestFromOne(BestFromNothing):
    lowest = -1


class FirstMove(Search):
    cause = "the first move of the list is returned"
    advice = "the move has to be kept together with its value whenever a better one is found"

    def chosen(self, root: ReferenceNode) -> Sequence[int]:
        return root.moves[:1]


class LastMove(Search):
    cause = "the last move of the list is returned"
    advice = FirstMove.advice

    def chosen(self, root: ReferenceNode) -> Sequence[int]:
        return root.moves[-1:]


class _Loses(Search):
    cause = "ordering loses moves"
    advice = (
        "every legal move has to be in the ordered list; a dict by key keeps one move of those "
        "with the same key, and slices may leave out the first or last"
    )


class LosesLast(_Loses):
    def considered(self, node: ReferenceNode, ply: int) -> Sequence[tuple[int, ReferenceNode]]:
        pairs = list(super().considered(node, ply))
        return pairs[:-1] or pairs


class LosesFirst(_Loses):
    def considered(self, node: ReferenceNode, ply: int) -> Sequence[tuple[int, ReferenceNode]]:
        pairs = list(super().considered(node, ply))
        return pairs[1:] or pairs


class LosesEqualSquares(_Loses):
    """A dict by the square's rank: the last of each is kept."""

    def considered(self, node: ReferenceNode, ply: int) -> Sequence[tuple[int, ReferenceNode]]:
        ranks = static_ranks(node.position.ruleset)
        kept = {int(ranks[move]): (move, child) for move, child in super().considered(node, ply)}
        return [kept[rank] for rank in sorted(kept, reverse=True)]


class LosesEqualLooks(_Loses):
    """A dict by the evaluation of the position after the move."""

    def considered(self, node: ReferenceNode, ply: int) -> Sequence[tuple[int, ReferenceNode]]:
        kept = {child.looks: (move, child) for move, child in super().considered(node, ply)}
        return [kept[looks] for looks in sorted(kept)]


class KeepsFew(_Loses):
    """The first few of the list."""

    few = 5

    def considered(self, node: ReferenceNode, ply: int) -> Sequence[tuple[int, ReferenceNode]]:
        return list(super().considered(node, ply))[: self.few]


class KeepsFourBest(_Loses):
    """The four with the best evaluations of their positions."""

    few = 4

    def considered(self, node: ReferenceNode, ply: int) -> Sequence[tuple[int, ReferenceNode]]:
        pairs = sorted(super().considered(node, ply), key=lambda pair: pair[1].looks)
        return pairs[: self.few]


class KeepsFiveBest(KeepsFourBest):
    few = 5


class KeepsThreeBest(KeepsFourBest):
    few = 3


# ------------------------------------------------------------------ right values, other counts


class CutStrictly(Search):
    cause = "cutoff with > for >="
    advice = (
        "a move worth just beta is enough for a cutoff; values are right, but too much is searched"
    )

    def cut(self, value: int, alpha: int, beta: int) -> bool:
        return max(alpha, value) > beta


class AlphaNotRaised(Search):
    cause = "alpha is not raised"
    advice = (
        "a move's value has to narrow the window of the moves after it: alpha = max(alpha, value)"
    )

    def raised(self, alpha: int, value: int, ply: int) -> int:
        return alpha


class AlphaNotRaisedForRoot(AlphaNotRaised):
    """At nodes with the root's side to move."""

    def raised(self, alpha: int, value: int, ply: int) -> int:
        return max(alpha, value) if ply % 2 else alpha


class AlphaNotRaisedForOther(AlphaNotRaised):
    def raised(self, alpha: int, value: int, ply: int) -> int:
        return alpha if ply % 2 else max(alpha, value)


AT_EACH_NODE = ("lowest", "considered", "value", "better", "cut", "raised")
"""What a root with a loop of its own may have right although it is wrong below."""


def _all_below(kind: type[Search]) -> Iterator[type[Search]]:
    for each in kind.__subclasses__():
        yield each
        yield from _all_below(each)


WASTEFUL = (CutStrictly, AlphaNotRaisedForRoot, AlphaNotRaisedForOther)
"""Mistakes that only counts show."""
MISTAKEN = tuple(
    each
    for each in dict.fromkeys(_all_below(Search))
    if each.cause
    and not each.__name__.startswith("_")
    and not issubclass(each, CutStrictly | AlphaNotRaised)
)
"""Mistakes that answers show."""
