"""Right searches, and searches with a usual mistake.

A mistaken search differs from a right one in the few attributes of its mistake. A student's
answers, and the number of positions that it evaluates, are compared with theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from othello_lab.agents.diagnosis.tree import ReferenceNode
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.core.rules import Color

INFINITY = 65 * FINAL_UNIT

Order = Callable[[ReferenceNode], Sequence[tuple[int, ReferenceNode]]]
"""The moves of a node with the positions after them, as they are tried."""


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
    unfinished: int
    """Evaluations of positions where the game is not over."""


class Window(NamedTuple):
    """A place in a search: plies left, the window, and plies from the root."""

    depth: int
    alpha: int
    beta: int
    ply: int

    def below(self, alpha: int, beta: int, plies: int = 1) -> Window:
        """Return the place of a child, with another window. It has cost so many plies."""
        return Window(self.depth - plies, alpha, beta, self.ply + 1)


class Style(NamedTuple):
    """A way to cut, all of which find the same value if nothing is mistaken.

    by_value: True if a move's value is compared with beta, not the raised alpha. hard: True if a
    node returns beta for a cut, else alpha; raised: True if it returns alpha in any case. first:
    True if the window is looked at before the first move, too. full: True if the root gives each
    move the whole window.
    """

    cuts: bool = True
    by_value: bool = False
    raised: bool = False
    hard: bool = False
    first: bool = False
    full: bool = False


NO_CUTS, SOFT, FULL = Style(cuts=False), Style(), Style(full=True)
CONSISTENT = NO_CUTS, SOFT, FULL
"""Enough for mistakes that are the same whatever the window."""
STYLES = (
    NO_CUTS,
    *(
        style._replace(full=full)
        for full in (False, True)
        for style in (
            SOFT,
            Style(by_value=True),
            Style(raised=True),
            Style(by_value=True, raised=True, hard=True),
            Style(raised=True, first=True),
        )
    ),
)


def from_a1(node: ReferenceNode) -> Sequence[tuple[int, ReferenceNode]]:
    return tuple(zip(node.moves, node.children, strict=True))


def from_h8(node: ReferenceNode) -> Sequence[tuple[int, ReferenceNode]]:
    return from_a1(node)[::-1]


def as_called(node: ReferenceNode) -> Sequence[tuple[int, ReferenceNode]]:
    """As the calls of the heuristic show it; see :meth:`ReferenceNode.note_order`."""
    pairs = from_a1(node)
    rest = [number for number in range(len(pairs)) if number not in node.order]
    return [pairs[number] for number in (*node.order, *rest)]


class Search:
    """A search in one of :data:`STYLES`, with its moves in some order.

    A mistake may be made at some of the nodes only: ``where`` tells by the ply whether it is.
    Elsewhere it searches as its kind does, one of :data:`RIGHT`.

    cause: the mistake in a few words. advice: its usual origin.
    """

    cause = advice = note = ""
    kind: type[Search]
    mistake: Mistake
    lowest = -INFINITY
    """What the best value begins with."""
    depth_first = False
    """True if the test of the depth comes before that of the end."""
    pass_costs = ply_costs = 1

    def __init__(
        self,
        style: Style = SOFT,
        order: Order = from_a1,
        where: Callable[[int], bool] | None = None,
    ) -> None:
        self.style, self.order, self.where = style, order, where
        self.nodes = self.leaves = self.evaluations = self.unfinished = 0
        self.tried: list[tuple[int, int]] = []

    def reply(self, root: ReferenceNode, depth: int) -> Reply:
        """Its answer, ``depth`` plies deep."""
        self.nodes = self.leaves = self.evaluations = self.unfinished = 0
        self.tried = []
        value = self.search(root, Window(self.plies(depth), -INFINITY, INFINITY, 0))
        moves = frozenset(self.here(0).chosen(self, root))
        counts = self.nodes, self.leaves, self.evaluations, self.unfinished
        return Reply(moves, value, *counts)

    def here(self, ply: int) -> type[Search]:
        """Return the class whose methods are those at a ply."""
        return type(self) if self.where is None or self.where(ply) else self.kind

    def search(self, node: ReferenceNode, at: Window) -> int:
        """Return the value to the mover."""
        self.nodes += 1
        here = self.here(at.ply)
        if at.depth <= 0 and here.depth_first:
            return here.looked(self, node, at)
        if here.stops(self, node):
            return here.finished(self, node, at)
        if at.depth <= 0:
            return here.looked(self, node, at)
        if not node.moves:
            return here.passed(self, node, at)
        style, cut = self.style, False
        best, alpha, beta = here.lowest, at.alpha, at.beta
        for move, child in self.order(node):
            if style.first and alpha >= beta:
                break
            value = here.value(self, child, Window(at.depth, alpha, beta, at.ply))
            if at.ply == 0:
                self.tried.append((move, value))
            best = here.better(self, best, value)
            if style.cuts:
                before = alpha
                if at.ply or not style.full:
                    alpha, beta = here.raised(self, alpha, beta, value)
                cut = here.cut(self, value, before, alpha, beta)
                if cut:
                    break
        if at.ply == 0 or not style.raised:
            return best
        return beta if cut and style.hard else alpha

    # ------------------------------------------------------------------ what may be mistaken

    def plies(self, depth: int) -> int:
        """Return the plies it really looks ahead for a ``depth``."""
        return depth

    def stops(self, node: ReferenceNode) -> bool:
        """Return True if it takes the game to be over."""
        return node.over

    def final(self, node: ReferenceNode) -> int:
        return node.discs * FINAL_UNIT

    def finished(self, node: ReferenceNode, at: Window) -> int:
        self.leaves += 1
        return self.kind.final(self, node)

    def looked(self, node: ReferenceNode, at: Window) -> int:
        self.leaves += 1
        self.evaluations += 1
        self.unfinished += not node.over
        return node.looks

    def passed(self, node: ReferenceNode, at: Window) -> int:
        below = at.below(-at.beta, -at.alpha, self.pass_costs or int(node.over))
        return -self.search(node.children[0], below)

    def value(self, child: ReferenceNode, at: Window) -> int:
        """Return the worth of a move."""
        return -self.search(child, at.below(-at.beta, -at.alpha, self.ply_costs))

    def better(self, best: int, value: int) -> int:
        return max(best, value)

    def raised(self, alpha: int, beta: int, value: int) -> tuple[int, int]:
        """Return the window after a move."""
        return max(alpha, value), beta

    def cut(self, value: int, before: int, alpha: int, beta: int) -> bool:
        """Return True if a node is left after a move. before: alpha before that move."""
        return (value if self.style.by_value else alpha) >= beta

    def chosen(self, root: ReferenceNode) -> Sequence[int]:
        """The moves that it may play. With cuts, values that equal the best are but bounds."""
        equal = self.equal(root)
        return equal if not self.style.cuts or self.style.full else equal[:1]

    def equal(self, root: ReferenceNode) -> Sequence[int]:
        if not self.tried:  # it has not looked at any
            return root.moves[:1]
        best = self.tried[0][1]
        for _, value in self.tried:
            best = self.here(0).better(self, best, value)
        return [move for move, value in self.tried if value == best]


Search.kind = Search


# ------------------------------------------------------------------ right in another way


def _won(search: Search, node: ReferenceNode) -> int:
    return ((node.discs > 0) - (node.discs < 0)) * FINAL_UNIT


def _counted(search: Search, node: ReferenceNode) -> int:
    position = node.position
    return (position.mover.bit_count() - position.opponent.bit_count()) * FINAL_UNIT


_Form = dict[str, Any]
"""Attributes of :class:`Search`."""
_CHOICES: Sequence[Sequence[tuple[str, _Form]]] = (
    (("", {}), ("a pass costs no ply (in the lab it is one)", {"pass_costs": 0})),
    (
        ("", {}),
        (
            "as in PAIP, where no depth is left finished games too are judged by the heuristic",
            {"depth_first": True},
        ),
    ),
    (
        ("", {}),
        (
            "a finished game counts as won, lost or drawn, by however many discs",
            {"final": _won},
        ),
        (
            "the empty squares of a finished game count for nobody (in the lab the winner's)",
            {"final": _counted},
        ),
    ),
)


def _made(base: type[Search], form: _Form) -> type[Search]:
    """Return a class of right searches with other attributes."""
    made: type[Search] = type("RightSearch", (base,), form)
    made.kind = made
    return made


def _kinds() -> Iterator[type[Search]]:
    for choices in product(*_CHOICES):
        form = {name: value for _, part in choices for name, value in part.items()}
        if form:
            note = "; ".join(words for words, _ in choices if words)
            yield _made(Search, form | {"note": note})
        else:
            yield Search


RIGHT = tuple(_kinds())
"""What may be chosen; ``note`` says it. The lab's own is the first."""
TYPICAL = tuple(kind for kind in RIGHT if kind.final is not _counted)
"""Enough of them for searches with a mistake."""


