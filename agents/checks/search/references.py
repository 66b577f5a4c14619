"""Right searches, and searches with a usual mistake.

A mistaken search is the right one with an expression or two of its source changed. A student's
answers, and the number of positions that it evaluates, are compared with theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import getsource
from itertools import product
from textwrap import dedent
from typing import Any, NamedTuple

from othello_lab.agents.checks.search.tree import ReferenceNode
from othello_lab.agents.evaluation.evaluation import FINAL_UNIT

INFINITY = 65 * FINAL_UNIT
WIDEST = -INFINITY, INFINITY

Pairs = Sequence[tuple[int, ReferenceNode]]
Order = Callable[[ReferenceNode], Pairs]
"""The moves of a node with the positions after them, as they are tried."""
Where = Callable[[int], bool]
"""Returns True for the plies at which a mistake is made."""


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


def everywhere(ply: int) -> bool:
    return True


class Search:
    """A search in one of :data:`STYLES`, with its moves in some order.

    A mistake may be made at some of the plies only, see ``where``.

    cause: the mistake in a few words. advice: its usual origin. note: a free choice. depth_first:
    True if the test of the depth comes before that of the end. pass_costs: plies.
    """

    cause = advice = note = ""
    mistake: Mistake
    depth_first = False
    pass_costs = 1

    def __init__(
        self, style: Style = SOFT, order: Order = from_a1, where: Where = everywhere
    ) -> None:
        self.style, self.order, self.where = style, order, where

    # The expressions of these two methods are what mistakes change.

    def reply(self, root: ReferenceNode, depth: int) -> Reply:
        """Return its answer, ``depth`` plies deep."""
        self.nodes = self.leaves = self.evaluations = self.unfinished = 0
        self.discs, self.tried = root.position.discs, dict[int, int]()
        value = self.search(root, depth, *WIDEST, 0)
        values = self.tried.values()
        best = value if value in values else max(values, default=value)
        equal = [move for move in self.tried if self.tried[move] == best] or [*root.moves[:1]]
        # With cuts, values that equal the best are but bounds.
        moves = equal[:1] if self.style.cuts and not self.style.full else equal
        counts = self.nodes, self.leaves, self.evaluations, self.unfinished
        return Reply(frozenset(moves), value, *counts)

    def search(self, node: ReferenceNode, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Return the value to the mover."""
        self.nodes += 1
        if depth <= 0 and self.depth_first:
            return self.looked(node, node.looks)
        if node.over:
            return self.leaf(self.final(node))
        if depth <= 0:
            return self.looked(node, node.looks)
        if not node.moves:
            return -self.search(node.children[0], depth - self.pass_costs, -beta, -alpha, ply + 1)
        style, cut, best = self.style, False, -INFINITY
        for move, child in self.order(node):
            if style.first and alpha >= beta:
                break
            value = -self.search(child, depth - 1, -beta, -alpha, ply + 1)
            if ply == 0:
                self.tried[move] = value
            best = max(best, value)
            if style.cuts:
                before = alpha  # noqa: F841  some mistakes compare with it
                if ply or not style.full:
                    alpha, beta = max(alpha, value), beta
                cut = (value if style.by_value else alpha) >= beta
                if cut:
                    break
        if ply == 0 or not style.raised:
            return best
        return beta if cut and style.hard else alpha

    def leaf(self, value: int) -> int:
        """Count a leaf and return its value."""
        self.leaves += 1
        return value

    def looked(self, node: ReferenceNode, value: int) -> int:
        """Count a call of the heuristic and return its value."""
        self.evaluations += 1
        self.unfinished += not node.over
        return self.leaf(value)

    def final(self, node: ReferenceNode) -> int:
        """Return the value of a finished game."""
        return node.discs * FINAL_UNIT


_BY_COUNT = "the empty squares of a finished game count for nobody (in the lab the winner's)"
_CHOICES: Sequence[dict[str, dict[str, Any]]] = (
    {"": {}, "a pass costs no ply (in the lab it is one)": {"pass_costs": 0}},
    {"": {}, "as in PAIP, where no depth is left finished games too are judged by the heuristic":
     {"depth_first": True}},
    {"": {}, "a finished game counts as won, lost or drawn, by however many discs":
     {"final": lambda search, node: node.winner * FINAL_UNIT},
     _BY_COUNT: {"final": lambda search, node: node.counted * FINAL_UNIT}},
)  # fmt: skip


