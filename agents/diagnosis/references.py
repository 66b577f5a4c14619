"""Right searches, and searches with a usual mistake.

A mistaken search differs from a right one in the few attributes of its mistake. A student's
answers, and the number of positions that it evaluates, are compared with theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from othello_lab.agents.diagnosis.tree import ReferenceNode
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT
from othello_lab.core.rules import Color

INFINITY = 65 * FINAL_UNIT

Pairs = Sequence[tuple[int, ReferenceNode]]
Order = Callable[[ReferenceNode], Pairs]
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

    by_value: a move's value is compared with beta, not the raised alpha. raised: a node returns
    alpha, if it is ``hard`` beta for a cut. first: the window is looked at before the first move,
    too. full: the root gives each move the whole window.
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
_WITH_CUTS = (
    SOFT,
    Style(by_value=True),
    Style(raised=True),
    Style(by_value=True, raised=True, hard=True),
    Style(raised=True, first=True),
)
STYLES = (NO_CUTS, *_WITH_CUTS, *(style._replace(full=True) for style in _WITH_CUTS))


def from_a1(node: ReferenceNode) -> Pairs:
    return tuple(zip(node.moves, node.children, strict=True))


def from_h8(node: ReferenceNode) -> Pairs:
    return from_a1(node)[::-1]


def as_called(node: ReferenceNode) -> Pairs:
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
        here = self.here(0)
        value = self.search(root, Window(self.plies(depth), -INFINITY, INFINITY, 0))
        moves, value = frozenset(here.chosen(self, root)), here.told(self, root, value)
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
        for move, child in here.listed(self, self.order(node)):
            if style.first and alpha >= beta:
                break
            value = here.value(self, node, child, Window(at.depth, alpha, beta, at.ply))
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

    def listed(self, pairs: Pairs) -> Pairs:
        """Return the moves that it tries."""
        return pairs

    def value(self, node: ReferenceNode, child: ReferenceNode, at: Window) -> int:
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

    def told(self, root: ReferenceNode, value: int) -> int:
        """Return the value that it states."""
        return value

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

_Form = dict[str, Any]
"""Attributes of :class:`Search`."""


def _sign(node: ReferenceNode) -> int:
    return (node.discs > 0) - (node.discs < 0)


def _discs(node: ReferenceNode) -> int:
    return node.discs


def _counted(node: ReferenceNode) -> int:
    return node.position.mover.bit_count() - node.position.opponent.bit_count()


_BY_COUNT = "the empty squares of a finished game count for nobody (in the lab the winner's)"
_PAIP = "as in PAIP, where no depth is left finished games too are judged by the heuristic"
_WON = "a finished game counts as won, lost or drawn, by however many discs"
_CHOICES: Sequence[dict[str, _Form]] = (
    {"": {}, "a pass costs no ply (in the lab it is one)": {"pass_costs": 0}},
    {"": {}, _PAIP: {"depth_first": True}},
    {
        "": {},
        _WON: {"final": lambda search, node: _sign(node) * FINAL_UNIT},
        _BY_COUNT: {"final": lambda search, node: _counted(node) * FINAL_UNIT},
    },
)


def _made(base: type[Search], form: _Form) -> type[Search]:
    """Return a class of right searches with other attributes."""
    made: type[Search] = type("RightSearch", (base,), form)
    made.kind = made
    return made


def _kinds() -> Iterator[type[Search]]:
    for notes in product(*_CHOICES):
        form: _Form = {}
        for note, choice in zip(notes, _CHOICES, strict=True):
            form |= choice[note]
        note = "; ".join(filter(None, notes))
        yield _made(Search, form | {"note": note}) if form else Search


RIGHT = tuple(_kinds())
"""What may be chosen; ``note`` says it. The lab's own is the first."""
TYPICAL = tuple(kind for kind in RIGHT if _BY_COUNT not in kind.note)
"""Enough of them for searches with a mistake."""


# ------------------------------------------------------------------ mistakes