# ------------------------------------------------------------------ mistakes


def _signed(sign: Callable[[ReferenceNode, Window], int]) -> tuple[_Form, _Form]:
    """Return the forms in which leaves have a wrong sign: heuristic values only, and all."""

    def looked(search: Search, node: ReferenceNode, at: Window) -> int:
        return sign(node, at) * Search.looked(search, node, at)

    def finished(search: Search, node: ReferenceNode, at: Window) -> int:
        return sign(node, at) * Search.finished(search, node, at)

    return {"looked": looked}, {"looked": looked, "finished": finished}


def _finished(sign: Callable[[ReferenceNode, Window], int]) -> _Form:
    return {"finished": _signed(sign)[1]["finished"]}


def _for_black(node: ReferenceNode, at: Window) -> int:
    return 1 if node.position.to_move is Color.BLACK else -1


def _for_root(node: ReferenceNode, at: Window) -> int:
    return -1 if at.ply % 2 else 1


_Outcome = Callable[[Search, ReferenceNode, Window], int]


def _leaf(worth: Callable[[ReferenceNode], int]) -> _Outcome:
    """Return the method of a node without heuristic that is worth so much to its mover."""

    def outcome(search: Search, node: ReferenceNode, at: Window) -> int:
        search.leaves += 1
        return worth(node)

    return outcome


