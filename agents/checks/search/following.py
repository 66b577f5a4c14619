"""Causes that the calls of the heuristic show, beside the tree that a search should search.

An evaluated position outside the tree shows an illegal move, wrong flips or a wrong depth. A line
without evaluated positions was not searched: the value above it is not proven.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from othello_lab.agents.checks.search.case import AnsweredQuestion, Cases, Cause, simplicity
from othello_lab.agents.checks.search.references import Search
from othello_lab.agents.checks.search.rules import FAULTS, KEPT, after

_FOLLOWED = 16
"""So many wrong answers are followed, the simplest."""
_MOST = 0.65
"""So large a part of them has to show a fault."""
SOME = 0.3
_BY_CHANCE = 0.001


def followed(cases: Cases) -> Cases:
    """Return the simplest of some answers, those without calls left out."""
    return sorted((case for case in cases if case.answer.calls), key=simplicity)[:_FOLLOWED]


def _share(cases: Cases, which: Callable[[AnsweredQuestion], bool]) -> float:
    return sum(map(which, cases)) / max(1, len(cases))


def _to_depth(cases: Cases) -> float:
    """Return the share of answers in which positions of the last ply were evaluated."""
    return _share(cases, lambda case: case.depth in map(case.ply, case.answer.calls))


def against_the_rules(cases: Cases) -> Cause | None:
    """Return the cause if evaluated positions are reached by no legal line."""
    first_is_right = not any(case.answer.calls[0] in case.outside for case in cases)
    shown = [case for case in cases if first_is_right and case.discs_stay]
    kind = KEPT
    if not shown or len(shown) < _MOST * len(cases):
        shown = [case for case in cases if case.fault]
        if not shown or len(shown) < _MOST * len(cases):
            return None
        faults = [case.fault for case in shown if case.fault]
        kinds = (KEPT if fault.left_over and first_is_right else fault.kind for fault in faults)
        kind = Counter(kinds).most_common(1)[0][0]
    typical = next((case for case in shown if case.fault and case.fault.kind == kind), shown[0])
    step = f"\n{typical.fault.told()}" if typical.fault else ""
    return Cause(kind, FAULTS[kind], typical.told() + step)


def too_deep(cases: Cases) -> Cause | None:
    """Return the cause if only some lines are searched beyond the depth."""
    far = [case for case in cases if case.deeper]
    if _to_depth(cases) <= SOME or len(far) < _MOST * len(cases):
        return None
    return Cause(
        "some lines are searched deeper",
        "an extension gives another value than minimax: every line ends after the plies asked for",
        f"{far[0].told()}\nfirst difference: it evaluates the position "
        f"{after(far[0].deeper)}, {len(far[0].deeper)} plies deep",
    )


def too_shallow(cases: Cases, least: float = _MOST) -> Cause | None:
    """Return the cause if some lines end before the depth."""
    short = [case for case in cases if not case.proven and (case.shallow or case.ends_early)]
    if not short or _to_depth(cases) <= 0.5 or len(short) < least * len(cases):
        return None
    marks = [[late for _, late in case.after_deeper] for case in short if case.ends_early]
    if marks and all(all(mark[mark.index(True) :]) for mark in marks):
        return Cause(
            "the search stops before it is complete",
            "a budget of nodes or time ends it quietly: from some call on it evaluates positions "
            "where it stands; a search that runs out has to give the last complete answer, and to "
            "state that depth",
            short[0].difference(),
        )
    return Cause(
        "some lines are searched less deep",
        "moves reduced or cut on a first impression have to be searched again to the full depth "
        "before their values count",
        short[0].difference(),
    )


_ASPIRATION = (
    "aspiration window not searched again",
    "a value at or beyond the ends of a narrow window is only a bound: search again with a wider "
    "window, on either side",
)
_NARROW = (
    "the window begins too narrow",
    "the first window has to hold any value: begin with alpha below and beta above all values",
)
_CENTRES = (
    ("the value one ply less deep", _ASPIRATION, 1),
    ("the value two plies less deep", _ASPIRATION, 2),
    ("0", _NARROW, 0),
)
"""Middles of narrow windows: in words, the cause, and the plies that they are less deep."""


def _distance(case: AnsweredQuestion, plies: int) -> int:
    """Return how much the value is more than that some plies less deep; than 0 for no plies."""
    middle = Search().reply(case.root(), max(0, case.depth - plies)).value if plies else 0
    return case.truth.value - middle


def narrow_window(cases: Cases, answered: Cases) -> Cause | None:
    """Return the cause if answers are wrong where the value is far from the one before."""
    wrong = [case for case in cases if not case.proven]
    if len(wrong) < 3 or len(wrong) < _MOST * len(cases):
        return None
    right = [case for case in answered if not case.wrong and case.depth > 1]
    for name, (cause, advice), plies in _CENTRES:
        distances = [[_distance(case, plies) for case in part] for part in (wrong, right)]
        for side in (abs, int, lambda distance: -distance):  # the window may fail at one end only
            far, near = (sorted(map(side, part)) for part in distances)
            width = far[len(far) // 10]  # a wrong answer may follow from one before
            inside = sum(0 < each < width for each in near) / max(1, sum(each > 0 for each in near))
            if width > 0 and inside > 0.5 and (1 - inside) ** (0.9 * len(far)) < _BY_CHANCE:
                evidence = (
                    f"{wrong[0].difference()}\nit is wrong only where the value is {width:,} or "
                    f"more away from {name}"
                )
                return Cause(cause, advice, evidence)
    return None


_BOUND = "a bound is taken for a value"
_BOUND_ADVICE = (
    "a result at or beyond the ends of the window is only a bound: a null window that fails high "
    "has to be searched again, a table has to store the kind of bound, and a move is better only "
    "if its value is more than alpha"
)


def unproven(cases: Cases) -> Cause | None:
    """Return the cause if values are taken for exact that are but bounds."""
    bounds = [c for c in cases if not c.proven or (c.wrong_move and not c.wrong_value)]
    if not bounds or len(bounds) < _MOST * len(cases):
        return None
    why = "the lines that it has searched do not prove its answer"
    return Cause(_BOUND, _BOUND_ADVICE, f"{bounds[0].difference()}\n{why}")


def from_table(cases: Cases, answered: Cases) -> Cause:
    """Return the cause of answers that are right without the search's tables."""
    evidence = f"{cases[0].difference()}\nwithout its dictionaries it answers right"
    others = [case for case in answered if not case.wrong and case.depth > 1]
    if _share(cases, lambda case: case.shallow and not case.ends_early) > 0.5:
        return Cause(
            "a table's entry is used for another depth",
            "the depth has to be stored with a value, and an entry of a lower depth is of no use",
            evidence,
        )
    passes = _share(others, lambda case: case.passes)
    if all(case.passes for case in cases) and passes ** len(cases) < 0.1:
        return Cause(
            "a table's entry is used for the other side",
            "after a pass the same discs are on the board: the side to move belongs to the key",
            evidence,
        )
    if _share(cases, lambda case: case.origin is None) >= _MOST:
        return Cause(
            "a table's entry is used for another position",
            "the key has to hold both sides' discs: its value is that of no line below the move",
            evidence,
        )
    return unproven(cases) or Cause(_BOUND, _BOUND_ADVICE, evidence)