@dataclass(frozen=True, eq=False)
class Mistake:
    """A usual mistake and its forms.

    windowed: True if only a search with cuts can have it. in_loop: True if it is made where a node
    tries its moves, so that the root may be right. styles: those that matter. group: the name for
    those that may come to the same.
    """

    cause: str
    advice: str
    forms: Sequence[_Form]
    windowed: bool = False
    in_loop: bool = False
    styles: Sequence[Style] = CONSISTENT
    group: str = ""


_Worth = Callable[[ReferenceNode], int]
_Leaf = Callable[[Search, ReferenceNode, Window], int]


def _leaf(worth: _Worth) -> _Leaf:
    """Return the method of a node without heuristic that is worth so much to its mover."""

    def outcome(search: Search, node: ReferenceNode, at: Window) -> int:
        search.leaves += 1
        return worth(node)

    return outcome


def _signed(sign: Callable[[ReferenceNode, Window], int], *names: str) -> _Form:
    """Return the form in which leaves, ``looked`` or ``finished``, have a wrong sign."""

    def changed(name: str) -> _Leaf:
        return lambda search, node, at: sign(node, at) * getattr(Search, name)(search, node, at)

    return {name: changed(name) for name in names}


_LEAVES = "looked", "finished"


def _wrong(node: ReferenceNode, at: Window) -> int:
    return -1


def _black(node: ReferenceNode, at: Window) -> int:
    return 1 if node.position.to_move is Color.BLACK else -1


def _root(node: ReferenceNode, at: Window) -> int:
    return -1 if at.ply % 2 else 1


def _black_root(node: ReferenceNode, at: Window) -> int:
    return _black(node, at) * _root(node, at)


def _other_looks(search: Search, node: ReferenceNode, at: Window) -> int:
    """Return the value from the other side's view, which need not be the same with a minus."""
    Search.looked(search, node, at)
    return node.turned.looks