def _sign(node: ReferenceNode) -> int:
    return (node.discs > 0) - (node.discs < 0)


_STATIC: _Outcome = Search.looked
_NOTHING = _leaf(lambda node: 0)
_MIXED = (
    _leaf(lambda node: node.discs),
    _leaf(lambda node: _counted(Search(), node) // FINAL_UNIT),
    _leaf(_sign),
)
_DECIDED = (
    _leaf(lambda node: FINAL_UNIT if node.discs > 0 else -FINAL_UNIT),
    _leaf(lambda node: FINAL_UNIT if node.discs >= 0 else -FINAL_UNIT),
)
_ALIKE = tuple(
    _leaf(lambda node, worth=worth: worth)  # type: ignore[misc]
    for size in (INFINITY, FINAL_UNIT // 2, 10 * FINAL_UNIT)
    for worth in (-size, size)
)
_ONES = (_leaf(lambda node: -1), _leaf(lambda node: 1))
_BY_SIGN = _leaf(lambda node: _sign(node) * FINAL_UNIT)
_BY_DISCS = _leaf(lambda node: node.discs * FINAL_UNIT)
_OUTCOMES = (_STATIC, _BY_DISCS, _BY_SIGN, _NOTHING, *_MIXED, *_DECIDED, *_ALIKE, *_ONES)


def _pair(one: int, other: int) -> Callable[[Window], tuple[int, int]]:
    """Return the window made of two ends: 1 is alpha, 2 beta; a minus sign negates."""

    def window(at: Window) -> tuple[int, int]:
        first, second = (at[abs(end)] * (1 if end > 0 else -1) for end in (one, other))
        return first, second

    return window


_RIGHT, _SAME, _KEPT, _SWAPPED = _pair(-2, -1), _pair(1, 2), _pair(-1, -2), _pair(2, 1)
_HALVES = _pair(-2, 1), _pair(2, -1)


def _value(sign: int, window: Callable[[Window], tuple[int, int]]) -> _Form:
    """Return the form in which a move's value has another sign or window."""
    return {"value": lambda search, child, at: sign * search.search(child, at.below(*window(at)))}


def _passed(sign: int, window: Callable[[Window], tuple[int, int]], plies: int = 1) -> _Form:
    """Return the form in which a pass has another sign or window, or costs other plies."""

    def passed(search: Search, node: ReferenceNode, at: Window) -> int:
        return sign * search.search(node.children[0], at.below(*window(at), plies))

    return {"passed": passed}


def _looked_after_pass(search: Search, node: ReferenceNode, at: Window) -> int:
    """Without a minus, where no depth is left."""
    if at.depth > 1 or node.children[0].over:
        return Search.passed(search, node, at)
    search.nodes += 1
    return search.looked(node.children[0], at)


def _looked_at_once(search: Search, node: ReferenceNode, at: Window) -> int:
    search.nodes += 1
    return search.looked(node.children[0], at)


def _plies(least: int, more: int = -100) -> _Form:
    return {"plies": lambda search, depth: max(least, depth + more)}


def _same_level(search: Any, node: ReferenceNode, at: Window) -> int:
    search.side = -search.side
    value = search.search(node.children[0], at.below(at.alpha, at.beta, search.pass_costs))
    search.side = -search.side
    return int(value)


_LEVEL: _Form = {
    "side": 1,
    "passed": _same_level,
    "finished": lambda search, node, at: search.side * Search.finished(search, node, at),
    "looked": lambda search, node, at: search.side * Search.looked(search, node, at),
}
"""With a level for each side: after a pass the same level goes on."""
_LEVEL_OF_LEAVES = _LEVEL | {
    "passed": lambda search, node, at: (
        -_same_level(search, node, at._replace(alpha=-at.beta, beta=-at.alpha))
    )
}
_NO_MINUS = _value(1, _SAME)
_WINDOW = "a child's window is (-beta, -alpha): negated, and its ends exchanged"
_WINDOW_AT_PASS = "after a pass the other side's window is (-beta, -alpha), as after any move"
_FIRST_ASKED = (
    "whether the game is over has to be asked first; what counts then is who has won, beyond "
    "any heuristic value"
)
_SEEN_DEPTH = (
    "at depth 1 each move is made and the position after it evaluated: the root hands depth - "
    "1 to its children, and the test is depth == 0"
)


@dataclass(frozen=True, eq=False)
class Mistake:
    """A usual mistake and its forms.

    windowed: True if only a search with cuts can have it. in_loop: True if it is made where a node
    tries its moves, so that the root may be right. styles: those that matter.
    group: of mistakes that may come to the same.
    """

    cause: str
    advice: str
    forms: Sequence[_Form]
    windowed: bool = False
    in_loop: bool = False
    styles: Sequence[Style] = CONSISTENT
    group: str = ""


NO_PASS = "no pass handling: no move is taken for the end of the game"
_PASS_ADVICE = (
    "where the mover has no move but the other side has one, the search has to go on with the "
    "other side; the game is over only if neither side can move"
)
MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        NO_PASS,
        _PASS_ADVICE,
        (
            *(
                {"stops": lambda search, node: not node.moves, "finished": outcome}
                for outcome in _OUTCOMES
            ),
            *({"passed": outcome} for outcome in _OUTCOMES),
        ),
    ),
    Mistake(
        NO_PASS,
        _PASS_ADVICE,
        (
            {"passed": lambda search, node, at: at.alpha},  # the best of no moves
            {
                "stops": lambda search, node: not node.moves,
                "finished": lambda search, node, at: at.alpha,
            },
        ),
        styles=STYLES,
    ),
    Mistake(
        "sign error at a pass",
        "after a pass the other side moves: its value has to be negated as after any move "
        "(value = -search(...)), or the level changes from max to min",
        (
            *(_passed(1, window) for window in (_SAME, _RIGHT, _KEPT, _SWAPPED)),
            *(_passed(1, window, 0) for window in (_SAME, _RIGHT)),
            _LEVEL,
            _LEVEL_OF_LEAVES,
        ),
        styles=STYLES,
    ),
    Mistake(
        "static value not negated after a pass",
        "after a pass the heuristic's value is the other side's: negate it, as after any move",
        ({"passed": _looked_after_pass}, {"passed": _looked_at_once}),
    ),
    Mistake(
        "window not negated at a pass: it is passed on unchanged",
        _WINDOW_AT_PASS,
        (_passed(-1, _SAME), _passed(-1, _SAME, 0)),
        windowed=True,
        group="wrong window at a pass: not negated, or its ends not exchanged",
    ),
    Mistake(
        "window negated at a pass, but its ends are not exchanged",
        _WINDOW_AT_PASS,
        (_passed(-1, _KEPT), _passed(-1, _KEPT, 0)),
        windowed=True,
        group="wrong window at a pass: not negated, or its ends not exchanged",
    ),
    Mistake(
        "window not negated at a pass: its ends are only exchanged",
        _WINDOW_AT_PASS,
        (_passed(-1, _SWAPPED),),
        windowed=True,
        group="wrong window at a pass: not negated, or its ends not exchanged",
    ),
    Mistake(
        "cutoff at the wrong bound",
        "a node is left when a move is worth beta or more, not when one is worth alpha or less",
        (
            {"cut": lambda search, value, before, alpha, beta: True},  # value <= alpha
            {"cut": lambda search, value, before, alpha, beta: value <= before},
            {"cut": lambda search, value, before, alpha, beta: value >= before},
            {"cut": lambda search, value, before, alpha, beta: value <= beta},
            {"cut": lambda search, value, before, alpha, beta: alpha <= beta},
            {"cut": lambda search, value, before, alpha, beta: value > before},
        ),
        windowed=True,
        in_loop=True,
    ),
    Mistake(
        "window not negated: it is passed on unchanged",
        _WINDOW,
        (_value(-1, _SAME), _value(-1, _SAME) | _passed(-1, _SAME)),
        windowed=True,
        group="wrong window for a child: not negated, or its ends not exchanged",
        in_loop=True,
    ),
    Mistake(
        "window negated, but its ends are not exchanged",
        _WINDOW,
        (_value(-1, _KEPT), _value(-1, _KEPT) | _passed(-1, _KEPT)),
        windowed=True,
        group="wrong window for a child: not negated, or its ends not exchanged",
        in_loop=True,
    ),
    Mistake(
        "window not negated: its ends are only exchanged",
        _WINDOW,
        (_value(-1, _SWAPPED), _value(-1, _SWAPPED) | _passed(-1, _SWAPPED)),
        windowed=True,
        group="wrong window for a child: not negated, or its ends not exchanged",
        in_loop=True,
    ),
    Mistake(
        "alpha is lowered again",
        "alpha becomes a move's value only if that is more: alpha = max(alpha, value)",
        ({"raised": lambda search, alpha, beta, value: (value, beta)},),
        windowed=True,
        in_loop=True,
    ),
    Mistake(
        "beta is narrowed in place of alpha",
        "a move's value narrows the mover's end of the window: alpha = max(alpha, value)",
        (
            {"raised": lambda search, alpha, beta, value: (alpha, min(beta, value))},
            {"raised": lambda search, alpha, beta, value: (alpha, value)},
        ),
        windowed=True,
        in_loop=True,
    ),
    Mistake(
        "window not negated at a pass: one of its ends",
        _WINDOW_AT_PASS,
        tuple(_passed(-1, half) for half in _HALVES),
        windowed=True,
        group="wrong window at a pass: not negated, or its ends not exchanged",
    ),
    Mistake(
        "window not negated: one of its ends",
        _WINDOW,
        tuple(_value(-1, half) | more for half in _HALVES for more in ({}, _passed(-1, half))),
        windowed=True,
        group="wrong window for a child: not negated, or its ends not exchanged",
        in_loop=True,
    ),
    Mistake(
        "depth off by one",
        _SEEN_DEPTH,
        (_plies(0, 1), _plies(0, -1), _plies(1, -1)),  # a root may make its moves anyway
    ),
    Mistake(
        "a move costs two plies of the depth",
        "each ply, a move of either side, takes one from the depth",
        ({"ply_costs": 2}, {"ply_costs": 2, "pass_costs": 2}),
        in_loop=True,
    ),
    Mistake("a pass costs two plies of the depth", "a pass is one ply", ({"pass_costs": 2},)),
    Mistake(
        "the depth that is asked for is not obeyed",
        "it looks equally far whatever it is asked; see the setting depth, or limits.depth",
        (_plies(1), _plies(2), _plies(3)),
    ),
    Mistake(
        "wrong side evaluated",
        "in negamax a leaf is evaluated from the view of the side that is to move there",
        (*_signed(lambda node, at: -1), *_signed(_for_root)),
    ),
    Mistake(
        "wrong side evaluated: Black's view, whoever is to move",
        "in negamax a leaf is evaluated from the view of the side that is to move there",
        _signed(_for_black),
    ),
    Mistake(
        "plays for Black, whoever is to move",
        "the side to move is the one that chooses the best for itself, White too",
        _signed(lambda node, at: _for_black(node, at) * _for_root(node, at))[1:],
    ),
    Mistake(
        "finished game counted for the wrong side",
        "the result is the mover's, as a heuristic value is",
        tuple(map(_finished, (lambda node, at: -1, _for_root))),
    ),
    Mistake(
        "finished game counted for Black, whoever is to move",
        "the result is the mover's, as a heuristic value is",
        (_finished(_for_black),),
    ),
    Mistake("finished game evaluated by the heuristic", _FIRST_ASKED, ({"finished": _STATIC},)),
    Mistake(
        "the end of the game is not noticed",
        "neither side can move: the discs are to be counted, and nobody passes any further",
        ({"stops": lambda search, node: False},),
    ),
    Mistake("a finished game counts as 0", _FIRST_ASKED, ({"finished": _NOTHING},)),
    Mistake(
        "a finished game's discs are mixed with heuristic values",
        "a won game has to be worth more than any heuristic value, however few the discs",
        tuple({"finished": outcome} for outcome in _MIXED),
    ),
    Mistake(
        "a finished game counts alike, whoever has won",
        _FIRST_ASKED,
        tuple({"finished": outcome} for outcome in (*_ALIKE, *_ONES)),
    ),
    Mistake(
        "a draw counts as won or lost",
        "equal discs are a draw, worth 0",
        tuple({"finished": outcome} for outcome in _DECIDED),
    ),
    Mistake(
        "maximizes at every level: a child's value is not negated",
        "what is good for the opponent is bad for the mover: negate a child's value, or take turns "
        "with max and min",
        (
            _NO_MINUS | _passed(1, _SAME),
            _NO_MINUS,
            _value(1, _RIGHT),
            _value(1, _RIGHT) | _passed(1, _RIGHT),
            _NO_MINUS | _passed(1, _SAME) | _signed(_for_root)[1],
            _NO_MINUS | _passed(1, _SAME) | _signed(_for_root)[0],
        ),
        in_loop=True,
    ),
    Mistake(
        "minimizes where it should maximize",
        "the side to move takes the move with the greatest value",
        (
            {
                "lowest": INFINITY,
                "better": lambda search, best, value: min(best, value),
                "cut": lambda search, value, before, alpha, beta: value <= before,
                "raised": lambda search, alpha, beta, value: (alpha, beta),
            },
            {
                "lowest": INFINITY,
                "better": lambda search, best, value: min(best, value),
            },
        ),
        in_loop=True,
    ),
    Mistake(
        "the best value begins at 0",
        "it has to begin below any value: positions may be bad in every way",
        ({"lowest": 0}, {"lowest": -1}, {"lowest": 1}),
        in_loop=True,
    ),
    Mistake(
        "the last move's value is kept, not the best",
        "a node is worth its best move: best = max(best, value)",
        ({"better": lambda search, best, value: value},),
        in_loop=True,
    ),
    Mistake(
        "a bound is taken for a value: the last of equal moves is chosen",
        "with cuts, a move whose value only equals the best may be worse: choose a move only if "
        "its value is more",
        ({"chosen": lambda search, root: Search.equal(search, root)[-1:]},),
        windowed=True,
    ),
)
"""Mistakes that answers show, the usual ones first."""