def _variant(base: type[Search], attributes: dict[str, Any]) -> type[Search]:
    return type("Variant", (base,), attributes)


def _kinds() -> Iterator[type[Search]]:
    for choices in product(*(choice.items() for choice in _CHOICES)):
        note = "; ".join(words for words, _ in choices if words)
        changes = {name: value for _, form in choices for name, value in form.items()}
        yield _variant(Search, {"note": note, **changes}) if note else Search


RIGHT = tuple(_kinds())
"""What may be chosen; ``note`` says it. The lab's own is the first."""
TYPICAL = tuple(kind for kind in RIGHT if _BY_COUNT not in kind.note)
"""Enough of them for searches with a mistake."""


# ------------------------------------------------------------------ changes of the source

Form = tuple[tuple[str, str], ...]
"""Expressions of the source, each with a wrong one that takes its place."""
_SOURCE = dedent(getsource(Search.reply)) + dedent(getsource(Search.search))


@cache
def _changed(form: Form) -> dict[str, Any]:
    """Return the methods of a search with changes in them."""
    source, methods = _SOURCE, dict[str, Any]()
    for right, wrong in form:
        assert right in _SOURCE, right
        if right not in _OF_REPLY:
            wrong = f"(({wrong}) if self.where(ply) else ({right}))"
        source = source.replace(right, wrong)
    exec(source, globals(), methods)
    return methods


def _forms(right: str, *wrong: str) -> list[Form]:
    """Return the forms in which one expression is changed."""
    return [((right, instead),) for instead in wrong]


def _pass(sign: str = "-", window: str = "-beta, -alpha", plies: str = "self.pass_costs") -> str:
    return f"{sign}self.search(node.children[0], depth - {plies}, {window}, ply + 1)"


def _move(sign: str = "-", window: str = "-beta, -alpha", plies: int = 1) -> str:
    return f"{sign}self.search(child, depth - {plies}, {window}, ply + 1)"


_ANSWER, _DEPTH = "frozenset(moves), value", "root, depth"
_OF_REPLY = _ANSWER, _DEPTH
_OVER, _END, _LOOK = "node.over", "self.leaf(self.final(node))", "self.looked(node, node.looks)"
_PASS, _MOVE, _ORDER = _pass(), _move(), "self.order(node)"
_BEST, _LOWEST, _WINDOW = "max(best, value)", "-INFINITY", "max(alpha, value), beta"
_CUT = "(value if style.by_value else alpha) >= beta"

_SAME, _KEPT, _SWAPPED = "alpha, beta", "-alpha, -beta", "beta, alpha"
_WRONG_WINDOWS = (
    ("window not negated{}: it is passed on unchanged", (_SAME,)),
    ("window negated{}, but its ends are not exchanged", (_KEPT,)),
    ("window not negated{}: its ends are only exchanged", (_SWAPPED,)),
    ("window not negated{}: one of its ends", ("-beta, alpha", "beta, -alpha")),
)
_BLACK, _ROOT = "(1 if node.is_black else -1)", "(-1) ** ply"
_LEVEL = "(-1) ** (ply + node.position.discs - self.discs)"
"""Changes its sign with each pass."""

