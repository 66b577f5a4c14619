"""Right searches, and searches with a usual mistake.

Each mistaken search differs from the right one, :class:`Search`, in the few lines of its mistake. A
student's answers are compared with theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from othello_lab.agents.diagnosis.tree import ReferenceNode
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
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


class Window(NamedTuple):
    """A place in a search: plies left, the window, and plies from the root."""

    depth: int
    alpha: int
    beta: int
    ply: int

    def below(self, alpha: int, beta: int) -> Window:
        """Return the place one ply further, with another window."""
        return Window(self.depth - 1, alpha, beta, self.ply + 1)

    @property
    def negated(self) -> Window:
        """The same one ply further, for the other side."""
        return self.below(-self.beta, -self.alpha)


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
        value = self.search(root, Window(self.plies(depth), -INFINITY, INFINITY, 0))
        moves = frozenset(self.chosen(root))
        return Reply(moves, value, self.nodes, self.leaves, self.evaluations)

    def search(self, node: ReferenceNode, at: Window) -> int:
        """Return the value to the mover."""
        self.nodes += 1
        if node.over:
            return self.finished(node, at)
        if at.depth <= 0:
            return self.looked(node, at)
        if not node.moves:
            return self.passed(node, at)
        here = Search if at.ply == 0 and self.right_root else type(self)
        best, alpha = here.lowest, at.alpha
        pairs = tuple(zip(node.moves, node.children, strict=True))
        for move, child in pairs[::-1] if self.backwards else pairs:
            value = here.value(self, child, at._replace(alpha=alpha))
            if at.ply == 0:
                self.tried.append((move, value))
            best = here.better(self, best, value)
            if self.prunes:
                if here.cut(self, value, alpha, at.beta):
                    break
                alpha = here.raised(self, alpha, value, at.ply)
        return best

    # ------------------------------------------------------------------ what may be mistaken

    def plies(self, depth: int) -> int:
        """Return the plies it really looks ahead for a ``depth``."""
        return depth

    def finished(self, node: ReferenceNode, at: Window) -> int:
        self.leaves += 1
        return node.discs * FINAL_UNIT

    def looked(self, node: ReferenceNode, at: Window) -> int:
        self.leaves += 1
        self.evaluations += 1
        return node.looks

    def passed(self, node: ReferenceNode, at: Window) -> int:
        return -self.search(node.children[0], at.negated)

    def value(self, child: ReferenceNode, at: Window) -> int:
        """Return the worth of a move."""
        return -self.search(child, at.negated)

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


# ------------------------------------------------------------------ right in another way


class WinOrLoss(Search):
    """A finished game is won, lost or drawn, by however many discs."""

    def finished(self, node: ReferenceNode, at: Window) -> int:
        self.leaves += 1
        return ((node.discs > 0) - (node.discs < 0)) * FINAL_UNIT


class PaipEnds(WinOrLoss):
    """As PAIP has it: the test of the depth comes before that of the end."""

    def finished(self, node: ReferenceNode, at: Window) -> int:
        return self.looked(node, at) if at.depth <= 0 else super().finished(node, at)


class DiscsCounted(Search):
    """The empty squares of a finished game count for nobody."""

    def finished(self, node: ReferenceNode, at: Window) -> int:
        self.leaves += 1
        position = node.position
        return (position.mover.bit_count() - position.opponent.bit_count()) * FINAL_UNIT


class FreePass(Search):
    """A pass costs no ply."""

    def passed(self, node: ReferenceNode, at: Window) -> int:
        return -self.search(node.children[0], at._replace(depth=at.depth + 1).negated)


class FreePassWinOrLoss(FreePass, WinOrLoss):
    """Both."""


RIGHT = {
    Search: "",
    WinOrLoss: "a finished game counts as won, lost or drawn, by however many discs",
    PaipEnds: "as in PAIP, where no depth is left finished games too are judged by the heuristic",
    DiscsCounted: "the empty squares of a finished game count for nobody (in the lab the winner's)",
    FreePass: "a pass costs no ply (in the lab it is one)",
    FreePassWinOrLoss: "a pass costs no ply, and a finished game counts as won, lost or drawn",
}
"""What may be chosen, and what is said of it."""


# ------------------------------------------------------------------ mistakes

_Form = dict[str, Any]
"""The attributes of :class:`Search` that are wrong."""


def _signed(sign: Callable[[ReferenceNode, Window], int]) -> tuple[_Form, _Form]:
    """Return the forms in which leaves have a wrong sign: heuristic values only, and all."""

    def looked(search: Search, node: ReferenceNode, at: Window) -> int:
        return sign(node, at) * Search.looked(search, node, at)

    def finished(search: Search, node: ReferenceNode, at: Window) -> int:
        return sign(node, at) * Search.finished(search, node, at)

    return {"looked": looked}, {"looked": looked, "finished": finished}


def _for_black(node: ReferenceNode, at: Window) -> int:
    return 1 if node.position.to_move is Color.BLACK else -1


def _for_root(node: ReferenceNode, at: Window) -> int:
    return -1 if at.ply % 2 else 1


def _stays(search: Search, node: ReferenceNode, at: Window) -> int:
    """Pass until no depth is left."""
    return -search.looked(node, at) if at.depth % 2 else search.looked(node, at)


def _counted(search: Search, node: ReferenceNode, at: Window) -> int:
    return node.position.mover.bit_count() - node.position.opponent.bit_count()


def _by_value(search: Search, value: int, alpha: int, beta: int) -> bool:
    """A cut that matters only in a window that is upside down."""
    return value >= beta


def _value(sign: int, window: Callable[[Window], tuple[int, int]]) -> _Form:
    """Return the form in which a move's value has another sign or window."""
    return {"value": lambda search, child, at: sign * search.search(child, at.below(*window(at)))}