_ALL: tuple[None, str] = (None, "")
_SIDES: Sequence[tuple[Callable[[int], bool], str]] = (
    (lambda ply: ply % 2 == 1, " (where the other side moves)"),
    (lambda ply: ply > 0 and ply % 2 == 0, " (where the root's side moves)"),
)
_LOOPS: Sequence[tuple[Callable[[int], bool], str]] = (
    (lambda ply: ply > 0, ""),
    (lambda ply: ply == 0, " (at the root)"),
    (lambda ply: ply % 2 == 0, " (where the root's side moves)"),
)

_IN_LOOPS = [where for where, _ in _LOOPS]


def mistaken(
    kinds: Sequence[type[Search]], orders: Sequence[Order], cuts: bool
) -> Iterator[Search]:
    """Yield the searches with a mistake: those at all nodes first, then those at some.

    cuts: False leaves out all that only a search with cuts can have.
    """
    for places in ((_ALL, *_LOOPS[:1]), _LOOPS[1:2], (*_SIDES, *_LOOPS[2:])):
        for mistake, (where, words), kind in product(MISTAKES, places, kinds):
            if (mistake.windowed and not cuts) or (where in _IN_LOOPS and not mistake.in_loop):
                continue
            if where is not None and "plies" in mistake.forms[0]:
                continue
            styles = STYLES if mistake.windowed or mistake.in_loop else mistake.styles
            about: _Form = {"cause": f"{mistake.cause}{words}", "advice": mistake.advice}
            about |= {"kind": kind, "mistake": mistake}
            for form in mistake.forms:
                made = type("MistakenSearch", (kind,), form | about)
                for style in styles if cuts else styles[:1]:
                    if style.cuts or not mistake.windowed:
                        for order in orders if style.cuts else orders[:1]:
                            yield made(style, order, where)