_NOTHING = "self.leaf(0)"
_MIXED = "self.leaf(node.discs)", "self.leaf(node.counted)", "self.leaf(node.winner)"
_DECIDED = (
    "self.leaf(FINAL_UNIT if node.discs > 0 else -FINAL_UNIT)",
    "self.leaf(FINAL_UNIT if node.discs >= 0 else -FINAL_UNIT)",
)
_ALIKE = tuple(
    f"self.leaf({sign * size})"
    for size in (INFINITY, FINAL_UNIT // 2, 10 * FINAL_UNIT, 1)
    for sign in (-1, 1)
)
_RESULTS = "self.leaf(node.discs * FINAL_UNIT)", "self.leaf(node.winner * FINAL_UNIT)"
_OUTCOMES = (_LOOK, *_RESULTS, _NOTHING, *_MIXED, *_DECIDED, *_ALIKE)
_BEFORE = f"{_LOOK} if depth == 1 else {_MOVE}"
_MUST_PASS = "not (node.moves or node.over)"
_LAST_PLY = "self.looked(node.children[0], node.children[0].looks)"


def _signed(sign: str, *leaves: str) -> Form:
    """Return the form in which the values of leaves have a sign."""
    return tuple((leaf, f"{sign} * {leaf}") for leaf in leaves)


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
    forms: Sequence[Form]
    windowed: bool = False
    in_loop: bool = False
    styles: Sequence[Style] = CONSISTENT
    group: str = ""


def _in_loop(cause: str, advice: str, forms: Sequence[Form], windowed: bool = False) -> Mistake:
    return Mistake(cause, advice, forms, windowed, in_loop=True)


def _at_pass(number: int) -> Mistake:
    words, windows = _WRONG_WINDOWS[number]
    advice = "after a pass the other side's window is (-beta, -alpha), as after any move"
    forms = _forms(_PASS, *(_pass("-", window) for window in windows))
    group = "wrong window at a pass: not negated, or its ends not exchanged"
    return Mistake(words.format(" at a pass"), advice, forms, windowed=True, group=group)


def _for_child(number: int) -> Mistake:
    words, windows = _WRONG_WINDOWS[number]
    advice = "a child's window is (-beta, -alpha): negated, and its ends exchanged"
    moves = [((_MOVE, _move("-", window)), (_PASS, _pass("-", window))) for window in windows]
    forms = [form[:number] for form in moves for number in (1, 2)]
    group = "wrong window for a child: not negated, or its ends not exchanged"
    return Mistake(words.format(""), advice, forms, windowed=True, in_loop=True, group=group)


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
    Mistake(NO_PASS, _GO_ON, [
        *(((_OVER, "not node.moves"), (_END, outcome)) for outcome in _OUTCOMES),
        *_forms(_PASS, *_OUTCOMES),
        *(((_LOOK, f"{outcome} if {_MUST_PASS} else {_LOOK}"), (_PASS, outcome))
          for outcome in _OUTCOMES[1:]),
    ]),
    Mistake(NO_PASS, _GO_ON, [((_PASS, "alpha"),), ((_OVER, "not node.moves"), (_END, "alpha"))],
            styles=STYLES),
    Mistake("sign error at a pass", _NEGATE_PASS, [
        *_forms(_PASS, _pass("", _SAME), _pass(""), _pass("", _KEPT), _pass("", _SWAPPED)),
        ((_PASS, _pass("", _SAME)), *_signed(_LEVEL, _END, _LOOK)),
        _signed(_LEVEL, _END, _LOOK),
    ], styles=STYLES),
    Mistake("static value not negated after a pass",
            "after a pass the heuristic's value is the other side's: negate it, as after any move",
            _forms(_PASS, f"{_PASS} if depth > 1 or node.children[0].over else {_LAST_PLY}",
                   _LAST_PLY)),
    *map(_at_pass, range(3)),
    _in_loop("cutoff at the wrong bound", _AT_BETA, _forms(
        _CUT,
        "True",  # value <= alpha
        "value <= before", "value >= before", "value <= beta", "alpha <= beta", "value > before",
    ), windowed=True),
    *map(_for_child, range(3)),
    _in_loop("alpha is lowered again", _RAISE, _forms(_WINDOW, "value, beta"), windowed=True),
    _in_loop("beta is narrowed in place of alpha", _RAISE,
             _forms(_WINDOW, "alpha, min(beta, value)", "alpha, value"), windowed=True),
    _at_pass(3),
    _for_child(3),
    # A root may make its moves anyway.
    Mistake("depth off by one", _TO_DEPTH,
            _forms(_DEPTH, "root, depth + 1", "root, depth - 1", "root, max(1, depth - 1)")),
    _in_loop("a move costs two plies of the depth", "a move takes one from the depth", [
        ((_MOVE, _move(plies=2)),), ((_MOVE, _move(plies=2)), (_PASS, _pass(plies="2"))),
    ]),
    Mistake("a pass costs two plies of the depth", "a pass is one ply",
            _forms(_PASS, _pass(plies="2"))),
    Mistake("the depth that is asked for is not obeyed", _OBEY,
            _forms(_DEPTH, "root, 1", "root, 2", "root, 3")),
    Mistake("wrong side evaluated", _MOVER, [
        *_forms(_LOOK, "self.looked(node, node.turned.looks)"),
        *(_signed(sign, *ends) for sign in ("-1", _ROOT) for ends in ([_LOOK], [_LOOK, _END])),
    ]),
    Mistake("wrong side evaluated: Black's view, whoever is to move", _MOVER,
            [_signed(_BLACK, _LOOK), _signed(_BLACK, _LOOK, _END)]),
    Mistake("plays for Black, whoever is to move",
            "the side to move is the one that chooses the best for itself, White too",
            [_signed(f"{_BLACK} * {_ROOT}", _LOOK, _END)]),
    Mistake("finished game counted for the wrong side", _RESULT,
            [_signed("-1", _END), _signed(_ROOT, _END)]),
    Mistake("finished game counted for Black, whoever is to move", _RESULT,
            [_signed(_BLACK, _END)]),
    Mistake("finished game evaluated by the heuristic", _ASK_FIRST, _forms(_END, _LOOK)),
    Mistake("the end of the game is not noticed", _NOTICE,
            [((_OVER, "False"), (_PASS, _pass(plies="1")))]),
    Mistake("a finished game counts as 0", _ASK_FIRST, _forms(_END, _NOTHING)),
    Mistake("a finished game's discs are mixed with heuristic values", _BEYOND,
            _forms(_END, *_MIXED)),
    Mistake("a finished game counts alike, whoever has won", _ASK_FIRST, _forms(_END, *_ALIKE)),
    Mistake("a draw counts as won or lost", "equal discs are a draw, worth 0",
            _forms(_END, *_DECIDED)),
    _in_loop("maximizes at every level: a child's value is not negated", _TAKE_TURNS, [
        ((_MOVE, _move("", _SAME)), (_PASS, _pass("", _SAME))),
        ((_MOVE, _move("", _SAME)),),
        ((_MOVE, _move("")), (_PASS, _pass(""))),
        ((_MOVE, _move("")),),
        ((_MOVE, _move("", _SAME)), (_PASS, _pass("", _SAME)), *_signed(_ROOT, _LOOK, _END)),
        ((_MOVE, _move("", _SAME)), (_PASS, _pass("", _SAME)), *_signed(_ROOT, _LOOK)),
    ]),
    _in_loop("minimizes where it should maximize",
             "the side to move takes the move with the greatest value", [
        ((_LOWEST, "INFINITY"), (_BEST, "min(best, value)"), (_CUT, "value <= before"),
         (_WINDOW, _SAME)),
        ((_LOWEST, "INFINITY"), (_BEST, "min(best, value)")),
    ]),
    _in_loop("the best value begins at 0", _FROM_BELOW, _forms(_LOWEST, "0", "-1", "1")),
    _in_loop("the last move's value is kept, not the best",
             "a node is worth its best move: best = max(best, value)", _forms(_BEST, "value")),
    _in_loop("the position before the move is evaluated",
             "a move is made first, and then the position after it evaluated",
             [((_MOVE, _BEFORE),), ((_MOVE, _BEFORE), (_CUT, f"depth > 1 and ({_CUT})"))]),
    _in_loop("ordering loses moves: the first", _ALL_MOVES,
             _forms(_ORDER, f"{_ORDER}[1:] or {_ORDER}")),
    _in_loop("ordering loses moves: the last", _ALL_MOVES,
             _forms(_ORDER, f"{_ORDER}[:-1] or {_ORDER}")),
    _in_loop("ordering loses moves: all after the first few", _ALL_MOVES,
             _forms(_ORDER, *(f"{_ORDER}[:{number}]" for number in range(2, 12)))),
    _in_loop("ordering loses moves: one at an end of the board", _ALL_MOVES, _forms(_ORDER, *(
        f"[pair for pair in {_ORDER} if pair[0] != {square}] or {_ORDER}" for square in (63, 0)
    ))),
    _in_loop("ordering loses moves: all but one of equal values", _ALL_MOVES,
             _forms(_ORDER, f"[*{{pair[1].looks: pair for pair in {_ORDER}}}.values()]")),
    Mistake("the value that is told is the opponent's, not the mover's", _VALUE_SIGN,
            _forms(_ANSWER, "frozenset(moves), -value")),
    Mistake("the value that is told is Black's, not the mover's", _VALUE_SIGN,
            _forms(_ANSWER, "frozenset(moves), value if root.is_black else -value")),
    Mistake("the first move of the list is returned", _FOR_BEST,
            _forms(_ANSWER, "frozenset(root.moves[:1]), value")),
    Mistake("the last move of the list is returned", _FOR_BEST,
            _forms(_ANSWER, "frozenset(root.moves[-1:]), value")),
    Mistake("a bound is taken for a value: the last of equal moves is chosen", _ONLY_MORE,
            _forms(_ANSWER, "frozenset(equal[-1:]), value"), windowed=True),
)
# fmt: on
"""Mistakes that answers show, the usual ones first."""