def _passed(sign: int, window: Callable[[Window], tuple[int, int]], plies: int = 1) -> _Form:
    """Return the form in which a pass has another sign or window, or costs other plies."""

    def passed(search: Search, node: ReferenceNode, at: Window) -> int:
        after = at._replace(depth=at.depth + 1 - plies).below(*window(at))
        return sign * search.search(node.children[0], after)

    return {"passed": passed}


def _plies(least: int, more: int = -100) -> _Form:
    return {"plies": lambda search, depth: max(least, depth + more)}


def _same(at: Window) -> tuple[int, int]:
    return at.alpha, at.beta


def _right(at: Window) -> tuple[int, int]:
    return -at.beta, -at.alpha


_WINDOWS = (
    _value(-1, _same),
    _value(-1, lambda at: (-at.alpha, -at.beta)),
    _value(-1, lambda at: (at.beta, at.alpha)),
)
_NO_MINUS = _value(1, _same)
_MISTAKES: dict[str, tuple[str, Sequence[_Form]]] = {
    "no pass handling": (
        "where the mover has no move but the other side has one, the search has to go on with the "
        "other side",
        (
            {"passed": lambda search, node, at: search.looked(node, at)},
            {"passed": lambda search, node, at: search.finished(node, at)},
            {"passed": lambda search, node, at: search.lowest},  # the best of no moves
            {"passed": lambda search, node, at: 0},
            {"passed": _stays},
        ),
    ),
    "sign error at a pass": (
        "after a pass the other side moves: its value has to be negated as after any move "
        "(value = -search(...)), or the level changes from max to min",
        (_passed(1, _same), _passed(1, _right), _passed(1, _same, plies=0)),
    ),
    "window not negated at a pass": (
        "after a pass the other side's window is (-beta, -alpha), as after any move",
        (_passed(-1, _same),),
    ),
    "window not negated": (
        "a child's window is (-beta, -alpha): negated, and its ends exchanged",
        (*_WINDOWS, *(form | {"cut": _by_value} for form in _WINDOWS)),
    ),
    "cutoff at the wrong bound": (
        "a node is left when a move is worth beta or more, not when one is worth alpha or less",
        ({"cut": lambda search, value, alpha, beta: value <= alpha},),
    ),
    "alpha is lowered again": (
        "alpha becomes a move's value only if that is more: alpha = max(alpha, value)",
        ({"raised": lambda search, alpha, value, ply: value},),
    ),
    "depth off by one": (
        "at depth 1 each move is made and the position after it evaluated: the root hands depth - "
        "1 to its children, and the test is depth == 0",
        (_plies(0, 1), _plies(0, -1), _plies(1, -1)),  # a root may make its moves anyway
    ),
    "the depth that is asked for is not obeyed": (
        "it looks equally far whatever it is asked; see the setting depth, or limits.depth",
        (_plies(1), _plies(2), _plies(3)),
    ),
    "wrong side evaluated": (
        "in negamax a leaf is evaluated from the view of the side that is to move there",
        (*_signed(lambda node, at: -1), *_signed(_for_root), *_signed(_for_black)),
    ),
    "plays for Black, whoever is to move": (
        "the side to move is the one that chooses the best for itself, White too",
        _signed(lambda node, at: _for_black(node, at) * _for_root(node, at))[1:],
    ),
    "finished game evaluated by the heuristic": (
        "whether the game is over has to be asked first; what counts then is who has won, beyond "
        "any heuristic value",
        (
            {"finished": lambda search, node, at: search.looked(node, at)},
            {"finished": _stays},
            {"finished": lambda search, node, at: 0},
        ),
    ),
    "a finished game's discs are mixed with heuristic values": (
        "a won game has to be worth more than any heuristic value, however few the discs",
        ({"finished": lambda search, node, at: node.discs}, {"finished": _counted}),
    ),
    "maximizes at every level": (
        "what is good for the opponent is bad for the mover: negate a child's value, or take turns "
        "with max and min",
        (
            _NO_MINUS | _passed(1, _same),
            _NO_MINUS,
            _NO_MINUS | _passed(1, _same) | _signed(_for_root)[1],
        ),
    ),
    "minimizes where it should maximize": (
        "the side to move takes the move with the greatest value",
        (
            {
                "lowest": INFINITY,
                "better": lambda search, best, value: min(best, value),
                "cut": lambda search, value, alpha, beta: value <= alpha,
                "raised": lambda search, alpha, value, ply: alpha,
            },
        ),
    ),
    "the best value begins at 0": (
        "it has to begin below any value: positions may be bad in every way",
        ({"lowest": 0}, {"lowest": -1}),
    ),
}
"""The usual mistakes by their causes: the usual origin, and the forms of each."""