_STATIC: _Leaf = Search.looked
_NOTHING = _leaf(lambda node: 0)
_MIXED = tuple(map(_leaf, (_discs, _counted, _sign)))
_DECIDED = (
    _leaf(lambda node: FINAL_UNIT if node.discs > 0 else -FINAL_UNIT),
    _leaf(lambda node: FINAL_UNIT if node.discs >= 0 else -FINAL_UNIT),
)
_ALIKE = tuple(
    _leaf(lambda node, worth=worth: worth)  # type: ignore[misc]
    for size in (INFINITY, FINAL_UNIT // 2, 10 * FINAL_UNIT, 1)
    for worth in (-size, size)
)
_RESULTS = (
    _leaf(lambda node: node.discs * FINAL_UNIT),
    _leaf(lambda node: _sign(node) * FINAL_UNIT),
)
_OUTCOMES = (_STATIC, *_RESULTS, _NOTHING, *_MIXED, *_DECIDED, *_ALIKE)


def _pair(one: int, other: int) -> Callable[[Window], tuple[int, int]]:
    """Return the window made of two ends: 1 is alpha, 2 beta; a minus sign negates."""

    def window(at: Window) -> tuple[int, int]:
        first, second = (at[abs(end)] * (1 if end > 0 else -1) for end in (one, other))
        return first, second

    return window


_RIGHT, _SAME, _KEPT, _SWAPPED = _pair(-2, -1), _pair(1, 2), _pair(-1, -2), _pair(2, 1)
_WINDOWS = (
    ("window not negated{}: it is passed on unchanged", (_SAME,)),
    ("window negated{}, but its ends are not exchanged", (_KEPT,)),
    ("window not negated{}: its ends are only exchanged", (_SWAPPED,)),
    ("window not negated{}: one of its ends", (_pair(-2, 1), _pair(2, -1))),
)


def _value(sign: int, window: Callable[[Window], tuple[int, int]]) -> _Form:
    """Return the form in which a move's value has another sign or window."""
    return {"value": lambda s, node, child, at: sign * s.search(child, at.below(*window(at)))}


def _passed(sign: int, window: Callable[[Window], tuple[int, int]], plies: int = 1) -> _Form:
    """Return the form in which a pass has another sign or window, or costs other plies."""

    def passed(search: Search, node: ReferenceNode, at: Window) -> int:
        return sign * search.search(node.children[0], at.below(*window(at), plies))

    return {"passed": passed}


def _at_pass(number: int) -> Mistake:
    words, windows = _WINDOWS[number]
    forms = [_passed(-1, window, plies) for window in windows for plies in (1, 0)]
    advice = "after a pass the other side's window is (-beta, -alpha), as after any move"
    group = "wrong window at a pass: not negated, or its ends not exchanged"
    return Mistake(words.format(" at a pass"), advice, forms, windowed=True, group=group)


def _for_child(number: int) -> Mistake:
    words, windows = _WINDOWS[number]
    forms = [_value(-1, w) | more for w in windows for more in ({}, _passed(-1, w))]
    advice = "a child's window is (-beta, -alpha): negated, and its ends exchanged"
    group = "wrong window for a child: not negated, or its ends not exchanged"
    return Mistake(words.format(""), advice, forms, windowed=True, in_loop=True, group=group)


def _in_loop(cause: str, advice: str, *forms: _Form) -> Mistake:
    return Mistake(cause, advice, forms, in_loop=True)


def _with_cuts(cause: str, advice: str, name: str, *forms: Callable[..., Any]) -> Mistake:
    return Mistake(cause, advice, [{name: form} for form in forms], windowed=True, in_loop=True)


def _ends(cause: str, advice: str, *outcomes: _Leaf) -> Mistake:
    return Mistake(cause, advice, [{"finished": outcome} for outcome in outcomes])


def _looked_after_pass(search: Search, node: ReferenceNode, at: Window) -> int:
    """Without a minus, where no depth is left."""
    if at.depth > 1 or node.children[0].over:
        return Search.passed(search, node, at)
    return _looked_at_once(search, node, at)


def _looked_at_once(search: Search, node: ReferenceNode, at: Window) -> int:
    search.nodes += 1
    return search.looked(node.children[0], at)


def _same_level(search: Any, node: ReferenceNode, at: Window) -> int:
    search.side = -search.side
    value = search.search(node.children[0], at.below(at.alpha, at.beta, search.pass_costs))
    search.side = -search.side
    return int(value)


def _other_level(search: Any, node: ReferenceNode, at: Window) -> int:
    return -_same_level(search, node, at._replace(alpha=-at.beta, beta=-at.alpha))


_LEVEL: _Form = {
    "side": 1,
    "finished": lambda search, node, at: search.side * Search.finished(search, node, at),
    "looked": lambda search, node, at: search.side * Search.looked(search, node, at),
}
"""With a level for each side."""


def _plies(least: int, more: int = -100) -> _Form:
    return {"plies": lambda search, depth: max(least, depth + more)}


def _parent(search: Search, node: ReferenceNode, child: ReferenceNode, at: Window) -> int:
    return search.looked(node, at) if at.depth == 1 else Search.value(search, node, child, at)


def _first(number: int) -> Callable[[Pairs], Pairs]:
    return lambda pairs: pairs[:number]


def _listed(words: str, *choices: Callable[[Pairs], Pairs]) -> Mistake:
    forms = [{"listed": lambda search, pairs, of=of: of(pairs)} for of in choices]
    return Mistake(f"ordering loses moves: {words}", _ALL_MOVES, forms, in_loop=True)


_NOWHERE = Window(0, 0, 0, 0)
_STOPS: _Form = {"stops": lambda search, node: not node.moves}
_ALPHA: _Form = {"passed": lambda search, node, at: at.alpha}
_NO_MINUS, _MIN = _value(1, _SAME), {"better": lambda search, best, value: min(best, value)}
_MIN_CUT: _Form = {
    "cut": lambda search, value, before, alpha, beta: value <= before,
    "raised": lambda search, alpha, beta, value: (alpha, beta),
}
NO_PASS = "no pass handling: no move is taken for the end of the game"
# fmt: off
_GO_ON = ("where the mover has no move but the other side has one, the search has to go on with "
          "the other side; the game is over only if neither side can move")
_NEGATE_PASS = ("after a pass the other side moves: its value has to be negated as after any move "
                "(value = -search(...)), or the level changes from max to min")
_MOVER = "in negamax a leaf is evaluated from the view of the side that is to move there"
_RESULT = "the result is the mover's, as a heuristic value is"
_ASK_FIRST = ("whether the game is over has to be asked first; what counts then is who has won, "
              "beyond any heuristic value")
_TO_DEPTH = ("at depth 1 each move is made and the position after it evaluated: the root hands "
             "depth - 1 to its children, and the test is depth == 0")
_FOR_BEST = "the move has to be kept together with its value whenever it is better"
_ALL_MOVES = ("some legal moves are never looked at: a list that is sliced, a loop that ends too "
              "early, a dict by key that keeps one move of those with equal keys")
_TAKE_TURNS = ("what is good for the opponent is bad for the mover: negate a child's value, or "
               "take turns with max and min")
_AT_BETA = "a node is left when a move is worth beta or more, not when one is worth alpha or less"
_VALUE_SIGN = "the moves are right; the value has the wrong sign"
_RAISE = "a move's value narrows the mover's end of the window: alpha = max(alpha, value)"
_ONLY_MORE = ("with cuts, a move whose value only equals the best may be worse: choose a move only "
              "if its value is more")
_OBEY = "it looks equally far whatever it is asked; see the setting depth, or limits.depth"
_NOTICE = "neither side can move: the discs are to be counted, and nobody passes any further"
_BEYOND = "a won game has to be worth more than any heuristic value, however few the discs"
_FROM_BELOW = "it has to begin below any value: positions may be bad in every way"

MISTAKES: Sequence[Mistake] = (
    Mistake(NO_PASS, _GO_ON, [*(_STOPS | {"finished": outcome} for outcome in _OUTCOMES),
                              *({"passed": outcome} for outcome in _OUTCOMES)]),
    Mistake(NO_PASS, _GO_ON, (_ALPHA, _STOPS | {"finished": _ALPHA["passed"]}), styles=STYLES),
    Mistake("sign error at a pass", _NEGATE_PASS, [
        *(_passed(1, window) for window in (_SAME, _RIGHT, _KEPT, _SWAPPED)),
        *(_passed(1, window, 0) for window in (_SAME, _RIGHT)),
        *(_LEVEL | {"passed": level} for level in (_same_level, _other_level)),
    ], styles=STYLES),
    Mistake("static value not negated after a pass",
            "after a pass the heuristic's value is the other side's: negate it, as after any move",
            ({"passed": _looked_after_pass}, {"passed": _looked_at_once})),
    *map(_at_pass, range(3)),
    _with_cuts("cutoff at the wrong bound", _AT_BETA, "cut",
               lambda search, value, before, alpha, beta: True,  # value <= alpha
               lambda search, value, before, alpha, beta: value <= before,
               lambda search, value, before, alpha, beta: value >= before,
               lambda search, value, before, alpha, beta: value <= beta,
               lambda search, value, before, alpha, beta: alpha <= beta,
               lambda search, value, before, alpha, beta: value > before),
    *map(_for_child, range(3)),
    _with_cuts("alpha is lowered again", _RAISE, "raised",
               lambda search, alpha, beta, value: (value, beta)),
    _with_cuts("beta is narrowed in place of alpha", _RAISE, "raised",
               lambda search, alpha, beta, value: (alpha, min(beta, value)),
               lambda search, alpha, beta, value: (alpha, value)),
    _at_pass(3),
    _for_child(3),
    # A root may make its moves anyway.
    Mistake("depth off by one", _TO_DEPTH, (_plies(0, 1), _plies(0, -1), _plies(1, -1))),
    _in_loop("a move costs two plies of the depth", "a move takes one from the depth",
             {"ply_costs": 2}, {"ply_costs": 2, "pass_costs": 2}),
    Mistake("a pass costs two plies of the depth", "a pass is one ply", ({"pass_costs": 2},)),
    Mistake("the depth that is asked for is not obeyed", _OBEY, tuple(map(_plies, (1, 2, 3)))),
    Mistake("wrong side evaluated", _MOVER, [
        {"looked": _other_looks},
        *(_signed(sign, *names) for sign in (_wrong, _root) for names in (_LEAVES[:1], _LEAVES)),
    ]),
    Mistake("wrong side evaluated: Black's view, whoever is to move", _MOVER,
            (_signed(_black, "looked"), _signed(_black, *_LEAVES))),
    Mistake("plays for Black, whoever is to move",
            "the side to move is the one that chooses the best for itself, White too",
            (_signed(_black_root, *_LEAVES),)),
    Mistake("finished game counted for the wrong side", _RESULT,
            (_signed(_wrong, "finished"), _signed(_root, "finished"))),
    Mistake("finished game counted for Black, whoever is to move", _RESULT,
            (_signed(_black, "finished"),)),
    _ends("finished game evaluated by the heuristic", _ASK_FIRST, _STATIC),
    Mistake("the end of the game is not noticed", _NOTICE, ({"stops": lambda s, node: False},)),
    _ends("a finished game counts as 0", _ASK_FIRST, _NOTHING),
    _ends("a finished game's discs are mixed with heuristic values", _BEYOND, *_MIXED),
    _ends("a finished game counts alike, whoever has won", _ASK_FIRST, *_ALIKE),
    _ends("a draw counts as won or lost", "equal discs are a draw, worth 0", *_DECIDED),
    _in_loop("maximizes at every level: a child's value is not negated", _TAKE_TURNS,
             *(_NO_MINUS | more for more in (_passed(1, _SAME), {})),
             *(_value(1, _RIGHT) | more for more in (_passed(1, _RIGHT), {})),
             _NO_MINUS | _passed(1, _SAME) | _signed(_root, *_LEAVES),
             _NO_MINUS | _passed(1, _SAME) | _signed(_root, "looked")),
    _in_loop("minimizes where it should maximize",
             "the side to move takes the move with the greatest value",
             *({"lowest": INFINITY} | _MIN | more for more in (_MIN_CUT, {}))),
    _in_loop("the best value begins at 0", _FROM_BELOW, *({"lowest": n} for n in (0, -1, 1))),
    _in_loop("the last move's value is kept, not the best",
             "a node is worth its best move: best = max(best, value)",
             {"better": lambda search, best, value: value}),
    _in_loop("the position before the move is evaluated",
             "a move is made first, and then the position after it evaluated", {"value": _parent}),
    _listed("the first", lambda pairs: pairs[1:] or pairs),
    _listed("the last", lambda pairs: pairs[:-1] or pairs),
    _listed("all after the first few", *map(_first, range(2, 12))),
    _listed("all but one of equal values",
            lambda pairs: [*{pair[1].looks: pair for pair in pairs}.values()]),
    Mistake("the value that is told is the opponent's, not the mover's", _VALUE_SIGN,
            ({"told": lambda search, root, value: -value},)),
    Mistake("the value that is told is Black's, not the mover's", _VALUE_SIGN,
            ({"told": lambda search, root, value: value * _black(root, _NOWHERE)},)),
    Mistake("the first move of the list is returned", _FOR_BEST,
            ({"chosen": lambda search, root: root.moves[:1]},)),
    Mistake("the last move of the list is returned", _FOR_BEST,
            ({"chosen": lambda search, root: root.moves[-1:]},)),
    Mistake("a bound is taken for a value: the last of equal moves is chosen", _ONLY_MORE,
            ({"chosen": lambda search, root: Search.equal(search, root)[-1:]},), windowed=True),
)
# fmt: on
"""Mistakes that answers show, the usual ones first."""


def _odd(ply: int) -> bool:
    return ply % 2 == 1


def _even(ply: int) -> bool:
    return ply % 2 == 0


_OTHERS, _OWN = " (where the other side moves)", " (where the root's side moves)"
_Place = tuple[Callable[[int], bool] | None, str]
_PLACES: Sequence[Sequence[_Place]] = (
    ((None, ""), (lambda ply: ply > 0, "")),
    ((lambda ply: ply == 0, " (at the root)"),),
    ((_odd, _OTHERS), (lambda ply: ply > 0 and ply % 2 == 0, _OWN), (_even, _OWN)),
)
_IN_LOOPS = (_PLACES[0][1], _PLACES[1][0], _PLACES[2][2])
"""Places that matter only for a mistake in a loop: the root has moves."""


def mistaken(
    kinds: Sequence[type[Search]], orders: Sequence[Order], cuts: bool
) -> Iterator[Search]:
    """Yield the searches with a mistake: those at all nodes first, then those at some.

    cuts: False leaves out all that only a search with cuts can have.
    """
    for places in _PLACES:
        for mistake, place, kind in product(MISTAKES, places, kinds):
            where, words = place
            if (mistake.windowed and not cuts) or (place in _IN_LOOPS and not mistake.in_loop):
                continue
            if where is not None and {"plies", "told", "chosen"} & {*mistake.forms[0]}:
                continue
            styles = STYLES if mistake.windowed or mistake.in_loop else mistake.styles
            about: _Form = {"cause": f"{mistake.cause}{words}", "advice": mistake.advice}
            about |= {"kind": kind, "mistake": mistake}
            for form in mistake.forms:
                made = type("MistakenSearch", (kind,), form | about)
                for style in styles if cuts else styles[:1]:
                    if style.cuts or not mistake.windowed:
                        for order in orders if style.cuts or "listed" in form else orders[:1]:
                            yield made(style, order, where)


# ------------------------------------------------------------------ right values, other counts


class Habit(NamedTuple):
    """A way to waste nodes, which only counts show."""

    cause: str
    advice: str
    form: _Form
    where: Callable[[int], bool] | None = None


_KEEPS: _Form = {"raised": lambda search, alpha, beta, value: (alpha, beta)}
_BY_VALUE = _KEEPS | {"cut": lambda search, value, before, alpha, beta: value >= beta}
_STRICT: _Form = {"cut": lambda search, value, before, alpha, beta: alpha > beta}
_LATE = "a move worth just beta is enough for a cutoff; values are right, but too much is searched"
NOT_RAISED = "alpha is not raised"
RAISE = "a move's value has to narrow the window of the moves after it: alpha = max(alpha, value)"
FULL_WINDOW = Habit(
    "the root gives each move a full window",
    "that costs nodes, and tells all moves that are equally good",
    _KEEPS,
    lambda ply: ply == 0,
)
"""A choice of those that draw among equal moves."""
WASTEFUL = (
    FULL_WINDOW,
    *(Habit("cutoff with > for >=", _LATE, _STRICT, where) for where in (None, _odd, _even)),
    *(Habit(NOT_RAISED, RAISE, _BY_VALUE, where) for where in (None, _odd, _even)),
)


def wasteful(kind: type[Search], habit: Habit) -> type[Search]:
    """Return the class of a right search with a wasteful habit."""
    made = _made(kind, habit.form)
    made.kind = kind
    return made


def deepened(kind: type[Search]) -> type[Search]:
    """Return the class of a right search that looks one ply ahead, then two, and so on."""

    def reply(self: Search, root: ReferenceNode, depth: int) -> Reply:
        made = [kind.reply(self, root, plies + 1) for plies in range(depth)]
        names = ("nodes", "leaves", "evaluations", "unfinished")
        return replace(made[-1], **{n: sum(getattr(one, n) for one in made) for n in names})

    return _made(kind, {"reply": reply})
