"""The counts that a right search states, and what it prunes: held to searches whose counts are
known, else to the bounds of any search."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import accumulate
from operator import eq

from othello_lab.agents.checks.check import NotApplicable
from othello_lab.agents.checks.search.case import AnsweredQuestion, Cases, Cause, Fault, simplest
from othello_lab.agents.checks.search.references import (
    FULL_WINDOW,
    NO_CUTS,
    NOT_RAISED,
    RAISE,
    SOFT,
    Order,
    Reply,
    Search,
    as_called,
    deepened,
    from_a1,
    from_h8,
    wasteful,
)

WRONG_ALREADY = "what it answers is wrong already"
_NODES = "Its counts are those of the tree"
_ORDERS: tuple[tuple[Order, str], ...] = (
    (from_a1, ""),
    (from_h8, ", from h8 to a1"),
    (as_called, ", in an order of its own"),
)
_FORMS: tuple[tuple[Callable[[Reply], int], str], ...] = (
    (lambda reply: reply.nodes - 1, "the root is not counted"),
    (lambda reply: reply.nodes - reply.leaves, "leaves are not counted"),
    (lambda reply: reply.leaves, "only leaves are counted"),
    (lambda reply: reply.nodes - reply.leaves - 1, "neither leaves nor the root are counted"),
    (lambda reply: 2 * reply.nodes, "each node is counted twice"),
    (lambda reply: reply.nodes // 2, "only half of the nodes are counted"),
    (lambda reply: (reply.nodes + 1) // 2, "only half of the nodes are counted"),
)
"""How nodes may be miscounted."""


class _KnownSearches:
    """Searches whose counts are known, on the positions of some cases.

    right: minimax and alpha-beta first; wasteful: those that waste nodes.
    """

    def __init__(self, kind: type[Search], cases: Cases) -> None:
        self.cases = cases
        words = dict(_ORDERS if any(case.answer.calls for case in cases) else _ORDERS[:2])
        natural = [*words][:2]
        self.right = {kind(NO_CUTS): "minimax"}
        self.right |= {kind(SOFT, order): f"alpha-beta{words[order]}" for order in words}
        by_ply = "alpha-beta, deepened ply by ply"
        self.right |= {deepened(kind)(SOFT, order): f"{by_ply}{words[order]}" for order in natural}
        self.wasteful = {
            search: f"alpha-beta{words[search.order]} ({search.cause})"
            for search in wasteful(kind, [*words])
        }
        self.reply = cache(self._reply)

    def _reply(self, search: Search, case: AnsweredQuestion) -> Reply:
        return search.reply(case.root(search.order is as_called), case.depth)

    def fits(self, search: Search, which: Callable[[AnsweredQuestion, Reply], bool]) -> bool:
        """Return True if all replies of a search fit the cases."""
        return all(which(case, self.reply(search, case)) for case in self.cases)

    def fitting(self, which: Callable[[AnsweredQuestion, Reply], bool]) -> Search | None:
        """Return the first search of which all replies fit the cases."""
        return next((search for search in self.names if self.fits(search, which)), None)

    @property
    def names(self) -> dict[Search, str]:
        """All searches, with their names."""
        return self.right | self.wasteful


def judge_counts(answered: Cases, kind: type[Search], right: bool, notes: list[str]) -> str:
    """Compare the nodes and evaluations that a search states with those that it has.

    Returns a sentence about them; raises Fault and NotApplicable.
    """
    stated = [c for c in answered if c.answer.nodes is not None and not c.solved]
    if not stated or not right:
        raise NotApplicable(WRONG_ALREADY if stated else "it states no counts")
    known = _KnownSearches(kind, stated)
    if exact := known.fitting(lambda case, reply: case.answer.nodes == reply.nodes):
        _check_evaluations(answered)
        return f"{_NODES}: exactly the nodes of {known.names[exact]}"
    for search in known.right:
        for form, name in _FORMS:
            if known.fits(search, lambda case, reply, form=form: case.answer.nodes == form(reply)):  # type: ignore[misc]
                raise _differing(name, simplest(stated), known, search)
    if _added_up(stated):
        name = "they are not reset from move to move"
        raise _differing(name, stated[1], known, next(iter(known.right)))
    seen = any(case.answer.seen is not None for case in stated)
    if seen and (alike := known.fitting(_evaluates)):
        odd = [case for case in stated if case.answer.nodes != known.reply(alike, case).nodes]
        raise _differing("they are not those of its tree", simplest(odd), known, alike)
    _check_bounds(stated, kind)
    notes.append(
        "its nodes lie between those of the smallest tree and minimax's; with its order of moves, "
        "table or windows no exact number is known"
    )
    _check_evaluations(answered)
    return "Its counts are within the bounds of any search"


def _differing(name: str, case: AnsweredQuestion, known: _KnownSearches, search: Search) -> Fault:
    enters = f"{known.names[search]} enters {known.reply(search, case).nodes:,}"
    return _miscounted(name, case, enters)


def _miscounted(name: str, case: AnsweredQuestion, beside: str) -> Fault:
    """Return the failure of a count, with another one beside it."""
    advice = "a node is every position that is entered: root, leaves and passes included"
    evidence = f"{case.describe()}; it states {case.answer.nodes:,} nodes, {beside}"
    return Fault(name, Cause(f"counts: {name}", advice, evidence))


def _check_bounds(stated: Cases, kind: type[Search]) -> None:
    """Hold nodes to the smallest tree and to minimax's, where no search with its order is known."""
    unseen = all(case.answer.seen is None for case in stated)
    for case in sorted(stated, key=lambda case: case.minimax.nodes):
        nodes = case.answer.nodes or 0
        least, words = _fewest(case, unseen)
        most = kind(NO_CUTS).reply(case.root(), case.depth).nodes
        if nodes < least:
            raise _miscounted("too few for any search", case, f"{words} has {least:,}")
        if nodes > most and case.answer.seen is None:
            why = "more nodes than minimax: what it searches again cannot be seen"
            raise NotApplicable(why)
        # Where it evaluates a position twice, or above the last ply, it searches or sorts again.
        again = case.evaluated < len(case.answer.calls) or case.above
        if nodes > most and not again:
            raise _miscounted("more than minimax's", case, f"minimax enters {most:,}")