def _odd(ply: int) -> bool:
    return ply % 2 == 1


def _even(ply: int) -> bool:
    return ply % 2 == 0


_PLACES: Sequence[Sequence[tuple[Where, str, bool]]] = (
    ((everywhere, "", False), (lambda ply: ply > 0, "", True)),
    ((lambda ply: ply == 0, " (at the root)", True),),
    ((_odd, " (where the other side moves)", False),
     (lambda ply: ply > 0 and ply % 2 == 0, " (where the root's side moves)", False),
     (_even, " (where the root's side moves)", True)),
)  # fmt: skip
"""Where a mistake is made, in words; True if that matters only in a loop, as the root has moves."""


def mistaken(
    kinds: Sequence[type[Search]], orders: Sequence[Order], cuts: bool
) -> Iterator[Search]:
    """Yield the searches with a mistake: those at all nodes first, then those at some.

    cuts: False leaves out all that only a search with cuts can have.
    """
    for places in _PLACES:
        for mistake, (where, words, in_loop), kind in product(MISTAKES, places, kinds):
            if (mistake.windowed and not cuts) or (in_loop and not mistake.in_loop):
                continue
            changed = mistake.forms[0][0][0]
            if where is not everywhere and changed in _OF_REPLY:
                continue
            styles = STYLES if mistake.windowed or mistake.in_loop else mistake.styles
            for form in mistake.forms:
                if where is not everywhere and any(_LEVEL in wrong for _, wrong in form):
                    continue
                made = _with_mistake(kind, mistake, form, words)
                for style in styles if cuts else styles[:1]:
                    if style.cuts or not mistake.windowed:
                        for order in orders if style.cuts or changed == _ORDER else orders[:1]:
                            yield made(style, order, where)