# ------------------------------------------------------------------ right values, other counts


class Habit(NamedTuple):
    """A way to waste nodes, which only counts show."""

    cause: str
    advice: str
    form: _Form
    where: Callable[[int], bool] | None = None


_NOT_RAISED = {"raised": lambda search, alpha, beta, value: (alpha, beta)}
_BY_VALUE = _NOT_RAISED | {"cut": lambda search, value, before, alpha, beta: value >= beta}
NOT_RAISED = "alpha is not raised"
RAISE = "a move's value has to narrow the window of the moves after it: alpha = max(alpha, value)"
FULL_WINDOW = Habit(
    "the root gives each move a full window",
    "that costs nodes, and tells all moves that are equally good",
    _NOT_RAISED,
    lambda ply: ply == 0,
)
"""A choice of those that draw among equal moves."""
_STRICT = {"cut": lambda search, value, before, alpha, beta: alpha > beta}
_LATE = "a move worth just beta is enough for a cutoff; values are right, but too much is searched"
WASTEFUL = (
    FULL_WINDOW,
    *(
        Habit("cutoff with > for >=", _LATE, _STRICT, where)
        for where in (None, lambda ply: ply % 2 == 1, lambda ply: ply % 2 == 0)
    ),
    *(
        Habit(NOT_RAISED, RAISE, form, where)
        for form in (_BY_VALUE,)
        for where in (None, lambda ply: ply > 0, lambda ply: ply % 2 == 0, lambda ply: ply % 2 == 1)
    ),
)


def wasteful(kind: type[Search], habit: Habit) -> type[Search]:
    """Return the class of a right search with a wasteful habit."""
    made = _made(kind, habit.form)
    made.kind = kind
    return made