def _fewest(case: AnsweredQuestion, unseen: bool) -> tuple[int, str]:
    """Return the fewest nodes that a search can have entered, and why, in words."""
    if case.answer.calls and not case.above:
        return case.evaluated + case.depth, "the tree above the positions that it evaluates"
    if unseen or case.ends:
        return len(case.root().moves) + 1, "the root with its moves"
    return case.depth + 1, "a line of its depth"


def _added_up(cases: Cases) -> bool:
    """Return True if from question to question the nodes have grown by those of the last one."""
    at_one = [case for case in cases if case.depth == 1]
    totals = accumulate(case.minimax.nodes for case in at_one)
    return len(at_one) > 1 and all(map(eq, (case.answer.nodes for case in at_one), totals))


def _check_evaluations(answered: Cases) -> None:
    """Raise Fault unless it calls the heuristic as often as it says."""
    for case in sorted(answered, key=lambda case: case.minimax.nodes):
        stated, seen = case.answer.evaluations, case.answer.seen
        if stated is not None and seen is not None and stated != seen:
            evidence = f"{case.describe()}; it states {stated:,} evaluations, and made {seen:,}"
            reason = "it calls the heuristic more or less often than it says"
            raise Fault(reason, Cause("counts: evaluations", "one for every call", evidence))


def is_known(cases: Cases, kind: type[Search]) -> bool:
    """Return True if they have the evaluations of a right search whose counts are known."""
    return _KnownSearches(kind, cases).fitting(_evaluates) is not None


def _evaluates(case: AnsweredQuestion, reply: Reply) -> bool:
    return case.unfinished in (reply.unfinished, None)  # None where there is nothing to evaluate


def judge_pruning(
    answered: Cases, kind: type[Search], right: bool, notes: list[str], must_prune: bool
) -> str:
    """Compare what a search looks at with minimax's, and name a wasteful habit.

    Returns a sentence about it. Raises NotApplicable where nothing can be told, and Fault if it
    must prune.
    """
    deep = [c for c in answered if c.depth > 1 and _cost(c) and not c.solved]
    if not right:
        raise NotApplicable(WRONG_ALREADY)
    if all(case.depth == 1 for case in answered):
        raise NotApplicable("nothing can be pruned at depth 1")
    if not deep:
        raise NotApplicable("it states no counts, and its evaluations cannot be seen")
    known = _KnownSearches(kind, deep)
    spent = sum(_cost(case) or 0 for case in deep)
    whole, usual = (
        sum(_like(case, known.reply(search, case)) for case in deep)
        for search in [*known.right][:2]
    )
    unit = "evaluations" if deep[0].answer.seen is not None else "nodes"
    if spent >= whole:
        reason = f"all of minimax's {unit}"
        if must_prune:
            case = max(deep, key=lambda case: case.minimax.nodes)
            cause = Cause(f"{NOT_RAISED}, or nothing is cut", RAISE, _spent(case, known))
            raise Fault(reason, cause)
        return f"It does not prune: {reason}"
    search = known.fitting(lambda case, reply: _cost(case) == _like(case, reply))
    habit = search.mistake if search in known.wasteful else None
    if habit and must_prune and habit is not FULL_WINDOW:
        case = max(deep, key=lambda case: (_cost(case) or 0) - _like(case, case.minimax))
        raise Fault(habit.cause, Cause(habit.cause, habit.advice, _spent(case, known), 1.0))
    if habit:
        notes.append(f"{habit.cause}: {habit.advice}")
    return (
        f"It prunes: {spent / whole:.1%} of minimax's {unit} (alpha-beta without an order "
        f"{usual / whole:.1%})"
    )


def _spent(case: AnsweredQuestion, known: _KnownSearches) -> str:
    """Return the cost of a search on a position, and alpha-beta's."""
    does = "evaluates" if case.answer.seen is not None else "enters"
    usual = _like(case, known.reply([*known.right][1], case))
    return f"{case.describe()}; it {does} {_cost(case):,}, alpha-beta {usual:,}"


def _cost(case: AnsweredQuestion) -> int | None:
    """Return the cost of a search: observed evaluations, else its own statement."""
    return case.unfinished if case.answer.seen is not None else case.answer.nodes


def _like(case: AnsweredQuestion, reply: Reply) -> int:
    """Return the cost of another search, in the same unit."""
    return reply.unfinished if case.answer.seen is not None else reply.nodes