def _with_mistake(
    kind: type[Search], mistake: Mistake, form: Form, words: str = ""
) -> type[Search]:
    """Return the class of a search with a mistake. words: where it is made."""
    cause = {"cause": f"{mistake.cause}{words}", "advice": mistake.advice, "mistake": mistake}
    return _variant(kind, cause | _changed(form))


# ------------------------------------------------------------------ right values, other counts

_LATE = "a move worth just beta is enough for a cutoff; values are right, but too much is searched"
NOT_RAISED = "alpha is not raised"
RAISE = "a move's value has to narrow the window of the moves after it: alpha = max(alpha, value)"
_LATE_CUT = (_CUT, "alpha > beta")
FULL_WINDOW = Mistake(
    "the root gives each move a full window",
    "that costs nodes, and tells all moves that are equally good",
    _forms(_WINDOW, _SAME),
)
"""A choice of those that draw among equal moves."""
_WASTEFUL = (
    Mistake(  # or with a pass as a move
        "cutoff with > for >=", _LATE, [(_LATE_CUT,), (_LATE_CUT, (_PASS, f"max(alpha, {_PASS})"))]
    ),
    Mistake(NOT_RAISED, RAISE, [((_WINDOW, _SAME), (_CUT, "value >= beta"))]),
)
"""Ways to waste nodes, which only counts show."""
_RAISED = SOFT._replace(raised=True)
_COSTS = [
    style._replace(full=full)
    for style in (SOFT, _RAISED, _RAISED._replace(hard=True))
    for full in (False, True)
]
"""Styles in which a wasteful habit costs differently."""


def wasteful(kind: type[Search], orders: Sequence[Order]) -> Iterator[Search]:
    """Yield right searches with a wasteful habit."""
    full = _with_mistake(kind, FULL_WINDOW, FULL_WINDOW.forms[0])
    yield from (full(FULL, order, lambda ply: ply == 0) for order in orders)
    for habit in _WASTEFUL:
        for form, where in product(habit.forms, (everywhere, _odd, _even)):
            made = _with_mistake(kind, habit, form)
            yield from (made(style, order, where) for order, style in product(orders, _COSTS))


def deepened(kind: type[Search]) -> type[Search]:
    """Return the class of a right search that looks one ply ahead, then two, and so on."""

    def reply(self: Search, root: ReferenceNode, depth: int) -> Reply:
        made = [kind.reply(self, root, plies + 1) for plies in range(depth)]
        names = ("nodes", "leaves", "evaluations", "unfinished")
        return replace(made[-1], **{n: sum(getattr(one, n) for one in made) for n in names})

    return _variant(kind, {"reply": reply})