class LevelAtPass(Search):
    """With a level for each side: after a pass the same level goes on."""

    cause = "sign error at a pass"
    advice = _MISTAKES[cause][0]
    sign = 1

    def passed(self, node: ReferenceNode, at: Window) -> int:
        self.sign = -self.sign
        value = self.search(node.children[0], at.below(at.alpha, at.beta))
        self.sign = -self.sign
        return value

    def finished(self, node: ReferenceNode, at: Window) -> int:
        return self.sign * super().finished(node, at)

    def looked(self, node: ReferenceNode, at: Window) -> int:
        return self.sign * super().looked(node, at)


MISTAKEN: tuple[type[Search], ...] = (
    LevelAtPass,
    *(
        type("MistakenSearch", (Search,), {"cause": cause, "advice": advice} | form)
        for cause, (advice, forms) in _MISTAKES.items()
        for form in forms
    ),
)
"""Mistakes that answers show."""


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


class FullWindowAtRoot(AlphaNotRaised):
    """A choice of those that draw among equal moves."""

    cause = "the root gives each move a full window"
    advice = "that costs nodes, and tells all moves that are equally good"

    def raised(self, alpha: int, value: int, ply: int) -> int:
        return max(alpha, value) if ply else alpha


class AlphaNotRaisedForRoot(AlphaNotRaised):
    """At nodes with the root's side to move."""

    def raised(self, alpha: int, value: int, ply: int) -> int:
        return max(alpha, value) if ply % 2 else alpha


class AlphaNotRaisedForOther(AlphaNotRaised):
    def raised(self, alpha: int, value: int, ply: int) -> int:
        return alpha if ply % 2 else max(alpha, value)


AT_EACH_NODE = ("lowest", "value", "better", "cut", "raised")
"""What a root with a loop of its own may have right although it is wrong below."""


WASTEFUL = (
    FullWindowAtRoot,
    CutStrictly,
    AlphaNotRaised,
    AlphaNotRaisedForRoot,
    AlphaNotRaisedForOther,
)
"""Habits that only counts show."""
